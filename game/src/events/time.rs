//! Times in events.

use kiebitz_hardware::Timestamp;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

/// RFC 3339 in UTC with microseconds, as all times in events are written.
#[must_use]
pub fn time_text(at: Timestamp) -> String {
    jiff::Timestamp::from_microsecond(at.as_micros()).map_or_else(|_| String::new(), |at| format!("{at:.6}"))
}

/// For serde: writes a time in RFC 3339 with microseconds.
///
/// # Errors
///
/// Those of the serializer.
pub fn rfc3339<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&time_text(*at))
}

/// For serde: writes a time as [`rfc3339`], or null.
///
/// # Errors
///
/// Those of the serializer.
pub fn rfc3339_option<S: Serializer>(at: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_some(&at.map(time_text))
}

/// For serde: reads a time in RFC 3339.
///
/// # Errors
///
/// If the value is not such a time.
pub fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    let at: jiff::Timestamp = String::deserialize(deserializer)?
        .parse()
        .map_err(D::Error::custom)?;
    Ok(Timestamp::from_micros(at.as_microsecond()))
}

/// For serde: reads a time or null.
///
/// # Errors
///
/// If the value is neither.
pub fn time_or_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    #[derive(Deserialize)]
    struct Time(#[serde(deserialize_with = "time")] Timestamp);
    let at = Option::<Time>::deserialize(deserializer)?;
    Ok(at.map(|Time(at)| at))
}

/// For serde: reads a time into a field that may be absent, but not null.
///
/// # Errors
///
/// As [`time`].
pub fn some_time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    time(deserializer).map(Some)
}
