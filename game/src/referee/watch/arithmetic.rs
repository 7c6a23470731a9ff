//! Checks whether the clock's times fit the elapsed time (2023: 6.10).

use core::ops::RangeInclusive;
use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::{ByColor, Color};

use super::book::{Number, ResumedIncident};
use super::{Context, News};
use crate::clock::ClockChange;
use crate::events::{ClosedBy, CompletedBy, IncidentEnd};
use crate::laws::{Bonus, ClockCheck, TimeControl};
use crate::referee::LineEntry;

/// Difference of times below which the clock may be right: the board reports whole seconds, up to a second late.
const TOLERANCE_MS: u64 = 12_000;
/// Additional tolerance for each stop and restart of the clock.
const TOLERANCE_OF_A_STOP_MS: u64 = 1000;
/// Maximum delay of the report of a press. The time of a single move is known to within this delay.
const MAX_PRESS_DELAY_MS: u64 = 1000;
/// Maximum difference from the set time at the start of a clock that was set to it.
const MAX_SETTING_DIFFERENCE_MS: u64 = 2_000;
/// Gain from which a running clock counts as having received the time of the next period.
const MIN_PERIOD_MS: u64 = 60 * 1000;
const MIN_BETWEEN_CHECKS: Duration = Duration::from_secs(20);
/// Number of consecutive failed checks that lead to a report.
const MIN_FAILED_CHECKS: u32 = 2;

#[derive(Debug, Default)]
pub(super) struct Arithmetic {
    /// Running time of the clocks until the last reading, in milliseconds.
    ran_ms: u64,
    /// Time of the last reading, and the side that ran.
    since: Option<(Timestamp, Color)>,
    start_times: Option<ByColor<u64>>,
    /// Corrections by the arbiter: total jump of the times while the clock was stopped.
    adjusted_ms: i64,
    /// Number of times that the clock was stopped and started again.
    stops: u64,
    last: Option<ByColor<u64>>,
    /// Number of times that each running clock has received the time of another period.
    periods_added: ByColor<u32>,
    presses: u32,
    /// Whether the clock or the board was disconnected, so that the account is incomplete.
    lost: bool,
    checked: Option<Timestamp>,
    failed: u32,
    open: Option<Number>,
}

impl Arithmetic {
    pub(super) fn resume(&mut self, known: &ResumedIncident) {
        self.open = Some(known.number);
    }

    pub(super) fn handle(&mut self, context: &mut Context<'_>, news: &News) {
        match news {
            News::Started | News::Over => {
                *self = Self::default();
            }
            News::Away | News::Clock(ClockChange::Disconnected) => self.lost = true,
            News::Times(times) => self.read(context, *times),
            News::Clock(ClockChange::Pressed(_)) => self.presses = self.presses.saturating_add(1),
            News::Completed(_, CompletedBy::Press) => self.check(context),
            _ => {}
        }
    }

    fn read(&mut self, context: &Context<'_>, times: ByColor<u64>) {
        let now = context.now();
        let running = context.game.face.and_then(|face| face.running);
        if let Some((since, color)) = self.since.take() {
            // A clock at zero stands still, in spite of its lever.
            if self.last.is_none_or(|last| last[color] > 0) {
                let ran = now.saturating_duration_since(since);
                self.ran_ms = self
                    .ran_ms
                    .saturating_add(u64::try_from(ran.as_millis()).unwrap_or(u64::MAX));
            }
            for color in Color::ALL {
                let before = self.last.map_or(u64::MAX, |last| last[color]);
                if times[color] >= before.saturating_add(MIN_PERIOD_MS) {
                    self.periods_added[color] = self.periods_added[color].saturating_add(1);
                }
            }
        } else if let Some(last) = self.last {
            let sum = |times: ByColor<u64>| {
                i64::try_from(times.white.saturating_add(times.black)).unwrap_or(i64::MAX)
            };
            self.adjusted_ms = self
                .adjusted_ms
                .saturating_add(sum(times).saturating_sub(sum(last)));
            self.stops = self.stops.saturating_add(u64::from(running.is_some()));
        }
        if let Some(running) = running {
            self.since = Some((now, running));
            self.start_times.get_or_insert(times);
        }
        if self.start_times.is_some() {
            self.last = Some(times);
        }
    }

    fn check(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        let Some(control) = context.game.regulations.time_control.clone() else {
            return;
        };
        let due = self.checked.is_none_or(|at| now >= at + MIN_BETWEEN_CHECKS);
        let (Some(begun), Some(shown)) = (self.start_times, self.last) else {
            return;
        };
        if !due || self.lost || !context.game.in_play() {
            return;
        }
        let Some(before_first_move) = set_with(&control, begun) else {
            return;
        };
        self.checked = Some(now);
        let check = self.facts(context, &control, before_first_move);
        let tolerance = TOLERANCE_MS.saturating_add(self.stops.saturating_mul(TOLERANCE_OF_A_STOP_MS));
        match check.judge(&control, shown, tolerance) {
            None => {
                self.failed = 0;
                if let Some(number) = self.open.take() {
                    context
                        .book
                        .close(now, number, ClosedBy::Clock, IncidentEnd::Restored);
                }
            }
            Some(situation) => {
                self.failed += 1;
                if self.failed < MIN_FAILED_CHECKS {
                    return;
                }
                let report = context.report(situation, now);
                match self.open {
                    Some(number) => context.update(number, report),
                    None => self.open = Some(context.open(report)),
                }
            }
        }
    }

    fn facts(&self, context: &Context<'_>, control: &TimeControl, before_first_move: bool) -> ClockCheck {
        let made = context.game.completed_as(|_| true);
        let seen = context.game.completed_as(LineEntry::is_pressed);
        let presses = |color: Color| seen[color]..=made[color];
        let idle = self.idle_presses(seen);
        let given = |given: u32| {
            let periods = given.saturating_add(1);
            let all = u32::try_from(control.periods().len()).unwrap_or(u32::MAX);
            // A last period with a number of moves is followed by another one of its kind.
            if control.is_last(all.saturating_sub(1)) {
                periods.min(all)
            } else {
                periods
            }
        };
        ClockCheck {
            elapsed_ms: self.ran_ms,
            moves: context.game.completed(),
            presses: ByColor {
                white: presses(Color::White),
                black: presses(Color::Black),
            },
            idle_presses: idle,
            periods: self.periods_added.map(given),
            before_first_move,
            adjusted_ms: self.adjusted_ms,
            saved_ms: saved(context, control, idle),
        }
    }

    /// Number of presses that completed none of the current plies. The press that triggers a check is not counted yet.
    fn idle_presses(&self, seen: ByColor<u32>) -> u32 {
        let completed = seen.white.saturating_add(seen.black);
        self.presses.saturating_add(1).saturating_sub(completed)
    }
}

/// Total time that the delays of the moves have saved (6.3.2): for each move its duration, but at most the delay. A
/// move of unknown duration, for example after a missed press, may have saved anything up to its delay, and so may an
/// idle press.
fn saved(context: &Context<'_>, control: &TimeControl, idle_presses: u32) -> RangeInclusive<u64> {
    let (mut least, mut most) = (0_u64, 0_u64);
    let mut numbers = ByColor::new_with(|_| 0_u32);
    let mut begin_known = true;
    let mut longest = delay_ms(control, 1);
    for entry in context.game.line {
        let color = entry.ply.color;
        numbers[color] = numbers[color].saturating_add(1);
        let delay = delay_ms(control, numbers[color]);
        longest = longest.max(delay);
        let took = entry.completed.and_then(|(_, _, took)| took);
        match took.filter(|_| begin_known && entry.is_pressed()) {
            Some(took) => {
                least = least.saturating_add(took.saturating_sub(MAX_PRESS_DELAY_MS).min(delay));
                most = most.saturating_add(took.saturating_add(MAX_PRESS_DELAY_MS).min(delay));
            }
            None => most = most.saturating_add(delay),
        }
        begin_known = entry.is_pressed();
    }
    most = most.saturating_add(u64::from(idle_presses).saturating_mul(longest));
    least..=most
}

/// Delay of a player's move by its number, in milliseconds; zero without a delay.
fn delay_ms(control: &TimeControl, number: u32) -> u64 {
    match control.bonus(number) {
        Bonus::Delay(seconds) => u64::from(seconds) * 1000,
        Bonus::None | Bonus::Fischer(_) => 0,
    }
}

/// Whether a clock that was set to the first period of the control already included the first increment or delay;
/// `None` if it was set to other times, so that the expected times are unknown.
fn set_with(control: &TimeControl, begun: ByColor<u64>) -> Option<bool> {
    let base = control.credited_ms(1);
    let first = u64::from(control.bonus(1).seconds()) * 1000;
    let shows = |expected: u64| {
        begun.white.abs_diff(expected) <= MAX_SETTING_DIFFERENCE_MS
            && begun.black.abs_diff(expected) <= MAX_SETTING_DIFFERENCE_MS
    };
    if shows(base) {
        Some(false)
    } else if shows(base + first) {
        Some(true)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(ms: u64) -> ByColor<u64> {
        ByColor::new_with(|_| ms)
    }

    #[test]
    fn a_clock_may_have_the_first_increment_before_the_first_move() {
        let control: TimeControl = "90+30".parse().expect("a time control");
        let minutes = 60_000;
        assert_eq!(set_with(&control, both(90 * minutes)), Some(false));
        assert_eq!(set_with(&control, both(90 * minutes + 30_000)), Some(true));
        assert_eq!(set_with(&control, both(60 * minutes)), None);
    }
}
