//! Names and regulations of boards.

use core::fmt;
use core::str::FromStr;
use std::path::{Path, PathBuf};

use kiebitz_hardware::Identity;
use thiserror::Error;

use crate::laws::Regulations;

/// Source of the names of boards and of their regulations.
#[derive(Debug, Clone)]
pub enum Names {
    /// For a replay: a board is named after the interface of the recording, on a bus after its serial number. If the
    /// interface is named by the path of a port, as `kiebitz run` records it, the board gets the same name as live.
    Recorded,
    /// For a replay with its own roster.
    RecordedAs(Roster),
    /// For live boards: the name in the roster, else the serial number, else the port. Of a board's two serial numbers,
    /// the one of five digits is used. It is also the board's address on a bus, so the name does not depend on the
    /// wiring.
    Configured(Roster),
}

/// The boards with configured names, and the regulations of the tournament.
#[derive(Debug, Clone, Default)]
pub struct Roster {
    /// The boards with configured names.
    pub boards: Vec<RosterEntry>,
    /// Regulations of all other boards.
    pub regulations: Regulations,
}

/// A board with a configured name.
#[derive(Debug, Clone, PartialEq)]
pub struct RosterEntry {
    /// Property that identifies the board.
    pub known_by: KnownBy,
    /// Name of the board, unique in the roster.
    pub name: String,
    /// Regulations of the board's games.
    pub regulations: Regulations,
}

/// Property that identifies a board.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum KnownBy {
    /// The serial number, at any port.
    Serial(Serial),
    /// The absolute path of the port. Ignored for ports in bus mode.
    Port(PathBuf),
}

/// Serial number of a board. Boards report it with five digits or ten; leading zeros are ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Serial(u64);

/// The text is not a serial number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a serial number has up to ten digits, as in \"01025\"; `kiebitz boards` shows it")]
pub struct NoSerial;

const LONGEST_SERIAL: usize = 10;

impl FromStr for Serial {
    type Err = NoSerial;

    fn from_str(text: &str) -> Result<Self, NoSerial> {
        let digits = text.len() <= LONGEST_SERIAL && text.bytes().all(|byte| byte.is_ascii_digit());
        // Refuses the empty text as well, which passes the check above.
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
    /// Name of a board. The first serial number takes precedence over the next one, and both over the port. `None` if
    /// the roster does not name the board.
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

    fn regulations(&self, name: &str) -> &Regulations {
        let board = self.boards.iter().find(|board| board.name == name);
        board.map_or(&self.regulations, |board| &board.regulations)
    }
}

/// Serial numbers that a board reports, the one of five digits first.
pub fn serials(identity: &Identity) -> impl Iterator<Item = &str> {
    let serials = [&identity.serial, &identity.long_serial];
    serials.into_iter().flatten().map(String::as_str)
}

impl Names {
    /// Whether the name of a board alone on its line is known before the board identifies itself.
    pub(super) fn known_beforehand(&self, port: &str) -> bool {
        match self {
            Self::Recorded => !is_path(port),
            Self::RecordedAs(roster) => roster.boards.is_empty() && !is_path(port),
            Self::Configured(_) => false,
        }
    }

    /// Name of a board. On a bus, `identity` has the address as the serial number.
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
            // Parsing drops the leading zeros of ten-digit numbers.
            Some(serial) if as_live => serial
                .parse()
                .map_or_else(|_| serial.to_owned(), |serial: Serial| serial.to_string()),
            Some(serial) => serial.to_owned(),
            None => short(port),
        }
    }

    /// Regulations of a board, by its name.
    #[must_use]
    pub fn regulations(&self, name: &str) -> Regulations {
        match self {
            Self::Recorded => Regulations::default(),
            Self::RecordedAs(roster) | Self::Configured(roster) => roster.regulations(name).clone(),
        }
    }

    pub(super) fn configured(&self) -> impl Iterator<Item = &str> {
        let roster = match self {
            Self::Recorded => None,
            Self::RecordedAs(roster) | Self::Configured(roster) => Some(roster),
        };
        let boards = roster.into_iter().flat_map(|roster| &roster.boards);
        boards.map(|board| board.name.as_str())
    }

    /// Name of a board whose own name is taken by another board that is plugged in.
    pub(super) fn qualified(name: &str, port: &str) -> String {
        format!("{name}-{}", short(port))
    }

    /// Whether `name` may be the qualified name of a board whose name is `own`.
    pub(super) fn is_qualified(&self, name: &str, own: &str) -> bool {
        let rest = name.strip_prefix(own).and_then(|rest| rest.strip_prefix('-'));
        rest.is_some_and(|rest| !rest.is_empty()) && !self.configured().any(|known| known == name)
    }
}

/// Whether an interface is named by the path of its port, rather than by a name that a user chose.
fn is_path(port: &str) -> bool {
    port.starts_with('/')
}

/// File name of a port: "ttyUSB0" of "/dev/ttyUSB0".
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
    fn boards_recorded_by_the_daemon_keep_their_live_names() {
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
    fn names_for_either_serial_number_apply() {
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
