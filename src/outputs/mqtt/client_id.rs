//! What the broker knows a connection by.
//!
//! A broker throws out the older of two clients of the same id, and with it the last will of a connection that it believed
//! alive. So the daemon's id stays the same over restarts, and nobody else has it: not another computer of the same name,
//! and not a replay on this one.

use core::hash::{Hash, Hasher};
use std::fs;
use std::hash::DefaultHasher;

use super::topics::Prefix;

/// Who connects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClientRole {
    /// This computer's daemon.
    Daemon,
    /// A program beside it, by process id.
    Process(u32),
}

/// What tells computers of the same name apart. Two whose memory card was copied have the same first one, but each
/// Raspberry Pi has a number of its own.
const MARKS: [&str; 2] = ["/etc/machine-id", "/sys/firmware/devicetree/base/serial-number"];

/// The id of a client that publishes under `prefix` on the computer of this name.
pub(super) fn of(prefix: &Prefix, host: &str, client: ClientRole) -> String {
    let marks = MARKS.map(|path| fs::read(path).unwrap_or_default());
    with_marks(prefix, host, client, &marks)
}

fn with_marks(prefix: &Prefix, host: &str, client: ClientRole, marks: &[Vec<u8>]) -> String {
    // Only a hash: a machine's id is to stay on the machine. Its upper half is left out, as ids should be short.
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
    fn it_stays_the_same() {
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
    fn nobody_else_has_it() {
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
