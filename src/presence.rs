//! Whether a board is there, and which.

use kiebitz_hardware::{Identity, Observation};

use crate::event::EventKind;

/// Follows the coming and going of the board on one port.
#[derive(Debug)]
pub(crate) struct Presence {
    port: String,
    identity: Identity,
    connected: bool,
}

impl Presence {
    pub(crate) fn new() -> Self {
        Self {
            port: String::new(),
            identity: Identity::default(),
            connected: false,
        }
    }

    /// The board is on that port from now on.
    pub(crate) fn sit(&mut self, port: &str) {
        port.clone_into(&mut self.port);
    }

    /// A board counts as connected once it has told its placement: by then it has told who it is, if it was asked.
    pub(crate) fn observe(&mut self, observation: &Observation) -> Option<EventKind> {
        match observation {
            Observation::Identified(identity) => {
                self.identity.clone_from(identity);
                None
            }
            Observation::Board { .. } if !self.connected => {
                self.connected = true;
                Some(EventKind::BoardConnected {
                    port: self.port.clone(),
                    serial: self.serial().map(str::to_owned),
                    version: self
                        .identity
                        .version
                        .map(|(major, minor)| format!("{major}.{minor}")),
                    orientation: None,
                })
            }
            Observation::Closed { reason } if self.connected => {
                self.connected = false;
                Some(EventKind::BoardDisconnected {
                    reason: reason.clone(),
                })
            }
            _ => None,
        }
    }

    pub(crate) fn serial(&self) -> Option<&str> {
        self.identity
            .long_serial
            .as_deref()
            .or(self.identity.serial.as_deref())
    }
}
