//! What a replay gives, held against what the journal has.

use std::collections::{BTreeMap, VecDeque};

use crate::events::Event;
use crate::journal::{Journal, JournalError, JournaledEvent};

/// Goes through the journal beside a replay.
#[derive(Debug)]
pub(super) struct Comparison<'j> {
    journal: &'j Journal,
    stream: &'j str,
    boards: BTreeMap<String, Cursor>,
}

/// How far a board's events have been compared.
#[derive(Debug, Default)]
struct Cursor {
    /// The journal's next events.
    ahead: VecDeque<JournaledEvent>,
    /// The last event that was read from it, and the last that there is.
    read: u64,
    last: u64,
}

/// What the journal says of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// It has it.
    Known,
    /// It does not have it.
    New,
    /// It has another one under that number.
    Other,
}

/// At most this many events are read at a time.
const PAGE: usize = 1000;

impl<'j> Comparison<'j> {
    /// Begins for each board after these numbers.
    pub(super) fn new(
        journal: &'j Journal,
        stream: &'j str,
        after: &BTreeMap<String, u64>,
    ) -> Result<Self, JournalError> {
        let boards = journal.boards(stream)?.into_iter().map(|(board, last)| {
            let read = after.get(&board).copied().unwrap_or(0);
            let cursor = Cursor {
                read,
                last,
                ..Cursor::default()
            };
            (board, cursor)
        });
        Ok(Self {
            journal,
            stream,
            boards: boards.collect(),
        })
    }

    /// Looks for an event of the replay.
    pub(super) fn find(&mut self, event: &Event) -> Result<Found, JournalError> {
        let Some(cursor) = self.boards.get_mut(&event.board) else {
            return Ok(Found::New);
        };
        while cursor.ahead.front().is_none_or(|front| front.seq < event.seq) {
            if cursor.ahead.pop_front().is_some() {
                continue;
            }
            if cursor.read >= cursor.last || cursor.read >= event.seq {
                return Ok(Found::New);
            }
            let page = self
                .journal
                .events_after(self.stream, &event.board, cursor.read, PAGE)?;
            cursor.read = page.last().map_or(cursor.last, |event| event.seq);
            cursor.ahead = page.into();
        }
        Ok(match cursor.ahead.front() {
            Some(front) if front.seq == event.seq => {
                let same = serde_json::to_string(event).is_ok_and(|payload| payload == front.payload);
                if same { Found::Known } else { Found::Other }
            }
            _ => Found::New,
        })
    }

    /// The last event that the journal has of a board.
    pub(super) fn last(&self, board: &str) -> u64 {
        self.boards.get(board).map_or(0, |cursor| cursor.last)
    }
}
