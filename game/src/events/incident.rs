//! Incidents as events carry them.

use std::collections::BTreeMap;

use kiebitz_hardware::Timestamp;
use serde::{Deserialize, Serialize};
use shakmaty::Color;

use super::{Clock, color, rfc3339, time};
use crate::laws::{Edition, IncidentKind, Severity};

/// An incident as it is known so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Incident {
    /// Its number, per board and stream, from 1.
    pub incident: u64,
    /// Its kind.
    pub kind: IncidentKind,
    /// Whose it is; `None` where it is nobody's or both players'.
    #[serde(with = "color::option")]
    pub color: Option<Color>,
    /// The ply that was due or is concerned; 0 before the game; null where no game is concerned.
    pub ply: Option<u32>,
    /// How serious it is.
    pub severity: Severity,
    /// The articles that it rests on, as in "7.5.1, 7.5.5".
    pub article: String,
    /// The edition of the Laws.
    pub edition: Edition,
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
    /// The last that is known of it came in then: with the port's name this finds the bytes in the capture.
    #[serde(serialize_with = "rfc3339", deserialize_with = "time")]
    pub to: Timestamp,
    /// The position to go by, as FEN: the last one before it, where there is one.
    pub fen: Option<String>,
    /// What the clock showed.
    pub clock: Option<Clock>,
    /// The changes of squares that led to it, oldest first: at most the last 32.
    pub changes: Vec<SquareChange>,
    /// The values that the advice's text names, by the names that the catalogues use.
    pub values: BTreeMap<String, serde_json::Value>,
}

/// A change of a square.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SquareChange {
    /// When the board reported it.
    #[serde(serialize_with = "rfc3339", deserialize_with = "time")]
    pub at: Timestamp,
    /// As in "e4".
    pub square: String,
    /// The piece as in FEN; null: it is empty.
    pub piece: Option<String>,
}
