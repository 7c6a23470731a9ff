//! Steps of the computer's clock. Boards live in a time without them.

use core::time::Duration;

use kiebitz_hardware::Timestamp;

/// When the computer's clock was set forward, and by how much.
///
/// No time passes in such a moment: what waits for a piece to rest or for a board to answer must not believe that it did.
/// So lines and boards are given the time without the steps, and what leaves them gets the time with them.
#[derive(Debug, Clone, Default)]
pub(super) struct Steps {
    /// The time without steps at which each came, and by how much it set the clock forward.
    taken: Vec<(Timestamp, Duration)>,
    ahead: Duration,
}

impl Steps {
    /// By how much the computer's clock is ahead of the time without steps.
    pub(super) const fn ahead(&self) -> Duration {
        self.ahead
    }

    /// The clock is set forward by `by`, at this time without steps.
    pub(super) fn step(&mut self, at: Timestamp, by: Duration) {
        self.taken.push((at, by));
        self.ahead = self.ahead.saturating_add(by);
    }

    /// The time without steps of what happens now.
    pub(super) fn without(&self, now: Timestamp) -> Timestamp {
        now.saturating_sub(self.ahead)
    }

    /// What the computer's clock says now, at this time without steps.
    pub(super) fn now(&self, at: Timestamp) -> Timestamp {
        at + self.ahead
    }

    /// What the computer's clock said at an earlier time without steps.
    pub(super) fn then(&self, at: Timestamp) -> Timestamp {
        let taken = self.taken.iter().take_while(|(step, _)| *step <= at);
        taken.fold(at, |at, (_, by)| at + *by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_before_a_step_stay_what_they_were() {
        let at = Timestamp::from_micros;
        let mut steps = Steps::default();
        steps.step(at(100), Duration::from_micros(1000));
        steps.step(at(200), Duration::from_micros(50));
        assert_eq!(
            [99, 100, 199, 200, 300].map(|time| steps.then(at(time)).as_micros()),
            [99, 1100, 1199, 1250, 1350]
        );
        assert_eq!(steps.without(at(1350)), at(300));
        assert_eq!(steps.now(at(300)), at(1350));
    }
}
