//! Compares the vocabularies with the contract, and events of every type and word with their JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::*;
use crate::events::samples::EVERY;

fn contract(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(file);
    fs::read_to_string(path).expect("a part of the contract")
}

/// Place of a word in events: the type of the event, or a pattern of types, and the field.
type Place = (&'static str, &'static str);

macro_rules! words {
    ($($Name:ident),+) => { [$((stringify!($Name), $Name::ALL.iter().map(|word| word.as_str()).collect::<Vec<&str>>())),+] };
}

fn vocabularies() -> BTreeMap<&'static str, Vec<&'static str>> {
    let words = words!(
        Action,
        Bye,
        ClaimReason,
        ClosedBy,
        CompletedBy,
        CorrectionReason,
        DecidedBy,
        Edition,
        EndReason,
        Flag,
        GameResult,
        IncidentEnd,
        IncidentKind,
        Mode,
        Orientation,
        Recovery,
        SettledBy,
        Severity,
        Side,
        Variant
    );
    let mut words = BTreeMap::from(words);
    words.insert("Color", vec!["white", "black"]);
    words
}

/// The places of each vocabulary in events.
const PLACES: &[(Place, &str)] = &[
    (("board.connected", "orientation"), "Orientation"),
    (("board.recovered", "by"), "Recovery"),
    (("game.started", "variant"), "Variant"),
    (("game.started", "orientation"), "Orientation"),
    (("clock.sides", "white_side"), "Side"),
    (("game.started", "white_side"), "Side"),
    (("game.started", "laws"), "Edition"),
    (("game.started", "mode"), "Mode"),
    (("move.made", "color"), "Color"),
    (("move.settled", "by"), "SettledBy"),
    (("move.completed", "by"), "CompletedBy"),
    (("move.amended", "reason"), "CorrectionReason"),
    (("move.retracted", "reason"), "CorrectionReason"),
    (("game.ended", "result"), "GameResult"),
    (("game.ended", "reason"), "EndReason"),
    (("game.ended", "by"), "DecidedBy"),
    (("game.resumed", "result"), "GameResult"),
    (("game.resumed", "reason"), "EndReason"),
    (("claim.available", "color"), "Color"),
    (("claim.available", "reason"), "ClaimReason"),
    (("claim.available", "edition"), "Edition"),
    (("command.taken", "do"), "Action"),
    (("table.result", "result"), "GameResult"),
    (("game.amended", "result"), "GameResult"),
    (("game.amended", "reason"), "EndReason"),
    (("incident.opened", "kind"), "IncidentKind"),
    (("incident.opened", "color"), "Color"),
    (("incident.opened", "severity"), "Severity"),
    (("incident.opened", "edition"), "Edition"),
    (("incident.closed", "kind"), "IncidentKind"),
    (("incident.closed", "by"), "ClosedBy"),
    (("incident.closed", "reason"), "IncidentEnd"),
];

fn example_events() -> impl Iterator<Item = (&'static str, Value)> {
    EVERY
        .lines()
        .map(|line| (line, serde_json::from_str(line).expect("JSON")))
}

/// The words that an enumeration of the schema lists, without null.
fn listed(schema: &Value) -> Option<BTreeSet<&str>> {
    let listed = schema["enum"].as_array()?;
    Some(listed.iter().filter_map(Value::as_str).collect())
}

#[test]
fn schema_lists_the_words_of_every_vocabulary() {
    let schema: Value = serde_json::from_str(&contract("events.schema.json")).expect("JSON");
    let vocabularies = vocabularies();
    let of = |name: &str| vocabularies[name].iter().copied().collect::<BTreeSet<&str>>();
    let mut compared = BTreeSet::new();
    let branches = schema["allOf"].as_array().expect("branches");
    for ((kind, field), name) in PLACES {
        for branch in branches {
            let condition = &branch["if"]["properties"]["type"];
            let incident =
                condition["pattern"] == "^incident\\.(opened|updated)$" && *kind == "incident.opened";
            if condition["const"] != *kind && !incident {
                continue;
            }
            if let Some(listed) = listed(&branch["then"]["properties"][field]) {
                assert_eq!(listed, of(name), "{kind}, {field}");
                compared.insert(*name);
            }
        }
    }
    let parts = &schema["$defs"];
    for (listed_at, name) in [
        (&parts["result"], "GameResult"),
        (&parts["clock"]["properties"]["running"], "Color"),
        (&parts["clock"]["properties"]["flag"], "Flag"),
        (&parts["move"]["properties"]["color"], "Color"),
    ] {
        assert_eq!(listed(listed_at), Some(of(name)), "{name}");
        compared.insert(name);
    }
    assert!(compared.len() >= 12, "{compared:?}");
}

/// The schema does not list the vocabularies that may grow, but events.md documents them.
#[test]
fn events_md_documents_every_word() {
    let page = contract("events.md");
    for (name, words) in vocabularies() {
        for word in words {
            let named = page.contains(&format!("`{word}`")) || page.contains(&format!("\"{word}\""));
            // The page has only an example of an edition.
            assert!(named || name == "Edition", "{name}: {word}");
        }
    }
}

#[test]
fn events_of_every_type_and_word_survive_a_round_trip() {
    for (line, _) in example_events() {
        let event: Event = serde_json::from_str(line).expect("an event");
        assert_eq!(serde_json::to_string(&event).expect("JSON"), line);
    }
}

#[test]
fn examples_cover_every_type_and_word() {
    let schema: Value = serde_json::from_str(&contract("events.schema.json")).expect("JSON");
    let types = listed(&schema["properties"]["type"]).expect("types");
    let examples: Vec<(&str, Value)> = example_events().collect();
    let shown: BTreeSet<&str> = examples
        .iter()
        .filter_map(|(_, event)| event["type"].as_str())
        .collect();
    assert_eq!(shown, types);
    let vocabularies = vocabularies();
    for ((kind, field), name) in PLACES {
        for word in &vocabularies[name] {
            let shown = examples
                .iter()
                .any(|(_, event)| event["type"] == *kind && event[field] == *word);
            assert!(shown, "{kind}, {field}: {word}");
        }
    }
}

#[test]
fn unknown_word_is_an_error_that_names_it() {
    for ((kind, field), name) in PLACES {
        let (_, mut event) = example_events()
            .find(|(_, event)| event["type"] == *kind)
            .expect("an example");
        event[field] = "no_such_word".into();
        let error = serde_json::from_value::<Event>(event).expect_err(name);
        assert!(error.to_string().contains("\"no_such_word\""), "{kind}: {error}");
        assert!(error.to_string().starts_with("unknown "), "{kind}: {error}");
    }
}

#[test]
fn unknown_clock_word_is_an_error_that_names_it() {
    for field in ["running", "flag"] {
        let (_, mut event) = example_events()
            .find(|(_, event)| event["type"] == "move.made")
            .expect("an example");
        event["clock"][field] = "nobody".into();
        let error = serde_json::from_value::<Event>(event).expect_err(field);
        assert!(error.to_string().contains("\"nobody\""), "{error}");
    }
}
