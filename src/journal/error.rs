//! What can be wrong with a journal, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use kiebitz_game::events::Event;
use rusqlite::ErrorCode;
use thiserror::Error;

/// A journal that cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The file cannot be opened or created.
    #[error("cannot open the journal {}", path.display())]
    Unopenable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The file is damaged.
    #[error(
        "the journal {} is damaged ({detail}): move it away, together with the files beside it whose names \
         begin the same, and kiebitz begins a new one",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is damaged.
        detail: String,
    },
    /// The file is a database of another program.
    #[error("{} is a database, but not a journal of kiebitz: check `state_directory`", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file was written by a newer kiebitz.
    #[error(
        "the journal {} was written by a newer kiebitz (format {found}; this one knows {known}): install the \
         newer one again, or move the journal away",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i32,
        /// The newest format that this kiebitz knows.
        known: i32,
    },
    /// An event has a word that this kiebitz does not know: a newer kiebitz wrote it.
    #[error(
        "the journal {} has an event that this kiebitz cannot read (event {seq}, {kind}: {detail}): install the \
         newer one that wrote it again, or move the journal away",
        path.display()
    )]
    NewerEvent {
        /// The file.
        path: PathBuf,
        /// The event's number in its board's stream.
        seq: u64,
        /// Its type, as in "move.amended".
        kind: String,
        /// What is not known, as in "unknown reason of a correction \"swapped\"".
        detail: String,
    },
    /// The disk is full.
    #[error("the disk is full: the journal {} stores no events until there is room; remove files", path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// The file may not be written.
    #[error("no permission to write the journal {}: check its owner, and that the disk is not mounted read-only", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// Another program holds the lock on the file and does not release it.
    #[error("another program has locked the journal {}: check whether a second kiebitz is running", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// An event has a number that was given before.
    #[error(
        "event {seq} of {board} in the stream {stream:?} is already in the journal: check whether a second \
         kiebitz is running"
    )]
    Duplicate {
        /// The stream.
        stream: String,
        /// The board.
        board: String,
        /// The number.
        seq: u64,
    },
    /// SQLite fails in another way.
    #[error("cannot use the journal {}", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// How.
        source: rusqlite::Error,
    },
}

impl JournalError {
    /// Whether the file itself is at fault, so that nothing is gained by trying again.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        matches!(self, Self::Damaged { .. })
    }
}

/// What an error of SQLite means for a journal.
pub(super) fn of(path: &Path) -> impl FnOnce(rusqlite::Error) -> JournalError {
    let path = path.to_owned();
    move |source| match source.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => damaged(path, &source),
        Some(ErrorCode::DiskFull) => JournalError::Full { path },
        Some(ErrorCode::ReadOnly) => JournalError::ReadOnly { path },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => JournalError::Busy { path },
        // Tables that have other columns, or other things in them, than kiebitz puts there.
        None | Some(ErrorCode::Unknown) => damaged(path, &source),
        // A disk that became read-only while the file was open fails to write, SQLite says.
        Some(_) if is_read_only(&path) => JournalError::ReadOnly { path },
        Some(_) => JournalError::Sqlite { path, source },
    }
}

/// Asks without opening the file: closing it would give back the locks that SQLite has on it.
#[cfg(unix)]
fn is_read_only(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK) == Err(rustix::io::Errno::ROFS)
}

#[cfg(not(unix))]
fn is_read_only(_: &Path) -> bool {
    false
}

/// The same for an event that is being kept.
pub(super) fn of_event(path: &Path, event: &Event) -> impl FnOnce(rusqlite::Error) -> JournalError {
    move |source| match source.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation) => JournalError::Duplicate {
            stream: event.stream.clone(),
            board: event.board.clone(),
            seq: event.seq,
        },
        _ => of(path)(source),
    }
}

pub(super) fn damaged(path: PathBuf, detail: &impl ToString) -> JournalError {
    JournalError::Damaged {
        path,
        detail: detail.to_string(),
    }
}
