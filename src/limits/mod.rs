//! Limits on connections and open files. This is the one place that divides the process's file descriptors: every
//! listener has a part of them, and the rest is reserved for boards, the journal, recordings and outputs.

mod places;

pub(crate) use places::{Place, Places};

use std::sync::OnceLock;

/// A server of kiebitz that accepts connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listener {
    /// The status page, `[http]`.
    Status,
    /// The broadcast and its web pages, `[publish]`.
    Broadcast,
    /// The arbiters' page, `[desk]`.
    Desk,
    /// The API that is compatible with LiveChess, `[livechess]`.
    LiveChess,
    /// The MQTT broker of `kiebitz demo`.
    DemoBroker,
}

const ALL: [Listener; 5] = [
    Listener::Status,
    Listener::Broadcast,
    Listener::Desk,
    Listener::LiveChess,
    Listener::DemoBroker,
];

/// Descriptors for everything but listeners. A USB tree has at most 127 devices, so ports and their recordings take up
/// to 254. The journal and its readers, published files and connections to other computers take fewer than 100. Short
/// operations, such as a download of past games, take the rest.
const RESERVED: usize = 512;
/// Number of connections that a listener has even if the system allows very few open files.
const FEWEST: usize = 4;

/// Maximum number of open files of this process; not set if it is at least [`needed_files`].
static OPEN_FILES: OnceLock<usize> = OnceLock::new();

impl Listener {
    /// Maximum number of connections with short requests.
    pub(crate) fn connections(self) -> usize {
        scaled(self.all_connections(), OPEN_FILES.get().copied())
    }

    /// Places for long-lived connections.
    pub(crate) fn stream_places(self) -> Places {
        Places::new(self.streams())
    }

    /// Maximum number of long-lived connections, in addition to [`connections`](Self::connections).
    pub(crate) fn streams(self) -> usize {
        scaled(self.all_streams(), OPEN_FILES.get().copied())
    }

    const fn all_connections(self) -> usize {
        match self {
            // Programs and people of this computer.
            Self::Status => 32,
            // A larger audience needs a proxy or a bucket.
            Self::Broadcast => 256,
            // The arbiters of one event.
            Self::Desk => 64,
            // Programs in one hall.
            Self::LiveChess => 64,
            Self::DemoBroker => 128,
        }
    }

    const fn all_streams(self) -> usize {
        match self {
            Self::Status | Self::DemoBroker => 0,
            // Viewers that exceed the limit poll the files.
            Self::Broadcast => 600,
            // Open pages of arbiters.
            Self::Desk => 64,
            // WebSocket clients.
            Self::LiveChess => 32,
        }
    }
}

/// Number of open files with which all listeners have all their connections.
pub(crate) fn needed_files() -> usize {
    RESERVED + listeners_files()
}

fn listeners_files() -> usize {
    // Each listener has a socket of its own.
    let of = |listener: Listener| 1 + listener.all_connections() + listener.all_streams();
    ALL.into_iter().map(of).sum()
}

/// Reduces a limit so that all listeners together leave [`RESERVED`] of `open_files`.
fn scaled(limit: usize, open_files: Option<usize>) -> usize {
    let Some(open_files) = open_files else {
        return limit;
    };
    // A system with fewer files than the reserve gives half of them to listeners.
    let shared = open_files.saturating_sub(RESERVED).max(open_files / 2);
    let part = limit * shared.min(listeners_files()) / listeners_files();
    part.max(FEWEST.min(limit))
}

/// Raises the soft limit of open files, and logs a warning if the hard limit is too low. Call before any listener is
/// started.
#[cfg(target_os = "linux")]
pub(crate) fn prepare_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let limits = getrlimit(Resource::Nofile);
    let needed = needed_files();
    let Some(raised) = soft_limit(limits.current, limits.maximum, needed as u64) else {
        return;
    };
    let changed = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: Some(raised),
            maximum: limits.maximum,
        },
    );
    let allowed = match changed {
        Ok(()) => raised,
        Err(error) => {
            tracing::debug!("cannot raise the limit of open files to {raised}: {error}");
            limits.current.unwrap_or(raised)
        }
    };
    let allowed = usize::try_from(allowed).unwrap_or(usize::MAX);
    if allowed < needed {
        // The limit is prepared once per process.
        let _ = OPEN_FILES.set(allowed);
        tracing::warn!(
            "the system allows {allowed} open files, but kiebitz may need {needed}: pages and clients get fewer \
             connections, so that boards and the journal keep theirs; set LimitNOFILE={needed} in the unit, or \
             `ulimit -n {needed}`"
        );
    }
}

/// Returns the soft limit to set: at least `needed` if the hard limit allows it. `None` if the soft limit is high
/// enough. A limit of `None` is infinite.
#[cfg(target_os = "linux")]
fn soft_limit(soft: Option<u64>, hard: Option<u64>, needed: u64) -> Option<u64> {
    let soft = soft.filter(|soft| *soft < needed)?;
    Some(hard.map_or(needed, |hard| hard.min(needed)).max(soft))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listeners_leave_files_for_boards_and_the_journal() {
        for open_files in [128, 256, 1024, needed_files() - 1, needed_files(), 1 << 20] {
            let of = |listener: Listener| {
                1 + scaled(listener.all_connections(), Some(open_files))
                    + scaled(listener.all_streams(), Some(open_files))
            };
            let sum: usize = ALL.into_iter().map(of).sum();
            let reserved = RESERVED.min(open_files / 4);
            assert!(sum + reserved <= open_files, "{sum} of {open_files}");
            assert!(scaled(Listener::Desk.all_connections(), Some(open_files)) >= FEWEST);
        }
        for listener in ALL {
            let all = listener.all_connections();
            assert_eq!(scaled(all, None), all);
            assert_eq!(scaled(all, Some(needed_files())), all);
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_soft_limit_is_raised_as_far_as_needed_and_allowed() {
        assert_eq!(soft_limit(Some(1024), Some(524_288), 2000), Some(2000));
        assert_eq!(soft_limit(Some(1024), None, 2000), Some(2000));
        assert_eq!(soft_limit(Some(1024), Some(1500), 2000), Some(1500));
        assert_eq!(soft_limit(Some(1024), Some(1024), 2000), Some(1024));
        assert_eq!(soft_limit(Some(2000), Some(524_288), 2000), None);
        assert_eq!(soft_limit(None, None, 2000), None);
    }

    #[test]
    fn the_unit_allows_all_files() {
        let unit = include_str!("../../systemd/kiebitz.service");
        let limit = unit.lines().find_map(|line| line.strip_prefix("LimitNOFILE="));
        let limit: usize = limit.expect("a limit").parse().expect("a number");
        assert!(limit >= needed_files(), "{limit} of {}", needed_files());
    }
}
