//! Reads the recordings of all ports as one sequence.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use kiebitz_hardware::Timestamp;
use kiebitz_hardware::capture::{CaptureError, CaptureReader, Content, Interface, Packet};
use kiebitz_hardware::recorder::recorded_since;

/// The recorded packets of all ports after a given time, in order of time.
#[derive(Debug)]
pub struct Recordings {
    after: Timestamp,
    /// The files of each port by the common part of their names, in order of time.
    ports: BTreeMap<String, PortFiles>,
    /// Unreadable files, with the reasons.
    damaged: Vec<(PathBuf, CaptureError)>,
}

#[derive(Debug)]
struct PortFiles {
    files: VecDeque<PathBuf>,
    /// The port has not been opened yet: packets up to its first opening are skipped.
    unopened: bool,
    reader: Option<(PathBuf, CaptureReader<BufReader<File>>)>,
    next: Option<(Interface, Packet)>,
}

impl Recordings {
    /// Reads the packets in `folder` that were recorded after the time `after`.
    #[must_use]
    pub fn after(folder: &Path, after: Timestamp, zone: &TimeZone) -> Self {
        Self::read(folder, after, zone, false)
    }

    /// Reads all packets in `folder`, of each port from its first opening. Packets before that remain if older
    /// recordings were removed, and do not show which board is connected.
    #[must_use]
    pub fn from_openings(folder: &Path, zone: &TimeZone) -> Self {
        Self::read(folder, Timestamp::from_micros(0), zone, true)
    }

    fn read(folder: &Path, after: Timestamp, zone: &TimeZone, unopened: bool) -> Self {
        let mut recordings = Self {
            after,
            ports: BTreeMap::new(),
            damaged: Vec::new(),
        };
        for path in recorded_since(folder, after, zone) {
            let files = recordings
                .ports
                .entry(port_of(&path))
                .or_insert_with(|| PortFiles {
                    files: VecDeque::new(),
                    unopened,
                    reader: None,
                    next: None,
                });
            files.files.push_back(path);
        }
        for name in recordings.ports.keys().cloned().collect::<Vec<_>>() {
            recordings.read_next_packet(&name);
        }
        recordings
    }

    /// Time of the next packet; `None` at the end.
    #[must_use]
    pub fn next_at(&self) -> Option<Timestamp> {
        let next = self.ports.values().filter_map(|port| port.next.as_ref());
        next.map(|(_, packet)| packet.at).min()
    }

    /// The files that could not be read to their end, with the reasons.
    #[must_use]
    pub fn damaged(&self) -> &[(PathBuf, CaptureError)] {
        &self.damaged
    }

    fn read_next_packet(&mut self, name: &str) {
        let Self {
            after,
            ports,
            damaged,
        } = self;
        let Some(port) = ports.get_mut(name) else { return };
        port.next = None;
        while port.next.is_none() {
            let Some((path, reader)) = &mut port.reader else {
                let Some(path) = port.files.pop_front() else {
                    return;
                };
                match open(&path) {
                    Ok(reader) => port.reader = Some((path, reader)),
                    // A new file that is still empty.
                    Err(_) if std::fs::metadata(&path).is_ok_and(|about| about.len() == 0) => {}
                    Err(error) => damaged.push((path, error)),
                }
                continue;
            };
            match reader.next_packet() {
                Ok(Some(packet)) if packet.at <= *after => {}
                Ok(Some(packet)) if port.unopened && packet.content != Content::Opened => {}
                Ok(Some(packet)) => {
                    port.unopened = false;
                    port.next = reader
                        .interfaces()
                        .get(packet.interface)
                        .map(|interface| (interface.clone(), packet));
                }
                Ok(None) => port.reader = None,
                Err(error) => {
                    damaged.push((path.clone(), error));
                    port.reader = None;
                }
            }
        }
    }
}

/// The packets with their ports, in order of time.
impl Iterator for Recordings {
    type Item = (Interface, Packet);

    fn next(&mut self) -> Option<Self::Item> {
        let at = |port: &PortFiles| port.next.as_ref().map(|(_, packet)| packet.at);
        let first = self
            .ports
            .iter()
            .filter_map(|(name, port)| Some((at(port)?, name)));
        let name = first.min().map(|(_, name)| name.clone())?;
        let next = self.ports.get_mut(&name)?.next.take();
        self.read_next_packet(&name);
        next
    }
}

fn open(path: &Path) -> Result<CaptureReader<BufReader<File>>, CaptureError> {
    CaptureReader::new(BufReader::new(File::open(path)?))
}

/// The common part of the names of a port's files, without date and number.
fn port_of(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let port = stem
        .split_once('-')
        .and_then(|(_, rest)| rest.splitn(3, '-').nth(2));
    let port = port.unwrap_or(&stem);
    port.split_once('+').map_or(port, |(port, _)| port).to_owned()
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use kiebitz_hardware::capture::{Direction, LineMode};
    use kiebitz_hardware::recorder::{Recorder, RecorderSettings};

    use super::*;

    const NOON: Timestamp = Timestamp::from_micros(1_795_262_400_000_000);

    #[test]
    fn the_port_is_found_in_a_file_name() {
        for (name, port) in [
            ("2026-11-21-ttyUSB0.pcapng", "ttyUSB0"),
            ("2026-11-21-ttyUSB0+12.pcapng", "ttyUSB0"),
            ("2026-11-21-serial-by-id-usb-1.pcapng", "serial-by-id-usb-1"),
        ] {
            assert_eq!(port_of(Path::new(name)), port);
        }
    }

    #[test]
    fn packets_of_all_ports_days_and_files_are_in_order_of_time() {
        let folder = tempfile::tempdir().expect("a directory");
        let recorder = || {
            Recorder::new(RecorderSettings {
                folder: folder.path().to_owned(),
                budget: 1,
                zone: TimeZone::UTC,
            })
        };
        let mut written = recorder();
        let mut all = Vec::new();
        for nth in 0..1000_u32 {
            // Spans midnight, uses files of 64 kB, and restarts the recorder once.
            let now = NOON + Duration::from_secs(100) * nth;
            let port = ["/dev/ttyUSB0", "/dev/ttyUSB1", "/dev/ttyUSB2"][nth as usize % 3];
            let bytes = vec![nth.to_le_bytes()[0]; 300];
            let content = Content::Bytes {
                direction: Direction::Inbound,
                bytes,
            };
            written.record(now, port, LineMode::Single, &content);
            all.push((now, port.to_owned(), content));
            if nth == 500 {
                written = recorder();
            }
        }
        for from in [0, 1, 499, 999] {
            let after = NOON + Duration::from_secs(100) * from;
            let read = Recordings::after(folder.path(), after, &TimeZone::UTC);
            let read: Vec<_> = read
                .map(|(port, packet)| (packet.at, port.name, packet.content))
                .collect();
            assert_eq!(read.len(), 999 - from as usize);
            assert!(read == all[from as usize + 1..], "{from}");
        }
        assert_eq!(
            Recordings::from_openings(folder.path(), &TimeZone::UTC).count(),
            0
        );
        let opened = NOON + Duration::from_secs(100_000);
        for (port, content) in [
            ("/dev/ttyUSB0", Content::Opened),
            ("/dev/ttyUSB1", all[0].2.clone()),
        ] {
            written.record(opened, port, LineMode::Single, &content);
        }
        written.record(opened, "/dev/ttyUSB0", LineMode::Single, &all[0].2);
        let read = Recordings::from_openings(folder.path(), &TimeZone::UTC);
        let read: Vec<_> = read.map(|(port, packet)| (port.name, packet.content)).collect();
        let port = || "/dev/ttyUSB0".to_owned();
        assert_eq!(read, [(port(), Content::Opened), (port(), all[0].2.clone())]);
    }
}
