//! A line of play from its start position, with all open doubts about it. A new line begins without them.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::ByColor;

use super::Tracker;
use super::announcements::Announcements;
use super::examine::View;
use super::hearing::{Hearing, Unheard};
use super::over_gap::OverGap;
use super::tree::Tree;
use crate::events::DoubtfulPlies;
use crate::position::State;

#[derive(Debug)]
pub(super) struct LineOfPlay {
    /// The states before the tree's root, one per ply. Play can be taken back to any of them.
    pub(super) passed: Vec<State>,
    pub(super) tree: Tree,
    pub(super) announcements: Announcements,
    /// Each side's last press, except for presses that were credited to a ply before the last one.
    pub(super) pressed: ByColor<Option<Press>>,
    /// Whether an arbiter has given the position, and the board does not show it yet.
    pub(super) awaited: bool,
    /// Since when the line has not led to the placement on the board, after a gap.
    pub(super) lost: Option<Timestamp>,
    pub(super) jolted: bool,
    /// Reconstructed plies that nothing has confirmed yet.
    pub(super) doubt: Option<DoubtfulPlies>,
    /// State of knowledge before the doubtful plies, from which the board's memory can be followed, unless the memory
    /// has been read since.
    pub(super) before_doubt: Option<Box<Unheard>>,
    /// State of knowledge before a gap whose inferred plies are to be checked with the board's memory: they may be in
    /// another order, or are more than a few. `None` once the memory has been requested.
    pub(super) unchecked: Option<Box<Unheard>>,
    /// State of knowledge when the line was last known to be right.
    pub(super) checkpoint: Option<Unheard>,
    /// Placement of the first dump after a gap, until the search for a line to it has ended.
    pub(super) found: Option<View>,
    /// The lines over the open gap.
    pub(super) over_gap: Option<OverGap>,
    /// Number of searches for unobserved plies on the quiet board; see [`examine`](Tracker::examine). At
    /// `MAX_UNSEEN_PLIES`, the search has ended.
    pub(super) examined: usize,
    /// Value of `quiet_since` at the last [`reopen`](Tracker::reopen), which runs once per change of the board.
    pub(super) reopened: Timestamp,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Press {
    pub(super) at: Timestamp,
    /// Running time of this side's clock before the press; `None` if it is not known.
    pub(super) elapsed: Option<Duration>,
}

impl LineOfPlay {
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
            unchecked: None,
            checkpoint: None,
            found: None,
            over_gap: None,
            examined: 0,
            reopened: Timestamp::default(),
        };
        line.announcements.announced = line.plies();
        line
    }
}

impl Tracker {
    pub(super) fn follow(&mut self, line: LineOfPlay) {
        self.line = Some(line);
        if !self.hearing.is_away() {
            self.hearing.stop_waiting();
        }
        // A conclusion drawn while the port is closed does not cover the time until it opens.
        self.gap_since = match &self.hearing {
            Hearing::Away(unheard) => Some(unheard.heard_until),
            _ => None,
        };
        self.joining.clear();
        self.hearing.trust();
    }

    pub(super) fn tree(&self) -> Option<&Tree> {
        self.line.as_ref().map(|line| &line.tree)
    }

    pub(super) fn is_lost(&self) -> bool {
        self.line.as_ref().is_some_and(|line| line.lost.is_some())
    }

    pub(super) fn note_examined(&mut self, searches: usize) {
        if let Some(line) = &mut self.line {
            line.examined = searches;
        }
    }

    pub(super) fn lose_line(&mut self, at: Timestamp) {
        if let Some(line) = &mut self.line {
            line.lost.get_or_insert(at);
        }
    }
}
