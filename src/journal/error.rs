//! Errors of a journal, each with its remedy.

use std::io;
use std::path::{Path, PathBuf};

use kiebitz_game::events::Event;
use rusqlite::ErrorCode;
use thiserror::Error;

/// An error of a journal.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The file cannot be opened or created.
    #[error("cannot open the journal {}", path.display())]
    Unopenable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
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
        /// The damage that was found.
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
        /// The file's format.
        found: i32,
        /// The newest format that this kiebitz knows.
        known: i32,
    },
    /// An event contains a word that this kiebitz does not know, because a newer kiebitz wrote it.
    #[error(
        "the journal {} has an event that this kiebitz cannot read (event {seq}, {kind}: {detail}): install the \
         newer one that wrote it again, or move the journal away",
        path.display()
    )]
    NewerEvent {
        /// The file.
        path: PathBuf,
        /// The event's seq.
        seq: u64,
        /// The event's type, such as "move.amended".
        kind: String,
        /// The unknown word, as in "unknown reason of a correction \"swapped\"".
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
    /// The journal already has an event with this seq.
    #[error(
        "event {seq} of {board} in the stream {stream:?} is already in the journal: check whether a second \
         kiebitz is running"
    )]
    Duplicate {
        /// The stream.
        stream: String,
        /// The board.
        board: String,
        /// The event's seq.
        seq: u64,
    },
    /// Any other error of SQLite.
    #[error("cannot use the journal {}", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
}

impl JournalError {
    /// Whether the file itself is damaged, so that a retry cannot succeed.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        matches!(self, Self::Damaged { .. })
    }
}

/// Converts an error of SQLite into an error of the journal at `path`.
pub(super) fn of(path: &Path) -> impl FnOnce(rusqlite::Error) -> JournalError {
    let path = path.to_owned();
    move |source| match source.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => damaged(path, &source),
        Some(ErrorCode::DiskFull) => JournalError::Full { path },
        Some(ErrorCode::ReadOnly) => JournalError::ReadOnly { path },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => JournalError::Busy { path },
        // The tables have other columns or contents than kiebitz gives them.
        None | Some(ErrorCode::Unknown) => damaged(path, &source),
        // SQLite reports a plain write error if a disk became read-only while the file was open.
        Some(_) if is_read_only(&path) => JournalError::ReadOnly { path },
        Some(_) => JournalError::Sqlite { path, source },
    }
}

/// Whether the file system is read-only. Does not open the file: closing it would release SQLite's locks.
#[cfg(unix)]
fn is_read_only(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK) == Err(rustix::io::Errno::ROFS)
}

#[cfg(not(unix))]
fn is_read_only(_: &Path) -> bool {
    false
}

/// Converts an error of SQLite that occurred while storing `event`.
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
