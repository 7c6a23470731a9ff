//! What the retained topics hold; every one is a full picture.

mod daemon;

use core::time::Duration;

use kiebitz_game::events::record::{GameRecord, MoveRecord};
use kiebitz_game::events::{
    Clock, EndReason, EventKind, GameResult, Players, color, rfc3339, rfc3339_option,
};
use kiebitz_game::position::{Orientation, Variant};
use kiebitz_hardware::Timestamp;
use serde::Serialize;
use shakmaty::{Bitboard, Board, Color};

pub use crate::clock::ClockView;
pub use daemon::{DaemonHealth, DaemonState, DeliveryState, Disk, DiskState, Machine, Online, StorageState};

/// Of a board: whether it is there, and what it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BoardState {
    /// Its name.
    pub board: String,
    /// The stream of its events.
    pub stream: String,
    /// The daemon's host: when that daemon is offline, nobody knows about the board.
    pub daemon: String,
    /// It answers.
    pub connected: bool,
    /// Since when that is so; `None` before the first sign of it.
    #[serde(serialize_with = "rfc3339_option")]
    pub since: Option<Timestamp>,
    /// Why it is not connected, once it was.
    pub reason: Option<String>,
    /// Where it is or was plugged in.
    pub port: Option<String>,
    /// Its serial number, the long one where it has one.
    pub serial: Option<String>,
    /// Firmware version, major.minor.
    pub version: Option<String>,
    /// Where White sits, if known.
    pub orientation: Option<Orientation>,
    /// Charge of its own battery in percent, 0 to 100; `None`: it has none, does not report it, or is not connected.
    pub battery: Option<u8>,
    /// The clock beside it; none while the board is not connected.
    pub clock: ClockPresence,
    /// The table that it stands at; `None`: it has no number.
    pub table: Option<u32>,
    /// The clock by its events: none announces it again when the board comes back.
    #[serde(skip)]
    told_clock: ClockPresence,
}

/// Whether a board has a clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ClockPresence {
    /// One answers.
    pub present: bool,
    /// Its battery is low.
    pub battery_low: bool,
}

/// What stands on the board, and where the game expects something else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Placement {
    /// The pieces on the board, as the first field of a FEN.
    pub placement: String,
    /// The pieces after the last ply published; `None` before a start position was set up.
    pub game_placement: Option<String>,
    /// Squares that differ; a piece in somebody's hand is among them.
    pub differs: Vec<String>,
}

/// A content with the time it was read; a new time alone is not a change.
#[derive(Debug, Serialize)]
pub(crate) struct Dated<'a, T> {
    #[serde(flatten)]
    pub(crate) content: &'a T,
    #[serde(serialize_with = "rfc3339")]
    pub(crate) as_of: Timestamp,
}

/// What the clock showed, for spectators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PublicClock {
    #[serde(flatten)]
    times: ClockView,
    /// The delay after `as_of`, in milliseconds: a client counts down from `as_of` plus this. Absent without a delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    delay_ms: Option<u64>,
}

/// Whether a board is there, for spectators.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PublicState {
    /// Its name.
    pub board: String,
    /// It answers.
    pub connected: bool,
}

/// The pieces after the last move, for spectators.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PublicPlacement {
    /// As the first field of a FEN.
    placement: String,
    /// That move in UCI; `None` before the first.
    last_move: Option<String>,
}

/// A game for spectators: moves and clocks, and nothing about how they came about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PublicGame {
    game: String,
    board: String,
    stream: String,
    revision: u64,
    #[serde(serialize_with = "rfc3339")]
    started: Timestamp,
    #[serde(serialize_with = "rfc3339_option")]
    ended: Option<Timestamp>,
    players: Option<Players>,
    time_control: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    site: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    round: Option<u32>,
    start_fen: String,
    variant: Variant,
    moves: Vec<PublicMove>,
    fen: String,
    result: GameResult,
    reason: Option<EndReason>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct PublicMove {
    ply: u32,
    #[serde(serialize_with = "color::serialize")]
    color: Color,
    uci: Option<String>,
    san: Option<String>,
    fen: String,
    captured: Option<String>,
    clock: Option<Clock>,
}

impl BoardState {
    /// Of a board that nothing is known of yet.
    #[must_use]
    pub fn unknown(board: &str, stream: &str, daemon: &str) -> Self {
        Self {
            board: board.to_owned(),
            stream: stream.to_owned(),
            daemon: daemon.to_owned(),
            connected: false,
            since: None,
            reason: None,
            port: None,
            serial: None,
            version: None,
            orientation: None,
            battery: None,
            clock: ClockPresence::default(),
            table: None,
            told_clock: ClockPresence::default(),
        }
    }

    /// Takes in an event of the board.
    pub fn apply(&mut self, ts: Timestamp, kind: &EventKind) {
        match kind {
            EventKind::BoardConnected {
                port,
                serial,
                version,
                orientation,
            } => {
                self.connected = true;
                self.since = Some(ts);
                self.reason = None;
                self.port = Some(port.clone());
                self.serial.clone_from(serial);
                self.version.clone_from(version);
                self.orientation = *orientation;
            }
            EventKind::BoardDisconnected { reason } => {
                self.connected = false;
                self.since = Some(ts);
                self.reason = Some(reason.clone());
            }
            EventKind::ClockConnected {} => {
                self.told_clock = ClockPresence {
                    present: true,
                    battery_low: false,
                }
            }
            EventKind::ClockDisconnected {} => self.told_clock = ClockPresence::default(),
            EventKind::ClockBatteryLow {} => self.told_clock.battery_low = true,
            EventKind::BoardRecovered { .. }
            | EventKind::ClockSides { .. }
            | EventKind::TimeSet { .. }
            | EventKind::ClaimAvailable { .. }
            | EventKind::CommandTaken { .. }
            | EventKind::TableResult { .. }
            | EventKind::GameAmended { .. }
            | EventKind::GameEnded { .. }
            | EventKind::GameResumed { .. }
            | EventKind::GameStarted { .. }
            | EventKind::IncidentClosed { .. }
            | EventKind::IncidentOpened(_)
            | EventKind::IncidentUpdated(_)
            | EventKind::MoveAmended { .. }
            | EventKind::MoveCompleted { .. }
            | EventKind::MoveMade(_)
            | EventKind::MoveRetracted { .. }
            | EventKind::MoveSettled { .. } => {}
        }
        self.clock = if self.connected {
            self.told_clock
        } else {
            ClockPresence::default()
        };
    }
}

impl Placement {
    /// Of what the sensors show and what the game expects.
    #[must_use]
    pub fn new(physical: &Board, expected: Option<(&Board, Bitboard)>) -> Self {
        Self {
            placement: physical.to_string(),
            game_placement: expected.map(|(game, _)| game.to_string()),
            differs: expected
                .map(|(_, differs)| differs.into_iter().map(|square| square.to_string()).collect())
                .unwrap_or_default(),
        }
    }
}

impl PublicClock {
    /// Of what spectators get after `delay`.
    #[must_use]
    pub fn new(times: ClockView, delay: Duration) -> Self {
        let delay_ms = u64::try_from(delay.as_millis()).ok();
        Self {
            times,
            delay_ms: delay_ms.filter(|ms| *ms > 0),
        }
    }
}

impl PublicGame {
    /// What spectators see of a game, of which `record` has all that they may know.
    #[must_use]
    pub fn of(record: &GameRecord) -> Self {
        Self {
            game: record.game.clone(),
            board: record.board.clone(),
            stream: record.stream.clone(),
            revision: record.revision,
            started: record.started,
            ended: record.ended,
            players: record.players.clone(),
            time_control: record.time_control.clone(),
            event: record.event.clone(),
            site: record.site.clone(),
            round: record.round,
            start_fen: record.start_fen.clone(),
            variant: record.variant,
            moves: record.moves.iter().map(PublicMove::of).collect(),
            fen: record.fen.clone(),
            result: record.result,
            reason: record.reason,
        }
    }
}

impl PublicPlacement {
    /// Of a game of which `record` has all that spectators may know.
    #[must_use]
    pub fn of(record: &GameRecord) -> Self {
        let placement = record.fen.split(' ').next().unwrap_or_default();
        Self {
            placement: placement.to_owned(),
            last_move: record.moves.last().and_then(|entry| entry.uci.clone()),
        }
    }
}

impl PublicMove {
    fn of(entry: &MoveRecord) -> Self {
        Self {
            ply: entry.ply,
            color: entry.color,
            uci: entry.uci.clone(),
            san: entry.san.clone(),
            fen: entry.fen.clone(),
            captured: entry.captured.clone(),
            clock: entry.clock.map(|clock| Clock { flag: None, ..clock }),
        }
    }
}
