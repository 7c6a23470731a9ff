//! Tests of full disks and exceeded budgets.

use super::*;

#[test]
fn the_oldest_days_are_removed_except_files_being_written() {
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
fn a_budget_exceeded_by_files_being_written_is_reported_once() {
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

/// A device that sends continuously fills one file after another.
#[test]
fn the_budget_is_kept_within_a_day() {
    let folder = tempfile::tempdir().unwrap();
    let budget = 16 * MIN_FILE_LIMIT;
    let mut recorder = recorder_with(folder.path(), budget);
    let size = || -> u64 {
        let names = files(folder.path()).into_iter();
        names
            .map(|name| fs::metadata(folder.path().join(name)).unwrap().len())
            .sum()
    };
    for nth in 0..5000 {
        let now = NOON + Duration::from_millis(nth);
        recorder.single(now, chunk(&[1; 1000]));
        recorder.sync(now);
        assert!(size() <= budget + 2 * MIN_FILE_LIMIT, "{nth}");
    }
    let names = files(folder.path());
    assert!(names.len() >= 14, "{names:?}");
    assert!(!names.contains(&"2026-11-21-ttyUSB0.pcapng".to_owned()));
    // The last entries remain, in the order of the file numbers.
    let left = recorded_since(folder.path(), NOON, &TimeZone::UTC);
    let mut at = NOON;
    for path in left {
        for packet in packets(&path) {
            assert!(packet.at > at);
            at = packet.at;
        }
    }
    assert_eq!(at, NOON + Duration::from_millis(4999));
    assert_eq!(recorder.reports(), [""; 0]);
}

#[test]
fn a_restart_continues_a_file_below_its_limit_and_not_a_full_one() {
    let folder = tempfile::tempdir().unwrap();
    for restart in 1..=6 {
        let mut recorder = recorder_with(folder.path(), 1);
        for nth in 0..25 {
            recorder.single(after(100 * restart + nth), chunk(&[1; 1000]));
        }
    }
    let names = files(folder.path());
    assert_eq!(
        names,
        [
            "2026-11-21-ttyUSB0+2.pcapng",
            "2026-11-21-ttyUSB0+3.pcapng",
            "2026-11-21-ttyUSB0.pcapng"
        ]
    );
    let day = recorded_days(folder.path(), "/dev/ttyUSB0", NOON, NOON, &TimeZone::UTC);
    let recorded: Vec<Packet> = day[0].files.iter().flat_map(|path| packets(path)).collect();
    assert_eq!(recorded.len(), 150);
    assert!(recorded.is_sorted_by_key(|packet| packet.at));
}

#[test]
fn chunks_lost_before_the_recorder_are_marked_as_a_gap() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = recorder(&folder);
    recorder.single(NOON, Content::Opened);
    assert!(recorder.is_well());
    recorder.missed(after(1), "ttyUSB0", 3);
    recorder.missed(after(2), "ttyUSB0", 4);
    assert!(!recorder.is_well());
    recorder.single(after(5), chunk(&[1]));
    assert!(recorder.is_well());
    let recorded = packets(&folder.path().join("2026-11-21-ttyUSB0.pcapng")).into_iter();
    let recorded: Vec<_> = recorded.map(|packet| (packet.at, packet.content)).collect();
    assert_eq!(
        recorded,
        [
            (NOON, Content::Opened),
            (after(1), closed("recorder: 7 chunks were not recorded")),
            (after(5), Content::Opened),
            (after(5), chunk(&[1]))
        ]
    );
}

#[test]
fn an_unwritable_folder_is_reported_once_and_the_gap_is_marked() {
    let parent = tempfile::tempdir().unwrap();
    // A file in place of the folder, because root can write to any folder.
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
fn a_gap_closes_the_port_at_the_start_of_the_gap() {
    let parent = tempfile::tempdir().unwrap();
    let (folder, aside) = (parent.path().join("captures"), parent.path().join("aside"));
    let mut recorder = recorder_with(&folder, 1 << 30);
    let evening = NOON + DAY / 2;
    recorder.single(NOON, Content::Opened);
    // Prevents the creation of the next day's file.
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

/// A pipe acts as a disk that is full until the pipe is drained.
#[cfg(target_os = "linux")]
#[test]
fn recording_continues_in_the_same_file_after_a_full_disk() {
    let (mut read, write) = io::pipe().unwrap();
    for end in [std::os::fd::AsFd::as_fd(&read), std::os::fd::AsFd::as_fd(&write)] {
        rustix::fs::fcntl_setfl(end, rustix::fs::OFlags::NONBLOCK).unwrap();
    }
    let mut capture = Vec::new();
    let mut drain_pipe = || {
        let error = io::Read::read_to_end(&mut read, &mut capture).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        capture.clone()
    };

    let folder = tempfile::tempdir().unwrap();
    let mut recorder = recorder(&folder);
    let file = File::from(std::os::fd::OwnedFd::from(write));
    let port = RecordedPort {
        file: Some(DayFile::begin("2026-11-21", "pipe".into(), file, 0).unwrap()),
        ..RecordedPort::default()
    };
    recorder.ports.insert("ttyUSB0".to_owned(), port);
    recorder.single(NOON, Content::Opened);
    // Writes of up to 4 kB to a pipe are atomic.
    let large = chunk(&[1; 4000]);
    let mut second = 0;
    while recorder.ports["ttyUSB0"].gap.is_none() {
        second += 1;
        assert!(second < 10_000, "the pipe is never full");
        recorder.single(after(second), large.clone());
    }
    recorder.single(after(second + 1), large.clone());
    assert_eq!(recorder.reports().len(), 1);

    drain_pipe();
    let resumed = after(second) + RETRY_AFTER;
    recorder.single(resumed, large);
    let capture = drain_pipe();
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
