//! A game of the journal in a list of them.

use std::collections::BTreeMap;

use kiebitz_game::events::record::GameRecord;
use kiebitz_game::events::{EndReason, Event, EventKind, GameResult, rfc3339, rfc3339_option};
use kiebitz_game::laws::Severity;
use kiebitz_hardware::Timestamp;
use serde::Serialize;

use super::KeptGame;
use crate::tournament::table_of;

/// A game in a list.
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
    /// Half-moves.
    pub(crate) plies: usize,
    pub(crate) violations: usize,
    pub(crate) advice: usize,
    pub(crate) hints: usize,
}

impl Listed {
    /// The game with these events; `None` where the first does not start it.
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

    /// Whether somebody plays it in whose name that is, in whatever letters.
    pub(crate) fn is_of(&self, player: &str) -> bool {
        let player = player.to_lowercase();
        let mut names = [&self.white, &self.black].into_iter().flatten();
        names.any(|name| name.to_lowercase().contains(&player))
    }
}
