//! Example situations that together cover every text. They are used to explain the Laws and to check the catalogues.

use shakmaty::{ByColor, Color, Role, Square};

use super::advice::Advice;
use super::claim::{ClaimFault, ClaimKind, ClaimRuling, DrawClaim, Known, TwoMinuteClaim};
use super::rules::Rules;
use super::situation::{
    Broken, ClockReadings, DrawnStart, Fault, IncidentKind, Situation, Stage, Touch, TwoPieces, WhyStopped,
};

/// A situation and the player concerned.
pub(super) type Example = (Situation, Option<Color>);

impl Rules {
    /// Explains a kind of incident under these rules: advice for each of its cases, based on an example.
    #[must_use]
    pub fn explain(&self, kind: IncidentKind) -> Vec<Advice> {
        let mut cases: Vec<Advice> = Vec::new();
        for (situation, color) in examples()
            .iter()
            .filter(|(situation, _)| situation.kind() == kind)
        {
            let advice = self.advise(situation, *color);
            if cases.iter().all(|known| known.case != advice.case) {
                cases.push(advice);
            }
        }
        cases
    }
}

/// Situations of every kind in all stages, grouped by kind.
pub(super) fn examples() -> Vec<Example> {
    let mut examples = offences();
    examples.extend(touching());
    examples.extend(positions());
    examples.extend(clocks());
    examples.extend(claims());
    examples
}

/// Correct and wrong claims, and every ruling on them.
fn claims() -> Vec<Example> {
    let times = Some(ByColor {
        white: 83_000,
        black: 451_000,
    });
    let mut examples = Vec::new();
    for (fifty_moves, count, list) in [
        (false, 3, "23... Kg8, 27... Kg8, 31... Kg8"),
        (true, 99, "41. Rxe5"),
    ] {
        for fault in [
            None,
            Some(ClaimFault::Count),
            Some(ClaimFault::NotOnMove),
            Some(ClaimFault::IllegalMove),
        ] {
            for intended in [None, Some("Kg1".to_owned())] {
                let claim = DrawClaim {
                    fifty_moves,
                    intended,
                    fault,
                    count,
                    from_start: !fifty_moves,
                    list: list.to_owned(),
                    times,
                };
                examples.push(Situation::DrawClaimed(Box::new(claim)));
            }
        }
    }
    examples.push(Situation::EarlyDraw { made: 12, limit: 30 });
    for has_result in [false, true] {
        examples.push(Situation::SecondGame {
            round: 3,
            table: 7,
            first: "2026-11-21-board-7-1".to_owned(),
            second: "2026-11-21-board-7-2".to_owned(),
            has_result,
        });
    }
    for (known, left) in [(Known::Yes, times), (Known::No, times), (Known::Unknown, None)] {
        for asks_increment in [false, true] {
            let claim = TwoMinuteClaim {
                asks_increment,
                on_move: known == Known::Yes,
                left,
                increment: known,
                last_period: known,
                announced: known,
                window: 50,
                captures: 1,
                pawn_moves: 0,
                checks: 4,
                last_capture: left.map(|_| "41. Rxe5".to_owned()),
                last_pawn: None,
                stood: 2,
                most: 2,
                pace_ms: ByColor::new_with(|color| (color == Color::White).then_some(3400)),
                moves: "58. Kf3 Kg7".to_owned(),
            };
            examples.push(Situation::TwoMinuteClaimed(Box::new(claim)));
        }
    }
    for &kind in ClaimKind::ALL {
        for &ruling in ClaimRuling::ALL {
            let values = [
                ("intended", "Kg1".into()),
                ("ground", "threefold_intended".into()),
                ("stood", 1.into()),
                ("listed", "23... Kg8".into()),
                ("from_start", "no".into()),
            ];
            let values = values
                .into_iter()
                .map(|(name, value): (&str, serde_json::Value)| (name.to_owned(), value))
                .collect();
            examples.push(Situation::ClaimRuled {
                kind,
                ruling,
                values,
                times,
            });
        }
    }
    examples
        .into_iter()
        .map(|situation| (situation, Some(Color::White)))
        .collect()
}

fn offences() -> Vec<Example> {
    let stages = [
        (Stage::Made, 0),
        (Stage::Completed, 1),
        (Stage::Completed, 2),
        (Stage::Completed, 3),
        (Stage::Answered, 1),
    ];
    let mut examples = Vec::new();
    for (stage, offence) in stages {
        let situation = Situation::IllegalMove {
            fault: Fault::KingInCheck,
            stage,
            offence,
            opponent_can_mate: None,
            times: Some(TIMES),
        };
        examples.push((situation, Some(Color::White)));
    }
    for (stage, offence) in stages {
        let situation = Situation::PromotionNotReplaced {
            square: Square::E8,
            stage,
            offence,
            opponent_can_mate: Some(true),
            times: None,
        };
        examples.push((situation, Some(Color::White)));
    }
    for offence in 1..=3 {
        let situation = Situation::PressedWithoutMove {
            offence,
            opponent_can_mate: Some(false),
            times: Some(TIMES),
        };
        examples.push((situation, Some(Color::White)));
    }
    examples.push((Situation::PressedBeforeRelease, Some(Color::White)));
    for pieces in [TwoPieces::Castling, TwoPieces::Promotion] {
        examples.push((Situation::TwoHandsSuspected { pieces }, Some(Color::White)));
    }
    examples
}

/// The handbook's example for resetting a clock: 90 minutes and 30 seconds a move, after Black's 20th move.
const TIMES: ClockReadings = ClockReadings {
    before: ByColor {
        white: 4_120_000,
        black: 3_665_000,
    },
    now: ByColor {
        white: 3_970_000,
        black: 3_620_000,
    },
    undue: 30_000,
};

fn touching() -> Vec<Example> {
    let touch = |touch, due: &[&str], played: &str| {
        let situation = Situation::TouchedNotMoved {
            touch,
            due: due.iter().map(|san| (*san).to_owned()).collect(),
            played: played.to_owned(),
        };
        (situation, Some(Color::White))
    };
    let exchanged = |pressed| {
        let situation = Situation::PromotionExchanged {
            square: Square::B8,
            stood: Role::Queen,
            now: Role::Knight,
            pressed,
        };
        (situation, Some(Color::White))
    };
    vec![
        touch(Touch::Own { square: Square::E2 }, &["e3", "e4"], "Nf3"),
        touch(Touch::Other { square: Square::D5 }, &[], "Nf3"),
        touch(Touch::Released { square: Square::F3 }, &["Nf3"], "Nh3"),
        touch(Touch::TakenBack { square: Square::G1 }, &["Nf3"], "Nh3"),
        (
            Situation::CastlingRookFirst { together: false },
            Some(Color::White),
        ),
        (
            Situation::CastlingRookFirst { together: true },
            Some(Color::White),
        ),
        exchanged(false),
        exchanged(true),
        (
            Situation::AdjustedOffTurn { square: Square::E4 },
            Some(Color::White),
        ),
    ]
}

fn jolted(left: bool) -> Example {
    let situation = Situation::Jolted {
        wrong: vec![Square::E4, Square::F5],
        times: Some(ByColor {
            white: 3_120_000,
            black: 2_940_000,
        }),
        left,
    };
    (situation, None)
}

fn positions() -> Vec<Example> {
    let drawn = || DrawnStart::Chess960(Some("bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR".to_owned()));
    let mut examples = vec![
        (Situation::DisplacedPieces { found_later: false }, None),
        (Situation::DisplacedPieces { found_later: true }, None),
        jolted(false),
        jolted(true),
    ];
    // The first example of each case is the one explained, so a normal game comes first.
    for moves in [0, 2, 12] {
        for drawn in [DrawnStart::Standard, DrawnStart::Chess960(None), drawn()] {
            examples.push((Situation::WrongStart { drawn, moves }, None));
        }
    }
    for (quarter, moves) in [(true, 2), (true, 12), (false, 2)] {
        examples.push((Situation::BoardRotated { quarter, moves }, None));
    }
    for moves in [4, 12] {
        examples.push((Situation::ColorsReversed { moves }, None));
    }
    for kings in [true, false] {
        examples.push((Situation::IllegalPosition { kings }, None));
    }
    examples.push((Situation::ContinuedAfterEnd, None));
    examples.push((Situation::RecordUncertain, None));
    examples.push((Situation::BoardDisconnected, None));
    examples.push((Situation::SensorFault { square: Square::F4 }, None));
    for playing in [false, true] {
        let not_seen = Situation::PieceNotSeen {
            square: Square::B2,
            piece: Color::White.pawn(),
            playing,
        };
        examples.push((not_seen, None));
    }
    examples
}

fn clocks() -> Vec<Example> {
    let flag_after = |completed, required, last_period, opponent_broke| {
        let situation = Situation::FlagFall {
            completed,
            required,
            last_period,
            opponent_can_mate: None,
            opponent_broke,
            next_period_missing: false,
        };
        (situation, Some(Color::White))
    };
    let flag = |completed, required, last_period| flag_after(completed, required, last_period, None);
    let not_added = Situation::FlagFall {
        completed: 41,
        required: Some(40),
        last_period: false,
        opponent_can_mate: None,
        opponent_broke: None,
        next_period_missing: true,
    };
    let trouble = |white, black| {
        (
            Situation::TimeTrouble {
                players: ByColor { white, black },
            },
            None,
        )
    };
    let should = ByColor {
        white: 4_560_000,
        black: 3_360_000,
    };
    let inconsistent = |missing_s, increments_of: Option<ByColor<u32>>, moves| {
        let situation = Situation::ClockInconsistent {
            missing_s,
            increments_of,
            should: increments_of.map(|_| should),
            moves,
        };
        (situation, None)
    };
    let two_flags_after = |first, last_period, broke| {
        let situation = Situation::TwoFlags {
            first,
            last_period,
            broke,
        };
        (situation, None)
    };
    let two_flags = |first, last_period| two_flags_after(first, last_period, None);
    let late = |minutes, default_time, missing: Option<Color>| {
        let situation = Situation::LateStart {
            minutes,
            default_time,
            defaulted: default_time.is_some_and(|default_time| minutes >= default_time),
        };
        (situation, missing)
    };
    vec![
        flag(39, Some(40), false),
        flag(40, Some(40), false),
        flag(38, None, false),
        (not_added, Some(Color::White)),
        flag(52, None, true),
        flag_after(52, None, true, Some(Broken::IllegalMove)),
        flag_after(52, None, true, Some(Broken::Promotion)),
        flag_after(52, None, true, Some(Broken::PressedWithoutMove)),
        flag_after(52, None, true, Some(Broken::Touch)),
        two_flags(Some(Color::Black), Some(true)),
        two_flags(None, Some(false)),
        two_flags(None, Some(true)),
        two_flags(None, None),
        two_flags_after(None, Some(true), Some((Color::Black, Broken::IllegalMove))),
        inconsistent(720, Some(ByColor::new_with(|_| 12)), 12),
        inconsistent(60, Some(ByColor::new_with(|_| 1)), 1),
        inconsistent(90, None, 9),
        inconsistent(90, None, 12),
        inconsistent(-1200, None, 9),
        inconsistent(-1200, None, 12),
        trouble(true, false),
        trouble(false, true),
        trouble(true, true),
        (
            Situation::ClockStopped {
                why: Some(WhyStopped::Promotion),
            },
            None,
        ),
        (
            Situation::ClockStopped {
                why: Some(WhyStopped::Claim),
            },
            None,
        ),
        (
            Situation::ClockStopped {
                why: Some(WhyStopped::Irregularity),
            },
            None,
        ),
        (Situation::ClockStopped { why: None }, None),
        (Situation::ClockDisconnected, None),
        late(2, None, None),
        late(2, Some(30), None),
        late(30, Some(30), None),
        late(35, Some(30), Some(Color::White)),
    ]
}
