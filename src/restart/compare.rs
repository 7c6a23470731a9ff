//! What a replay gives, held against what the journal has.

use std::collections::{BTreeMap, VecDeque};

use kiebitz_game::events::Event;

use crate::journal::{Journal, JournalError, JournaledEvent};

/// Goes through the journal beside a replay.
#[derive(Debug)]
pub(super) struct Comparison<'s> {
    stream: &'s str,
    boards: BTreeMap<String, ComparisonCursor>,
}

/// How far a board's events have been compared.
#[derive(Debug, Default)]
struct ComparisonCursor {
    /// The journal's next events.
    ahead: VecDeque<JournaledEvent>,
    /// The last event that was read from it, and the last that there is.
    read: u64,
    last: u64,
}

/// What the journal says of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JournalMatch {
    /// It has it.
    Known,
    /// It does not have it.
    New,
    /// It has another one under that number.
    Other,
}

/// At most this many events are read at a time.
const PAGE: usize = 1000;

impl<'s> Comparison<'s> {
    /// Begins for each board after these numbers.
    pub(super) fn new(
        journal: &Journal,
        stream: &'s str,
        after: &BTreeMap<String, u64>,
    ) -> Result<Self, JournalError> {
        let boards = journal.boards(stream)?.into_iter().map(|(board, last)| {
            let read = after.get(&board).copied().unwrap_or(0);
            let cursor = ComparisonCursor {
                read,
                last,
                ..ComparisonCursor::default()
            };
            (board, cursor)
        });
        Ok(Self {
            stream,
            boards: boards.collect(),
        })
    }

    /// Looks for an event of the replay.
    pub(super) fn find(&mut self, journal: &Journal, event: &Event) -> Result<JournalMatch, JournalError> {
        let Some(cursor) = self.boards.get_mut(&event.board) else {
            return Ok(JournalMatch::New);
        };
        while cursor.ahead.front().is_none_or(|front| front.seq < event.seq) {
            if cursor.ahead.pop_front().is_some() {
                continue;
            }
            if cursor.read >= cursor.last || cursor.read >= event.seq {
                return Ok(JournalMatch::New);
            }
            let page = journal.events_after(self.stream, &event.board, cursor.read, PAGE)?;
            cursor.read = page.last().map_or(cursor.last, |event| event.seq);
            cursor.ahead = page.into();
        }
        Ok(match cursor.ahead.front() {
            Some(front) if front.seq == event.seq => {
                let same = serde_json::to_string(event).is_ok_and(|payload| payload == front.payload);
                if same {
                    JournalMatch::Known
                } else {
                    JournalMatch::Other
                }
            }
            _ => JournalMatch::New,
        })
    }

    /// Boards go on after these numbers, which may be lower than those of their last events.
    pub(super) fn go_back(&mut self, numbers: &BTreeMap<String, u64>) {
        for (board, number) in numbers {
            if let Some(cursor) = self.boards.get_mut(board) {
                cursor.read = *number;
                cursor.ahead.clear();
            }
        }
    }

    /// The last event that the journal has of a board.
    pub(super) fn last(&self, board: &str) -> u64 {
        self.boards.get(board).map_or(0, |cursor| cursor.last)
    }
}
