//! Which squares were seen to work.

use shakmaty::{Bitboard, Board};

/// The squares that were seen to lose their piece, and to get one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    /// Those that lost it.
    pub emptied: Bitboard,
    /// Those that got one.
    pub filled: Bitboard,
}

impl Seen {
    /// Notes what one report of a board has changed. A report is of one square: where more are others, the board was only
    /// found to stand the other way round.
    pub(crate) fn note(&mut self, before: &Board, after: &Board) {
        let changed = super::difference(before, after);
        if changed.count() == 1 {
            self.emptied |= changed & before.occupied();
            self.filled |= changed & after.occupied();
        }
    }

    /// The same with what was seen besides.
    pub fn add(&mut self, other: Self) {
        self.emptied |= other.emptied;
        self.filled |= other.filled;
    }

    /// Whether no square was seen to do anything.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::Square;

    use super::*;

    #[test]
    fn a_piece_that_is_lifted_and_put_back_was_seen_both_ways() {
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
