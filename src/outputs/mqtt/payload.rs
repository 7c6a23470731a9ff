//! Payloads of the retained topics. Each payload is the complete content of its topic.

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

/// Identity and connection of a board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BoardState {
    /// The name of the board.
    pub board: String,
    /// The stream of its events.
    pub stream: String,
    /// Host of the daemon that has the board. If that daemon is offline, the state of the board is unknown.
    pub daemon: String,
    /// The board answers.
    pub connected: bool,
    /// Start of this connection state; `None` until the first data from the board.
    #[serde(serialize_with = "rfc3339_option")]
    pub since: Option<Timestamp>,
    /// Why the board is not connected; `None` if it was never connected.
    pub reason: Option<String>,
    /// Port to which the board is connected, or was last.
    pub port: Option<String>,
    /// Serial number; the long one if the board has one.
    pub serial: Option<String>,
    /// Firmware version, `major.minor`.
    pub version: Option<String>,
    /// Orientation of the board; `None` if unknown.
    pub orientation: Option<Orientation>,
    /// Charge of the board's battery in percent, 0 to 100; `None` if the board has none, does not report it, or is not
    /// connected.
    pub battery: Option<u8>,
    /// The clock at the board; absent while the board is not connected.
    pub clock: ClockPresence,
    /// The table on which the board stands; `None` if the board has no number.
    pub table: Option<u32>,
    /// The clock according to the events. It is kept while the board is away, because no event announces it again when
    /// the board returns.
    #[serde(skip)]
    clock_by_events: ClockPresence,
}

/// Presence and battery of the clock at a board.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ClockPresence {
    /// A clock answers.
    pub present: bool,
    /// The battery of the clock is low.
    pub battery_low: bool,
}

/// The pieces on the board, and the squares that differ from the game.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Placement {
    /// First field of a FEN.
    pub placement: String,
    /// The placement after the last published ply; `None` until a start position is set up.
    pub game_placement: Option<String>,
    /// Squares that differ, including those of a piece in a player's hand.
    pub differs: Vec<String>,
}

/// A payload with the time of its data. A new time alone is not a change.
#[derive(Debug, Serialize)]
pub(crate) struct Dated<'a, T> {
    #[serde(flatten)]
    pub(crate) content: &'a T,
    #[serde(serialize_with = "rfc3339")]
    pub(crate) as_of: Timestamp,
}

/// The clock for spectators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PublicClock {
    #[serde(flatten)]
    times: ClockView,
    /// Delay in milliseconds; absent without a delay. Clients count down from `as_of` plus this delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    delay_ms: Option<u64>,
}

/// Whether a board is connected, for spectators.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PublicState {
    /// The name of the board.
    pub board: String,
    /// The board answers.
    pub connected: bool,
}

/// The pieces after the last move, for spectators.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PublicPlacement {
    /// First field of a FEN.
    placement: String,
    /// The last move in UCI; `None` until the first.
    last_move: Option<String>,
}

/// A game for spectators: moves and clocks, without presses, corrections or certainty.
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
    /// The state of a board before its first event.
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
            clock_by_events: ClockPresence::default(),
        }
    }

    /// Applies an event of the board.
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
                self.clock_by_events = ClockPresence {
                    present: true,
                    battery_low: false,
                }
            }
            EventKind::ClockDisconnected {} => self.clock_by_events = ClockPresence::default(),
            EventKind::ClockBatteryLow {} => self.clock_by_events.battery_low = true,
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
            self.clock_by_events
        } else {
            ClockPresence::default()
        };
    }
}

impl Placement {
    /// `expected` is the placement of the game, and the squares that differ from it.
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
    /// The clock for spectators, who receive it after `delay`.
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
    /// `record` must be the delayed record for spectators, not the board's own.
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
    /// `record` must be the delayed record for spectators, not the board's own.
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
