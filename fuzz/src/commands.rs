//! Parses arbitrary text as a file of commands. Checks that an error names its line, that commands are ordered by time,
//! and that a board in play answers every command.

use core::time::Duration;
use std::path::Path;

use kiebitz::replay::Replay;
use kiebitz_game::command::{CommandFile, Timed};

pub fn run(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else {
        return;
    };
    match CommandFile::parse(Path::new("round.jsonl"), text) {
        Ok(file) => {
            assert_one_command_per_line(file.commands(), text);
            assert_all_answered(file.commands());
        }
        Err(error) => assert_names_a_line(&format!("{error:#}"), text),
    }
}

fn assert_one_command_per_line(commands: &[Timed], text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    let filled = lines.iter().filter(|line| !line.trim().is_empty());
    assert_eq!(commands.len(), filled.count(), "one command a line");
    assert!(commands.is_sorted_by_key(|timed| timed.at));
    for timed in commands {
        let single =
            CommandFile::parse(Path::new("line.jsonl"), lines[timed.line - 1]).expect("a line of the file");
        let expected = Timed {
            line: 1,
            ..timed.clone()
        };
        assert_eq!(single.commands(), [expected]);
    }
}

fn assert_names_a_line(message: &str, text: &str) {
    let rest = message.strip_prefix("round.jsonl:").expect("the file is named");
    let (line, _) = rest.split_once(':').expect("the line is named");
    let line: usize = line.parse().expect("lines are numbers");
    assert!((1..=text.lines().count()).contains(&line), "{message}");
}

/// Sends the first `MAX_COMMANDS` commands to a board during a game and asserts that each is answered.
fn assert_all_answered(commands: &[Timed]) {
    let replay = Replay::new(GAME, "fuzz").expect("a capture");
    let start = replay.next_at().expect("something happens in it");
    let scheduled: Vec<Timed> = (2..)
        .zip(commands.iter().take(MAX_COMMANDS))
        .map(|(nth, timed)| Timed {
            at: start + INTERVAL * nth,
            board: BOARD.to_owned(),
            ..timed.clone()
        })
        .collect();
    let mut replay = replay.with_commands(&scheduled);
    let mut events = 0;
    while replay.next_at().is_some() {
        for step in replay.step().expect("the capture is whole") {
            let event = serde_json::to_value(&step.event).expect("an event is written as JSON");
            events += usize::from(event["type"] == "command.taken");
        }
    }
    assert_eq!(events, scheduled.len(), "every command is an event");
    assert_eq!(
        replay.take_answers().len(),
        scheduled.len(),
        "every command is answered"
    );
}

/// Recording of a game that ends with a mate by a queen that is dragged across the board.
const GAME: &[u8] = include_bytes!("../../tests/captures/dragged-queen.pcapng");
const BOARD: &str = "board-1";
/// Number of commands that fit into the duration of the game.
const MAX_COMMANDS: usize = 12;
/// Time between two commands.
const INTERVAL: Duration = Duration::from_millis(1500);
