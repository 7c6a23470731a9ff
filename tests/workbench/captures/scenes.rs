//! Scenes: short games from the start position, each with one special event.

mod irregular;
mod timing;

use kiebitz::tools::emulate::plies;
use kiebitz_hardware::emulator::ClockSide;
use kiebitz_hardware::emulator::hand::{
    Castling, Chance, Deed, EnPassant, Manner, Pace, Promoting, Setting, Taking, ms,
};
use kiebitz_protocol::{Field, Piece as WirePiece};
use shakmaty::{Chess, Color, Move, Position, Square};

use crate::hands::games::Game;
use crate::hands::play::{Play, Players};

/// A capture: its name and the play that it records.
pub type Scene = (&'static str, fn() -> Play);

/// All scenes, in alphabetical order.
pub const SCENES: [Scene; 35] = [
    ("answered-before-the-scan", timing::answered_before_the_scan),
    ("black-moves-first", irregular::black_moves_first),
    ("board-turned", board_turned),
    ("capture-mover-first", capture_mover_first),
    ("capture-victim-never-lifted", capture_victim_never_lifted),
    ("capture-victim-pushed-aside", capture_victim_pushed_aside),
    ("castling-both-at-once", castling_both_at_once),
    ("castling-king-first", castling_king_first),
    ("castling-rook-first", castling_rook_first),
    ("chess960-castling-king-only", chess960_castling_king_only),
    ("dragged-queen", timing::dragged_queen),
    ("dragged-to-capture", timing::dragged_to_capture),
    ("en-passant-pawn-first", en_passant_pawn_first),
    ("en-passant-pawn-last", en_passant_pawn_last),
    ("flag-falls", irregular::flag_falls),
    ("illegal-castling-pressed", irregular::illegal_castling_pressed),
    ("illegal-move-put-back", irregular::illegal_move_put_back),
    ("king-and-queen-swapped", irregular::king_and_queen_swapped),
    (
        "king-left-in-check-pressed",
        irregular::king_left_in_check_pressed,
    ),
    ("kings-show-result", kings_show_result),
    (
        "pawn-pushed-aside-for-moves",
        irregular::pawn_pushed_aside_for_moves,
    ),
    ("piece-touched", irregular::piece_touched),
    ("pieces-knocked-over", irregular::pieces_knocked_over),
    ("press-ahead-of-the-scan", timing::press_ahead_of_the_scan),
    ("pressed-without-a-move", irregular::pressed_without_a_move),
    ("promotion-left-as-a-pawn", irregular::promotion_left_as_a_pawn),
    ("promotion-pawn-first-to-knight", promotion_pawn_first_to_knight),
    ("promotion-piece-first", promotion_piece_first),
    ("reply-before-press", timing::reply_before_press),
    ("reply-then-lift", timing::reply_then_lift),
    ("result-piece", result_piece),
    ("scan-shows-both", timing::scan_shows_both),
    ("set-up-then-start", set_up_then_start),
    ("square-flickers", irregular::square_flickers),
    ("takeback-before-press", takeback_before_press),
];

/// Fast, so that captures stay small, but without overlapping actions.
const BRISK: Pace = Pace {
    think: ms(500, 900),
    flight: ms(300, 450),
    step: ms(60, 120),
    rest: ms(900, 900),
    pause: ms(350, 600),
    press: ms(400, 700),
    reaction: ms(300, 450),
    tidying: ms(500, 900),
};

const PLAIN: Manner = Manner {
    pace: BRISK,
    ..Manner::PLAIN
};

/// Acts out a game in the plain manner, except for the `special` plies, counted from 1.
fn scripted(seed: u64, setting: &Setting, game: &Game, special: &[(usize, Manner)]) -> Play {
    let mut players = Players::sit_down(&game.start, Chance::new(seed));
    players.start_clock(setting);
    for (nth, m) in game.moves.iter().enumerate() {
        let manner = special
            .iter()
            .find(|(ply, _)| *ply == nth + 1)
            .map_or(PLAIN, |(_, manner)| *manner);
        players.ply(*m, &manner);
    }
    players.leave(setting)
}

fn standard(seed: u64, uci: &str, special: &[(usize, Manner)]) -> Play {
    scripted(seed, &Setting::PLAIN, &Game::from_uci(None, uci), special)
}

fn board_turned() -> Play {
    let setting = Setting {
        turned: true,
        white_side: Some(ClockSide::Left),
        black_presses_first: true,
        ..Setting::PLAIN
    };
    scripted(
        2,
        &setting,
        &Game::from_uci(None, "e2e4 c7c5 g1f3 d7d6 d2d4 c5d4 f3d4"),
        &[],
    )
}

fn capture_mover_first() -> Play {
    let taking = Manner {
        taking: Taking::MoverFirst,
        ..PLAIN
    };
    standard(3, "e2e4 d7d5 e4d5 d8d5 b1c3 d5a5", &[(3, taking), (4, taking)])
}

fn capture_victim_never_lifted() -> Play {
    let taking = Manner {
        taking: Taking::InOneGo,
        ..PLAIN
    };
    standard(4, "e2e4 d7d5 e4d5 d8d5 b1c3 d5a5", &[(3, taking), (4, taking)])
}

fn capture_victim_pushed_aside() -> Play {
    let taking = Manner {
        taking: Taking::PushedAside,
        ..PLAIN
    };
    standard(5, "e2e4 d7d5 e4d5 d8d5 b1c3 d5a5", &[(3, taking), (4, taking)])
}

fn castling_both_at_once() -> Play {
    let castling = Manner {
        castling: Castling::BothAtOnce,
        ..PLAIN
    };
    standard(
        6,
        "d2d4 d7d5 c1f4 c8f5 b1c3 b8c6 d1d2 d8d7 e1c1 e8c8 e2e3",
        &[(9, castling), (10, castling)],
    )
}

fn castling_king_first() -> Play {
    let slow = Pace {
        pause: ms(1200, 1500),
        ..BRISK
    };
    let castling = Manner {
        castling: Castling::KingFirst,
        pace: slow,
        ..PLAIN
    };
    standard(7, "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1 g8f6", &[(7, castling)])
}

fn castling_rook_first() -> Play {
    let castling = Manner {
        castling: Castling::RookFirst,
        ..PLAIN
    };
    standard(8, "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1 g8f6", &[(7, castling)])
}

/// White's first rank is BBQRKRNN. The rook already stands on the square that castling puts it on.
fn chess960_castling_king_only() -> Play {
    let game = Game::from_uci(Some(BBQRKRNN), "g1f3 g8f6 e1f1 e8f8 e2e4 e7e5");
    scripted(9, &Setting::PLAIN, &game, &[])
}

fn en_passant_pawn_first() -> Play {
    let taking = Manner {
        en_passant: EnPassant::PawnFirst,
        ..PLAIN
    };
    standard(12, "e2e4 a7a6 e4e5 d7d5 e5d6 c7d6", &[(5, taking)])
}

fn en_passant_pawn_last() -> Play {
    let taking = Manner {
        en_passant: EnPassant::PawnLast,
        ..PLAIN
    };
    standard(13, "e2e4 a7a6 e4e5 d7d5 e5d6 c7d6", &[(5, taking)])
}

/// White wins: the clock is stopped, and both kings go to light squares in the centre.
fn kings_show_result() -> Play {
    let game = Game::from_uci(None, "d2d4 g8f6 c2c4 e7e6 b1c3 f8b4");
    let mut players = finished(14, &game);
    for (color, to) in [(Color::Black, Square::D5), (Color::White, Square::E4)] {
        let king = players.position.board().king_of(color).expect("both have kings");
        players
            .hand()
            .travel(plies::field(king), plies::field(to), false, &PLAIN);
        players.hand().wait(ms(600, 900));
    }
    players.leave(&Setting::PLAIN)
}

fn promotion_pawn_first_to_knight() -> Play {
    let promoting = Manner {
        promoting: Promoting::PawnFirst,
        ..PLAIN
    };
    standard(16, &format!("{TO_THE_SEVENTH} b7a8n e7e6"), &[(9, promoting)])
}

fn promotion_piece_first() -> Play {
    let promoting = Manner {
        promoting: Promoting::PieceFirst,
        ..PLAIN
    };
    standard(17, &format!("{TO_THE_SEVENTH} b7a8q e7e6"), &[(9, promoting)])
}

/// Black wins: the result piece is put on an empty square.
fn result_piece() -> Play {
    let game = Game::from_uci(None, "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6");
    let mut players = finished(19, &game);
    let token = Some(WirePiece::BlackWinsToken);
    players.hand().act(Deed::Stands(plies::field(Square::H5), token));
    players.leave(&Setting::PLAIN)
}

/// kiebitz starts to watch while the board is still empty.
fn set_up_then_start() -> Play {
    let game = Game::from_uci(None, "e2e4 e7e5 g1f3 b8c6");
    let mut players = Players::arrive(&game.start, [None; Field::COUNT], Chance::new(21));
    players.hand().set_up(&plies::dump(game.start.board()));
    players.hand().wait(ms(1500, 1500));
    players.start_clock(&Setting::PLAIN);
    for m in &game.moves {
        players.ply(*m, &PLAIN);
    }
    players.leave(&Setting::PLAIN)
}

/// White plays e4, reconsiders before the press, and plays d4.
fn takeback_before_press() -> Play {
    let mut players = Players::sit_down(&Chess::new(), Chance::new(22));
    players.start_clock(&Setting::PLAIN);
    let (e2, e4) = (plies::field(Square::E2), plies::field(Square::E4));
    players.hand().wait(ms(600, 600));
    players.hand().travel(e2, e4, false, &PLAIN);
    players.hand().wait(ms(1500, 1500));
    players.hand().travel(e4, e2, false, &PLAIN);
    players.hand().wait(ms(1300, 1300));
    let moves: Vec<Move> = Game::from_uci(None, "d2d4 d7d5 c2c4").moves;
    for m in moves {
        players.ply(
            m,
            &Manner {
                pace: Pace::CALM,
                ..PLAIN
            },
        );
    }
    players.leave(&Setting::PLAIN)
}

/// Plays a game to its end and stops the clock.
fn finished(seed: u64, game: &Game) -> Players {
    let mut players = Players::sit_down(&game.start, Chance::new(seed));
    players.start_clock(&Setting::PLAIN);
    for m in &game.moves {
        players.ply(*m, &PLAIN);
    }
    players.hand().wait(ms(1500, 1500));
    players.hand().act(Deed::StopClock);
    players.hand().wait(ms(1500, 1500));
    players
}

/// Chess960 number of this start position.
const BBQRKRNN: usize = 864;
/// Opening in which a white pawn reaches the seventh rank at the fourth move.
const TO_THE_SEVENTH: &str = "e2e4 d7d5 e4d5 c7c6 d5c6 g8f6 c6b7 b8d7";
