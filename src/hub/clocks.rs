//! Estimates how far the clocks of daemons are ahead of this computer's clock, from the times in their messages. The
//! spectators' delay is measured by this computer's clock, but events have the times of daemons, whose clocks may be
//! wrong.

use core::time::Duration;
use std::collections::BTreeMap;

use kiebitz_hardware::Timestamp;

/// The leads of all daemons' clocks, by hall and host.
#[derive(Debug, Default)]
pub(super) struct Clocks {
    known: BTreeMap<(usize, String), Lead>,
}

/// The lead of a clock over this computer's clock, in microseconds.
#[derive(Debug, Clone, Copy)]
enum Lead {
    /// Lower bound, from a message that was read some time after it was dated.
    AtLeast(i64),
    /// Lead according to messages that were read as they were published.
    Exact(i64),
}

/// Age in microseconds up to which a retained state counts as current, and its daemon's clock as right. A daemon
/// publishes its state every minute.
const CURRENT: i64 = 125_000_000;

impl Clocks {
    /// Updates the lead of a daemon's clock from a message that was read at the time `now` and has the daemon's time
    /// `dated`. `is_live` is true if the message was published just then.
    pub(super) fn update(
        &mut self,
        now: Timestamp,
        daemon: (usize, String),
        dated: Timestamp,
        is_live: bool,
    ) {
        let lead = dated.as_micros().saturating_sub(now.as_micros());
        let known = self.known.get(&daemon).copied();
        let lead = match known {
            Some(Lead::Exact(known)) => Lead::Exact(known.max(lead)),
            _ if is_live => Lead::Exact(lead),
            Some(Lead::AtLeast(known)) => Lead::AtLeast(known.max(lead)),
            None => Lead::AtLeast(lead),
        };
        self.known.insert(daemon, lead);
    }

    /// Sets the lead of a daemon's clock from its present time. The daemon may have been restarted with an earlier
    /// time.
    pub(super) fn set(&mut self, now: Timestamp, daemon: (usize, String), dated: Timestamp) {
        self.known.remove(&daemon);
        self.update(now, daemon, dated, true);
    }

    /// Forgets the clock of a daemon that has ended: it may have another time after a restart.
    pub(super) fn forget(&mut self, daemon: &(usize, String)) {
        self.known.remove(daemon);
    }

    /// Follows a forward step of this computer's clock.
    pub(super) fn set_forward(&mut self, by: Duration) {
        let by = i64::try_from(by.as_micros()).unwrap_or(i64::MAX);
        for lead in self.known.values_mut() {
            match lead {
                Lead::AtLeast(lead) | Lead::Exact(lead) => *lead = lead.saturating_sub(by),
            }
        }
    }

    /// Converts the daemon's time `then` to this computer's clock; the result is never later than `now`.
    pub(super) fn to_local(&self, now: Timestamp, daemon: &(usize, String), then: Timestamp) -> Timestamp {
        let lead = match self.known.get(daemon) {
            Some(Lead::Exact(lead)) => *lead,
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
    fn a_live_event_is_dated_now_whatever_the_daemons_clock_says() {
        for wrong in [-1_000_000, -90_000, -60, 0, 60, 90_000, 1_000_000] {
            let mut clocks = Clocks::default();
            clocks.update(at(0), pi(), at(wrong), true);
            assert_eq!(clocks.to_local(at(0), &pi(), at(wrong)), at(0), "{wrong} s");
            // A message that is late by 5 s was not published just now.
            clocks.update(at(10), pi(), at(5 + wrong), true);
            assert_eq!(clocks.to_local(at(10), &pi(), at(5 + wrong)), at(5), "{wrong} s");
            // Earlier times keep their distance.
            assert_eq!(
                clocks.to_local(at(10), &pi(), at(wrong - 3600)),
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
            // A step of this computer's clock.
            clocks.set_forward(Duration::from_secs(step.unsigned_abs()));
            assert_eq!(
                clocks.to_local(at(step + 10), &pi(), at(8)),
                at(step + 8),
                "{step} s"
            );
            // A step of the daemon's clock.
            clocks.update(at(step + 20), pi(), at(20 + step), true);
            assert_eq!(
                clocks.to_local(at(step + 20), &pi(), at(20 + step)),
                at(step + 20),
                "{step} s"
            );
        }
    }

    #[test]
    fn a_daemon_restarted_with_an_earlier_time_is_believed() {
        let mut clocks = Clocks::default();
        clocks.set(at(0), pi(), at(0));
        clocks.forget(&pi());
        // The daemon's clock has stood still for ten minutes.
        clocks.update(at(600), pi(), at(1), true);
        assert_eq!(clocks.to_local(at(600), &pi(), at(1)), at(600));
        clocks.set(at(630), pi(), at(31));
        clocks.set(at(900), pi(), at(1));
        assert_eq!(
            clocks.to_local(at(900), &pi(), at(1)),
            at(900),
            "nobody said that it had ended"
        );
    }

    #[test]
    fn retained_states_may_be_as_old_as_they_say() {
        let mut clocks = Clocks::default();
        clocks.update(at(0), pi(), at(-50), false);
        assert_eq!(clocks.to_local(at(0), &pi(), at(-70)), at(-70));
        // The daemon's clock is a day behind, or the daemon was switched off a day ago.
        let mut clocks = Clocks::default();
        clocks.update(at(0), pi(), at(-90_000), false);
        assert_eq!(clocks.to_local(at(0), &pi(), at(-90_010)), at(-10));
        assert_eq!(
            clocks.to_local(at(0), &(1, "pi".to_owned()), at(-7)),
            at(-7),
            "nothing is known"
        );
    }
}
