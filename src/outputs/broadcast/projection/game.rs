//! A game of the broadcast.

use kiebitz_game::events::pairing::PairedGame;
use kiebitz_game::events::record::{GameRecord, MoveRecord};
use kiebitz_game::events::{CorrectionReason, Event, EventKind};
use kiebitz_hardware::Timestamp;

/// A game with facts that are not part of its record.
#[derive(Debug)]
pub(in crate::outputs) struct ShownGame {
    pub(in crate::outputs) record: GameRecord,
    pub(in crate::outputs) paired: PairedGame,
    pub(in crate::outputs) serial: Option<String>,
    /// The plies, without withdrawn ones, with the times at which they were played on the board.
    times: Vec<(u32, Timestamp)>,
    /// The time of an arbiter's last correction of a move. The moves that the arbiter entered after it have the same time.
    corrected: Option<Timestamp>,
}

impl ShownGame {
    pub(in crate::outputs) fn begin(event: &Event, serial: Option<String>) -> Option<Self> {
        Some(Self {
            record: GameRecord::from_started(event)?,
            paired: PairedGame::begin(event)?,
            serial,
            times: Vec::new(),
            corrected: None,
        })
    }

    pub(in crate::outputs) fn apply(&mut self, event: &Event) {
        self.record.apply(event);
        self.paired.apply(event);
        if let EventKind::MoveAmended {
            reason: CorrectionReason::Arbiter,
            ..
        } = &event.kind
        {
            self.corrected = Some(event.ts);
        }
        match &event.kind {
            EventKind::MoveMade(played) | EventKind::MoveAmended { played, .. } => {
                self.withdraw(played.ply);
                // A move that an arbiter entered was played at an unknown time after the move before.
                let is_entered = self.corrected == Some(event.ts);
                let before = self.times.last().filter(|_| is_entered).map(|(_, at)| *at);
                let at = before.or(event.at).unwrap_or(event.ts);
                self.times.push((played.ply, at));
            }
            EventKind::MoveRetracted { ply, .. } => self.withdraw(*ply),
            _ => {}
        }
    }

    fn withdraw(&mut self, first: u32) {
        self.times.retain(|(ply, _)| *ply < first);
    }

    /// The time of the first move; `None` before it.
    pub(in crate::outputs) fn first_move(&self) -> Option<Timestamp> {
        self.times.first().map(|(_, at)| *at)
    }

    /// The time since the move before a move, in milliseconds. Zero if it is unknown: for the first move, for a move that
    /// was reconstructed over a gap, and for one that an arbiter corrected.
    pub(in crate::outputs) fn took_ms(&self, entry: &MoveRecord) -> u64 {
        let pairs = self.times.iter().zip(self.times.iter().skip(1));
        let pair = pairs
            .filter(|_| !entry.inferred)
            .find(|(_, (ply, _))| *ply == entry.ply);
        let took = pair.map(|((_, before), (_, at))| at.saturating_duration_since(*before));
        u64::try_from(took.unwrap_or_default().as_millis()).unwrap_or(u64::MAX)
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
