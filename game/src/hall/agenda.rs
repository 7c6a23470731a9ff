//! Which boards and lines are due when. With a thousand boards, asking each of them at every step takes too long.

use std::collections::{BTreeMap, BTreeSet};

use kiebitz_hardware::Timestamp;

use super::LineId;

/// The deadlines of all.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    due: BTreeSet<(Timestamp, Who)>,
    at: BTreeMap<Who, Timestamp>,
}

/// A board, by its name, or a line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Who {
    Board(String),
    Line(LineId),
}

impl Agenda {
    /// Says when somebody is due; `None`: not at all.
    pub(super) fn put(&mut self, who: Who, at: Option<Timestamp>) {
        let before = self.at.get(&who).copied();
        if before == at {
            return;
        }
        if let Some(before) = before {
            self.due.remove(&(before, who.clone()));
        }
        match at {
            Some(at) => {
                self.due.insert((at, who.clone()));
                self.at.insert(who, at);
            }
            None => {
                self.at.remove(&who);
            }
        }
    }

    /// When somebody is due.
    pub(super) fn first(&self) -> Option<Timestamp> {
        self.due.first().map(|(at, _)| *at)
    }

    /// When a board is.
    pub(super) fn first_board(&self) -> Option<Timestamp> {
        let mut due = self.due.iter();
        due.find(|(_, who)| matches!(who, Who::Board(_)))
            .map(|(at, _)| *at)
    }

    /// What is due by `now`: boards by name, then lines.
    pub(super) fn due(&self, now: Timestamp) -> BTreeSet<Who> {
        let due = self.due.iter().take_while(|(at, _)| *at <= now);
        due.map(|(_, who)| who.clone()).collect()
    }
}
