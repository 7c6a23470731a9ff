//! Boards that are behind: some of their events are not in memory and must be read from the backlog.

use core::ops::Bound::{Excluded, Unbounded};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The boards that are behind, and the position of each in the backlog.
///
/// While a board is behind, its new events do not go into memory, because they would overtake earlier ones.
#[derive(Debug, Default)]
pub(crate) struct Behind {
    boards: BTreeMap<Arc<str>, BacklogCursor>,
    /// The board that was read last, because boards take turns.
    read: Option<Arc<str>>,
}

/// The position of a board in the backlog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BacklogCursor {
    pub(crate) topic: Arc<str>,
    /// Seq of the last event that was loaded into memory.
    pub(crate) after: u64,
    /// Seq of the board's newest event.
    pub(crate) last: u64,
    /// Whether the board must wait for the end of the pause.
    is_waiting: bool,
    /// Whether the last page lacked the next events.
    pub(crate) missed: bool,
}

/// A request for events from the backlog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BacklogPage {
    pub(crate) board: Arc<str>,
    /// The page begins after this seq.
    pub(crate) after: u64,
    pub(crate) limit: usize,
}

const PAGE: usize = 200;

impl Behind {
    pub(crate) fn len(&self) -> usize {
        self.boards.len()
    }

    /// Adds a board with the events after `after`, up to `last`. If the board is behind already, extends its range.
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
                is_waiting: false,
                missed: false,
            });
        cursor.after = cursor.after.min(after);
        cursor.last = cursor.last.max(last);
    }

    /// Records a new event. Returns whether its board is behind, so that the event must be read from the backlog.
    pub(crate) fn extend(&mut self, board: &str, seq: u64) -> bool {
        let Some(cursor) = self.boards.get_mut(board) else {
            return false;
        };
        cursor.last = cursor.last.max(seq);
        true
    }

    /// The next page to read. Boards take turns.
    pub(crate) fn next_page(&mut self) -> Option<BacklogPage> {
        let read = self.read.as_deref().unwrap_or_default();
        let later = self.boards.range::<str, _>((Excluded(read), Unbounded));
        let (board, cursor) = later.chain(&self.boards).find(|(_, cursor)| !cursor.is_waiting)?;
        let page = BacklogPage {
            board: Arc::clone(board),
            after: cursor.after,
            limit: PAGE,
        };
        self.read = Some(Arc::clone(board));
        Some(page)
    }

    /// The position of a page's board; `None` if it has changed since the page was requested.
    pub(crate) fn cursor(&mut self, page: &BacklogPage) -> Option<&mut BacklogCursor> {
        let cursor = self.boards.get_mut(&page.board)?;
        (cursor.after == page.after).then_some(cursor)
    }

    /// Removes a board if all its events have been read.
    pub(crate) fn settle(&mut self, board: &str) {
        if self.boards.get(board).is_some_and(BacklogCursor::is_done) {
            self.boards.remove(board);
        }
    }

    /// Whether any board waits for the end of the pause.
    pub(crate) fn is_waiting(&self) -> bool {
        self.boards.values().any(|cursor| cursor.is_waiting)
    }

    pub(crate) fn end_pause(&mut self) {
        self.boards
            .values_mut()
            .for_each(|cursor| cursor.is_waiting = false);
    }
}

impl BacklogCursor {
    /// Excludes the board from reading until the end of the pause.
    pub(crate) fn postpone(&mut self) {
        self.is_waiting = true;
    }

    fn is_done(&self) -> bool {
        self.after >= self.last
    }
}
