//! Chance from a seed: the same seed, the same play.

use core::time::Duration;

/// A small generator (splitmix64).
#[derive(Debug, Clone)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bd1_e995_7b93_a3c1)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 up to but not including `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.bits() % end.max(1) as u64) as usize
    }

    /// True in so many of a hundred cases.
    pub(crate) fn percent(&mut self, percent: u32) -> bool {
        self.bits() % 100 < u64::from(percent)
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    pub(crate) fn time(&mut self, span: Span) -> Duration {
        let width = span.most.saturating_sub(span.least).as_micros() as u64 + 1;
        span.least + Duration::from_micros(self.bits() % width)
    }
}

/// From how long to how long something takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    least: Duration,
    most: Duration,
}

/// A span in milliseconds.
pub(crate) const fn ms(least: u64, most: u64) -> Span {
    Span {
        least: Duration::from_millis(least),
        most: Duration::from_millis(most),
    }
}
