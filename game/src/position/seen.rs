//! Evidence that squares work.

use shakmaty::{Bitboard, Board};

/// The squares that were seen to lose a piece, and to receive one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    /// Squares that lost a piece.
    pub emptied: Bitboard,
    /// Squares that received a piece.
    pub filled: Bitboard,
}

impl Seen {
    /// Records the change shown by one report of a board. A report concerns one square: if more squares differ, the
    /// report only revealed the orientation of the board.
    pub(crate) fn note(&mut self, before: &Board, after: &Board) {
        let changed = super::difference(before, after);
        if changed.count() == 1 {
            self.emptied |= changed & before.occupied();
            self.filled |= changed & after.occupied();
        }
    }

    /// Adds the evidence in `other`.
    pub fn add(&mut self, other: Self) {
        self.emptied |= other.emptied;
        self.filled |= other.filled;
    }

    /// Whether there is no evidence for any square.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::Square;

    use super::*;

    #[test]
    fn lifting_and_replacing_a_piece_is_evidence_of_both_changes() {
        let full = Board::default();
        let mut lifted = full.clone();
        lifted.discard_piece_at(Square::E2);
        let mut seen = Seen::default();
        seen.note(&full, &lifted);
        assert_eq!((seen.emptied, seen.filled), (Square::E2.into(), Bitboard::EMPTY));
        seen.note(&lifted, &full);
        assert_eq!(
            (seen.emptied, seen.filled),
            (Square::E2.into(), Square::E2.into())
        );
        let mut both = Seen::default();
        both.note(&full, &Board::empty());
        assert!(both.is_nothing(), "that is more than one square");
        both.add(seen);
        assert_eq!(both, seen);
    }
}
