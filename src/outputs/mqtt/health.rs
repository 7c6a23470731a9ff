//! The health of a board: connection, clock, battery and open incidents.

use kiebitz_game::events::incidents::Incidents;
use kiebitz_game::events::{rfc3339, rfc3339_option};
use kiebitz_game::laws::{IncidentKind, Severity};
use kiebitz_hardware::Timestamp;
use kiebitz_protocol::Counters;
use serde::Serialize;

use super::payload::{BoardState, ClockPresence};

/// Whether a board needs a person, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Health {
    /// The board is connected, has no open incidents, and its clock's battery is not low.
    pub ok: bool,
    /// The board answers.
    pub connected: bool,
    pub clock: ClockPresence,
    /// Charge of the board's battery in percent, 0 to 100; `None` if the board has none or does not report it.
    pub battery: Option<u8>,
    /// Open incidents of at least severity `Advice`, oldest first.
    pub open: Vec<HealthProblem>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct HealthProblem {
    pub kind: IncidentKind,
    pub severity: Severity,
    /// Start of the incident's evidence.
    #[serde(serialize_with = "rfc3339")]
    pub since: Timestamp,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub squares: Vec<String>,
}

/// Counters of the connection to a board.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct LineHealth {
    /// Time of the last data from the board; `None` until the first after the start of kiebitz.
    #[serde(serialize_with = "rfc3339_option")]
    pub heard: Option<Timestamp>,
    /// Number of complete messages.
    pub messages: u64,
    /// Number of bytes outside messages or in damaged ones. On a bus, includes those of all boards.
    pub damaged_bytes: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct HealthView<'h> {
    #[serde(flatten)]
    pub(crate) health: &'h Health,
    pub(crate) line: LineHealth,
    #[serde(serialize_with = "rfc3339")]
    pub(crate) as_of: Timestamp,
}

impl Health {
    /// The health of a board with this state and these incidents. Leaves out incidents that are only for the record or
    /// only for a player to act on.
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
    /// Combines the time of the last data with the counters of the connection.
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
