//! The clock beside the board: which side is White's, whose time runs, and the presses of its lever.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use kiebitz_protocol::{ClockTimes, SideTime};
use shakmaty::{ByColor, Color};

/// A side of the clock, seen from its front.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The left-hand clock.
    Left,
    /// The right-hand clock.
    Right,
}

/// What the clock shows, once White's side of it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockFace {
    /// White's time in milliseconds; the board reports whole seconds.
    pub white_ms: u64,
    /// Black's time in milliseconds.
    pub black_ms: u64,
    /// Whose time runs; `None` when the clock is stopped.
    pub running: Option<Color>,
    /// Arrival of the reading.
    pub as_of: Timestamp,
}

/// Something about the clock that the readings told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockChange {
    /// A clock answers.
    Connected,
    /// The board says that there is no clock.
    Disconnected,
    /// The clock's battery is low.
    BatteryLow,
    /// The clock was started.
    Started,
    /// The clock was stopped.
    Stopped,
    /// The lever went over: this side pressed it.
    Pressed(Side),
}

/// Follows the readings of one clock.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClockWatch {
    last: Option<(Timestamp, ClockTimes)>,
    /// Evidence that White's time is the left one (positive) or the right one (negative).
    left_is_white: i8,
    /// When the running side's time was last set going.
    turn_began: Option<Timestamp>,
}

/// Votes beyond this are not counted, so that a clock turned round in mid-game is believed after as many presses.
const CERTAIN: i8 = 4;

impl Side {
    pub(super) fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }
}

impl ClockWatch {
    /// Takes in a reading and says what it changes.
    pub(crate) fn read(&mut self, at: Timestamp, times: ClockTimes) -> Vec<ClockChange> {
        let mut changes = Vec::new();
        let before = self.last.replace((at, times)).map(|(_, times)| times);
        let was_running = before.is_some_and(|t| t.running);
        if before.is_none() {
            changes.push(ClockChange::Connected);
        }
        if times.battery_low && !before.is_some_and(|t| t.battery_low) {
            changes.push(ClockChange::BatteryLow);
        }
        let pressed = before.is_some_and(|t| t.lever_right_high != times.lever_right_high);
        if times.running && !was_running {
            self.turn_began = Some(at);
            changes.push(ClockChange::Started);
        } else if pressed && times.running {
            // A lever that moves on a stopped clock is no press: somebody sets the clock up.
            changes.push(ClockChange::Pressed(lever_side(times).other()));
        }
        if was_running && !times.running {
            changes.push(ClockChange::Stopped);
        }
        changes
    }

    /// The board says that there is no clock. Returns whether there was one.
    pub(crate) fn lost(&mut self) -> bool {
        self.turn_began = None;
        self.last.take().is_some()
    }

    /// Whether the clock runs; `None` without a clock.
    pub(crate) fn running(&self) -> Option<bool> {
        self.last.map(|(_, times)| times.running)
    }

    /// The side whose time runs or would run.
    pub(crate) fn turn(&self) -> Option<Side> {
        self.last.map(|(_, times)| lever_side(times))
    }

    /// The side whose clock stands, with its time in seconds.
    pub(crate) fn halted(&self) -> Option<(Side, u32)> {
        let (_, times) = self.last?;
        let side = lever_side(times).other();
        let time = if side == Side::Left {
            times.left
        } else {
            times.right
        };
        Some((side, time.total_seconds()))
    }

    /// White's side, once there is evidence.
    pub(crate) fn white_side(&self) -> Option<Side> {
        match self.left_is_white {
            0 => None,
            1.. => Some(Side::Left),
            _ => Some(Side::Right),
        }
    }

    /// Counts evidence that `side` is White's. Returns whether that changed the verdict.
    pub(crate) fn vote_white(&mut self, side: Side, weight: i8) -> bool {
        let before = self.white_side();
        let signed = if side == Side::Left { weight } else { -weight };
        self.left_is_white = (self.left_is_white + signed).clamp(-CERTAIN, CERTAIN);
        self.white_side() != before
    }

    /// Forgets which side is White's: another game, perhaps with the clock the other way round.
    pub(crate) fn forget_sides(&mut self) {
        self.left_is_white = 0;
    }

    pub(crate) fn color_of(&self, side: Side) -> Option<Color> {
        self.white_side().map(|white| Color::from_white(white == side))
    }

    /// What the clock shows.
    pub(crate) fn face(&self) -> Option<ClockFace> {
        let (as_of, times) = self.last?;
        let white = self.white_side()?;
        let ms = ByColor {
            white: if white == Side::Left {
                times.left
            } else {
                times.right
            },
            black: if white == Side::Left {
                times.right
            } else {
                times.left
            },
        }
        .map(milliseconds);
        let running = times
            .running
            .then(|| Color::from_white(lever_side(times) == white));
        Some(ClockFace {
            white_ms: ms.white,
            black_ms: ms.black,
            running,
            as_of,
        })
    }

    /// A turn is over at `at`: how long the side on move had its clock running, and the other one's turn begins.
    pub(crate) fn end_turn(&mut self, at: Timestamp) -> Option<Duration> {
        self.turn_began
            .replace(at)
            .map(|began| at.saturating_duration_since(began))
    }
}

/// The lever is high on the side whose time runs: the other player has pressed it.
fn lever_side(times: ClockTimes) -> Side {
    if times.lever_right_high {
        Side::Right
    } else {
        Side::Left
    }
}

fn milliseconds(time: SideTime) -> u64 {
    u64::from(time.total_seconds()) * 1000
}
