//! What the events say of a board: its games, and its incidents. MQTT, desk and alarms go by it.

use std::collections::{BTreeMap, BTreeSet};

use kiebitz_game::events::incidents::Incidents;
use kiebitz_game::events::record::{GameRecord, Games};
use kiebitz_game::events::{Event, EventKind, Incident};
use kiebitz_hardware::Timestamp;

/// What the events say of a board.
#[derive(Debug, Default)]
pub(in crate::outputs) struct BoardRecord {
    pub(in crate::outputs) games: Games,
    pub(in crate::outputs) incidents: Incidents,
    /// When each incident of the game was opened, and each that is still open.
    opened: BTreeMap<u64, Timestamp>,
}

/// What an event has changed.
#[derive(Debug, Clone, Copy)]
pub(in crate::outputs) struct Changed {
    pub(in crate::outputs) games: bool,
    pub(in crate::outputs) incidents: bool,
}

impl BoardRecord {
    /// Takes in an event of the board.
    pub(in crate::outputs) fn take(&mut self, event: &Event) -> Changed {
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

    /// The game on the board.
    pub(in crate::outputs) fn game(&self) -> Option<&GameRecord> {
        self.games.current()
    }

    /// When an incident was opened; `None`: before the events that were taken in.
    pub(in crate::outputs) fn since(&self, incident: &Incident) -> Option<Timestamp> {
        self.opened.get(&incident.incident).copied()
    }
}
