//! A game of the broadcast.

use kiebitz_game::events::pairing::PairedGame;
use kiebitz_game::events::record::GameRecord;
use kiebitz_game::events::{Event, EventKind};
use kiebitz_hardware::Timestamp;

/// A game with facts that are not part of its record.
#[derive(Debug)]
pub(in crate::outputs) struct ShownGame {
    pub(in crate::outputs) record: GameRecord,
    pub(in crate::outputs) paired: PairedGame,
    pub(in crate::outputs) serial: Option<String>,
    pub(in crate::outputs) first_move: Option<Timestamp>,
}

impl ShownGame {
    pub(in crate::outputs) fn begin(event: &Event, serial: Option<String>) -> Option<Self> {
        Some(Self {
            record: GameRecord::from_started(event)?,
            paired: PairedGame::begin(event)?,
            serial,
            first_move: None,
        })
    }

    pub(in crate::outputs) fn apply(&mut self, event: &Event) {
        self.record.apply(event);
        self.paired.apply(event);
        if let EventKind::MoveMade(played) = &event.kind
            && played.ply == 1
        {
            self.first_move = Some(event.at.unwrap_or(event.ts));
        }
    }

    pub(in crate::outputs) fn place(&self) -> (Option<u32>, Option<u32>) {
        self.paired.place()
    }
}

impl AsRef<PairedGame> for ShownGame {
    fn as_ref(&self) -> &PairedGame {
        &self.paired
    }
}
