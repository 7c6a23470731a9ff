//! What works of the disks, and what fails: for the log, and for the daemon's state on MQTT.

use std::sync::Arc;

use kiebitz_hardware::Timestamp;
use tokio::sync::watch;

use crate::outputs::mqtt::{DiskState, StorageState};

/// Cheap to clone; all parts of the daemon write to the same.
#[derive(Debug, Clone, Default)]
pub(super) struct Storage {
    state: Arc<watch::Sender<StorageState>>,
}

impl Storage {
    /// As it is now. What is just being kept does not count as waiting.
    pub(super) fn state(&self) -> StorageState {
        let mut state = self.state.borrow().clone();
        if state.journal.ok {
            state.journal.waiting = 0;
        }
        state
    }

    /// The journal takes no events.
    pub(super) fn journal_fails(&self, now: Timestamp, problem: &impl ToString) {
        self.state
            .send_modify(|state| fail(&mut state.journal, now, problem));
    }

    /// The journal has said nothing for too long: neither that it takes events, nor why not.
    pub(super) fn journal_is_silent(&self, now: Timestamp) {
        self.state.send_if_modified(|state| {
            let silent = state.journal.ok;
            if silent {
                fail(&mut state.journal, now, &SILENT);
            }
            silent
        });
    }

    /// The journal takes events.
    pub(super) fn journal_is_well(&self) {
        self.state.send_modify(|state| mend(&mut state.journal));
    }

    /// So many events wait for the journal, and so many were given up.
    pub(super) fn events_wait(&self, waiting: u64, lost: u64) {
        self.state.send_if_modified(|state| {
            let journal = &mut state.journal;
            let changed = (journal.waiting, journal.lost) != (waiting, lost);
            (journal.waiting, journal.lost) = (waiting, lost);
            changed
        });
    }

    /// Bytes cannot be recorded.
    pub(super) fn recording_fails(&self, now: Timestamp, problem: &impl ToString) {
        self.state
            .send_modify(|state| fail(&mut state.recordings, now, problem));
    }

    /// The recorder has said nothing for too long.
    pub(super) fn recording_is_silent(&self, now: Timestamp) {
        self.recording_fails(now, &SILENT);
    }

    /// Bytes are recorded.
    pub(super) fn recording_is_well(&self) {
        self.state.send_modify(|state| mend(&mut state.recordings));
    }
}

const SILENT: &str = "the disk does not answer";

fn fail(keeping: &mut DiskState, now: Timestamp, problem: &impl ToString) {
    keeping.ok = false;
    keeping.since.get_or_insert(now);
    keeping.problem = Some(problem.to_string());
}

fn mend(keeping: &mut DiskState) {
    keeping.ok = true;
    keeping.since = None;
    keeping.problem = None;
}
