//! A board's open and past incidents, and the number of offences.

use std::collections::BTreeMap;

use shakmaty::ByColor;

use crate::events::{Decision, Event, EventKind, Incident, IncidentEnd};
use crate::laws::IncidentKind;

/// The incidents of a board: a projection of its events.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Incidents {
    last: u64,
    open: BTreeMap<u64, Incident>,
    /// Closed incidents of the last game. The arbiter may still decide them.
    past: BTreeMap<u64, Incident>,
    /// The latest decision of an arbiter on each incident of the last game.
    decided: BTreeMap<u64, Decided>,
    offences: ByColor<u32>,
    /// Whether an arbiter ruled that the players of the last game have exchanged colours.
    reversed: bool,
}

/// An arbiter's decision on an incident.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// Author and time of the decision.
    pub decision: Decision,
    /// The arbiter's words, or the ruling on a claim; `None` if there are none.
    pub text: Option<String>,
}

/// Key of the offence number among the values in the evidence of an incident.
const OFFENCE: &str = "offence";

/// Number of the incident among its player's offences, from 1; 0 if it is not an offence.
pub(crate) fn offence(incident: &Incident) -> u32 {
    let number = incident.evidence.values.get(OFFENCE);
    let number = number.and_then(serde_json::Value::as_u64);
    number.map_or(0, |number| u32::try_from(number).unwrap_or(u32::MAX))
}

/// Makes an incident count as an offence, or stops it from counting.
pub fn set_counts(incident: &mut Incident, counts: bool) {
    let offence = if counts { offence(incident).max(1) } else { 0 };
    incident
        .evidence
        .values
        .insert(OFFENCE.to_owned(), offence.into());
}

impl Incidents {
    /// Applies the board's next event. Returns whether the list of open incidents changed.
    pub fn apply(&mut self, event: &Event) -> bool {
        match &event.kind {
            EventKind::IncidentOpened(incident) | EventKind::IncidentUpdated(incident) => {
                self.last = self.last.max(incident.incident);
                self.count(incident);
                self.open.insert(incident.incident, (**incident).clone());
                self.reversed |= incident.kind == IncidentKind::ColorsReversed;
                true
            }
            EventKind::IncidentClosed {
                incident,
                kind,
                reason,
                counts,
                decision,
                decided_by,
                ..
            } => {
                if let Some(by) = decided_by.clone() {
                    let (decision, text) = (Decision { by, at: event.ts }, decision.clone());
                    self.decided.insert(*incident, Decided { decision, text });
                }
                let is_put_right = *kind == IncidentKind::ColorsReversed && *reason == IncidentEnd::Restored;
                self.reversed &= !is_put_right;
                self.close(*incident, *counts)
            }
            EventKind::GameStarted { .. } => {
                self.offences = ByColor::default();
                self.past.clear();
                self.decided.clear();
                self.reversed = false;
                false
            }
            _ => false,
        }
    }

    fn count(&mut self, incident: &Incident) {
        if let Some(color) = incident.color {
            self.offences[color] = self.offences[color].max(offence(incident));
        }
    }

    fn close(&mut self, number: u64, counts: Option<bool>) -> bool {
        let open = self.open.remove(&number);
        let was_open = open.is_some();
        let Some(mut incident) = open.or_else(|| self.past.remove(&number)) else {
            return false;
        };
        if let (Some(color), Some(counts)) = (incident.color, counts) {
            set_counts(&mut incident, counts);
            let offences = &mut self.offences[color];
            *offences = if counts {
                offences.saturating_add(1)
            } else {
                offences.saturating_sub(1)
            };
        }
        self.past.insert(number, incident);
        was_open
    }

    /// Number of the last opened incident; 0 before the first.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.last
    }

    /// The open incidents, oldest first.
    pub fn open(&self) -> impl Iterator<Item = &Incident> {
        self.open.values()
    }

    /// The closed incidents of the last game, oldest first.
    pub fn past(&self) -> impl Iterator<Item = &Incident> {
        self.past.values()
    }

    /// The latest decisions of arbiters, by the number of the incident.
    pub(crate) const fn decided(&self) -> &BTreeMap<u64, Decided> {
        &self.decided
    }

    /// Whether an arbiter ruled that the players of the last game have exchanged colours.
    pub(crate) const fn are_reversed(&self) -> bool {
        self.reversed
    }

    /// Number of offences under Article 7.5 that each player completed in the last game.
    #[must_use]
    pub fn offences(&self) -> ByColor<u32> {
        self.offences
    }
}

#[cfg(test)]
mod tests {
    use kiebitz_hardware::Timestamp;
    use serde_json::json;

    use super::*;

    fn event(kind: &serde_json::Value) -> Event {
        let mut event = json!({
            "v": 1, "stream": "live", "seq": 1, "ts": "2026-11-21T14:03:07.412345Z", "board": "b",
        });
        for (key, value) in kind.as_object().expect("fields") {
            event[key] = value.clone();
        }
        serde_json::from_value(event).expect("an event")
    }

    fn opened(number: u64, offence: u32) -> Event {
        let ts = crate::events::time_text(Timestamp::from_micros(0));
        event(&json!({
            "type": "incident.opened", "incident": number, "kind": "illegal_move", "color": "black", "ply": 4,
            "severity": "violation", "article": "7.5.1", "edition": "fide-2023", "case": "illegal_move.completed",
            "advice": "Stop the clocks.", "squares": ["a6"],
            "evidence": {
                "from": ts, "to": ts, "fen": null, "clock": null, "changes": [], "values": {"offence": offence},
            },
        }))
    }

    fn closed(number: u64) -> Event {
        event(&json!({
            "type": "incident.closed", "incident": number, "kind": "illegal_move", "by": "board", "reason": "replaced",
        }))
    }

    #[test]
    fn open_incidents_and_offences_follow_from_the_events() {
        let mut incidents = Incidents::default();
        assert!(incidents.apply(&opened(1, 1)));
        assert!(incidents.apply(&opened(2, 2)));
        assert!(incidents.apply(&closed(1)));
        assert!(!incidents.apply(&closed(1)), "it was closed before");
        let open: Vec<u64> = incidents.open().map(|incident| incident.incident).collect();
        assert_eq!((open, incidents.last()), (vec![2], 2));
        assert_eq!(incidents.offences(), ByColor { white: 0, black: 2 });
    }

    #[test]
    fn a_new_game_begins_without_offences() {
        let mut incidents = Incidents::default();
        incidents.apply(&opened(1, 1));
        incidents.apply(&event(&json!({
            "type": "game.started", "start_fen": "", "variant": "standard", "orientation": "normal",
            "white_side": null, "laws": null, "mode": null, "players": null, "time_control": null,
        })));
        assert_eq!(incidents.offences(), ByColor::default());
        assert_eq!(incidents.last(), 1, "numbers go on");
    }
}
