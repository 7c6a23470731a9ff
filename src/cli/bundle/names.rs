//! Replaces the names of people, teams, events and of the computer in the texts of a bundle. A name has the same
//! replacement everywhere.

use std::collections::{BTreeMap, HashMap};

use anyhow::{Context, Result, anyhow};
use kiebitz_game::events::pairing::PAIRINGS;
use serde_json::{Map, Value};

use super::part::{Content, Part};
use crate::tournament::Tournament;

/// Names, and their replacements.
#[derive(Debug, Default)]
pub(super) struct Names {
    replacements: BTreeMap<String, String>,
    /// Names by first character, longest first, because a name may be the prefix of another one.
    by_first: HashMap<char, Vec<String>>,
}

/// Kind of a name. Determines the first word of the replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Player,
    Team,
    Event,
    Site,
    Person,
    Computer,
    FideId,
}

/// The JSON object around a value, which decides whether the value is a name.
#[derive(Debug, Clone, Copy, Default)]
struct Scope {
    /// Whether `white` and `black` are names of players. Elsewhere they are sides, times or ratings.
    has_players: bool,
    /// Whether `by` is a person. Elsewhere it is a word such as "board".
    has_author: bool,
    /// Whether the arguments of the command name players.
    takes_players: bool,
}

/// Events whose `by` is a person.
const WITH_AUTHOR: [&str; 3] = ["command.taken", "game.amended", "table.result"];
/// Commands whose arguments `white` and `black` are names.
const WITH_PLAYERS: [&str; 2] = ["set_players", "new_game"];
/// Authors of commands that are not people, and names of computers that identify nobody.
const NOBODY: [&str; 4] = [PAIRINGS, "arbiter", "kiebitz", "localhost"];
/// Keys of free texts, which may contain anything and are removed.
const FREE_TEXTS: [&str; 4] = ["decision", "note", "text", "error"];
/// Keys of values in a notation, in which a short name may occur by chance.
const NOTATIONS: [&str; 23] = [
    "article",
    "as_of",
    "at",
    "board",
    "edition",
    "fen",
    "from",
    "game",
    "intended",
    "last_move",
    "laws",
    "moves",
    "piece",
    "port",
    "position",
    "replaces",
    "result",
    "san",
    "squares",
    "start_fen",
    "time_control",
    "to",
    "ts",
];
/// Replacement of a free text.
const REMOVED: &str = "(removed)";

impl Kind {
    const fn word(self) -> &'static str {
        match self {
            Self::Player => "Player ",
            Self::Team => "Team ",
            Self::Event => "Event ",
            Self::Site => "Site ",
            Self::Person => "Person ",
            Self::Computer => "Computer ",
            Self::FideId => "",
        }
    }
}

impl Scope {
    /// Returns the scope of the fields of an object, which is the value of `key`.
    fn of(self, key: &str, fields: &Map<String, Value>) -> Self {
        let text = |key| fields.get(key).and_then(Value::as_str).unwrap_or_default();
        Self {
            // "game" is an object in the status only.
            has_players: matches!(key, "players" | "game") || (key == "arguments" && self.takes_players),
            has_author: WITH_AUTHOR.contains(&text("type")),
            takes_players: WITH_PLAYERS.contains(&text("do")),
        }
    }

    /// Returns the kind of name under a key; `None` if the value is not a name.
    fn kind(self, key: &str) -> Option<Kind> {
        Some(match key {
            "white" | "black" if self.has_players => Kind::Player,
            "by" if self.has_author => Kind::Person,
            "decided_by" | "login" => Kind::Person,
            "team" => Kind::Team,
            "event" => Kind::Event,
            "site" => Kind::Site,
            "host" => Kind::Computer,
            _ => return None,
        })
    }
}

impl Names {
    pub(super) fn learn(&mut self, kind: Kind, name: &str) {
        self.replacement(kind, name);
    }

    /// Learns the names in events or the status.
    pub(super) fn learn_in(&mut self, json: &str) {
        for mut value in serde_json::Deserializer::from_str(json)
            .into_iter::<Value>()
            .map_while(Result::ok)
        {
            self.rewrite(&mut value, "", Scope::default());
        }
    }

    /// Learns the names of the event and of the computer in a configuration.
    pub(super) fn learn_settings(&mut self, toml: &str) {
        let table = toml.parse::<toml::Table>().unwrap_or_default();
        for (section, key, kind) in SETTINGS {
            let value = table.get(section).and_then(|section| section.get(key));
            if let Some(name) = value.and_then(toml::Value::as_str) {
                self.learn(kind, name);
            }
        }
    }

    /// Learns the names in the pairing files.
    pub(super) fn learn_tournament(&mut self, tournament: &Tournament) {
        for (kind, name) in [(Kind::Event, &tournament.name), (Kind::Site, &tournament.site)] {
            self.learn(kind, name.as_deref().unwrap_or_default());
        }
        for player in tournament.everybody() {
            self.learn(Kind::Player, &player.name);
            self.learn(Kind::Team, player.facts.team.as_deref().unwrap_or_default());
            if let Some(id) = player.facts.fide_id {
                self.learn(Kind::FideId, &id.to_string());
            }
        }
    }

    /// Returns the replacement of a name. A new name gets a new one.
    fn replacement(&mut self, kind: Kind, name: &str) -> String {
        let name = name.trim();
        if name.is_empty() || NOBODY.contains(&name) {
            return name.to_owned();
        }
        if let Some(known) = self.replacements.get(name) {
            return known.clone();
        }
        let replacement = format!("{}{}", kind.word(), self.replacements.len() + 1);
        self.replacements.insert(name.to_owned(), replacement.clone());
        for first in name.chars().take(1) {
            let names = self.by_first.entry(first).or_default();
            let longer = names.partition_point(|other| other.len() >= name.len());
            names.insert(longer, name.to_owned());
        }
        replacement
    }

    /// Replaces the names in a value, and learns the values of keys that hold names. `key` is the key of the value in
    /// `scope`.
    fn rewrite(&mut self, value: &mut Value, key: &str, scope: Scope) {
        match value {
            Value::Object(fields) => {
                let scope = scope.of(key, fields);
                for (key, value) in fields {
                    self.rewrite(value, key, scope);
                }
            }
            Value::Array(values) => values
                .iter_mut()
                .for_each(|value| self.rewrite(value, key, scope)),
            Value::String(text) => match scope.kind(key) {
                Some(kind) => *text = self.replacement(kind, text),
                None if FREE_TEXTS.contains(&key) => REMOVED.clone_into(text),
                None if NOTATIONS.contains(&key) || is_word(text) => {}
                None => *text = self.replace_in(text),
            },
            Value::Number(id) if key == "fide_id" => {
                let id = self.replacement(Kind::FideId, &id.to_string());
                *value = Value::from(id.parse::<u64>().unwrap_or_default());
            }
            _ => {}
        }
    }

    fn rewrite_settings(&self, value: &mut toml::Value) {
        match value {
            toml::Value::String(text) => *text = self.replace_in(text),
            toml::Value::Array(values) => values.iter_mut().for_each(|value| self.rewrite_settings(value)),
            toml::Value::Table(table) => {
                table
                    .iter_mut()
                    .for_each(|(_, value)| self.rewrite_settings(value));
            }
            _ => {}
        }
    }

    /// Replaces all names in a part.
    pub(super) fn replace_in_part(&mut self, part: &mut Part) {
        let name = part.name.clone();
        let replaced = match &part.content {
            Ok(Content::Text(text)) if name.contains(".json") => self.json(text).map(Content::Text),
            Ok(Content::Text(text)) if name.ends_with(".toml") => self.toml(text).map(Content::Text),
            Ok(Content::Text(text)) => Ok(Content::Text(self.replace_in(text))),
            Ok(Content::Bytes(_) | Content::File(_)) => return,
            Err(error) => Err(anyhow!(self.replace_in(&format!("{error:#}")))),
        };
        part.content = replaced;
    }

    /// Replaces the names in JSON values, one per line.
    fn json(&mut self, text: &str) -> Result<String> {
        let mut replaced = String::with_capacity(text.len());
        for value in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
            let mut value = value.context("the file is not JSON, so names cannot be replaced")?;
            self.rewrite(&mut value, "", Scope::default());
            replaced.push_str(&value.to_string());
            replaced.push('\n');
        }
        Ok(replaced)
    }

    fn toml(&self, text: &str) -> Result<String> {
        let table = text.parse::<toml::Table>().ok();
        let mut table = table.context("the file is not TOML, so names cannot be replaced")?;
        for (_, value) in table.iter_mut() {
            self.rewrite_settings(value);
        }
        Ok(table.to_string())
    }

    /// Replaces the names in a text, but not inside longer words.
    fn replace_in(&self, text: &str) -> String {
        let mut replaced = String::with_capacity(text.len());
        let (mut rest, mut before) = (text, None);
        while let Some(first) = rest.chars().next() {
            let found = self.by_first.get(&first).and_then(|names| {
                names.iter().find(|name| {
                    let after = rest.strip_prefix(name.as_str()).map(|after| after.chars().next());
                    after.is_some_and(|after| {
                        !is_inside(before, Some(first)) && !is_inside(name.chars().next_back(), after)
                    })
                })
            });
            let matched = match found {
                Some(name) => {
                    replaced.push_str(self.replacements.get(name).map_or("", String::as_str));
                    name.as_str()
                }
                None => {
                    replaced.push(first);
                    rest.get(..first.len_utf8()).unwrap_or(rest)
                }
            };
            before = matched.chars().next_back();
            rest = rest.get(matched.len()..).unwrap_or_default();
        }
        replaced
    }
}

/// Settings whose values are names: section and key.
const SETTINGS: [(&str, &str, Kind); 3] = [
    ("event", "name", Kind::Event),
    ("event", "site", Kind::Site),
    ("daemon", "name", Kind::Computer),
];

/// Whether two neighbouring characters belong to the same word.
fn is_inside(before: Option<char>, after: Option<char>) -> bool {
    let is_of_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    is_of_word(before) && is_of_word(after)
}

/// Whether a value is a word of the contract, such as "illegal_move" or "move.made".
fn is_word(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '.'))
}

#[cfg(test)]
mod tests {
    use super::super::part;
    use super::*;

    const EVERY: &str = include_str!("../../../game/src/events/tests/every.jsonl");

    fn anonymous(names: &mut Names, name: &str, text: &str) -> String {
        let mut part = part::text(name, Ok(text.to_owned()));
        names.replace_in_part(&mut part);
        match part.content {
            Ok(Content::Text(text)) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_name_has_the_same_replacement_in_all_texts() {
        let events = r#"{"type":"game.amended","players":{"white":"Ada \"A.\" Berg","black":"Berg","white_player":{"fide_id":12345678}}}
{"type":"command.taken","do":"set_players","by":"Erika","arguments":{"white":"Zoe Neu","black":"Li"}}
{"type":"game.ended","by":"board","color":"white"}
{"type":"incident.closed","by":"arbiter","decided_by":"Ko"}
"#;
        let log = "Erika entered: Ada \"A.\" Berg - Berg 1-0, 12345678; Li, Ko; white Lift";
        let mut names = Names::default();
        names.learn_in(events);
        let events = anonymous(&mut names, "events.jsonl", events);
        let log = anonymous(&mut names, "log.txt", log);
        for name in ["Ada", "Berg", "Erika", "Zoe", "12345678", "\"Li\"", "Li,", "Ko"] {
            assert!(
                !events.contains(name) && !log.contains(name),
                "{name}: {events}{log}"
            );
        }
        assert!(log.ends_with("; white Lift"), "{log}");
        let white = |line: &str, pointer: &str| {
            let value: Value = serde_json::from_str(line).expect("JSON");
            value.pointer(pointer).expect("a name").to_string()
        };
        let player = white(events.lines().next().expect("an event"), "/players/white");
        assert!(log.contains(player.trim_matches('"')), "{player}: {log}");
        assert!(events.contains(r#""by":"board""#), "{events}");
        assert!(events.contains(r#""by":"arbiter""#), "{events}");
        assert!(events.contains(r#""color":"white""#), "{events}");
    }

    #[test]
    fn names_equal_to_words_of_the_contract_do_not_damage_events() {
        // The names of the author, the players and the computer are words of events, or parts of words.
        let named = r#"{"type":"command.taken","do":"set_players","by":"clock","arguments":{"white":"left","black":"move"}}
{"type":"command.taken","do":"new_game","by":"board","arguments":{"white":"type","black":"g"}}
{"host":"pi"}
"#;
        let mut names = Names::default();
        names.learn_in(EVERY);
        names.learn_in(named);
        let replaced = anonymous(&mut names, "events.jsonl", EVERY);
        assert_eq!(replaced.lines().count(), EVERY.lines().count());
        for (before, after) in EVERY.lines().zip(replaced.lines()) {
            let mut before: Value = serde_json::from_str(before).expect("JSON");
            let mut after: Value = serde_json::from_str(after).expect("JSON");
            let is_of = |types: &[&str]| types.contains(&before["type"].as_str().unwrap_or_default());
            let has_author = is_of(&WITH_AUTHOR);
            // Only names and free texts differ.
            for event in [&mut before, &mut after] {
                let fields = event.as_object_mut().expect("an object");
                if has_author {
                    fields.insert("by".to_owned(), Value::Null);
                }
                for key in ["note", "error", "decision", "decided_by", "event", "site"] {
                    fields.entry(key).and_modify(|value| *value = Value::Null);
                }
                if let Some(Value::Object(players)) = fields.get_mut("players") {
                    for key in ["white", "black"] {
                        players.entry(key).and_modify(|value| *value = Value::Null);
                    }
                }
            }
            assert_eq!(before, after);
        }
        assert!(
            !replaced.contains("A. Meier") && !replaced.contains("Adams"),
            "{replaced}"
        );
    }

    #[test]
    fn free_texts_are_removed() {
        let events = r#"{"type":"command.taken","do":"annotate","by":"Erika","arguments":{"text":"Max is ill"},"note":"for Max","error":"Max"}
{"type":"incident.closed","decision":"Max apologised","decided_by":"Erika"}
"#;
        let mut names = Names::default();
        let events = anonymous(&mut names, "events.jsonl", events);
        assert!(!events.contains("Max") && !events.contains("Erika"), "{events}");
    }

    #[test]
    fn names_of_configuration_and_pairings_are_replaced_in_errors_too() {
        let toml = "[daemon]\nname = \"hall-2\"\n[event]\nname = \"Winter Cup\"\nsite = \"Ulm\"\n[publish]\nto = \"/srv/Ulm\"\n";
        let mut names = Names::default();
        names.learn_settings(toml);
        let file = b"board,white,black\n1,\"Adams, A.\",\"Wu, X.\"\n";
        let (tournament, _) = crate::tournament::read_bytes("r.csv", file).expect("pairings");
        names.learn_tournament(&tournament);
        let toml = anonymous(&mut names, "configuration.toml", toml);
        let table = toml.parse::<toml::Table>().expect("TOML");
        assert!(table["event"].get("site").is_some(), "{toml}");
        for name in ["hall-2", "Winter", "Ulm"] {
            assert!(!toml.contains(name), "{name}: {toml}");
        }
        let error = anyhow!("Adams, A. - Wu, X. at Ulm").context("cannot read Winter Cup");
        let mut part = part::text("status.json", Err(error));
        names.replace_in_part(&mut part);
        let (_, error) = part.missing().expect("an error");
        for name in ["Adams", "Wu", "Ulm", "Winter"] {
            assert!(!error.contains(name), "{name}: {error}");
        }
    }
}
