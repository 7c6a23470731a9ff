//! One of each: sights that between them show every text, for explaining the Laws and for holding the catalogues to them.

use shakmaty::{ByColor, Color, Square};

use super::advice::Advice;
use super::rules::Rules;
use super::sight::{ClockTimes, DrawnStart, Fault, IncidentKind, Sight, Stage, Touch};

/// Something to be seen, and whose it is.
pub(super) type Example = (Sight, Option<Color>);

impl Rules {
    /// What a kind of incident means under these rules: an advice for each of its cases, about an example.
    #[must_use]
    pub fn explain(&self, kind: IncidentKind) -> Vec<Advice> {
        let mut cases: Vec<Advice> = Vec::new();
        for (sight, color) in examples().iter().filter(|(sight, _)| sight.kind() == kind) {
            let advice = self.advise(sight, *color);
            if cases.iter().all(|met| met.case != advice.case) {
                cases.push(advice);
            }
        }
        cases
    }
}

/// Sights of every kind, one kind after the other, and each in all its stages.
pub(super) fn examples() -> Vec<Example> {
    let mut examples = offences();
    examples.extend(touching());
    examples.extend(positions());
    examples.extend(clocks());
    examples
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
        let sight = Sight::IllegalMove {
            fault: Fault::KingInCheck,
            stage,
            offence,
            opponent_can_mate: None,
            times: Some(TIMES),
        };
        examples.push((sight, Some(Color::White)));
    }
    for (stage, offence) in stages {
        let sight = Sight::PromotionNotReplaced {
            square: Square::E8,
            stage,
            offence,
            opponent_can_mate: Some(true),
            times: None,
        };
        examples.push((sight, Some(Color::White)));
    }
    for offence in 1..=3 {
        let sight = Sight::PressedWithoutMove {
            offence,
            opponent_can_mate: Some(false),
            times: Some(TIMES),
        };
        examples.push((sight, Some(Color::White)));
    }
    examples.push((Sight::TwoHandsSuspected, Some(Color::White)));
    examples
}

/// The handbook's way to reset a clock needs both times: 90 minutes and 30 seconds a move, after Black's 20th.
const TIMES: ClockTimes = ClockTimes {
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
        let sight = Sight::TouchedNotMoved {
            touch,
            due: due.iter().map(|san| (*san).to_owned()).collect(),
            played: played.to_owned(),
        };
        (sight, Some(Color::White))
    };
    vec![
        touch(Touch::Own { square: Square::E2 }, &["e3", "e4"], "Nf3"),
        touch(Touch::Other { square: Square::D5 }, &[], "Nf3"),
        touch(Touch::Released { square: Square::F3 }, &["Nf3"], "Nh3"),
        touch(Touch::TakenBack { square: Square::G1 }, &["Nf3"], "Nh3"),
        (Sight::CastlingRookFirst { together: false }, Some(Color::White)),
        (Sight::CastlingRookFirst { together: true }, Some(Color::White)),
        (Sight::AdjustedOffTurn { square: Square::E4 }, Some(Color::White)),
    ]
}

fn positions() -> Vec<Example> {
    let drawn = || DrawnStart::Chess960(Some("bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR".to_owned()));
    let mut examples = vec![
        (Sight::DisplacedPieces { found_later: false }, None),
        (Sight::DisplacedPieces { found_later: true }, None),
    ];
    for (drawn, moves) in [
        (DrawnStart::Standard, 0),
        (DrawnStart::Chess960(None), 2),
        (drawn(), 12),
    ] {
        examples.push((Sight::WrongStart { drawn, moves }, None));
    }
    for (quarter, moves) in [(true, 2), (true, 12), (false, 2)] {
        examples.push((Sight::BoardRotated { quarter, moves }, None));
    }
    for moves in [4, 12] {
        examples.push((Sight::ColorsReversed { moves }, None));
    }
    for kings in [true, false] {
        examples.push((Sight::IllegalPosition { kings }, None));
    }
    examples.push((Sight::ContinuedAfterEnd, None));
    examples.push((Sight::BoardDisconnected, None));
    examples.push((Sight::SensorFault { square: Square::F4 }, None));
    examples
}

fn clocks() -> Vec<Example> {
    let flag = |completed, required, last_period| {
        let sight = Sight::FlagFall {
            completed,
            required,
            last_period,
            opponent_can_mate: None,
        };
        (sight, Some(Color::White))
    };
    let trouble = |white, black| {
        (
            Sight::TimeTrouble {
                players: ByColor { white, black },
            },
            None,
        )
    };
    let inconsistent = |missing_s, increments_of, should| {
        let sight = Sight::ClockInconsistent {
            missing_s,
            increments_of,
            should,
        };
        (sight, None)
    };
    let late = |minutes, default_time, missing: Option<Color>| {
        let sight = Sight::LateStart {
            minutes,
            default_time,
            defaulted: default_time.is_some_and(|default_time| minutes >= default_time),
        };
        (sight, missing)
    };
    let should = ByColor {
        white: 4_560_000,
        black: 3_360_000,
    };
    vec![
        flag(39, Some(40), false),
        flag(40, Some(40), false),
        flag(38, None, false),
        flag(52, None, true),
        (
            Sight::TwoFlags {
                first: Some(Color::Black),
                last_period: true,
            },
            None,
        ),
        (
            Sight::TwoFlags {
                first: None,
                last_period: false,
            },
            None,
        ),
        (
            Sight::TwoFlags {
                first: None,
                last_period: true,
            },
            None,
        ),
        inconsistent(720, Some(ByColor::new_with(|_| 12)), Some(should)),
        inconsistent(90, None, None),
        inconsistent(-1200, None, None),
        trouble(true, false),
        trouble(true, true),
        (Sight::ClockStopped, None),
        (Sight::ClockDisconnected, None),
        late(2, None, None),
        late(2, Some(30), None),
        late(30, Some(30), None),
        late(35, Some(30), Some(Color::White)),
    ]
}
