//! The journal as the outbox's backlog: the outbox reads events for which it had no room from there.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use kiebitz_game::events::LIVE_STREAM;

use crate::config::Config;
use crate::journal::Journal;
use crate::outputs::mqtt::{Backlog, BacklogEvent};

/// Opens the journal's file for each page, since it is needed only after an outage and may have been replaced since.
#[derive(Debug)]
struct Journaled {
    file: PathBuf,
}

pub(super) fn of(config: &Config) -> Arc<dyn Backlog> {
    Arc::new(Journaled {
        file: config.journal_file(),
    })
}

impl Backlog for Journaled {
    fn events_after(&self, board: &str, seq: u64, limit: usize) -> Result<Vec<BacklogEvent>> {
        let events = Journal::open_to_read(&self.file)?.events_after(LIVE_STREAM, board, seq, limit)?;
        let events = events.into_iter().map(|event| BacklogEvent {
            seq: event.seq,
            payload: event.payload.into(),
        });
        Ok(events.collect())
    }
}

#[cfg(test)]
mod tests {
    use kiebitz_game::events::{Event, EventKind};
    use kiebitz_hardware::Timestamp;

    use super::*;
    use crate::outputs::mqtt::{Message, Prefix};

    fn event(stream: &str, board: &str, seq: u64) -> Event {
        Event {
            v: 1,
            stream: stream.to_owned(),
            seq,
            ts: Timestamp::from_micros(1_789_000_000_000_000),
            at: None,
            board: board.to_owned(),
            game: None,
            kind: EventKind::ClockConnected {},
        }
    }

    #[test]
    fn the_backlog_has_the_payloads_that_are_published() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("journal.sqlite");
        let backlog = Journaled { file: file.clone() };
        assert!(backlog.events_after("b", 0, 10).is_err(), "there is no journal");
        let mut journal = Journal::open(&file).expect("a journal");
        let live: Vec<Event> = (1..=5).map(|seq| event("live", "b", seq)).collect();
        journal.append(&live).expect("a disk");
        journal
            .append(&[event("live", "a", 3), event("demo", "b", 3)])
            .expect("a disk");
        let topic: Arc<str> = Prefix::live().board("b").expect("a name").events().into();
        let read = backlog.events_after("b", 2, 2).expect("a journal");
        let published = live[2..4]
            .iter()
            .map(|event| Message::event(&topic, event).payload);
        assert!(read.iter().map(|event| event.payload.clone()).eq(published));
        assert_eq!(read.iter().map(|event| event.seq).collect::<Vec<_>>(), [3, 4]);
        assert_eq!(backlog.events_after("b", 5, 2).expect("a journal"), []);
    }
}
