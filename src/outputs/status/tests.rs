use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::outputs::mqtt::{Disk, DiskState, Machine, StorageState};
use crate::outputs::shared::reports::OutputReport;

const NOW: Timestamp = Timestamp::from_micros(1_789_000_000_000_000);

fn board(name: &str, connected: bool) -> BoardSummary {
    BoardSummary {
        board: name.to_owned(),
        connected,
        port: "/dev/ttyUSB0".to_owned(),
        serial: None,
        version: None,
        playing: true,
        clock: false,
        battery: None,
        line: LineHealth {
            heard: Some(NOW),
            messages: 12,
            damaged_bytes: 3,
        },
        game: Some(GameStatus {
            round: Some(3),
            table: Some(7),
            white: Some("<Adler>".to_owned()),
            last_move: "12. Nf3".to_owned(),
            ..GameStatus::default()
        }),
        times: Some(Clock {
            white_ms: 61_000,
            black_ms: 3_600_000,
            running: None,
            flag: None,
        }),
        open: Vec::new(),
        same_number: Vec::new(),
    }
}

fn status(boards: Vec<BoardSummary>) -> Status {
    let daemon = DaemonHealth {
        machine: Machine {
            disk: Some(Disk {
                free_bytes: 5_000_000,
                size_bytes: 8_000_000,
            }),
            ..Machine::default()
        },
        ..DaemonHealth::default()
    };
    Status::new("pi", (NOW, NOW), None, daemon, boards)
}

#[test]
fn metrics_are_in_the_format_of_prometheus() {
    let status = status(vec![board("a", true), board("quoted \"b\" \\", false)]);
    let text = metrics(&status);
    let mut named = BTreeSet::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').expect("a type");
            assert!(named.insert(name.to_owned()), "{name} is there twice");
            assert_eq!(name.ends_with("_total"), kind == "counter", "{line}");
        } else if !line.starts_with("# HELP ") {
            let (name, value) = line.rsplit_once(' ').expect("a value");
            let name = name.split('{').next().expect("a name");
            assert!(named.contains(name), "{line} has no type");
            value.parse::<f64>().expect("a number");
        }
    }
    assert!(
        text.contains("kiebitz_board_connected{board=\"a\"} 1\n"),
        "{text}"
    );
    let escaped = "kiebitz_board_connected{board=\"quoted \\\"b\\\" \\\\\"} 0\n";
    assert!(text.contains(escaped), "{text}");
    assert!(text.contains("kiebitz_disk_free_bytes 5000000\n"), "{text}");
    assert!(!text.contains("temperature"), "what is not known is left out");
    assert!(!text.contains("broker"), "there is none");
}

#[test]
fn the_page_shows_foreign_names_as_text() {
    let page = page(&status(vec![board("<script>alert(1)</script>", true)]));
    assert!(!page.contains("<script"), "{page}");
    assert!(
        page.contains("&lt;script&gt;") && page.contains("5 of 8 MB free"),
        "{page}"
    );
}

#[test]
fn boards_with_the_same_number_are_reported_once() {
    let shares = |name: &str, other: &str| BoardSummary {
        same_number: vec![other.to_owned()],
        ..board(name, true)
    };
    let boards = vec![shares("00042", "00042-ttyUSB1"), shares("00042-ttyUSB1", "00042")];
    let status = Status::new("pi", (NOW, NOW), Some(true), DaemonHealth::default(), boards);
    let [problem] = status.problems.as_slice() else {
        panic!("{:?}", status.problems)
    };
    assert!(
        problem.starts_with("00042 and 00042-ttyUSB1 report the same serial number"),
        "{problem}"
    );
}

#[test]
fn problems_are_listed() {
    let refused = OutputReport {
        problems: vec!["round 3: 3.1, A - B is not taken".to_owned()],
        ..OutputReport::default()
    };
    let fails = DiskState {
        ok: false,
        problem: Some("the disk is full".to_owned()),
        ..DiskState::default()
    };
    let daemon = DaemonHealth {
        storage: StorageState {
            journal: fails,
            ..StorageState::default()
        },
        outputs: BTreeMap::from([("Lichess".to_owned(), refused)]),
        ..DaemonHealth::default()
    };
    let status = Status::new("pi", (NOW, NOW), Some(false), daemon, Vec::new());
    assert!(page(&status).contains("round 3: 3.1, A - B is not taken"));
    assert_eq!(
        (status.ok, status.problems),
        (
            false,
            vec![
                "journal: the disk is full".to_owned(),
                "Lichess: round 3: 3.1, A - B is not taken".to_owned(),
                "no connection to the MQTT broker".to_owned()
            ]
        )
    );
    let lost = OutputReport {
        problems: vec!["Connection refused".to_owned()],
        ..OutputReport::default()
    };
    let daemon = DaemonHealth {
        outputs: BTreeMap::from([(BROKER.to_owned(), lost)]),
        ..DaemonHealth::default()
    };
    let status = Status::new("pi", (NOW, NOW), Some(false), daemon, Vec::new());
    assert_eq!(status.problems, ["broker: Connection refused"], "it is said once");
    let well = Status::new("pi", (NOW, NOW), Some(true), DaemonHealth::default(), Vec::new());
    assert!(well.ok);
}
