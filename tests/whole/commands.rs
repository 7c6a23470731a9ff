//! An arbiter's commands in a replay.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use kiebitz::replay::Replay;
use kiebitz::replay::read_commands;
use serde_json::Value;

/// A game of 33 plies that ends with mate at 07:32:25.
const CAPTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../src/tools/demo/game.pcapng");

/// A file of commands, each with a time of day, in the given order.
fn file(name: &str, commands: &[(&str, &str)]) -> PathBuf {
    let line = |(nth, (at, command)): (usize, &(&str, &str))| {
        format!("{{\"id\":\"{nth}\",\"board\":\"board-1\",\"at\":\"2026-08-05T{at}Z\",{command}}}\n")
    };
    let text: String = commands.iter().enumerate().map(line).collect();
    written(name, &text)
}

fn written(name: &str, text: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("commands");
    std::fs::create_dir_all(&directory).expect("a scratch directory");
    let path = directory.join(name);
    std::fs::write(&path, text).expect("a scratch file");
    path
}

fn run(print: &[&str], commands: &Path) -> Output {
    let mut kiebitz = Command::new(crate::program());
    kiebitz.arg("replay").args(print).arg("--commands").arg(commands);
    kiebitz
        .arg(CAPTURE)
        .env("TZ", "UTC")
        .output()
        .expect("kiebitz runs")
}

fn printed(print: &[&str], commands: &Path) -> String {
    let output = run(print, commands);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), errors.as_str()), (Some(0), ""));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The events that the library produces for the capture and the commands, one on each line.
fn library(commands: &Path) -> String {
    let file = read_commands(commands).expect("commands");
    let replay = Replay::open(Path::new(CAPTURE), "replay").expect("a capture");
    let mut replay = replay.with_commands(file.commands());
    let mut lines = String::new();
    while replay.next_at().is_some() {
        for explained in replay.step().expect("the capture is whole") {
            lines += &serde_json::to_string(&explained.event).expect("JSON");
            lines.push('\n');
        }
    }
    lines
}

fn events(lines: &str) -> Vec<Value> {
    lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

fn of_type<'e>(events: &'e [Value], kind: &str) -> Vec<&'e Value> {
    events.iter().filter(|event| event["type"] == kind).collect()
}

const PLAYERS: (&str, &str) = (
    "07:27:57",
    r#""do":"set_players","white":"Adams, A.","black":"Baker, B.""#,
);
const CONTROL: (&str, &str) = ("07:27:58", r#""do":"set_time_control","time_control":"60+30""#);
const BACK_TO_18: (&str, &str) = (
    "07:30:36",
    r#""do":"set_position","fen":"r2nk1nr/pp3ppp/8/4p3/2Bb2b1/5N2/PPP2PPP/RNBQ1RK1 w kq - 0 10""#,
);

#[test]
fn the_arbiters_result_is_in_the_game_and_its_pgn() {
    let result = r#""do":"set_result","by":"A. Meier","result":"0-1","reason":"resignation""#;
    let commands = file("result.jsonl", &[("07:30:45", result), PLAYERS, CONTROL]);
    let pgn = printed(&["--pgn"], &commands);
    for tag in [
        "[White \"Adams, A.\"]",
        "[Black \"Baker, B.\"]",
        "[Result \"0-1\"]",
        "[TimeControl \"3600+30\"]",
        "[Termination \"normal\"]",
    ] {
        assert!(pgn.contains(tag), "{tag}: {pgn}");
    }
    // Moves after the resignation do not belong to the game.
    assert!(
        pgn.contains("10. Qd3") && pgn.contains("10... Nf6") && !pgn.contains("11. "),
        "{pgn}"
    );
    let sheet = printed(&[], &commands);
    assert!(sheet.contains("0-1: resignation"), "{sheet}");
    assert!(sheet.contains("A. Meier entered the result"), "{sheet}");
}

#[test]
fn commands_are_events_with_author_and_time() {
    let commands = file(
        "events.jsonl",
        &[PLAYERS, ("07:28:00.142941", r#""do":"annotate","text":"late""#)],
    );
    let events = events(&printed(&["--json"], &commands));
    let taken = of_type(&events, "command.taken");
    assert_eq!(taken.len(), 2);
    assert_eq!(taken[0]["ts"], "2026-08-05T07:27:57.000000Z");
    assert_eq!(
        (&taken[0]["do"], &taken[0]["by"]),
        (&Value::from("set_players"), &Value::from("arbiter"))
    );
    assert_eq!(taken[0]["arguments"]["white"], "Adams, A.");
    // Messages that the board sent at the same time are handled before the command, so the game has already begun.
    assert_eq!(taken[1]["error"], Value::Null);
    let started = of_type(&events, "game.started");
    assert_eq!(started[0]["players"]["black"], "Baker, B.");
    let amended = of_type(&events, "game.amended");
    assert_eq!(amended[0]["note"], "late");
}

#[test]
fn the_same_bytes_and_commands_give_the_same_events() {
    let correct = r#""do":"correct_moves","from":32,"moves":["a6"]"#;
    let confirm = r#""do":"set_result","result":"1/2-1/2","reason":"arbiter""#;
    let commands = file(
        "same.jsonl",
        &[
            PLAYERS,
            CONTROL,
            BACK_TO_18,
            ("07:40:00", correct),
            ("08:00:00", confirm),
        ],
    );
    let lines = library(&commands);
    assert!(lines == library(&commands));
    assert!(
        lines == printed(&["--json"], &commands),
        "the program says something else"
    );
    let seqs: Vec<u64> = events(&lines)
        .iter()
        .filter_map(|event| event["seq"].as_u64())
        .collect();
    assert!(seqs.iter().copied().eq(1..=seqs.len() as u64));
    let pgn = printed(&["--pgn"], &commands);
    assert!(pgn.contains("16... a6 1/2-1/2"), "{pgn}");
}

#[test]
fn setting_the_same_position_changes_no_moves() {
    let commands = file("position.jsonl", &[BACK_TO_18]);
    let events = events(&printed(&["--json"], &commands));
    assert_eq!(of_type(&events, "game.amended").len(), 1);
    assert!(of_type(&events, "move.retracted").is_empty() && of_type(&events, "move.amended").is_empty());
    let made = of_type(&events, "move.made");
    assert_eq!((made.len(), &made[32]["san"]), (33, &Value::from("Qc7#")));
    assert_eq!(of_type(&events, "game.ended")[0]["reason"], "checkmate");
}

#[test]
fn impossible_commands_are_refused_with_file_and_line() {
    let late = r#""do":"set_result","result":"0-1","reason":"resignation""#;
    let text = "\n{\"id\":\"1\",\"do\":\"end_game\",\"board\":\"board-1\",\"at\":\"2026-08-05T07:27:57Z\"}\n\
        {\"id\":\"2\",\"do\":\"identify\",\"board\":\"board-3\",\"at\":\"2026-08-05T07:27:58Z\"}\n";
    let text =
        format!("{text}{{\"id\":\"3\",{late},\"board\":\"board-1\",\"at\":\"2026-08-05T07:40:00Z\"}}\n");
    let commands = written("refused.jsonl", &text);
    let output = run(&["--json"], &commands);
    assert_eq!(output.status.code(), Some(0));
    let place = commands.display();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let expected = [
        format!("kiebitz: {place}:2: no game is being played on board-1"),
        format!("kiebitz: {place}:3: there is no board board-3; there are board-1"),
        format!(
            "kiebitz: {place}:4: the game was over with 1-0 by checkmate: resignation after that changes nothing; \
             to overrule the result, give the reason \"arbiter\""
        ),
    ];
    assert_eq!(errors.lines().collect::<Vec<_>>(), expected);
    let events = events(&String::from_utf8(output.stdout).expect("UTF-8"));
    assert_eq!(of_type(&events, "command.taken").len(), 2);
    assert_eq!(of_type(&events, "game.ended").len(), 1);
}

#[test]
fn a_file_with_a_wrong_command_is_refused() {
    let commands = file("wrong.jsonl", &[PLAYERS, ("07:30:00", r#""do":"castle""#)]);
    let output = run(&["--json"], &commands);
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let place = format!("kiebitz: {}:2: unknown command \"castle\"", commands.display());
    assert!(errors.starts_with(&place), "{errors}");
    assert!(output.stdout.is_empty());

    let output = Command::new(crate::program())
        .args(["replay", CAPTURE, CAPTURE, "--commands"])
        .arg(file("two.jsonl", &[PLAYERS]))
        .output()
        .expect("kiebitz runs");
    assert_eq!(output.status.code(), Some(2));
}

/// Art. 12.6: the public gets only moves, clocks and results.
#[test]
fn notes_and_claims_do_not_reach_the_public() {
    let commands = file(
        "public.jsonl",
        &[("07:28:30", r#""do":"annotate","text":"a secret""#)],
    );
    let mut record = None;
    for line in library(&commands).lines() {
        let event: kiebitz_game::events::Event = serde_json::from_str(line).expect("an event");
        match kiebitz_game::events::record::GameRecord::from_started(&event) {
            Some(started) => record = Some(started),
            None => {
                record
                    .as_mut()
                    .map(|record: &mut kiebitz_game::events::record::GameRecord| record.apply(&event));
            }
        }
    }
    let record = record.expect("a game");
    assert_eq!(record.notes[0].text, "a secret");
    let shown = kiebitz::outputs::pgn::public_pgn(&record);
    assert!(!shown.contains("secret") && shown.contains("Qc7#"), "{shown}");
}

/// The arbiter decides at once. The illegal move is not a second offence while it stands on the board.
#[test]
fn an_illegal_move_that_is_decided_at_once_is_reported_once() {
    let capture = concat!(env!("CARGO_MANIFEST_DIR"), "/../../src/tools/demo/illegal.pcapng");
    let command = "{\"id\":\"1\",\"do\":\"close_incident\",\"incident\":1,\"decision\":\"two minutes\",\
                   \"board\":\"board-1\",\"at\":\"2026-11-21T14:00:13.400Z\"}\n";
    let commands = written("at_once", command);
    let output = Command::new(crate::program())
        .args(["replay", "--json", "--commands"])
        .arg(&commands)
        .arg(capture)
        .output()
        .expect("kiebitz runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let events = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let of_interest = events.filter(|event| event["kind"] == "illegal_move" || event["ply"] == 4);
    let types: Vec<String> = of_interest
        .map(|event| event["type"].as_str().expect("a type").to_owned())
        .filter(|event| !matches!(&**event, "move.settled" | "move.completed"))
        .collect();
    let expected = [
        "move.made",
        "incident.opened",
        "incident.closed",
        "move.retracted",
        "move.made",
    ];
    assert_eq!(types, expected);
}
