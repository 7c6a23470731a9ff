//! Summary of the round over the boards of a daemon.

use std::collections::BTreeMap;

use kiebitz_game::events::{GameResult, rfc3339};
use kiebitz_game::laws::{IncidentKind, Severity};
use kiebitz_hardware::Timestamp;
use serde::Serialize;

use super::projection::Projection;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct RoundTotals {
    pub boards: usize,
    /// Number of boards that answer.
    pub connected: usize,
    /// Number of boards with a game in progress.
    pub playing: usize,
    /// Number of boards whose last game is over.
    pub ended: usize,
    /// Number of games that are over, by result.
    pub results: BTreeMap<GameResult, usize>,
    /// Open incidents that need a person, the most severe and then the oldest first.
    pub attention: Vec<Attention>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Attention {
    pub board: String,
    pub kind: IncidentKind,
    pub severity: Severity,
    /// Start of the incident's evidence.
    #[serde(serialize_with = "rfc3339")]
    pub since: Timestamp,
}

impl RoundTotals {
    /// Sums up all boards that are not removed.
    pub(crate) fn of<'p>(boards: impl Iterator<Item = &'p Projection>) -> Self {
        let mut round = Self::default();
        for board in boards.filter(|board| !board.is_forgotten()) {
            let (state, game, incidents) = board.summary();
            round.boards += 1;
            round.connected += usize::from(state.connected);
            if let Some(game) = game {
                if game.ended.is_some() {
                    round.ended += 1;
                    *round.results.entry(game.result).or_default() += 1;
                } else {
                    round.playing += 1;
                }
            }
            let open = incidents.open();
            let calls = open.filter(|incident| incident.severity >= Severity::Advice);
            round.attention.extend(calls.map(|incident| Attention {
                board: state.board.clone(),
                kind: incident.kind,
                severity: incident.severity,
                since: incident.evidence.from,
            }));
        }
        let gravity = |one: &Attention| (core::cmp::Reverse(one.severity), one.since);
        round.attention.sort_by_key(gravity);
        round
    }
}
