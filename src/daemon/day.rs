//! Decides when the daemon begins a new day. This limits the recordings that its next start has to replay.

use core::time::Duration;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use kiebitz_hardware::Timestamp;

use crate::system_time::{Moment, Now};

/// A day of the daemon. It ends when the date has changed and nobody has played for [`QUIET`].
#[derive(Debug)]
pub(super) struct Day {
    zone: TimeZone,
    date: Option<Date>,
    last_event: Moment,
}

/// Time without events after which nobody is assumed to be playing.
const QUIET: Duration = Duration::from_secs(2 * 3600);

impl Day {
    pub(super) fn new(now: Now, zone: TimeZone) -> Self {
        Self {
            date: date(now.time, &zone),
            zone,
            last_event: now.moment,
        }
    }

    pub(super) fn handle_event(&mut self, now: Now) {
        self.last_event = now.moment;
    }

    /// Whether the day is over. A step of the computer's clock may change the date, but not the idle time.
    pub(super) fn is_over(&self, now: Now) -> bool {
        now.moment.since(self.last_event) >= QUIET && date(now.time, &self.zone) != self.date
    }
}

fn date(at: Timestamp, zone: &TimeZone) -> Option<Date> {
    let at = jiff::Timestamp::from_microsecond(at.as_micros()).ok()?;
    Some(at.to_zoned(zone.clone()).date())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_over_at_night_when_nobody_plays() {
        let hours = |hours: u64| at(hours, 0);
        let mut day = Day::new(hours(0), TimeZone::UTC);
        assert!(!day.is_over(hours(9)), "the same date");
        day.handle_event(hours(9));
        assert!(!day.is_over(hours(10)), "somebody may still be playing");
        assert!(day.is_over(hours(11)));
        assert!(!Day::new(hours(11), TimeZone::UTC).is_over(hours(15)));
    }

    #[test]
    fn a_step_of_the_clock_begins_no_day() {
        for step in [-1000, -26, -1, 0, 1, 26, 1000] {
            let mut day = Day::new(at(0, 0), TimeZone::UTC);
            day.handle_event(at(1, 0));
            assert!(!day.is_over(at(1, step)), "{step} h");
            assert!(!day.is_over(at(2, step)), "{step} h");
            assert_eq!(day.is_over(at(3, step)), step.abs() >= 26, "{step} h");
        }
    }

    /// The time `hours` after the start, on a clock that has been set forward by `step` hours.
    fn at(hours: u64, step: i64) -> Now {
        let hour = Duration::from_secs(3600);
        // 2026-11-21 14:00 UTC.
        let start = 1_795_269_600_000_000 + step * 3_600_000_000;
        Now {
            time: Timestamp::from_micros(start) + hour * u32::try_from(hours).expect("few"),
            moment: Moment::after(hour * u32::try_from(hours).expect("few")),
        }
    }
}
