//! Compares the board with the last position of the line of play.

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, Board};

use super::Acts;
use super::trace::Trace;
use crate::events::Ply;
use crate::position::{State, difference};

#[derive(Debug, Clone, Copy)]
pub(crate) struct BoardComparison<'a> {
    pub(super) trace: &'a Trace,
    pub(super) tip: &'a State,
    pub(super) last: Option<Last<'a>>,
    pub(super) aside: Bitboard,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Last<'a> {
    pub(crate) ply: &'a Ply,
    /// State before the ply.
    pub(crate) before: &'a State,
    /// State before the previous ply.
    pub(crate) earlier: Option<&'a State>,
    /// Whether the ply is completed in the sense of the Laws (Art. 6.2.1).
    pub(crate) completed: bool,
}

impl Acts {
    /// Compares the board with `tip`, the state after `last`. The squares `aside` are accounted for elsewhere.
    pub(crate) fn standing<'a>(
        &'a self,
        tip: &'a State,
        last: Option<Last<'a>>,
        aside: Bitboard,
    ) -> BoardComparison<'a> {
        BoardComparison {
            trace: &self.trace,
            tip,
            last,
            aside,
        }
    }
}

impl BoardComparison<'_> {
    /// Squares that differ from the line's last position, without `aside`.
    pub(crate) fn differs(&self) -> Bitboard {
        self.differs_anywhere() & !self.aside
    }

    /// Squares that differ from the line's last position, including `aside`.
    pub(crate) fn differs_anywhere(&self) -> Bitboard {
        difference(self.trace.board(), self.tip.board())
    }

    /// Whether `squares` have the contents that they have in `placement`.
    pub(crate) fn is_as_in(&self, squares: Bitboard, placement: &Board) -> bool {
        let mut squares = squares.into_iter();
        squares.all(|square| self.trace.board().piece_at(square) == placement.piece_at(square))
    }

    /// Number of pieces by which the line exceeds the board; 0 if the board has as many or more.
    pub(crate) fn taken_off(&self) -> usize {
        let stood = self.tip.board().occupied().count();
        stood.saturating_sub(self.trace.board().occupied().count())
    }

    /// Time of the last change of `squares`; `None` if none of them has changed since the board was first heard.
    pub(crate) fn stood_since(&self, squares: Bitboard) -> Option<Timestamp> {
        let since = self.trace.stood_since(squares);
        (since > Timestamp::from_micros(0)).then_some(since)
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::Square;

    use super::*;
    use crate::events::{SensorChange, Since};
    use crate::tracker::Snapshot;

    #[test]
    fn the_time_since_which_a_square_stands_is_known_once_it_has_changed() {
        let at = Timestamp::from_micros(1_000_000_000);
        let changes = vec![SensorChange {
            when: Since::at(at),
            square: Square::E2,
            before: None,
            after: Board::new().piece_at(Square::E2),
        }];
        let snapshot = Snapshot {
            board: Board::new(),
            changes,
            watched: true,
            unseen: Bitboard::EMPTY,
            turned: false,
            dumped_at: at,
        };
        let mut acts = Acts::default();
        acts.see(at, &snapshot);
        let tip = State::default();
        let standing = acts.standing(&tip, None, Bitboard::EMPTY);
        assert_eq!(standing.stood_since(Square::E2.into()), Some(at));
        assert_eq!(standing.stood_since(Square::E4.into()), None);
    }
}
