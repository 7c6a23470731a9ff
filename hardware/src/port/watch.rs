//! Detects that ports are plugged in or unplugged.

use core::time::Duration;
use std::collections::BTreeMap;
use std::path::PathBuf;

use super::Candidate;

/// Interval at which to list the ports. Determines the maximum delay until a change is noticed.
///
/// For the cost of a listing see [`PortList::list`](super::PortList::list).
pub const SCAN_INTERVAL: Duration = Duration::from_secs(1);

/// Compares each listing of the ports with the previous one. Does no I/O.
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
/// Unplugging an open port is noticed immediately, because reading fails. The watch is needed for closed and for new
/// ports.
#[derive(Clone, Debug, Default)]
pub struct PortWatch {
    present: BTreeMap<PathBuf, Candidate>,
}

/// A port that was added or removed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PortChange {
    /// The port was not in the previous listing.
    Added(Candidate),
    /// The port is no longer listed. A device that is replugged between two listings gives both changes, `Removed`
    /// first.
    Removed(Candidate),
}

impl PortWatch {
    /// Returns a watch without any ports. All ports of the first listing count as added.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the changes since the last listing: first the removed ports, then the added ones, each ordered by device
    /// path.
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

    /// Returns the ports of the last listing, ordered by device path.
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
    fn ports_of_the_first_listing_count_as_added() {
        let mut watch = PortWatch::new();
        assert_eq!(
            watch.handle_listing(vec![port(1, 7), port(0, 8)]),
            [PortChange::Added(port(0, 8)), PortChange::Added(port(1, 7))]
        );
        assert_eq!(watch.present().count(), 2);
    }

    #[test]
    fn equal_listings_give_no_changes() {
        let mut watch = PortWatch::new();
        watch.handle_listing(vec![port(0, 1)]);
        assert_eq!(watch.handle_listing(vec![port(0, 1)]), []);
    }

    #[test]
    fn a_removed_port_is_reported() {
        let mut watch = PortWatch::new();
        watch.handle_listing(vec![port(0, 1), port(1, 2)]);
        assert_eq!(
            watch.handle_listing(vec![port(1, 2)]),
            [PortChange::Removed(port(0, 1))]
        );
    }

    #[test]
    fn a_replugged_device_is_reported_as_removed_and_added() {
        let mut watch = PortWatch::new();
        watch.handle_listing(vec![port(0, 1)]);
        assert_eq!(
            watch.handle_listing(vec![port(0, 2)]),
            [PortChange::Removed(port(0, 1)), PortChange::Added(port(0, 2))]
        );
    }
}
