//! Positions in which nobody can mate any more, whatever stands on the board (Art. 5.2.2).
//!
//! A dead position stays dead whatever is played, and a position from which somebody can still mate proves that none
//! before it was dead. So the last certain position answers for all before it: only where that one is dead are the
//! earlier ones searched, backwards, for the first. That one ended the game, however fast play went on.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::{Chess, Color, KnownOutcome, Position};

use super::result::{MAX_NODES_IN_PLAY, can_mate};
use super::{Referee, Verdict};
use crate::events::EndReason;
use crate::laws::mating;
use crate::position::State;

/// How long after a position that takes a search the search is made, so that no move has to wait and fast play is
/// searched once for several moves.
const SEARCHED_AFTER: Duration = Duration::from_secs(1);

/// Positions that a glance leaves open, from this ply on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unsearched {
    from: u32,
    pub(super) due: Timestamp,
}

impl Referee {
    /// A ply became certain, and nothing in plain view ended the game with it.
    ///
    /// Most positions are open, which a glance shows. The others are searched soon.
    pub(super) fn look_for_dead_position(&mut self, now: Timestamp, ply: u32) {
        let last = self
            .history()
            .and_then(|history| history.up_to(ply).plies().last());
        if last.is_some_and(|last| last.ply.played.is_none()) {
            self.search_before_the_end(now, ply.saturating_sub(1));
        }
        let Some(glance) = self.history().map(|history| glance(history.up_to(ply).last())) else {
            return;
        };
        match glance {
            Some(false) => self.unsearched = None,
            Some(true) => self.search_for_dead_position(now, ply),
            None => {
                let (from, due) = (ply, now + SEARCHED_AFTER);
                self.unsearched.get_or_insert(Unsearched { from, due });
            }
        }
    }

    /// Ends the game with the first ply that left a dead position, if the certain plies up to this one show one.
    ///
    /// It takes a search to see, so the end is a proposal: the arbiter confirms it, or lets the game go on.
    pub(super) fn search_for_dead_position(&mut self, now: Timestamp, up_to: u32) {
        let from = self.unsearched.take().map_or(up_to, |unsearched| unsearched.from);
        if let Some(ply) = self.dead_since(from, up_to) {
            let verdict = Verdict::laws(KnownOutcome::Draw, EndReason::DeadPosition, false);
            self.end_with(now, ply, verdict);
        }
    }

    /// Searches now what was to be searched soon: the game is about to end otherwise, and the first end counts; or an
    /// illegal move comes between.
    pub(super) fn search_before_the_end(&mut self, now: Timestamp, up_to: u32) {
        if self.unsearched.is_some() {
            self.search_for_dead_position(now, up_to);
        }
    }

    /// The first ply after which nobody could mate any more.
    ///
    /// A move that is not in accord with Article 3 ends nothing (Art. 5.2.2), and no position after it says anything
    /// about those before.
    fn dead_since(&self, from: u32, up_to: u32) -> Option<u32> {
        if self.game.as_ref().is_some_and(|game| game.goes_on_dead) {
            return None;
        }
        let history = self.history()?.up_to(up_to);
        let plies = history.plies().iter().rev();
        let certain = plies.skip_while(|entry| entry.settled.is_none());
        let mut since = None;
        for entry in certain.take_while(|entry| entry.ply.played.is_some()) {
            let ply = entry.ply.number;
            match is_dead(history.up_to(ply).last(), |position, side| {
                can_mate(position, side, MAX_NODES_IN_PLAY)
            }) {
                Some(true) => since = Some(ply),
                // The search did not get through; it may in a position before.
                None if since.is_none() && ply > from => {}
                _ => break,
            }
        }
        since
    }
}

/// Whether a position is dead, as far as that is seen without a search.
fn glance(state: &State) -> Option<bool> {
    is_dead(state, mating::quick)
}

/// Whether neither side can mate; `None` where it is not known of one and the other cannot, or of either.
///
/// A placement that allows no position is not dead.
fn is_dead(state: &State, can_mate: impl Fn(&Chess, Color) -> Option<bool>) -> Option<bool> {
    let Some(position) = state.position() else {
        return Some(false);
    };
    // The side to move is the likelier to mate, so it is asked first: one way to mate is enough.
    let mut dead = Some(true);
    for side in [position.turn(), !position.turn()] {
        match can_mate(position, side) {
            Some(true) => return Some(false),
            Some(false) => {}
            None => dead = None,
        }
    }
    dead
}

#[cfg(test)]
mod tests;
