//! Connection and identity of a board.

use kiebitz_hardware::{Identity, Observation};
use kiebitz_protocol::BatteryStatus;

use crate::events::{EventKind, version_text};

/// Tracks the connection and identity of the board on one port.
#[derive(Debug)]
pub(crate) struct Presence {
    port: String,
    identity: Identity,
    connected: bool,
    /// Charge of the board's own battery in percent; `None` if it has none or does not report it.
    battery: Option<u8>,
}

impl Presence {
    pub(crate) fn new() -> Self {
        Self {
            port: String::new(),
            identity: Identity::default(),
            connected: false,
            battery: None,
        }
    }

    pub(crate) fn sit(&mut self, port: &str) {
        port.clone_into(&mut self.port);
    }

    /// Handles an observation. A board counts as connected once it has sent its placement: by then it has identified
    /// itself if it was queried.
    pub(crate) fn observe(&mut self, observation: &Observation) -> Option<EventKind> {
        match observation {
            Observation::Identified(identity) => {
                self.identity.clone_from(identity);
                None
            }
            Observation::Battery(status) => {
                self.battery = (status.percent != BatteryStatus::UNKNOWN).then_some(status.percent);
                None
            }
            Observation::Board { .. } if !self.connected => {
                self.connected = true;
                Some(EventKind::BoardConnected {
                    port: self.port.clone(),
                    serial: self.serial().map(str::to_owned),
                    version: self.version().map(version_text),
                    orientation: None,
                })
            }
            Observation::Closed { reason } => {
                self.battery = None;
                core::mem::take(&mut self.connected).then(|| EventKind::BoardDisconnected {
                    reason: reason.clone(),
                })
            }
            _ => None,
        }
    }

    pub(crate) const fn is_connected(&self) -> bool {
        self.connected
    }

    pub(crate) const fn battery(&self) -> Option<u8> {
        self.battery
    }

    /// Firmware version, major and minor number. A board on a bus reports it after its placement.
    pub(crate) const fn version(&self) -> Option<(u8, u8)> {
        self.identity.version
    }

    pub(crate) fn port(&self) -> &str {
        &self.port
    }

    pub(crate) fn serial(&self) -> Option<&str> {
        self.identity
            .long_serial
            .as_deref()
            .or(self.identity.serial.as_deref())
    }
}
