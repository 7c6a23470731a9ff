//! Plies, clocks and players as events carry them.

use serde::{Deserialize, Serialize};
use shakmaty::{ByColor, Color};

use super::{Flag, color};
use crate::tracker::ClockFace;

/// A ply as published.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Move {
    /// 1 is the first of the game.
    pub ply: u32,
    /// Who played it.
    #[serde(with = "color")]
    pub color: Color,
    /// UCI; null where irregular play was more than one piece going from one square to another.
    pub uci: Option<String>,
    /// English SAN; null for irregular play.
    pub san: Option<String>,
    /// The position after it.
    pub fen: String,
    /// Letter of the captured piece in English, lower case: p, n, b, r, q.
    pub captured: Option<String>,
    /// The clock when the ply was published; null without one or before White's side is known.
    pub clock: Option<Clock>,
    /// False for an irregular move.
    pub legal: bool,
    /// Found by reconstruction over a gap, not watched.
    pub inferred: bool,
    /// Published only where it is false: the plies found over the gap may have been played in another order.
    #[serde(skip_serializing_if = "core::clone::Clone::clone", default = "certain")]
    pub order_certain: bool,
}

pub(super) const fn certain() -> bool {
    true
}

/// What the clock shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// White's time in milliseconds.
    pub white_ms: u64,
    /// Black's time in milliseconds.
    pub black_ms: u64,
    /// Whose time runs; `None` when nobody's does.
    #[serde(with = "color::option")]
    pub running: Option<Color>,
    /// Whose flag is shown as fallen; absent while none is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub flag: Option<Flag>,
}

impl Clock {
    /// The players' times, in milliseconds.
    #[must_use]
    pub const fn times_ms(&self) -> ByColor<u64> {
        ByColor {
            white: self.white_ms,
            black: self.black_ms,
        }
    }
}

impl From<ClockFace> for Clock {
    fn from(face: ClockFace) -> Self {
        Self {
            white_ms: face.white_ms,
            black_ms: face.black_ms,
            running: face.running,
            flag: Flag::of(face.flags),
        }
    }
}

/// The players' names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Players {
    /// White's name.
    pub white: Option<String>,
    /// Black's name.
    pub black: Option<String>,
}

impl Players {
    /// The same two with each other's colours.
    #[must_use]
    pub fn exchanged(&self) -> Self {
        Self {
            white: self.black.clone(),
            black: self.white.clone(),
        }
    }
}
