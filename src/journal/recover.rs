//! Finds damage in a journal, and carries over the readable events of a damaged journal into a new one.

use core::ops::ControlFlow;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use kiebitz_game::events::{Event, LIVE_STREAM};
use kiebitz_hardware::Timestamp;
use rusqlite::{Connection, Row, Rows, params};

use super::Journal;
use super::error::{self, JournalError};
use super::payload::JournaledEvent;
use crate::progress::Progress;

/// A new journal in the place of an unusable one.
#[derive(Debug)]
pub struct Recovered {
    /// The new journal.
    pub journal: Journal,
    /// Path to which the unusable journal was moved.
    pub aside: PathBuf,
    /// Number of events carried over.
    pub events: usize,
}

/// Primary key of an event: stream, board and seq.
type Key = (String, String, u64);

struct StoredRow {
    key: Key,
    ts: i64,
    game: Option<String>,
    kind: String,
    payload: String,
}

/// Upper bound for the events that are inserted in one transaction.
const BATCH: usize = 5000;
/// Number of consecutive missing seqs after which the search for a board's events ends.
const MAX_ABSENT: u64 = 5000;

impl Journal {
    /// Puts an unusable journal aside and creates a new one with all readable events. `now` becomes part of the old
    /// file's new name. `lasts` has the last seqs of boards as known from elsewhere; they limit the search. `progress`
    /// advances with the steps of the work.
    ///
    /// # Errors
    ///
    /// Fails if the old file cannot be renamed or the new one cannot be created.
    pub fn recover(
        path: &Path,
        now: Timestamp,
        lasts: &BTreeMap<String, u64>,
        progress: &Progress,
    ) -> Result<Recovered, JournalError> {
        let unopenable = |source: io::Error| JournalError::Unopenable {
            path: path.to_owned(),
            source,
        };
        let aside = Self::put_aside(path, now).map_err(unopenable)?;
        let mut journal = Self::open(path)?;
        journal.report_to(progress)?;
        // Opened read-write, as SQLite may have to recover the log beside the file.
        let events = match Connection::open(&aside).and_then(|damaged| reporting(damaged, progress)) {
            Ok(damaged) => journal.carry_over(&damaged, lasts)?,
            Err(_) => 0,
        };
        Ok(Recovered {
            journal,
            aside,
            events,
        })
    }

    /// Checks the structure of the file and, if `events` is set, that every event is readable and agrees with its
    /// columns. Takes as long as reading the whole file.
    ///
    /// # Errors
    ///
    /// [`JournalError::Damaged`] if a check fails; another error if the file cannot be read.
    pub fn check(&self, events: bool) -> Result<(), JournalError> {
        let found: String = self
            .connection
            .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
            .map_err(self.error())?;
        if found != "ok" {
            return Err(error::damaged(self.path.clone(), &found));
        }
        if !events {
            return Ok(());
        }
        let mut select = self.connection.prepare(FORWARD).map_err(self.error())?;
        let mut rows = select.query(params!["", "", 0]).map_err(self.error())?;
        while let Some(row) = rows.next().map_err(self.error())? {
            let stored_row = StoredRow::of(row).map_err(self.error())?;
            if !stored_row.is_sound() {
                let (_, board, seq) = &stored_row.key;
                let detail = format!("event {seq} of {board} has changed");
                return Err(error::damaged(self.path.clone(), &detail));
            }
        }
        Ok(())
    }

    /// Copies all readable events and small tables from a damaged journal.
    fn carry_over(
        &mut self,
        damaged: &Connection,
        lasts: &BTreeMap<String, u64>,
    ) -> Result<usize, JournalError> {
        let mut copy = RecoveryCopy {
            journal: self,
            batch: Vec::new(),
            events: 0,
            lasts: lasts.clone(),
        };
        let (streams_end, first) = (String::from('\u{10ffff}'), (String::new(), String::new(), 0));
        let done = copy.scan(damaged, FORWARD, &first)?;
        if !done {
            copy.scan(damaged, BACKWARD, &(streams_end, String::new(), 0))?;
            copy.probe(damaged)?;
        }
        copy.store()?;
        let events = copy.events;
        self.carry_over_small(damaged)?;
        Ok(events)
    }

    fn carry_over_small(&mut self, damaged: &Connection) -> Result<(), JournalError> {
        self.write(|transaction, _| {
            for (table, columns) in SMALL_TABLES {
                let select = format!("SELECT {columns} FROM {table}");
                let places = (1..=columns.split(',').count()).map(|nth| format!("?{nth}"));
                let places: Vec<String> = places.collect();
                let insert = format!(
                    "INSERT OR REPLACE INTO {table} ({columns}) VALUES ({})",
                    places.join(", ")
                );
                let Ok(mut select) = damaged.prepare(&select) else {
                    continue;
                };
                let count = places.len();
                let Ok(mut rows) = select.query([]) else { continue };
                while let Ok(Some(row)) = rows.next() {
                    let values: rusqlite::Result<Vec<rusqlite::types::Value>> =
                        (0..count).map(|nth| row.get(nth)).collect();
                    // A value that does not fit the column was damaged.
                    if let Ok(values) = values {
                        let _ = transaction.execute(&insert, rusqlite::params_from_iter(values));
                    }
                }
            }
            Ok(())
        })
    }
}

/// Makes the steps of a connection advance `progress`.
fn reporting(mut connection: Connection, progress: &Progress) -> rusqlite::Result<Connection> {
    super::report(&mut connection, progress)?;
    Ok(connection)
}

struct RecoveryCopy<'j> {
    journal: &'j mut Journal,
    batch: Vec<StoredRow>,
    events: usize,
    /// Highest known seq of each board.
    lasts: BTreeMap<String, u64>,
}

impl RecoveryCopy<'_> {
    /// Copies all sound events in one direction, up to the first unreadable row. Returns whether all rows were
    /// readable.
    fn scan(&mut self, damaged: &Connection, sql: &str, from: &Key) -> Result<bool, JournalError> {
        let Ok(mut select) = damaged.prepare(sql) else {
            return Ok(false);
        };
        let Ok(mut rows) = select.query(params![from.0, from.1, from.2]) else {
            return Ok(false);
        };
        loop {
            match next(&mut rows) {
                Some(ControlFlow::Continue(Some(stored_row))) => self.add(stored_row)?,
                Some(ControlFlow::Continue(None)) => {}
                Some(ControlFlow::Break(())) => return Ok(false),
                None => return Ok(true),
            }
        }
    }

    /// Looks up every seq of every known board one by one, which still finds events around a damaged page.
    fn probe(&mut self, damaged: &Connection) -> Result<(), JournalError> {
        let Ok(mut one) = damaged.prepare(ONE_EVENT) else {
            return Ok(());
        };
        for (board, last) in self.lasts.clone() {
            self.store()?;
            let known = self.journal.seqs(LIVE_STREAM, &board)?;
            let mut absent = 0;
            // Downwards, as forgotten events are at the beginning.
            for seq in (1..=last).rev() {
                if known.binary_search(&seq).is_ok() {
                    absent = 0;
                    continue;
                }
                let found = one.query_row(params![LIVE_STREAM, board, seq], StoredRow::of);
                match found.ok().filter(StoredRow::is_sound) {
                    Some(stored_row) => {
                        self.add(stored_row)?;
                        absent = 0;
                    }
                    None => absent += 1,
                }
                if absent >= MAX_ABSENT {
                    break;
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, stored_row: StoredRow) -> Result<(), JournalError> {
        let (_, board, seq) = &stored_row.key;
        let last = self.lasts.entry(board.clone()).or_default();
        *last = (*last).max(*seq);
        self.batch.push(stored_row);
        if self.batch.len() >= BATCH {
            self.store()?;
        }
        Ok(())
    }

    fn store(&mut self) -> Result<(), JournalError> {
        let batch = core::mem::take(&mut self.batch);
        self.events += self.journal.write(|transaction, path| {
            let mut insert = transaction.prepare(super::INSERT_NEW).map_err(error::of(path))?;
            let mut stored = 0;
            for stored_row in &batch {
                let (stream, board, seq) = &stored_row.key;
                let row = params![
                    stream,
                    board,
                    seq,
                    stored_row.ts,
                    stored_row.game,
                    stored_row.kind,
                    stored_row.payload
                ];
                stored += insert.execute(row).map_err(error::of(path))?;
            }
            Ok(stored)
        })?;
        Ok(())
    }
}

/// The next row: `Continue` with the event if it is sound, `Break` if the row cannot be read, `None` at the end.
fn next(rows: &mut Rows<'_>) -> Option<ControlFlow<(), Option<StoredRow>>> {
    match rows.next() {
        Ok(Some(row)) => {
            let stored_row = StoredRow::of(row).ok().filter(StoredRow::is_sound);
            Some(ControlFlow::Continue(stored_row))
        }
        Ok(None) => None,
        Err(_) => Some(ControlFlow::Break(())),
    }
}

impl StoredRow {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            key: (row.get(0)?, row.get(1)?, row.get(2)?),
            ts: row.get(3)?,
            game: row.get(4)?,
            kind: row.get(5)?,
            payload: row.get(6)?,
        })
    }

    /// Whether the event can be decoded and agrees with its columns. An event of a newer kiebitz with unknown words is
    /// sound.
    fn is_sound(&self) -> bool {
        let (stream, board, seq) = &self.key;
        let journaled = JournaledEvent {
            seq: *seq,
            payload: self.payload.clone(),
        };
        match journaled.decoded(Path::new("")) {
            Ok(event) => {
                (&event.stream, &event.board, event.seq) == (stream, board, *seq)
                    && (event.ts.as_micros(), &event.game) == (self.ts, &self.game)
            }
            Err(JournalError::NewerEvent { .. }) => true,
            Err(_) => false,
        }
    }
}

impl Journal {
    fn seqs(&self, stream: &str, board: &str) -> Result<Vec<u64>, JournalError> {
        let sql = "SELECT seq FROM event WHERE stream = ?1 AND board = ?2 ORDER BY seq";
        let mut select = self.connection.prepare(sql).map_err(self.error())?;
        let rows = select.query_map([stream, board], |row| row.get(0));
        rows.and_then(Iterator::collect).map_err(self.error())
    }

    /// Stores those events whose seqs the journal does not have. Returns their number.
    pub fn fill<'e>(&mut self, events: impl IntoIterator<Item = &'e Event>) -> Result<usize, JournalError> {
        self.write(|transaction, path| {
            let mut insert = transaction.prepare(super::INSERT_NEW).map_err(error::of(path))?;
            let mut filled = 0;
            for event in events {
                filled += super::insert(&mut insert, path, event)?;
            }
            Ok(filled)
        })
    }
}

/// The other tables and their columns.
const SMALL_TABLES: [(&str, &str); 3] = [
    ("output", "name"),
    ("delivered", "output, stream, board, seq"),
    ("run", "number, began, config, whole, numbered"),
];
const FORWARD: &str = "SELECT stream, board, seq, ts, game, type, payload FROM event
    WHERE (stream, board, seq) > (?1, ?2, ?3) ORDER BY stream, board, seq";
const BACKWARD: &str = "SELECT stream, board, seq, ts, game, type, payload FROM event
    WHERE (stream, board, seq) < (?1, ?2, ?3) ORDER BY stream DESC, board DESC, seq DESC";
const ONE_EVENT: &str = "SELECT stream, board, seq, ts, game, type, payload FROM event
    WHERE stream = ?1 AND board = ?2 AND seq = ?3";
