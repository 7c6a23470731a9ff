//! The client id of a connection.
//!
//! If two connections have the same client id, the broker closes the older one. The daemon keeps its id across
//! restarts, so that the broker drops a dead connection, together with its last will. No other client may use the id:
//! neither another computer of the same name nor a replay on this one.

use core::hash::{Hash, Hasher};
use std::fs;
use std::hash::DefaultHasher;

use super::topics::Prefix;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClientRole {
    /// The daemon of this computer.
    Daemon,
    /// Another program on this computer, by process id.
    Process(u32),
}

/// Files that distinguish computers of the same name. Copies of a memory card share the machine id, but each Raspberry
/// Pi has its own serial number.
const MARKS: [&str; 2] = ["/etc/machine-id", "/sys/firmware/devicetree/base/serial-number"];

/// The client id for `prefix` on the computer named `host`.
pub(super) fn of(prefix: &Prefix, host: &str, client: ClientRole) -> String {
    let marks = MARKS.map(|path| fs::read(path).unwrap_or_default());
    with_marks(prefix, host, client, &marks)
}

fn with_marks(prefix: &Prefix, host: &str, client: ClientRole, marks: &[Vec<u8>]) -> String {
    // Hashed, because the machine id must not leave the computer. Half of the hash keeps the client id short.
    let mut hasher = DefaultHasher::new();
    marks.hash(&mut hasher);
    let machine = hasher.finish() & 0xffff_ffff;
    let name = format!("{prefix}/{host}").replace('/', "-");
    match client {
        ClientRole::Daemon => format!("{name}-{machine:08x}"),
        ClientRole::Process(process) => format!("{name}-{machine:08x}-{process}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(prefix: &Prefix, client: ClientRole, mark: &str) -> String {
        with_marks(prefix, "pi", client, &[mark.as_bytes().to_vec()])
    }

    #[test]
    fn the_id_of_a_client_stays_the_same() {
        let daemon = id(&Prefix::live(), ClientRole::Daemon, "a");
        assert_eq!(daemon, id(&Prefix::live(), ClientRole::Daemon, "a"));
        assert!(daemon.starts_with("kiebitz-pi-"), "{daemon}");
        let replay = id(&Prefix::replay(), ClientRole::Process(7), "a");
        assert!(
            replay.starts_with("kiebitz-replay-pi-") && replay.ends_with("-7"),
            "{replay}"
        );
    }

    #[test]
    fn ids_differ_by_computer_prefix_and_process() {
        let ids = [
            id(&Prefix::live(), ClientRole::Daemon, "a"),
            id(&Prefix::live(), ClientRole::Daemon, "b"),
            id(&Prefix::live(), ClientRole::Process(1), "a"),
            id(&Prefix::live(), ClientRole::Process(2), "a"),
            id(&Prefix::replay(), ClientRole::Daemon, "a"),
        ];
        let different: std::collections::BTreeSet<_> = ids.iter().collect();
        assert_eq!(different.len(), ids.len(), "{ids:?}");
    }
}
