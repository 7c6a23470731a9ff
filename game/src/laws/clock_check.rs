//! Checks whether a clock's times fit the elapsed time.

use core::ops::RangeInclusive;

use shakmaty::{ByColor, Color};

use super::situation::Situation;
use super::time_control::{Bonus, TimeControl};

/// The facts for checking a clock (2023: 6.10).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClockCheck {
    /// Milliseconds since the first clock was started, not counting the time during which the clock was stopped.
    pub elapsed_ms: u64,
    /// Moves completed by each player.
    pub moves: ByColor<u32>,
    /// Bounds on each player's presses after a move: the number observed, and one for each move.
    pub presses: ByColor<RangeInclusive<u32>>,
    /// Presses that completed none of the current plies. Each of them may have added an increment.
    pub idle_presses: u32,
    /// Number of periods whose time each player was observed to receive, from 1.
    pub periods: ByColor<u32>,
    /// Whether the clock adds the first increment before the first move, so that each player has received one more.
    pub before_first_move: bool,
    /// Time added to both clocks together by the arbiter, in milliseconds; negative if time was taken off.
    pub adjusted_ms: i64,
    /// Elapsed time that a delay has saved both players, in milliseconds: the whole time of a move shorter than the
    /// delay, else the delay. Zero without a delay.
    pub saved_ms: RangeInclusive<u64>,
}

impl ClockCheck {
    /// The expected sum of both times, in milliseconds.
    ///
    /// The range is a single value if all presses were observed and every period has the same increment. It is wider
    /// with a delay, or if the increment changes at a time control: a clock may change the increment at the control or
    /// only when the time reaches zero.
    #[must_use]
    pub fn expected_sum(&self, control: &TimeControl) -> RangeInclusive<i64> {
        self.sum_with(control, self.periods)
    }

    fn sum_with(&self, control: &TimeControl, periods: ByColor<u32>) -> RangeInclusive<i64> {
        let base = self.base(control, periods);
        let (mut least, mut most) = (*self.saved_ms.start(), *self.saved_ms.end());
        for color in Color::ALL {
            let presses = self.presses.get(color);
            least = least.saturating_add(*increments(control, *presses.start()).start());
            most = most.saturating_add(*increments(control, *presses.end()).end());
        }
        let increment = control
            .periods()
            .iter()
            .map(|period| fischer_ms(period.bonus))
            .max();
        let idle = u64::from(self.idle_presses).saturating_mul(increment.unwrap_or_default());
        base.saturating_add_unsigned(least)..=base.saturating_add_unsigned(most.saturating_add(idle))
    }

    /// The sum of both times without increments and delays.
    fn base(&self, control: &TimeControl, periods: ByColor<u32>) -> i64 {
        let first = match (self.before_first_move, control.bonus(1)) {
            (true, bonus) => u64::from(bonus.seconds()) * 1000,
            (false, _) => 0,
        };
        let credited = Color::ALL.into_iter().fold(0_u64, |sum, color| {
            let credited = control.credited_ms(*periods.get(color));
            sum.saturating_add(credited).saturating_add(first)
        });
        self.adjusted_ms
            .saturating_add_unsigned(credited)
            .saturating_sub_unsigned(self.elapsed_ms)
    }

    /// Checks the times that a clock shows, in milliseconds. Returns `None` if they may be right within the tolerance.
    ///
    /// Some clocks add the time of a period at the move that reaches it, others when the time of the previous period is
    /// used up. A clock is right if its times fit any number of periods that the players may have received.
    #[must_use]
    pub fn judge(&self, control: &TimeControl, shown: ByColor<u64>, tolerance_ms: u64) -> Option<Situation> {
        let shown_sum = i64::try_from(shown.white.checked_add(shown.black)?).ok()?;
        let missing = |periods| missing(&self.sum_with(control, periods), shown_sum);
        let possible_periods = |color: Color| 1..=self.most_periods(control, color);
        let may_be_right = possible_periods(Color::White).any(|white| {
            possible_periods(Color::Black)
                .any(|black| missing(ByColor { white, black }).unsigned_abs() <= tolerance_ms)
        });
        if may_be_right {
            return None;
        }
        let exact = ByColor {
            white: increments(control, self.moves.white),
            black: increments(control, self.moves.black),
        };
        let all_increments = exact.white.end().saturating_add(*exact.black.end());
        // The clock runs without increments: each player lacks the increments of their own moves.
        let shortfall = self.base(control, self.periods).saturating_sub(shown_sum);
        let never_set = all_increments > 0
            && exact.white.start() == exact.white.end()
            && exact.black.start() == exact.black.end()
            && shortfall.unsigned_abs() <= tolerance_ms;
        let missing = if never_set {
            shortfall.saturating_add_unsigned(all_increments)
        } else {
            missing(self.periods)
        };
        let should = ByColor {
            white: shown.white.saturating_add(*exact.white.end()),
            black: shown.black.saturating_add(*exact.black.end()),
        };
        Some(Situation::ClockInconsistent {
            missing_s: missing / 1000,
            increments_of: never_set.then_some(self.moves),
            should: never_set.then_some(should),
            moves: self.moves.white.min(self.moves.black),
        })
    }

    /// Most periods whose time a player may have received: the observed ones, or the ones that the moves have reached.
    fn most_periods(&self, control: &TimeControl, color: Color) -> u32 {
        let pressed = *self.presses.get(color).end();
        let reached = control.standing(pressed).period.saturating_add(1);
        reached.max(*self.periods.get(color))
    }
}

/// Distance of `shown` from the expected range: positive below it, negative above it, zero within.
fn missing(expected: &RangeInclusive<i64>, shown: i64) -> i64 {
    if shown < *expected.start() {
        expected.start().saturating_sub(shown)
    } else if shown > *expected.end() {
        expected.end().saturating_sub(shown)
    } else {
        0
    }
}

fn fischer_ms(bonus: Bonus) -> u64 {
    match bonus {
        Bonus::Fischer(seconds) => u64::from(seconds) * 1000,
        Bonus::None | Bonus::Delay(_) => 0,
    }
}

/// Bounds on the sum of the increments of the first `presses` presses, in milliseconds. After the first time control
/// the bounds may differ: a clock that does not count moves changes the increment when the time of the previous period
/// is used up.
fn increments(control: &TimeControl, presses: u32) -> RangeInclusive<u64> {
    let increment = |number: u32| fischer_ms(control.bonus(number));
    let first = control.required(0).unwrap_or(u32::MAX);
    let (mut least, mut most) = (0_u64, 0_u64);
    let (mut low, mut high) = (increment(1), increment(1));
    for number in 1..=presses {
        let own = increment(number);
        if number > first {
            (low, high) = (low.min(own), high.max(own));
        }
        least = least.saturating_add(low);
        most = most.saturating_add(high);
    }
    least..=most
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
            presses: ByColor::new_with(|_| moves..=moves),
            idle_presses: 0,
            periods: ByColor::new_with(|_| 1),
            before_first_move: false,
            adjusted_ms: 0,
            saved_ms: 0..=0,
        }
    }

    /// The range that contains only this sum.
    fn exactly(minutes: i64) -> RangeInclusive<i64> {
        minutes * 60_000..=minutes * 60_000
    }

    fn control(text: &str) -> TimeControl {
        text.parse().expect("a time control")
    }

    /// Arbiter's handbook on Art. 6.10: 90 minutes and 30 seconds a move, checked after an hour.
    #[test]
    fn the_three_boards_of_the_handbook_are_judged_correctly() {
        let control = control("90+30");
        for (moves, shown, sum, right) in [
            (10, times(75, 55), 130, true),
            (16, times(63, 73), 136, true),
            (12, times(70, 50), 132, false),
        ] {
            let check = after_an_hour(moves);
            assert_eq!(check.expected_sum(&control), exactly(sum));
            assert_eq!(check.judge(&control, shown, TOLERANCE).is_none(), right);
        }
    }

    /// The third board: the increments were never set. After twelve moves of both players, each gets six minutes.
    #[test]
    fn missing_increments_are_found_by_arithmetic() {
        let check = after_an_hour(12);
        let situation = check.judge(&control("90+30"), times(70, 50), TOLERANCE);
        assert_eq!(
            situation,
            Some(Situation::ClockInconsistent {
                missing_s: 720,
                increments_of: Some(ByColor::new_with(|_| 12)),
                should: Some(times(76, 56)),
                moves: 12,
            })
        );
    }

    /// Arbiter's handbook: 2 h for 40 moves; after an hour and a half the clocks show 1:35 and 1:15, twenty minutes too
    /// much.
    #[test]
    fn drift_is_not_a_missing_increment() {
        let check = ClockCheck {
            elapsed_ms: minutes(90),
            ..after_an_hour(20)
        };
        let situation = check.judge(&control("2 h/40 + 1 h"), times(95, 75), TOLERANCE);
        assert_eq!(
            situation,
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
        assert_eq!(check.expected_sum(&control), exactly(133));
    }

    /// 90 minutes for 40 moves and 30 minutes, 30 seconds a move. White has received the second period's time.
    fn in_the_second_period() -> ClockCheck {
        ClockCheck {
            elapsed_ms: minutes(180),
            moves: ByColor { white: 41, black: 40 },
            presses: ByColor {
                white: 41..=41,
                black: 40..=40,
            },
            periods: ByColor { white: 2, black: 1 },
            ..after_an_hour(40)
        }
    }

    const TWO_PERIODS: &str = "90 min/40 + 30 min, 30 s from move 1";

    /// 6.3.1 and 6.10: the time of a period counts once the clock has added it.
    #[test]
    fn the_second_period_adds_its_time() {
        let sum = 30 * 60_000 + 81 * 30_000;
        assert_eq!(
            in_the_second_period().expected_sum(&control(TWO_PERIODS)),
            sum..=sum
        );
    }

    /// 6.10: a clock adds the time of the next period at the fortieth move, or when the time before is used up. Both
    /// are right, whichever was observed; in the second period, a minute more or less is wrong.
    #[test]
    fn a_later_period_may_start_at_the_control_or_at_zero() {
        let control = control(TWO_PERIODS);
        let left = 81 * 30_000;
        for (given, right) in [
            (0, true),
            (30, true),
            (60, true),
            (45, false),
            (90, false),
            (29, false),
        ] {
            let shown = ByColor {
                white: left + minutes(given),
                black: 0,
            };
            let situation = in_the_second_period().judge(&control, shown, TOLERANCE);
            assert_eq!(situation.is_none(), right, "{given}: {situation:?}");
        }
        // Before the fortieth move, no player can have received the second period's time.
        let early = ClockCheck {
            elapsed_ms: minutes(60),
            ..after_an_hour(20)
        };
        let shown = times(100, 70);
        assert!(early.judge(&control, shown, TOLERANCE).is_some());
    }

    /// 6.10: missing increments are found in the second period as in the first.
    #[test]
    fn missing_increments_are_found_in_the_second_period() {
        let shown = ByColor {
            white: minutes(25),
            black: minutes(5),
        };
        let situation = in_the_second_period().judge(&control(TWO_PERIODS), shown, TOLERANCE);
        let Some(Situation::ClockInconsistent {
            missing_s,
            increments_of,
            should,
            moves,
        }) = situation
        else {
            panic!("{situation:?}");
        };
        assert_eq!((missing_s, moves), (81 * 30, 40));
        assert_eq!(increments_of, Some(ByColor { white: 41, black: 40 }));
        assert_eq!(
            should,
            Some(ByColor {
                white: minutes(45) + 30_000,
                black: minutes(25)
            })
        );
    }

    /// Handbook preset with an increment only after the first control. A clock that does not count moves starts the
    /// increment when the first two hours are used up, possibly later: for those moves there are only bounds.
    #[test]
    fn increments_of_a_later_period_begin_at_the_control_or_at_zero() {
        let control = control("120 min/40 + 15 min, 30 s from move 41");
        let check = ClockCheck {
            elapsed_ms: minutes(200),
            ..after_an_hour(50)
        };
        assert_eq!(check.expected_sum(&control), 40 * 60_000..=50 * 60_000);
        let shows = |sum| check.judge(&control, times(sum, 0), TOLERANCE).is_none();
        assert!(shows(40) && shows(45) && shows(50) && shows(55) && shows(75));
        assert!(!shows(39) && !shows(52) && !shows(81));
    }

    /// Presses that may have been missed may have added an increment or not.
    #[test]
    fn unseen_presses_widen_the_bounds() {
        let check = ClockCheck {
            presses: ByColor {
                white: 8..=10,
                black: 10..=11,
            },
            ..after_an_hour(10)
        };
        let sum = 129 * 60_000..=130 * 60_000 + 30_000;
        assert_eq!(check.expected_sum(&control("90+30")), sum);
        assert_eq!(check.judge(&control("90+30"), times(75, 54), TOLERANCE), None);
        assert!(check.judge(&control("90+30"), times(75, 53), TOLERANCE).is_some());
        assert!(check.judge(&control("90+30"), times(76, 55), TOLERANCE).is_some());
        let idle = ClockCheck {
            idle_presses: 1,
            ..check
        };
        assert_eq!(idle.judge(&control("90+30"), times(76, 55), TOLERANCE), None);
    }

    /// 6.3.2: with a delay, the main time never grows, and the time saved by the delay depends on the moves.
    #[test]
    fn a_delay_widens_the_bounds() {
        let control = control("90 min, delay 30 s");
        let check = ClockCheck {
            saved_ms: minutes(9)..=minutes(10),
            ..after_an_hour(10)
        };
        assert_eq!(check.expected_sum(&control), 129 * 60_000..=130 * 60_000);
        assert_eq!(check.judge(&control, times(75, 54), TOLERANCE), None);
        assert_eq!(check.judge(&control, times(75, 55), TOLERANCE), None);
        let missing = |shown| match check.judge(&control, shown, TOLERANCE) {
            Some(Situation::ClockInconsistent {
                missing_s,
                increments_of: None,
                should: None,
                ..
            }) => missing_s,
            other => panic!("{other:?}"),
        };
        // Without a known delay: the handbook's rule for times that are too short.
        assert_eq!(missing(times(70, 50)), 9 * 60);
        assert_eq!(missing(times(80, 60)), -10 * 60);
    }
}
