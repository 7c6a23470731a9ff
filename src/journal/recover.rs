//! A journal that is damaged: what is wrong is found, and what can be read is carried over into a new one.

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

/// A journal in the place of one that could not be used.
#[derive(Debug)]
pub struct Recovered {
    /// The new one.
    pub journal: Journal,
    /// Where the other one is now.
    pub aside: PathBuf,
    /// How many events were carried over.
    pub events: usize,
}

/// Where an event stands: stream, board and number.
type Key = (String, String, u64);

/// A row of the table of events.
struct Kept {
    key: Key,
    ts: i64,
    game: Option<String>,
    kind: String,
    payload: String,
}

/// At most this many events are carried over in one transaction.
const BATCH: usize = 5000;
/// After so many numbers in a row that are not there, a board has no more events.
const MAX_ABSENT: u64 = 5000;

impl Journal {
    /// Moves a journal that cannot be used out of the way, and makes a new one with all of its events that can be read.
    /// `now` becomes part of its name. `lasts` are the last numbers that boards are known to have had, from elsewhere:
    /// they say how far to look. `progress` counts the steps of the work.
    ///
    /// # Errors
    ///
    /// When it cannot be renamed, or the new one cannot be made.
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
        // The copy that is read is one: looking at it may write to it.
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

    /// Looks whether the file is whole: its structure and, if `events`, that every event can be read and is where it
    /// belongs. It takes as long as reading the file.
    ///
    /// # Errors
    ///
    /// [`JournalError::Damaged`] when it is not; or when it cannot be read.
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
            let kept = Kept::of(row).map_err(self.error())?;
            if !kept.is_sound() {
                let (_, board, seq) = &kept.key;
                let detail = format!("event {seq} of {board} has changed");
                return Err(error::damaged(self.path.clone(), &detail));
            }
        }
        Ok(())
    }

    /// Copies what can be read from another journal. What is damaged there is left out.
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

    /// The small tables, as far as they can be read.
    fn carry_over_small(&mut self, damaged: &Connection) -> Result<(), JournalError> {
        self.write(|transaction, _| {
            for (table, columns) in SMALL {
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
                    // What its column does not take is not what was there.
                    if let Ok(values) = values {
                        let _ = transaction.execute(&insert, rusqlite::params_from_iter(values));
                    }
                }
            }
            Ok(())
        })
    }
}

/// The same connection, whose steps count as progress.
fn reporting(mut connection: Connection, progress: &Progress) -> rusqlite::Result<Connection> {
    super::report(&mut connection, progress)?;
    Ok(connection)
}

/// Events on their way into a new journal.
struct RecoveryCopy<'j> {
    journal: &'j mut Journal,
    batch: Vec<Kept>,
    events: usize,
    /// The last number known of each board.
    lasts: BTreeMap<String, u64>,
}

impl RecoveryCopy<'_> {
    /// Takes in all events in one direction, up to the first that cannot be read. Returns whether there was none such.
    fn scan(&mut self, damaged: &Connection, sql: &str, from: &Key) -> Result<bool, JournalError> {
        let Ok(mut select) = damaged.prepare(sql) else {
            return Ok(false);
        };
        let Ok(mut rows) = select.query(params![from.0, from.1, from.2]) else {
            return Ok(false);
        };
        loop {
            match next(&mut rows) {
                Some(ControlFlow::Continue(Some(kept))) => self.take(kept)?,
                Some(ControlFlow::Continue(None)) => {}
                Some(ControlFlow::Break(())) => return Ok(false),
                None => return Ok(true),
            }
        }
    }

    /// Asks for every number of every board that is known: around a damaged page each can still be found.
    fn probe(&mut self, damaged: &Connection) -> Result<(), JournalError> {
        let Ok(mut one) = damaged.prepare(ONE) else {
            return Ok(());
        };
        for (board, last) in self.lasts.clone() {
            self.store()?;
            let known = self.journal.seqs(LIVE_STREAM, &board)?;
            let mut absent = 0;
            // What was forgotten is at the beginning.
            for seq in (1..=last).rev() {
                if known.binary_search(&seq).is_ok() {
                    absent = 0;
                    continue;
                }
                let found = one.query_row(params![LIVE_STREAM, board, seq], Kept::of);
                match found.ok().filter(Kept::is_sound) {
                    Some(kept) => {
                        self.take(kept)?;
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

    fn take(&mut self, kept: Kept) -> Result<(), JournalError> {
        let (_, board, seq) = &kept.key;
        let last = self.lasts.entry(board.clone()).or_default();
        *last = (*last).max(*seq);
        self.batch.push(kept);
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
            for kept in &batch {
                let (stream, board, seq) = &kept.key;
                let row = params![stream, board, seq, kept.ts, kept.game, kept.kind, kept.payload];
                stored += insert.execute(row).map_err(error::of(path))?;
            }
            Ok(stored)
        })?;
        Ok(())
    }
}

/// The next row: a sound event, one that is not sound, or, to stop at, one that cannot be read. `None`: there is no more.
fn next(rows: &mut Rows<'_>) -> Option<ControlFlow<(), Option<Kept>>> {
    match rows.next() {
        Ok(Some(row)) => {
            let kept = Kept::of(row).ok().filter(Kept::is_sound);
            Some(ControlFlow::Continue(kept))
        }
        Ok(None) => None,
        Err(_) => Some(ControlFlow::Break(())),
    }
}

impl Kept {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            key: (row.get(0)?, row.get(1)?, row.get(2)?),
            ts: row.get(3)?,
            game: row.get(4)?,
            kind: row.get(5)?,
            payload: row.get(6)?,
        })
    }

    /// Whether the event can be read and says of itself what its columns say. One of a newer kiebitz may have words that
    /// are not known here.
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
    /// The numbers of a board's events.
    fn seqs(&self, stream: &str, board: &str) -> Result<Vec<u64>, JournalError> {
        let sql = "SELECT seq FROM event WHERE stream = ?1 AND board = ?2 ORDER BY seq";
        let mut select = self.connection.prepare(sql).map_err(self.error())?;
        let rows = select.query_map([stream, board], |row| row.get(0));
        rows.and_then(Iterator::collect).map_err(self.error())
    }

    /// Keeps those of these events whose numbers are not there. Returns how many.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
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

/// The tables besides that of the events, and their columns.
const SMALL: [(&str, &str); 3] = [
    ("output", "name"),
    ("delivered", "output, stream, board, seq"),
    ("run", "number, began, config, whole, numbered"),
];
const FORWARD: &str = "SELECT stream, board, seq, ts, game, type, payload FROM event
    WHERE (stream, board, seq) > (?1, ?2, ?3) ORDER BY stream, board, seq";
const BACKWARD: &str = "SELECT stream, board, seq, ts, game, type, payload FROM event
    WHERE (stream, board, seq) < (?1, ?2, ?3) ORDER BY stream DESC, board DESC, seq DESC";
const ONE: &str = "SELECT stream, board, seq, ts, game, type, payload FROM event
    WHERE stream = ?1 AND board = ?2 AND seq = ?3";
