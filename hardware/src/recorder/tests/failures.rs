//! Disks and budgets that are full.

use super::*;

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

/// A device that never stops talking fills parts of the budget, one after the other.
#[test]
fn the_budget_holds_within_a_day_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let budget = 16 * MIN_PART;
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
        assert!(size() <= budget + 2 * MIN_PART, "{nth}");
    }
    let names = files(folder.path());
    assert!(names.len() >= 14, "{names:?}");
    assert!(!names.contains(&"2026-11-21-ttyUSB0.pcapng".to_owned()));
    // What is left is the end, in the order of its numbers.
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
fn a_part_of_a_day_is_continued_after_a_restart_and_a_full_one_is_not() {
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
fn chunks_that_never_came_here_are_marked_like_those_that_the_disk_did_not_take() {
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
    let port = RecordedPort {
        file: Some(DayFile::begin("2026-11-21", "pipe".into(), file, 0).unwrap()),
        ..RecordedPort::default()
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
