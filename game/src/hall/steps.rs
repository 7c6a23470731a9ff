//! Steps of the computer's clock. The time of boards does not contain them.

use core::time::Duration;

use kiebitz_hardware::Timestamp;

/// Times and sizes of the steps by which the computer's clock was set forward.
///
/// No time passes during a step: timers that wait for a piece to rest or for a board to answer must not expire. Lines
/// and boards therefore get the time without the steps, and their events get the time with them.
#[derive(Debug, Clone, Default)]
pub(super) struct Steps {
    /// For each step, its time without steps and its size.
    taken: Vec<(Timestamp, Duration)>,
    ahead: Duration,
}

impl Steps {
    /// Amount by which the computer's clock is ahead of the time without steps.
    pub(super) const fn ahead(&self) -> Duration {
        self.ahead
    }

    /// Records that the clock was set forward by `by` at the time `at` without steps.
    pub(super) fn step(&mut self, at: Timestamp, by: Duration) {
        self.taken.push((at, by));
        self.ahead = self.ahead.saturating_add(by);
    }

    /// Converts the current time of the computer's clock to the time without steps.
    pub(super) fn to_board_time(&self, now: Timestamp) -> Timestamp {
        now.saturating_sub(self.ahead)
    }

    /// Converts the current time without steps to the time of the computer's clock.
    pub(super) fn to_system_time(&self, at: Timestamp) -> Timestamp {
        at + self.ahead
    }

    /// Converts an earlier time without steps to the time that the computer's clock showed.
    pub(super) fn to_past_system_time(&self, at: Timestamp) -> Timestamp {
        let taken = self.taken.iter().take_while(|(step, _)| *step <= at);
        taken.fold(at, |at, (_, by)| at + *by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_before_a_step_do_not_change() {
        let at = Timestamp::from_micros;
        let mut steps = Steps::default();
        steps.step(at(100), Duration::from_micros(1000));
        steps.step(at(200), Duration::from_micros(50));
        assert_eq!(
            [99, 100, 199, 200, 300].map(|time| steps.to_past_system_time(at(time)).as_micros()),
            [99, 1100, 1199, 1250, 1350]
        );
        assert_eq!(steps.to_board_time(at(1350)), at(300));
        assert_eq!(steps.to_system_time(at(300)), at(1350));
    }
}
