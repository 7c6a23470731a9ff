//! Backups of the journal, made while the daemon may be writing to it.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use bytesize::ByteSize;
use rusqlite::{Connection, ErrorCode};
use thiserror::Error;

use super::{Journal, JournalError, with_suffix};

/// A finished backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backup {
    /// Number of events.
    pub events: u64,
    /// Number of boards.
    pub boards: u64,
    /// Size of the file in bytes.
    pub bytes: u64,
}

/// A failed backup. Existing files are unchanged.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BackupError {
    /// The file exists and must not be replaced.
    #[error("{} already exists", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file is the journal itself or one of the files beside it.
    #[error("{} is the journal itself: write its backup to another file", path.display())]
    Itself {
        /// The file.
        path: PathBuf,
    },
    /// The path is a directory.
    #[error("{} is a directory: name a file in it", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
    },
    /// The file cannot be written.
    #[error("cannot write the backup {}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The disk is full.
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
    /// SQLite cannot copy the journal to the file.
    #[error("cannot copy the journal to {}", path.display())]
    Uncopied {
        /// The file.
        path: PathBuf,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
    /// The written file is not a valid journal.
    #[error(
        "the backup was incomplete ({detail}) and has been removed: if the journal is damaged, keep the older \
         backups; if the disk of {} fails, try another disk",
        path.display()
    )]
    NotWhole {
        /// The file.
        path: PathBuf,
        /// The defect.
        detail: String,
    },
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl Journal {
    /// Writes a copy of the whole journal, as of now, to the file at `path` and checks every event in it. Fails if the
    /// file exists, unless `replace` is set.
    ///
    /// A process that writes to the journal is not blocked. The copy has a temporary name beside `path` until it is
    /// complete and on the disk; the temporary file stays if the process is killed.
    ///
    /// # Errors
    ///
    /// Fails if the journal cannot be read or the file cannot be written; in that case there is no new file.
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
        let (events, boards) = check_and_count(&partial.path).map_err(|error| not_whole(path, error))?;
        // The file may have been created in the meantime.
        self.refuse(path, replace)?;
        fs::rename(&partial.path, path).map_err(unwritable)?;
        sync_directory(path).map_err(unwritable)?;
        Ok(Backup {
            events,
            boards,
            bytes,
        })
    }

    /// Copies the whole journal, which may be written to meanwhile, into a file that is empty or does not exist.
    pub fn copy_to(&self, path: &Path) -> Result<(), BackupError> {
        self.copy(path).map_err(|source| self.uncopied(path, source))
    }

    fn copy(&self, path: &Path) -> rusqlite::Result<()> {
        // SQLite's backup API would start over after every write by another connection, and would copy deleted events
        // that are still in free pages. VACUUM reads one snapshot, blocks nobody in WAL mode, and writes a single file.
        let name = path.to_str();
        let name = name.ok_or_else(|| rusqlite::Error::InvalidPath(path.to_owned()))?;
        self.connection.execute("VACUUM INTO ?1", [name]).map(drop)
    }

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

    fn refuse(&self, path: &Path, replace: bool) -> Result<(), BackupError> {
        let path = path.to_owned();
        let Ok(found) = path.canonicalize() else {
            // A dangling symbolic link exists, too.
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
    /// Creates the empty file beside `path`, with the journal's read and write permissions.
    fn create(path: &Path, journal: &Path) -> Result<Self, BackupError> {
        let mut name = path.as_os_str().to_owned();
        name.push(OsString::from(format!(".partial-{}", std::process::id())));
        let partial = PathBuf::from(name);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        restrict(&mut options, journal);
        // A file left by an earlier process with the same process ID.
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
            // Fails after the file was renamed, which is fine.
            let _ = fs::remove_file(with_suffix(&self.path, suffix));
        }
    }
}

#[cfg(unix)]
fn restrict(options: &mut OpenOptions, journal: &Path) {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};

    /// Read and write permission for the owner: the owner must be able to read and overwrite a backup.
    const OWNER: u32 = 0o600;
    const ALL: u32 = 0o666;
    let mode = fs::metadata(journal).map_or(OWNER, |journal| journal.permissions().mode());
    options.mode((mode & ALL) | OWNER);
}

#[cfg(not(unix))]
fn restrict(_: &mut OpenOptions, _: &Path) {}

/// The error for an incomplete copy. Omits the temporary name of the copy, which means nothing to the user.
fn not_whole(path: &Path, error: JournalError) -> BackupError {
    BackupError::NotWhole {
        path: path.to_owned(),
        detail: match error {
            JournalError::Damaged { detail, .. } => detail,
            other => other.to_string(),
        },
    }
}

/// Checks a copy and returns its numbers of events and boards.
fn check_and_count(path: &Path) -> Result<(u64, u64), JournalError> {
    let copy = Journal::open_to_read(path)?;
    copy.check(true)?;
    numbers(&copy.connection).map_err(copy.error())
}

fn numbers(copy: &Connection) -> rusqlite::Result<(u64, u64)> {
    let sql = "SELECT count(*), count(DISTINCT board) FROM event";
    copy.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Waits until the file's new name is on the disk.
fn sync_directory(path: &Path) -> io::Result<()> {
    let directory = path
        .parent()
        .filter(|directory| !directory.as_os_str().is_empty());
    let directory = directory.unwrap_or_else(|| Path::new("."));
    if cfg!(unix) {
        match File::open(directory)?.sync_all() {
            // Some file systems cannot sync a directory.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            done => done,
        }
    } else {
        Ok(())
    }
}
