//! A line of play from its start position, with all that is in doubt about it. Another line begins without these
//! doubts.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::ByColor;

use super::Tracker;
use super::announcements::Announcements;
use super::examine::View;
use super::hearing::{Hearing, Unheard};
use super::tree::Tree;
use crate::events::DoubtfulPlies;
use crate::position::State;

/// A line of play from its start position, with all that is in doubt about it: none of that says anything about another.
#[derive(Debug)]
pub(super) struct LineOfPlay {
    /// The states before the tree's root, one per ply from the start position on. Play can be taken back to any of them.
    pub(super) passed: Vec<State>,
    pub(super) tree: Tree,
    /// What was told of it.
    pub(super) announcements: Announcements,
    /// When each side was last seen to press the clock.
    pub(super) pressed: ByColor<Option<Press>>,
    /// An arbiter has given its position, and the board does not show it yet.
    pub(super) awaited: bool,
    /// Since then it does not lead to what stands on the board after a gap; play may go on from there.
    pub(super) lost: Option<Timestamp>,
    /// Many pieces slid at once and do not stand again as before.
    pub(super) jolted: bool,
    /// Reconstructed plies that nothing has confirmed yet.
    pub(super) doubt: Option<DoubtfulPlies>,
    /// What was known before these plies, if the board's memory was not read since.
    pub(super) before_doubt: Option<Box<Unheard>>,
    /// What was known when it was last known to be right.
    pub(super) checkpoint: Option<Unheard>,
    /// What the first dump after a gap showed, until a line over the gap has been searched for that leads to it.
    pub(super) found: Option<View>,
    /// How many searches for unobserved plies the quiet board has had; see [`examine`](Tracker::examine). More than there are:
    /// one has explained it, and what comes next may contradict that.
    pub(super) examined: usize,
    /// What the board showed since then has been read again; see [`reopen`](Tracker::reopen).
    pub(super) reopened: Timestamp,
}

/// A press of the clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Press {
    pub(super) at: Timestamp,
    /// How long its side's clock had run before it; `None` where that is not known.
    pub(super) elapsed: Option<Duration>,
}

impl LineOfPlay {
    /// A line that nobody doubts, all of which was told.
    pub(super) fn new(passed: Vec<State>, tree: Tree) -> Self {
        let mut line = Self {
            passed,
            tree,
            announcements: Announcements::default(),
            pressed: ByColor::default(),
            awaited: false,
            lost: None,
            jolted: false,
            doubt: None,
            before_doubt: None,
            checkpoint: None,
            found: None,
            examined: 0,
            reopened: Timestamp::default(),
        };
        line.announcements.announced = line.plies();
        line
    }
}

impl Tracker {
    /// Follows another line of play, from what stands on the board.
    pub(super) fn follow(&mut self, line: LineOfPlay) {
        self.line = Some(line);
        if !self.hearing.is_away() {
            self.hearing.stop_waiting();
        }
        // What is concluded while the port is closed says nothing of what comes until it opens.
        self.gap_since = match &self.hearing {
            Hearing::Away(unheard) => Some(unheard.heard_until),
            _ => None,
        };
        self.joining.clear();
        self.hearing.trust();
    }

    /// The readings of the line.
    pub(super) fn tree(&self) -> Option<&Tree> {
        self.line.as_ref().map(|line| &line.tree)
    }

    /// Whether there is a line, and it does not lead to what stands on the board after a gap.
    pub(super) fn is_lost(&self) -> bool {
        self.line.as_ref().is_some_and(|line| line.lost.is_some())
    }

    /// Notes how many searches for unobserved plies the board has had.
    pub(super) fn note_examined(&mut self, searches: usize) {
        if let Some(line) = &mut self.line {
            line.examined = searches;
        }
    }

    /// Takes the line not to lead to what stands on the board from then on.
    pub(super) fn lose_line(&mut self, at: Timestamp) {
        if let Some(line) = &mut self.line {
            line.lost.get_or_insert(at);
        }
    }
}
