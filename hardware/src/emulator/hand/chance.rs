//! Random numbers from a seed.

use core::time::Duration;

/// A small random number generator (splitmix64).
///
/// ```
/// use kiebitz_hardware::emulator::hand::Chance;
///
/// let (mut one, mut other) = (Chance::new(7), Chance::new(7));
/// assert_eq!(one.below(64), other.below(64));
/// ```
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    /// Creates a generator. Generators with the same seed return the same numbers.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bd1_e995_7b93_a3c1)
    }

    /// Returns 64 random bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number from 0 up to but not including `end`, or 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.bits() % end.max(1) as u64) as usize
    }

    /// Returns `true` with a probability of `percent` percent.
    pub fn percent(&mut self, percent: u32) -> bool {
        self.bits() % 100 < u64::from(percent)
    }

    /// Returns a random element.
    pub fn pick<T: Copy, const N: usize>(&mut self, from: [T; N]) -> T {
        const { assert!(N > 0, "there is something to pick from") };
        from[self.below(N)]
    }

    /// Returns a random element, or `None` if the slice is empty.
    pub fn pick_from<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        let index = self.below(from.len());
        from.get(index).copied()
    }

    /// Returns a random time within the span.
    pub fn time(&mut self, span: Span) -> Duration {
        let width = span.most.saturating_sub(span.least);
        let width = u64::try_from(width.as_micros()).map_or(u64::MAX, |micros| micros.saturating_add(1));
        span.least + Duration::from_micros(self.bits() % width)
    }
}

/// An inclusive range of durations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    least: Duration,
    most: Duration,
}

impl Span {
    /// Returns the shortest duration.
    #[must_use]
    pub const fn least(self) -> Duration {
        self.least
    }

    /// Scales both ends to `percent` percent, but not below `least`.
    #[must_use]
    pub fn percent(self, percent: u32, least: Duration) -> Self {
        let part = |time: Duration| (time.saturating_mul(percent) / 100).max(least);
        Self {
            least: part(self.least),
            most: part(self.most),
        }
    }
}

/// Returns a span in milliseconds.
#[must_use]
pub const fn ms(least: u64, most: u64) -> Span {
    Span {
        least: Duration::from_millis(least),
        most: Duration::from_millis(most),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_lie_within_their_span() {
        let mut chance = Chance::new(1);
        let span = ms(20, 22);
        let times: Vec<Duration> = (0..1000).map(|_| chance.time(span)).collect();
        assert!(times.iter().all(|time| (20..=22).contains(&time.as_millis())));
        assert!(times.iter().any(|time| time.as_micros() < 20_500));
        assert!(times.iter().any(|time| time.as_micros() > 21_500));
        assert_eq!(chance.time(ms(5, 5)), Duration::from_millis(5));
    }

    #[test]
    fn a_part_of_a_span_keeps_a_least_time() {
        let least = Duration::from_millis(60);
        assert_eq!(ms(700, 3500).percent(10, least), ms(70, 350));
        assert_eq!(ms(700, 3500).percent(2, least), ms(60, 70));
        assert_eq!(ms(700, 3500).percent(1000, least), ms(7000, 35_000));
    }

    #[test]
    fn picking_from_an_empty_slice_gives_none() {
        assert_eq!(Chance::new(3).pick_from::<u8>(&[]), None);
    }
}
