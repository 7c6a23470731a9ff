//! Points in time, as captures record them.

use core::ops::Add;
use core::time::Duration;

/// Microseconds since 1970-01-01T00:00:00Z, as in captures.
///
/// Nothing in this crate reads a clock: a timestamp comes in with the bytes it belongs to, from the system
/// in live operation and from the capture in a replay. Arithmetic saturates at the ends of the range, which
/// are some 292,000 years away.
///
/// ```
/// use core::time::Duration;
/// use kiebitz_hardware::Timestamp;
///
/// let lift = Timestamp::from_micros(1_789_000_000_250_000);
/// let release = lift + Duration::from_millis(600);
/// assert_eq!(release.as_micros(), 1_789_000_000_850_000);
/// assert_eq!(release.saturating_duration_since(lift), Duration::from_millis(600));
/// ```
#[derive(Copy, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Timestamp(i64);

impl Timestamp {
    /// The timestamp `micros` microseconds after 1970-01-01T00:00:00Z; before it, when negative.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since 1970-01-01T00:00:00Z; negative before it.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// The time from `earlier` to this timestamp; zero when `earlier` is the later one.
    pub fn saturating_duration_since(self, earlier: Self) -> Duration {
        if self.0 > earlier.0 {
            Duration::from_micros(self.0.abs_diff(earlier.0))
        } else {
            Duration::ZERO
        }
    }

    /// The timestamp `duration` before this one, cut to whole microseconds; the earliest there is when that
    /// is out of range.
    pub fn saturating_sub(self, duration: Duration) -> Self {
        Self(i64::try_from(duration.as_micros()).map_or(i64::MIN, |micros| self.0.saturating_sub(micros)))
    }
}

/// The timestamp `duration` after this one, cut to whole microseconds; the last there is when that is out of
/// range.
impl Add<Duration> for Timestamp {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(i64::try_from(duration.as_micros()).map_or(i64::MAX, |micros| self.0.saturating_add(micros)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp::from_micros(1_789_000_000_000_000);

    #[test]
    fn adding_and_taking_away_a_duration_cancel_out() {
        let later = NOON + Duration::from_micros(1_500_001);
        assert_eq!(later.as_micros() - NOON.as_micros(), 1_500_001);
        assert_eq!(later.saturating_sub(Duration::from_micros(1_500_001)), NOON);
    }

    #[test]
    fn time_does_not_run_backwards() {
        let later = NOON + Duration::from_secs(3);
        assert_eq!(later.saturating_duration_since(NOON), Duration::from_secs(3));
        assert_eq!(NOON.saturating_duration_since(later), Duration::ZERO);
    }

    #[test]
    fn arithmetic_stops_at_the_ends_of_the_range() {
        let (first, last) = (Timestamp::from_micros(i64::MIN), Timestamp::from_micros(i64::MAX));
        assert_eq!(NOON + Duration::MAX, last);
        assert_eq!(last + Duration::from_micros(1), last);
        assert_eq!(NOON.saturating_sub(Duration::MAX), first);
        assert_eq!(first.saturating_sub(Duration::from_micros(1)), first);
        assert_eq!(
            last.saturating_duration_since(first),
            Duration::from_micros(u64::MAX)
        );
    }
}
