//! Events as they were kept, one after the other.

use core::ops::RangeInclusive;

use kiebitz_hardware::Timestamp;
use rusqlite::params;

use super::game::PAGE;
use super::{Journal, JournalError, JournaledEvent, journaled};

impl Journal {
    /// Hands a stream's events from those times on to `take`, as they were kept: those of the boards that are wanted, board
    /// after board in the order of their names, as bytes, and within a board in the order of their numbers. What is kept
    /// meanwhile is left out.
    ///
    /// They are read some at a time. So there may be any number of them, and one that takes them slowly does not keep
    /// SQLite from tidying up behind the daemon.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or `take` fails.
    pub fn each_event<E: From<JournalError>>(
        &self,
        stream: &str,
        is_wanted: impl Fn(&str) -> bool,
        times: RangeInclusive<Timestamp>,
        mut take: impl FnMut(&JournaledEvent) -> Result<(), E>,
    ) -> Result<(), E> {
        for (board, last) in self.boards(stream)? {
            if !is_wanted(&board) {
                continue;
            }
            let mut after = 0;
            loop {
                let page = self.page(stream, &board, after..=last, &times)?;
                let Some(newest) = page.last() else { break };
                after = newest.seq;
                page.iter().try_for_each(&mut take)?;
            }
        }
        Ok(())
    }

    /// The first events of a board after the first of these numbers and up to the last, and from these times.
    fn page(
        &self,
        stream: &str,
        board: &str,
        seqs: RangeInclusive<u64>,
        times: &RangeInclusive<Timestamp>,
    ) -> Result<Vec<JournaledEvent>, JournalError> {
        let mut select = self.connection.prepare(SOME).map_err(self.error())?;
        let (first, last) = (times.start().as_micros(), times.end().as_micros());
        let wanted = params![stream, board, seqs.start(), seqs.end(), first, last, PAGE];
        let rows = select.query_map(wanted, journaled);
        rows.and_then(Iterator::collect).map_err(self.error())
    }
}

const SOME: &str =
    "SELECT seq, payload FROM event WHERE stream = ?1 AND board = ?2 AND seq > ?3 AND seq <= ?4
    AND ts BETWEEN ?5 AND ?6 ORDER BY seq LIMIT ?7";
