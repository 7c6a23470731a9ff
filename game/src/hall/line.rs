//! One serial line of the hall: a port and the boards on it.

use std::collections::BTreeMap;

use kiebitz_hardware::{Identity, Line, Observation, Observed, Place};
use kiebitz_protocol::BusAddress;

/// A port with its driver and the boards on it.
#[derive(Debug)]
pub(super) struct HallLine {
    pub(super) port: String,
    pub(super) line: Line,
    pub(super) places: BTreeMap<Place, LinePlace>,
}

/// A place on a line and the board there.
#[derive(Debug, Default)]
pub(super) struct LinePlace {
    /// Name of the board; `None` until it is identified.
    pub(super) board: Option<String>,
    pub(super) identity: Identity,
    /// Observations from before the board was identified.
    pub(super) heard: Vec<Observed>,
}

/// Maximum number of stored observations of a board that has not sent its placement. A board sends it within two
/// seconds, in which it cannot report more than this.
const MAX_HEARD: usize = 512;

impl HallLine {
    pub(super) fn new(port: &str, line: Line) -> Self {
        Self {
            port: port.to_owned(),
            line,
            places: BTreeMap::new(),
        }
    }

    pub(super) fn has(&self, board: &str) -> bool {
        let mut places = self.places.values();
        places.any(|line_place| line_place.board.as_deref() == Some(board))
    }
}

impl LinePlace {
    /// Stores an observation until the board is identified.
    pub(super) fn hear(&mut self, observed: Observed) {
        match &observed.observation {
            Observation::Identified(identity) => {
                self.identity.clone_from(identity);
                // A later identity contains everything that the earlier ones had.
                let identifies = |heard: &Observed| matches!(heard.observation, Observation::Identified(_));
                self.heard.retain(|heard| !identifies(heard));
            }
            Observation::Closed { .. } => {
                self.heard.clear();
                return;
            }
            _ => {}
        }
        if self.heard.len() >= MAX_HEARD {
            // The device talks without ever sending a placement. Keep the latest half.
            let mut left = MAX_HEARD / 2;
            self.heard.retain(|observed| {
                left = left.saturating_sub(1);
                let identifies_board = matches!(
                    observed.observation,
                    Observation::Opened | Observation::Identified(_)
                );
                left == 0 || identifies_board
            });
        }
        self.heard.push(observed);
    }
}

/// Identity of a board on a bus, where the address is the serial number.
pub(super) fn identity_at(address: BusAddress) -> Identity {
    Identity {
        serial: Some(address.to_string()),
        ..Identity::default()
    }
}
