//! The texts of the advice: one catalogue for each language, with a text for each case.
//!
//! `catalogue/en.toml` describes the format. A new language needs a file beside it and a line here.

use core::fmt;
use core::str::FromStr;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use super::IncidentKind;

/// Languages with their code and catalogue. The first one is the default.
macro_rules! languages {
    ($($(#[$doc:meta])* $language:ident $code:literal $file:literal),+ $(,)?) => {
        /// A language of the advice.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Language {
            $($(#[$doc])* $language,)+
        }

        impl Language {
            /// All languages.
            pub const ALL: &'static [Self] = &[$(Self::$language),+];

            /// The language code, as in "en".
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self {
                    $(Self::$language => $code,)+
                }
            }

            fn catalogue(self) -> &'static Catalogue {
                match self {
                    $(Self::$language => {
                        static CATALOGUE: LazyLock<Catalogue> =
                            LazyLock::new(|| Catalogue::read(include_str!($file)));
                        &CATALOGUE
                    })+
                }
            }
        }
    };
}

languages! {
    /// English.
    #[default]
    English "en" "catalogue/en.toml",
    /// German.
    German "de" "catalogue/de.toml",
}

/// Error of parsing the name of a language.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text:?} is not a supported language; expected one of {}", codes())]
pub struct UnknownLanguage {
    /// The text.
    pub text: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Catalogue {
    /// Texts by kind of incident and by the rest of the case's key.
    cases: BTreeMap<String, BTreeMap<String, String>>,
    answers: BTreeMap<String, String>,
    /// Words by placeholder and value.
    words: BTreeMap<String, BTreeMap<String, String>>,
}

/// The text of a case, in plain words.
///
/// A value without a placeholder in the text is ignored, and a placeholder without a value stays as it is. A case that
/// is missing in the catalogue has an empty text; tests ensure that no case is missing.
///
/// ```
/// use kiebitz_game::laws::{Language, Rules, Situation, text};
/// use shakmaty::{Color, Square};
///
/// let advice = Rules::default().advise(&Situation::AdjustedOffTurn { square: Square::E4 }, Some(Color::White));
/// let german = text(Language::German, advice.case, &advice.values);
/// assert!(german.contains("e4"), "{german}");
/// ```
#[must_use]
pub fn text(language: Language, case: &str, values: &BTreeMap<String, Value>) -> String {
    let catalogue = language.catalogue();
    let template = case
        .split_once('.')
        .and_then(|(kind, rest)| catalogue.cases.get(kind)?.get(rest));
    catalogue.filled(template, values)
}

/// The answer to an arbiter's command, filled in as in [`text`].
#[must_use]
pub fn answer(language: Language, name: &str, values: &BTreeMap<String, Value>) -> String {
    let catalogue = language.catalogue();
    catalogue.filled(catalogue.answers.get(name), values)
}

/// The name of a kind of incident, as in "Illegal move".
#[must_use]
pub fn title(language: Language, kind: IncidentKind) -> &'static str {
    word(language, "kind", kind.as_str())
}

/// Translates a word of the events, such as "hint" of the group "severity". Returns the word itself if the catalogue
/// lacks it.
#[must_use]
pub fn word<'w>(language: Language, group: &str, name: &'w str) -> &'w str {
    let words = language.catalogue().words.get(group);
    words
        .and_then(|words| words.get(name))
        .map_or(name, String::as_str)
}

/// Group of [words](word) for the reasons of results, as in `checkmate`.
pub const END_REASON: &str = "end_reason";

/// Group of [words](word) for most of the same reasons, in short form for spectators.
pub const END_REASON_SHORT: &str = "end_reason_short";

/// All words of a group, such as [`END_REASON`], as pairs of the name in the events and the word.
pub fn words_of(language: Language, group: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let words = language.catalogue().words.get(group);
    let words = words.into_iter().flatten();
    words.map(|(name, word)| (name.as_str(), word.as_str()))
}

/// Nesting limit of placeholders: words may contain placeholders, whose words may contain placeholders.
const MAX_DEPTH: usize = 4;

impl Catalogue {
    /// Parses a catalogue. An invalid one counts as empty; tests ensure that all are valid.
    fn read(file: &str) -> Self {
        toml::from_str(file).unwrap_or_default()
    }

    fn filled(&self, template: Option<&String>, values: &BTreeMap<String, Value>) -> String {
        let filled = template.map_or_else(String::new, |template| self.fill(template, values, MAX_DEPTH));
        let words: Vec<&str> = filled.split_whitespace().collect();
        words.join(" ")
    }

    fn fill(&self, template: &str, values: &BTreeMap<String, Value>, depth: usize) -> String {
        let mut filled = String::new();
        let mut rest = template;
        while let Some((before, name, after)) = next_placeholder(rest) {
            filled.push_str(before);
            match values.get(name) {
                Some(value) => filled.push_str(&self.word(name, value, values, depth)),
                None => {
                    filled.push('{');
                    filled.push_str(name);
                    filled.push('}');
                }
            }
            rest = after;
        }
        filled.push_str(rest);
        filled
    }

    /// The word for a value, else the word "other" of the placeholder, else the value itself.
    fn word(&self, name: &str, value: &Value, values: &BTreeMap<String, Value>, depth: usize) -> String {
        let plain = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let words = self.words.get(name);
        let word = words.and_then(|words| words.get(&plain).or_else(|| words.get("other")));
        match word {
            Some(word) if depth > 0 => self.fill(&word.replace("{n}", &plain), values, depth - 1),
            _ => plain,
        }
    }
}

/// The keys of all cases in a catalogue, as in "illegal_move.completed".
#[cfg(test)]
pub(super) fn cases(language: Language) -> impl Iterator<Item = String> {
    let kinds = language.catalogue().cases.iter();
    kinds.flat_map(|(kind, cases)| cases.keys().map(move |case| format!("{kind}.{case}")))
}

/// Splits a text into the part before the next placeholder, the placeholder's name, and the part after it.
fn next_placeholder(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('{')?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}

fn codes() -> String {
    let codes: Vec<_> = Language::ALL.iter().map(|language| language.code()).collect();
    codes.join(", ")
}

impl FromStr for Language {
    type Err = UnknownLanguage;

    fn from_str(text: &str) -> Result<Self, UnknownLanguage> {
        let found = Self::ALL.iter().find(|language| language.code() == text);
        found.copied().ok_or_else(|| UnknownLanguage {
            text: text.to_owned(),
        })
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

#[cfg(test)]
mod tests;
