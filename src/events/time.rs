//! Times in events.

use kiebitz_hardware::Timestamp;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

/// RFC 3339 in UTC with microseconds, as all times in events are written.
#[must_use]
pub fn time_text(at: Timestamp) -> String {
    jiff::Timestamp::from_microsecond(at.as_micros()).map_or_else(|_| String::new(), |at| format!("{at:.6}"))
}

pub(crate) fn rfc3339<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&time_text(*at))
}

pub(crate) fn rfc3339_option<S: Serializer>(
    at: &Option<Timestamp>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_some(&at.map(time_text))
}

pub(crate) fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    let at: jiff::Timestamp = String::deserialize(deserializer)?
        .parse()
        .map_err(D::Error::custom)?;
    Ok(Timestamp::from_micros(at.as_microsecond()))
}

/// A time, or null.
pub(crate) fn time_or_null<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Timestamp>, D::Error> {
    #[derive(Deserialize)]
    struct Time(#[serde(deserialize_with = "time")] Timestamp);
    let at = Option::<Time>::deserialize(deserializer)?;
    Ok(at.map(|Time(at)| at))
}

pub(crate) fn some_time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    time(deserializer).map(Some)
}
