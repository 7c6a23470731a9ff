//! What was plugged in and what was pulled out.

use core::time::Duration;
use std::collections::BTreeMap;
use std::path::PathBuf;

use super::Candidate;

/// How often to list the ports: then plugging and unplugging are noticed within this time.
///
/// For its cost see [`PortList::list`](super::PortList::list).
pub const SCAN_INTERVAL: Duration = Duration::from_secs(1);

/// Compares each listing of the ports with the one before.
///
/// It does no I/O; [`PortList`](super::PortList) does.
///
/// ```no_run
/// use kiebitz_hardware::port::{PortChange, PortList, PortSettings, PortWatch, SCAN_INTERVAL};
///
/// let (mut ports, mut watch) = (PortList::new(PortSettings::default()), PortWatch::new());
/// loop {
///     for change in watch.handle_listing(ports.list().candidates) {
///         match change {
///             PortChange::Added(port) => println!("{} was plugged in", port.name()),
///             PortChange::Removed(port) => println!("{} was pulled out", port.name()),
///         }
///     }
///     std::thread::sleep(SCAN_INTERVAL);
/// }
/// ```
///
/// An open port that was pulled out is noticed at once, since reading it fails. This notices the ports that are
/// not open, and those that come.
#[derive(Clone, Debug, Default)]
pub struct PortWatch {
    present: BTreeMap<PathBuf, Candidate>,
}

/// A port that came or went.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PortChange {
    /// It was not there in the listing before.
    Added(Candidate),
    /// It is not there any more; a device that went and came back between two listings gives both changes, this
    /// one first.
    Removed(Candidate),
}

impl PortWatch {
    /// A watch that has seen no port yet: the first listing is all new.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What has changed since the last listing: first what went, then what came, each in the order of the
    /// devices' paths.
    pub fn handle_listing(&mut self, candidates: Vec<Candidate>) -> Vec<PortChange> {
        let listed = candidates
            .into_iter()
            .map(|candidate| (candidate.device.clone(), candidate))
            .collect();
        let before = core::mem::replace(&mut self.present, listed);
        let added = self.present.iter();
        let added = added.filter(|(device, candidate)| before.get(*device) != Some(*candidate));
        let added: Vec<_> = added
            .map(|(_, candidate)| PortChange::Added(candidate.clone()))
            .collect();
        let gone = before
            .into_iter()
            .filter(|(device, candidate)| self.present.get(device) != Some(candidate));
        gone.map(|(_, candidate)| PortChange::Removed(candidate))
            .chain(added)
            .collect()
    }

    /// The ports of the last listing, in the order of the devices' paths.
    pub fn present(&self) -> impl Iterator<Item = &Candidate> {
        self.present.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::PortKind;

    fn port(number: u32, incarnation: u64) -> Candidate {
        Candidate {
            device: format!("/dev/ttyUSB{number}").into(),
            kind: PortKind::Converter,
            usb: None,
            configured: None,
            incarnation,
        }
    }

    #[test]
    fn what_is_there_at_the_start_counts_as_plugged_in() {
        let mut watch = PortWatch::new();
        assert_eq!(
            watch.handle_listing(vec![port(1, 7), port(0, 8)]),
            [PortChange::Added(port(0, 8)), PortChange::Added(port(1, 7))]
        );
        assert_eq!(watch.present().count(), 2);
    }

    #[test]
    fn nothing_changes_while_nothing_changes() {
        let mut watch = PortWatch::new();
        watch.handle_listing(vec![port(0, 1)]);
        assert_eq!(watch.handle_listing(vec![port(0, 1)]), []);
    }

    #[test]
    fn a_port_pulled_out_is_told_with_what_it_was() {
        let mut watch = PortWatch::new();
        watch.handle_listing(vec![port(0, 1), port(1, 2)]);
        assert_eq!(
            watch.handle_listing(vec![port(1, 2)]),
            [PortChange::Removed(port(0, 1))]
        );
    }

    #[test]
    fn a_device_that_was_quickly_replugged_is_another_one() {
        let mut watch = PortWatch::new();
        watch.handle_listing(vec![port(0, 1)]);
        assert_eq!(
            watch.handle_listing(vec![port(0, 2)]),
            [PortChange::Removed(port(0, 1)), PortChange::Added(port(0, 2))]
        );
    }
}
