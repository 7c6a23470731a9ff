//! Event types: the contract between kiebitz and its clients. All outputs are made from these events.
//!
//! docs/events.md documents the contract and docs/events.schema.json is its JSON Schema. A test checks published events
//! against both.

mod decision;
mod evidence;
mod incident;
pub mod incidents;
pub mod pairing;
mod played;
pub mod record;
mod resumable;
#[cfg(any(test, feature = "samples"))]
pub mod samples;
mod time;
mod words;

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use serde::{Deserialize, Serialize};
use shakmaty::Color;

use crate::clock::Side;
use crate::laws::{Edition, IncidentKind, Mode, Severity};
use crate::position::{Orientation, Variant};

pub use crate::clock::{Clock, Flag};
pub use crate::vocabulary::color;

pub use decision::Decision;
pub use evidence::{Caution, Evidence, Grounds, Ply, Rival, SensorChange, Since};
pub use incident::{Incident, Proof, SquareChange};
use played::certain;
pub use played::{Move, PlayerFacts, Players};
pub use resumable::{DoubtfulPlies, ResumableGame};
pub use time::time_text;
pub use time::{rfc3339, rfc3339_option, some_time, time, time_or_null};
pub use words::{
    Action, Bye, ClaimReason, ClosedBy, CompletedBy, CorrectionReason, DecidedBy, EndReason, GameResult,
    IncidentEnd, Recovery, SettledBy,
};

/// Name of the stream that `kiebitz run` writes.
pub const LIVE_STREAM: &str = "live";

/// One event of a board's stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Version of the contract: 1.
    pub v: u8,
    /// "live", or the name of a replay.
    pub stream: String,
    /// Number of the event in this board's stream, from 1, without gaps.
    pub seq: u64,
    /// Arrival of the bytes that decided the event, or the deadline that did. Never decreases within a stream.
    #[serde(serialize_with = "rfc3339", deserialize_with = "time")]
    pub ts: Timestamp,
    /// Time at which the event happened on the board, if it differs from `ts`.
    #[serde(
        serialize_with = "rfc3339_option",
        deserialize_with = "some_time",
        skip_serializing_if = "Option::is_none",
        default
    )]
    pub at: Option<Timestamp>,
    /// The board's configured name, else its serial number.
    pub board: String,
    /// Id of the game; absent if the event belongs to no game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game: Option<String>,
    /// Type of the event, with its fields.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// An event and the evidence for it. The referee creates it; the board adds stream and seq before publishing.
#[derive(Debug, Clone)]
pub struct ExplainedEvent {
    /// The event, complete but for stream and seq until the board adds them.
    pub event: Event,
    /// The ply of a move event; `None` for other events.
    pub ply: Option<Box<Ply>>,
    /// Log-odds for the ply, in hundredths of a nat; `None` unless a ply with competing lines was settled or withdrawn.
    pub odds: Option<i64>,
}

impl ExplainedEvent {
    /// Creates an event without stream, seq and ply.
    pub(crate) fn new(ts: Timestamp, board: &str, game: Option<&str>, kind: EventKind) -> Self {
        Self {
            event: Event {
                v: 1,
                stream: String::new(),
                seq: 0,
                ts,
                at: None,
                board: board.to_owned(),
                game: game.map(str::to_owned),
                kind,
            },
            ply: None,
            odds: None,
        }
    }
}

/// Type of an event, with its fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "snake_case")]
pub enum EventKind {
    /// A board answers and has sent its position.
    #[serde(rename = "board.connected")]
    BoardConnected {
        /// Serial port of the board.
        port: String,
        /// Serial number, the long one if the board has one; null while unknown.
        serial: Option<String>,
        /// Firmware version, major.minor; null while unknown.
        version: Option<String>,
        /// Side of the board on which White sits; null while unknown.
        orientation: Option<Orientation>,
    },
    /// A board no longer answers.
    #[serde(rename = "board.disconnected")]
    BoardDisconnected {
        /// Cause, as text for people.
        reason: String,
    },
    /// A gap, a time without any input from the board, is over.
    #[serde(rename = "board.recovered")]
    BoardRecovered {
        /// How kiebitz reconstructed the moves of the gap.
        by: Recovery,
        /// Number of square changes that were read from the board's memory.
        changes: usize,
        /// Start of the gap.
        #[serde(serialize_with = "rfc3339", deserialize_with = "time")]
        from: Timestamp,
        /// Time at which the gap was closed or given up.
        #[serde(serialize_with = "rfc3339", deserialize_with = "time")]
        to: Timestamp,
    },
    /// The computer's clock was set.
    #[serde(rename = "time.set")]
    TimeSet {
        /// Size of the step in milliseconds. After a step forward, the times of this and later events follow the new
        /// clock. After a step back (negative), they do not.
        by_ms: i64,
    },
    /// A clock answers.
    #[serde(rename = "clock.connected")]
    ClockConnected {},
    /// The board reports that it has no clock.
    #[serde(rename = "clock.disconnected")]
    ClockDisconnected {},
    /// The clock's battery is low.
    #[serde(rename = "clock.battery_low")]
    ClockBatteryLow {},
    /// A press during a game has shown which side of the clock is White's, or has corrected it.
    #[serde(rename = "clock.sides")]
    ClockSides {
        /// White's side, as seen from the front of the clock.
        white_side: Side,
    },
    /// A game began: the first move was made on a known start position, or White's clock started there.
    #[serde(rename = "game.started")]
    GameStarted {
        /// Start position, as FEN.
        start_fen: String,
        /// Kind of game.
        variant: Variant,
        /// Side of the board on which White sits.
        orientation: Orientation,
        /// Id of the game on this board that a gap interrupted and that this game continues; absent if there is none.
        #[serde(skip_serializing_if = "Option::is_none")]
        continues: Option<String>,
        /// White's side of the clock; null while unknown.
        white_side: Option<Side>,
        /// Edition of the Laws; null in games of early versions, which did not record it.
        laws: Option<Edition>,
        /// Mode of play; null in games of early versions, which did not record it.
        mode: Option<Mode>,
        /// The players; null while unknown.
        players: Option<Players>,
        /// Time control as in the PGN tag, or in the notation of arbiters if PGN cannot express it; null while unknown.
        time_control: Option<String>,
        /// Time control as typed in the configuration or in a command; absent while unknown.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        time_control_typed: Option<String>,
        /// Name of the tournament; absent if unknown.
        #[serde(skip_serializing_if = "Option::is_none")]
        event: Option<String>,
        /// Site of the tournament; absent if unknown.
        #[serde(skip_serializing_if = "Option::is_none")]
        site: Option<String>,
        /// Number of the round, from 1, according to the configured round times; absent if there are none.
        #[serde(skip_serializing_if = "Option::is_none")]
        round: Option<u32>,
    },
    /// A ply has become credible.
    #[serde(rename = "move.made")]
    MoveMade(Move),
    /// All other lines of play for a ply are ruled out.
    #[serde(rename = "move.settled")]
    MoveSettled {
        /// Number of the ply.
        ply: u32,
        /// Evidence that settled the ply.
        by: SettledBy,
    },
    /// A ply is completed in the sense of the Laws (Art. 6.2.1).
    #[serde(rename = "move.completed")]
    MoveCompleted {
        /// Number of the ply.
        ply: u32,
        /// Act that completed the ply.
        by: CompletedBy,
        /// Times of the clock at the completion.
        clock: Option<Clock>,
        /// The mover's time from the opponent's press to their own press, in milliseconds.
        elapsed_ms: Option<u64>,
    },
    /// A published ply was wrong. This ply replaces it, and all later plies are withdrawn.
    #[serde(rename = "move.amended")]
    MoveAmended {
        /// The ply that was played.
        #[serde(flatten)]
        played: Move,
        /// UCI of the published ply that this one replaces.
        replaces: Option<String>,
        /// Reason of the correction.
        reason: CorrectionReason,
    },
    /// A ply and all later plies are withdrawn.
    #[serde(rename = "move.retracted")]
    MoveRetracted {
        /// Number of the first withdrawn ply.
        ply: u32,
        /// Reason of the correction.
        reason: CorrectionReason,
    },
    /// A game is over.
    #[serde(rename = "game.ended")]
    GameEnded {
        /// Result of the game.
        result: GameResult,
        /// Reason of the end.
        reason: EndReason,
        /// Authority that decided the result.
        by: DecidedBy,
        /// False until the arbiter confirms the result, if the Laws require that.
        confirmed: bool,
        /// Published only if false: the end of the game was not observed. Its last plies are the most likely ones
        /// according to the board's memory or the pieces on it.
        #[serde(skip_serializing_if = "core::clone::Clone::clone", default = "certain")]
        end_certain: bool,
        /// Name of the arbiter who decided the result; absent if no arbiter decided it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        decided_by: Option<String>,
    },
    /// Play continues, so the published end of the game is withdrawn.
    #[serde(rename = "game.resumed")]
    GameResumed {
        /// The withdrawn result.
        result: GameResult,
        /// The withdrawn reason.
        reason: EndReason,
    },
    /// A player may claim a draw. The event has no effect on the game.
    #[serde(rename = "claim.available")]
    ClaimAvailable {
        /// The player to move.
        #[serde(with = "color")]
        color: Color,
        /// Number of the last ply made.
        ply: u32,
        /// Ground of the claim.
        reason: ClaimReason,
        /// Plies after which the position occurred, 0 for the start; for the 50-move rule, the last pawn move or
        /// capture.
        occurrences: Vec<u32>,
        /// Move that the player would have to announce, in SAN, or several alternatives separated by blanks; null if
        /// the condition already holds on the board.
        intended: Option<String>,
        /// Always info: the arbiter does not point a claim out to the player (Art. 9.2, 9.3: the player claims).
        severity: Severity,
        /// Article of the Laws, as in "9.2.1".
        article: String,
        /// Edition of the Laws.
        edition: Edition,
    },
    /// The arbiter changed the game. Unchanged fields are null.
    #[serde(rename = "game.amended")]
    GameAmended {
        /// Name of the arbiter.
        by: String,
        /// New result.
        result: Option<GameResult>,
        /// Reason of the result, as in game.ended.
        reason: Option<EndReason>,
        /// New players.
        players: Option<Players>,
        /// New time control.
        time_control: Option<String>,
        /// Time control as typed; absent without one.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        time_control_typed: Option<String>,
        /// Mode of play that follows from the new time control; absent if it is unchanged.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        mode: Option<Mode>,
        /// All moves of the game, in UCI. Move events follow.
        moves: Option<Vec<String>>,
        /// Position from which the game continues, as FEN.
        position: Option<String>,
        /// Note of the arbiter.
        note: Option<String>,
        /// Published only if true: the arbiter decided that the game counts for the pairing in `players`.
        #[serde(skip_serializing_if = "core::ops::Not::not", default)]
        assigned: bool,
    },
    /// The arbiter entered the result of a pairing that no board has a game for.
    #[serde(rename = "table.result")]
    TableResult {
        /// The round, from 1.
        round: u32,
        /// The table, from 1.
        table: u32,
        /// Result; [`GameResult::Unknown`] withdraws the previous one.
        result: GameResult,
        /// Reason of the result, as in game.ended.
        reason: EndReason,
        /// Name of the arbiter.
        by: String,
    },
    /// A command arrived.
    #[serde(rename = "command.taken")]
    CommandTaken {
        /// Id that the sender gave the command.
        id: String,
        /// Requested action.
        #[serde(rename = "do")]
        action: Action,
        /// Name of the sender.
        by: String,
        /// The other fields of the command.
        arguments: serde_json::Value,
        /// Reason for which the command was refused; null if it was carried out.
        error: Option<String>,
        /// Remark for the sender on the effect of the command.
        note: Option<String>,
    },
    /// An incident that concerns the arbiter began.
    #[serde(rename = "incident.opened")]
    IncidentOpened(Box<Incident>),
    /// An open incident has new evidence, or has become more serious.
    #[serde(rename = "incident.updated")]
    IncidentUpdated(Box<Incident>),
    /// An incident is over.
    #[serde(rename = "incident.closed")]
    IncidentClosed {
        /// Number of the incident.
        incident: u64,
        /// Kind of the incident.
        kind: IncidentKind,
        /// Authority or device that closed the incident.
        by: ClosedBy,
        /// How the incident ended.
        reason: IncidentEnd,
        /// Whether the incident counts as an offence of the player; absent unless that was decided at the closing.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        counts: Option<bool>,
        /// The arbiter's decision in their own words; absent if there are none.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        decision: Option<String>,
        /// Name of the arbiter who decided; absent if no decision closed the incident.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        decided_by: Option<String>,
    },
}

/// Formats a firmware version as published: "1.7" for major 1, minor 7.
#[must_use]
pub fn version_text((major, minor): (u8, u8)) -> String {
    format!("{major}.{minor}")
}

impl EventKind {
    /// Whether the event is an accepted command to forget the board.
    #[must_use]
    pub const fn is_forget(&self) -> bool {
        matches!(
            self,
            Self::CommandTaken {
                action: Action::Forget,
                error: None,
                ..
            }
        )
    }

    /// How far the computer's clock was set forward; `None` if it was set back, or for other events.
    #[must_use]
    pub fn clock_set_forward(&self) -> Option<Duration> {
        let Self::TimeSet { by_ms } = self else {
            return None;
        };
        u64::try_from(*by_ms)
            .ok()
            .filter(|ms| *ms > 0)
            .map(Duration::from_millis)
    }

    /// Maps every time in the event's fields through `shift`. All of these times are before the publication.
    pub(crate) fn date(&mut self, shift: impl Fn(Timestamp) -> Timestamp) {
        match self {
            Self::BoardRecovered { from, to, .. } => (*from, *to) = (shift(*from), shift(*to)),
            Self::IncidentOpened(incident) | Self::IncidentUpdated(incident) => {
                let Proof {
                    from, to, changes, ..
                } = &mut incident.evidence;
                (*from, *to) = (shift(*from), shift(*to));
                for change in changes {
                    change.at = shift(change.at);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
