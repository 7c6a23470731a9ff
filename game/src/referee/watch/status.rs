//! The game as the watchers see it.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::ByColor;

use crate::acts::Last;
use crate::clock::Side;
use crate::events::Clock;
use crate::laws::Regulations;
use crate::position::State;
use crate::referee::{ClockState, LineEntry};
use crate::tracker::Start;

/// Maximum length of the first turn that is examined.
const MAX_TURN: Duration = Duration::from_secs(600);

#[derive(Debug)]
pub(in crate::referee) struct GameStatus<'a> {
    pub(in crate::referee) now: Timestamp,
    pub(in crate::referee) start: Option<&'a Start>,
    /// Whether a command set the start position.
    pub(in crate::referee) given: bool,
    pub(in crate::referee) line: &'a [LineEntry],
    /// Whether a game has begun and is not over.
    pub(in crate::referee) begun: bool,
    /// Whether a game is over and no other start position has been set up since.
    pub(in crate::referee) over: bool,
    /// Whether a draw can be claimed after the last move.
    pub(in crate::referee) claim: bool,
    /// Whether only the board has shown the end of the game. Continued play withdraws such an end.
    pub(in crate::referee) shown: bool,
    pub(in crate::referee) clock: &'a ClockState,
    pub(in crate::referee) white_side: Option<Side>,
    pub(in crate::referee) regulations: &'a Regulations,
    pub(in crate::referee) face: Option<Clock>,
}

impl GameStatus<'_> {
    /// Position after the last ply of the line.
    pub(in crate::referee) fn tip(&self) -> Option<&State> {
        match self.line.last() {
            Some(entry) => Some(&entry.ply.after),
            None => self.start.map(|start| &start.state),
        }
    }

    /// Position before a ply; the first ply is 1.
    pub(super) fn before(&self, ply: u32) -> Option<&State> {
        match ply.checked_sub(2) {
            Some(at) => self
                .line
                .get(usize::try_from(at).ok()?)
                .map(|entry| &entry.ply.after),
            None => self.start.map(|start| &start.state),
        }
    }

    /// The last ply; `None` at the start.
    pub(super) fn last(&self) -> Option<Last<'_>> {
        let entry = self.line.last()?;
        Some(Last {
            ply: &entry.ply,
            before: self.before(entry.ply.number)?,
            earlier: self
                .before(entry.ply.number.saturating_sub(1))
                .filter(|_| entry.ply.number > 1),
            completed: entry.completed.is_some(),
        })
    }

    /// Position after the last legal ply.
    pub(super) fn last_legal(&self) -> Option<&State> {
        let legal = self.line.iter().rev().find(|entry| entry.ply.played.is_some());
        match legal {
            Some(entry) => Some(&entry.ply.after),
            None => self.start.map(|start| &start.state),
        }
    }

    pub(super) fn completed(&self) -> ByColor<u32> {
        self.completed_as(|entry| entry.completed.is_some())
    }

    /// Number of plies of each player that `counts` accepts.
    pub(super) fn completed_as(&self, counts: impl Fn(&LineEntry) -> bool) -> ByColor<u32> {
        ByColor::new_with(|color| {
            let own = |entry: &&LineEntry| entry.ply.color == color && counts(entry);
            u32::try_from(self.line.iter().filter(own).count()).unwrap_or(u32::MAX)
        })
    }

    /// Earliest start of the turn of a ply: the time at which the previous ply stood. `None` if that ply is unknown.
    pub(super) fn turn_began(&self, ply: u32) -> Option<Timestamp> {
        match ply.checked_sub(1)? {
            0 => Some(self.now.saturating_sub(MAX_TURN)),
            before => Some(self.entry(before)?.ply.stood_at),
        }
    }

    pub(super) fn entry(&self, ply: u32) -> Option<&LineEntry> {
        self.line.get(usize::try_from(ply.checked_sub(1)?).ok()?)
    }

    /// Number of the next ply; 0 without a start position.
    pub(in crate::referee) fn due(&self) -> u32 {
        if self.start.is_none() {
            return 0;
        }
        u32::try_from(self.line.len()).map_or(u32::MAX, |plies| plies + 1)
    }

    /// Whether moves now belong to the game: the clock runs, or there is no clock.
    pub(in crate::referee) fn in_play(&self) -> bool {
        self.begun && (!self.clock.connected || self.clock.running)
    }
}
