//! Finds moves that the line of play lacks, from pieces that left their square or stand on a square to which they may
//! have been played.

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{Bitboard, Color, Square};

use super::standing::BoardComparison;
use crate::events::Ply;
use crate::position::State;

/// Number of last positions searched for the one in which a lacking move was legal.
const MAX_PLIES_BACK: usize = 8;

impl BoardComparison<'_> {
    /// Squares of pieces that differ between board and line and seem to have been played before the last ply, before
    /// the press at `pressed`, or before a later move of the other player. `start` is the state before `plies`.
    pub(crate) fn missing<'p>(
        &self,
        pressed: Option<Timestamp>,
        plies: impl DoubleEndedIterator<Item = &'p Ply> + Clone,
        start: Option<&State>,
    ) -> Bitboard {
        let (expected, shown, differs) = (self.tip.board(), self.trace.board(), self.differs());
        let mut missing = Bitboard::EMPTY;
        for from in differs & expected.occupied() {
            let Some(piece) = expected.piece_at(from).filter(|_| shown.piece_at(from).is_none()) else {
                continue;
            };
            let arrived = |to: &Square| shown.piece_at(*to) == Some(piece);
            let mut arrivals = differs.into_iter().filter(arrived).peekable();
            if arrivals.peek().is_none()
                && (self.played_on(from, pressed) || self.answered(from, piece.color))
            {
                missing.add(from);
            }
            for to in arrivals {
                if self.played_on(to, pressed) && self.was_legal(from, to, plies.clone(), start) {
                    missing |= Bitboard::from(from).with(to);
                }
            }
        }
        missing
    }

    /// Whether play went on after the last change of `square`.
    fn played_on(&self, square: Square, pressed: Option<Timestamp>) -> bool {
        let changed = self.trace.changed_at(square);
        let lifted = self.last.map(|last| last.ply.lifted_at);
        lifted.is_some_and(|lifted| changed + ONE_SCAN_APART < lifted)
            // The report of a press comes up to a second late.
            || pressed.is_some_and(|pressed| changed + self.trace.model.rest < pressed)
    }

    /// Whether the other player has moved since a piece of `color` left the square `left`.
    fn answered(&self, left: Square, color: Color) -> bool {
        let since = self.trace.changed_at(left) + ONE_SCAN_APART;
        let moved = self.differs_anywhere() & self.tip.board().by_color(!color);
        color == self.tip.turn()
            && moved.any()
            && self.tip.turned().moves().iter().any(|reply| {
                let mut squares = reply.footprint.squares().into_iter();
                reply.footprint.fits(self.trace.board())
                    && squares.all(|square| self.trace.changed_at(square) > since)
            })
    }

    /// Whether the move was legal in one of the last positions. A move of a single step may be a pushed piece, so it
    /// must have been legal in the position in which it was made.
    fn was_legal<'p>(
        &self,
        from: Square,
        to: Square,
        plies: impl DoubleEndedIterator<Item = &'p Ply>,
        start: Option<&State>,
    ) -> bool {
        let legal = |state: &State| {
            state
                .legal_moves()
                .iter()
                .any(|m| m.from() == Some(from) && m.to() == to)
        };
        let mut last = plies.rev().take(MAX_PLIES_BACK);
        if from.distance(to) > 1 {
            let either = |state: &State| legal(state) || legal(&state.turned());
            return last.any(|ply| either(&ply.after)) || start.is_some_and(either);
        }
        let made_at = self.trace.changed_at(to);
        last.find(|ply| ply.stood_at < made_at)
            .is_some_and(|ply| legal(&ply.after))
    }
}
