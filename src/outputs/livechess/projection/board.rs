//! A board as clients see it.

use serde_json::{Value, json};

use crate::clock::ClockView;
use crate::outputs::broadcast::projection::tree;
use crate::outputs::shared::board_status::BoardStatus;
use crate::tournament::table_of;

/// A board with what clients have changed of its view.
#[derive(Debug)]
pub(super) struct ClientBoard {
    pub(super) status: BoardStatus,
    /// What it is called here.
    pub(super) serial: String,
    /// It is read from the other side.
    pub(super) flipped: bool,
}

impl ClientBoard {
    pub(super) fn new(status: BoardStatus) -> Self {
        Self {
            serial: status.name.clone(),
            status,
            flipped: false,
        }
    }

    /// Its place among all boards.
    pub(super) fn place(&self) -> impl Ord + use<> {
        let name = &self.status.name;
        let table = table_of(name).unwrap_or(u32::MAX);
        (!self.status.connected, table, name.clone())
    }

    /// The pieces as the sensors see them, from the side from which the board is read; `None`: it is not there.
    pub(super) fn placement(&self) -> Option<String> {
        let mut board = self.status.connected.then(|| self.status.placement.clone())?;
        if self.flipped {
            board.rotate_180();
        }
        Some(board.board_fen().to_string())
    }

    /// What is said of it in the list of boards.
    pub(super) fn value(&self) -> Value {
        let Self {
            status,
            serial,
            flipped,
        } = self;
        let port = status.port.rsplit('/').next().unwrap_or_default();
        json!({
            "serialnr": serial,
            "source": Some(port).filter(|port| status.connected && !port.is_empty()),
            "state": status.connected.then_some("ACTIVE"),
            "battery": status.battery.filter(|_| status.connected).map(|percent| format!("{percent}%")),
            "comment": Some(&status.name).filter(|name| *name != serial),
            "board": self.placement(),
            "flipped": flipped,
            "clock": clock(&status.clock),
        })
    }
}

/// What a clock shows; null: there is none, or it is not known which side of it is White's.
pub(super) fn clock(clock: &ClockView) -> Value {
    let value = clock.as_of.and_then(|as_of| tree::clock_of(*clock, as_of));
    value.unwrap_or(Value::Null)
}
