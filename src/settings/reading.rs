//! Deserialisation of values.

use core::fmt::{self, Display};
use core::marker::PhantomData;
use core::ops::Range;
use core::str::FromStr;
use core::time::Duration;
use std::collections::BTreeMap;
use std::path::PathBuf;

use reqwest::Url;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::error::{SpannedError, line_of};
use super::values::Name;

/// A value that is parsed from a string.
pub(crate) struct TextValue<T>(pub(crate) T);

impl<'de, T: FromStr<Err: Display>> Deserialize<'de> for TextValue<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor(PhantomData)).map(Self)
    }
}

/// Parses a string. For a number, the error message has the spelling that is valid, if there is one.
struct TextVisitor<T>(PhantomData<T>);

impl<T: FromStr> TextVisitor<T> {
    fn unquoted<E: Error>(number: impl Display) -> E {
        let spellings = [format!("{number} min"), number.to_string()];
        match spellings.iter().find(|text| text.parse::<T>().is_ok()) {
            Some(text) => E::custom(format!("expected text in quotes: \"{text}\"")),
            None => E::custom("expected text in quotes"),
        }
    }
}

impl<T: FromStr<Err: Display>> Visitor<'_> for TextVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text in quotes")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        Err(Self::unquoted(number))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        Err(Self::unquoted(number))
    }
}

/// An absolute path. Relative paths are refused, because they depend on the working directory, which differs under
/// systemd.
pub(crate) struct Absolute(pub(crate) PathBuf);

impl FromStr for Absolute {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let path = PathBuf::from(text);
        let absolute = path.is_absolute().then_some(Self(path));
        absolute.ok_or("expected an absolute path, beginning with \"/\"")
    }
}

/// Delay of the broadcast for spectators.
pub(crate) struct Delay(pub(crate) Duration);

impl FromStr for Delay {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let delay = text.parse::<jiff::SignedDuration>().ok();
        let delay = delay.and_then(|delay| Duration::try_from(delay).ok());
        let delay = delay.ok_or("expected a delay with a unit, as in \"15 min\" or \"90 s\"")?;
        let short = (delay <= LONGEST_DELAY).then_some(Self(delay));
        short.ok_or("the delay can be at most \"2 h\"")
    }
}

/// Limit of the delay. Delayed data are kept in memory, and tournaments have delays of 10 to 30 minutes.
const LONGEST_DELAY: Duration = Duration::from_secs(2 * 3600);

pub(crate) fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Name>, D::Error> {
    TextValue::deserialize(deserializer).map(|name| Some(name.0))
}

pub(crate) fn required_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
    TextValue::deserialize(deserializer).map(|name| name.0)
}

pub(crate) fn delay<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    TextValue::<Delay>::deserialize(deserializer).map(|delay| Some(delay.0.0))
}

pub(crate) fn path<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PathBuf>, D::Error> {
    TextValue::<Absolute>::deserialize(deserializer).map(|path| Some(path.0.0))
}

pub(crate) fn required_path<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    TextValue::<Absolute>::deserialize(deserializer).map(|path| path.0.0)
}

pub(crate) fn paths<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
    let paths = Vec::<TextValue<Absolute>>::deserialize(deserializer)?;
    Ok(paths.into_iter().map(|path| path.0.0).collect())
}

/// Checks that a text is the address of a web server and contains no login.
pub(crate) fn without_login(text: &str) -> Result<String, &'static str> {
    match url_of(&text.replace("{round}", "1")) {
        Some(url) if url.username().is_empty() && url.password().is_none() => Ok(text.to_owned()),
        Some(_) => Err("the address must not contain a login: write a token to a file, and set `token_file`"),
        None => Err("expected an address such as \"https://club.example/chess\""),
    }
}

pub(crate) fn url_of(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok();
    url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

/// Unwraps tables with unique names. Fails if two tables have the same name.
pub(crate) fn named<T>(
    text: &str,
    tables: Vec<Spanned<T>>,
    name: impl Fn(&T) -> &Name,
) -> Result<Vec<T>, SpannedError> {
    let mut names = UniqueLines::new(text);
    let mut all = Vec::new();
    for table in tables {
        let (span, table) = (table.span(), table.into_inner());
        names.once(span, name(&table).clone(), |line| {
            format!(
                "the name {:?} is already given in line {line}",
                name(&table).as_str()
            )
        })?;
        all.push(table);
    }
    Ok(all)
}

/// Finds values that occur more than once, and their lines.
pub(crate) struct UniqueLines<'t, K> {
    text: &'t str,
    seen: BTreeMap<K, usize>,
}

impl<'t, K: Ord> UniqueLines<'t, K> {
    pub(crate) fn new(text: &'t str) -> Self {
        let seen = BTreeMap::new();
        Self { text, seen }
    }

    /// Adds a value. Fails if the value occurred before; `message` gets the line of that occurrence.
    pub(crate) fn once(
        &mut self,
        span: Range<usize>,
        value: K,
        message: impl FnOnce(usize) -> String,
    ) -> Result<(), SpannedError> {
        match self.seen.insert(value, line_of(self.text, span.start)) {
            None => Ok(()),
            Some(line) => Err(SpannedError::new(span, message(line))),
        }
    }
}
