//! Recording into a temporary folder.

use std::fs;
use std::path::Path;

use jiff::tz::Offset;
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::capture::{CaptureReader, Direction, Packet};

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

/// What is in a capture, which must be whole.
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
fn everything_is_recorded_with_its_time_direction_and_port() {
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
fn a_recorder_can_live_on_a_thread_of_its_own() {
    fn is_send<T: Send>() {}
    is_send::<Recorder>();
}

#[test]
fn what_was_recorded_is_with_the_operating_system_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = recorder(&folder);
    recorder.single(NOON, chunk(&[1]));
    assert_eq!(contents(&folder, "2026-11-21-ttyUSB0.pcapng"), [chunk(&[1])]);
}

#[test]
fn a_new_day_is_a_new_file_without_marks() {
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
fn the_end_of_a_day_is_stored_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = recorder(&folder);
    recorder.single(NOON, chunk(&[1]));
    recorder.single(NOON + DAY, chunk(&[2]));
    let mut unsynced: Vec<_> = recorder.ports.values_mut().flat_map(Port::changed).collect();
    unsynced.sort_by_key(|file| file.day.clone());
    let days: Vec<_> = unsynced.iter().map(|file| file.day.as_str()).collect();
    assert_eq!(days, ["2026-11-21", "2026-11-22"]);
    recorder.sync(NOON + DAY);
    assert_eq!(recorder.ports.values_mut().flat_map(Port::changed).count(), 0);
    assert_eq!(recorder.ports["ttyUSB0"].finished.len(), 0);
}

#[test]
fn a_file_that_is_removed_is_begun_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = recorder(&folder);
    recorder.single(NOON, chunk(&[1]));
    recorder.sync(after(1));
    fs::remove_file(folder.path().join("2026-11-21-ttyUSB0.pcapng")).unwrap();
    recorder.single(after(30), chunk(&[2]));
    recorder.sync(after(1) + BUDGET_EVERY);
    recorder.single(after(90), chunk(&[3]));
    assert_eq!(contents(&folder, "2026-11-21-ttyUSB0.pcapng"), [chunk(&[3])]);
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
fn a_clock_set_back_over_midnight_goes_on_in_the_old_file() {
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
fn a_restart_continues_the_file_of_the_day() {
    let folder = tempfile::tempdir().unwrap();
    for byte in 1..=3 {
        let mut recorder = recorder(&folder);
        recorder.single(after(byte.into()), chunk(&[byte]));
    }
    assert_eq!(
        contents(&folder, "2026-11-21-ttyUSB0.pcapng"),
        [chunk(&[1]), chunk(&[2]), chunk(&[3])]
    );
    let file = File::open(folder.path().join("2026-11-21-ttyUSB0.pcapng")).unwrap();
    let mut reader = CaptureReader::new(file).unwrap();
    while reader.next_packet().unwrap().is_some() {}
    assert_eq!(reader.interfaces().len(), 1);
}

#[test]
fn a_file_cut_off_anywhere_is_continued_after_its_last_whole_block() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("2026-11-21-ttyUSB0.pcapng");
    let mut first = recorder(&folder);
    first.single(NOON, chunk(&[1]));
    let one = fs::metadata(&path).unwrap().len() as usize;
    first.single(NOON, chunk(&[2]));
    drop(first);
    let whole = fs::read(&path).unwrap();

    let second = "2026-11-21-ttyUSB0-2.pcapng";
    for length in 0..whole.len() {
        // Once cut off, once filled up with zeros, as file systems do after a loss of power.
        for zeros in [0, 64] {
            let mut damaged = whole[..length].to_vec();
            damaged.resize(length + zeros, 0);
            fs::write(&path, &damaged).unwrap();
            let mut recorder = recorder(&folder);
            recorder.single(NOON, chunk(&[3]));
            // A block that ends in zeros may be whole again.
            let pairs = damaged.iter().zip(&whole);
            let intact = pairs.take_while(|(damaged, whole)| damaged == whole).count();
            let kept = [(one, 1), (whole.len(), 2)].into_iter();
            let kept = kept.filter(|(end, _)| intact >= *end).map(|(_, byte)| byte);
            let expected: Vec<_> = kept.chain([3]).map(|byte| chunk(&[byte])).collect();
            // What has not even the first words of a capture, but zeros, is something else.
            let something_else = zeros > 0 && length < 12;
            let name = if something_else {
                second
            } else {
                "2026-11-21-ttyUSB0.pcapng"
            };
            assert_eq!(contents(&folder, name), expected, "{length} {zeros}");
            assert_eq!(fs::exists(folder.path().join(second)).unwrap(), something_else);
            let _ = fs::remove_file(folder.path().join(second));
        }
    }
}

#[test]
fn a_damaged_file_is_left_alone_and_a_second_one_begun() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("2026-11-21-ttyUSB0.pcapng");
    let mut first = recorder(&folder);
    for byte in 1..=3 {
        first.single(NOON, chunk(&[byte]));
    }
    drop(first);
    let mut damaged = fs::read(&path).unwrap();
    let middle = damaged.len() - 2 * 48 + 4; // the length of the block before the last
    damaged[middle] ^= 0xff;
    fs::write(&path, &damaged).unwrap();

    for byte in 4..=5 {
        let mut recorder = recorder(&folder);
        recorder.single(NOON, chunk(&[byte]));
        assert_eq!(recorder.reports(), [""; 0]);
    }
    assert_eq!(fs::read(&path).unwrap(), damaged);
    assert_eq!(
        contents(&folder, "2026-11-21-ttyUSB0-2.pcapng"),
        [chunk(&[4]), chunk(&[5])]
    );
}

#[test]
fn two_ports_never_share_a_file_however_they_are_called() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = recorder(&folder);
    for (port, byte) in [("a/b", 1), ("a-b", 2), ("a/b", 3)] {
        recorder.record(NOON, port, LineMode::Single, &chunk(&[byte]));
    }
    assert_eq!(
        contents(&folder, "2026-11-21-a-b.pcapng"),
        [chunk(&[1]), chunk(&[3])]
    );
    assert_eq!(contents(&folder, "2026-11-21-a-b-2.pcapng"), [chunk(&[2])]);
}

#[test]
fn a_port_that_turns_out_to_be_a_bus_is_another_interface() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = recorder(&folder);
    recorder.single(NOON, Content::Opened);
    recorder.record(NOON, "ttyUSB0", LineMode::Bus, &chunk(&[0x87]));
    let recorded = packets(&folder.path().join("2026-11-21-ttyUSB0.pcapng"));
    let interfaces: Vec<_> = recorded.iter().map(|packet| packet.interface).collect();
    assert_eq!(interfaces, [0, 1]);
}

#[test]
fn the_disk_is_asked_to_store_within_a_second_and_only_when_there_is_something() {
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
fn many_ports_are_stored_together() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = recorder(&folder);
    const PORTS: usize = 24;
    for port in 0..PORTS {
        recorder.record(NOON, &format!("pts-{port}"), LineMode::Single, &chunk(&[1]));
    }
    recorder.sync(after(1));
    assert_eq!(recorder.ports.values_mut().flat_map(Port::changed).count(), 0);
    assert_eq!((recorder.poll_deadline(), recorder.reports().len()), (None, 0));
    assert_eq!(files(folder.path()).len(), PORTS);
}

#[test]
fn the_budget_takes_the_oldest_days_and_never_what_is_being_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = recorder_with(folder.path(), 10_000);
    fs::write(folder.path().join("keep.pcapng"), [0; 20_000]).unwrap();
    for day in 0..5 {
        let now = NOON + DAY * day;
        recorder.single(now, chunk(&[1; 3000]));
        recorder.sync(now);
    }
    assert_eq!(
        files(folder.path()),
        [
            "2026-11-23-ttyUSB0.pcapng",
            "2026-11-24-ttyUSB0.pcapng",
            "2026-11-25-ttyUSB0.pcapng",
            "keep.pcapng"
        ]
    );
    assert_eq!(recorder.reports(), [""; 0]);
}

#[test]
fn a_budget_that_today_alone_exceeds_is_reported_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = recorder_with(folder.path(), 1000);
    for minute in 0..5 {
        recorder.single(after(60 * minute), chunk(&[1; 600]));
        recorder.sync(after(60 * minute));
    }
    let reports = recorder.reports();
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert!(reports[0].ends_with("raise the disk budget"), "{reports:?}");
    assert_eq!(contents(&folder, "2026-11-21-ttyUSB0.pcapng").len(), 5);
}

#[test]
fn a_folder_that_cannot_be_written_is_reported_once_and_the_gap_is_marked() {
    let parent = tempfile::tempdir().unwrap();
    // As root every folder can be written, so a file is in its place.
    let folder = parent.path().join("captures");
    fs::write(&folder, "").unwrap();
    let mut recorder = recorder_with(&folder, 1 << 30);
    recorder.single(NOON, Content::Opened);
    for second in 1..=6 {
        recorder.single(after(second), chunk(&[1]));
        recorder.sync(after(second));
    }
    let reports = recorder.reports();
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert!(
        reports[0].starts_with("not recording: cannot write"),
        "{reports:?}"
    );

    fs::remove_file(&folder).unwrap();
    recorder.single(after(12), chunk(&[2]));
    recorder.sync(after(12));
    assert_eq!(recorder.reports(), [""; 0]);
    let well = recorder.poll_deadline().unwrap();
    recorder.sync(well);
    assert_eq!(
        recorder.reports(),
        ["recording again; 7 chunks were not recorded"]
    );

    let recorded = packets(&folder.join("2026-11-21-ttyUSB0.pcapng"));
    let recorded: Vec<_> = recorded
        .into_iter()
        .map(|packet| (packet.at, packet.content))
        .collect();
    assert_eq!(recorded, [(after(12), Content::Opened), (after(12), chunk(&[2]))]);
}

#[test]
fn a_gap_in_the_middle_closes_the_port_where_it_began() {
    let parent = tempfile::tempdir().unwrap();
    let (folder, aside) = (parent.path().join("captures"), parent.path().join("aside"));
    let mut recorder = recorder_with(&folder, 1 << 30);
    let evening = NOON + DAY / 2;
    recorder.single(NOON, Content::Opened);
    // The next day's file cannot be made.
    fs::rename(&folder, &aside).unwrap();
    fs::write(&folder, "").unwrap();
    recorder.single(evening, chunk(&[1]));
    recorder.single(evening + Duration::from_secs(1), chunk(&[2]));
    fs::remove_file(&folder).unwrap();
    fs::rename(&aside, &folder).unwrap();
    recorder.single(evening + Duration::from_secs(9), chunk(&[3]));

    let recorded = packets(&folder.join("2026-11-22-ttyUSB0.pcapng"));
    let recorded: Vec<_> = recorded
        .into_iter()
        .map(|packet| (packet.at, packet.content))
        .collect();
    let resumed = evening + Duration::from_secs(9);
    assert_eq!(
        recorded,
        [
            (evening, closed("recorder: 2 chunks were not recorded")),
            (resumed, Content::Opened),
            (resumed, chunk(&[3]))
        ]
    );
}

/// A pipe is a disk that is full until it is emptied.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_fills_up_and_is_emptied_goes_on_in_the_same_file() {
    let (mut read, write) = io::pipe().unwrap();
    for end in [std::os::fd::AsFd::as_fd(&read), std::os::fd::AsFd::as_fd(&write)] {
        rustix::fs::fcntl_setfl(end, rustix::fs::OFlags::NONBLOCK).unwrap();
    }
    let mut capture = Vec::new();
    let mut empty = || {
        let error = io::Read::read_to_end(&mut read, &mut capture).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        capture.clone()
    };

    let folder = tempfile::tempdir().unwrap();
    let mut recorder = recorder(&folder);
    let file = File::from(std::os::fd::OwnedFd::from(write));
    let port = Port {
        file: Some(DayFile::begin("2026-11-21", "pipe".into(), file, 0).unwrap()),
        ..Port::default()
    };
    recorder.ports.insert("ttyUSB0".to_owned(), port);
    recorder.single(NOON, Content::Opened);
    // A block of up to 4 kB goes into a pipe whole or not at all.
    let large = chunk(&[1; 4000]);
    let mut second = 0;
    while recorder.ports["ttyUSB0"].gap.is_none() {
        second += 1;
        assert!(second < 10_000, "the pipe is never full");
        recorder.single(after(second), large.clone());
    }
    recorder.single(after(second + 1), large.clone());
    assert_eq!(recorder.reports().len(), 1);

    empty();
    let resumed = after(second) + RETRY_AFTER;
    recorder.single(resumed, large);
    let capture = empty();
    let packets: Vec<_> = CaptureReader::new(capture.as_slice())
        .unwrap()
        .map(|packet| packet.map(|packet| (packet.at, packet.content)).unwrap())
        .collect();
    let (before, after_gap) = packets.split_at(packets.len() - 3);
    assert_eq!(before.len() as u64, second);
    assert_eq!(
        after_gap[..2],
        [
            (after(second), closed("recorder: 2 chunks were not recorded")),
            (resumed, Content::Opened)
        ]
    );
    assert_eq!(after_gap[2].0, resumed);
}

#[test]
fn the_files_of_ports_that_are_gone_are_closed_when_the_day_is_over() {
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn whatever_is_recorded_is_read_back_across_restarts(
        steps in prop::collection::vec((0..3u8, 0..4u32, prop::collection::vec(any::<u8>(), 1..20), any::<bool>()), 1..40)
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut recorder = recorder(&folder);
        let mut expected: HashMap<String, Vec<Content>> = HashMap::new();
        for (port, day, bytes, restart) in steps {
            if restart {
                recorder = recorder_with(folder.path(), 1 << 30);
            }
            let port = format!("pts-{port}");
            let now = NOON + DAY * day;
            recorder.record(now, &port, LineMode::Single, &chunk(&bytes));
            let file = format!("2026-11-{}-{port}.pcapng", 21 + day);
            expected.entry(file).or_default().push(chunk(&bytes));
        }
        prop_assert_eq!(files(folder.path()).len(), expected.len());
        for (file, chunks) in expected {
            prop_assert_eq!(contents(&folder, &file), chunks);
        }
    }
}
