//! One line of the hall: a port, and the boards on it.

use std::collections::BTreeMap;

use kiebitz_hardware::{Identity, Line, Observation, Observed, Place};
use kiebitz_protocol::BusAddress;

/// A port, what drives it, and the boards on it.
#[derive(Debug)]
pub(super) struct HallLine {
    pub(super) port: String,
    pub(super) line: Line,
    pub(super) places: BTreeMap<Place, LinePlace>,
}

/// A place on a line, and the board there.
#[derive(Debug, Default)]
pub(super) struct LinePlace {
    /// The board there, once it is known which.
    pub(super) board: Option<String>,
    pub(super) identity: Identity,
    /// What was observed before that.
    pub(super) heard: Vec<Observed>,
}

/// At most so much is kept of a board that has not shown what stands on it: a board does so within two seconds, in which
/// it cannot report more.
const MAX_HEARD: usize = 512;

impl HallLine {
    pub(super) fn new(port: &str, line: Line) -> Self {
        Self {
            port: port.to_owned(),
            line,
            places: BTreeMap::new(),
        }
    }

    /// The only board on this line, once it is known which.
    pub(super) fn alone(&self) -> Option<&str> {
        self.places.get(&Place::Alone)?.board.as_deref()
    }

    /// Whether a board is on this line.
    pub(super) fn has(&self, board: &str) -> bool {
        let mut places = self.places.values();
        places.any(|line_place| line_place.board.as_deref() == Some(board))
    }
}

impl LinePlace {
    /// Keeps what was observed before it is known which board is there.
    pub(super) fn hear(&mut self, observed: Observed) {
        match &observed.observation {
            Observation::Identified(identity) => {
                self.identity.clone_from(identity);
                // It has all that the one before had.
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
            // It talks and never shows what stands on it: the latest of what it says will do.
            let mut left = MAX_HEARD / 2;
            self.heard.retain(|observed| {
                left = left.saturating_sub(1);
                let says_who = matches!(
                    observed.observation,
                    Observation::Opened | Observation::Identified(_)
                );
                left == 0 || says_who
            });
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
