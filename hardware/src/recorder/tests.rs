use std::fs;
use std::path::Path;

use jiff::tz::Offset;
use tempfile::TempDir;

use super::*;
use crate::capture::{CaptureReader, Direction, Packet};

mod failures;
mod restart;

/// 2026-11-21T12:00:00Z.
const NOON: Timestamp = Timestamp::from_micros(1_795_262_400_000_000);
const DAY: Duration = Duration::from_secs(86_400);

fn recorder(folder: &TempDir) -> Recorder {
    recorder_with(folder.path(), 1 << 30)
}

fn recorder_with(folder: &Path, budget: u64) -> Recorder {
    Recorder::new(RecorderSettings {
        folder: folder.to_owned(),
        budget,
        zone: TimeZone::UTC,
    })
}

fn chunk(bytes: &[u8]) -> Content {
    Content::Bytes {
        direction: Direction::Inbound,
        bytes: bytes.to_vec(),
    }
}

fn closed(reason: &str) -> Content {
    Content::Closed {
        reason: reason.to_owned(),
    }
}

fn after(seconds: u64) -> Timestamp {
    NOON + Duration::from_secs(seconds)
}

impl Recorder {
    fn single(&mut self, now: Timestamp, content: Content) {
        self.record(now, "ttyUSB0", LineMode::Single, &content);
    }

    fn reports(&mut self) -> Vec<String> {
        core::iter::from_fn(|| self.poll_report())
            .map(|report| report.to_string())
            .collect()
    }
}

fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Returns the packets of a capture, which must not be truncated.
fn packets(path: &Path) -> Vec<Packet> {
    let mut reader = CaptureReader::new(File::open(path).unwrap()).unwrap();
    let packets = reader.by_ref().map(Result::unwrap).collect();
    assert_eq!(reader.truncated(), None, "{}", path.display());
    packets
}

fn contents(folder: &TempDir, name: &str) -> Vec<Content> {
    let packets = packets(&folder.path().join(name)).into_iter();
    packets.map(|packet| packet.content).collect()
}

#[test]
fn entries_are_recorded_with_time_direction_and_port() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = recorder(&folder);
    let sent = Content::Bytes {
        direction: Direction::Outbound,
        bytes: vec![0x42],
    };
    recorder.single(NOON, Content::Opened);
    recorder.single(after(1), sent.clone());
    recorder.single(after(2), chunk(&[0x86, 0, 67]));
    recorder.single(after(3), closed("unplugged"));
    recorder.record(after(4), "pts/3", LineMode::Bus, &chunk(&[0x87]));
    recorder.sync(after(5));

    assert_eq!(
        files(folder.path()),
        ["2026-11-21-pts-3.pcapng", "2026-11-21-ttyUSB0.pcapng"]
    );
    let recorded = packets(&folder.path().join("2026-11-21-ttyUSB0.pcapng"));
    let recorded: Vec<_> = recorded
        .into_iter()
        .map(|packet| (packet.at, packet.content))
        .collect();
    assert_eq!(
        recorded,
        [
            (NOON, Content::Opened),
            (after(1), sent),
            (after(2), chunk(&[0x86, 0, 67])),
            (after(3), closed("unplugged"))
        ]
    );
    let file = File::open(folder.path().join("2026-11-21-pts-3.pcapng")).unwrap();
    let mut reader = CaptureReader::new(file).unwrap();
    reader.next_packet().unwrap().unwrap();
    let port = &reader.interfaces()[0];
    assert_eq!((port.name.as_str(), port.mode), ("pts/3", LineMode::Bus));
    assert_eq!(recorder.reports(), [""; 0]);
}

#[test]
fn a_recorder_is_send() {
    fn is_send<T: Send>() {}
    is_send::<Recorder>();
}

#[test]
fn chunks_are_written_to_the_operating_system_immediately() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = recorder(&folder);
    recorder.single(NOON, chunk(&[1]));
    assert_eq!(contents(&folder, "2026-11-21-ttyUSB0.pcapng"), [chunk(&[1])]);
}

#[test]
fn a_new_day_starts_a_new_file_without_markers() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = recorder(&folder);
    recorder.single(NOON, Content::Opened);
    let midnight = NOON + DAY / 2;
    recorder.single(midnight.saturating_sub(Duration::from_micros(1)), chunk(&[1]));
    recorder.single(midnight, chunk(&[2]));
    recorder.sync(midnight);
    assert_eq!(
        contents(&folder, "2026-11-21-ttyUSB0.pcapng"),
        [Content::Opened, chunk(&[1])]
    );
    assert_eq!(contents(&folder, "2026-11-22-ttyUSB0.pcapng"), [chunk(&[2])]);
}

#[test]
fn the_file_of_a_finished_day_is_synced_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = recorder(&folder);
    recorder.single(NOON, chunk(&[1]));
    recorder.single(NOON + DAY, chunk(&[2]));
    let mut unsynced: Vec<_> = recorder
        .ports
        .values_mut()
        .flat_map(RecordedPort::changed)
        .collect();
    unsynced.sort_by_key(|file| file.day.clone());
    let days: Vec<_> = unsynced.iter().map(|file| file.day.as_str()).collect();
    assert_eq!(days, ["2026-11-21", "2026-11-22"]);
    recorder.sync(NOON + DAY);
    assert_eq!(
        recorder
            .ports
            .values_mut()
            .flat_map(RecordedPort::changed)
            .count(),
        0
    );
    assert_eq!(recorder.ports["ttyUSB0"].finished.len(), 0);
}

#[test]
fn a_removed_file_is_replaced_by_a_new_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = recorder(&folder);
    recorder.single(NOON, chunk(&[1]));
    recorder.sync(after(1));
    fs::remove_file(folder.path().join("2026-11-21-ttyUSB0.pcapng")).unwrap();
    recorder.single(after(30), chunk(&[2]));
    recorder.sync(after(1) + CHECK_PERIOD);
    recorder.single(after(90), chunk(&[3]));
    assert_eq!(contents(&folder, "2026-11-21-ttyUSB0.pcapng"), [chunk(&[3])]);
}

#[test]
fn the_recordings_of_a_port_are_found_day_by_day() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = recorder(&folder);
    for day in [0, 1, 3] {
        recorder.single(NOON + DAY * day, chunk(b"x"));
    }
    recorder.record(NOON + DAY, "ttyUSB0-2", LineMode::Single, &chunk(b"y"));
    drop(recorder);
    let of = |from: u32, to: u32| -> Vec<(String, usize)> {
        let days = recorded_days(
            folder.path(),
            "ttyUSB0",
            NOON + DAY * from,
            NOON + DAY * to,
            &TimeZone::UTC,
        );
        days.into_iter().map(|day| (day.name, day.files.len())).collect()
    };
    let day = |date: &str, files: usize| (format!("2026-11-{date}-ttyUSB0.pcapng"), files);
    assert_eq!(of(0, 0), [day("21", 1)]);
    assert_eq!(of(2, 3), [day("23", 0), day("24", 1)]);
    // If `to` is before `from`, only the day of `from` is returned.
    assert_eq!(of(3, 0), [day("24", 1)]);
    assert_eq!(of(0, 9).len(), 10);
}

#[test]
fn the_day_ends_at_local_midnight() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::new(RecorderSettings {
        folder: folder.path().to_owned(),
        budget: 1 << 30,
        zone: TimeZone::fixed(Offset::constant(-8)),
    });
    recorder.single(NOON, chunk(&[1])); // 4 in the morning
    recorder.single(NOON + DAY / 2, chunk(&[2])); // 4 in the afternoon
    assert_eq!(files(folder.path()), ["2026-11-21-ttyUSB0.pcapng"]);
}

#[test]
fn recording_returns_to_the_old_file_if_the_clock_is_set_back_over_midnight() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = recorder(&folder);
    recorder.single(NOON, chunk(&[1]));
    recorder.single(NOON + DAY, chunk(&[2]));
    recorder.single(NOON, chunk(&[3]));
    assert_eq!(
        contents(&folder, "2026-11-21-ttyUSB0.pcapng"),
        [chunk(&[1]), chunk(&[3])]
    );
    assert_eq!(recorder.poll_deadline(), Some(NOON + SYNC_AFTER));
}

#[test]
fn ports_with_the_same_file_name_have_separate_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = recorder(&folder);
    for (port, byte) in [("a/b", 1), ("a-b", 2), ("a/b", 3)] {
        recorder.record(NOON, port, LineMode::Single, &chunk(&[byte]));
    }
    assert_eq!(
        contents(&folder, "2026-11-21-a-b.pcapng"),
        [chunk(&[1]), chunk(&[3])]
    );
    assert_eq!(contents(&folder, "2026-11-21-a-b+2.pcapng"), [chunk(&[2])]);
}

#[test]
fn a_new_mode_of_a_port_is_another_interface() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = recorder(&folder);
    recorder.single(NOON, Content::Opened);
    recorder.record(NOON, "ttyUSB0", LineMode::Bus, &chunk(&[0x87]));
    let recorded = packets(&folder.path().join("2026-11-21-ttyUSB0.pcapng"));
    let interfaces: Vec<_> = recorded.iter().map(|packet| packet.interface).collect();
    assert_eq!(interfaces, [0, 1]);
}

#[test]
fn a_sync_is_due_within_a_second_after_a_chunk_and_never_without_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = recorder(&folder);
    assert_eq!(recorder.poll_deadline(), None);
    recorder.single(NOON, chunk(&[1]));
    recorder.single(NOON + Duration::from_millis(500), chunk(&[2]));
    let due = recorder.poll_deadline().unwrap();
    assert!(due < after(1) && due > NOON + Duration::from_millis(500));
    recorder.sync(due);
    assert_eq!(recorder.poll_deadline(), None);
    recorder.single(after(7), chunk(&[3]));
    assert_eq!(recorder.poll_deadline(), Some(after(7) + SYNC_AFTER));
}

#[test]
fn many_ports_are_synced_together() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = recorder(&folder);
    const PORTS: usize = 24;
    for port in 0..PORTS {
        recorder.record(NOON, &format!("pts-{port}"), LineMode::Single, &chunk(&[1]));
    }
    recorder.sync(after(1));
    assert_eq!(
        recorder
            .ports
            .values_mut()
            .flat_map(RecordedPort::changed)
            .count(),
        0
    );
    assert_eq!((recorder.poll_deadline(), recorder.reports().len()), (None, 0));
    assert_eq!(files(folder.path()).len(), PORTS);
}

#[test]
fn files_of_closed_ports_are_closed_when_the_day_is_over() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = recorder(&folder);
    recorder.single(NOON, Content::Opened);
    recorder.record(NOON, "pts-1", LineMode::Single, &Content::Opened);
    recorder.record(NOON, "pts-1", LineMode::Single, &closed("unplugged"));
    recorder.sync(after(1));
    assert_eq!(recorder.ports.len(), 2);
    recorder.sync(NOON + DAY);
    assert_eq!(recorder.ports.keys().collect::<Vec<_>>(), ["ttyUSB0"]);
}
