//! The events: what leaves kiebitz, whatever the door.
//!
//! The contract is docs/events.md with its schema docs/events.schema.json; a test holds real output against it.

pub mod incidents;
pub mod record;
mod resumable;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use kiebitz_hardware::Timestamp;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::tracker::{ClockFace, Ply};

pub use resumable::ResumableGame;

/// A word of the contract, as in "press" or "moved_on".
pub type Word = &'static str;

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
    /// When the deciding thing happened on the board, where that is not `ts`.
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

/// An event with the ply behind it, for those who ask what it rests on.
#[derive(Debug, Clone)]
pub struct Said {
    /// The event.
    pub event: Event,
    /// The ply that a move's event tells.
    pub ply: Option<Box<Ply>>,
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
        /// Where White sits, if known: "normal" with the connector on White's left, else "turned".
        #[serde(deserialize_with = "word_or_null")]
        orientation: Option<Word>,
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
        /// How it was closed: memory, inferred, undecidable.
        #[serde(deserialize_with = "word")]
        by: Word,
        /// How many square changes were read back from the board's memory.
        changes: usize,
        /// The gap began then.
        #[serde(serialize_with = "rfc3339", deserialize_with = "time")]
        from: Timestamp,
        /// It was closed, or given up, then.
        #[serde(serialize_with = "rfc3339", deserialize_with = "time")]
        to: Timestamp,
    },
    /// A clock answers.
    #[serde(rename = "clock.connected")]
    ClockConnected {},
    /// The board says that it has no clock.
    #[serde(rename = "clock.disconnected")]
    ClockDisconnected {},
    /// The clock's battery is low.
    #[serde(rename = "clock.battery_low")]
    ClockBatteryLow {},
    /// The first move was made, or White's clock started, on a known start position.
    #[serde(rename = "game.started")]
    GameStarted {
        /// The start position.
        start_fen: String,
        /// standard, chess960 or from_position.
        #[serde(deserialize_with = "word")]
        variant: Word,
        /// Where White sits: "normal" with the connector on White's left, else "turned".
        #[serde(deserialize_with = "word")]
        orientation: Word,
        /// The game on this board that a gap cut off and that goes on here; absent where there is none.
        #[serde(skip_serializing_if = "Option::is_none")]
        continues: Option<String>,
        /// White's side of the clock, "left" or "right", once known.
        #[serde(deserialize_with = "word_or_null")]
        white_side: Option<Word>,
        /// Edition of the Laws, as in "fide-2023"; null in games of a version that knew none.
        laws: Option<String>,
        /// Mode of play: standard, rapid or blitz; null in games of a version that knew none.
        mode: Option<String>,
        /// Names of the players; null until they are told.
        players: Option<Players>,
        /// The time control as in the PGN tag, or as arbiters write it where PGN cannot; null until it is told.
        time_control: Option<String>,
        /// The name of the event that it is played in; absent where nobody told.
        #[serde(skip_serializing_if = "Option::is_none")]
        event: Option<String>,
        /// Where that takes place; absent where nobody told.
        #[serde(skip_serializing_if = "Option::is_none")]
        site: Option<String>,
    },
    /// A ply is credible.
    #[serde(rename = "move.made")]
    MoveMade(Move),
    /// No other reading of the ply is left.
    #[serde(rename = "move.settled")]
    MoveSettled {
        /// Its number.
        ply: u32,
        /// press, reply or shape.
        #[serde(deserialize_with = "word")]
        by: Word,
    },
    /// The ply is completed in the sense of the Laws (Art. 6.2.1).
    #[serde(rename = "move.completed")]
    MoveCompleted {
        /// Its number.
        ply: u32,
        /// press, own_next_move or game_end.
        #[serde(deserialize_with = "word")]
        by: Word,
        /// The clock at that moment.
        clock: Option<Clock>,
        /// The mover's time from the opponent's press to his own, in milliseconds.
        elapsed_ms: Option<u64>,
    },
    /// The ply was another one than told; later plies are withdrawn.
    #[serde(rename = "move.amended")]
    MoveAmended {
        /// What was played instead.
        #[serde(flatten)]
        played: Move,
        /// UCI of what was told before.
        replaces: Option<String>,
        /// Why.
        #[serde(deserialize_with = "word")]
        reason: Word,
    },
    /// This and all later plies are withdrawn.
    #[serde(rename = "move.retracted")]
    MoveRetracted {
        /// The first ply withdrawn.
        ply: u32,
        /// Why.
        #[serde(deserialize_with = "word")]
        reason: Word,
    },
    /// The game is over.
    #[serde(rename = "game.ended")]
    GameEnded {
        /// 1-0, 0-1, 1/2-1/2 or *.
        result: String,
        /// checkmate, stalemate, dead_position, fivefold, seventy_five_moves, kings, result_piece, reset, gap.
        #[serde(deserialize_with = "word")]
        reason: Word,
        /// board, laws or arbiter.
        #[serde(deserialize_with = "word")]
        by: Word,
        /// False until the arbiter's word, where the Laws want it.
        confirmed: bool,
    },
    /// A player could claim a draw: nothing more than that.
    #[serde(rename = "claim.available")]
    ClaimAvailable {
        /// The player on move: white or black.
        #[serde(deserialize_with = "word")]
        color: Word,
        /// The last ply made.
        ply: u32,
        /// threefold or fifty_moves.
        #[serde(deserialize_with = "word")]
        reason: Word,
        /// The plies after which the position stood, 0 for the start; of 50 moves the last pawn move or capture.
        occurrences: Vec<u32>,
        /// The move that he would have to announce, in SAN, or several of which any will do, with blanks between them;
        /// null: what is claimed stands on the board.
        intended: Option<String>,
        /// Always info: the arbiter does not mention it (Art. 9.2, 9.3: the player claims).
        #[serde(deserialize_with = "word")]
        severity: Word,
        /// As in "9.2.1".
        article: String,
        /// The edition of the Laws, as in "fide-2023".
        #[serde(deserialize_with = "word")]
        edition: Word,
    },
    /// The arbiter changed the game; what he did not change is null.
    #[serde(rename = "game.amended")]
    GameAmended {
        /// Who.
        by: String,
        /// 1-0, 0-1, 1/2-1/2 or *.
        result: Option<String>,
        /// Why it ended so, as in game.ended.
        #[serde(deserialize_with = "word_or_null")]
        reason: Option<Word>,
        /// The players.
        players: Option<Players>,
        /// The time control.
        time_control: Option<String>,
        /// All moves of the game, in UCI: events of the moves follow.
        moves: Option<Vec<String>>,
        /// The position from which the game goes on.
        position: Option<String>,
        /// What he noted.
        note: Option<String>,
    },
    /// A command came from a person.
    #[serde(rename = "command.taken")]
    CommandTaken {
        /// The sender's name for it.
        id: String,
        /// What was asked for, as in "set_result".
        #[serde(rename = "do")]
        action: String,
        /// Who asked.
        by: String,
        /// What else the command said.
        arguments: serde_json::Value,
        /// Why nothing was done; null: it was.
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
        #[serde(deserialize_with = "word")]
        kind: Word,
        /// Whose word or what closed it: board, clock, laws or arbiter.
        #[serde(deserialize_with = "word")]
        by: Word,
        /// How it ended: restored, replaced, stands, passed, decided, game_over.
        #[serde(deserialize_with = "word")]
        reason: Word,
        /// Whether it counts as an offence of the player, where that is decided only now; absent otherwise.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        counts: Option<bool>,
        /// What the arbiter decided, in his words; absent without any.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        decision: Option<String>,
    },
}

/// An incident as it is known so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Incident {
    /// Its number, per board and stream, from 1.
    pub incident: u64,
    /// What kind it is of, as in "illegal_move".
    #[serde(deserialize_with = "word")]
    pub kind: Word,
    /// Whose it is: white, black, or null where it is nobody's or both players'.
    #[serde(deserialize_with = "word_or_null")]
    pub color: Option<Word>,
    /// The ply that was due or is concerned; 0 before the game; null where no game is concerned.
    pub ply: Option<u32>,
    /// info, hint, advice or violation.
    #[serde(deserialize_with = "word")]
    pub severity: Word,
    /// The articles that it rests on, as in "7.5.1, 7.5.5".
    pub article: String,
    /// The edition of the Laws, as in "fide-2023".
    #[serde(deserialize_with = "word")]
    pub edition: Word,
    /// The case of the kind, which the catalogues of all languages have a text for, as in "illegal_move.completed".
    pub case: String,
    /// What the arbiter is advised, in the configured language.
    pub advice: String,
    /// The squares concerned, as in "e4".
    pub squares: Vec<String>,
    /// What it rests on.
    pub evidence: Proof,
}

/// What an incident rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proof {
    /// It began then on the board.
    #[serde(serialize_with = "rfc3339", deserialize_with = "time")]
    pub from: Timestamp,
    /// What was known last came in then: with the port's name it finds the bytes in the capture.
    #[serde(serialize_with = "rfc3339", deserialize_with = "time")]
    pub to: Timestamp,
    /// The position to go by, as FEN: the last one before it, where there is one.
    pub fen: Option<String>,
    /// What the clock showed.
    pub clock: Option<Clock>,
    /// What the squares told, oldest first: at most the last 32 changes.
    pub changes: Vec<SquareChange>,
    /// The values that the advice's text names, by the names that the catalogues use.
    pub values: BTreeMap<String, serde_json::Value>,
}

/// A square came to show something else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SquareChange {
    /// When the board told.
    #[serde(serialize_with = "rfc3339", deserialize_with = "time")]
    pub at: Timestamp,
    /// As in "e4".
    pub square: String,
    /// The piece as in FEN; null: it is empty.
    pub piece: Option<String>,
}

/// A ply as published.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Move {
    /// 1 is the first of the game.
    pub ply: u32,
    /// white or black.
    #[serde(deserialize_with = "word")]
    pub color: Word,
    /// UCI; null where irregular play was more than one piece going from one square to another.
    pub uci: Option<String>,
    /// English SAN; null for irregular play.
    pub san: Option<String>,
    /// The position after it.
    pub fen: String,
    /// Letter of the captured piece in English, lower case: p, n, b, r, q.
    pub captured: Option<String>,
    /// The clock when the ply was told; null without one or before White's side is known.
    pub clock: Option<Clock>,
    /// False for an irregular move.
    pub legal: bool,
    /// Found by reconstruction over a gap, not watched.
    pub inferred: bool,
    /// Told only where it is false: the plies found over the gap may have been played in another order.
    #[serde(skip_serializing_if = "core::clone::Clone::clone", default = "certain")]
    pub order_certain: bool,
}

const fn certain() -> bool {
    true
}

/// What the clock shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// White's time in milliseconds.
    pub white_ms: u64,
    /// Black's time in milliseconds.
    pub black_ms: u64,
    /// white, black, or null when nobody's time runs.
    #[serde(deserialize_with = "word_or_null")]
    pub running: Option<Word>,
    /// Whose flag is shown as fallen: white, black, both; absent while none is.
    #[serde(
        deserialize_with = "word_or_null",
        skip_serializing_if = "Option::is_none",
        default
    )]
    pub flag: Option<Word>,
}

impl From<ClockFace> for Clock {
    fn from(face: ClockFace) -> Self {
        Self {
            white_ms: face.white_ms,
            black_ms: face.black_ms,
            running: face.running.map(|color| color.fold_wb("white", "black")),
            flag: match (face.flags.white, face.flags.black) {
                (false, false) => None,
                (true, false) => Some("white"),
                (false, true) => Some("black"),
                (true, true) => Some("both"),
            },
        }
    }
}

/// The players' names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Players {
    /// White's name.
    pub white: Option<String>,
    /// Black's name.
    pub black: Option<String>,
}

impl Players {
    /// The same two with each other's colours.
    #[must_use]
    pub fn exchanged(&self) -> Self {
        Self {
            white: self.black.clone(),
            black: self.white.clone(),
        }
    }
}

/// RFC 3339 in UTC with microseconds, as all times in events are written.
#[must_use]
pub fn time_text(at: Timestamp) -> String {
    jiff::Timestamp::from_microsecond(at.as_micros()).map_or_else(|_| String::new(), |at| format!("{at:.6}"))
}

pub(crate) fn rfc3339<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&time_text(*at))
}

pub(crate) fn rfc3339_option<S: Serializer>(
    at: &Option<Timestamp>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_some(&at.map(time_text))
}

fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    let at: jiff::Timestamp = String::deserialize(deserializer)?
        .parse()
        .map_err(D::Error::custom)?;
    Ok(Timestamp::from_micros(at.as_microsecond()))
}

fn some_time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    time(deserializer).map(Some)
}

fn word<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Word, D::Error> {
    String::deserialize(deserializer).map(lasting)
}

fn word_or_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Word>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.map(lasting))
}

/// The word for as long as the program runs. The contract has few dozen of them, and each is kept once.
fn lasting(word: String) -> Word {
    static WORDS: Mutex<BTreeSet<Word>> = Mutex::new(BTreeSet::new());
    let mut words = WORDS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = words.get(word.as_str()) {
        return known;
    }
    let word: Word = word.leak();
    words.insert(word);
    word
}
