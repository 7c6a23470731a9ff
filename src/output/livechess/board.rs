//! A board as clients see it.

use serde_json::{Value, json};
use shakmaty::Board;

use crate::output::broadcast::tree;
use crate::output::clock::ClockPicture;
use crate::tournament::table_of;

/// How a board is at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sight {
    /// Its name.
    pub(crate) name: String,
    /// Its serial number, the long one where it has one.
    pub(crate) serial: Option<String>,
    /// Where it is, or was, plugged in.
    pub(crate) port: String,
    /// It answers.
    pub(crate) connected: bool,
    /// The arbiter does not want to see it any more.
    pub(crate) forgotten: bool,
    /// Charge of its own battery in percent.
    pub(crate) battery: Option<u8>,
    /// What the sensors show.
    pub(crate) placement: Board,
    /// What the clock shows; nothing while the board is not there.
    pub(crate) clock: ClockPicture,
}

/// A board with what clients have changed of its view.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) sight: Sight,
    /// What it is called here.
    pub(super) serial: String,
    /// It is read from the other side.
    pub(super) flipped: bool,
}

impl Sight {
    /// Whether a client that was told of this has to be told of another one.
    pub(crate) fn differs(&self, other: &Self) -> bool {
        let same_but_clock = Self {
            clock: self.clock,
            ..other.clone()
        };
        *self != same_but_clock || self.clock.differs(&other.clock)
    }

    pub(super) const fn is_there(&self) -> bool {
        self.connected && !self.forgotten
    }
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
