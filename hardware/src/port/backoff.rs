use core::time::Duration;

use crate::time::Timestamp;

/// Exponential backoff for opening a port: immediately, then after 1 s, doubling up to 30 s.
///
/// The backoff restarts at 1 s if the port was open for a minute before it failed. When the device is plugged in again,
/// create a new backoff, so that the port is opened immediately.
///
/// ```
/// use core::time::Duration;
/// use kiebitz_hardware::Timestamp;
/// use kiebitz_hardware::port::Backoff;
///
/// let now = Timestamp::from_micros(1_789_000_000_000_000);
/// let mut backoff = Backoff::new(now);
/// assert_eq!(backoff.poll_deadline(), Some(now)); // try to open the port
/// backoff.handle_failed(now);
/// assert_eq!(backoff.poll_deadline(), Some(now + Duration::from_secs(1)));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Backoff {
    failures: u32,
    state: State,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum State {
    Open { since: Timestamp },
    Waiting { until: Timestamp },
}

impl Backoff {
    /// Returns a backoff whose first attempt is due now.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self {
            failures: 0,
            state: State::Waiting { until: now },
        }
    }

    /// Returns the time of the next attempt to open the port, or `None` while it is open.
    #[must_use]
    pub fn poll_deadline(&self) -> Option<Timestamp> {
        match self.state {
            State::Open { .. } => None,
            State::Waiting { until } => Some(until),
        }
    }

    /// Returns the number of consecutive failures: failed attempts to open the port, and closes less than a minute
    /// after the opening.
    #[must_use]
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// Handles the opening of the port.
    pub fn handle_opened(&mut self, now: Timestamp) {
        self.state = State::Open { since: now };
    }

    /// Handles a failed attempt to open the port, or its closing by either side.
    pub fn handle_failed(&mut self, now: Timestamp) {
        if let State::Open { since } = self.state
            && now.saturating_duration_since(since) >= WORKING_AFTER
        {
            self.failures = 0;
        }
        let wait = FIRST_WAIT * 2u32.saturating_pow(self.failures.min(MAX_DOUBLINGS));
        self.failures = self.failures.saturating_add(1);
        self.state = State::Waiting {
            until: now + wait.min(MAX_WAIT),
        };
    }
}

const FIRST_WAIT: Duration = Duration::from_secs(1);
const MAX_WAIT: Duration = Duration::from_secs(30);
/// Number of doublings after which the wait exceeds [`MAX_WAIT`].
const MAX_DOUBLINGS: u32 = 5;
/// Time that a port must be open to count as working.
const WORKING_AFTER: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp::from_micros(1_789_000_000_000_000);

    /// Reports a failure at `now` and returns the wait in seconds.
    fn fail(backoff: &mut Backoff, now: Timestamp) -> u64 {
        backoff.handle_failed(now);
        let until = backoff.poll_deadline().unwrap();
        until.saturating_duration_since(now).as_secs()
    }

    #[test]
    fn the_first_attempt_is_due_immediately() {
        assert_eq!(Backoff::new(NOON).poll_deadline(), Some(NOON));
    }

    #[test]
    fn waits_double_up_to_half_a_minute() {
        let mut backoff = Backoff::new(NOON);
        let waits: Vec<_> = (0..8).map(|_| fail(&mut backoff, NOON)).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 30, 30, 30]);
        assert_eq!(backoff.failures(), 8);
    }

    #[test]
    fn an_open_port_has_no_next_attempt() {
        let mut backoff = Backoff::new(NOON);
        backoff.handle_opened(NOON);
        assert_eq!(backoff.poll_deadline(), None);
    }

    #[test]
    fn waits_double_if_the_port_fails_soon_after_opening() {
        let mut backoff = Backoff::new(NOON);
        assert_eq!(fail(&mut backoff, NOON), 1);
        backoff.handle_opened(NOON + Duration::from_secs(1));
        assert_eq!(fail(&mut backoff, NOON + Duration::from_secs(3)), 2);
        backoff.handle_opened(NOON + Duration::from_secs(5));
        assert_eq!(fail(&mut backoff, NOON + Duration::from_secs(64)), 4);
    }

    #[test]
    fn waits_restart_if_the_port_was_open_for_a_minute() {
        let mut backoff = Backoff::new(NOON);
        for _ in 0..6 {
            backoff.handle_failed(NOON);
        }
        backoff.handle_opened(NOON);
        assert_eq!(fail(&mut backoff, NOON + Duration::from_secs(60)), 1);
        assert_eq!(backoff.failures(), 1);
    }
}
