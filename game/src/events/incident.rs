//! Fields of the events that open and update an incident.

use std::collections::BTreeMap;

use kiebitz_hardware::Timestamp;
use serde::{Deserialize, Serialize};
use shakmaty::Color;

use super::{Clock, color, rfc3339, time};
use crate::laws::{Edition, IncidentKind, Severity};

/// Current state of an incident.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Incident {
    /// Number of the incident in this board's stream, from 1.
    pub incident: u64,
    /// Kind of the incident.
    pub kind: IncidentKind,
    /// Player concerned; `None` if nobody or both are.
    #[serde(with = "color::option")]
    pub color: Option<Color>,
    /// The ply that was due or is affected; 0 before the game; null without a game.
    pub ply: Option<u32>,
    /// How serious the incident is.
    pub severity: Severity,
    /// Articles of the Laws that apply, as in "7.5.1, 7.5.5".
    pub article: String,
    /// The edition of the Laws.
    pub edition: Edition,
    /// Case within the kind, as in "illegal_move.completed". Each has a text in the catalogue of every language.
    pub case: String,
    /// Advice to the arbiter, in the configured language.
    pub advice: String,
    /// Affected squares, as in "e4".
    pub squares: Vec<String>,
    /// Evidence for the incident.
    pub evidence: Proof,
}

/// Evidence for an incident.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proof {
    /// Time at which the incident began on the board.
    #[serde(serialize_with = "rfc3339", deserialize_with = "time")]
    pub from: Timestamp,
    /// Arrival of the latest evidence. With the name of the port it locates the bytes in the recording.
    #[serde(serialize_with = "rfc3339", deserialize_with = "time")]
    pub to: Timestamp,
    /// Position on which the incident is judged, as FEN: usually the last legal one.
    pub fen: Option<String>,
    /// Times of the clock; null if unknown.
    pub clock: Option<Clock>,
    /// Changes of squares that led to the incident, oldest first, at most the last 32.
    pub changes: Vec<SquareChange>,
    /// Values for the placeholders of the advice, under the names that the catalogues use.
    pub values: BTreeMap<String, serde_json::Value>,
}

/// A reported change of the content of a square.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SquareChange {
    /// Time of the report.
    #[serde(serialize_with = "rfc3339", deserialize_with = "time")]
    pub at: Timestamp,
    /// Name of the square, as in "e4".
    pub square: String,
    /// The piece as in FEN; null if the square is empty.
    pub piece: Option<String>,
}
