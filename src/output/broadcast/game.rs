//! A game as people outside the hall see it.

use kiebitz_hardware::Timestamp;

use crate::events::record::GameRecord;
use crate::events::{Event, EventKind};

/// A game with what its record does not have.
#[derive(Debug)]
pub(in crate::output) struct Shown {
    pub(in crate::output) record: GameRecord,
    /// The board's serial number.
    pub(in crate::output) serial: Option<String>,
    /// When its first move was made.
    pub(in crate::output) first_move: Option<Timestamp>,
}

impl Shown {
    pub(in crate::output) fn begin(event: &Event, serial: Option<String>) -> Option<Self> {
        Some(Self {
            record: GameRecord::from_started(event)?,
            serial,
            first_move: None,
        })
    }

    pub(in crate::output) fn apply(&mut self, event: &Event) {
        self.record.apply(event);
        if let EventKind::MoveMade(played) = &event.kind
            && played.ply == 1
        {
            self.first_move = Some(event.at.unwrap_or(event.ts));
        }
    }

    /// Its round and its table, as far as they are known.
    pub(in crate::output) fn place(&self) -> (Option<u32>, Option<u32>) {
        let players = self.record.players.as_ref();
        let (round, table) = players
            .map(|players| (players.round, players.table))
            .unwrap_or_default();
        (round.or(self.record.round), table)
    }
}
