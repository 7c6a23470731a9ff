//! What a daemon says of itself.

use std::collections::BTreeMap;

use kiebitz_game::events::{rfc3339, rfc3339_option};
use kiebitz_hardware::Timestamp;
use serde::Serialize;

use crate::outputs::shared::reports::OutputReport;

/// Of a daemon: whether it is there, and what it serves.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DaemonState {
    /// online or offline.
    pub state: &'static str,
    /// The machine it runs on.
    pub host: String,
    /// Its version.
    pub version: &'static str,
    /// What it published when it was last online; absent in the last will, which the broker publishes for it.
    #[serde(flatten)]
    pub online: Option<Online>,
}

/// What a daemon publishes while it is online.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Online {
    /// When it was started.
    #[serde(serialize_with = "rfc3339")]
    pub started: Timestamp,
    /// When this was published.
    #[serde(serialize_with = "rfc3339")]
    pub as_of: Timestamp,
    /// Seconds between the two.
    pub uptime_s: u64,
    /// Names of its boards.
    pub boards: Vec<String>,
    /// How it is beside that; `None`: it keeps nothing, and nobody asks.
    #[serde(flatten)]
    pub health: Option<DaemonHealth>,
}

/// What a daemon depends on, and how that is.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct DaemonHealth {
    /// Whether it can keep what it publishes.
    #[serde(flatten)]
    pub storage: StorageState,
    /// How far the broker has it.
    pub delivery: DeliveryState,
    /// The computer.
    pub machine: Machine,
    /// How the places fare that get the broadcast, by name; absent where there are none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: BTreeMap<String, OutputReport>,
    /// The round that its boards get pairings of; absent while there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
}

/// How far the broker has what is published.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct DeliveryState {
    /// Messages in memory that it does not have.
    pub queued: usize,
    /// Boards of which further events wait in the journal.
    pub behind: usize,
    /// How long the last event took from what happened until the broker had it, in milliseconds.
    pub last_ms: Option<u64>,
    /// How many events it has got since the start; not those that were read from the journal.
    #[serde(skip)]
    pub events: u64,
    /// How long all of these took, in milliseconds.
    #[serde(skip)]
    pub all_ms: u64,
}

/// A computer. What its system does not tell is `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Machine {
    /// The disk with the journal.
    pub disk: Option<Disk>,
    /// In degrees Celsius.
    pub temperature_c: Option<f64>,
    /// Whether the power supply is too weak.
    pub under_voltage: Option<bool>,
    /// What the daemon has in memory.
    pub memory_bytes: Option<u64>,
}

/// A disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Disk {
    /// Room that is left.
    pub free_bytes: u64,
    /// All of it.
    pub size_bytes: u64,
}

/// Whether the daemon's disks take what they are given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct StorageState {
    /// The journal, with all events.
    pub journal: DiskState,
    /// The recordings of all bytes.
    pub recordings: DiskState,
}

/// Whether a disk takes what it is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DiskState {
    /// It does.
    pub ok: bool,
    /// Since when it does not.
    #[serde(serialize_with = "rfc3339_option", skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// What is wrong, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// How many events wait to be kept; of the journal alone.
    #[serde(skip_serializing_if = "is_zero")]
    pub waiting: u64,
    /// How many events were published and will never be kept, because too many waited; of the journal alone.
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
    /// Of a daemon that is there.
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

    /// Of a daemon that is online and has not published more yet.
    #[must_use]
    pub fn just_online(host: &str) -> Self {
        Self {
            state: "online",
            host: host.to_owned(),
            version: VERSION,
            online: None,
        }
    }

    /// Of a daemon that is gone: its last message, or the last will.
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
