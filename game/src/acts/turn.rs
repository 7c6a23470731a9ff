//! What hands did on the way to a ply.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, Color, Square};

use super::Acts;
use super::trace::Trace;
use crate::events::Ply;
use crate::position::{State, difference};

/// A turn of at least this length is not played in a hurry.
const MIN_UNHURRIED: Duration = Duration::from_secs(3);

/// A player's turn, which ended with a ply that was seen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn<'a> {
    pub(super) trace: &'a Trace,
    pub(super) ply: &'a Ply,
    pub(super) before: &'a State,
    pub(super) since: Timestamp,
    pub(super) aside: Bitboard,
}

impl Acts {
    /// The turn in which `ply` was made from the state `before`. What was done before `since` is no part of it; nor is
    /// what happened on the squares `aside`.
    pub(crate) fn turn<'a>(
        &'a self,
        ply: &'a Ply,
        before: &'a State,
        since: Timestamp,
        aside: Bitboard,
    ) -> Turn<'a> {
        Turn {
            trace: &self.trace,
            ply,
            before,
            since,
            aside,
        }
    }
}

impl Turn<'_> {
    /// The squares on which the ply changed something.
    pub(crate) fn squares(&self) -> Bitboard {
        difference(self.before.board(), self.ply.after.board())
    }

    /// Whether the player took their time: in a hurry one hand is quick enough for two pieces, and pieces are set off the
    /// centre of their squares.
    pub(crate) fn is_unhurried(&self) -> bool {
        self.ply.lifted_at.saturating_duration_since(self.since) >= MIN_UNHURRIED
    }

    /// Whose turn it was.
    pub(crate) fn color(&self) -> Color {
        self.ply.color
    }

    /// Where the ply went; `None` for irregular play.
    pub(super) fn to(&self) -> Option<Square> {
        self.ply.played.map(|m| m.to())
    }
}
