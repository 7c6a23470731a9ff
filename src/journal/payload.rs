//! Encodes events as JSON and decodes them.

use std::path::Path;

use kiebitz_game::events::Event;
use serde::Deserialize;

use super::error::{JournalError, damaged};

/// An event as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournaledEvent {
    /// The event's seq.
    pub seq: u64,
    /// The event's JSON, byte for byte as published.
    pub payload: String,
}

/// A checksum (FNV-1a, 64 bits) that identifies an event's JSON or another text.
#[must_use]
pub fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |digest, byte| {
        (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The [`digest`] of an event's JSON; `None` if it cannot be encoded.
#[must_use]
pub fn digest_of(event: &Event) -> Option<u64> {
    let payload = serde_json::to_string(event).ok()?;
    Some(digest(&payload))
}

#[derive(Deserialize)]
struct Typed {
    #[serde(rename = "type")]
    name: String,
}

pub(super) fn encoded(event: &Event) -> serde_json::Result<(String, String)> {
    let payload = serde_json::to_string(event)?;
    let typed: Typed = serde_json::from_str(&payload)?;
    Ok((payload, typed.name))
}

impl JournaledEvent {
    /// Decodes the event. `path` is the journal's, for errors.
    pub(super) fn decoded(&self, path: &Path) -> Result<Event, JournalError> {
        serde_json::from_str(&self.payload).map_err(|error| self.undecoded(path, &error))
    }

    /// The error for an event that cannot be decoded. If the JSON is complete and has a type, it is as it was written,
    /// and a newer kiebitz used an unknown word.
    fn undecoded(&self, path: &Path, error: &serde_json::Error) -> JournalError {
        let typed = serde_json::from_str::<Typed>(&self.payload).ok();
        match typed.filter(|_| error.is_data()) {
            Some(Typed { name }) => JournalError::NewerEvent {
                path: path.to_owned(),
                seq: self.seq,
                kind: name,
                detail: error.to_string(),
            },
            None => {
                let detail = format!("event {} cannot be read: {error}", self.seq);
                damaged(path.to_owned(), &detail)
            }
        }
    }
}
