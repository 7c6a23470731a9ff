//! What boards are called, and what is played on them.

use core::fmt;
use core::str::FromStr;
use std::path::{Path, PathBuf};

use kiebitz_hardware::Identity;
use thiserror::Error;

use crate::laws::Regulations;

/// How a board gets its name and the regulations that apply to it.
#[derive(Debug, Clone)]
pub enum Names {
    /// For a replay: a board is named after the interface of the capture; on a bus, after its serial number. If the
    /// interface is named by the path of a port, as `kiebitz run` records it, the board gets the name that it had live.
    Recorded,
    /// For a replay with a roster of its own.
    RecordedAs(Roster),
    /// For live boards: the name of the roster, else the serial number, else the port. Of a board's two serial numbers
    /// the one of five digits counts. It is also the board's address on a bus, so the name does not depend on the wiring.
    Configured(Roster),
}

/// The boards that have a name of their own, and the regulations of the event.
#[derive(Debug, Clone, Default)]
pub struct Roster {
    /// The named boards.
    pub boards: Vec<RosterEntry>,
    /// Regulations of all other boards.
    pub regulations: Regulations,
}

/// A board with a name of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct RosterEntry {
    /// How the board is recognised.
    pub known_by: KnownBy,
    /// The name, unique in the roster.
    pub name: String,
    /// The regulations of its games.
    pub regulations: Regulations,
}

/// How a board is recognised.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum KnownBy {
    /// By its serial number, wherever it is plugged in.
    Serial(Serial),
    /// By the absolute path of its port. Does not apply to ports in bus mode.
    Port(PathBuf),
}

/// A board's serial number. Boards report it in five digits or in ten; leading zeros do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Serial(u64);

/// A text that is not a serial number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a serial number has up to ten digits, as in \"01025\"; `kiebitz boards` shows it")]
pub struct NoSerial;

const LONGEST_SERIAL: usize = 10;

impl FromStr for Serial {
    type Err = NoSerial;

    fn from_str(text: &str) -> Result<Self, NoSerial> {
        let digits = text.len() <= LONGEST_SERIAL && text.bytes().all(|byte| byte.is_ascii_digit());
        // Refuses the empty text as well.
        let number = text.parse().map_err(|_| NoSerial)?;
        digits.then_some(Self(number)).ok_or(NoSerial)
    }
}

impl fmt::Display for Serial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:05}", self.0)
    }
}

impl Roster {
    /// The name of a board. A name for the first serial number precedes one for the next, and both precede a name for the
    /// port. `None` if the roster does not name the board.
    #[must_use]
    pub fn board_name<'s>(&self, serials: impl IntoIterator<Item = &'s str>, port: &str) -> Option<&str> {
        let serials = serials.into_iter().filter_map(|serial| serial.parse().ok());
        let known_by = |known: &KnownBy| self.boards.iter().find(|board| board.known_by == *known);
        let found = serials
            .map(KnownBy::Serial)
            .find_map(|serial| known_by(&serial))
            .or_else(|| known_by(&KnownBy::Port(port.into())));
        found.map(|board| board.name.as_str())
    }

    /// The regulations of the board of that name.
    fn regulations(&self, name: &str) -> &Regulations {
        let board = self.boards.iter().find(|board| board.name == name);
        board.map_or(&self.regulations, |board| &board.regulations)
    }
}

/// The serial numbers that a board reports, the one of five digits first.
pub fn serials(identity: &Identity) -> impl Iterator<Item = &str> {
    let serials = [&identity.serial, &identity.long_serial];
    serials.into_iter().flatten().map(String::as_str)
}

impl Names {
    /// Whether a board alone on its line has a name before it identifies itself.
    pub(super) fn known_beforehand(&self, port: &str) -> bool {
        match self {
            Self::Recorded => !is_path(port),
            Self::RecordedAs(roster) => roster.boards.is_empty() && !is_path(port),
            Self::Configured(_) => false,
        }
    }

    /// The name of a board; on a bus its address is its serial number.
    pub(super) fn of(&self, identity: &Identity, port: &str, on_bus: bool) -> String {
        let known = match self {
            Self::Recorded => None,
            Self::RecordedAs(roster) | Self::Configured(roster) => roster.board_name(serials(identity), port),
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

    /// The regulations of the board of that name.
    #[must_use]
    pub fn regulations(&self, name: &str) -> Regulations {
        match self {
            Self::Recorded => Regulations::default(),
            Self::RecordedAs(roster) | Self::Configured(roster) => roster.regulations(name).clone(),
        }
    }

    /// The names that are configured.
    pub(super) fn configured(&self) -> impl Iterator<Item = &str> {
        let roster = match self {
            Self::Recorded => None,
            Self::RecordedAs(roster) | Self::Configured(roster) => Some(roster),
        };
        let boards = roster.into_iter().flat_map(|roster| &roster.boards);
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
        let names = Names::Configured(Roster::default());
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
        for replayed in [Names::Recorded, Names::RecordedAs(Roster::default())] {
            for (port, on_bus) in [("/dev/ttyUSB0", false), ("/dev/ttyS0", true)] {
                let live = Names::Configured(Roster::default()).of(&board, port, on_bus);
                assert_eq!(replayed.of(&board, port, on_bus), live);
                assert!(!replayed.known_beforehand(port));
            }
            assert_eq!(replayed.of(&board, "board-3", false), "board-3");
            assert!(replayed.known_beforehand("board-3"));
        }
    }

    #[test]
    fn names_given_to_either_number_hold() {
        let board = |serial: &str, name: &str| RosterEntry {
            known_by: KnownBy::Serial(serial.parse().expect("a serial number")),
            name: name.to_owned(),
            regulations: Regulations::default(),
        };
        let names = Names::Configured(Roster {
            boards: vec![board("3000001025", "long"), board("1026", "short")],
            ..Roster::default()
        });
        let of = |serial, long_serial| names.of(&identity(serial, long_serial), "/dev/ttyUSB0", false);
        assert_eq!(of(Some("01025"), Some("3000001025")), "long");
        assert_eq!(of(Some("01026"), Some("3000001026")), "short");
        assert_eq!(of(Some("01027"), Some("3000001027")), "01027");
    }

    #[test]
    fn serial_number_is_the_same_in_five_and_in_ten_digits() {
        let serial = |text: &str| text.parse::<Serial>();
        assert_eq!(serial("01025"), serial("0000001025"));
        assert_eq!(
            serial("9999999999").map(|serial| serial.to_string()),
            Ok("9999999999".to_owned())
        );
        assert_eq!(
            serial("01025").map(|serial| serial.to_string()),
            Ok("01025".to_owned())
        );
        for text in ["", "12345678901", "+1025", "-1", "1025 ", "abc", "٣"] {
            assert_eq!(serial(text), Err(NoSerial), "{text:?}");
        }
    }
}
