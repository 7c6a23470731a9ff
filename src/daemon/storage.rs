//! The state of journal and recordings, for the log and for the published state of the daemon.

use std::sync::Arc;

use kiebitz_hardware::Timestamp;
use tokio::sync::watch;

use crate::outputs::mqtt::{DiskState, StorageState};

/// Cheap to clone; all clones share one state.
#[derive(Debug, Clone, Default)]
pub(super) struct Storage {
    state: Arc<watch::Sender<StorageState>>,
}

impl Storage {
    /// The current state. No events count as waiting while the journal works.
    pub(super) fn state(&self) -> StorageState {
        let mut state = self.state.borrow().clone();
        if state.journal.ok {
            state.journal.waiting = 0;
        }
        state
    }

    pub(super) fn journal_fails(&self, now: Timestamp, problem: &impl ToString) {
        self.state
            .send_modify(|state| fail(&mut state.journal, now, problem));
    }

    /// Records that the journal has reported neither success nor failure for too long. An error that is already known
    /// stays.
    pub(super) fn journal_is_silent(&self, now: Timestamp) {
        self.state.send_if_modified(|state| {
            let silent = state.journal.ok;
            if silent {
                fail(&mut state.journal, now, &SILENT);
            }
            silent
        });
    }

    pub(super) fn journal_is_well(&self) {
        self.state.send_modify(|state| mend(&mut state.journal));
    }

    /// Sets the number of events that wait for the journal, and the number that were given up.
    pub(super) fn events_wait(&self, waiting: u64, lost: u64) {
        self.state.send_if_modified(|state| {
            let journal = &mut state.journal;
            let changed = (journal.waiting, journal.lost) != (waiting, lost);
            (journal.waiting, journal.lost) = (waiting, lost);
            changed
        });
    }

    pub(super) fn recording_fails(&self, now: Timestamp, problem: &impl ToString) {
        self.state
            .send_modify(|state| fail(&mut state.recordings, now, problem));
    }

    pub(super) fn recording_is_silent(&self, now: Timestamp) {
        self.recording_fails(now, &SILENT);
    }

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
