//! The turn of a player, for questions about acts of the hands on the way to a ply.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, Color, Square};

use super::Acts;
use super::trace::Trace;
use crate::events::Ply;
use crate::position::{State, difference};

/// Minimum length of a turn that is not played in a hurry.
const MIN_UNHURRIED: Duration = Duration::from_secs(3);

/// A player's turn that ended with an observed ply.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn<'a> {
    pub(super) trace: &'a Trace,
    pub(super) ply: &'a Ply,
    pub(super) before: &'a State,
    pub(super) since: Timestamp,
    pub(super) aside: Bitboard,
}

impl Acts {
    /// The turn of `ply`, made from the state `before`. Changes before `since` or of the squares `aside` do not count.
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
    pub(crate) fn squares(&self) -> Bitboard {
        difference(self.before.board(), self.ply.after.board())
    }

    /// Whether the turn took at least [`MIN_UNHURRIED`]. In a hurry, one hand is fast enough for two pieces, and pieces
    /// are put down off the centre of their squares.
    pub(crate) fn is_unhurried(&self) -> bool {
        self.ply.lifted_at.saturating_duration_since(self.since) >= MIN_UNHURRIED
    }

    pub(crate) fn color(&self) -> Color {
        self.ply.color
    }

    /// Destination of the ply; `None` for an irregular ply.
    pub(super) fn to(&self) -> Option<Square> {
        self.ply.played.map(|m| m.to())
    }
}
