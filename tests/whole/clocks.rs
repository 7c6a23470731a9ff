//! Right and wrong clock times, through the whole program.

use core::time::Duration;
use std::path::Path;
use std::process::Command;

use kiebitz_hardware::emulator::EmulatedClock;
use serde_json::Value;

use kiebitz_workbench::room::{Room, STANDARD};

/// Sixteen moves by each side, none of them castling.
const MOVES: &str = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 d2d3 d7d6 c2c3 g7g6 b1d2 f8g7 d2f1 b7b5 \
    a4c2 d6d5 f1e3 d5d4 c3d4 e5d4 e3f1 h7h6 h2h3 c8e6 f1g3 d8d6 a2a3 a6a5 c1d2 a5a4";

/// A board from the examples to Art. 6.10 in the arbiters' handbook, one hour after the start. The time control is 90
/// minutes with 30 seconds per move.
struct Handbook {
    name: &'static str,
    /// Moves that each player has made.
    moves: u32,
    /// Seconds that White and Black use for each move.
    think: [u32; 2],
    /// Increment that the clock adds, in seconds.
    increment: u64,
    /// Minutes left for White and Black after the hour.
    shown: [u64; 2],
}

/// The events of `kiebitz replay --json` for a recording of the board.
fn events(board: &Handbook) -> Vec<Value> {
    let clock = EmulatedClock::new(Duration::from_secs(5400));
    let clock = clock.with_increment(Duration::from_secs(board.increment));
    let mut room = Room::with_clock(STANDARD, "", clock);
    room.starts_clock();
    let plies = (board.moves * 2) as usize;
    for (ply, played) in MOVES.split_whitespace().take(plies).enumerate() {
        // `plays` takes five seconds: one for the move and the press, and four afterwards.
        let think = Duration::from_secs(board.think[ply % 2].into());
        room.pass(think - Duration::from_secs(5));
        room.plays(played);
    }
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clocks");
    std::fs::create_dir_all(&directory).expect("a scratch directory");
    let file = directory.join(format!("{}.pcapng", board.name));
    std::fs::write(&file, room.recorded()).expect("a capture");
    let output = Command::new(crate::program())
        .args(["replay", "--json", "--time-control", "90+30"])
        .arg(&file)
        .output()
        .expect("kiebitz runs");
    assert!(output.status.success());
    let events = String::from_utf8(output.stdout).expect("UTF-8");
    let events = events
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    events.collect()
}

/// The incidents of a game. Checks that the clock shows the handbook's times at the end.
fn incidents_of(board: &Handbook) -> Vec<Value> {
    let events = events(board);
    let completed = |event: &&Value| event["type"] == "move.completed";
    assert_eq!(
        events.iter().filter(completed).count(),
        board.moves as usize * 2,
        "{}",
        board.name
    );
    let last = events.iter().rfind(completed).expect("moves");
    for (shown, name) in board.shown.iter().zip(["white_ms", "black_ms"]) {
        let read = last["clock"][name].as_u64().expect("a time");
        assert!(
            read.abs_diff(shown * 60_000) < 10_000,
            "{}: {name} {read}",
            board.name
        );
    }
    let incidents = events.into_iter().filter(|event| event.get("incident").is_some());
    incidents.collect()
}

/// Art. 6.10 of 2018 and 2023: two clocks whose times are right although they may look wrong.
#[test]
fn handbooks_first_two_boards_raise_nothing() {
    let boards = [
        Handbook {
            name: "first",
            moves: 10,
            think: [120, 240],
            increment: 30,
            shown: [75, 55],
        },
        Handbook {
            name: "second",
            moves: 16,
            think: [131, 94],
            increment: 30,
            shown: [63, 73],
        },
    ];
    for board in boards {
        assert_eq!(incidents_of(&board), [Value::Null; 0], "{}", board.name);
    }
}

/// Art. 6.10: the third clock did not add the increments of twelve moves, so each player is owed six minutes.
#[test]
fn handbooks_third_board_lacks_its_increments() {
    let incidents = incidents_of(&Handbook {
        name: "third",
        moves: 12,
        think: [100, 200],
        increment: 0,
        shown: [70, 50],
    });
    let opened: Vec<&Value> = incidents
        .iter()
        .filter(|event| event["type"] == "incident.opened")
        .collect();
    assert_eq!(opened.len(), 1, "{incidents:#?}");
    assert_eq!(opened[0]["kind"], "clock_inconsistent");
    assert_eq!(opened[0]["severity"], "advice");
    assert_eq!(opened[0]["article"], "6.10.1, 6.10.2");
    let last = incidents.last().expect("one");
    assert_eq!(last["type"], "incident.updated");
    let values = &last["evidence"]["values"];
    assert_eq!(
        (&values["white_moves"], &values["black_moves"]),
        (&12.into(), &12.into())
    );
    let advice = last["advice"].as_str().expect("a text");
    assert!(
        advice.contains("the increments of 12 moves by White and 12 moves by Black"),
        "{advice}"
    );
}
