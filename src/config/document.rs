//! The configuration file as it is written, and the checks of its values.

use core::ops::Range;
use core::str::FromStr;

use bytesize::ByteSize;
use kiebitz_game::hall::ROUNDS;
use kiebitz_game::laws::{
    DefaultTime, DrawnStart, Edition, Language, Mode, Regulations, Rounds, TimeControl,
};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use toml::Spanned;
use tracing_subscriber::filter::{LevelFilter, Targets};

use super::event::{OpenPointsTable, RulesTable, from_text, move_number, rounds};
use super::hall::{HubHall, halls};
use super::{
    AlarmSettings, ClockMessages, Config, DaemonSettings, DeskSettings, Ignored, JournalSettings, KnownBy,
    Lichess, ListedPort, LiveChessSettings, NamedBoard, PortMode, PortsSettings, Publish, RecorderSettings,
    Serial, Webhook,
};
use crate::outputs::mqtt::{MqttTable, mqtt};
use crate::outputs::status::HttpTable;
use crate::outputs::{alarm, webhook};
use crate::settings::{
    Absolute, Delay, Name, NoUsbId, SpannedError, TextValue, UniqueLines, UsbId, in_quotes,
};

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Document {
    daemon: DaemonSettings,
    event: RulesTable,
    mqtt: Option<MqttTable>,
    http: Option<HttpTable>,
    publish: Option<Publish>,
    lichess: Option<Lichess>,
    webhook: Vec<Spanned<Webhook>>,
    alarm: Vec<Spanned<AlarmSettings>>,
    hub: HubTable,
    livechess: Option<LiveChessSettings>,
    desk: Option<DeskSettings>,
    journal: JournalSettings,
    recorder: RecorderSettings,
    ports: PortsSettings,
    port: Vec<PortTable>,
    board: Vec<Spanned<BoardTable>>,
    clock_messages: ClockMessages,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct HubTable {
    #[serde(deserialize_with = "halls")]
    halls: Vec<HubHall>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PortTable {
    path: Spanned<TextValue<Absolute>>,
    #[serde(default)]
    mode: PortMode,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BoardTable {
    name: Spanned<TextValue<Name>>,
    serial: Option<Spanned<TextValue<Serial>>>,
    port: Option<Spanned<TextValue<Absolute>>>,
    // The keys of `RulesTable` are repeated, because serde's `flatten` would accept unknown keys.
    #[serde(default, deserialize_with = "from_text")]
    laws: Option<Edition>,
    #[serde(default, deserialize_with = "from_text")]
    mode: Option<Mode>,
    supervised: Option<bool>,
    #[serde(default, deserialize_with = "from_text")]
    time_control: Option<TimeControl>,
    #[serde(default, deserialize_with = "from_text")]
    start: Option<DrawnStart>,
    #[serde(default, deserialize_with = "from_text")]
    language: Option<Language>,
    #[serde(default, deserialize_with = "rounds")]
    rounds: Option<Rounds>,
    #[serde(default, deserialize_with = "from_text")]
    default_time: Option<DefaultTime>,
    #[serde(default, deserialize_with = "move_number")]
    no_draw_before_move: Option<u32>,
    quickplay_finish: Option<bool>,
    #[serde(default)]
    points: OpenPointsTable,
    public_delay: Option<TextValue<Delay>>,
    #[serde(default, deserialize_with = "table")]
    table: Option<u32>,
}

/// A port in one of its notations: path, name or USB id.
struct AnyPort(Ignored);

impl FromStr for AnyPort {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if !text.starts_with('/') && text.contains(':') {
            let id: UsbId = text.parse().map_err(|error: NoUsbId| error.to_string())?;
            return Ok(Self(Ignored::Usb(id)));
        }
        if text.is_empty() || !text.starts_with('/') && text.contains('/') {
            return Err(format!(
                "{text:?} is not a port; expected an absolute path as in \"/dev/ttyS0\", a name in \
                 /dev/serial/by-id, or a USB id as in \"0403:6015\""
            ));
        }
        Ok(Self(Ignored::Path(text.into())))
    }
}

struct Log(Targets);

impl FromStr for Log {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // `Targets` would parse a single word that is not a level as the name of a module.
        let plain = |part: &str| part.contains('=') || part.parse::<LevelFilter>().is_ok();
        let targets = text.parse().ok().filter(|_| text.split(',').all(plain));
        targets.map(Self).ok_or(
            "expected off, error, warn, info, debug or trace, or levels by module as in \"info,kiebitz=debug\"",
        )
    }
}

/// Limit of the total size of all recordings, in bytes.
struct Budget(u64);

impl FromStr for Budget {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let size: ByteSize = text
            .parse()
            .map_err(|_| "expected a size with a unit, as in \"500 MB\" or \"2 GB\"")?;
        let enough = (size.as_u64() >= SMALLEST_BUDGET).then_some(Self(size.as_u64()));
        enough.ok_or("recordings need at least \"10 MB\"")
    }
}

/// Smallest budget, in bytes. A board with a running clock fills this in two days; a smaller budget would leave no
/// useful recordings.
const SMALLEST_BUDGET: u64 = 10_000_000;

pub(super) fn parse(text: &str) -> Result<Config, SpannedError> {
    let document: Document = toml::from_str(text).map_err(|error| in_quotes(text, error))?;
    let mut ports = document.ports;
    ports.listed = listed(text, &ports.ignore, document.port)?;
    let mut event = document.event;
    let pairings = core::mem::take(&mut event.pairings);
    let tie_breaks = event.tie_breaks.take();
    let hall = event.hall.take();
    let event = event.regulations(&Regulations::default());
    Ok(Config {
        pairings,
        tie_breaks,
        publish: document.publish,
        lichess: document.lichess,
        webhooks: webhook::webhooks(text, document.webhook)?,
        alarms: alarm::alarms(text, document.alarm, document.mqtt.is_some())?,
        hall,
        halls: document.hub.halls,
        livechess: document.livechess,
        desk: document.desk,
        http: document.http.map(|table| table.address()),
        mqtt: document
            .mqtt
            .map(|table| mqtt(table, document.daemon.name.as_ref()))
            .transpose()?,
        daemon: document.daemon,
        journal: document.journal,
        recorder: document.recorder,
        boards: boards(text, &ports.listed, &event, document.board)?,
        event,
        ports,
        clock_messages: document.clock_messages,
        of_boards: of_boards(text)?,
    })
}

/// Extracts the tables about boards and rules as text.
fn of_boards(text: &str) -> Result<String, SpannedError> {
    let mut table: toml::Table = toml::from_str(text)?;
    table.retain(|key, _| matches!(key, "event" | "board"));
    Ok(table.to_string())
}

fn listed(text: &str, ignored: &[Ignored], tables: Vec<PortTable>) -> Result<Vec<ListedPort>, SpannedError> {
    let mut paths = UniqueLines::new(text);
    let mut ports = Vec::new();
    for table in tables {
        let (span, path) = (table.path.span(), table.path.into_inner().0.0);
        if ignored.contains(&Ignored::Path(path.clone())) {
            return Err(SpannedError::new(span, "this port is also listed under `ignore`"));
        }
        paths.once(span, path.clone(), |line| {
            format!("this port is already listed in line {line}")
        })?;
        let mode = table.mode;
        ports.push(ListedPort { path, mode });
    }
    Ok(ports)
}

fn boards(
    text: &str,
    ports: &[ListedPort],
    event: &Regulations,
    tables: Vec<Spanned<BoardTable>>,
) -> Result<Vec<NamedBoard>, SpannedError> {
    let (mut names, mut known) = (UniqueLines::new(text), UniqueLines::new(text));
    let mut boards = Vec::new();
    for table in tables {
        let span = table.span();
        let table = table.into_inner();
        let played = RulesTable {
            laws: table.laws,
            mode: table.mode,
            supervised: table.supervised,
            time_control: table.time_control,
            start: table.start,
            language: table.language,
            rounds: table.rounds,
            default_time: table.default_time,
            no_draw_before_move: table.no_draw_before_move,
            quickplay_finish: table.quickplay_finish,
            // Names, pairings and tie-breaks belong to the event, not to a board.
            name: None,
            site: None,
            pairings: Vec::new(),
            tie_breaks: None,
            hall: None,
            points: table.points,
        };
        let (span, known_by) = known_by(span, table.serial, table.port, ports)?;
        known.once(span, known_by.clone(), |line| {
            format!("this board already has a name in line {line}")
        })?;
        let (span, name) = (table.name.span(), table.name.into_inner().0);
        if name.as_str().rsplit('/').next() == Some(ROUNDS) {
            let message = "this name is reserved for byes and results without a game; choose another one";
            return Err(SpannedError::new(span, message));
        }
        names.once(span, name.clone(), |line| {
            format!("the name {:?} is already given in line {line}", name.as_str())
        })?;
        boards.push(NamedBoard {
            name,
            known_by,
            regulations: played.regulations(event),
            public_delay: table.public_delay.map(|delay| delay.0.0),
            table: table.table,
        });
    }
    Ok(boards)
}

/// Determines how a board is identified. Returns the position in the file as well. Fails unless exactly one of `serial`
/// and `port` is given, or if the port is a bus.
fn known_by(
    table: Range<usize>,
    serial: Option<Spanned<TextValue<Serial>>>,
    port: Option<Spanned<TextValue<Absolute>>>,
    ports: &[ListedPort],
) -> Result<(Range<usize>, KnownBy), SpannedError> {
    match (serial, port) {
        (Some(serial), None) => Ok((serial.span(), KnownBy::Serial(serial.into_inner().0))),
        (None, Some(port)) => {
            let (span, path) = (port.span(), port.into_inner().0.0);
            let shared = |port: &ListedPort| port.mode == PortMode::Bus && port.path == path;
            if ports.iter().any(shared) {
                let message =
                    "this port is in bus mode, with several boards on it: give each board's `serial` instead";
                return Err(SpannedError::new(span, message));
            }
            Ok((span, KnownBy::Port(path)))
        }
        (Some(_), Some(port)) => {
            let message = "give a board's `serial` or its `port`, not both";
            Err(SpannedError::new(port.span(), message))
        }
        (None, None) => Err(SpannedError::new(
            table,
            "the board is not identified: `serial` or `port` is missing",
        )),
    }
}

// Deserialisation of single values.

fn table<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    match u32::deserialize(deserializer)? {
        number @ 1..=9999 => Ok(Some(number)),
        _ => Err(D::Error::custom("expected the number of a table, 1 to 9999")),
    }
}

pub(super) fn log<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Targets, D::Error> {
    TextValue::<Log>::deserialize(deserializer).map(|log| log.0.0)
}

pub(super) fn days<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let days = u32::deserialize(deserializer)?;
    let enough = (days > 0).then_some(days);
    enough.ok_or_else(|| D::Error::custom("expected at least 1 day"))
}

pub(super) fn budget<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    TextValue::<Budget>::deserialize(deserializer).map(|budget| budget.0.0)
}

pub(super) fn ignored<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Ignored>, D::Error> {
    let ports = Vec::<TextValue<AnyPort>>::deserialize(deserializer)?;
    Ok(ports.into_iter().map(|port| port.0.0).collect())
}

pub(super) fn usb_ids<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<UsbId>, D::Error> {
    let ids = Vec::<TextValue<UsbId>>::deserialize(deserializer)?;
    Ok(ids.into_iter().map(|id| id.0).collect())
}
