//! Limits the commands without an effect that a board records.
//!
//! Anybody who may send commands could otherwise fill the journal with refused ones, and every restart replays them.

use core::time::Duration;

use kiebitz_hardware::Timestamp;

/// Number of commands without an effect that a board records at once.
const MAX_AT_ONCE: u32 = 30;
/// Interval after which a board records one more.
const INTERVAL: Duration = Duration::from_secs(300);

#[derive(Debug, Default)]
pub(super) struct Allowance {
    /// Time at which the board may record [`MAX_AT_ONCE`] commands again; `None` before the first one.
    full: Option<Timestamp>,
}

impl Allowance {
    /// Whether the board may record one more command at `now`.
    pub(super) fn is_left(&self, now: Timestamp) -> bool {
        let full = self.full.unwrap_or(now);
        full.saturating_duration_since(now) <= INTERVAL * (MAX_AT_ONCE - 1)
    }

    /// Counts a command that the board records at `now`.
    pub(super) fn take(&mut self, now: Timestamp) {
        let full = self.full.map_or(now, |full| full.max(now)) + INTERVAL;
        self.full = Some(full.min(now + INTERVAL * MAX_AT_ONCE));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    /// Takes what is left at a time. Returns the number.
    fn take_all(allowance: &mut Allowance, now: Timestamp) -> u32 {
        let mut count = 0;
        while allowance.is_left(now) {
            allowance.take(now);
            count += 1;
        }
        count
    }

    #[test]
    fn an_allowance_is_used_up_and_comes_back() {
        let mut allowance = Allowance::default();
        assert_eq!(take_all(&mut allowance, at(1000)), MAX_AT_ONCE);
        assert_eq!(take_all(&mut allowance, at(1299)), 0);
        assert_eq!(take_all(&mut allowance, at(1300)), 1);
        assert_eq!(take_all(&mut allowance, at(1000 + 300 * 4)), 3);
        assert_eq!(take_all(&mut allowance, at(1_000_000)), MAX_AT_ONCE);
    }

    #[test]
    fn commands_that_must_be_recorded_use_up_no_more_than_the_allowance() {
        let mut allowance = Allowance::default();
        for _ in 0..100 * MAX_AT_ONCE {
            allowance.take(at(1000));
        }
        assert!(!allowance.is_left(at(1299)));
        assert!(allowance.is_left(at(1300)));
    }
}
