//! Limits on connections and open files. This module alone divides the process's file descriptors: each listener gets a
//! share, and the rest is reserved for boards, the journal, recordings and outputs.

mod places;

pub(crate) use places::{Client, Place, Places, network};

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

/// File descriptors reserved for everything but listeners. A USB tree has at most 127 devices, so ports and their
/// recordings need up to 254. The journal and its readers, published files and connections to other computers need
/// fewer than 100. The rest is for short operations, such as a download of past games.
const RESERVED: usize = 512;
/// Lower bound of a reduced limit, even if the system allows very few open files.
const MIN_LIMIT: usize = 4;

/// Maximum number of open files of this process; not set if it is at least [`needed_files`].
static OPEN_FILES: OnceLock<usize> = OnceLock::new();

impl Listener {
    /// Maximum number of connections with short requests.
    pub(crate) fn connections(self) -> usize {
        scaled(self.unscaled_connections(), OPEN_FILES.get().copied())
    }

    pub(crate) fn stream_places(self) -> Places {
        Places::new(self.streams())
    }

    /// Maximum number of long-lived connections, in addition to [`connections`](Self::connections).
    pub(crate) fn streams(self) -> usize {
        scaled(self.unscaled_streams(), OPEN_FILES.get().copied())
    }

    const fn unscaled_connections(self) -> usize {
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

    const fn unscaled_streams(self) -> usize {
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

/// Number of open files at which no limit of a listener is reduced.
pub(crate) fn needed_files() -> usize {
    RESERVED + listeners_files()
}

fn listeners_files() -> usize {
    // Each listener has a socket of its own.
    let files = |listener: Listener| 1 + listener.unscaled_connections() + listener.unscaled_streams();
    ALL.into_iter().map(files).sum()
}

/// Reduces a limit so that all listeners together leave [`RESERVED`] of the `open_files` allowed.
fn scaled(limit: usize, open_files: Option<usize>) -> usize {
    let Some(open_files) = open_files else {
        return limit;
    };
    // If the reserve is more than half of the files, listeners still get half.
    let shared = open_files.saturating_sub(RESERVED).max(open_files / 2);
    let part = limit * shared.min(listeners_files()) / listeners_files();
    part.max(MIN_LIMIT.min(limit))
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
        // Fails only if called a second time.
        let _ = OPEN_FILES.set(allowed);
        tracing::warn!(
            "the system allows {allowed} open files, but kiebitz may need {needed}: pages and clients get fewer \
             connections, so that boards and the journal keep theirs; set LimitNOFILE={needed} in the unit, or \
             `ulimit -n {needed}`"
        );
    }
}

/// Returns the soft limit to set: `needed`, or the hard limit if that is lower. Returns `None` if the soft limit is
/// already high enough. `soft` and `hard` are `None` if there is no limit.
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
            let files = |listener: Listener| {
                1 + scaled(listener.unscaled_connections(), Some(open_files))
                    + scaled(listener.unscaled_streams(), Some(open_files))
            };
            let sum: usize = ALL.into_iter().map(files).sum();
            let reserved = RESERVED.min(open_files / 4);
            assert!(sum + reserved <= open_files, "{sum} of {open_files}");
            assert!(scaled(Listener::Desk.unscaled_connections(), Some(open_files)) >= MIN_LIMIT);
        }
        for listener in ALL {
            let all = listener.unscaled_connections();
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
