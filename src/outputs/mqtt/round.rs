//! How the round goes on a daemon's boards, in one picture.

use std::collections::BTreeMap;

use kiebitz_game::events::{GameResult, rfc3339};
use kiebitz_game::laws::{IncidentKind, Severity};
use kiebitz_hardware::Timestamp;
use serde::Serialize;

use super::projection::Projection;

/// Of all boards of a daemon.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct RoundTotals {
    /// How many boards there are.
    pub boards: usize,
    /// How many of them answer.
    pub connected: usize,
    /// On so many a game is being played.
    pub playing: usize,
    /// On so many the last game is over.
    pub ended: usize,
    /// The results of those games.
    pub results: BTreeMap<GameResult, usize>,
    /// Where somebody is needed: the gravest first, then the oldest.
    pub attention: Vec<Attention>,
}

/// A board that needs somebody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Attention {
    /// The board.
    pub board: String,
    /// What it is about.
    pub kind: IncidentKind,
    /// How serious it is.
    pub severity: Severity,
    /// Since when.
    #[serde(serialize_with = "rfc3339")]
    pub since: Timestamp,
}

impl RoundTotals {
    /// Of these boards.
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
