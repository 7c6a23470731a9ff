//! The contract: compares docs/events.md and docs/events.schema.json with the events of the program.

mod examples;

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::root;
use examples::{examples, wrong_values};
use jsonschema::Validator;
use kiebitz::replay::Replay;
use kiebitz::replay::read_commands;
use kiebitz_hardware::capture::{CaptureReader, CaptureWriter, Content, Direction};
use serde_json::{Value, json};

#[test]
fn the_schema_is_valid() {
    jsonschema::draft202012::meta::validate(&SCHEMA).expect("docs/events.schema.json is JSON Schema 2020-12");
}

#[test]
fn every_event_of_every_capture_is_valid() {
    for path in captures() {
        for event in events(&events_of_capture(&path)) {
            assert_valid(&event, &path);
        }
    }
}

/// Every kind of command, accepted and refused.
#[test]
fn events_of_commands_are_valid() {
    let at = |nth: usize, command: &str| {
        format!(
            "{{\"id\":\"c\",\"board\":\"board-1\",\"at\":\"2026-08-05T07:30:{nth:02}Z\",\"do\":{command}}}\n"
        )
    };
    let commands = [
        r#""set_players","white":"A""#,
        r#""set_time_control","time_control":"90+30""#,
        r#""annotate","text":"n""#,
        r#""attend""#,
        r#""attend","incident":99"#,
        r#""identify""#,
        r#""sync_clock_sides","white":"left""#,
        r#""start_round","begins":"2026-08-05T07:20:00Z""#,
        r#""close_incident","incident":99"#,
        r#""correct_moves","from":16,"moves":["Bd6"]"#,
        r#""set_position","fen":"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1""#,
        r#""claim","kind":"threefold","intended":"Kg1""#,
        r#""claim","kind":"quickplay","color":"black""#,
        r#""decide_claim","ruling":"postpone""#,
        r#""decide_claim","ruling":"accept","incident":99"#,
        r#""set_result","result":"1-0""#,
        r#""set_result","result":"½-0","reason":"conduct""#,
        r#""set_result","result":"*""#,
        r#""new_game""#,
        r#""end_game""#,
    ];
    let lines: String = (0..)
        .zip(commands)
        .map(|(nth, command)| at(nth, command))
        .collect();
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("every-command.jsonl");
    fs::write(&path, lines).expect("a scratch file");
    let file = read_commands(&path).expect("commands");
    let capture = fs::read(root().join("src/tools/demo/game.pcapng")).expect("the capture");
    let replay = Replay::new(capture.as_slice(), "replay").expect("a capture");
    let events = events(&lines_of(replay.with_commands(file.commands())));
    for event in &events {
        assert_valid(event, &path);
    }
    let taken = events.iter().filter(|event| event["type"] == "command.taken");
    assert_eq!(taken.count(), commands.len());
}

#[test]
fn seq_counts_from_one_without_gaps() {
    for path in captures() {
        let events = events(&events_of_capture(&path));
        let boards: BTreeSet<&str> = events
            .iter()
            .filter_map(|event| event["board"].as_str())
            .collect();
        for board in boards {
            let seqs = events
                .iter()
                .filter(|event| event["board"] == board)
                .map(|event| event["seq"].as_u64());
            for (expected, seq) in (1..).zip(seqs) {
                assert_eq!(seq, Some(expected), "{}, {board}", path.display());
            }
        }
    }
}

#[test]
fn ts_never_goes_back() {
    for path in captures() {
        let mut latest = String::new();
        for event in events(&events_of_capture(&path)) {
            let ts = event["ts"].as_str().unwrap_or_default();
            assert!(
                ts >= latest.as_str(),
                "{}: {event} comes after {latest}",
                path.display()
            );
            latest = ts.to_owned();
        }
    }
}

#[test]
fn same_bytes_give_the_same_events() {
    for path in captures() {
        assert!(
            events_of_capture(&path) == events_of_capture(&path),
            "{}: two replays differ",
            path.display()
        );
    }
}

/// Arrival times of chunks affect the events, but chunk boundaries do not.
#[test]
fn bytes_of_a_chunk_handed_in_one_by_one_give_the_same_events() {
    for path in captures() {
        let expected = events_of_capture(&path);
        let split = events_of_bytes(&one_byte_per_packet(&path));
        let differing = expected
            .lines()
            .zip(split.lines())
            .find(|(expected, split)| expected != split);
        assert!(expected == split, "{}: {differing:?}", path.display());
    }
}

#[test]
fn examples_of_every_type_are_valid() {
    for example in examples() {
        assert_valid(&example, Path::new("examples of this test"));
    }
    let shown: BTreeSet<String> = examples().iter().map(|example| text(&example["type"])).collect();
    assert_eq!(shown, types(), "one example per type of the schema");
}

#[test]
fn events_that_lack_a_field_are_refused() {
    for example in examples() {
        let kind = text(&example["type"]);
        let optional: &[&str] = match kind.as_str() {
            "board.connected" => &["orientation", "game", "at"],
            _ if kind.starts_with("claim") || kind.starts_with("game") || kind.starts_with("move") => &["at"],
            _ => &["game", "at"],
        };
        let fields = example.as_object().expect("an object");
        for field in fields.keys().filter(|field| !optional.contains(&field.as_str())) {
            let mut broken = example.clone();
            broken.as_object_mut().expect("an object").remove(field);
            assert!(!VALIDATOR.is_valid(&broken), "{kind} without {field} passes");
        }
    }
}

#[test]
fn events_with_a_wrong_value_are_refused() {
    for (kind, field, value) in wrong_values() {
        let example = examples().into_iter().find(|example| example["type"] == kind);
        let mut broken = example.expect("every type has an example");
        broken[field] = value;
        assert!(
            !VALIDATOR.is_valid(&broken),
            "{kind} with {field} = {} passes",
            broken[field]
        );
    }
}

#[test]
fn fields_may_be_added() {
    for mut example in examples() {
        example["arbiter_mood"] = json!("calm");
        assert!(VALIDATOR.is_valid(&example), "{example}");
    }
}

#[test]
fn events_shown_in_the_documents_are_valid() {
    let mut shown = BTreeSet::new();
    for document in ["README.md", "docs/events.md"] {
        for event in events_in(&read(document)) {
            assert_valid(&event, Path::new(document));
            shown.insert(text(&event["type"]));
        }
    }
    assert!(shown.contains("move.made"), "the documents show {shown:?}");
}

#[test]
fn every_type_and_every_reason_published_is_documented() {
    let document = read("docs/events.md");
    let mut words = types();
    for event in captures()
        .iter()
        .flat_map(|path| events(&events_of_capture(path)))
    {
        if event["type"] != "board.disconnected" {
            words.extend(event["reason"].as_str().map(str::to_owned));
        }
        words.extend(event["by"].as_str().map(str::to_owned));
    }
    for word in words {
        assert!(
            document.contains(&format!("`{word}`")),
            "docs/events.md does not explain `{word}`"
        );
    }
}

fn types() -> BTreeSet<String> {
    let types = SCHEMA["properties"]["type"]["enum"]
        .as_array()
        .expect("the list of types");
    types.iter().map(text).collect()
}

fn assert_valid(event: &Value, source: &Path) {
    let errors: Vec<String> = VALIDATOR
        .iter_errors(event)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(
        errors.is_empty(),
        "{}: {event}\n{}",
        source.display(),
        errors.join("\n")
    );
}

fn captures() -> Vec<PathBuf> {
    let folder = root().join("tests/captures");
    let entries = fs::read_dir(&folder).expect("tests/captures is there");
    let mut captures: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry of tests/captures").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "pcapng"))
        .collect();
    captures.sort();
    assert!(!captures.is_empty(), "{} holds no capture", folder.display());
    captures
}

/// Returns the events of a replay of a capture, one per line.
fn events_of_capture(path: &Path) -> String {
    events_of_bytes(&fs::read(path).expect("the capture can be read"))
}

fn events_of_bytes(capture: &[u8]) -> String {
    lines_of(Replay::new(capture, "replay").expect("a capture"))
}

fn lines_of<R: Read>(mut replay: Replay<R>) -> String {
    let mut lines = String::new();
    while replay.next_at().is_some() {
        for explained in replay.step().expect("the capture is whole") {
            lines += &serde_json::to_string(&explained.event).expect("events have a JSON form");
            lines.push('\n');
        }
    }
    lines
}

fn one_byte_per_packet(path: &Path) -> Vec<u8> {
    let capture = fs::read(path).expect("the capture can be read");
    let mut reader = CaptureReader::new(capture.as_slice()).expect("a capture");
    let mut writer = CaptureWriter::new(Vec::new()).expect("memory is there");
    let mut described = 0;
    while let Some(packet) = reader.next_packet().expect("the capture is whole") {
        for interface in &reader.interfaces()[described..] {
            writer.add_interface(interface).expect("memory is there");
        }
        described = reader.interfaces().len();
        match &packet.content {
            Content::Bytes {
                direction: Direction::Inbound,
                bytes,
            } => {
                for byte in bytes {
                    let written =
                        writer.write_bytes(packet.at, packet.interface, Direction::Inbound, &[*byte]);
                    written.expect("memory is there");
                }
            }
            _ => writer.write(&packet).expect("memory is there"),
        }
    }
    writer.into_inner()
}

fn events(lines: &str) -> Vec<Value> {
    let events: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line is one JSON object"))
        .collect();
    assert!(!events.is_empty(), "the replay has no events");
    events
}

/// Returns the events in a document: the lines of its JSON blocks that are an event.
fn events_in(document: &str) -> Vec<Value> {
    let mut inside = false;
    let mut events = Vec::new();
    for line in document.lines() {
        match line {
            "```json" => inside = true,
            "```" => inside = false,
            _ if inside && line.starts_with("{\"v\":") => {
                events.push(serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")));
            }
            _ => {}
        }
    }
    events
}

fn read(document: &str) -> String {
    fs::read_to_string(root().join(document)).unwrap_or_else(|error| panic!("{document}: {error}"))
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

static SCHEMA: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(&read("docs/events.schema.json")).expect("the schema is JSON"));
static VALIDATOR: LazyLock<Validator> =
    LazyLock::new(|| jsonschema::draft202012::new(&SCHEMA).expect("the schema can be used"));
