//! One line of the hall: a port, and the boards on it.

use std::collections::BTreeMap;

use kiebitz_hardware::{Identity, Line, Observation, Observed, Place};
use kiebitz_protocol::BusAddress;

/// A port, what drives it, and the boards on it.
#[derive(Debug)]
pub(super) struct HallLine {
    pub(super) port: String,
    pub(super) line: Line,
    pub(super) seats: BTreeMap<Place, Seat>,
}

/// A place on a line, and the board there.
#[derive(Debug, Default)]
pub(super) struct Seat {
    /// The board there, once it is known which.
    pub(super) board: Option<String>,
    pub(super) identity: Identity,
    /// What was observed before that.
    pub(super) heard: Vec<Observed>,
}

impl HallLine {
    pub(super) fn new(port: &str, line: Line) -> Self {
        Self {
            port: port.to_owned(),
            line,
            seats: BTreeMap::new(),
        }
    }

    /// Whether a board is on this line.
    pub(super) fn has(&self, board: &str) -> bool {
        let mut seats = self.seats.values();
        seats.any(|seat| seat.board.as_deref() == Some(board))
    }
}

impl Seat {
    /// Keeps what was observed before it is known which board is there.
    pub(super) fn hear(&mut self, observed: Observed) {
        match &observed.observation {
            Observation::Identified(identity) => self.identity.clone_from(identity),
            Observation::Closed { .. } => {
                self.heard.clear();
                return;
            }
            _ => {}
        }
        self.heard.push(observed);
    }
}

/// The board with that address, which is its serial number.
pub(super) fn identity_at(address: BusAddress) -> Identity {
    Identity {
        serial: Some(address.to_string()),
        ..Identity::default()
    }
}
