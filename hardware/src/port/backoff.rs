//! When to try a port again.

use core::time::Duration;

use crate::time::Timestamp;

/// Spaces out the attempts to open a port: at once, after 1 s, then twice as long each time, up to 30 s.
///
/// A port that was open for a minute before it failed begins again at 1 s. When the device was plugged in again,
/// begin with a new value: it is to be opened at once.
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
    /// A port that is to be opened now.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self {
            failures: 0,
            state: State::Waiting { until: now },
        }
    }

    /// When to try to open the port; `None` while it is open.
    #[must_use]
    pub fn poll_deadline(&self) -> Option<Timestamp> {
        match self.state {
            State::Open { .. } => None,
            State::Waiting { until } => Some(until),
        }
    }

    /// How often the port has failed in a row: an attempt to open it, or a time open that was shorter than a minute.
    #[must_use]
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// The port was opened.
    pub fn handle_opened(&mut self, now: Timestamp) {
        self.state = State::Open { since: now };
    }

    /// The port could not be opened, or was closed, by either side.
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

/// The wait after the first failure.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest wait between two attempts.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// After this many doublings the wait is at its longest.
const MAX_DOUBLINGS: u32 = 5;
/// A port that has been open for this long counts as working.
const WORKING_AFTER: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp::from_micros(1_789_000_000_000_000);

    /// How long the wait is after a failure at `now`.
    fn fail(backoff: &mut Backoff, now: Timestamp) -> u64 {
        backoff.handle_failed(now);
        let until = backoff.poll_deadline().unwrap();
        until.saturating_duration_since(now).as_secs()
    }

    #[test]
    fn the_first_attempt_is_made_at_once() {
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
    fn an_open_port_needs_no_attempt() {
        let mut backoff = Backoff::new(NOON);
        backoff.handle_opened(NOON);
        assert_eq!(backoff.poll_deadline(), None);
    }

    #[test]
    fn a_port_that_opens_and_dies_at_once_is_waited_for_ever_longer() {
        let mut backoff = Backoff::new(NOON);
        assert_eq!(fail(&mut backoff, NOON), 1);
        backoff.handle_opened(NOON + Duration::from_secs(1));
        assert_eq!(fail(&mut backoff, NOON + Duration::from_secs(3)), 2);
        backoff.handle_opened(NOON + Duration::from_secs(5));
        assert_eq!(fail(&mut backoff, NOON + Duration::from_secs(64)), 4);
    }

    #[test]
    fn a_port_that_worked_for_a_minute_begins_anew() {
        let mut backoff = Backoff::new(NOON);
        for _ in 0..6 {
            backoff.handle_failed(NOON);
        }
        backoff.handle_opened(NOON);
        assert_eq!(fail(&mut backoff, NOON + Duration::from_secs(60)), 1);
        assert_eq!(backoff.failures(), 1);
    }
}
