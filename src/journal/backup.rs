//! A copy of the journal in another file, while the daemon may be writing it.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use bytesize::ByteSize;
use rusqlite::{Connection, ErrorCode};
use thiserror::Error;

use super::{Journal, JournalError, with_suffix};

/// A copy that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backup {
    /// How many events it has.
    pub events: u64,
    /// Of how many boards.
    pub boards: u64,
    /// Its size in bytes.
    pub bytes: u64,
}

/// A copy that was not made. What was there before is as it was.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BackupError {
    /// There is a file of that name, and it was not to be replaced.
    #[error("{} already exists", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file is the journal itself, or belongs to it.
    #[error("{} is the journal itself: write its backup to another file", path.display())]
    Itself {
        /// The file.
        path: PathBuf,
    },
    /// That is no name of a file.
    #[error("{} is a directory: name a file in it", path.display())]
    Directory {
        /// What was named.
        path: PathBuf,
    },
    /// The file cannot be written.
    #[error("cannot write the backup {}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// There is no room for it.
    #[error(
        "the disk is full: the backup {} needs about {}; remove files, or write it to another disk",
        path.display(),
        ByteSize::b(*needed).display().si()
    )]
    Full {
        /// The file.
        path: PathBuf,
        /// The journal's size in bytes.
        needed: u64,
    },
    /// The journal cannot be copied to the file.
    #[error("cannot copy the journal to {}", path.display())]
    Uncopied {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: rusqlite::Error,
    },
    /// What was written is not what a journal must be.
    #[error(
        "the backup was incomplete ({detail}) and has been removed: if the journal is damaged, keep the older \
         backups; if the disk of {} fails, try another disk",
        path.display()
    )]
    NotWhole {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        detail: String,
    },
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl Journal {
    /// Writes a copy of the whole journal, as it is at this moment, to a file of its own, and checks every event in it. Where
    /// there is a file of that name, it stays unless it is to be `replaced`.
    ///
    /// Whoever writes the journal is not held up. The copy gets its name when it is whole and on the disk; until then
    /// it is beside it under another one, which is left behind if the process is killed.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read, or the file cannot be written; then there is no new file.
    pub fn back_up(&self, path: &Path, replace: bool) -> Result<Backup, BackupError> {
        self.refuse(path, replace)?;
        let partial = Partial::create(path, &self.path)?;
        self.copy(&partial.path)
            .map_err(|source| self.uncopied(path, source))?;
        let unwritable = |source: io::Error| BackupError::Unwritable {
            path: path.to_owned(),
            source,
        };
        let file = File::open(&partial.path).map_err(unwritable)?;
        file.sync_all().map_err(unwritable)?;
        let bytes = file.metadata().map_err(unwritable)?.len();
        let (events, boards) = counted(&partial.path).map_err(|error| not_whole(path, error))?;
        // It may have come meanwhile.
        self.refuse(path, replace)?;
        fs::rename(&partial.path, path).map_err(unwritable)?;
        sync_directory(path).map_err(unwritable)?;
        Ok(Backup {
            events,
            boards,
            bytes,
        })
    }

    /// Makes a copy of the whole journal in another file, which is not there or empty, while the journal may be written.
    ///
    /// # Errors
    ///
    /// When one of the two fails.
    pub fn copy_to(&self, path: &Path) -> Result<(), BackupError> {
        self.copy(path).map_err(|source| self.uncopied(path, source))
    }

    fn copy(&self, path: &Path) -> rusqlite::Result<()> {
        // SQLite's backup API would begin anew whenever somebody has written meanwhile, and would hand on what was
        // forgotten and is still in the pages. This reads one state of the journal from beginning to end, which in
        // WAL mode holds nobody up, and leaves a file without others beside it.
        let name = path.to_str();
        let name = name.ok_or_else(|| rusqlite::Error::InvalidPath(path.to_owned()))?;
        self.connection.execute("VACUUM INTO ?1", [name]).map(drop)
    }

    /// The error for a backup of that name.
    fn uncopied(&self, path: &Path, source: rusqlite::Error) -> BackupError {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::DatabaseBusy) => {
                BackupError::Journal(self.error()(source))
            }
            Some(ErrorCode::DiskFull) => BackupError::Full {
                path,
                needed: fs::metadata(&self.path).map_or(0, |journal| journal.len()),
            },
            _ => BackupError::Uncopied { path, source },
        }
    }

    /// Refuses names under which no backup may be written.
    fn refuse(&self, path: &Path, replace: bool) -> Result<(), BackupError> {
        let path = path.to_owned();
        let Ok(found) = path.canonicalize() else {
            // A link to nothing is something, too.
            return match path.symlink_metadata() {
                Ok(_) if !replace => Err(BackupError::Exists { path }),
                _ => Ok(()),
            };
        };
        if found.is_dir() {
            return Err(BackupError::Directory { path });
        }
        let own = ["", "-wal", "-shm"].map(|suffix| with_suffix(&self.path, suffix).canonicalize().ok());
        if own.contains(&Some(found)) {
            return Err(BackupError::Itself { path });
        }
        if replace {
            Ok(())
        } else {
            Err(BackupError::Exists { path })
        }
    }
}

/// A file that is removed unless it is renamed.
struct Partial {
    path: PathBuf,
}

impl Partial {
    /// Makes the empty file beside the one of that name. Only those may read it who may read the journal.
    fn create(path: &Path, journal: &Path) -> Result<Self, BackupError> {
        let mut name = path.as_os_str().to_owned();
        name.push(OsString::from(format!(".partial-{}", std::process::id())));
        let partial = PathBuf::from(name);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        restrict(&mut options, journal);
        // One of an earlier process with the same number.
        let _ = fs::remove_file(&partial);
        let created = options.open(&partial).map_err(|source| BackupError::Unwritable {
            path: path.to_owned(),
            source,
        });
        created.map(|_| Self { path: partial })
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        for suffix in ["", "-journal"] {
            // After it was renamed there is none.
            let _ = fs::remove_file(with_suffix(&self.path, suffix));
        }
    }
}

#[cfg(unix)]
fn restrict(options: &mut OpenOptions, journal: &Path) {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};

    /// Read and write for the owner, whom a backup must be able to read and write for; nobody may execute it.
    const OWNER: u32 = 0o600;
    const ALL: u32 = 0o666;
    let mode = fs::metadata(journal).map_or(OWNER, |journal| journal.permissions().mode());
    options.mode((mode & ALL) | OWNER);
}

#[cfg(not(unix))]
fn restrict(_: &mut OpenOptions, _: &Path) {}

/// The error for a copy that is not whole. How it was called when it was looked at says nothing to anybody.
fn not_whole(path: &Path, error: JournalError) -> BackupError {
    BackupError::NotWhole {
        path: path.to_owned(),
        detail: match error {
            JournalError::Damaged { detail, .. } => detail,
            other => other.to_string(),
        },
    }
}

/// The number of events and boards in a copy that is whole.
fn counted(path: &Path) -> Result<(u64, u64), JournalError> {
    let copy = Journal::open_to_read(path)?;
    copy.check(true)?;
    numbers(&copy.connection).map_err(copy.error())
}

fn numbers(copy: &Connection) -> rusqlite::Result<(u64, u64)> {
    let sql = "SELECT count(*), count(DISTINCT board) FROM event";
    copy.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Waits until the disk knows the file's new name.
fn sync_directory(path: &Path) -> io::Result<()> {
    let directory = path
        .parent()
        .filter(|directory| !directory.as_os_str().is_empty());
    let directory = directory.unwrap_or_else(|| Path::new("."));
    if cfg!(unix) {
        match File::open(directory)?.sync_all() {
            // Some file systems cannot do that for a directory.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            done => done,
        }
    } else {
        Ok(())
    }
}
