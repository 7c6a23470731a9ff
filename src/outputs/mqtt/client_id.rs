//! The client id of a connection.
//!
//! If two connections have the same client id, the broker closes the older one. The daemon keeps its id across
//! restarts, so that the broker drops a dead connection, together with its last will. No other client may use the id:
//! neither another computer of the same name nor a replay on this one.

use core::hash::{Hash, Hasher};
use std::fs;
use std::hash::DefaultHasher;
use std::sync::OnceLock;

use super::topics::Prefix;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClientRole {
    /// The daemon of this computer.
    Daemon,
    /// Another program on this computer, by process id.
    Process(u32),
}

/// File that distinguishes computers of the same name. Containers often lack it.
const MACHINE_ID: &str = "/etc/machine-id";
/// File that distinguishes computers with copies of one memory card, which share the machine id.
const SERIAL_NUMBER: &str = "/sys/firmware/devicetree/base/serial-number";
/// Random mark of this process.
static RANDOM: OnceLock<[u8; 16]> = OnceLock::new();

/// The client id for `prefix` on the computer named `host`.
pub(super) fn of(prefix: &Prefix, host: &str, client: ClientRole) -> String {
    let [machine, serial] = [MACHINE_ID, SERIAL_NUMBER].map(|path| fs::read(path).unwrap_or_default());
    let random = RANDOM.get_or_init(|| {
        let mut random = [0; 16];
        // On failure, the mark is all zeros, and other containers may have the same id.
        let _ = getrandom::fill(&mut random);
        random
    });
    with_marks(prefix, host, client, &marks(client, machine, serial, random))
}

/// Returns the data that distinguish this client from others of the same name. The random mark is included if there is
/// no machine id, because another container may have the same name: the id of the daemon then differs after a restart.
/// A role with a process number always includes it, because the numbers are the same in all containers.
fn marks(client: ClientRole, machine: Vec<u8>, serial: Vec<u8>, random: &[u8]) -> Vec<Vec<u8>> {
    let needs_random = machine.trim_ascii().is_empty() || matches!(client, ClientRole::Process(_));
    let mut marks = vec![machine, serial];
    if needs_random {
        marks.push(random.to_vec());
    }
    marks
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
    fn containers_without_a_machine_id_have_different_ids() {
        let id = |client, machine: &str, random: &[u8]| {
            let marks = marks(client, machine.into(), b"pi".to_vec(), random);
            with_marks(&Prefix::live(), "hub", client, &marks)
        };
        for client in [ClientRole::Daemon, ClientRole::Process(1)] {
            assert_ne!(id(client, "", b"one"), id(client, "", b"other"), "{client:?}");
            assert_ne!(id(client, "\n", b"one"), id(client, "\n", b"other"), "{client:?}");
        }
        let hub = ClientRole::Process(1);
        assert_ne!(
            id(hub, "a", b"one"),
            id(hub, "a", b"other"),
            "copies of one container"
        );
        let daemon = ClientRole::Daemon;
        assert_eq!(
            id(daemon, "a", b"one"),
            id(daemon, "a", b"other"),
            "after a restart"
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
