//! Publishes events again that a hub has missed. The answer to each request is one page of events from the journal.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use kiebitz_game::events::{LIVE_STREAM, time, time_text};
use kiebitz_hardware::Timestamp;
use serde::Deserialize;

use super::patience::spawn_thread;
use crate::config::Config;
use crate::journal::Journal;
use crate::outputs::mqtt::{Message, Outbox, Prefix, Received, is_level_of};

#[derive(Debug)]
pub(super) struct Resend {
    journal: PathBuf,
    /// `None` without a broker, and so without requests.
    to: Option<(Prefix, Outbox)>,
    /// Number of pages that are being read.
    reading: Arc<AtomicUsize>,
}

/// Position from which a hub requests events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ResendFrom {
    /// From the event after the one with this seq.
    After(u64),
    /// From the start of the first game since this time.
    Since(#[serde(deserialize_with = "time")] Timestamp),
}

/// Maximum number of events in a page. Even with the longest events, a page stays below the message limits of brokers.
const PAGE: usize = 200;
/// Maximum number of concurrent reads. Further requests are dropped; hubs repeat unanswered requests.
const AT_ONCE: usize = 4;

impl Resend {
    pub(super) fn new(config: &Config, outbox: Option<Outbox>) -> Self {
        let prefix = config.mqtt.as_ref().map(|broker| broker.prefix().clone());
        Self {
            journal: config.journal_file(),
            to: prefix.zip(outbox),
            reading: Arc::default(),
        }
    }

    /// Reads the requested page and publishes it. `names` are the names of all boards.
    pub(super) fn answer(&self, received: &Received, names: BTreeSet<String>) {
        let Some((prefix, outbox)) = self.to.clone() else {
            return;
        };
        let Ok(wanted) = serde_json::from_slice::<ResendFrom>(&received.text) else {
            tracing::debug!(
                board = received.board,
                "cannot parse the request for events of {}",
                received.board
            );
            return;
        };
        let board = names.into_iter().find(|name| is_level_of(&received.board, name));
        let topics = board.as_deref().and_then(|board| prefix.board(board).ok());
        let (Some(board), Some(topics)) = (board, topics) else {
            return;
        };
        if self.reading.fetch_add(1, Ordering::Relaxed) >= AT_ONCE {
            self.reading.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        let (journal, reading) = (self.journal.clone(), Arc::clone(&self.reading));
        let read = spawn_thread("resend", move || {
            match page(&journal, &board, wanted) {
                Ok(page) => outbox.publish(vec![Message::response(&topics.resent().into(), page)]),
                Err(error) => tracing::warn!(board, "{board}: cannot resend events: {error:#}"),
            }
            reading.fetch_sub(1, Ordering::Relaxed);
        });
        if let Err(error) = read {
            self.reading.fetch_sub(1, Ordering::Relaxed);
            tracing::warn!("cannot resend events: {error:#}");
        }
    }
}

/// A page of a board's events as JSON: `{"after": n, "events": [...]}`, where the list may be empty. The page repeats
/// the `since` of the request, so that another hub does not take it for the first page that it requested itself.
fn page(journal: &Path, board: &str, wanted: ResendFrom) -> Result<String> {
    let journal = Journal::open_to_read(journal).context("cannot read the journal")?;
    let after = match wanted {
        ResendFrom::After(after) => after,
        ResendFrom::Since(since) => {
            let first = journal.first_started_since(LIVE_STREAM, board, since)?;
            // Without a game, the hub needs only future events.
            match first {
                Some(first) => first.saturating_sub(1),
                None => journal.last_seq(LIVE_STREAM, board)?,
            }
        }
    };
    let events = journal.events_after(LIVE_STREAM, board, after, PAGE)?;
    let events: Vec<String> = events.into_iter().map(|event| event.payload).collect();
    let since = match wanted {
        ResendFrom::Since(since) => format!(",\"since\":\"{}\"", time_text(since)),
        ResendFrom::After(_) => String::new(),
    };
    Ok(format!(
        "{{\"after\":{after}{since},\"events\":[{}]}}",
        events.join(",")
    ))
}

#[cfg(test)]
mod tests {
    use kiebitz_game::events::samples::{event, ply, started};
    use kiebitz_game::events::{Event, EventKind};
    use kiebitz_game::position::Variant;

    use super::*;

    #[test]
    fn pages_begin_at_the_requested_event() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("journal.sqlite");
        assert!(
            page(&file, "b", ResendFrom::After(0)).is_err(),
            "there is no journal"
        );
        let live = |event: Event| Event {
            stream: LIVE_STREAM.to_owned(),
            board: "b".to_owned(),
            ..event
        };
        let mut events = vec![live(event(1, EventKind::ClockConnected {}))];
        events.push(live(event(
            2,
            started("8/8/8/8/8/8/8/8 w - - 0 1", Variant::Standard),
        )));
        events.extend((3..=300).map(|seq| live(event(seq, EventKind::MoveMade(ply(1, "e2e4", "e4"))))));
        Journal::open(&file)
            .expect("a journal")
            .append(&events)
            .expect("a disk");
        let read = |wanted: &str| {
            let wanted = serde_json::from_str(wanted).expect("understood");
            let page = page(&file, "b", wanted).expect("a page");
            let page: serde_json::Value = serde_json::from_str(&page).expect("JSON");
            let events = page["events"].as_array().expect("events").clone();
            let seq = |event: Option<&serde_json::Value>| event.and_then(|event| event["seq"].as_u64());
            (page["after"].as_u64(), seq(events.first()), seq(events.last()))
        };
        assert_eq!(read(r#"{"after":0}"#), (Some(0), Some(1), Some(200)));
        assert_eq!(read(r#"{"after":200}"#), (Some(200), Some(201), Some(300)));
        assert_eq!(read(r#"{"after":300}"#), (Some(300), None, None));
        assert_eq!(
            read(r#"{"since":"2001-01-01T00:00:00Z"}"#),
            (Some(1), Some(2), Some(201))
        );
        assert_eq!(
            read(r#"{"since":"2101-01-01T00:00:00Z"}"#),
            (Some(300), None, None)
        );
    }
}
