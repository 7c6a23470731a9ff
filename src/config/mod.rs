//! The configuration: one TOML file, in which every key is optional.
//!
//! The example systemd/kiebitz.toml explains each key and shows its default. A file with a mistake is refused with the
//! name of the file, the line number and the text of the line.

mod document;
mod event;
mod hall;
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

use crate::outputs::mqtt::{MqttConfig, host_name};
use crate::secret_file::is_open_to_all;
use crate::text_file;
use crate::tournament::TieBreak;

pub use self::hall::HubHall;
pub use crate::outputs::alarm::{AlarmKind, AlarmSettings, AlarmTo};
pub use crate::outputs::broadcast::{Fingerprint, Protocol, Publish, ServerFolder, Target};
pub use crate::outputs::desk::DeskSettings;
pub use crate::outputs::lichess::Lichess;
pub use crate::outputs::livechess::LiveChessSettings;
pub use crate::outputs::shared::proxies::Proxies;
pub use crate::outputs::webhook::{Webhook, WebhookContent};
pub use crate::settings::{ConfigError, Mistake, Name, NameError, NoUsbId, UsbId};
pub(crate) use event::RulesTable;
pub use kiebitz_game::hall::{KnownBy, NoSerial, Serial};

/// The configuration of the daemon and the other commands.
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
    /// Settings of the daemon itself.
    pub daemon: DaemonSettings,
    /// Regulations for all boards, unless a board has its own.
    pub event: Regulations,
    /// Broker, with topic prefix, daemon's name and delay for spectators. If `None`, nothing is published over MQTT.
    pub mqtt: Option<MqttConfig>,
    /// Address of the status page, on this computer only. If `None`, the page is not served.
    pub http: Option<SocketAddr>,
    /// Files of pairings and players, as absolute paths.
    pub pairings: Vec<PathBuf>,
    /// Tie-breaks of the standings. If `None`, they follow from the kind of event.
    pub tie_breaks: Option<Vec<TieBreak>>,
    /// Targets of the broadcast. If `None`, there is no broadcast.
    pub publish: Option<Publish>,
    /// Settings of broadcasts on Lichess. If `None`, nothing is sent to Lichess.
    pub lichess: Option<Lichess>,
    /// Webhooks, with unique names.
    pub webhooks: Vec<Webhook>,
    /// Alarms for situations that need a person, with unique names.
    pub alarms: Vec<AlarmSettings>,
    /// Hall of the daemon, as pairing files name it. If `None`, the daemon uses the tables that only one hall has.
    pub hall: Option<String>,
    /// Halls of `kiebitz hub`. If empty, the prefix of the broker is that of the only hall.
    pub halls: Vec<HubHall>,
    /// Settings of the LiveChess emulation. If `None`, it is not served.
    pub livechess: Option<LiveChessSettings>,
    /// Settings of the arbiters' desk. If `None`, the desk is not served.
    pub desk: Option<DeskSettings>,
    /// Settings of the journal.
    pub journal: JournalSettings,
    /// Settings of the recorder.
    pub recorder: RecorderSettings,
    /// Settings of the search for ports.
    pub ports: PortsSettings,
    /// Named boards. Names, serial numbers and ports are unique.
    pub boards: Vec<NamedBoard>,
    /// Messages on clocks between games.
    pub clock_messages: ClockMessages,
    /// The tables about boards and rules, as a configuration of its own. The journal stores this text, so that a later
    /// replay uses the names and rules that applied at the time. It contains no secrets.
    pub of_boards: String,
}

/// Settings of the daemon itself.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DaemonSettings {
    /// Name of the daemon in topics. If `None`, the host name is used.
    #[serde(deserialize_with = "crate::settings::name")]
    pub name: Option<Name>,
    /// Absolute path of the state directory. If `None`, see [`Config::state_directory`].
    #[serde(deserialize_with = "crate::settings::path")]
    pub state_directory: Option<PathBuf>,
    /// Log levels by module.
    #[serde(deserialize_with = "document::log")]
    pub log: Targets,
}

/// Settings of the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JournalSettings {
    /// Time for which events are kept, in days, at least 1.
    #[serde(deserialize_with = "document::days")]
    pub keep_days: u32,
}

/// Settings of the recorder.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecorderSettings {
    /// Whether all bytes are recorded.
    pub enabled: bool,
    /// Absolute path of the directory for recordings. If `None`, see [`Config::recordings`].
    #[serde(deserialize_with = "crate::settings::path")]
    pub directory: Option<PathBuf>,
    /// Limit of the total size of all recordings, in bytes, at least 10 MB.
    #[serde(deserialize_with = "document::budget")]
    pub budget: u64,
}

/// Settings of the search for ports.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PortsSettings {
    /// Whether boards on USB are found automatically.
    pub usb: bool,
    /// USB ids of boards, in addition to the ids that kiebitz knows.
    #[serde(deserialize_with = "document::usb_ids")]
    pub usb_ids: Vec<UsbId>,
    /// Ports that are never opened.
    #[serde(deserialize_with = "document::ignored")]
    pub ignore: Vec<Ignored>,
    /// Ports that are always opened. The paths are unique and are not among the ignored ones.
    #[serde(skip)]
    pub listed: Vec<ListedPort>,
}

/// A port that is never opened, even if it is found or listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ignored {
    /// The port with this absolute path, or this name in /dev/serial/by-id or /dev.
    Path(PathBuf),
    /// All ports of devices with this USB id.
    Usb(UsbId),
}

/// A port that is always opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedPort {
    /// Absolute path, such as "/dev/serial/by-id/usb-DGT-if00".
    pub path: PathBuf,
    /// Mode of the line.
    pub mode: PortMode,
}

/// Mode of a line: one board, or a bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PortMode {
    /// The mode is detected.
    #[default]
    Auto,
    /// One board.
    Single,
    /// Any number of boards in bus mode.
    Bus,
}

impl PortMode {
    /// Returns the mode of the line; `None` if it has to be detected.
    #[must_use]
    pub fn line_mode(self) -> Option<LineMode> {
        match self {
            Self::Auto => None,
            Self::Single => Some(LineMode::Single),
            Self::Bus => Some(LineMode::Bus),
        }
    }
}

/// A board with a configured name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedBoard {
    /// Name in topics, events and file names.
    pub name: Name,
    /// Serial number or port by which the board is identified.
    pub known_by: KnownBy,
    /// Regulations for the board.
    pub regulations: Regulations,
    /// Delay for spectators of this board, at most two hours. If `None`, the general delay applies.
    pub public_delay: Option<Duration>,
    /// Table number of the board, counted from 1. If `None`, the number at the end of the name is used.
    pub table: Option<u32>,
}

/// Messages on the displays of clocks between games.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClockMessages {
    /// Whether messages are shown.
    pub enabled: bool,
    /// Messages to show in turn.
    pub show: Vec<ClockText>,
}

/// A message on the display of a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockText {
    /// The name of the board.
    Name,
    /// A confirmation that kiebitz watches the board.
    Ok,
    /// The side on which White sits.
    WhiteSide,
}

/// Configuration file that is read if no other file is named.
pub const USUAL_FILE: &str = "/etc/kiebitz.toml";

impl Config {
    /// Reads a configuration file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read or has a mistake. The message names file and line.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = text_file::read(path).map_err(|source| ConfigError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(path, &text)
    }

    /// Reads the named file, or else /etc/kiebitz.toml. Returns the defaults if that file does not exist.
    ///
    /// # Errors
    ///
    /// Fails like [`read`](Self::read).
    pub fn read_or_default(path: Option<&Path>) -> Result<Self, ConfigError> {
        Self::file(path).map_or_else(|| Ok(Self::default()), Self::read)
    }

    /// Returns the file that [`read_or_default`](Self::read_or_default) reads; `None` if it uses the defaults.
    #[must_use]
    pub fn file(path: Option<&Path>) -> Option<&Path> {
        let usual = Path::new(USUAL_FILE);
        path.or_else(|| usual.exists().then_some(usual))
    }

    /// Parses the text of a configuration. `path` is the file name for error messages.
    ///
    /// # Errors
    ///
    /// Fails if the text has a mistake. The message names file and line.
    pub fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        document::parse(text).map_err(|wrong| ConfigError::Wrong(Mistake::new(path, text, wrong)))
    }

    /// Returns the file from which [`read_or_default`](Self::read_or_default) has read this configuration, if it
    /// contains the broker's password and every user of the computer may read it.
    #[must_use]
    pub fn exposed_file<'p>(&self, path: Option<&'p Path>) -> Option<&'p Path> {
        let secret = self.mqtt.as_ref().is_some_and(MqttConfig::has_password);
        let file = path.unwrap_or_else(|| Path::new(USUAL_FILE));
        (secret && is_open_to_all(file)).then_some(file)
    }

    /// Returns the named boards and the regulations, for the hall.
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

    /// Returns the configured name of the board with these serial numbers on this port; see [`Roster::board_name`].
    #[must_use]
    pub fn board_name<'s>(&self, serials: impl IntoIterator<Item = &'s str>, port: &str) -> Option<String> {
        self.roster().board_name(serials, port).map(str::to_owned)
    }

    /// Returns the daemon's name, or else the host name.
    #[must_use]
    pub fn host(&self) -> String {
        match (&self.mqtt, &self.daemon.name) {
            (Some(broker), _) => broker.daemon().to_owned(),
            (None, Some(name)) => name.as_str().to_owned(),
            (None, None) => host_name(),
        }
    }

    /// Returns the regulations for a board.
    #[must_use]
    pub fn regulations(&self, name: &str) -> &Regulations {
        self.board(name).map_or(&self.event, |board| &board.regulations)
    }

    /// Returns the delay for spectators of a board.
    #[must_use]
    pub fn public_delay(&self, name: &str) -> Duration {
        let usual = self.mqtt.as_ref().map(MqttConfig::public_delay);
        let own = self.board(name).and_then(|board| board.public_delay);
        own.or(usual).unwrap_or_default()
    }

    /// Returns the table of a board; `None` if neither the configuration nor its name has a number.
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
    /// Returns the settings for listing the system's ports.
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
