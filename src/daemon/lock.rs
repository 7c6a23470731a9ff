//! The lock that reserves a state directory for one daemon.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use kiebitz_game::events::time_text;
use kiebitz_hardware::Timestamp;
use rustix::fs::{FlockOperation, flock};
use thiserror::Error;

/// The lock of a state directory. The operating system releases it when the process ends, even after a crash.
#[derive(Debug)]
pub(crate) struct StateLock {
    directory: PathBuf,
    /// `None` if the disk does not support locks. The daemon then runs without one.
    file: Mutex<Option<File>>,
}

#[derive(Debug, Error)]
pub(crate) enum LockError {
    #[error(
        "another kiebitz is using {} ({holder}): stop it, or set another state_directory in the configuration \
         of this one",
        directory.display()
    )]
    Taken {
        directory: PathBuf,
        /// The process that has the lock, and its start time.
        holder: String,
    },
    #[error("cannot lock {}", path.display())]
    Unusable { path: PathBuf, source: io::Error },
}

impl StateLock {
    /// Locks a directory, which is created if it does not exist. The lock file gets the time `now`, which other
    /// processes report. If the disk does not support locks, the result holds none. Fails if another process has the
    /// lock.
    pub(super) fn take(directory: &Path, now: Timestamp) -> Result<Self, LockError> {
        let file = match lock(directory, now) {
            Err(error @ LockError::Unusable { .. }) => {
                tracing::error!("{:#}", anyhow::Error::from(error));
                None
            }
            locked => Some(locked?),
        };
        Ok(Self {
            directory: directory.to_owned(),
            file: Mutex::new(file),
        })
    }

    /// Creates a lock that is not held yet, for a disk that does not answer.
    pub(super) fn none(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            file: Mutex::new(None),
        }
    }

    /// Takes over a lock that the disk has granted late.
    pub(super) fn become_locked(&self, acquired: Self) {
        let acquired = acquired.file.into_inner().unwrap_or_else(PoisonError::into_inner);
        *self.file.lock().unwrap_or_else(PoisonError::into_inner) = acquired;
    }

    /// Locks a directory. Fails if another process has the lock, or if the disk does not support locks.
    pub(crate) fn require(directory: &Path, now: Timestamp) -> Result<Self, LockError> {
        Ok(Self {
            directory: directory.to_owned(),
            file: Mutex::new(Some(lock(directory, now)?)),
        })
    }

    /// Creates and locks the file again if it was removed.
    pub(super) fn ensure_exists(&self, now: Timestamp) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let path = path(&self.directory);
        if file.as_ref().is_some_and(|file| !super::is_file_of(file, &path)) {
            match lock(&self.directory, now) {
                Ok(locked) => *file = Some(locked),
                Err(error) => {
                    tracing::error!("{:#}", anyhow::Error::from(error));
                    *file = None;
                }
            }
        }
    }
}

fn path(directory: &Path) -> PathBuf {
    directory.join("lock")
}

fn lock(directory: &Path, now: Timestamp) -> Result<File, LockError> {
    let path = path(directory);
    let unusable = |source: io::Error| LockError::Unusable {
        path: path.clone(),
        source,
    };
    // A disk that accepts no new files may still have the file of the last start.
    let mut file = match create(directory, &path) {
        Ok(file) => file,
        Err(error) => File::open(&path).map_err(|_| unusable(error))?,
    };
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(rustix::io::Errno::WOULDBLOCK) => {
            return Err(LockError::Taken {
                directory: directory.to_owned(),
                holder: read_holder(&mut file),
            });
        }
        Err(error) => return Err(unusable(error.into())),
    }
    // The text only informs people: the lock is valid even if it cannot be written.
    let _ = write_holder(&mut file, now);
    Ok(file)
}

fn create(directory: &Path, path: &Path) -> io::Result<File> {
    crate::folder::create(directory)?;
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    options.open(path)
}

fn write_holder(file: &mut File, now: Timestamp) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "process {}, since {}", std::process::id(), time_text(now))
}

fn read_holder(file: &mut File) -> String {
    let mut text = String::new();
    match file.read_to_string(&mut text) {
        Ok(_) if !text.trim().is_empty() => text.trim().to_owned(),
        _ => "unknown process".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_795_269_600_000_000);

    #[test]
    fn a_second_daemon_is_refused_with_the_holder_until_the_lock_is_released() {
        let place = tempfile::tempdir().expect("a directory");
        let directory = place.path().join("state");
        let first = StateLock::take(&directory, NOW).expect("nobody has it");
        let refused = StateLock::take(&directory, NOW)
            .expect_err("it is taken")
            .to_string();
        let process = format!("process {}, since 2026-11-21", std::process::id());
        assert!(refused.contains(&process), "{refused}");
        std::fs::remove_file(directory.join("lock")).expect("a file");
        first.ensure_exists(NOW);
        StateLock::take(&directory, NOW).expect_err("it was locked again");
        StateLock::require(&directory, NOW).expect_err("whoever asks");
        drop(first);
        StateLock::take(&directory, NOW).expect("it was given back");
    }

    #[test]
    fn only_the_daemon_runs_without_a_lock() {
        let place = tempfile::tempdir().expect("a directory");
        let no_directory = place.path().join("file");
        std::fs::write(&no_directory, "").expect("room");
        StateLock::take(&no_directory, NOW).expect("boards are watched all the same");
        StateLock::require(&no_directory, NOW).expect_err("there is none");
    }
}
