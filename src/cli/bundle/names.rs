//! Replaces the names of people and events in the texts of a bundle, each always by the same one.

use std::collections::BTreeMap;

use serde_json::Value;

use super::part::{Content, Part};

/// Names, and their replacements.
#[derive(Debug, Default)]
pub(super) struct Names {
    replacements: BTreeMap<String, String>,
}

/// Keys of the names in events and in the status, and the word that replaces them.
const KEYS: &[(&str, &str)] = &[
    ("white", "Player"),
    ("black", "Player"),
    ("team", "Team"),
    ("event", "Event"),
    ("site", "Site"),
    ("by", "Person"),
    ("login", "Person"),
    ("host", "Computer"),
];

/// Values of such keys that are not names.
const WORDS: &[&str] = &[
    "white",
    "black",
    "board",
    "arbiter",
    "laws",
    "press",
    "reply",
    "shape",
    "own_next_move",
    "memory",
    "inferred",
    "undecidable",
    "agreement",
    "flag",
    "king",
    "pieces",
];

impl Names {
    /// Collects the names in a part with one JSON value per line.
    pub(super) fn learn(&mut self, part: &Part) {
        let Ok(Content::Text(text)) = &part.content else {
            return;
        };
        if !part.name.contains(".json") {
            return;
        }
        for value in serde_json::Deserializer::from_str(text)
            .into_iter::<Value>()
            .map_while(Result::ok)
        {
            self.collect(&value);
        }
    }

    fn collect(&mut self, value: &Value) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    match value {
                        Value::String(name) => self.add(key, name),
                        Value::Number(id) if key == "fide_id" => {
                            let number = self.replacements.len() + 1;
                            self.replacements
                                .entry(id.to_string())
                                .or_insert_with(|| number.to_string());
                        }
                        _ => self.collect(value),
                    }
                }
            }
            Value::Array(values) => values.iter().for_each(|value| self.collect(value)),
            _ => {}
        }
    }

    fn add(&mut self, key: &str, name: &str) {
        let Some((_, word)) = KEYS.iter().find(|(known, _)| *known == key) else {
            return;
        };
        // A short name would replace parts of other words.
        if WORDS.contains(&name) || name.chars().count() < 3 {
            return;
        }
        let number = self.replacements.len() + 1;
        self.replacements
            .entry(name.to_owned())
            .or_insert_with(|| format!("{word} {number}"));
    }

    /// Replaces all names in a text, longer ones first.
    pub(super) fn replace_in(&self, part: &mut Part) {
        let Ok(Content::Text(text)) = &mut part.content else {
            return;
        };
        let mut names: Vec<(&String, &String)> = self.replacements.iter().collect();
        names.sort_by_key(|(name, _)| core::cmp::Reverse(name.len()));
        for (name, replacement) in names {
            *text = text.replace(name.as_str(), replacement);
            // In JSON, quotes and backslashes are escaped.
            let escaped = name.replace('\\', "\\\\").replace('"', "\\\"");
            if escaped != *name {
                *text = text.replace(&escaped, replacement);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::part;
    use super::*;

    #[test]
    fn a_name_is_replaced_in_all_texts_by_the_same_one() {
        let events = r#"{"players":{"white":"Ada \"A.\" Berg","black":"Berg","white_player":{"fide_id":12345678}}}
{"type":"command.taken","by":"Erika","arguments":{"white":"Zoe Neu"},"result":{"by":"board"},"color":"white"}
"#;
        let mut parts = [
            part::text("events.jsonl", Ok(events.to_owned())),
            part::text(
                "log.txt",
                Ok("Erika entered: Ada \"A.\" Berg - Berg 1-0, 12345678; white".to_owned()),
            ),
        ];
        let mut names = Names::default();
        parts.iter().for_each(|part| names.learn(part));
        parts.iter_mut().for_each(|part| names.replace_in(part));
        let text = |part: &Part| match &part.content {
            Ok(Content::Text(text)) => text.clone(),
            _ => String::new(),
        };
        for name in ["Ada", "Berg", "Erika", "Zoe", "12345678"] {
            assert!(
                parts.iter().all(|part| !text(part).contains(name)),
                "{name}: {parts:?}"
            );
        }
        assert!(text(&parts[0]).contains(r#""by":"board""#), "{parts:?}");
        assert!(text(&parts[0]).contains(r#""color":"white""#), "{parts:?}");
        // Each line is still JSON.
        let lines = text(&parts[0]);
        assert!(
            lines
                .lines()
                .all(|line| serde_json::from_str::<Value>(line).is_ok())
        );
    }
}
