//! Games and incidents of a board, computed from its events. Used by MQTT, desk and alarms.

use std::collections::{BTreeMap, BTreeSet};

use kiebitz_game::events::incidents::Incidents;
use kiebitz_game::events::record::{GameRecord, Games};
use kiebitz_game::events::{Event, EventKind, Incident};
use kiebitz_hardware::Timestamp;

#[derive(Debug, Default)]
pub(in crate::outputs) struct BoardRecord {
    pub(in crate::outputs) games: Games,
    pub(in crate::outputs) incidents: Incidents,
    /// Opening times of the incidents of the current game, and of older ones that are still open.
    opened: BTreeMap<u64, Timestamp>,
}

/// Parts of a [`BoardRecord`] that an event has changed.
#[derive(Debug, Clone, Copy)]
pub(in crate::outputs) struct Changed {
    pub(in crate::outputs) games: bool,
    pub(in crate::outputs) incidents: bool,
}

impl BoardRecord {
    /// Applies an event of the board.
    pub(in crate::outputs) fn apply(&mut self, event: &Event) -> Changed {
        let changed = Changed {
            games: self.games.apply(event),
            incidents: self.incidents.apply(event),
        };
        match &event.kind {
            EventKind::IncidentOpened(incident) => {
                self.opened.insert(incident.incident, event.ts);
            }
            EventKind::GameStarted { .. } => {
                let open: BTreeSet<u64> = self.incidents.open().map(|incident| incident.incident).collect();
                self.opened.retain(|number, _| open.contains(number));
            }
            _ => {}
        }
        changed
    }

    pub(in crate::outputs) fn game(&self) -> Option<&GameRecord> {
        self.games.current()
    }

    /// Opening time of an incident; `None` if it was opened before the first event of this record.
    pub(in crate::outputs) fn since(&self, incident: &Incident) -> Option<Timestamp> {
        self.opened.get(&incident.incident).copied()
    }
}
