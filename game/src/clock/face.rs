//! What a clock shows, by players.

use kiebitz_hardware::Timestamp;
use serde::{Deserialize, Serialize};
use shakmaty::{ByColor, Color};

use crate::vocabulary::color;

vocabulary! {
    "flag"
    /// Whose flag is shown as fallen.
    pub enum Flag {
        /// White's alone.
        White = "white",
        /// Black's alone.
        Black = "black",
        /// Both players'.
        Both = "both",
    }
}

/// What the clock shows, once White's side of it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// White's time in milliseconds. The board reports whole seconds.
    pub white_ms: u64,
    /// Black's time in milliseconds.
    pub black_ms: u64,
    /// Whose time runs; `None` when the clock is stopped.
    #[serde(with = "color::option")]
    pub running: Option<Color>,
    /// Whose flag is shown as fallen; absent while none is. At the end of a period that is not the last, time runs on all the
    /// same.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub flag: Option<Flag>,
}

/// What the clock shows, with the time of the reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockFace {
    /// What the clock showed.
    pub clock: Clock,
    /// When the reading arrived.
    pub as_of: Timestamp,
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

impl Flag {
    /// From the flags that are shown as fallen; `None`: neither.
    #[must_use]
    pub const fn of(fallen: ByColor<bool>) -> Option<Self> {
        match (fallen.white, fallen.black) {
            (false, false) => None,
            (true, false) => Some(Self::White),
            (false, true) => Some(Self::Black),
            (true, true) => Some(Self::Both),
        }
    }

    /// Whether that player's flag has fallen.
    #[must_use]
    pub const fn includes(self, color: Color) -> bool {
        match self {
            Self::White => matches!(color, Color::White),
            Self::Black => matches!(color, Color::Black),
            Self::Both => true,
        }
    }
}
