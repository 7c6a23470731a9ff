//! How each board is: whether it and its clock answer, since when nothing was heard of it, and what is wrong with it.

use kiebitz_game::events::incidents::Incidents;
use kiebitz_game::events::{rfc3339, rfc3339_option};
use kiebitz_game::laws::{IncidentKind, Severity};
use kiebitz_hardware::Timestamp;
use kiebitz_protocol::Counters;
use serde::Serialize;

use super::payload::{BoardState, ClockPresence};

/// Of a board: whether it needs a person, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Health {
    /// It is connected, and nothing is open.
    pub ok: bool,
    /// It answers.
    pub connected: bool,
    /// The clock beside it.
    pub clock: ClockPresence,
    /// Charge of its own battery in percent, 0 to 100; `None`: it has none, or does not report it.
    pub battery: Option<u8>,
    /// What is open, the oldest first.
    pub open: Vec<HealthProblem>,
}

/// Something that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct HealthProblem {
    /// Its kind.
    pub kind: IncidentKind,
    /// How serious it is.
    pub severity: Severity,
    /// Since when.
    #[serde(serialize_with = "rfc3339")]
    pub since: Timestamp,
    /// The squares concerned.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub squares: Vec<String>,
}

/// What the line to a board has brought.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct LineHealth {
    /// When something was last heard of the board; `None`: not since kiebitz was started.
    #[serde(serialize_with = "rfc3339_option")]
    pub heard: Option<Timestamp>,
    /// Messages that came whole.
    pub messages: u64,
    /// Bytes that were none, or of damaged messages. On a bus those of all its boards.
    pub damaged_bytes: u64,
}

/// What is published of a board's health.
#[derive(Debug, Serialize)]
pub(super) struct HealthView<'h> {
    #[serde(flatten)]
    pub(crate) health: &'h Health,
    pub(crate) line: LineHealth,
    #[serde(serialize_with = "rfc3339")]
    pub(crate) as_of: Timestamp,
}

impl Health {
    /// Of a board in this state, with these incidents. What is for the record alone, or is a player's affair, is left
    /// out.
    pub(crate) fn of(board: &BoardState, incidents: &Incidents) -> Self {
        let calls = |severity: Severity| severity >= Severity::Advice;
        let open = incidents.open().filter(|incident| calls(incident.severity));
        let open: Vec<HealthProblem> = open
            .map(|incident| HealthProblem {
                kind: incident.kind,
                severity: incident.severity,
                since: incident.evidence.from,
                squares: incident.squares.clone(),
            })
            .collect();
        Self {
            ok: board.connected && open.is_empty() && !board.clock.battery_low,
            connected: board.connected,
            clock: board.clock,
            battery: board.battery,
            open,
        }
    }
}

impl LineHealth {
    /// Of a board that was last heard then, on a line with these counters.
    #[must_use]
    pub fn new(heard: Option<Timestamp>, counters: Option<&Counters>) -> Self {
        let damaged = |counters: &Counters| counters.skipped_bytes + counters.rejected_bytes;
        Self {
            heard,
            messages: counters.map_or(0, |counters| counters.messages),
            damaged_bytes: counters.map_or(0, damaged),
        }
    }
}
