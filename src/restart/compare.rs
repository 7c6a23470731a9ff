//! Compares the events of a replay with those of the journal.

use std::collections::{BTreeMap, VecDeque};

use kiebitz_game::events::Event;

use crate::journal::{Journal, JournalError, JournaledEvent};

/// Reads the journal in step with a replay.
#[derive(Debug)]
pub(super) struct Comparison<'s> {
    stream: &'s str,
    boards: BTreeMap<String, ComparisonCursor>,
}

/// Position of the comparison in a board's events.
#[derive(Debug, Default)]
struct ComparisonCursor {
    /// Events that were read from the journal and not yet compared.
    ahead: VecDeque<JournaledEvent>,
    /// Seqs of the last event read and of the last event in the journal.
    read: u64,
    last: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JournalMatch {
    /// The journal has the same event.
    Known,
    /// The journal has no event with this seq.
    New,
    /// The journal has another event with this seq.
    Other,
}

/// Number of events that are read at a time.
const PAGE: usize = 1000;

impl<'s> Comparison<'s> {
    /// Starts the comparison of each board after the seq in `after`.
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
                let is_same = serde_json::to_string(event).is_ok_and(|payload| payload == front.payload);
                if is_same {
                    JournalMatch::Known
                } else {
                    JournalMatch::Other
                }
            }
            _ => JournalMatch::New,
        })
    }

    /// Moves boards to the seqs in `numbers`, which may be lower than those of their last events.
    pub(super) fn go_back(&mut self, numbers: &BTreeMap<String, u64>) {
        for (board, number) in numbers {
            if let Some(cursor) = self.boards.get_mut(board) {
                cursor.read = *number;
                cursor.ahead.clear();
            }
        }
    }

    /// Seq of the board's last event in the journal; 0 if it has none.
    pub(super) fn last(&self, board: &str) -> u64 {
        self.boards.get(board).map_or(0, |cursor| cursor.last)
    }
}
