//! Export of stored events.

use core::ops::RangeInclusive;

use kiebitz_hardware::Timestamp;
use rusqlite::params;

use super::game::PAGE;
use super::{Journal, JournalError, JournaledEvent, journaled};

impl Journal {
    /// Passes a stream's events within `times` to `take`: those of the boards for which `is_wanted` is true, board
    /// after board by the bytes of their names, each board's events by seq. Events that are stored in the meantime are
    /// left out.
    ///
    /// Events are read in pages, so their number is not limited, and a slow consumer does not keep SQLite from
    /// checkpointing behind the daemon.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, or `take` fails.
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

    /// At most [`PAGE`] events of a board within `times`, after the start of `seqs` and up to its end.
    fn page(
        &self,
        stream: &str,
        board: &str,
        seqs: RangeInclusive<u64>,
        times: &RangeInclusive<Timestamp>,
    ) -> Result<Vec<JournaledEvent>, JournalError> {
        let mut select = self.connection.prepare(EVENTS_BETWEEN).map_err(self.error())?;
        let (first, last) = (times.start().as_micros(), times.end().as_micros());
        let wanted = params![stream, board, seqs.start(), seqs.end(), first, last, PAGE];
        let rows = select.query_map(wanted, journaled);
        rows.and_then(Iterator::collect).map_err(self.error())
    }
}

const EVENTS_BETWEEN: &str =
    "SELECT seq, payload FROM event WHERE stream = ?1 AND board = ?2 AND seq > ?3 AND seq <= ?4
    AND ts BETWEEN ?5 AND ?6 ORDER BY seq LIMIT ?7";
