//! An entry in a list of games.

use std::collections::BTreeMap;

use kiebitz_game::events::record::GameRecord;
use kiebitz_game::events::{EndReason, Event, EventKind, GameResult, rfc3339, rfc3339_option};
use kiebitz_game::laws::Severity;
use kiebitz_hardware::Timestamp;
use serde::Serialize;

use super::KeptGame;
use crate::tournament::table_of;

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Listed {
    pub(crate) game: String,
    pub(crate) board: String,
    #[serde(serialize_with = "rfc3339")]
    pub(crate) started: Timestamp,
    #[serde(serialize_with = "rfc3339_option")]
    pub(crate) ended: Option<Timestamp>,
    pub(crate) round: Option<u32>,
    pub(crate) table: Option<u32>,
    pub(crate) white: Option<String>,
    pub(crate) black: Option<String>,
    pub(crate) result: GameResult,
    pub(crate) reason: Option<EndReason>,
    pub(crate) confirmed: bool,
    /// Number of half-moves.
    pub(crate) plies: usize,
    pub(crate) violations: usize,
    pub(crate) advice: usize,
    pub(crate) hints: usize,
}

impl Listed {
    /// The entry of the game with these events; `None` if the first event does not start it.
    pub(crate) fn of(game: &KeptGame, events: &[Event]) -> Option<Self> {
        let record = GameRecord::of(events)?;
        let mut severities = BTreeMap::new();
        for event in events {
            if let EventKind::IncidentOpened(known) | EventKind::IncidentUpdated(known) = &event.kind {
                severities.insert(known.incident, known.severity);
            }
        }
        let count = |severity| severities.values().filter(|known| **known == severity).count();
        let players = record.players.unwrap_or_default();
        Some(Self {
            game: record.game,
            board: game.board.clone(),
            started: record.started,
            ended: record.ended,
            round: players.round.or(record.round),
            table: players.table.or_else(|| table_of(&game.board)),
            white: players.white,
            black: players.black,
            result: record.result,
            reason: record.reason,
            confirmed: record.confirmed,
            plies: record.moves.len(),
            violations: count(Severity::Violation),
            advice: count(Severity::Advice),
            hints: count(Severity::Hint),
        })
    }

    /// Whether a player's name contains `player`, ignoring case.
    pub(crate) fn is_of(&self, player: &str) -> bool {
        let player = player.to_lowercase();
        let mut names = [&self.white, &self.black].into_iter().flatten();
        names.any(|name| name.to_lowercase().contains(&player))
    }
}
