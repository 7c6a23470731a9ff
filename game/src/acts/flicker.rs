//! Squares that report changes nobody makes. A square is judged by its changes within the time in which a hand comes
//! back to a piece, and is sound again when it has shown the same for so long.

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, Board, Square};

use super::Acts;

/// Players change a square less often meanwhile, even where pieces are captured one after the other.
const MIN_FAULTY_CHANGES: usize = 11;
/// At least this many of the changes bring back the piece that stands there.
const MIN_FAULTY_RETURNS: usize = 5;
/// From this many changes on, other watchers set the square aside.
const MIN_DOUBTFUL_CHANGES: usize = 5;
/// At least this many of them bring back the piece that stands there.
const MIN_DOUBTFUL_RETURNS: usize = 2;

/// Squares that flicker.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Flicker {
    /// Their sensors are at fault.
    pub(crate) faulty: Bitboard,
    /// They cannot be trusted.
    pub(crate) doubtful: Bitboard,
}

impl Acts {
    /// The squares that flicker, where `expected` should stand.
    pub(crate) fn flicker(&self, now: Timestamp, expected: Option<&Board>) -> Flicker {
        let mut counts = [(0_usize, 0_usize); 64];
        for shown in self.trace.since(now.saturating_sub(self.model().patience)) {
            let (changes, returns) = &mut counts[usize::from(shown.square)];
            *changes += 1;
            let rests = expected.and_then(|board| board.piece_at(shown.square));
            *returns += usize::from(shown.after == rests);
        }
        let at_least = |min: (usize, usize)| -> Bitboard {
            let squares = Square::ALL.into_iter();
            squares
                .filter(|square| {
                    let (changes, returns) = counts[usize::from(*square)];
                    changes >= min.0 && returns >= min.1
                })
                .collect()
        };
        Flicker {
            faulty: at_least((MIN_FAULTY_CHANGES, MIN_FAULTY_RETURNS)),
            doubtful: at_least((MIN_DOUBTFUL_CHANGES, MIN_DOUBTFUL_RETURNS)),
        }
    }

    /// Since when a square has flickered lately.
    pub(crate) fn flickers_since(&self, now: Timestamp, square: Square) -> Timestamp {
        let mut changes = self.trace.since(now.saturating_sub(self.model().patience));
        changes
            .find(|shown| shown.square == square)
            .map_or(now, |shown| shown.when.at)
    }

    /// Those of the squares that still change too often to be trusted.
    pub(crate) fn still_doubtful(&self, now: Timestamp, squares: Bitboard) -> Bitboard {
        let since = now.saturating_sub(self.model().patience);
        squares
            .into_iter()
            .filter(|square| self.trace.changes_of(*square, since) >= MIN_DOUBTFUL_CHANGES)
            .collect()
    }

    /// When a faulty square will be sound again if it does not change.
    pub(crate) fn sound_at(&self, square: Square) -> Timestamp {
        self.trace.changed_at(square) + self.model().patience
    }
}
