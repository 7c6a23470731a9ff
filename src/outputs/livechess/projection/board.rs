//! A board as clients see it.

use serde_json::{Value, json};

use crate::clock::ClockView;
use crate::outputs::broadcast::projection::tree;
use crate::outputs::shared::board_status::BoardStatus;
use crate::tournament::table_of;

/// A board with the changes that clients made to its view.
#[derive(Debug)]
pub(super) struct ClientBoard {
    pub(super) status: BoardStatus,
    /// The board's serial number in this interface; `None` if it is unknown, or if another board has it.
    pub(super) serial: Option<String>,
    /// Whether the board is read from the other side.
    pub(super) flipped: bool,
}

impl ClientBoard {
    pub(super) fn new(status: BoardStatus) -> Self {
        Self {
            serial: None,
            status,
            flipped: false,
        }
    }

    pub(super) fn sort_key(&self) -> impl Ord + use<> {
        let name = &self.status.name;
        let table = table_of(name).unwrap_or(u32::MAX);
        (!self.status.connected, table, name.clone())
    }

    /// The placement reported by the sensors, rotated if the board is flipped; `None` if the board is not connected.
    pub(super) fn placement(&self) -> Option<String> {
        let mut board = self.status.connected.then(|| self.status.placement.clone())?;
        if self.flipped {
            board.rotate_180();
        }
        Some(board.board_fen().to_string())
    }

    /// The file name of the board's port; `None` if the board is not connected.
    pub(super) fn source(&self) -> Option<&str> {
        let port = self.status.port.rsplit('/').next();
        port.filter(|port| self.status.is_there() && !port.is_empty())
    }

    /// LiveChess's word for the state of the board; `None` if it was never plugged in. Clients keep the last position of a
    /// board that does not respond, but take a board without a word for one that is there.
    fn state(&self) -> Option<&'static str> {
        if self.status.connected {
            return Some("ACTIVE");
        }
        (!self.status.port.is_empty()).then_some("NOTRESPONDING")
    }

    /// The entry in the list of boards.
    pub(super) fn value(&self) -> Value {
        let Self {
            status,
            serial,
            flipped,
        } = self;
        json!({
            "serialnr": serial,
            "source": self.source(),
            "state": self.state(),
            "battery": status.battery.filter(|_| status.connected).map(|percent| format!("{percent}%")),
            "comment": Some(&status.name).filter(|name| Some(*name) != serial.as_ref()),
            "board": self.placement(),
            "flipped": flipped,
            "clock": clock(&status.clock),
        })
    }
}

/// The clock as JSON; null without a clock, or until White's side of it is known.
pub(super) fn clock(clock: &ClockView) -> Value {
    let value = clock.as_of.and_then(|as_of| tree::clock_of(*clock, as_of));
    value.unwrap_or(Value::Null)
}
