//! What boards are called, and what is played on them.

use std::path::Path;

use kiebitz_hardware::Identity;

use crate::config::{Config, Serial};
use crate::laws::Regulations;

/// How boards come by their names and the Laws that apply.
#[derive(Debug, Clone)]
pub enum Names {
    /// In a replay: a board is called like the capture's interface, on a bus by its serial number. Where the interface is
    /// called by the path of a port, as `kiebitz run` records it, the board is called as it was live.
    Recorded,
    /// In a replay as well, where a configuration has names and Laws for the boards.
    RecordedAs(Box<Config>),
    /// As configured; else by the serial number, else by the port. The serial number is that of five digits, which
    /// is a board's address on a bus, so that a board keeps its name however it is wired.
    Configured(Box<Config>),
}

/// The serial numbers that a board reports, the one of five digits first.
pub(crate) fn serials(identity: &Identity) -> impl Iterator<Item = &str> {
    let serials = [&identity.serial, &identity.long_serial];
    serials.into_iter().flatten().map(String::as_str)
}

impl Names {
    /// Whether a board alone on its line has a name before it identifies itself.
    pub(super) fn known_beforehand(&self, port: &str) -> bool {
        match self {
            Self::Recorded => !is_path(port),
            Self::RecordedAs(config) => config.boards.is_empty() && !is_path(port),
            Self::Configured(_) => false,
        }
    }

    /// The name of a board; on a bus its address is its serial number.
    pub(super) fn of(&self, identity: &Identity, port: &str, on_bus: bool) -> String {
        let known = match self {
            Self::Recorded => None,
            Self::RecordedAs(config) | Self::Configured(config) => config.board_name(serials(identity), port),
        };
        if let Some(known) = known {
            return known.to_owned();
        }
        let as_live = matches!(self, Self::Configured(_)) || is_path(port);
        match serials(identity).next() {
            _ if !as_live && !on_bus => port.to_owned(),
            // The same number is also reported with leading zeros.
            Some(serial) if as_live => serial
                .parse()
                .map_or_else(|_| serial.to_owned(), |serial: Serial| serial.to_string()),
            Some(serial) => serial.to_owned(),
            None => short(port),
        }
    }

    /// What is played on the board of that name.
    pub(crate) fn regulations(&self, name: &str) -> Regulations {
        match self {
            Self::Recorded => Regulations::default(),
            Self::RecordedAs(config) | Self::Configured(config) => config.regulations(name).clone(),
        }
    }

    /// The names that are configured.
    pub(super) fn configured(&self) -> impl Iterator<Item = &str> {
        let config = match self {
            Self::Recorded => None,
            Self::RecordedAs(config) | Self::Configured(config) => Some(config),
        };
        let boards = config.into_iter().flat_map(|config| &config.boards);
        boards.map(|board| board.name.as_str())
    }

    /// The name for a board whose own name is taken by another one that is plugged in.
    pub(super) fn another(name: &str, port: &str) -> String {
        format!("{name}-{}", short(port))
    }

    /// Whether a board may be called `name` because its own name was taken.
    pub(super) fn is_another(&self, name: &str, own: &str) -> bool {
        let rest = name.strip_prefix(own).and_then(|rest| rest.strip_prefix('-'));
        rest.is_some_and(|rest| !rest.is_empty()) && !self.configured().any(|known| known == name)
    }
}

/// Whether an interface is called by the path of its port, and not by a name that somebody gave it.
fn is_path(port: &str) -> bool {
    port.starts_with('/')
}

/// "ttyUSB0" of "/dev/ttyUSB0".
fn short(port: &str) -> String {
    let file = Path::new(port).file_name();
    file.map_or_else(|| port.to_owned(), |file| file.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(serial: Option<&str>, long_serial: Option<&str>) -> Identity {
        Identity {
            serial: serial.map(str::to_owned),
            long_serial: long_serial.map(str::to_owned),
            ..Identity::default()
        }
    }

    #[test]
    fn boards_keep_their_names_however_they_are_wired() {
        let names = Names::Configured(Box::default());
        let on_bus = names.of(&identity(Some("01025"), None), "/dev/ttyS0", true);
        assert_eq!(on_bus, "01025");
        for (serial, long_serial) in [
            (Some("01025"), Some("0000001025")),
            (Some("01025"), Some("3000001025")),
            (Some("01025"), None),
            (None, Some("0000001025")),
        ] {
            let alone = names.of(&identity(serial, long_serial), "/dev/ttyUSB0", false);
            assert_eq!(alone, on_bus);
        }
        assert_eq!(names.of(&Identity::default(), "/dev/ttyUSB0", false), "ttyUSB0");
    }

    #[test]
    fn what_the_daemon_recorded_is_called_as_it_was_live() {
        let board = identity(Some("01025"), Some("0000001025"));
        for replayed in [Names::Recorded, Names::RecordedAs(Box::default())] {
            for (port, on_bus) in [("/dev/ttyUSB0", false), ("/dev/ttyS0", true)] {
                let live = Names::Configured(Box::default()).of(&board, port, on_bus);
                assert_eq!(replayed.of(&board, port, on_bus), live);
                assert!(!replayed.known_beforehand(port));
            }
            assert_eq!(replayed.of(&board, "board-3", false), "board-3");
            assert!(replayed.known_beforehand("board-3"));
        }
    }

    #[test]
    fn names_given_to_either_number_hold() {
        let text = "[[board]]\nserial = \"3000001025\"\nname = \"long\"\n[[board]]\nserial = \"1026\"\nname = \"short\"\n";
        let config = Config::parse("kiebitz.toml".as_ref(), text).expect("a configuration");
        let names = Names::Configured(Box::new(config));
        let of = |serial, long_serial| names.of(&identity(serial, long_serial), "/dev/ttyUSB0", false);
        assert_eq!(of(Some("01025"), Some("3000001025")), "long");
        assert_eq!(of(Some("01026"), Some("3000001026")), "short");
        assert_eq!(of(Some("01027"), Some("3000001027")), "01027");
    }
}
