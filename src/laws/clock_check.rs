//! Whether a clock's times fit the time that has passed.

use shakmaty::{ByColor, Color};

use super::situation::Situation;
use super::time_control::TimeControl;

/// What is known to check a clock by (2023: 6.10).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockCheck {
    /// Milliseconds since the first clock was started, less all stops.
    pub elapsed_ms: u64,
    /// Moves that each player has completed.
    pub moves: ByColor<u32>,
    /// Periods whose time each player has been given, from 1.
    pub periods: ByColor<u32>,
    /// Whether the clock gives the first increment before the first move, so that each player has had one more.
    pub before_first_move: bool,
    /// What the arbiter has added to both times together, less what was taken off, in milliseconds.
    pub adjusted_ms: i64,
}

impl ClockCheck {
    /// What both times together should be, in milliseconds; `None` with a delay, which gives bounds only.
    #[must_use]
    pub fn expected_sum(&self, control: &TimeControl) -> Option<i64> {
        let mut sum = self.adjusted_ms;
        for color in Color::ALL {
            let moves = self
                .moves
                .get(color)
                .saturating_add(u32::from(self.before_first_move));
            let increments = i64::try_from(control.increments_ms(moves)?).ok()?;
            let credited = i64::try_from(control.credited_ms(*self.periods.get(color))).ok()?;
            sum = sum.checked_add(credited)?.checked_add(increments)?;
        }
        sum.checked_sub(i64::try_from(self.elapsed_ms).ok()?)
    }

    /// Judges a clock that shows these times, in milliseconds; `None` where they are right to within the tolerance, or
    /// where nothing can be expected of them.
    #[must_use]
    pub fn judge(&self, control: &TimeControl, shown: ByColor<u64>, tolerance_ms: u64) -> Option<Situation> {
        let together = i64::try_from(shown.white.checked_add(shown.black)?).ok()?;
        let missing = self.expected_sum(control)?.checked_sub(together)?;
        if missing.unsigned_abs() <= tolerance_ms {
            return None;
        }
        let increments = self.increments(control)?;
        let all = i64::try_from(increments.white.checked_add(increments.black)?).ok()?;
        // The clock runs without increments: each player lacks those of their own moves.
        let never_set = all > 0 && (missing - all).unsigned_abs() <= tolerance_ms;
        let should = ByColor {
            white: shown.white.saturating_add(increments.white),
            black: shown.black.saturating_add(increments.black),
        };
        Some(Situation::ClockInconsistent {
            missing_s: missing / 1000,
            increments_of: never_set.then_some(self.moves),
            should: never_set.then_some(should),
            moves: self.moves.white.min(self.moves.black),
        })
    }

    fn increments(&self, control: &TimeControl) -> Option<ByColor<u64>> {
        Some(ByColor {
            white: control.increments_ms(self.moves.white)?,
            black: control.increments_ms(self.moves.black)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLERANCE: u64 = 5_000;

    const fn minutes(minutes: u64) -> u64 {
        minutes * 60_000
    }

    const fn times(white: u64, black: u64) -> ByColor<u64> {
        ByColor {
            white: minutes(white),
            black: minutes(black),
        }
    }

    fn after_an_hour(moves: u32) -> ClockCheck {
        ClockCheck {
            elapsed_ms: minutes(60),
            moves: ByColor::new_with(|_| moves),
            periods: ByColor::new_with(|_| 1),
            before_first_move: false,
            adjusted_ms: 0,
        }
    }

    fn control(text: &str) -> TimeControl {
        text.parse().expect("a time control")
    }

    /// Arbiter's handbook on Art. 6.10: 90 minutes and 30 seconds a move, looked at after an hour.
    #[test]
    fn handbooks_three_boards() {
        let control = control("90+30");
        for (moves, shown, sum, right) in [
            (10, times(75, 55), 130, true),
            (16, times(63, 73), 136, true),
            (12, times(70, 50), 132, false),
        ] {
            let check = after_an_hour(moves);
            assert_eq!(check.expected_sum(&control), Some(sum * 60_000));
            assert_eq!(check.judge(&control, shown, TOLERANCE).is_none(), right);
        }
    }

    /// The third board: the increments of twelve moves of both were never set; each gets six minutes.
    #[test]
    fn missing_increments_are_found_by_arithmetic() {
        let check = after_an_hour(12);
        let seen = check.judge(&control("90+30"), times(70, 50), TOLERANCE);
        assert_eq!(
            seen,
            Some(Situation::ClockInconsistent {
                missing_s: 720,
                increments_of: Some(ByColor::new_with(|_| 12)),
                should: Some(times(76, 56)),
                moves: 12,
            })
        );
    }

    /// Arbiter's handbook: 2 h for 40 moves, 1:35 and 1:15 left after an hour and a half, twenty minutes too much.
    #[test]
    fn drift_is_no_missing_increment() {
        let check = ClockCheck {
            elapsed_ms: minutes(90),
            ..after_an_hour(20)
        };
        let seen = check.judge(&control("2 h/40 + 1 h"), times(95, 75), TOLERANCE);
        assert_eq!(
            seen,
            Some(Situation::ClockInconsistent {
                missing_s: -1200,
                increments_of: None,
                should: None,
                moves: 20,
            })
        );
    }

    #[test]
    fn added_time_and_an_early_first_increment_belong_to_the_sum() {
        let control = control("90+30");
        let check = ClockCheck {
            before_first_move: true,
            adjusted_ms: 120_000,
            ..after_an_hour(10)
        };
        assert_eq!(check.expected_sum(&control), Some(133 * 60_000));
    }

    #[test]
    fn second_period_brings_its_time() {
        let check = ClockCheck {
            elapsed_ms: minutes(180),
            moves: ByColor { white: 41, black: 40 },
            periods: ByColor { white: 2, black: 1 },
            before_first_move: false,
            adjusted_ms: 0,
        };
        let control = control("90 min/40 + 30 min, 30 s from move 1");
        assert_eq!(check.expected_sum(&control), Some(30 * 60_000 + 81 * 30_000));
    }

    #[test]
    fn delay_gives_no_sum() {
        assert_eq!(
            after_an_hour(10).expected_sum(&control("90 min, delay 30 s")),
            None
        );
        assert_eq!(
            after_an_hour(10).judge(&control("90 min, delay 30 s"), times(1, 1), 0),
            None
        );
    }
}
