//! A readable form of events: one per line, with kind and reason but without times.

use kiebitz_game::events::Event;
use serde_json::Value;

/// Fields shown of an event, in this order, if it has them.
const KEYS: [&str; 16] = [
    "ply",
    "uci",
    "san",
    "legal",
    "inferred",
    "replaces",
    "kind",
    "severity",
    "case",
    "squares",
    "variant",
    "by",
    "reason",
    "result",
    "confirmed",
    "orientation",
];

pub fn reduced(events: &[Event]) -> String {
    events.iter().map(|event| line(event) + "\n").collect()
}

fn line(event: &Event) -> String {
    let json = serde_json::to_value(event).expect("an event is written as JSON");
    let mut words = vec![json["type"].as_str().unwrap_or_default().to_owned()];
    for key in KEYS {
        match (key, &json[key]) {
            (_, Value::Null) | ("legal", Value::Bool(true)) | ("inferred", Value::Bool(false)) => {}
            ("legal", _) => words.push("illegal".to_owned()),
            ("inferred", _) => words.push("inferred".to_owned()),
            ("confirmed", Value::Bool(confirmed)) => {
                words.push(if *confirmed { "confirmed" } else { "unconfirmed" }.to_owned());
            }
            ("replaces" | "by", Value::String(text)) => words.push(format!("{key} {text}")),
            (_, Value::String(text)) => words.push(text.clone()),
            (_, value) => words.push(value.to_string()),
        }
    }
    words.join(" ")
}

/// Returns a diff of two texts, if they differ: common lines before and after, `-` expected, `+` published.
pub fn difference(expected: &str, published: &str) -> Option<String> {
    if expected == published {
        return None;
    }
    let (expected, published): (Vec<&str>, Vec<&str>) =
        (expected.lines().collect(), published.lines().collect());
    let first = expected
        .iter()
        .zip(&published)
        .take_while(|(a, b)| a == b)
        .count();
    let rest = expected.len().min(published.len()) - first;
    let last = expected
        .iter()
        .rev()
        .zip(published.iter().rev())
        .take(rest)
        .take_while(|(a, b)| a == b)
        .count();
    let mut text = String::new();
    let mut put = |mark: char, lines: &[&str]| {
        for line in lines {
            text.push_str(&format!("{mark} {line}\n"));
        }
    };
    put(' ', &expected[first.saturating_sub(2)..first]);
    put('-', &expected[first..expected.len() - last]);
    put('+', &published[first..published.len() - last]);
    put(
        ' ',
        &expected[expected.len() - last..(expected.len() - last + 2).min(expected.len())],
    );
    Some(text)
}

#[test]
fn a_difference_shows_expected_and_published_lines() {
    let shown = difference("a\nb\nc\nd\n", "a\nb\nx\ny\nd\n");
    assert_eq!(shown.as_deref(), Some("  a\n  b\n- c\n+ x\n+ y\n  d\n"));
    assert_eq!(difference("a\n", "a\n"), None);
}
