use jiff::tz::TimeZone;

use crate::time::Timestamp;

/// A local day, from midnight to midnight.
#[derive(Clone, Debug)]
pub(super) struct Day {
    name: String,
    begin: Timestamp,
    end: Timestamp,
}

impl Day {
    /// Returns the local day of `now`. `last` caches the day, because the calendar calculation is too slow to repeat
    /// for every chunk.
    pub(super) fn of<'a>(now: Timestamp, zone: &TimeZone, last: &'a mut Option<Self>) -> &'a Self {
        let known = last.take().filter(|day| day.contains(now));
        last.insert(known.unwrap_or_else(|| Self::containing(now, zone)))
    }

    /// Returns the date, for example `2026-11-21`.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the start of the next day.
    pub(super) fn end(&self) -> Timestamp {
        self.end
    }

    pub(super) fn contains(&self, now: Timestamp) -> bool {
        (self.begin..self.end).contains(&now)
    }

    fn containing(now: Timestamp, zone: &TimeZone) -> Self {
        // Clamps times outside of the calendar's range.
        let micros = now.as_micros();
        let (first, last) = (jiff::Timestamp::MIN, jiff::Timestamp::MAX);
        let instant = jiff::Timestamp::from_microsecond(micros);
        let instant = instant.unwrap_or(if micros < 0 { first } else { last });
        let date = instant.to_zoned(zone.clone()).date();
        let midnight = |date: Result<jiff::civil::Date, jiff::Error>, fallback| {
            let midnight = date.and_then(|date| date.to_zoned(zone.clone()));
            midnight.map_or(fallback, |midnight| midnight.timestamp().as_microsecond())
        };
        Self {
            name: date.to_string(),
            begin: Timestamp::from_micros(midnight(Ok(date), i64::MIN)),
            end: Timestamp::from_micros(midnight(date.tomorrow(), i64::MAX)),
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::tz::Offset;

    use super::*;

    const MIDNIGHT: i64 = 1_795_219_200_000_000; // 2026-11-21T00:00:00Z

    fn day(micros: i64, hours: i8) -> Day {
        Day::containing(
            Timestamp::from_micros(micros),
            &TimeZone::fixed(Offset::constant(hours)),
        )
    }

    #[test]
    fn a_day_starts_at_midnight_and_ends_before_the_next_midnight() {
        assert_eq!(day(MIDNIGHT - 1, 0).name(), "2026-11-20");
        assert_eq!(day(MIDNIGHT, 0).name(), "2026-11-21");
        let day = day(MIDNIGHT + 5, 0);
        assert_eq!(day.begin.as_micros(), MIDNIGHT);
        assert_eq!(day.end.as_micros(), MIDNIGHT + 86_400_000_000);
        assert!(day.contains(day.begin) && !day.contains(day.end));
    }

    #[test]
    fn the_day_depends_on_the_time_zone() {
        assert_eq!(day(MIDNIGHT - 1, 1).name(), "2026-11-21");
        assert_eq!(day(MIDNIGHT + 1, -5).name(), "2026-11-20");
    }

    #[test]
    fn the_cached_day_is_replaced_when_the_day_changes() {
        let mut last = None;
        for (micros, name) in [
            (MIDNIGHT, "2026-11-21"),
            (MIDNIGHT + 1, "2026-11-21"),
            (MIDNIGHT - 1, "2026-11-20"),
        ] {
            let now = Timestamp::from_micros(micros);
            assert_eq!(Day::of(now, &TimeZone::UTC, &mut last).name(), name);
        }
    }

    #[test]
    fn times_beyond_the_calendar_are_clamped() {
        assert_eq!(day(i64::MIN, 0).name(), "-009999-01-02");
        assert_eq!(day(i64::MAX, 0).name(), "9999-12-30");
        assert!(day(i64::MIN, 0).begin <= day(i64::MIN, 0).end);
    }
}
