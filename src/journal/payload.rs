//! Events as text and back.

use std::path::Path;

use serde::Deserialize;

use super::error::{JournalError, damaged};
use crate::event::Event;

/// An event as it was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournaledEvent {
    /// Its number in the board's stream.
    pub seq: u64,
    /// Its JSON, as it is published.
    pub payload: String,
}

#[derive(Deserialize)]
struct Typed {
    #[serde(rename = "type")]
    name: String,
}

/// An event in JSON, and its type.
#[expect(
    clippy::expect_used,
    reason = "events are structs of text and numbers: they have a JSON form, with a type in it"
)]
pub(super) fn encoded(event: &Event) -> (String, String) {
    let payload = serde_json::to_string(event).expect("events have a JSON form");
    let typed: Typed = serde_json::from_str(&payload).expect("events have a type");
    (payload, typed.name)
}

impl JournaledEvent {
    /// The event as it was before it was kept in the journal at `path`.
    pub(super) fn decoded(&self, path: &Path) -> Result<Event, JournalError> {
        let decoded = serde_json::from_str(&self.payload);
        decoded.map_err(|error| {
            let detail = format!("event {} cannot be read: {error}", self.seq);
            damaged(path.to_owned(), &detail)
        })
    }
}
