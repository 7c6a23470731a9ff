//! Snapshots of a board: the view for MQTT, and the status for clients in the hall.

use kiebitz_game::clock::{ClockFace, Side};
use kiebitz_game::hall;
use kiebitz_game::laws::{Bonus, TimeControl};
use kiebitz_game::position::{Orientation, Seen};
use serde::Serialize;
use shakmaty::{Bitboard, Board};

use crate::clock::ClockView;

/// View of a board and its clock, as published on MQTT.
#[derive(Debug, Clone, Copy)]
pub struct BoardView<'a> {
    /// Placement that the sensors report.
    pub placement: &'a Board,
    /// The placement after the last published ply, and the squares on which the sensors differ from it.
    pub expected: Option<(&'a Board, Bitboard)>,
    /// Display of the clock.
    pub clock: Option<ClockFace>,
    /// Orientation of the board: the side on which White sits.
    pub orientation: Option<Orientation>,
    /// Version of the board's firmware, major and minor number. A board on a bus gives it after it has connected.
    pub version: Option<(u8, u8)>,
    /// Charge of the board's own battery in percent.
    pub battery: Option<u8>,
    /// Number of the table that the board stands on.
    pub table: Option<u32>,
}

/// Snapshot of a board for clients in the hall.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BoardStatus {
    pub(crate) name: String,
    /// Serial number; the long one if the board has one.
    pub(crate) serial: Option<String>,
    /// Other boards that report the same serial number.
    pub(crate) same_number: Vec<String>,
    /// Port of the board; the last one if it is disconnected.
    pub(crate) port: String,
    /// Number of the table that the board stands on; `None` if it has no number.
    pub(crate) table: Option<u32>,
    /// Whether the board answers.
    pub(crate) connected: bool,
    /// At a hub: the daemon of the board while that daemon is offline, so that the board's state is unknown.
    pub(crate) away: Option<String>,
    /// Whether the arbiter has removed the board from view.
    pub(crate) forgotten: bool,
    /// Charge of the board's own battery in percent.
    pub(crate) battery: Option<u8>,
    /// Placement that the sensors report.
    pub(crate) placement: Board,
    /// Placement after the last published ply; `None` before a start position was set up.
    pub(crate) expected: Option<Board>,
    /// Display of the clock; empty while the board is disconnected.
    pub(crate) clock: ClockView,
    pub(crate) levers: Levers,
    pub(crate) setting: ClockSetting,
    /// At a hub: the daemon of the board, and its desk.
    pub(crate) hall: Option<HallDesk>,
    /// Squares that were emptied or filled since the last board status.
    pub(crate) seen: Seen,
}

/// Position of a clock's lever. Sides are as seen from the front of the clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Levers {
    /// Side on which the lever is up; `None` if there is no clock.
    pub(crate) up: Option<Side>,
    /// White's side; `None` while unknown.
    pub(crate) white: Option<Side>,
}

/// The daemon that has a board, and its desk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct HallDesk {
    /// Name of the daemon's computer.
    pub(crate) daemon: String,
    /// Address of the desk; `None` if it is not announced.
    pub(crate) desk: Option<String>,
}

/// Times of a stopped clock, and the time control to compare them with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ClockSetting {
    /// Times on the left and the right side in milliseconds; `None` while the clock runs, and without a clock.
    pub(crate) standing_ms: Option<[u64; 2]>,
    /// Time control of the board's next game; `None` if unknown.
    pub(crate) control: Option<TimeControl>,
}

impl ClockSetting {
    /// Whether both sides show the initial time of the time control. `None` if the clock runs or the time control is
    /// unknown.
    pub(crate) fn fits(&self) -> Option<bool> {
        let (standing, control) = (self.standing_ms?, self.control.as_ref()?);
        let period = control.periods().first()?;
        let start = u64::from(period.seconds) * 1000;
        let bonus = match period.bonus {
            Bonus::Fischer(seconds) => u64::from(seconds) * 1000,
            Bonus::None | Bonus::Delay(_) => 0,
        };
        // Some clocks add the increment of the first move before it is made.
        Some(standing.iter().all(|ms| [start, start + bonus].contains(ms)))
    }
}

impl<'a> BoardView<'a> {
    /// Creates the view of a board, without its table.
    #[must_use]
    pub fn of(board: &'a hall::Board) -> Self {
        Self {
            placement: board.placement(),
            expected: board.expected(),
            clock: board.clock(),
            orientation: board.orientation(),
            version: board.version(),
            battery: board.battery(),
            table: None,
        }
    }

    /// Sets the table.
    #[must_use]
    pub const fn at_table(mut self, table: Option<u32>) -> Self {
        self.table = table;
        self
    }
}

impl BoardStatus {
    /// Creates the status of a board. `same_number` and `away` are left empty, as they depend on more than the board.
    pub(crate) fn of(board: &hall::Board, table: Option<u32>, seen: Seen) -> Self {
        let view = BoardView::of(board);
        let connected = board.is_connected();
        Self {
            name: board.name().to_owned(),
            serial: board.serial().map(str::to_owned),
            same_number: Vec::new(),
            port: board.port().to_owned(),
            table,
            connected,
            away: None,
            forgotten: board.is_forgotten(),
            battery: view.battery,
            placement: view.placement.clone(),
            expected: view.expected.map(|(expected, _)| expected.clone()),
            clock: ClockView::new(view.clock.filter(|_| connected)),
            levers: Levers {
                up: board.lever_up().filter(|_| connected),
                white: board.white_side(),
            },
            setting: ClockSetting {
                standing_ms: board.standing_ms().filter(|_| connected),
                control: board.regulations().time_control.clone(),
            },
            hall: None,
            seen,
        }
    }

    /// Whether clients that have this status must be sent `other`.
    pub(crate) fn differs(&self, other: &Self) -> bool {
        let same_but_clock = Self {
            clock: self.clock,
            seen: self.seen,
            ..other.clone()
        };
        !other.seen.is_nothing() || *self != same_but_clock || self.clock.differs(&other.clock)
    }

    pub(crate) const fn is_there(&self) -> bool {
        self.connected && !self.forgotten
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_fits_its_time_control_with_or_without_the_first_increment() {
        let fits = |control: &str, left: u64, right: u64| {
            let setting = ClockSetting {
                standing_ms: Some([left * 1000, right * 1000]),
                control: control.parse().ok(),
            };
            setting.fits()
        };
        assert_eq!(fits("15+10", 900, 900), Some(true));
        assert_eq!(fits("15+10", 910, 910), Some(true));
        assert_eq!(fits("15+10", 5520, 5520), Some(false), "1:32:00");
        assert_eq!(fits("15+10", 900, 899), Some(false));
        assert_eq!(
            fits("90 min/40 + 30 min, 30 s from move 1", 5400, 5430),
            Some(true)
        );
        assert_eq!(fits("G/90;d5", 5400, 5400), Some(true));
        assert_eq!(fits("G/90;d5", 5405, 5405), Some(false), "a delay adds no time");
        assert_eq!(fits("", 900, 900), None);
        let running = ClockSetting {
            standing_ms: None,
            control: "15+10".parse().ok(),
        };
        assert_eq!(running.fits(), None);
    }
}
