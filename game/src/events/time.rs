//! Serialisation of the times in events.

use kiebitz_hardware::Timestamp;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

/// Formats a time as in all events: RFC 3339 in UTC with microseconds.
#[must_use]
pub fn time_text(at: Timestamp) -> String {
    jiff::Timestamp::from_microsecond(at.as_micros()).map_or_else(|_| String::new(), |at| format!("{at:.6}"))
}

/// Serialises a time as RFC 3339 with microseconds.
///
/// # Errors
///
/// Fails if the serializer fails.
pub fn rfc3339<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&time_text(*at))
}

/// Serialises a time like [`rfc3339`], or null.
///
/// # Errors
///
/// Fails if the serializer fails.
pub fn rfc3339_option<S: Serializer>(at: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_some(&at.map(time_text))
}

/// Deserialises an RFC 3339 time.
///
/// # Errors
///
/// Fails if the value is not an RFC 3339 time.
pub fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    let at: jiff::Timestamp = String::deserialize(deserializer)?
        .parse()
        .map_err(D::Error::custom)?;
    Ok(Timestamp::from_micros(at.as_microsecond()))
}

/// Deserialises an RFC 3339 time or null.
///
/// # Errors
///
/// Fails if the value is neither.
pub fn time_or_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    #[derive(Deserialize)]
    struct Time(#[serde(deserialize_with = "time")] Timestamp);
    let at = Option::<Time>::deserialize(deserializer)?;
    Ok(at.map(|Time(at)| at))
}

/// Deserialises an RFC 3339 time for a field that may be absent but not null.
///
/// # Errors
///
/// Fails if the value is not an RFC 3339 time.
pub fn some_time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    time(deserializer).map(Some)
}
