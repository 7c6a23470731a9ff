//! One serial line of the hall: a port and the boards on it.

use std::collections::BTreeMap;

use kiebitz_hardware::{Identity, Line, Observation, Observed, Place};
use kiebitz_protocol::BusAddress;

use super::boards::BoardId;

/// A port with its driver and the boards on it.
#[derive(Debug)]
pub(super) struct HallLine {
    pub(super) port: String,
    pub(super) line: Line,
    pub(super) places: BTreeMap<Place, LinePlace>,
}

#[derive(Debug, Default)]
pub(super) struct LinePlace {
    /// `None` until the board is identified.
    pub(super) board: Option<BoardId>,
    pub(super) identity: Identity,
    /// Observations from before the board was identified.
    pub(super) pending: Vec<Observed>,
}

/// Maximum number of stored observations of a board that has not sent its placement. A board sends its placement within
/// two seconds, in which it cannot report more than this.
const MAX_PENDING: usize = 512;

impl HallLine {
    pub(super) fn new(port: &str, line: Line) -> Self {
        Self {
            port: port.to_owned(),
            line,
            places: BTreeMap::new(),
        }
    }

    /// The only board on this line, if it is identified.
    pub(super) fn alone(&self) -> Option<BoardId> {
        self.places.get(&Place::Alone)?.board
    }

    pub(super) fn has(&self, board: BoardId) -> bool {
        let mut places = self.places.values();
        places.any(|line_place| line_place.board == Some(board))
    }
}

impl LinePlace {
    /// Stores an observation until the board is identified.
    pub(super) fn store(&mut self, observed: Observed) {
        match &observed.observation {
            Observation::Identified(identity) => {
                self.identity.clone_from(identity);
                // A later identity contains everything that the earlier ones had.
                let identifies =
                    |pending: &Observed| matches!(pending.observation, Observation::Identified(_));
                self.pending.retain(|pending| !identifies(pending));
            }
            Observation::Closed { .. } => {
                self.pending.clear();
                return;
            }
            _ => {}
        }
        if self.pending.len() >= MAX_PENDING {
            // The device never sends a placement. Keep the latest half, and the observations that identify the board.
            let mut left = MAX_PENDING / 2;
            self.pending.retain(|observed| {
                left = left.saturating_sub(1);
                let identifies_board = matches!(
                    observed.observation,
                    Observation::Opened | Observation::Identified(_)
                );
                left == 0 || identifies_board
            });
        }
        self.pending.push(observed);
    }
}

/// Identity of a board on a bus, where the address is the serial number.
pub(super) fn identity_at(address: BusAddress) -> Identity {
    Identity {
        serial: Some(address.to_string()),
        ..Identity::default()
    }
}
