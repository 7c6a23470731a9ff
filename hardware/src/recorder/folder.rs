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

    /// The capture of a port and day, begun or continued; with an error goes the path that it is about. A file that has
    /// `part` bytes or more is not continued.
    ///
    /// The folder need not be synchronized for a new file: a file system where synchronizing a file does not store its
    /// name as well could not be relied on.
    pub(super) fn open(
        &self,
        day: &str,
        port: &str,
        part: u64,
    ) -> Result<DayFile<File>, (PathBuf, io::Error)> {
        fs::create_dir_all(&self.path).map_err(|error| (self.path.clone(), error))?;
        // Those before it may have been removed to keep to the budget; the order of the numbers is that of time.
        let last = self.numbers(day, port).last().copied().unwrap_or(1);
        for number in last..=MAX_FILES {
            let path = self.path.join(file_name(day, port, number));
            match open(day, &path, part) {
                Ok(Some(file)) => return Ok(file),
                Ok(None) => {}
                Err(error) => return Err((path, error)),
            }
        }
        Err((self.path.clone(), io::ErrorKind::AlreadyExists.into()))
    }

    /// What is there of a port and day.
    pub(super) fn recorded(&self, day: &str, port: &str) -> RecordedDay {
        let numbers = self.numbers(day, port).into_iter();
        RecordedDay {
            name: file_name(day, port, 1),
            files: numbers
                .map(|number| self.path.join(file_name(day, port, number)))
                .collect(),
        }
    }

    /// The numbers of a port's captures of a day, in their order.
    fn numbers(&self, day: &str, port: &str) -> Vec<u32> {
        let first = file_name(day, port, 1);
        let begins = first.strip_suffix(EXTENSION).unwrap_or(&first);
        let number = |name: &str| match name.strip_suffix(EXTENSION)?.strip_prefix(begins)? {
            "" => Some(1),
            rest => rest.strip_prefix(NUMBERED)?.parse().ok(),
        };
        let mut numbers: Vec<u32> = self
            .files()
            .filter_map(|(name, _)| number(&name))
            .filter(|number| (1..=MAX_FILES).contains(number))
            .collect();
        numbers.sort_unstable();
        numbers
    }

    /// All captures from that day on, day by day.
    pub(super) fn since(&self, day: &str) -> Vec<PathBuf> {
        let mut names: Vec<String> = self
            .files()
            .map(|(name, _)| name)
            .filter(|name| is_capture(name) && &name[..DATE] >= day)
            .collect();
        names.sort_by_cached_key(|name| order(name));
        names.into_iter().map(|name| self.path.join(name)).collect()
    }

    fn files(&self) -> impl Iterator<Item = (String, fs::Metadata)> {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        entries
            .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.metadata().ok()?)))
            .filter(|(_, about)| about.is_file())
    }

    /// Removes the oldest captures that are not being written until all have at most `budget` bytes, and returns
    /// how many they have.
    ///
    /// What cannot be read or removed is left and counts as far as its size is known: the next time may be better.
    pub(super) fn keep_to_budget(&self, budget: u64, written: &HashSet<&Path>) -> u64 {
        let mut captures: Vec<_> = self
            .files()
            .filter(|(name, _)| is_capture(name))
            .map(|(name, about)| (order(&name), self.path.join(name), about.len()))
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

/// Opens a capture to be continued, or a new one; `None` when it is damaged, is something else, is in use, or has `part`
/// bytes already.
fn open(day: &str, path: &Path, part: u64) -> io::Result<Option<DayFile<File>>> {
    let file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .open(path)?;
    if is_locked(&file) || file.metadata()?.len() >= part {
        return Ok(None);
    }
    let Some(length) = whole_length(&file)? else {
        return Ok(None);
    };
    file.set_len(length)?;
    DayFile::begin(day, path.to_owned(), file, length).map(Some)
}

/// Whether another program, or another port of this one, writes the file; if not, it is this one's from now on.
fn is_locked(file: &File) -> bool {
    // Some file systems know no locks. It takes two programs on one folder to miss them.
    matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

/// Where the last whole block of a capture ends, in bytes; `None` when it cannot be continued.
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

/// The name of a port's capture, with its number on that day. It is safe on every file system.
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
        _ => format!("{day}-{port}{NUMBERED}{number}{EXTENSION}"),
    }
}

/// By what captures are ordered: the day, and the number on it. Of one day, the first of all ports are the oldest.
fn order(name: &str) -> (String, u32) {
    let (day, rest) = name.split_at_checked(DATE).unwrap_or((name, ""));
    let stem = rest.strip_suffix(EXTENSION).unwrap_or(rest);
    let number = stem
        .rsplit_once(NUMBERED)
        .and_then(|(_, number)| number.parse().ok());
    (day.to_owned(), number.unwrap_or(1))
}

/// Whether a file has the name of a capture made here: `2026-11-21-ttyUSB0.pcapng`.
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

/// The most captures of one port on one day. If so many are damaged, something else is wrong.
const MAX_FILES: u32 = 9999;
/// How many letters a date has.
const DATE: usize = 10;
/// Before the number of all captures of a day but the first; no port's name has it.
const NUMBERED: char = '+';
const EXTENSION: &str = ".pcapng";

/// The most letters of a port's name in that of its file.
const MAX_NAME_LETTERS: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe() {
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
    fn only_captures_made_here_count() {
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
    fn the_oldest_go_first_and_the_written_never() {
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
        let of_the_user = make("2026-final.pcapng");
        let locked = make("2026-11-17-ttyUSB9.pcapng");
        let lock = File::open(&locked).unwrap();
        lock.try_lock().unwrap();

        let in_use = HashSet::from([written.as_path()]);
        assert_eq!(folder.keep_to_budget(400, &in_use), 400);
        assert_eq!(folder.keep_to_budget(350, &in_use), 300);
        assert!(!oldest.exists());
        assert_eq!(folder.keep_to_budget(0, &in_use), 200);
        assert!(!newer.exists());
        assert!(written.exists() && of_the_user.exists() && locked.exists());
    }

    #[test]
    fn a_folder_that_is_not_there_holds_nothing() {
        let folder = Folder::new("/nowhere/at/all".into());
        assert_eq!(folder.keep_to_budget(0, &HashSet::new()), 0);
    }
}
