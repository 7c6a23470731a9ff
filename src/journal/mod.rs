//! The journal: stores all events before any output publishes them, as long as the disk accepts writes.
//!
//! The journal is one SQLite file. Events that [`append`](Journal::append) has stored survive a power cut: the file is
//! in WAL mode and every commit waits for the disk. That wait is the cost of a commit (0.3 to 8 ms measured, more on SD
//! cards) and depends little on the number of events. The caller therefore appends in one call the events of all boards
//! that came during the last commit, and a thousand boards need no more commits than one. `cargo bench --bench journal`
//! has the figures.
//!
//! All calls block. This module never reads a clock.

mod backup;
mod error;
mod export;
mod game;
mod inputs;
mod payload;
mod recover;
mod run;
mod schema;
mod seqs;

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};

use kiebitz_game::events::Event;
use kiebitz_hardware::Timestamp;
use rusqlite::{
    Connection, ErrorCode, OpenFlags, OptionalExtension, Row, Statement, Transaction, TransactionBehavior,
    params,
};

use crate::progress::Progress;

pub use backup::{Backup, BackupError};
pub use error::JournalError;
pub use game::{BoardHistory, GameEntry};
pub use inputs::{Input, InputsFile};
pub use payload::{JournaledEvent, digest, digest_of};
pub use recover::Recovered;
pub use run::Run;
pub use seqs::{SeqFile, this_boot};

/// The file with the events of all boards. Unless stated otherwise, methods fail only if the file cannot be read or
/// written, or if an event that they decode is damaged or unknown.
///
/// ```
/// use kiebitz::journal::Journal;
/// # let directory = tempfile::tempdir()?;
/// let journal = Journal::open(&directory.path().join("journal.sqlite"))?;
/// assert_eq!(journal.last_seq("live", "board-1")?, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Journal {
    connection: Connection,
    path: PathBuf,
}

/// The events of one board that an output has not delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsent {
    /// The board's name.
    pub board: String,
    /// Seq of the last delivered event; 0 if none was.
    pub after: u64,
    /// Seq of the board's last event.
    pub last: u64,
}

impl Journal {
    /// Opens the journal at `path`. Creates the file and its directory if they do not exist.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be opened, is damaged, belongs to another program or was written by a newer kiebitz.
    /// After an error for which [`JournalError::is_damaged`] is true, the caller may [`put_aside`](Self::put_aside) the
    /// file and open a new one.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        // SQLite does not say why it cannot open a file; the operating system does.
        touch(path).map_err(|source| JournalError::Unopenable {
            path: path.to_owned(),
            source,
        })?;
        let mut connection = Connection::open(path).map_err(error::of(path))?;
        schema::prepare(&mut connection, path)?;
        Ok(Self {
            connection,
            path: path.to_owned(),
        })
    }

    /// Opens the journal read-only, even while a daemon writes to it. Creates and changes nothing.
    ///
    /// # Errors
    ///
    /// Fails if the file does not exist or cannot be read, is damaged, belongs to another program or was written by a
    /// newer kiebitz.
    pub fn open_to_read(path: &Path) -> Result<Self, JournalError> {
        let connection = to_read(path).map_err(|error| match std::fs::File::open(path) {
            // SQLite does not say why it cannot open a file. `File::open` is called only after the failure: closing the
            // file would release the locks that another journal of this process holds on it.
            Err(source) => JournalError::Unopenable {
                path: path.to_owned(),
                source,
            },
            Ok(_) => error::of(path)(error),
        })?;
        schema::check(&connection, path)?;
        Ok(Self {
            connection,
            path: path.to_owned(),
        })
    }

    /// Advances `progress` with the steps of all later work on this journal.
    ///
    /// # Errors
    ///
    /// Fails if SQLite rejects the progress handler.
    pub fn report_to(&mut self, progress: &Progress) -> Result<(), JournalError> {
        report(&mut self.connection, progress).map_err(error::of(&self.path))
    }

    /// Path of the write-ahead log that SQLite keeps beside an open journal.
    #[must_use]
    pub fn log_of(path: &Path) -> PathBuf {
        with_suffix(path, "-wal")
    }

    /// Renames a damaged journal and the files that SQLite keeps beside it. `now` becomes part of the new name, which
    /// is returned. No [`Journal`] may have the file open. The next journal created at `path`
    /// [`begins_after`](Self::begins_after) that time.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be renamed. A missing file is not an error.
    pub fn put_aside(path: &Path, now: Timestamp) -> io::Result<PathBuf> {
        let aside = with_suffix(path, &format!("{ASIDE}{}", now.as_micros()));
        for beside in ["", "-wal", "-shm"] {
            match std::fs::rename(with_suffix(path, beside), with_suffix(&aside, beside)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(aside)
    }

    /// Stores all events or, after an error, none of them. Stored events survive a power cut.
    ///
    /// # Errors
    ///
    /// Fails if the journal already has an event's seq, or the file cannot be written. The caller keeps the events and
    /// may append them again.
    pub fn append<'e>(&mut self, events: impl IntoIterator<Item = &'e Event>) -> Result<(), JournalError> {
        self.write(|transaction, path| {
            let mut insert = transaction.prepare(INSERT).map_err(error::of(path))?;
            for event in events {
                self::insert(&mut insert, path, event)?;
            }
            Ok(())
        })
    }

    /// Seq of the board's last event; 0 if it has none. Forgetting events does not change it.
    pub fn last_seq(&self, stream: &str, board: &str) -> Result<u64, JournalError> {
        let sql = "SELECT ifnull(max(seq), 0) FROM event WHERE stream = ?1 AND board = ?2";
        let last = self.connection.query_row(sql, [stream, board], |row| row.get(0));
        last.map_err(self.error())
    }

    /// The number after which boards that are new to this journal count: 0, unless a damaged journal was put aside
    /// before this one was created.
    ///
    /// In that case it is the time of the renaming in milliseconds since 1970. That is larger than any seq in the
    /// damaged journal, as a board has at most one event per millisecond.
    pub fn begins_after(&self) -> Result<u64, JournalError> {
        schema::begins_after(&self.connection).map_err(self.error())
    }

    /// The boards of a stream with the seq of their last event.
    pub fn boards(&self, stream: &str) -> Result<Vec<(String, u64)>, JournalError> {
        lasts(&self.connection, stream).map_err(self.error())
    }

    /// At most `limit` events of a board with a seq above `seq`, in order.
    pub fn events_after(
        &self,
        stream: &str,
        board: &str,
        seq: u64,
        limit: usize,
    ) -> Result<Vec<JournaledEvent>, JournalError> {
        let sql = "SELECT seq, payload FROM event WHERE stream = ?1 AND board = ?2 AND seq > ?3 ORDER BY seq LIMIT ?4";
        let mut select = self.connection.prepare(sql).map_err(self.error())?;
        let rows = select.query_map(params![stream, board, seq, limit], journaled);
        rows.and_then(Iterator::collect).map_err(self.error())
    }

    /// A board's last `board.connected`; `None` if it has none.
    pub fn last_connected(&self, stream: &str, board: &str) -> Result<Option<Event>, JournalError> {
        self.connected_before(stream, board, Timestamp::from_micros(i64::MAX))
    }

    /// A board's last `board.connected` up to the time `at`; `None` if it has none.
    pub fn connected_before(
        &self,
        stream: &str,
        board: &str,
        at: Timestamp,
    ) -> Result<Option<Event>, JournalError> {
        let sql =
            "SELECT seq, payload FROM event WHERE stream = ?1 AND board = ?2 AND type = 'board.connected'
            AND ts <= ?3 ORDER BY seq DESC LIMIT 1";
        let event = self
            .connection
            .query_row(sql, params![stream, board, at.as_micros()], journaled);
        let event = event.optional().map_err(self.error())?;
        event.map(|event| event.decoded(&self.path)).transpose()
    }

    /// Records up to which seq an output has delivered the events of some boards. Does not wait for the disk, so that
    /// it costs nothing; after a power cut, the output may deliver some events again.
    pub fn acknowledge<'b>(
        &mut self,
        output: &str,
        stream: &str,
        delivered: impl IntoIterator<Item = (&'b str, u64)>,
    ) -> Result<(), JournalError> {
        schema::synchronise(&self.connection, false).map_err(self.error())?;
        let done = self.write(|transaction, path| {
            for (board, seq) in delivered {
                let noted = transaction.execute(ACKNOWLEDGE, params![output, stream, board, seq]);
                noted.map_err(error::of(path))?;
            }
            register_output(transaction, output).map_err(error::of(path))
        });
        schema::synchronise(&self.connection, true).map_err(self.error())?;
        done.map(drop)
    }

    /// The boards whose events an output has not all delivered. An output that is new to the journal gets no history,
    /// only later events: it has nothing unsent.
    pub fn unsent(&mut self, output: &str, stream: &str) -> Result<Vec<Unsent>, JournalError> {
        self.write(|transaction, path| unsent(transaction, output, stream).map_err(error::of(path)))
    }

    /// Deletes a stream's events from before the time `before`, except those of a game that continued after it or is in
    /// play. The last event of every board stays, and with it the numbering. Returns the number of deleted events.
    ///
    /// Events that an output has not delivered yet are deleted as well.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read or written; in that case nothing is deleted.
    pub fn forget_before(&mut self, stream: &str, before: Timestamp) -> Result<usize, JournalError> {
        self.write(|transaction, path| forget_before(transaction, stream, before).map_err(error::of(path)))
    }

    /// Runs `work` in one transaction, which is rolled back after an error.
    fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>, &Path) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        let Self { connection, path } = self;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let transaction = transaction.map_err(error::of(path))?;
        let done = work(&transaction, path)?;
        transaction.commit().map_err(error::of(path))?;
        Ok(done)
    }

    fn error(&self) -> impl FnOnce(rusqlite::Error) -> JournalError {
        error::of(&self.path)
    }
}

/// Interval of progress reports, in instructions of SQLite's virtual machine.
const STEPS: i32 = 1_000;
/// Suffix of a damaged journal's name, followed by the time in microseconds since 1970.
const ASIDE: &str = ".damaged-";
const INSERT: &str =
    "INSERT INTO event (stream, board, seq, ts, game, type, payload) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
const INSERT_NEW: &str = "INSERT OR IGNORE INTO event (stream, board, seq, ts, game, type, payload) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
const ACKNOWLEDGE: &str = "INSERT INTO delivered (output, stream, board, seq) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT DO UPDATE SET seq = max(seq, excluded.seq)";
/// The boards of a stream with the seq of their last event. Steps from board to board along the primary key; a GROUP BY
/// would read every event.
const LAST_SEQS: &str = "WITH RECURSIVE board (name) AS (
        SELECT min(board) FROM event WHERE stream = ?1
        UNION ALL
        SELECT (SELECT min(board) FROM event WHERE stream = ?1 AND board > name) FROM board WHERE name IS NOT NULL
    )
    SELECT name, (SELECT max(seq) FROM event WHERE stream = ?1 AND board = name) FROM board WHERE name IS NOT NULL";

fn report(connection: &mut Connection, progress: &Progress) -> rusqlite::Result<()> {
    let progress = progress.clone();
    let advance = move || {
        progress.advance();
        // `false` lets the statement continue.
        false
    };
    connection.progress_handler(STEPS, Some(advance))
}

fn lasts(transaction: &Connection, stream: &str) -> rusqlite::Result<Vec<(String, u64)>> {
    let mut select = transaction.prepare(LAST_SEQS)?;
    let rows = select.query_map([stream], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

/// Inserts an event. Returns 1, or 0 if the statement ignores duplicates and the journal already has the seq.
fn insert(insert: &mut Statement<'_>, path: &Path, event: &Event) -> Result<usize, JournalError> {
    let Event {
        stream,
        board,
        seq,
        game,
        ..
    } = event;
    let (payload, kind) = payload::encoded(event)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
        .map_err(error::of(path))?;
    let row = params![stream, board, seq, event.ts.as_micros(), game, kind, payload];
    insert.execute(row).map_err(error::of_event(path, event))
}

fn journaled(row: &Row<'_>) -> rusqlite::Result<JournaledEvent> {
    Ok(JournaledEvent {
        seq: row.get(0)?,
        payload: row.get(1)?,
    })
}

/// Registers an output. Returns whether it is new.
fn register_output(transaction: &Transaction<'_>, output: &str) -> rusqlite::Result<bool> {
    let new = transaction.execute("INSERT OR IGNORE INTO output (name) VALUES (?1)", [output])?;
    Ok(new > 0)
}

fn unsent(transaction: &Transaction<'_>, output: &str, stream: &str) -> rusqlite::Result<Vec<Unsent>> {
    let new = register_output(transaction, output)?;
    let mut delivered =
        transaction.prepare("SELECT seq FROM delivered WHERE output = ?1 AND stream = ?2 AND board = ?3")?;
    let mut unsent = Vec::new();
    for (board, last) in lasts(transaction, stream)? {
        if new {
            transaction.execute(ACKNOWLEDGE, params![output, stream, board, last])?;
            continue;
        }
        let after = delivered.query_row([output, stream, &board], |row| row.get(0));
        let after = after.optional()?.unwrap_or(0);
        if after < last {
            unsent.push(Unsent { board, after, last });
        }
    }
    Ok(unsent)
}

fn forget_before(transaction: &Transaction<'_>, stream: &str, before: Timestamp) -> rusqlite::Result<usize> {
    let mut first_young = transaction.prepare(
        "SELECT seq FROM event WHERE stream = ?1 AND board = ?2 AND ts >= ?3 ORDER BY seq LIMIT 1",
    )?;
    let mut delete =
        transaction.prepare("DELETE FROM event WHERE stream = ?1 AND board = ?2 AND seq < ?3")?;
    let mut forgotten = 0;
    for (board, last) in lasts(transaction, stream)? {
        let young = first_young.query_row(params![stream, board, before.as_micros()], |row| row.get(0));
        let keep = young.optional()?.unwrap_or(last);
        let keep = game::whole_games(transaction, stream, &board, keep)?;
        forgotten += delete.execute(params![stream, board, keep])?;
    }
    run::forget_before(transaction, before)?;
    Ok(forgotten)
}

/// Opens a connection that cannot write. If no process has the journal open, and this user may not create the files
/// that readers and writers share, the journal is opened as an immutable file.
fn to_read(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let shared = Connection::open_with_flags(path, flags)
        .and_then(|connection| schema::header(&connection).map(|_| connection));
    match shared {
        // SQLite reports either the read-only directory or the file that it cannot create in it.
        Err(error)
            if matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly)
            ) && !has_writer(path) =>
        {
            let uri = format!("file:{}?immutable=1", quoted(path));
            Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI)
        }
        shared => shared,
    }
}

fn has_writer(path: &Path) -> bool {
    with_suffix(path, "-wal").exists()
}

/// Escapes a path for a URI.
fn quoted(path: &Path) -> String {
    let path = path.to_string_lossy();
    path.bytes().fold(String::new(), |mut uri, byte| {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'.' | b'_') {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
        uri
    })
}

fn touch(path: &Path) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        crate::folder::create(directory)?;
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    options.open(path).map(drop)
}

/// Time at which the last journal of this name was put aside, in milliseconds since 1970; 0 if none was.
fn put_aside_at(path: &Path) -> u64 {
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
        return 0;
    };
    let begins = format!("{}{ASIDE}", name.to_string_lossy());
    let files = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let times = files.filter_map(|file| {
        let micros: u64 = file.file_name().to_str()?.strip_prefix(&begins)?.parse().ok()?;
        Some(micros / 1000)
    });
    times.max().unwrap_or(0)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests;
