//! The configuration: one TOML file, every key of it optional.
//!
//! systemd/kiebitz.toml is the example: it explains each key and shows its default. A file with a mistake is refused with
//! the file's name, the line, and its text.

mod document;
mod event;
#[cfg(target_os = "linux")]
mod outputs;
mod state;

use core::time::Duration;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use kiebitz_game::hall::{Roster, RosterEntry};
use kiebitz_game::laws::Regulations;
use kiebitz_hardware::capture::LineMode;
#[cfg(target_os = "linux")]
use kiebitz_hardware::port::PortSettings;
use serde::Deserialize;
use tracing_subscriber::filter::{LevelFilter, Targets};

use crate::outputs::mqtt::{MqttConfig, Prefix, host_name, is_open_to_all};
use crate::text_file;

pub use crate::outputs::alarm::{AlarmKind, AlarmSettings, AlarmTo};
pub use crate::outputs::broadcast::{Publish, Target};
pub use crate::outputs::desk::DeskSettings;
pub use crate::outputs::lichess::Lichess;
pub use crate::outputs::livechess::LiveChessSettings;
pub use crate::outputs::webhook::{Webhook, WebhookContent};
pub use crate::settings::{ConfigError, Mistake, Name, NameError, NoUsbId, UsbId};
pub(crate) use event::RulesTable;
pub use kiebitz_game::hall::{KnownBy, NoSerial, Serial};

/// What the daemon is to do.
///
/// ```
/// use kiebitz::config::{Config, PortMode};
///
/// let text = r#"
/// [[port]]
/// path = "/dev/ttyS0"
/// mode = "bus"
///
/// [[board]]
/// serial = "01025"
/// name = "board-1"
/// "#;
/// let config = Config::parse("kiebitz.toml".as_ref(), text)?;
/// assert_eq!(config.ports.listed[0].mode, PortMode::Bus);
/// assert_eq!(config.board_name(["0000001025"], "/dev/ttyS0").as_deref(), Some("board-1"));
/// # Ok::<(), kiebitz::config::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Config {
    /// The daemon itself.
    pub daemon: DaemonSettings,
    /// What is played on all boards, unless a board says otherwise.
    pub event: Regulations,
    /// The broker, with the prefix, the daemon's name and the delay for spectators; `None`: nothing is published.
    pub mqtt: Option<MqttConfig>,
    /// Where the status is served, on this computer alone; `None`: nowhere.
    pub http: Option<SocketAddr>,
    /// The files of pairings and players, absolute paths.
    pub pairings: Vec<PathBuf>,
    /// Where the files of the broadcast go; `None`: nowhere.
    pub publish: Option<Publish>,
    /// Broadcasting on Lichess; `None`: not.
    pub lichess: Option<Lichess>,
    /// Addresses that are told what happens. No two have the same name.
    pub webhooks: Vec<Webhook>,
    /// Who is told when a person is needed. No two have the same name.
    pub alarms: Vec<AlarmSettings>,
    /// The prefixes of the halls that `kiebitz hub` listens to; none: that of the broker.
    pub halls: Vec<Prefix>,
    /// What programs know from LiveChess; `None`: it is not served.
    pub livechess: Option<LiveChessSettings>,
    /// Where arbiters work; `None`: it is not served.
    pub desk: Option<DeskSettings>,
    /// How long events are kept.
    pub journal: JournalSettings,
    /// The recording of all bytes.
    pub recorder: RecorderSettings,
    /// Where boards are looked for.
    pub ports: PortsSettings,
    /// Boards with names of their own. No two have the same name, serial number or port.
    pub boards: Vec<NamedBoard>,
    /// What clocks display between games.
    pub clock_messages: ClockMessages,
    /// The part of the text that says how boards are called and what is played on them, as a configuration of its own:
    /// what a daemon knew then follows from it, and there is nothing in it that others should not see.
    pub of_boards: String,
}

/// The daemon itself.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DaemonSettings {
    /// Its name in the topics; `None`: the machine's host name.
    #[serde(deserialize_with = "crate::settings::name")]
    pub name: Option<Name>,
    /// Where its files are, absolute; `None`: see [`Config::state_directory`].
    #[serde(deserialize_with = "crate::settings::path")]
    pub state_directory: Option<PathBuf>,
    /// What is logged.
    #[serde(deserialize_with = "document::log")]
    pub log: Targets,
}

/// How long events are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JournalSettings {
    /// In days, at least one.
    #[serde(deserialize_with = "document::days")]
    pub keep_days: u32,
}

/// The recording of all bytes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecorderSettings {
    /// Whether bytes are recorded.
    pub enabled: bool,
    /// Where to, absolute; `None`: see [`Config::recordings`].
    #[serde(deserialize_with = "crate::settings::path")]
    pub directory: Option<PathBuf>,
    /// The largest total size of all recordings in bytes, at least 10 MB.
    #[serde(deserialize_with = "document::budget")]
    pub budget: u64,
}

/// Where boards are looked for.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PortsSettings {
    /// Whether boards on USB are found automatically.
    pub usb: bool,
    /// USB ids of boards, besides those that kiebitz knows.
    #[serde(deserialize_with = "document::usb_ids")]
    pub usb_ids: Vec<UsbId>,
    /// Ports that are never opened.
    #[serde(deserialize_with = "document::ignored")]
    pub ignore: Vec<Ignored>,
    /// Ports that are opened, whatever is on them. No two have the same path, and no path is among those ignored.
    #[serde(skip)]
    pub listed: Vec<ListedPort>,
}

/// A port that is never opened, even where it is found or listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ignored {
    /// By its path, absolute, or its name in /dev/serial/by-id or /dev.
    Path(PathBuf),
    /// By the USB id: all ports of such devices.
    Usb(UsbId),
}

/// A port that is opened, whatever is on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedPort {
    /// Its path, absolute, as in "/dev/serial/by-id/usb-DGT-if00".
    pub path: PathBuf,
    /// Whether it has one board, or boards in bus mode.
    pub mode: PortMode,
}

/// Whether a port has one board, or boards in bus mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PortMode {
    /// To be detected.
    #[default]
    Auto,
    /// One board.
    Single,
    /// Many boards in bus mode.
    Bus,
}

impl PortMode {
    /// How the boards speak; `None`: to be found out.
    #[must_use]
    pub fn line_mode(self) -> Option<LineMode> {
        match self {
            Self::Auto => None,
            Self::Single => Some(LineMode::Single),
            Self::Bus => Some(LineMode::Bus),
        }
    }
}

/// A board with a name of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedBoard {
    /// Its name in topics, events and files.
    pub name: Name,
    /// How it is recognised.
    pub known_by: KnownBy,
    /// What is played on it.
    pub regulations: Regulations,
    /// How much later spectators get what is played on it, at most two hours; `None`: as on other boards.
    pub public_delay: Option<Duration>,
    /// The table that it stands on, from 1; `None`: the number at the end of its name.
    pub table: Option<u32>,
}

/// What clocks display between games.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClockMessages {
    /// Whether anything is shown.
    pub enabled: bool,
    /// The texts, one after another.
    pub show: Vec<ClockText>,
}

/// A text on a clock's display.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockText {
    /// The board's name.
    Name,
    /// That kiebitz watches.
    Ok,
    /// On which side White sits.
    WhiteSide,
}

/// The configuration's file if none is named.
pub const USUAL_FILE: &str = "/etc/kiebitz.toml";

impl Config {
    /// The configuration of a file.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or has a mistake; the message names file and line.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = text_file::read(path).map_err(|source| ConfigError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(path, &text)
    }

    /// The configuration of the file named, else of /etc/kiebitz.toml, and if that does not exist the defaults.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn read_or_default(path: Option<&Path>) -> Result<Self, ConfigError> {
        Self::file(path).map_or_else(|| Ok(Self::default()), Self::read)
    }

    /// The file that [`read_or_default`](Self::read_or_default) reads; `None`: there is none.
    #[must_use]
    pub fn file(path: Option<&Path>) -> Option<&Path> {
        let usual = Path::new(USUAL_FILE);
        path.or_else(|| usual.exists().then_some(usual))
    }

    /// The configuration in `text`; `path` is its file's name, for the errors.
    ///
    /// # Errors
    ///
    /// When it has a mistake; the message names file and line.
    pub fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        document::parse(text).map_err(|wrong| ConfigError::Wrong(Mistake::new(path, text, wrong)))
    }

    /// The file that [`read_or_default`](Self::read_or_default) has read this from, if the broker's password is in it and
    /// everyone on this computer may read it.
    #[must_use]
    pub fn exposed_file<'p>(&self, path: Option<&'p Path>) -> Option<&'p Path> {
        let secret = self.mqtt.as_ref().is_some_and(MqttConfig::has_password);
        let file = path.unwrap_or_else(|| Path::new(USUAL_FILE));
        (secret && is_open_to_all(file)).then_some(file)
    }

    /// The named boards and the regulations, for the hall.
    #[must_use]
    pub fn roster(&self) -> Roster {
        let boards = self.boards.iter().map(|board| RosterEntry {
            known_by: board.known_by.clone(),
            name: board.name.to_string(),
            regulations: board.regulations.clone(),
        });
        Roster {
            boards: boards.collect(),
            regulations: self.event.clone(),
        }
    }

    /// The configured name of the board with these serial numbers on that port: see [`Roster::board_name`].
    #[must_use]
    pub fn board_name<'s>(&self, serials: impl IntoIterator<Item = &'s str>, port: &str) -> Option<String> {
        self.roster().board_name(serials, port).map(str::to_owned)
    }

    /// The daemon's name, else that of the computer.
    #[must_use]
    pub fn host(&self) -> String {
        match (&self.mqtt, &self.daemon.name) {
            (Some(broker), _) => broker.daemon().to_owned(),
            (None, Some(name)) => name.as_str().to_owned(),
            (None, None) => host_name(),
        }
    }

    /// What is played on the board of that name.
    #[must_use]
    pub fn regulations(&self, name: &str) -> &Regulations {
        self.board(name).map_or(&self.event, |board| &board.regulations)
    }

    /// How much later spectators get what is played on the board of that name.
    #[must_use]
    pub fn public_delay(&self, name: &str) -> Duration {
        let usual = self.mqtt.as_ref().map(MqttConfig::public_delay);
        let own = self.board(name).and_then(|board| board.public_delay);
        own.or(usual).unwrap_or_default()
    }

    /// The table of the board of that name; `None`: it has no number.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<u32> {
        let own = self.board(name).and_then(|board| board.table);
        own.or_else(|| crate::tournament::table_of(name))
    }

    fn board(&self, name: &str) -> Option<&NamedBoard> {
        self.boards.iter().find(|board| board.name.as_str() == name)
    }
}

#[cfg(target_os = "linux")]
impl PortsSettings {
    /// The settings for listing the system's ports.
    #[must_use]
    pub fn settings(&self) -> PortSettings {
        let usb = |id: &UsbId| kiebitz_hardware::port::UsbId {
            vendor: id.vendor,
            product: id.product,
        };
        let mut settings = PortSettings {
            search: self.usb,
            usb: self.usb_ids.iter().map(usb).collect(),
            paths: self.listed.iter().map(|port| port.path.clone()).collect(),
            ..PortSettings::default()
        };
        for ignored in &self.ignore {
            match ignored {
                Ignored::Path(path) => settings.ignore.push(path.clone()),
                Ignored::Usb(id) => settings.ignore_usb.push(usb(id)),
            }
        }
        settings
    }
}

impl Default for DaemonSettings {
    fn default() -> Self {
        Self {
            name: None,
            state_directory: None,
            log: Targets::new().with_default(LevelFilter::INFO),
        }
    }
}

impl Default for JournalSettings {
    fn default() -> Self {
        Self { keep_days: 365 }
    }
}

impl Default for RecorderSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            directory: None,
            budget: 2_000_000_000,
        }
    }
}

impl Default for PortsSettings {
    fn default() -> Self {
        Self {
            usb: true,
            usb_ids: Vec::new(),
            ignore: Vec::new(),
            listed: Vec::new(),
        }
    }
}

impl Default for ClockMessages {
    fn default() -> Self {
        Self {
            enabled: false,
            show: vec![ClockText::Name, ClockText::Ok, ClockText::WhiteSide],
        }
    }
}

#[cfg(test)]
mod tests;
