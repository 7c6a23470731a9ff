//! Flags, castling and given positions in the built program, with the options that affect them.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The events of a capture in tests/captures, replayed with options.
fn events(capture: &str, options: &[&str]) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../captures");
    let output = Command::new(crate::program())
        .args(["replay", "--json"])
        .args(options)
        .arg(capture)
        .current_dir(folder)
        .output()
        .expect("kiebitz runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*errors), (Some(0), ""), "{capture}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

/// The incidents: "opened" or "updated" with the case, "closed" with kind and reason. Ignores the disconnection of the
/// board at the end of the capture.
fn incidents(events: &[Value]) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let described = |event: &Value| {
        let how = event["type"].as_str()?.strip_prefix("incident.")?;
        let detail = match how {
            "closed" => format!("{} {}", text(&event["kind"]), text(&event["reason"])),
            _ => text(&event["case"]),
        };
        Some(format!("{how} {detail}")).filter(|_| event["kind"] != "board_disconnected")
    };
    events.iter().filter_map(described).collect()
}

fn moves(events: &[Value]) -> Vec<&str> {
    let made = events.iter().filter(|event| event["type"] == "move.made");
    made.map(|event| event["san"].as_str().unwrap_or("irregular"))
        .collect()
}

const TWO_PERIODS: [&str; 2] = ["--time-control", "1 min/2 + 30 min"];

/// A DGT 3000 shows the flag of a finished period for five minutes; other clocks show 0:00:00 for a second.
#[test]
fn the_end_of_a_period_is_not_a_loss_on_time() {
    for capture in ["period-flag.pcapng", "zero-second.pcapng"] {
        let reported = incidents(&events(capture, &TWO_PERIODS));
        let flags: Vec<&String> = reported
            .iter()
            .filter(|incident| incident.contains("flag"))
            .collect();
        assert_eq!(
            flags,
            ["opened flag_fall.moves_made", "closed flag_fall passed"],
            "{capture}: {reported:?}"
        );
    }
}

/// Black has completed an illegal move, which is still on the board when White's flag falls.
#[test]
fn nobody_wins_on_time_after_an_illegal_move() {
    let reported = incidents(&events("illegal-then-flag.pcapng", &["--time-control", "1 min"]));
    assert_eq!(
        reported,
        ["opened illegal_move.completed", "opened flag_fall.after_offence"]
    );
}

/// 2023, A.5.1.2: White's king started on d1 and may not castle.
#[test]
fn a_king_that_started_on_the_wrong_square_may_not_castle() {
    let events = events(
        "castles-misplaced-king.pcapng",
        &["--mode", "rapid", "--unsupervised"],
    );
    let reported = incidents(&events);
    let illegal = reported
        .iter()
        .any(|incident| incident.starts_with("opened illegal_move"));
    assert!(illegal && !moves(&events).contains(&"O-O"), "{reported:?}");
}

/// The FEN fits the board as it stands, although most pawns would fit a turned board better.
#[test]
fn a_given_position_decides_the_orientation_of_the_board() {
    let events = events("new-game-fen.pcapng", &["--commands", "new-game-fen.jsonl"]);
    assert_eq!(incidents(&events), [""; 0]);
    assert_eq!(moves(&events), ["e8=Q+", "Kh7", "Qe7+"]);
}
