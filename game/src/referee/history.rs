//! Positions and plies of a game that count for repetition and for the 50-move and 75-move rules (Art. 9.2, 9.3, 9.6).

use shakmaty::{Chess, Position, Square};

use super::LineEntry;
use crate::laws::Rules;
use crate::position::State;

/// Minimum number of plies that a third occurrence of a position takes.
const MIN_PLIES_TO_REPEAT: u32 = 8;

/// A position that the arbiter put on the board during the game.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    /// Number of the last ply before the position was set.
    pub(super) ply: u32,
    pub(super) state: State,
}

/// A game up to its last ply.
#[derive(Debug, Clone, Copy)]
pub(super) struct History<'g> {
    start: &'g State,
    plies: &'g [LineEntry],
    placed: &'g [Placed],
    rules: &'g Rules,
}

impl<'g> History<'g> {
    pub(super) fn new(
        start: &'g State,
        plies: &'g [LineEntry],
        placed: &'g [Placed],
        rules: &'g Rules,
    ) -> Self {
        Self {
            start,
            plies,
            placed,
            rules,
        }
    }

    pub(super) fn up_to(self, ply: u32) -> Self {
        let plies =
            usize::try_from(ply).map_or(self.plies, |ply| self.plies.get(..ply).unwrap_or(self.plies));
        Self { plies, ..self }
    }

    pub(super) fn start(&self) -> &'g State {
        self.start
    }

    pub(super) fn plies(&self) -> &'g [LineEntry] {
        self.plies
    }

    /// Position after the last ply, or the one that the arbiter has set since.
    pub(super) fn last(&self) -> &'g State {
        self.after(self.plies.len())
    }

    fn after(&self, plies: usize) -> &'g State {
        let placed = self.placed.iter().rev();
        let mut placed = placed.filter(|placed| usize::try_from(placed.ply) == Ok(plies));
        if let Some(placed) = placed.next() {
            return &placed.state;
        }
        let last = plies.checked_sub(1).and_then(|last| self.plies.get(last));
        last.map_or(self.start, |entry| &entry.ply.after)
    }

    /// Numbers of the plies after which the same position stood (Art. 9.2), oldest first; 0 for the start position.
    ///
    /// Positions are the same if the same player has the move and all pieces have the same moves, including castling
    /// rights and a capture en passant. A position that the arbiter put back is not a new occurrence unless the
    /// regulations say so.
    pub(super) fn occurrences(&self, position: &Chess) -> Vec<u32> {
        let mut found = Vec::new();
        let mut compare = |ply: u32, state: &State, again: bool| {
            let same = state.position().is_some_and(|other| self.same(other, position));
            if same && (again || found.is_empty()) {
                found.push(ply);
            }
        };
        let states = core::iter::once((0, self.start)).chain(
            self.plies
                .iter()
                .map(|entry| (entry.ply.number, &entry.ply.after)),
        );
        for (ply, state) in states {
            compare(ply, state, true);
            for placed in self.placed.iter().filter(|placed| placed.ply == ply) {
                compare(ply, &placed.state, self.rules.points.reinstated_counts);
            }
        }
        found
    }

    /// Number of consecutive last plies without a pawn move or capture.
    ///
    /// Illegal plies count like any others: only the position on the board matters.
    pub(super) fn quiet(&self) -> u32 {
        let quiet = (0..self.plies.len())
            .rev()
            .take_while(|before| self.is_quiet(*before))
            .count();
        let quiet = u32::try_from(quiet).unwrap_or(u32::MAX);
        let from_start = usize::try_from(quiet) == Ok(self.plies.len());
        let earlier = self
            .start
            .position()
            .filter(|_| from_start)
            .map_or(0, Position::halfmoves);
        quiet.saturating_add(earlier)
    }

    /// Whether a position can occur for the third time now or after one more ply. A third occurrence takes eight plies
    /// that undo each other, unless an irregular ply or the arbiter changed the position.
    pub(super) fn may_repeat(&self) -> bool {
        let irregular = || self.plies.iter().any(|entry| entry.ply.played.is_none());
        self.quiet() + 1 >= MIN_PLIES_TO_REPEAT || !self.placed.is_empty() || irregular()
    }

    /// Whether the ply after the first `before` plies is neither a pawn move nor a capture.
    fn is_quiet(&self, before: usize) -> bool {
        let Some(entry) = self.plies.get(before) else {
            return false;
        };
        let (before, after) = (self.after(before).board(), entry.ply.after.board());
        before.pawns() == after.pawns() && before.occupied().count() == after.occupied().count()
    }

    fn same(&self, one: &Chess, other: &Chess) -> bool {
        if self.rules.forced_king_keeps_right() {
            return one == other;
        }
        // The Laws of 1997 also consider future rights: a right that every next move loses does not count.
        one.board() == other.board()
            && one.turn() == other.turn()
            && one.legal_ep_square() == other.legal_ep_square()
            && lasting_rights(one) == lasting_rights(other)
    }
}

/// Rooks with which castling is possible now or after some legal move.
fn lasting_rights(position: &Chess) -> Vec<Square> {
    let king = position.board().king_of(position.turn());
    let moves = position.legal_moves();
    let lasts = |rook: Square| {
        position.board().color_at(rook) != Some(position.turn())
            || moves.iter().any(|m| match m {
                shakmaty::Move::Castle { rook: with, .. } => *with == rook,
                m => m.from() != king && m.from() != Some(rook),
            })
    };
    let rights = position.castles().castling_rights();
    rights.into_iter().filter(|rook| lasts(*rook)).collect()
}
