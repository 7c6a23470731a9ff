//! Finds squares that report changes without a hand.
//!
//! A square is judged by its changes within `Model::patience`, the time in which a hand comes back to a piece. It
//! counts as sound again after the same time without a change.

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, Board, Square};

use super::Acts;

/// Minimum number of changes of a faulty square. Players cause fewer, even with several captures in a row on the
/// square.
const MIN_FAULTY_CHANGES: usize = 11;
/// Minimum number of these changes that bring back the expected content.
const MIN_FAULTY_RETURNS: usize = 5;
/// Minimum number of changes of a doubtful square, which other watchers set aside.
const MIN_DOUBTFUL_CHANGES: usize = 5;
/// Minimum number of these changes that bring back the expected content.
const MIN_DOUBTFUL_RETURNS: usize = 2;

#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Flicker {
    /// Squares with a faulty sensor.
    pub(crate) faulty: Bitboard,
    /// Squares that cannot be trusted.
    pub(crate) doubtful: Bitboard,
}

impl Acts {
    /// The squares that flicker. `expected` is the placement that should stand on the board.
    pub(crate) fn flicker(&self, now: Timestamp, expected: Option<&Board>) -> Flicker {
        let mut counts = [(0_usize, 0_usize); 64];
        let mut changed = Bitboard::EMPTY;
        for shown in self.trace.since(now.saturating_sub(self.model().patience)) {
            let (changes, returns) = &mut counts[usize::from(shown.square)];
            *changes += 1;
            changed.add(shown.square);
            let rests = expected.and_then(|board| board.piece_at(shown.square));
            *returns += usize::from(shown.after == rests);
        }
        let at_least = |min: (usize, usize)| -> Bitboard {
            changed
                .into_iter()
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

    /// Time of the first change of `square` within `Model::patience`.
    pub(crate) fn flickers_since(&self, now: Timestamp, square: Square) -> Timestamp {
        let mut changes = self.trace.since(now.saturating_sub(self.model().patience));
        changes
            .find(|shown| shown.square == square)
            .map_or(now, |shown| shown.when.at)
    }

    /// The squares among `squares` that still change too often to be trusted.
    pub(crate) fn still_doubtful(&self, now: Timestamp, squares: Bitboard) -> Bitboard {
        let since = now.saturating_sub(self.model().patience);
        squares
            .into_iter()
            .filter(|square| self.trace.changes_of(*square, since) >= MIN_DOUBTFUL_CHANGES)
            .collect()
    }

    /// Time at which a faulty square counts as sound if it does not change before.
    pub(crate) fn sound_at(&self, square: Square) -> Timestamp {
        self.trace.changed_at(square) + self.model().patience
    }
}
