//! Any text as a file of commands: what is refused is refused with its line, what is taken is taken in the order of time,
//! and a board in play answers every command.

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
            are_those_of_the_file(file.commands(), text);
            are_answered(file.commands());
        }
        Err(error) => names_a_line(&format!("{error:#}"), text),
    }
}

fn are_those_of_the_file(commands: &[Timed], text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    let filled = lines.iter().filter(|line| !line.trim().is_empty());
    assert_eq!(commands.len(), filled.count(), "one command a line");
    assert!(commands.is_sorted_by_key(|timed| timed.at));
    for timed in commands {
        let alone =
            CommandFile::parse(Path::new("line.jsonl"), lines[timed.line - 1]).expect("a line of the file");
        let expected = Timed {
            line: 1,
            ..timed.clone()
        };
        assert_eq!(alone.commands(), [expected]);
    }
}

fn names_a_line(message: &str, text: &str) {
    let rest = message.strip_prefix("round.jsonl:").expect("the file is named");
    let (line, _) = rest.split_once(':').expect("the line is named");
    let line: usize = line.parse().expect("lines are numbers");
    assert!((1..=text.lines().count()).contains(&line), "{message}");
}

/// Gives the first commands to a board while a game is played on it, one every second and a half.
fn are_answered(commands: &[Timed]) {
    let replay = Replay::new(GAME, "fuzz").expect("a capture");
    let begins = replay.next_at().expect("something happens in it");
    let given: Vec<Timed> = (2..)
        .zip(commands.iter().take(MOST_GIVEN))
        .map(|(nth, timed)| Timed {
            at: begins + EVERY * nth,
            board: BOARD.to_owned(),
            ..timed.clone()
        })
        .collect();
    let mut replay = replay.with_commands(&given);
    let mut events = 0;
    while replay.next_at().is_some() {
        for said in replay.step().expect("the capture is whole") {
            let event = serde_json::to_value(&said.event).expect("an event is written as JSON");
            events += usize::from(event["type"] == "command.taken");
        }
    }
    assert_eq!(events, given.len(), "every command is an event");
    assert_eq!(
        replay.take_answers().len(),
        given.len(),
        "every command is answered"
    );
}

/// A queen is drawn to a square and gives mate.
const GAME: &[u8] = include_bytes!("../../tests/captures/dragged-queen.pcapng");
const BOARD: &str = "board-1";
/// As many as there is time for while the game lasts.
const MOST_GIVEN: usize = 12;
const EVERY: Duration = Duration::from_millis(1500);
