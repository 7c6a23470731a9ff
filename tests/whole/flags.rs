//! What the built program says of flags, castling and given positions, with the options that they depend on.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The events of a capture in the folder of captures, replayed with these options.
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

/// What is reported of incidents: "opened" or "updated" with the case, "closed" with kind and reason. Without the board
/// that is away when the capture ends.
fn incidents(events: &[Value]) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let said = |event: &Value| {
        let how = event["type"].as_str()?.strip_prefix("incident.")?;
        let what = match how {
            "closed" => format!("{} {}", text(&event["kind"]), text(&event["reason"])),
            _ => text(&event["case"]),
        };
        Some(format!("{how} {what}")).filter(|_| event["kind"] != "board_disconnected")
    };
    events.iter().filter_map(said).collect()
}

fn moves(events: &[Value]) -> Vec<&str> {
    let made = events.iter().filter(|event| event["type"] == "move.made");
    made.map(|event| event["san"].as_str().unwrap_or("irregular"))
        .collect()
}

const TWO_PERIODS: [&str; 2] = ["--time-control", "1 min/2 + 30 min"];

/// A DGT 3000 shows the flag of the finished period for five minutes; other clocks show 0:00:00 for a second.
#[test]
fn a_period_that_ends_is_no_lost_game() {
    for capture in ["period-flag.pcapng", "zero-second.pcapng"] {
        let said = incidents(&events(capture, &TWO_PERIODS));
        let flags: Vec<&String> = said.iter().filter(|said| said.contains("flag")).collect();
        assert_eq!(
            flags,
            ["opened flag_fall.moves_made", "closed flag_fall passed"],
            "{capture}: {said:?}"
        );
    }
}

/// Black's illegal move stands on the board, completed, when White's flag falls.
#[test]
fn nobody_wins_on_time_after_an_illegal_move() {
    let said = incidents(&events("illegal-then-flag.pcapng", &["--time-control", "1 min"]));
    assert_eq!(
        said,
        ["opened illegal_move.completed", "opened flag_fall.after_offence"]
    );
}

/// 2023, A.5.1.2: White's king began on d1, and may not castle.
#[test]
fn a_king_that_began_on_the_wrong_square_may_not_castle() {
    let events = events(
        "castles-misplaced-king.pcapng",
        &["--mode", "rapid", "--unsupervised"],
    );
    let said = incidents(&events);
    let illegal = said.iter().any(|said| said.starts_with("opened illegal_move"));
    assert!(illegal && !moves(&events).contains(&"O-O"), "{said:?}");
}

/// The FEN fits the board as it stands, although most pawns stand where a turned board would have them.
#[test]
fn a_given_position_decides_which_way_round_the_board_stands() {
    let events = events("new-game-fen.pcapng", &["--commands", "new-game-fen.jsonl"]);
    assert_eq!(incidents(&events), [""; 0]);
    assert_eq!(moves(&events), ["e8=Q+", "Kh7", "Qe7+"]);
}
