//! How far the clocks of daemons are ahead of this computer's, by what they publish. Spectators wait by this computer's
//! clock for what is dated by another one, which may be wrong.

use core::time::Duration;
use std::collections::BTreeMap;

use kiebitz_hardware::Timestamp;

/// The clocks of all daemons, by hall and host.
#[derive(Debug, Default)]
pub(super) struct Clocks {
    known: BTreeMap<(usize, String), Lead>,
}

/// How far a clock is ahead, in microseconds.
#[derive(Debug, Clone, Copy)]
enum Lead {
    /// At least so far: something was dated so at some time before it was read.
    AtLeast(i64),
    /// By what was read when it was published.
    Is(i64),
}

/// A daemon publishes its state each minute: one whose retained state is no older may have the right time.
const CURRENT: i64 = 125_000_000;

impl Clocks {
    /// Something was read at `now` that a daemon has published, and dated `said`. `is_live`: it was published just then.
    pub(super) fn hear(&mut self, now: Timestamp, daemon: (usize, String), said: Timestamp, is_live: bool) {
        let lead = said.as_micros().saturating_sub(now.as_micros());
        let known = self.known.get(&daemon).copied();
        let lead = match known {
            Some(Lead::Is(known)) => Lead::Is(known.max(lead)),
            _ if is_live => Lead::Is(lead),
            Some(Lead::AtLeast(known)) => Lead::AtLeast(known.max(lead)),
            None => Lead::AtLeast(lead),
        };
        self.known.insert(daemon, lead);
    }

    /// A daemon has just said what time it is. It may have been started again, with an earlier time.
    pub(super) fn set(&mut self, now: Timestamp, daemon: (usize, String), said: Timestamp) {
        self.known.remove(&daemon);
        self.hear(now, daemon, said, true);
    }

    /// A daemon has ended. When it is started again, its clock may be another one.
    pub(super) fn forget(&mut self, daemon: &(usize, String)) {
        self.known.remove(daemon);
    }

    /// This computer's clock was set forward.
    pub(super) fn set_forward(&mut self, by: Duration) {
        let by = i64::try_from(by.as_micros()).unwrap_or(i64::MAX);
        for lead in self.known.values_mut() {
            match lead {
                Lead::AtLeast(lead) | Lead::Is(lead) => *lead = lead.saturating_sub(by),
            }
        }
    }

    /// When something happened, on this computer's clock, that a daemon dates `then`.
    pub(super) fn here(&self, now: Timestamp, daemon: &(usize, String), then: Timestamp) -> Timestamp {
        let lead = match self.known.get(daemon) {
            Some(Lead::Is(lead)) => *lead,
            Some(Lead::AtLeast(lead)) if !(-CURRENT..=0).contains(lead) => *lead,
            Some(Lead::AtLeast(_)) | None => 0,
        };
        Timestamp::from_micros(then.as_micros().saturating_sub(lead)).min(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros((1_795_269_600 + seconds) * 1_000_000)
    }

    fn pi() -> (usize, String) {
        (0, "pi".to_owned())
    }

    #[test]
    fn what_is_new_is_of_now_whatever_the_daemons_clock_says() {
        for wrong in [-1_000_000, -90_000, -60, 0, 60, 90_000, 1_000_000] {
            let mut clocks = Clocks::default();
            clocks.hear(at(0), pi(), at(wrong), true);
            assert_eq!(clocks.here(at(0), &pi(), at(wrong)), at(0), "{wrong} s");
            // What was late by 5 s was not published just now.
            clocks.hear(at(10), pi(), at(5 + wrong), true);
            assert_eq!(clocks.here(at(10), &pi(), at(5 + wrong)), at(5), "{wrong} s");
            // A game of an hour before is so old.
            assert_eq!(
                clocks.here(at(10), &pi(), at(wrong - 3600)),
                at(-3600),
                "{wrong} s"
            );
        }
    }

    #[test]
    fn a_step_of_either_clock_changes_no_age() {
        for step in [10_i64, 90_000, 1_000_000] {
            let mut clocks = Clocks::default();
            clocks.set(at(0), pi(), at(0));
            // This computer's.
            clocks.set_forward(Duration::from_secs(step.unsigned_abs()));
            assert_eq!(clocks.here(at(step + 10), &pi(), at(8)), at(step + 8), "{step} s");
            // The daemon's.
            clocks.hear(at(step + 20), pi(), at(20 + step), true);
            assert_eq!(
                clocks.here(at(step + 20), &pi(), at(20 + step)),
                at(step + 20),
                "{step} s"
            );
        }
    }

    #[test]
    fn a_daemon_that_starts_again_behind_its_time_is_believed() {
        let mut clocks = Clocks::default();
        clocks.set(at(0), pi(), at(0));
        clocks.forget(&pi());
        // It was away for ten minutes, of which it knows nothing.
        clocks.hear(at(600), pi(), at(1), true);
        assert_eq!(clocks.here(at(600), &pi(), at(1)), at(600));
        clocks.set(at(630), pi(), at(31));
        clocks.set(at(900), pi(), at(1));
        assert_eq!(
            clocks.here(at(900), &pi(), at(1)),
            at(900),
            "nobody said that it had ended"
        );
    }

    #[test]
    fn what_the_broker_retains_may_be_as_old_as_it_says() {
        let mut clocks = Clocks::default();
        clocks.hear(at(0), pi(), at(-50), false);
        assert_eq!(clocks.here(at(0), &pi(), at(-70)), at(-70));
        // It is a day behind, or was switched off a day ago.
        let mut clocks = Clocks::default();
        clocks.hear(at(0), pi(), at(-90_000), false);
        assert_eq!(clocks.here(at(0), &pi(), at(-90_010)), at(-10));
        assert_eq!(
            clocks.here(at(0), &(1, "pi".to_owned()), at(-7)),
            at(-7),
            "nothing is known"
        );
    }
}
