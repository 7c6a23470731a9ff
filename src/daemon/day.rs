//! When a new day begins for the daemon: its next start then has to play back no more than that.

use core::time::Duration;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use kiebitz_hardware::Timestamp;

/// A day of the daemon: from its start until nobody has played for a while on another day.
#[derive(Debug)]
pub(super) struct Day {
    zone: TimeZone,
    date: Option<Date>,
    heard: Timestamp,
}

/// Nobody plays who does nothing for so long.
const QUIET: Duration = Duration::from_secs(2 * 3600);

impl Day {
    /// It begins.
    pub(super) fn new(now: Timestamp, zone: TimeZone) -> Self {
        Self {
            date: date(now, &zone),
            zone,
            heard: now,
        }
    }

    /// Something has happened.
    pub(super) fn hear(&mut self, now: Timestamp) {
        self.heard = now;
    }

    /// Whether it is over.
    pub(super) fn is_over(&self, now: Timestamp) -> bool {
        now.saturating_duration_since(self.heard) >= QUIET && date(now, &self.zone) != self.date
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
        // 2026-11-21 14:00 UTC.
        let start = Timestamp::from_micros(1_795_269_600_000_000);
        let hours = |hours: u64| start + Duration::from_secs(3600 * hours);
        let mut day = Day::new(start, TimeZone::UTC);
        assert!(!day.is_over(hours(9)), "the same date");
        day.hear(hours(9));
        assert!(!day.is_over(hours(10)), "somebody may still be playing");
        assert!(day.is_over(hours(11)));
        assert!(!Day::new(hours(11), TimeZone::UTC).is_over(hours(15)));
    }
}
