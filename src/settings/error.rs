//! Errors in a configuration, with file and line.

use core::fmt;
use core::ops::Range;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Reason why a configuration cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read the configuration {}", path.display())]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The file contains a mistake.
    #[error(transparent)]
    Wrong(Mistake),
}

/// A mistake in a configuration, with its position.
///
/// The message shows the line up to the end of the mistake. Text in front of an `@` is hidden, because it may be the
/// broker's password.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct Mistake {
    path: PathBuf,
    /// Line number, counted from 1.
    line: usize,
    message: String,
    /// Text of the line up to the end of the mistake, with passwords hidden.
    shown: String,
    /// Beginning of the mistake in `shown`, in characters.
    begins: usize,
}

/// An error with its position in the text.
#[derive(Debug)]
pub(crate) struct SpannedError {
    pub(crate) message: String,
    /// Position of the error, in bytes.
    pub(crate) span: Range<usize>,
}

impl SpannedError {
    pub(crate) fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            span,
        }
    }
}

/// Converts an error of the TOML parser, and rewrites its message for users.
impl From<toml::de::Error> for SpannedError {
    fn from(error: toml::de::Error) -> Self {
        Self::new(error.span().unwrap_or_default(), in_words(error.message()))
    }
}

/// Converts an error of the TOML parser like `From`. If the value of a setting lacks its quotes, as in `time_control =
/// 90+30`, the message has the line with quotes.
pub(crate) fn in_quotes(text: &str, error: toml::de::Error) -> SpannedError {
    let wrong = SpannedError::from(error);
    let start = text.floor_char_boundary(wrong.span.start);
    let from = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[from..].lines().next().unwrap_or_default();
    let Some((key, value)) = line.split_once('=') else {
        return wrong;
    };
    let (key, value) = (key.trim(), value.split('#').next().unwrap_or_default().trim());
    let is_key = !key.is_empty()
        && key
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    let is_boolean = ["yes", "no", "on", "off", "true", "false"].contains(&value.to_lowercase().as_str());
    let is_bare =
        !is_boolean && !value.is_empty() && !value.contains(['"', '\'', '[', ']', '{', '}', '\\', '=']);
    // The value can be parsed with quotes only if the quotes are its only fault.
    let is_syntax = toml::from_str::<toml::Table>(line).is_err();
    if !is_key || !is_bare || !is_syntax || !hidden(line).is_empty() {
        return wrong;
    }
    let column = line.find(value).unwrap_or_default();
    let span = from + column..from + column + value.len();
    SpannedError::new(span, format!("put the value in quotes: {key} = \"{value}\""))
}

/// Returns the line number of a byte, counted from 1.
pub(crate) fn line_of(text: &str, byte: usize) -> usize {
    let before = text.bytes().take(byte);
    before.filter(|byte| *byte == b'\n').count() + 1
}

/// Rewrites a message of the parser. For an unknown key, the message suggests the most similar one.
fn in_words(message: &str) -> String {
    let matches = |(parsers, _): &&(&str, &str)| message.starts_with(parsers) || message.ends_with(parsers);
    if let Some((_, words)) = WORDS.iter().find(matches) {
        return (*words).to_owned();
    }
    // The value is left out, because it may be a password in the wrong place.
    if message.starts_with("invalid type: ")
        && let Some((_, expected)) = message.rsplit_once(", expected ")
    {
        return match expected.starts_with("struct ") {
            true => "expected a table, as in [mqtt]".to_owned(),
            false => format!("expected {expected}"),
        };
    }
    let mut quoted = message.split('`').skip(1).step_by(2);
    let (label, list) = if message.starts_with("unknown field") {
        ("unknown key", "known keys")
    } else if message.starts_with("unknown variant") {
        ("unknown value", "possible values")
    } else if message.starts_with("missing field") {
        return format!("`{}` is missing", quoted.next().unwrap_or_default());
    } else {
        return message.to_owned();
    };
    let wrong = quoted.next().unwrap_or_default();
    let known: Vec<&str> = quoted.collect();
    let distances = known
        .iter()
        .map(|key| (strsim::damerau_levenshtein(wrong, key), *key));
    let near = |(distance, key): &(usize, &str)| *distance <= key.len().max(wrong.len()) / 3;
    match distances.min().filter(near) {
        Some((_, key)) => format!("{label} `{wrong}`, did you mean `{key}`?"),
        None => format!("{label} `{wrong}`; {list}: {}", known.join(", ")),
    }
}

/// Messages of the parser about the most common mistakes, and their replacements.
const WORDS: [(&str, &str); 7] = [
    ("expected a boolean", "expected true or false, without quotes"),
    ("expected a string", "expected text in quotes"),
    (
        "expected times in brackets",
        "expected times in brackets, as in [2026-11-21T14:00:00+01:00]",
    ),
    (
        "expected a time",
        "expected a time as in 2026-11-21T14:00:00+01:00",
    ),
    ("expected u32", "expected a whole number, without quotes"),
    (
        "string values must be quoted, expected literal string",
        "expected true, false, a number, or text in quotes",
    ),
    (
        "unexpected leading zero, expected nothing",
        "a number cannot begin with a zero; a serial number is text, in quotes",
    ),
];

impl Mistake {
    pub(crate) fn new(path: &Path, text: &str, wrong: SpannedError) -> Self {
        let SpannedError { message, span } = wrong;
        let start = text.floor_char_boundary(span.start);
        let from = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let to = text[start..].find('\n').map_or(text.len(), |end| start + end);
        let end = text.floor_char_boundary(span.end).clamp(start, to);
        Self {
            path: path.to_owned(),
            line: line_of(text, start),
            message,
            shown: without_password(text[from..end].trim_end()),
            begins: text[from..start].chars().count(),
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            path,
            line,
            message,
            shown,
            begins,
        } = self;
        let margin = " ".repeat(line.to_string().len());
        let carets = "^".repeat(shown.chars().count().saturating_sub(*begins).max(1));
        writeln!(f, "{}:{line}: {message}", path.display())?;
        writeln!(f, "{margin} |")?;
        writeln!(f, "{line} | {shown}")?;
        write!(f, "{margin} | {:begins$}{carets}", "")
    }
}

/// Replaces a possible password by stars, one for each character so that the carets still fit. Control characters
/// become spaces.
fn without_password(line: &str) -> String {
    let hidden = hidden(line);
    let shown = |(at, character): (usize, char)| match character {
        _ if hidden.contains(&at) && !matches!(character, ' ' | '"' | '\'') => '*',
        character if character.is_control() => ' ',
        character => character,
    };
    line.char_indices().map(shown).collect()
}

/// Returns the byte range that may contain a password: the value up to an `@`, a whole URL that seems to lack its `@`,
/// or the value of a key with "password", "secret" or "token" in its name.
fn hidden(line: &str) -> Range<usize> {
    let value = line.find(['=', '"', '\'']).map_or(0, |opened| opened + 1);
    if let Some(at) = line.rfind('@') {
        return value..at;
    }
    let is_port = |rest: &str| rest.starts_with(|digit: char| digit.is_ascii_digit());
    let has_user = |url: &str| url.split(':').skip(1).any(|rest| !is_port(rest));
    let url = line.split_once("://").map(|(_, url)| url);
    let is_secret = |word: &str| line[..value].contains(word);
    if ["password", "secret", "token"].into_iter().any(is_secret) || url.is_some_and(has_user) {
        return value..line.len();
    }
    0..0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistake(text: &str, span: Range<usize>) -> String {
        let path = Path::new("kiebitz.toml");
        Mistake::new(path, text, SpannedError::new(span, "wrong")).to_string()
    }

    #[test]
    fn carets_mark_the_mistake() {
        assert_eq!(
            mistake("a = 1\nbär = 22 # more\n", 13..15),
            "kiebitz.toml:2: wrong\n  |\n2 | bär = 22\n  |       ^^"
        );
    }

    #[test]
    fn a_value_without_its_quotes_is_shown_with_them() {
        let message = |text: &str| {
            let error = toml::from_str::<toml::Table>(text).expect_err("refused");
            let wrong = in_quotes(text, error);
            (wrong.message, text[wrong.span].to_owned())
        };
        for (value, comment) in [
            ("90+30", ""),
            ("90 + 30", " # a comment"),
            ("30 min", ""),
            ("40/90+30:30", ""),
            ("fide-2023", ""),
            ("/etc/kiebitz/token", ""),
            ("01025", ""),
            ("Größe", ""),
        ] {
            let text = format!("[event]\na = 1\nkey = {value}{comment}\nb = 2\n");
            let expected = (
                format!("put the value in quotes: key = \"{value}\""),
                value.to_owned(),
            );
            assert_eq!(message(&text), expected);
        }
        for text in [
            "key = \"90\n",
            "key = [1, 2\n",
            "key == 3\n",
            "key = 'a' b\n",
            "key =\n",
            "key\n",
            "a key = b\n",
            "key = yes\n",
            "key = True\n",
            "password = secret\n",
            "url = mqtt://club:secret@host\n",
        ] {
            assert!(!message(text).0.contains("put the value in quotes"), "{text}");
        }
    }

    #[test]
    fn any_span_can_be_shown() {
        let text = "ä = \"ö\"\n\tß\n";
        for start in 0..text.len() + 3 {
            for end in 0..text.len() + 3 {
                let shown = mistake(text, start..end);
                assert!(shown.lines().count() == 4 && shown.ends_with('^'), "{shown}");
            }
        }
        assert_eq!(mistake("", 0..0), "kiebitz.toml:1: wrong\n  |\n1 | \n  | ^");
    }

    #[test]
    fn password_in_the_wrong_place_is_not_shown() {
        for line in [
            "url = \"mqtt://club:secret\"",
            "url = \"mqtt://club:secret/host\"",
            "password = secret",
            "password_file = \"secret\"",
        ] {
            let shown = mistake(line, 6..line.len());
            assert!(!shown.contains("sec") && !shown.contains("ret"), "{shown}");
        }
        let line = "url = \"http://broker.example:1883\"";
        let shown = mistake(line, 6..line.len());
        assert!(shown.contains(line), "nothing is hidden: {shown}");
    }

    #[test]
    fn password_is_not_shown() {
        for line in [
            "url = \"mqtt:/club:secret@host\"",
            "url = 'mqtt://club:sec@ret@host'",
            "url=mqtt://club:secret@host",
            "url = mqtt://club:secret@host",
        ] {
            let shown = mistake(line, 6..line.len());
            assert!(shown.contains("@host") && shown.contains("url"), "{shown}");
            assert!(!shown.contains("sec") && !shown.contains("ret"), "{shown}");
        }
    }
}
