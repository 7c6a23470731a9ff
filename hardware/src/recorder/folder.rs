//! The folder of the captures.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::RecordedDay;
use super::file::DayFile;
use crate::capture::{CaptureError, CaptureReader};

#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
}

impl Folder {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the capture of a port and day, new or continued. A file with `max_size` bytes or more is not continued.
    /// Errors are returned with their path.
    ///
    /// The folder is not synced after a file is created, because syncing the file also stores its name on all reliable
    /// file systems.
    pub(super) fn open(
        &self,
        day: &str,
        port: &str,
        max_size: u64,
    ) -> Result<DayFile<File>, (PathBuf, io::Error)> {
        fs::create_dir_all(&self.path).map_err(|error| (self.path.clone(), error))?;
        // Continue after the highest number, because files with lower numbers may have been removed to keep the budget.
        let last = self.numbers(day, port).last().copied().unwrap_or(1);
        for number in last..=MAX_FILES {
            let path = self.path.join(file_name(day, port, number));
            match open(day, &path, max_size) {
                Ok(Some(file)) => return Ok(file),
                Ok(None) => {}
                Err(error) => return Err((path, error)),
            }
        }
        Err((self.path.clone(), io::ErrorKind::AlreadyExists.into()))
    }

    pub(super) fn recorded_day(&self, day: &str, port: &str) -> RecordedDay {
        let numbers = self.numbers(day, port).into_iter();
        RecordedDay {
            name: file_name(day, port, 1),
            files: numbers
                .map(|number| self.path.join(file_name(day, port, number)))
                .collect(),
        }
    }

    /// Returns the numbers of a port's captures of a day, in ascending order.
    fn numbers(&self, day: &str, port: &str) -> Vec<u32> {
        let first = file_name(day, port, 1);
        let prefix = first.strip_suffix(EXTENSION).unwrap_or(&first);
        let number = |name: &str| match name.strip_suffix(EXTENSION)?.strip_prefix(prefix)? {
            "" => Some(1),
            rest => rest.strip_prefix(NUMBER_SEPARATOR)?.parse().ok(),
        };
        let mut numbers: Vec<u32> = self
            .files()
            .filter_map(|(name, _)| number(&name))
            .filter(|number| (1..=MAX_FILES).contains(number))
            .collect();
        numbers.sort_unstable();
        numbers
    }

    /// Returns all captures since that day, ordered by day.
    pub(super) fn since(&self, day: &str) -> Vec<PathBuf> {
        let mut names: Vec<String> = self
            .files()
            .map(|(name, _)| name)
            .filter(|name| is_capture(name) && &name[..DATE_LENGTH] >= day)
            .collect();
        names.sort_by_cached_key(|name| sort_key(name));
        names.into_iter().map(|name| self.path.join(name)).collect()
    }

    fn files(&self) -> impl Iterator<Item = (String, fs::Metadata)> {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        entries
            .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.metadata().ok()?)))
            .filter(|(_, metadata)| metadata.is_file())
    }

    /// Removes the oldest captures, except the `written` files, until the total size is at most `budget` bytes. Returns
    /// the total size.
    ///
    /// Files that cannot be removed are included in the size; the next call tries again.
    pub(super) fn keep_to_budget(&self, budget: u64, written: &HashSet<&Path>) -> u64 {
        let mut captures: Vec<_> = self
            .files()
            .filter(|(name, _)| is_capture(name))
            .map(|(name, metadata)| (sort_key(&name), self.path.join(name), metadata.len()))
            .collect();
        let mut size = captures.iter().map(|(_, _, size)| size).sum();
        if size > budget {
            captures.sort_unstable();
            for (_, path, bytes) in captures {
                if size <= budget {
                    break;
                }
                if !written.contains(path.as_path()) && remove(&path).is_ok() {
                    size -= bytes;
                }
            }
        }
        size
    }
}

/// Opens a capture, new or continued. Returns `None` if the file is damaged, is not a capture, is in use, or has
/// `max_size` bytes or more.
fn open(day: &str, path: &Path, max_size: u64) -> io::Result<Option<DayFile<File>>> {
    let file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .open(path)?;
    if is_locked(&file) || file.metadata()?.len() >= max_size {
        return Ok(None);
    }
    let Some(length) = whole_length(&file)? else {
        return Ok(None);
    };
    file.set_len(length)?;
    DayFile::begin(day, path.to_owned(), file, length).map(Some)
}

/// Tries to lock the file. Returns whether another program or another port of this program holds the lock.
fn is_locked(file: &File) -> bool {
    // Some file systems do not support locks. This only matters if two programs use the same folder.
    matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

/// Returns the end of the last complete block of a capture in bytes, or `None` if the capture cannot be continued.
fn whole_length(file: &File) -> io::Result<Option<u64>> {
    let size = file.metadata()?.len();
    if size == 0 {
        return Ok(Some(0));
    }
    let truncated = CaptureReader::new(file).and_then(|mut reader| {
        while reader.next_packet()?.is_some() {}
        Ok(reader.truncated())
    });
    match truncated {
        Ok(truncated) => Ok(Some(truncated.unwrap_or(size))),
        Err(CaptureError::Io(error)) => Err(error),
        Err(_) => Ok(None),
    }
}

fn remove(path: &Path) -> io::Result<()> {
    if is_locked(&File::open(path)?) {
        return Err(io::ErrorKind::ResourceBusy.into());
    }
    fs::remove_file(path)
}

/// Returns the file name of the capture of a port and day with this number. The name is valid on every file system.
fn file_name(day: &str, port: &str, number: u32) -> String {
    let safe = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
    let short = port.strip_prefix("/dev/").unwrap_or(port).trim_start_matches('/');
    let letters = short.chars().take(MAX_NAME_LETTERS);
    let mut port: String = letters
        .map(|letter| if safe(letter) { letter } else { '-' })
        .collect();
    if port.is_empty() {
        port.push_str("port");
    }
    match number {
        1 => format!("{day}-{port}{EXTENSION}"),
        _ => format!("{day}-{port}{NUMBER_SEPARATOR}{number}{EXTENSION}"),
    }
}

/// Returns the key for ordering captures by age: day and number. Within a day, files with lower numbers count as older,
/// regardless of the port.
fn sort_key(name: &str) -> (String, u32) {
    let (day, rest) = name.split_at_checked(DATE_LENGTH).unwrap_or((name, ""));
    let stem = rest.strip_suffix(EXTENSION).unwrap_or(rest);
    let number = stem
        .rsplit_once(NUMBER_SEPARATOR)
        .and_then(|(_, number)| number.parse().ok());
    (day.to_owned(), number.unwrap_or(1))
}

/// Returns whether a file has the name of a capture of the recorder, for example `2026-11-21-ttyUSB0.pcapng`.
fn is_capture(name: &str) -> bool {
    let Some(rest) = name.strip_suffix(EXTENSION) else {
        return false;
    };
    let pattern = |(position, byte): (usize, u8)| match position {
        4 | 7 | 10 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    rest.len() > 11 && rest.bytes().take(11).enumerate().all(pattern)
}

/// Maximum number of captures of one port on one day.
const MAX_FILES: u32 = 9999;
/// Length of a date such as `2026-11-21`.
const DATE_LENGTH: usize = 10;
/// Character before the number in the names of all but the first capture of a day. [`file_name`] replaces it in the
/// names of ports.
const NUMBER_SEPARATOR: char = '+';
const EXTENSION: &str = ".pcapng";

/// Maximum number of characters of the port's name in a file name.
const MAX_NAME_LETTERS: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_safe() {
        let name = |port: &str| file_name("2026-11-21", port, 1);
        assert_eq!(name("ttyUSB0"), "2026-11-21-ttyUSB0.pcapng");
        assert_eq!(name("../../etc/passwd"), "2026-11-21-..-..-etc-passwd.pcapng");
        assert_eq!(name("Brett 1\n\u{265e}"), "2026-11-21-Brett-1--.pcapng");
        assert_eq!(name(""), "2026-11-21-port.pcapng");
        assert_eq!(name(&"x".repeat(1000)).len(), 10 + 1 + 100 + 7);
        assert_eq!(name("/dev/ttyUSB0"), "2026-11-21-ttyUSB0.pcapng");
        assert_eq!(
            name("/dev/serial/by-id/usb-1"),
            "2026-11-21-serial-by-id-usb-1.pcapng"
        );
        assert_eq!(name("/tmp/hall/bus"), "2026-11-21-tmp-hall-bus.pcapng");
        assert_eq!(
            file_name("2026-11-21", "ttyUSB0", 2),
            "2026-11-21-ttyUSB0+2.pcapng"
        );
    }

    #[test]
    fn only_names_of_the_recorder_are_captures() {
        for name in ["2026-11-21-ttyUSB0.pcapng", "1999-01-01-x+2.pcapng"] {
            assert!(is_capture(name), "{name}");
        }
        for name in [
            "final.pcapng",
            "2026-11-21.pcapng",
            "2026-11-21-.pcapng",
            "2026-11-21-ttyUSB0.pcap",
            "2026-11-2x-ttyUSB0.pcapng",
            "",
        ] {
            assert!(!is_capture(name), "{name}");
        }
    }

    #[test]
    fn the_oldest_files_are_removed_except_files_in_use() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::new(temporary.path().to_owned());
        let make = |name: &str| {
            let path = temporary.path().join(name);
            fs::write(&path, [0; 100]).unwrap();
            path
        };
        let written = make("2026-11-18-ttyUSB1.pcapng");
        let oldest = make("2026-11-19-ttyUSB0.pcapng");
        let newer = make("2026-11-20-ttyUSB0.pcapng");
        let users_file = make("2026-final.pcapng");
        let locked = make("2026-11-17-ttyUSB9.pcapng");
        let lock = File::open(&locked).unwrap();
        lock.try_lock().unwrap();

        let in_use = HashSet::from([written.as_path()]);
        assert_eq!(folder.keep_to_budget(400, &in_use), 400);
        assert_eq!(folder.keep_to_budget(350, &in_use), 300);
        assert!(!oldest.exists());
        assert_eq!(folder.keep_to_budget(0, &in_use), 200);
        assert!(!newer.exists());
        assert!(written.exists() && users_file.exists() && locked.exists());
    }

    #[test]
    fn a_nonexistent_folder_has_no_captures() {
        let folder = Folder::new("/nowhere/at/all".into());
        assert_eq!(folder.keep_to_budget(0, &HashSet::new()), 0);
    }
}
