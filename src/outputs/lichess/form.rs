//! Lichess's forms for a broadcast and for its rounds.
//!
//! The tests list all fields of the forms, with their limits.

use kiebitz_hardware::Timestamp;
use serde::{Deserialize, Serialize};

use crate::outputs::broadcast::projection::relayed::RelayedEvent;

/// The fields of a form with their values.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct LichessForm(Vec<(String, String)>);

/// Minimum length of the name of a broadcast, in UTF-16 code units.
const MIN_NAME: usize = 3;
/// Maximum length of the name of a broadcast, its time control and its location, in UTF-16 code units.
const MAX_TEXT: usize = 80;
/// Name of a broadcast whose event has no name.
const NO_NAME: &str = "kiebitz";

impl LichessForm {
    /// The form of a broadcast. Fields without a value are sent empty, which deletes an earlier value.
    pub(super) fn of_event(event: &RelayedEvent) -> Self {
        let text = |text: Option<&str>| shortened(text.unwrap_or_default());
        Self::new([
            ("name", name(event.name.as_deref())),
            ("info.tc", text(event.time_control.as_deref())),
            ("info.location", text(event.site.as_deref())),
            ("showScores", true.to_string()),
            ("teamTable", event.has_teams.to_string()),
        ])
    }

    /// The form of a new round to push to. Lichess considers a round without `status` started.
    pub(super) fn of_new_round(round: u32, starts: Option<Timestamp>) -> Self {
        let name = ("name", format!("Round {round}"));
        Self::new([name, ("status", "new".to_owned()), starts_at(starts)])
    }

    /// The form that changes only the start of a round.
    pub(super) fn of_start(starts: Option<Timestamp>) -> Self {
        Self::new([starts_at(starts)])
    }

    fn new<const N: usize>(fields: [(&str, String); N]) -> Self {
        Self(fields.map(|(name, value)| (name.to_owned(), value)).into())
    }

    /// The form as `application/x-www-form-urlencoded`.
    pub(super) fn encoded(&self) -> String {
        let escape = |text: &str| {
            let escaped = text.bytes().map(|byte| match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' => char::from(byte).to_string(),
                byte => format!("%{byte:02X}"),
            });
            escaped.collect::<String>()
        };
        let pairs = self.0.iter();
        let pairs: Vec<String> = pairs
            .map(|(name, value)| format!("{}={}", escape(name), escape(value)))
            .collect();
        pairs.join("&")
    }
}

/// The start of a round, in milliseconds since 1970; empty if unknown.
fn starts_at(starts: Option<Timestamp>) -> (&'static str, String) {
    let millis = starts.map(|starts| (starts.as_micros() / 1000).to_string());
    ("startsAt", millis.unwrap_or_default())
}

/// The name of a broadcast. Lichess refuses names of one or two characters.
fn name(event: Option<&str>) -> String {
    let name = shortened(event.unwrap_or_default());
    match name.encode_utf16().count() {
        0 => NO_NAME.to_owned(),
        1..MIN_NAME => format!("{name} ({NO_NAME})"),
        _ => name,
    }
}

/// A text on one line, within the limit of Lichess.
fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut length = 0;
    let within = line.chars().filter(|c| !c.is_control()).take_while(|c| {
        length += c.len_utf16();
        length <= MAX_TEXT
    });
    within.collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Lichess accepts in a field.
    #[derive(Debug, Clone, Copy)]
    enum Limit {
        /// Text with a minimum and a maximum length, in UTF-16 code units.
        Text(usize, usize),
        /// Text, or nothing, with a maximum length.
        Optional(usize),
        Flag,
        /// One of these words.
        Word(&'static [&'static str]),
        /// Milliseconds since 1970, or nothing.
        Time,
        /// A field that kiebitz does not send, with its limit in words.
        Unused(&'static str),
    }
    use Limit::{Flag, Optional, Text, Time, Unused, Word};

    /// `RelayTourForm.scala` of lichess-org/lila, at commit 00fc54326b90354a8da9ea34f3654241bc3b38f8.
    const BROADCAST: [(&str, Limit); 25] = [
        ("name", Text(3, 80)),
        ("info.format", Unused("at most 80 characters")),
        ("info.tc", Optional(80)),
        ("info.fideTC", Unused("standard, rapid or blitz")),
        ("info.location", Optional(80)),
        ("info.timeZone", Unused("a name of the tz database")),
        ("info.players", Unused("at most 120 characters")),
        ("info.website", Unused("a URL")),
        ("info.standings", Unused("a URL")),
        ("info.regulations", Unused("a URL")),
        ("markdown", Unused("at most 20,000 characters")),
        ("visibility", Unused("public, unlisted or private")),
        ("tier", Unused("3 to 5; for administrators")),
        ("showScores", Flag),
        ("showRatingDiffs", Unused("a flag")),
        ("tiebreaks", Unused("at most five codes; only with showScores")),
        ("teamTable", Flag),
        ("players", Unused("lines")),
        ("teams", Unused("lines")),
        ("showTeamScores", Unused("a flag; only with teamTable")),
        ("spotlight", Unused("enabled, lang, title; for administrators")),
        ("grouping", Unused("a group of broadcasts")),
        ("pinnedStream", Unused("name, url, text; for administrators")),
        ("note", Unused("at most 20,000 characters")),
        ("orphanWarn", Unused("a flag; for administrators")),
    ];
    /// `RelayRoundForm.scala` of lichess-org/lila, at commit d99cb8dbe029922d13c0a243b4320e0c5b917744.
    const ROUND: [(&str, Limit); 16] = [
        ("name", Text(3, 80)),
        ("caption", Unused("3 to 80 characters; for administrators")),
        ("syncSource", Unused("push, url, urls, ids or users")),
        ("syncUrl", Unused("a URL")),
        ("syncUrls", Unused("lines with URLs")),
        ("syncIds", Unused("ids of games")),
        ("syncUsers", Unused("2 to 100 names of users")),
        ("startsAt", Time),
        ("startsAfterPrevious", Unused("a flag")),
        ("status", Word(&["new", "started", "finished"])),
        ("period", Unused("2 to 60; for administrators")),
        ("delay", Unused("0 to 3600")),
        ("onlyRound", Unused("at most 50 characters")),
        ("slices", Unused("numbers and ranges")),
        ("rated", Unused("a flag")),
        ("customScoring", Unused("points of 0 to 10 for each color")),
    ];

    /// Asserts that Lichess accepts a form, and that the form has all fields that kiebitz sends.
    fn assert_accepted(form: &LichessForm, fields: &[(&str, Limit)]) {
        let sent: Vec<&str> = form.0.iter().map(|(name, _)| name.as_str()).collect();
        let known = fields.iter().filter(|(_, limit)| !matches!(limit, Unused(_)));
        let mut known: Vec<&str> = known.map(|(name, _)| *name).collect();
        let mut sorted = sent.clone();
        sorted.sort_unstable();
        known.sort_unstable();
        assert_eq!(sorted, known);
        for (name, value) in &form.0 {
            let (_, limit) = fields.iter().find(|(field, _)| field == name).expect("a field");
            let length = value.encode_utf16().count();
            let accepted = match limit {
                Text(min, max) => (*min..=*max).contains(&length),
                Optional(max) => length <= *max,
                Flag => ["true", "false"].contains(&value.as_str()),
                Word(words) => words.contains(&value.as_str()),
                Time => value.is_empty() || value.parse::<i64>().is_ok(),
                Unused(words) => panic!("{name} needs a test of its limit: {words}"),
            };
            assert!(accepted, "{name}={value:?}: {limit:?}");
            assert!(!value.contains(char::is_control), "{name}={value:?}");
        }
    }

    #[test]
    fn every_field_of_a_broadcast_is_within_the_limits_of_lichess() {
        let long = "Vereinsmeisterschaft 🏆 ".repeat(9);
        for text in ["", " ", "A", "AB", "ABC", "Open\r\n2026\u{7}", "🏆", &long] {
            for has_teams in [false, true] {
                let event = RelayedEvent {
                    name: Some(text.to_owned()),
                    site: Some(text.to_owned()),
                    time_control: Some(text.to_owned()),
                    has_teams,
                    ..RelayedEvent::default()
                };
                assert_accepted(&LichessForm::of_event(&event), &BROADCAST);
            }
        }
        assert_accepted(&LichessForm::of_event(&RelayedEvent::default()), &BROADCAST);
    }

    #[test]
    fn every_field_of_a_round_is_within_the_limits_of_lichess() {
        for (number, starts) in [(1, None), (u32::MAX, Some(Timestamp::from_micros(i64::MAX)))] {
            assert_accepted(&LichessForm::of_new_round(number, starts), &ROUND);
        }
        let start = LichessForm::of_start(Some(Timestamp::from_micros(1_795_269_600_000_000)));
        assert_eq!(start.encoded(), "startsAt=1795269600000");
        assert_eq!(LichessForm::of_start(None).encoded(), "startsAt=");
    }

    #[test]
    fn form_of_a_team_event() {
        let event = RelayedEvent {
            name: Some("Open & More".to_owned()),
            site: Some("Köln".to_owned()),
            time_control: Some("90+30".to_owned()),
            has_teams: true,
            ..RelayedEvent::default()
        };
        assert_eq!(
            LichessForm::of_event(&event).encoded(),
            "name=Open%20%26%20More&info.tc=90%2B30&info.location=K%C3%B6ln&showScores=true&teamTable=true"
        );
    }
}
