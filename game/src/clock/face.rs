//! The times and flags that a clock shows, by player.

use kiebitz_hardware::Timestamp;
use serde::{Deserialize, Serialize};
use shakmaty::{ByColor, Color};

use crate::vocabulary::color;

vocabulary! {
    "flag"
    /// The players whose flag is shown as fallen.
    pub enum Flag {
        /// White alone.
        White = "white",
        /// Black alone.
        Black = "black",
        /// Both players.
        Both = "both",
    }
}

/// The display of the clock, once White's side is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// White's time in milliseconds. The board reports whole seconds.
    pub white_ms: u64,
    /// Black's time in milliseconds.
    pub black_ms: u64,
    /// The player whose time runs; `None` while the clock is stopped.
    #[serde(with = "color::option")]
    pub running: Option<Color>,
    /// Flags shown as fallen; omitted if there are none. Time runs on after a flag falls at the end of a period that is
    /// not the last.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub flag: Option<Flag>,
}

/// The display of the clock, with the time of the reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockFace {
    /// The times and flags.
    pub clock: Clock,
    /// Arrival time of the reading.
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
    /// Combines the flags of both players; `None` if neither has fallen.
    #[must_use]
    pub const fn of(fallen: ByColor<bool>) -> Option<Self> {
        match (fallen.white, fallen.black) {
            (false, false) => None,
            (true, false) => Some(Self::White),
            (false, true) => Some(Self::Black),
            (true, true) => Some(Self::Both),
        }
    }

    /// Whether the flag of `color` has fallen.
    #[must_use]
    pub const fn includes(self, color: Color) -> bool {
        match self {
            Self::White => matches!(color, Color::White),
            Self::Black => matches!(color, Color::Black),
            Self::Both => true,
        }
    }
}
