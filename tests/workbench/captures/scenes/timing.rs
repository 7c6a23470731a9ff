//! Scenes about the order and timing of the board's reports.

use core::time::Duration;

use kiebitz_hardware::emulator::hand::{Manner, Pace, Path, Press, Setting, Taking, ms};

use super::{BRISK, PLAIN, scripted, standard};
use crate::hands::games::Game;
use crate::hands::play::Play;

/// The reply lands and the moved piece is lifted again before the scan has come round.
pub(super) fn answered_before_the_scan() -> Play {
    let hasty = Manner {
        pace: Pace::BLITZ,
        answered_at_once: true,
        ..PLAIN
    };
    let at_once = Pace {
        think: ms(0, 0),
        flight: ms(180, 200),
        press: ms(130, 150),
        reaction: ms(190, 200),
        ..Pace::BLITZ
    };
    let next = Manner {
        pace: at_once,
        answered_at_once: true,
        ..PLAIN
    };
    standard(
        1,
        "d2d4 d7d5 c1f4 c8f5 f4g3 f5g6 g1f3",
        &[(3, hasty), (4, next), (5, next), (6, next)],
    )
}

/// The queen rests for nearly a second on a square that is also a legal target.
pub(super) fn dragged_queen() -> Play {
    let drawn = Manner {
        path: Path::DrawnWithRest,
        ..PLAIN
    };
    standard(
        10,
        "e2e4 e7e5 d1h5 b8c6 f1c4 g8f6 h5f7",
        &[(3, drawn), (7, drawn)],
    )
}

/// The queen rests on her way, and the captured piece is removed when she is one step away from it.
pub(super) fn dragged_to_capture() -> Play {
    let resting = Pace {
        rest: ms(1450, 1450),
        pause: ms(450, 450),
        ..BRISK
    };
    let drawn = Manner {
        path: Path::DrawnWithRest,
        taking: Taking::MoverFirst,
        pace: resting,
        ..PLAIN
    };
    standard(
        11,
        "e2e4 d7d5 e4d5 d8d5 d2d4 d5d4 c2c3 d4d1 e1d1",
        &[(4, drawn), (6, drawn), (8, drawn)],
    )
}

/// The press is reported while the scan still shows the piece on an intermediate square.
pub(super) fn press_ahead_of_the_scan() -> Play {
    let slip = Pace {
        step: ms(45, 55),
        press: ms(130, 150),
        ..BRISK
    };
    let drawn = Manner {
        path: Path::Drawn,
        pace: slip,
        ..PLAIN
    };
    let uci = "d2d4 d7d5 c1g5 d8d6 g5d2 d6g6 d2a5 g6b6 a5b6 a7b6";
    let setting = Setting {
        clock_period: Duration::from_millis(350),
        ..Setting::PLAIN
    };
    let special: Vec<(usize, Manner)> = (3..=8).map(|ply| (ply, drawn)).collect();
    scripted(15, &setting, &Game::from_uci(None, uci), &special)
}

/// Replies come before the press, and one press is forgotten.
pub(super) fn reply_before_press() -> Play {
    let answered = Manner {
        answered_at_once: true,
        ..PLAIN
    };
    let forgetful = Manner {
        press: Press::Forgotten,
        ..PLAIN
    };
    let quick = Manner {
        pace: Pace {
            think: ms(0, 0),
            ..BRISK
        },
        ..PLAIN
    };
    let special = [
        (1, answered),
        (2, quick),
        (3, answered),
        (4, quick),
        (5, forgetful),
    ];
    standard(18, "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6", &special)
}

/// The queen is lifted as soon as the reply has landed, from a square where the reply's piece could have captured her.
pub(super) fn reply_then_lift() -> Play {
    let landed = Manner {
        pace: Pace {
            reaction: ms(180, 180),
            ..BRISK
        },
        answered_at_once: true,
        ..PLAIN
    };
    let quick = Manner {
        pace: Pace {
            think: ms(0, 0),
            ..BRISK
        },
        taking: Taking::InOneGo,
        ..PLAIN
    };
    standard(23, "e2e3 d7d5 d1h5 c8g4 h5g4 g8f6", &[(4, landed), (5, quick)])
}

/// White draws pieces towards squares that are scanned earlier, so a piece is reported on its new square before the old
/// one is reported empty.
pub(super) fn scan_shows_both() -> Play {
    let drawn = Manner {
        path: Path::Drawn,
        ..PLAIN
    };
    let special: Vec<(usize, Manner)> = [1, 3, 5, 7].map(|ply| (ply, drawn)).to_vec();
    standard(20, "e2e4 e7e5 d2d4 e5d4 f1d3 b8c6 d1e2 g8f6", &special)
}
