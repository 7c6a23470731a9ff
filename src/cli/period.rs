//! Periods of time, with bounds as users write them.

use core::ops::RangeInclusive;
use core::str::FromStr;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use kiebitz_hardware::Timestamp;
use thiserror::Error;

/// A day or a time, such as "today", "2026-11-21" or "2026-11-21T14:00".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PeriodBound {
    Today,
    Yesterday,
    Day(Date),
    /// Time in the local time zone.
    Local(DateTime),
    Exact(jiff::Timestamp),
}

/// Error of parsing a [`PeriodBound`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{text:?} is not a day or time; expected for example \"today\", \"2026-11-21\" or \"2026-11-21T14:00\""
)]
pub(super) struct NoMoment {
    text: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Period {
    pub(super) since: Option<PeriodBound>,
    pub(super) until: Option<PeriodBound>,
}

/// A period in system time, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PeriodTimes {
    first: Timestamp,
    last: Timestamp,
}

impl FromStr for PeriodBound {
    type Err = NoMoment;

    fn from_str(text: &str) -> Result<Self, NoMoment> {
        match text {
            "today" => return Ok(Self::Today),
            "yesterday" => return Ok(Self::Yesterday),
            _ => {}
        }
        // The length is checked, because jiff also parses a date out of a longer text and ignores the rest.
        let day = (text.len() == DATE_LENGTH)
            .then(|| text.parse::<Date>().ok())
            .flatten();
        let exact = || text.parse().ok().map(Self::Exact);
        let local = || text.parse().ok().map(Self::Local);
        let moment = day.map(Self::Day).or_else(exact).or_else(local);
        moment.ok_or_else(|| NoMoment {
            text: text.to_owned(),
        })
    }
}

impl PeriodBound {
    /// Returns the first and the last microsecond of the day or time.
    fn ends(self, zone: &TimeZone, now: Timestamp) -> Option<(Timestamp, Timestamp)> {
        let today = || {
            let now = jiff::Timestamp::from_microsecond(now.as_micros()).ok()?;
            Some(now.to_zoned(zone.clone()).date())
        };
        let instant = |at: jiff::Timestamp| Timestamp::from_micros(at.as_microsecond());
        let day = match self {
            Self::Today => today()?,
            Self::Yesterday => today()?.yesterday().ok()?,
            Self::Day(day) => day,
            Self::Exact(at) => return Some((instant(at), instant(at))),
            Self::Local(at) => {
                let at = instant(at.to_zoned(zone.clone()).ok()?.timestamp());
                return Some((at, at));
            }
        };
        let midnight = |day: Date| day.to_zoned(zone.clone()).ok().map(|at| instant(at.timestamp()));
        let next = midnight(day.tomorrow().ok()?)?;
        Some((midnight(day)?, Timestamp::from_micros(next.as_micros() - 1)))
    }
}

impl Period {
    /// Resolves the bounds in time zone `zone`, with `now` as the current time.
    pub(super) fn in_zone(self, zone: &TimeZone, now: Timestamp) -> PeriodTimes {
        let ends = |moment: Option<PeriodBound>| moment.and_then(|moment| moment.ends(zone, now));
        PeriodTimes {
            first: ends(self.since).map_or(Timestamp::from_micros(i64::MIN), |(first, _)| first),
            last: ends(self.until).map_or(Timestamp::from_micros(i64::MAX), |(_, last)| last),
        }
    }
}

impl PeriodTimes {
    pub(super) fn range(self) -> RangeInclusive<Timestamp> {
        self.first..=self.last
    }

    pub(super) fn contains(self, at: Timestamp) -> bool {
        self.range().contains(&at)
    }
}

/// Length of a date such as "2026-11-21", in bytes.
const DATE_LENGTH: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_times_are_local() {
        let zone = TimeZone::fixed(jiff::tz::offset(1));
        let noon = 1_795_258_800_000_000; // 2026-11-21T11:00:00Z
        let now = Timestamp::from_micros(noon);
        let holds = |since: &str, until: &str, hours: i64| {
            let moment = |text: &str| (!text.is_empty()).then(|| text.parse().expect("a moment"));
            let period = Period {
                since: moment(since),
                until: moment(until),
            };
            let at = Timestamp::from_micros(noon + hours * 3_600_000_000);
            period.in_zone(&zone, now).contains(at)
        };
        assert!(holds("today", "today", -12) && !holds("today", "today", -13));
        assert!(holds("2026-11-21", "2026-11-21", 11) && !holds("2026-11-21", "2026-11-21", 12));
        assert!(holds("yesterday", "", -24) && !holds("", "yesterday", 0));
        assert!(holds("2026-11-21T12:00", "", 0) && !holds("2026-11-21T12:01", "", 0));
        assert!(holds("", "2026-11-21T11:00:00Z", 0) && !holds("", "2026-11-21T10:59:59Z", 0));
        assert!(holds("", "", 100_000));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "soon", "2026-13-01", "21.11.2026", "2026-11-21 at two"] {
            assert!(text.parse::<PeriodBound>().is_err(), "{text}");
        }
    }
}
