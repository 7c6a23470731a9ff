//! What boards are called.

use std::path::Path;

use crate::config::Config;

/// How boards come by their names.
#[derive(Debug, Clone)]
pub enum Names {
    /// In a replay: a board is called like the capture's interface, on a bus by its serial number.
    Recorded,
    /// As configured; else by the serial number, else by the port.
    Configured(Box<Config>),
}

impl Names {
    /// Whether a board alone on its line has a name before it says who it is.
    pub(super) fn known_beforehand(&self) -> bool {
        matches!(self, Self::Recorded)
    }

    /// The name of a board. `serial` is what it says of itself or, on a bus, what its address says.
    pub(super) fn of(&self, serial: Option<&str>, port: &str, on_bus: bool) -> String {
        let short = short(port);
        match self {
            Self::Recorded if on_bus => serial.unwrap_or(&short).to_owned(),
            Self::Recorded => port.to_owned(),
            Self::Configured(config) => {
                let known = config.board_name(serial, port).or(serial);
                known.unwrap_or(&short).to_owned()
            }
        }
    }

    /// The name of a board whose own one is taken by another that is plugged in as well.
    pub(super) fn another(name: &str, port: &str) -> String {
        format!("{name}-{}", short(port))
    }
}

/// "ttyUSB0" of "/dev/ttyUSB0".
fn short(port: &str) -> String {
    let file = Path::new(port).file_name();
    file.map_or_else(|| port.to_owned(), |file| file.to_string_lossy().into_owned())
}
