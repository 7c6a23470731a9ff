//! The events: all that kiebitz publishes, by whatever output.
//!
//! The contract is docs/events.md with its schema docs/events.schema.json; a test holds real output against it.

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
    Action, ClaimReason, ClosedBy, CompletedBy, CorrectionReason, DecidedBy, EndReason, GameResult,
    IncidentEnd, Recovery, SettledBy,
};

/// The stream of the boards that `kiebitz run` reads.
pub const LIVE_STREAM: &str = "live";

/// One event of a board's stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Version of the contract.
    pub v: u8,
    /// "live", or a name for a replay.
    pub stream: String,
    /// Per board and stream, from 1, without gaps.
    pub seq: u64,
    /// Arrival of the bytes, or the deadline, that decided the event.
    #[serde(serialize_with = "rfc3339", deserialize_with = "time")]
    pub ts: Timestamp,
    /// When it happened on the board, where that is not `ts`.
    #[serde(
        serialize_with = "rfc3339_option",
        deserialize_with = "some_time",
        skip_serializing_if = "Option::is_none",
        default
    )]
    pub at: Option<Timestamp>,
    /// The board's configured name, else its serial number.
    pub board: String,
    /// The game; absent outside one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game: Option<String>,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// An event with what it rests on. The referee makes it; the board gives it its stream and number on the way out.
#[derive(Debug, Clone)]
pub struct ExplainedEvent {
    /// The event.
    pub event: Event,
    /// The ply of an event about a move.
    pub ply: Option<Box<Ply>>,
    /// The log-odds for it, in hundredths of a nat, where a ply was settled or withdrawn and others were possible.
    pub odds: Option<i64>,
}

impl ExplainedEvent {
    /// An event of a board, not numbered yet, without a ply.
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

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "snake_case")]
pub enum EventKind {
    /// A board answers.
    #[serde(rename = "board.connected")]
    BoardConnected {
        /// Where it is plugged in.
        port: String,
        /// Its serial number, the long one where it has one.
        serial: Option<String>,
        /// Firmware version, major.minor.
        version: Option<String>,
        /// Where White sits, if known.
        orientation: Option<Orientation>,
    },
    /// A board is gone.
    #[serde(rename = "board.disconnected")]
    BoardDisconnected {
        /// Why.
        reason: String,
    },
    /// What became of a gap in which nobody listened.
    #[serde(rename = "board.recovered")]
    BoardRecovered {
        /// How it was closed.
        by: Recovery,
        /// How many square changes were read back from the board's memory.
        changes: usize,
        /// The gap began then.
        #[serde(serialize_with = "rfc3339", deserialize_with = "time")]
        from: Timestamp,
        /// It was closed, or given up, then.
        #[serde(serialize_with = "rfc3339", deserialize_with = "time")]
        to: Timestamp,
    },
    /// The computer's clock was set.
    #[serde(rename = "time.set")]
    TimeSet {
        /// By so many milliseconds: forward, which the times of events follow from this one on, or, negative, back, which
        /// they do not.
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
    /// A press during a game has shown which side of the clock is White's, or that it is the other one.
    #[serde(rename = "clock.sides")]
    ClockSides {
        /// White's, as seen from the clock's front.
        white_side: Side,
    },
    /// The first move was made, or White's clock started, on a known start position.
    #[serde(rename = "game.started")]
    GameStarted {
        /// The start position.
        start_fen: String,
        /// The kind of game.
        variant: Variant,
        /// Where White sits.
        orientation: Orientation,
        /// The game on this board that a gap cut off and that goes on here; absent where there is none.
        #[serde(skip_serializing_if = "Option::is_none")]
        continues: Option<String>,
        /// White's side of the clock, once known.
        white_side: Option<Side>,
        /// Edition of the Laws; null in games of a version that knew none.
        laws: Option<Edition>,
        /// Mode of play; null in games of a version that knew none.
        mode: Option<Mode>,
        /// Names of the players; null until they are known.
        players: Option<Players>,
        /// The time control as in the PGN tag, or as arbiters write it where PGN cannot; null until it is known.
        time_control: Option<String>,
        /// The time control as somebody typed it, in the configuration or in a command; absent where it is not known.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        time_control_typed: Option<String>,
        /// The name of the event that it is played in; absent where it is not known.
        #[serde(skip_serializing_if = "Option::is_none")]
        event: Option<String>,
        /// Where that takes place; absent where it is not known.
        #[serde(skip_serializing_if = "Option::is_none")]
        site: Option<String>,
        /// The number of the round, from 1, by the times at which rounds begin; absent where they are not configured.
        #[serde(skip_serializing_if = "Option::is_none")]
        round: Option<u32>,
    },
    /// A ply is credible.
    #[serde(rename = "move.made")]
    MoveMade(Move),
    /// No other reading of the ply is left.
    #[serde(rename = "move.settled")]
    MoveSettled {
        /// Its number.
        ply: u32,
        /// What settled it.
        by: SettledBy,
    },
    /// The ply is completed in the sense of the Laws (Art. 6.2.1).
    #[serde(rename = "move.completed")]
    MoveCompleted {
        /// Its number.
        ply: u32,
        /// What completed it.
        by: CompletedBy,
        /// The clock at that moment.
        clock: Option<Clock>,
        /// The mover's time from the opponent's press to their own, in milliseconds.
        elapsed_ms: Option<u64>,
    },
    /// The ply was a different one than published; later plies are withdrawn.
    #[serde(rename = "move.amended")]
    MoveAmended {
        /// What was played instead.
        #[serde(flatten)]
        played: Move,
        /// UCI of what was published before.
        replaces: Option<String>,
        /// Why.
        reason: CorrectionReason,
    },
    /// This and all later plies are withdrawn.
    #[serde(rename = "move.retracted")]
    MoveRetracted {
        /// The first ply withdrawn.
        ply: u32,
        /// Why.
        reason: CorrectionReason,
    },
    /// The game is over.
    #[serde(rename = "game.ended")]
    GameEnded {
        /// How it ended.
        result: GameResult,
        /// What ended it.
        reason: EndReason,
        /// Who or what decided it.
        by: DecidedBy,
        /// False until the arbiter confirms it, where the Laws require that.
        confirmed: bool,
        /// Published only where it is false: nobody watched how the game ended, and its last plies are those that the
        /// board's memory or what stands on it makes most likely.
        #[serde(skip_serializing_if = "core::clone::Clone::clone", default = "certain")]
        end_certain: bool,
        /// The name of the arbiter who decided it; absent where it was not an arbiter.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        decided_by: Option<String>,
    },
    /// Play goes on: the end that was published is withdrawn.
    #[serde(rename = "game.resumed")]
    GameResumed {
        /// The result that was published.
        result: GameResult,
        /// What had been taken for the end.
        reason: EndReason,
    },
    /// A player could claim a draw: nothing more than that.
    #[serde(rename = "claim.available")]
    ClaimAvailable {
        /// The player on move.
        #[serde(with = "color")]
        color: Color,
        /// The last ply made.
        ply: u32,
        /// What for.
        reason: ClaimReason,
        /// The plies after which the position stood, 0 for the start; of 50 moves the last pawn move or capture.
        occurrences: Vec<u32>,
        /// The move that the player would have to announce, in SAN, or several of which any will do, with blanks between
        /// them; null: what is claimed stands on the board.
        intended: Option<String>,
        /// Always info: the arbiter does not mention it (Art. 9.2, 9.3: the player claims).
        severity: Severity,
        /// As in "9.2.1".
        article: String,
        /// The edition of the Laws.
        edition: Edition,
    },
    /// The arbiter changed the game; what they did not change is null.
    #[serde(rename = "game.amended")]
    GameAmended {
        /// Who.
        by: String,
        /// How it ended.
        result: Option<GameResult>,
        /// Why it ended so, as in game.ended.
        reason: Option<EndReason>,
        /// The players.
        players: Option<Players>,
        /// The time control.
        time_control: Option<String>,
        /// The time control as it was typed; absent without one.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        time_control_typed: Option<String>,
        /// The mode of play, where another one follows from the time control; absent otherwise.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        mode: Option<Mode>,
        /// All moves of the game, in UCI: events of the moves follow.
        moves: Option<Vec<String>>,
        /// The position from which the game goes on.
        position: Option<String>,
        /// A note.
        note: Option<String>,
        /// Published only if it is true: the arbiter decided which pairing the game counts for, which `players` has.
        #[serde(skip_serializing_if = "core::ops::Not::not", default)]
        assigned: bool,
    },
    /// The arbiter entered the result of a pairing of which no board has a game.
    #[serde(rename = "table.result")]
    TableResult {
        /// The round, from 1.
        round: u32,
        /// The table, from 1.
        table: u32,
        /// The result; [`GameResult::Unknown`] withdraws the one before.
        result: GameResult,
        /// Why, as in game.ended.
        reason: EndReason,
        /// Who entered it.
        by: String,
    },
    /// A command came from a person.
    #[serde(rename = "command.taken")]
    CommandTaken {
        /// The sender's name for it.
        id: String,
        /// What was asked for.
        #[serde(rename = "do")]
        action: Action,
        /// Who asked.
        by: String,
        /// The other fields of the command.
        arguments: serde_json::Value,
        /// Why nothing was done; null where it was done.
        error: Option<String>,
        /// What the sender should know of what was done.
        note: Option<String>,
    },
    /// Something began that the arbiter should know.
    #[serde(rename = "incident.opened")]
    IncidentOpened(Box<Incident>),
    /// More is known of it, or it has gone further.
    #[serde(rename = "incident.updated")]
    IncidentUpdated(Box<Incident>),
    /// It is over.
    #[serde(rename = "incident.closed")]
    IncidentClosed {
        /// Its number.
        incident: u64,
        /// What kind of incident it was.
        kind: IncidentKind,
        /// Who or what closed it.
        by: ClosedBy,
        /// How it ended.
        reason: IncidentEnd,
        /// Whether it counts as an offence of the player, where that is decided only now; absent otherwise.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        counts: Option<bool>,
        /// The arbiter's decision, in their words; absent without any.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        decision: Option<String>,
        /// The name of the arbiter who decided; absent where the incident was not closed by a decision.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        decided_by: Option<String>,
    },
}

/// A firmware's version as published: "1.7" for major 1, minor 7.
#[must_use]
pub fn version_text((major, minor): (u8, u8)) -> String {
    format!("{major}.{minor}")
}

impl EventKind {
    /// Whether the arbiter has the board forgotten.
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

    /// By how much the computer's clock was set forward; `None`: it was not, or this says nothing of it.
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

    /// Gives the times in it, which are all from before it was published, as `then` has them.
    pub(crate) fn date(&mut self, then: impl Fn(Timestamp) -> Timestamp) {
        match self {
            Self::BoardRecovered { from, to, .. } => (*from, *to) = (then(*from), then(*to)),
            Self::IncidentOpened(incident) | Self::IncidentUpdated(incident) => {
                let Proof {
                    from, to, changes, ..
                } = &mut incident.evidence;
                (*from, *to) = (then(*from), then(*to));
                for change in changes {
                    change.at = then(change.at);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
