//! Whether the clock's times fit the time that has passed (2023: 6.10).

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::ByColor;

use super::book::{Number, ResumedIncident};
use super::{Desk, News};
use crate::events::{ClosedBy, IncidentEnd};
use crate::laws::{Bonus, ClockCheck, TimeControl};
use crate::referee::LineEntry;
use crate::tracker::{ClockChange, Completion};

/// The board reports whole seconds, up to a second late: times that differ by less than this may be right.
const TOLERANCE_MS: u64 = 12_000;
/// A clock that shows at its start what each player has, to within this, was set to it.
const MAX_SETTING_DIFFERENCE_MS: u64 = 2_000;
/// The least time from one check to the next.
const MIN_BETWEEN_CHECKS: Duration = Duration::from_secs(20);
/// This many checks in a row must fail.
const MIN_FAILED_CHECKS: u32 = 2;

/// Keeps account of the time that has passed.
#[derive(Debug, Default)]
pub(super) struct Arithmetic {
    /// How long the clocks ran until the last reading, in milliseconds.
    ran_ms: u64,
    /// The last reading while the clock ran.
    since: Option<Timestamp>,
    /// What the clock showed when it was started.
    begun_with: Option<ByColor<u64>>,
    /// The arbiter's corrections: by how much the times jumped while the clock was stopped.
    adjusted_ms: i64,
    last: Option<ByColor<u64>>,
    /// The clock or the board was away, so that the account is incomplete.
    lost: bool,
    checked: Option<Timestamp>,
    failed: u32,
    open: Option<Number>,
}

impl Arithmetic {
    pub(super) fn resume(&mut self, known: &ResumedIncident) {
        self.open = Some(known.number);
    }

    pub(super) fn handle(&mut self, desk: &mut Desk<'_>, news: &News) {
        match news {
            News::Started | News::Over => {
                *self = Self::default();
            }
            News::Away | News::Clock(ClockChange::Disconnected) => self.lost = true,
            News::Times(times) => self.read(desk, *times),
            News::Completed(_, Completion::Press) => self.check(desk),
            _ => {}
        }
    }

    fn read(&mut self, desk: &Desk<'_>, times: ByColor<u64>) {
        let now = desk.now();
        let running = desk.game.face.is_some_and(|face| face.running.is_some());
        if let Some(since) = self.since.take() {
            let ran = now.saturating_duration_since(since);
            self.ran_ms = self
                .ran_ms
                .saturating_add(u64::try_from(ran.as_millis()).unwrap_or(u64::MAX));
        } else if let Some(last) = self.last {
            let sum = |times: ByColor<u64>| {
                i64::try_from(times.white.saturating_add(times.black)).unwrap_or(i64::MAX)
            };
            self.adjusted_ms = self
                .adjusted_ms
                .saturating_add(sum(times).saturating_sub(sum(last)));
        }
        if running {
            self.since = Some(now);
            self.begun_with.get_or_insert(times);
        }
        if self.begun_with.is_some() {
            self.last = Some(times);
        }
    }

    fn check(&mut self, desk: &mut Desk<'_>) {
        let now = desk.now();
        let Some(control) = desk.game.regulations.time_control.clone() else {
            return;
        };
        let due = self.checked.is_none_or(|at| now >= at + MIN_BETWEEN_CHECKS);
        let (Some(begun), Some(shown)) = (self.begun_with, self.last) else {
            return;
        };
        let moves = desk.game.completed();
        let pressed = desk.game.completed_as(LineEntry::is_pressed);
        let first_period = [moves.white, moves.black]
            .into_iter()
            .all(|moves| control.standing(moves).period == 0);
        if !due || self.lost || !first_period || !desk.game.in_play() {
            return;
        }
        let Some(before_first_move) = set_with(&control, begun) else {
            return;
        };
        self.checked = Some(now);
        let check = ClockCheck {
            elapsed_ms: self.ran_ms,
            moves,
            periods: ByColor::new_with(|_| 1),
            before_first_move,
            adjusted_ms: self.adjusted_ms,
        };
        // Where no press was seen, there may still have been one.
        let with_presses_seen = ClockCheck {
            moves: pressed,
            ..check
        };
        let wrong = check
            .judge(&control, shown, TOLERANCE_MS)
            .filter(|_| with_presses_seen.judge(&control, shown, TOLERANCE_MS).is_some());
        match wrong {
            None => {
                self.failed = 0;
                if let Some(number) = self.open.take() {
                    desk.book
                        .close(now, number, ClosedBy::Clock, IncidentEnd::Restored);
                }
            }
            Some(situation) => {
                self.failed += 1;
                if self.failed < MIN_FAILED_CHECKS {
                    return;
                }
                let report = desk.report(situation, now);
                match self.open {
                    Some(number) => desk.update(number, report),
                    None => self.open = Some(desk.open(report)),
                }
            }
        }
    }
}

/// Whether the first increment was already on a clock that was set to the control's first period; `None`: it was set to
/// something else, and nothing can be expected of it.
fn set_with(control: &TimeControl, begun: ByColor<u64>) -> Option<bool> {
    let base = control.credited_ms(1);
    let first = match control.bonus(1) {
        Bonus::Fischer(seconds) => u64::from(seconds) * 1000,
        Bonus::None | Bonus::Delay(_) => 0,
    };
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
