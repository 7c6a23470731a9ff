//! Payloads about the daemon itself.

use std::collections::BTreeMap;

use kiebitz_game::events::{rfc3339, rfc3339_option};
use kiebitz_hardware::Timestamp;
use serde::Serialize;

use crate::outputs::shared::reports::OutputReport;

/// Whether a daemon is online, and which boards it has.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DaemonState {
    /// `online` or `offline`.
    pub state: &'static str,
    /// Host name of the computer.
    pub host: String,
    /// Version of kiebitz.
    pub version: &'static str,
    /// Details of a running daemon; `None` immediately after connecting, and in the last will.
    #[serde(flatten)]
    pub online: Option<Online>,
}

/// Details that a daemon publishes while it is online.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Online {
    /// Start of the daemon.
    #[serde(serialize_with = "rfc3339")]
    pub started: Timestamp,
    /// Time of publication.
    #[serde(serialize_with = "rfc3339")]
    pub as_of: Timestamp,
    /// Seconds from `started` to `as_of`.
    pub uptime_s: u64,
    /// Names of the daemon's boards.
    pub boards: Vec<String>,
    /// Health of the daemon; `None` for a replay, which stores nothing.
    #[serde(flatten)]
    pub health: Option<DaemonHealth>,
}

/// Health of storage, delivery, computer and outputs.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct DaemonHealth {
    /// Whether journal and recordings can be written.
    #[serde(flatten)]
    pub storage: StorageState,
    /// Delivery to the broker.
    pub delivery: DeliveryState,
    /// State of the computer.
    pub machine: Machine,
    /// Reports of the outputs, by name; absent if there are none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: BTreeMap<String, OutputReport>,
    /// The round whose pairings are assigned to boards; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// Address of the arbiters' desk, for links; absent if other computers cannot reach it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desk: Option<String>,
}

/// Progress of the delivery to the broker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct DeliveryState {
    /// Number of messages in memory that the broker has not acknowledged.
    pub queued: usize,
    /// Number of boards with further events in the journal.
    pub behind: usize,
    /// Delivery time of the last event, from the board to the broker's acknowledgement, in milliseconds.
    pub last_ms: Option<u64>,
    /// Number of events delivered since the start, not counting those read from the journal.
    #[serde(skip)]
    pub events: u64,
    /// Sum of the delivery times of `events`, in milliseconds.
    #[serde(skip)]
    pub all_ms: u64,
}

/// State of the daemon's computer. Values that the system does not report are `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Machine {
    /// The disk with the journal.
    pub disk: Option<Disk>,
    /// Temperature in degrees Celsius.
    pub temperature_c: Option<f64>,
    /// Whether the power supply is too weak.
    pub under_voltage: Option<bool>,
    /// Memory used by the daemon, in bytes.
    pub memory_bytes: Option<u64>,
}

/// Space on a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Disk {
    /// Free space in bytes.
    pub free_bytes: u64,
    /// Total size in bytes.
    pub size_bytes: u64,
}

/// Whether journal and recordings can be written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct StorageState {
    /// The journal with all events.
    pub journal: DiskState,
    /// The recordings of all bytes.
    pub recordings: DiskState,
}

/// Whether the journal or the recordings can be written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DiskState {
    /// Whether writing succeeds.
    pub ok: bool,
    /// Start of the failure; `None` while writing succeeds.
    #[serde(serialize_with = "rfc3339_option", skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// The problem, as a message for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Number of events waiting to be stored. Used for the journal only.
    #[serde(skip_serializing_if = "is_zero")]
    pub waiting: u64,
    /// Number of published events that will never be stored, because too many were waiting. Used for the journal only.
    #[serde(skip_serializing_if = "is_zero")]
    pub lost: u64,
}

impl Default for DiskState {
    fn default() -> Self {
        Self {
            ok: true,
            since: None,
            problem: None,
            waiting: 0,
            lost: 0,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

impl DaemonState {
    /// The state of a running daemon.
    #[must_use]
    pub fn online(
        host: &str,
        started: Timestamp,
        as_of: Timestamp,
        boards: Vec<String>,
        health: Option<DaemonHealth>,
    ) -> Self {
        let uptime_s = as_of.saturating_duration_since(started).as_secs();
        let online = Some(Online {
            started,
            as_of,
            uptime_s,
            boards,
            health,
        });
        Self {
            state: "online",
            host: host.to_owned(),
            version: VERSION,
            online,
        }
    }

    /// The state of a daemon that has just connected.
    #[must_use]
    pub fn just_online(host: &str) -> Self {
        Self {
            state: "online",
            host: host.to_owned(),
            version: VERSION,
            online: None,
        }
    }

    /// The state of a stopped daemon: its last message, and its last will.
    #[must_use]
    pub fn offline(host: &str) -> Self {
        Self {
            state: "offline",
            host: host.to_owned(),
            version: VERSION,
            online: None,
        }
    }
}
