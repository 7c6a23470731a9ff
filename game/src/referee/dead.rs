//! Positions in which neither side can mate by any sequence of legal moves (Art. 5.2.2).
//!
//! A dead position stays dead, and a position in which a side can mate proves that no earlier one was dead. So only the
//! last settled position is checked. If it is dead, the earlier ones are searched backwards for the first dead one,
//! which ended the game however fast play continued. For the same reason, a check can wait and cover several plies.
//! Positions with rooks or queens are hardly ever dead, so they are checked once in ten seconds.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::{Chess, Color, KnownOutcome, Position};

use super::result::{MAX_NODES_IN_PLAY, can_mate};
use super::{Referee, Verdict};
use crate::events::EndReason;
use crate::laws::mating;
use crate::position::State;

/// Delay of a search after a position that needs one. No move has to wait for the search, and one search covers several
/// moves of fast play.
const SEARCHED_AFTER: Duration = Duration::from_secs(1);

/// Delay of the check of a position with rooks or queens, which is hardly ever dead.
const CHECKED_AFTER: Duration = Duration::from_secs(10);

/// Positions from this ply on that the quick check has not decided.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unsearched {
    from: u32,
    pub(super) due: Timestamp,
}

impl Referee {
    /// Checks the position after a settled ply that did not obviously end the game. The quick check shows that most
    /// positions are not dead; the others are searched soon.
    pub(super) fn check_for_dead_position(&mut self, now: Timestamp, ply: u32) {
        let last = self
            .history()
            .and_then(|history| history.up_to(ply).plies().last());
        if last.is_some_and(|last| last.ply.played.is_none()) {
            self.search_before_the_end(now, ply.saturating_sub(1));
        }
        let Some(state) = self.history().map(|history| history.up_to(ply).last()) else {
            return;
        };
        let may_wait = state.board().rooks_and_queens().any();
        match if may_wait {
            None
        } else {
            is_dead(state, mating::quick)
        } {
            Some(false) => self.unsearched = None,
            Some(true) => self.search_for_dead_position(now, ply),
            None => {
                let due = now + if may_wait { CHECKED_AFTER } else { SEARCHED_AFTER };
                let unsearched = self.unsearched.get_or_insert(Unsearched { from: ply, due });
                unsearched.due = unsearched.due.min(due);
                if may_wait {
                    unsearched.from = ply;
                }
            }
        }
    }

    /// Ends the game with the first ply that left a dead position, if the settled plies up to `up_to` contain one.
    ///
    /// Only a search shows this end, so it is a proposal: the arbiter confirms it or lets the game continue.
    pub(super) fn search_for_dead_position(&mut self, now: Timestamp, up_to: u32) {
        let from = self.unsearched.take().map_or(up_to, |unsearched| unsearched.from);
        if let Some(ply) = self.dead_since(from, up_to) {
            let verdict = Verdict::laws(KnownOutcome::Draw, EndReason::DeadPosition, false);
            self.end_with(now, ply, verdict);
        }
    }

    /// Runs a pending search now, because the game is about to end in another way and the first end counts, or because
    /// an illegal move follows.
    pub(super) fn search_before_the_end(&mut self, now: Timestamp, up_to: u32) {
        if self.unsearched.is_some() {
            self.search_for_dead_position(now, up_to);
        }
    }

    /// Number of the first ply after which neither side could mate.
    ///
    /// A move that is not in accord with Article 3 ends nothing (Art. 5.2.2), and positions after it do not prove
    /// anything about positions before it.
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
                mating::quick(position, side).or_else(|| can_mate(position, side, MAX_NODES_IN_PLAY))
            }) {
                Some(true) => since = Some(ply),
                // The search was cut short. It may succeed in an earlier position.
                None if since.is_none() && ply > from => {}
                _ => break,
            }
        }
        since
    }
}

/// Whether neither side can mate; `None` if the answer is unknown for at least one side and neither side certainly can.
///
/// A placement that is not a valid position is not dead.
fn is_dead(state: &State, can_mate: impl Fn(&Chess, Color) -> Option<bool>) -> Option<bool> {
    let Some(position) = state.position() else {
        return Some(false);
    };
    // The side to move is more likely to have a mate and goes first: one possible mate is enough.
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
