use core::ops::Add;
use core::time::Duration;

/// A time in microseconds since 1970-01-01T00:00:00Z, as in captures.
///
/// This crate never reads the time. The caller passes a timestamp with the bytes: the system time in live operation,
/// the recorded time in a replay. Arithmetic saturates at the ends of the range, about 292,000 years before and after
/// 1970.
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
    /// Returns the timestamp `micros` microseconds after 1970-01-01T00:00:00Z, or before it if `micros` is negative.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Returns the microseconds since 1970-01-01T00:00:00Z; negative for earlier times.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Returns the time from `earlier` to this timestamp, or zero if `earlier` is later.
    #[inline]
    pub fn saturating_duration_since(self, earlier: Self) -> Duration {
        if self.0 > earlier.0 {
            Duration::from_micros(self.0.abs_diff(earlier.0))
        } else {
            Duration::ZERO
        }
    }

    /// Returns the timestamp `duration` earlier, rounded down to microseconds. Saturates at the earliest timestamp.
    #[inline]
    pub fn saturating_sub(self, duration: Duration) -> Self {
        Self(i64::try_from(duration.as_micros()).map_or(i64::MIN, |micros| self.0.saturating_sub(micros)))
    }
}

/// Returns the timestamp `duration` later, rounded down to microseconds. Saturates at the latest timestamp.
impl Add<Duration> for Timestamp {
    type Output = Self;

    #[inline]
    fn add(self, duration: Duration) -> Self {
        Self(i64::try_from(duration.as_micros()).map_or(i64::MAX, |micros| self.0.saturating_add(micros)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp::from_micros(1_789_000_000_000_000);

    #[test]
    fn adding_and_subtracting_a_duration_cancel_out() {
        let later = NOON + Duration::from_micros(1_500_001);
        assert_eq!(later.as_micros() - NOON.as_micros(), 1_500_001);
        assert_eq!(later.saturating_sub(Duration::from_micros(1_500_001)), NOON);
    }

    #[test]
    fn a_negative_duration_saturates_at_zero() {
        let later = NOON + Duration::from_secs(3);
        assert_eq!(later.saturating_duration_since(NOON), Duration::from_secs(3));
        assert_eq!(NOON.saturating_duration_since(later), Duration::ZERO);
    }

    #[test]
    fn arithmetic_saturates_at_the_ends_of_the_range() {
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
