//! A board as clients see it.

use serde_json::{Value, json};

use crate::clock::ClockPicture;
use crate::outputs::broadcast::projection::tree;
use crate::outputs::shared::sight::Sight;
use crate::tournament::table_of;

/// A board with what clients have changed of its view.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) sight: Sight,
    /// What it is called here.
    pub(super) serial: String,
    /// It is read from the other side.
    pub(super) flipped: bool,
}

impl Seen {
    pub(super) fn new(sight: Sight) -> Self {
        Self {
            serial: sight.name.clone(),
            sight,
            flipped: false,
        }
    }

    /// Its place among all boards.
    pub(super) fn place(&self) -> impl Ord + use<> {
        let name = &self.sight.name;
        let table = table_of(name).unwrap_or(u32::MAX);
        (!self.sight.connected, table, name.clone())
    }

    /// The pieces as the sensors see them, from the side from which the board is read; `None`: it is not there.
    pub(super) fn placement(&self) -> Option<String> {
        let mut board = self.sight.connected.then(|| self.sight.placement.clone())?;
        if self.flipped {
            board.rotate_180();
        }
        Some(board.board_fen().to_string())
    }

    /// What is said of it in the list of boards.
    pub(super) fn value(&self) -> Value {
        let Self {
            sight,
            serial,
            flipped,
        } = self;
        let port = sight.port.rsplit('/').next().unwrap_or_default();
        json!({
            "serialnr": serial,
            "source": Some(port).filter(|port| sight.connected && !port.is_empty()),
            "state": sight.connected.then_some("ACTIVE"),
            "battery": sight.battery.filter(|_| sight.connected).map(|percent| format!("{percent}%")),
            "comment": Some(&sight.name).filter(|name| *name != serial),
            "board": self.placement(),
            "flipped": flipped,
            "clock": clock(&sight.clock),
        })
    }
}

/// What a clock shows; null: there is none, or it is not known which side of it is White's.
pub(super) fn clock(clock: &ClockPicture) -> Value {
    let value = clock.as_of.and_then(|as_of| tree::clock_of(*clock, as_of));
    value.unwrap_or(Value::Null)
}
