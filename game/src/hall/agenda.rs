//! Sorted deadlines of boards and lines. Polling a thousand boards at every step would take too long.

use std::collections::{BTreeMap, BTreeSet};

use kiebitz_hardware::Timestamp;

use super::LineId;
use super::boards::BoardId;

#[derive(Debug, Default)]
pub(super) struct Agenda {
    due: BTreeSet<(Timestamp, Scheduled)>,
    at: BTreeMap<Scheduled, Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scheduled {
    Board(BoardId),
    Line(LineId),
}

impl Agenda {
    /// Sets the deadline of an entry; `None` removes it.
    pub(super) fn put(&mut self, entry: Scheduled, at: Option<Timestamp>) {
        let before = self.at.get(&entry).copied();
        if before == at {
            return;
        }
        if let Some(before) = before {
            self.due.remove(&(before, entry));
        }
        match at {
            Some(at) => {
                self.due.insert((at, entry));
                self.at.insert(entry, at);
            }
            None => {
                self.at.remove(&entry);
            }
        }
    }

    pub(super) fn first(&self) -> Option<Timestamp> {
        self.due.first().map(|(at, _)| *at)
    }

    pub(super) fn first_board(&self) -> Option<Timestamp> {
        let mut due = self.due.iter();
        due.find(|(_, entry)| matches!(entry, Scheduled::Board(_)))
            .map(|(at, _)| *at)
    }

    /// Entries that are due by `now`: boards in the order in which the hall met them, then lines.
    pub(super) fn due(&self, now: Timestamp) -> BTreeSet<Scheduled> {
        let due = self.due.iter().take_while(|(at, _)| *at <= now);
        due.map(|(_, entry)| *entry).collect()
    }
}
