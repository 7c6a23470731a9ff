//! The boards of which events wait that are not in memory.

use core::ops::Bound::{Excluded, Unbounded};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Which boards are behind, and where each is to be read on.
///
/// While a board is behind, none of its new events goes into memory: they would overtake those before them.
#[derive(Debug, Default)]
pub(crate) struct Behind {
    boards: BTreeMap<Arc<str>, BacklogCursor>,
    /// The board that was read last: the next one is the one after it.
    read: Option<Arc<str>>,
}

/// How far a board that is behind has been read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BacklogCursor {
    /// The topic of its events.
    pub(crate) topic: Arc<str>,
    /// All up to this event are in memory, or were.
    pub(crate) after: u64,
    /// The newest event there is.
    pub(crate) last: u64,
    /// It is not read until the pause is over.
    rests: bool,
    /// Whether it was said that its events are missing.
    pub(crate) missed: bool,
}

/// What is to be read of a board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BacklogPage {
    pub(crate) board: Arc<str>,
    /// From the event after this one on.
    pub(crate) after: u64,
    /// At most this many events.
    pub(crate) limit: usize,
}

/// The most events that are read at a time.
const PAGE: usize = 200;

impl Behind {
    /// How many boards are behind.
    pub(crate) fn len(&self) -> usize {
        self.boards.len()
    }

    /// A board's events after one number and up to another are to be read. Of a board that is behind already, all that
    /// is asked for by either.
    pub(crate) fn add(&mut self, board: &Arc<str>, topic: &Arc<str>, after: u64, last: u64) {
        if after >= last {
            return;
        }
        let cursor = self
            .boards
            .entry(Arc::clone(board))
            .or_insert_with(|| BacklogCursor {
                topic: Arc::clone(topic),
                after,
                last,
                rests: false,
                missed: false,
            });
        cursor.after = cursor.after.min(after);
        cursor.last = cursor.last.max(last);
    }

    /// There is a new event. Returns whether its board is behind, so that it will be read.
    pub(crate) fn raise(&mut self, board: &str, seq: u64) -> bool {
        let Some(cursor) = self.boards.get_mut(board) else {
            return false;
        };
        cursor.last = cursor.last.max(seq);
        true
    }

    /// What to read next: the boards take turns.
    pub(crate) fn next_page(&mut self) -> Option<BacklogPage> {
        let read = self.read.as_deref().unwrap_or_default();
        let later = self.boards.range::<str, _>((Excluded(read), Unbounded));
        let (board, cursor) = later.chain(&self.boards).find(|(_, cursor)| !cursor.rests)?;
        let page = BacklogPage {
            board: Arc::clone(board),
            after: cursor.after,
            limit: PAGE,
        };
        self.read = Some(Arc::clone(board));
        Some(page)
    }

    /// Where the page goes on; `None` when it is no longer asked for.
    pub(crate) fn cursor(&mut self, page: &BacklogPage) -> Option<&mut BacklogCursor> {
        let cursor = self.boards.get_mut(&page.board)?;
        (cursor.after == page.after).then_some(cursor)
    }

    /// A board that has been read to its end is no longer behind.
    pub(crate) fn settle(&mut self, board: &str) {
        if self.boards.get(board).is_some_and(BacklogCursor::is_done) {
            self.boards.remove(board);
        }
    }

    /// Whether some board waits for the end of the pause.
    pub(crate) fn rests(&self) -> bool {
        self.boards.values().any(|cursor| cursor.rests)
    }

    /// The pause is over.
    pub(crate) fn wake(&mut self) {
        self.boards.values_mut().for_each(|cursor| cursor.rests = false);
    }
}

impl BacklogCursor {
    /// The events after it cannot be read yet.
    pub(crate) fn rest(&mut self) {
        self.rests = true;
    }

    fn is_done(&self) -> bool {
        self.after >= self.last
    }
}
