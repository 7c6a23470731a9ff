//! A game as people outside the hall see it.

use kiebitz_game::events::pairing::PairedGame;
use kiebitz_game::events::record::GameRecord;
use kiebitz_game::events::{Event, EventKind};
use kiebitz_hardware::Timestamp;

/// A game with what its record does not have.
#[derive(Debug)]
pub(in crate::output) struct Shown {
    pub(in crate::output) record: GameRecord,
    /// Its round and table.
    pub(in crate::output) paired: PairedGame,
    /// The board's serial number.
    pub(in crate::output) serial: Option<String>,
    /// When its first move was made.
    pub(in crate::output) first_move: Option<Timestamp>,
}

impl Shown {
    pub(in crate::output) fn begin(event: &Event, serial: Option<String>) -> Option<Self> {
        Some(Self {
            record: GameRecord::from_started(event)?,
            paired: PairedGame::begin(event)?,
            serial,
            first_move: None,
        })
    }

    pub(in crate::output) fn apply(&mut self, event: &Event) {
        self.record.apply(event);
        self.paired.apply(event);
        if let EventKind::MoveMade(played) = &event.kind
            && played.ply == 1
        {
            self.first_move = Some(event.at.unwrap_or(event.ts));
        }
    }

    /// Its round and its table, as far as they are known.
    pub(in crate::output) fn place(&self) -> (Option<u32>, Option<u32>) {
        self.paired.place()
    }
}

impl AsRef<PairedGame> for Shown {
    fn as_ref(&self) -> &PairedGame {
        &self.paired
    }
}
