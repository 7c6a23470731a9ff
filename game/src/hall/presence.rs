//! Whether a board is connected, and which one it is.

use kiebitz_hardware::{Identity, Observation};
use kiebitz_protocol::BatteryStatus;

use crate::events::{EventKind, version_text};

/// Follows the coming and going of the board on one port.
#[derive(Debug)]
pub(crate) struct Presence {
    port: String,
    identity: Identity,
    connected: bool,
    /// Charge of the board's own battery in percent; `None`: it has none, or does not report it.
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

    /// The board is on that port from now on.
    pub(crate) fn sit(&mut self, port: &str) {
        port.clone_into(&mut self.port);
    }

    /// A board counts as connected once it has sent its placement: by then it has identified itself, if it was asked.
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

    /// Whether the board is there and has sent its placement.
    pub(crate) const fn is_connected(&self) -> bool {
        self.connected
    }

    /// Charge of the board's own battery in percent, 0 to 100; `None`: it has none, or does not report it.
    pub(crate) const fn battery(&self) -> Option<u8> {
        self.battery
    }

    /// Of the board's firmware, major and minor number. A board on a bus gives it after its placement.
    pub(crate) const fn version(&self) -> Option<(u8, u8)> {
        self.identity.version
    }

    /// Where the board is, or was, plugged in; empty: nowhere yet.
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
