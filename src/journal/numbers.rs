//! The numbers that events have been given, kept beside the journal: a journal that was damaged, deleted, or cut short
//! does not know them any more.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A small file with the last number of every board.
///
/// It consists of records of 256 bytes, each of which is written in one piece: what a process has written outlives it, and
/// a power cut leaves the record as it was before or as it is after. After every commit of the journal it is written
/// without waiting for the disk, for the journal has the same.
///
/// Every record reserves numbers in advance. While the journal takes no events they are published all the same, with
/// numbers of these, and the first record says so: if the program ends before the journal has them, nobody can know how
/// many were given, and counting goes on after those that were reserved. The same holds after a power cut: a disk that
/// had failed before it could not take that note, and some disks lose what they said they had. So the first record names
/// the computer's start in which it was written, until the program ends in order.
#[derive(Debug)]
pub struct NumbersFile {
    file: File,
    path: PathBuf,
    records: BTreeMap<String, Given>,
    unkept: bool,
    boot: String,
}

/// An identifier of the computer's present start; empty where there is none.
#[must_use]
pub fn this_boot() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    boot.map(|boot| boot.trim().to_owned()).unwrap_or_default()
}

/// The numbers of a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Given {
    /// The place of its record in the file, from 1.
    place: u64,
    /// The last number that the journal has, or has had.
    last: u64,
    /// Numbers up to this one may have been given.
    reserved: u64,
}

/// In bytes. No sector of a disk is smaller.
const RECORD: usize = 256;
const FIRST: &str = "kiebitz numbers 1";
/// So many numbers are reserved: a board has some thousand events a day.
const RESERVE: u64 = 100_000;

impl NumbersFile {
    /// Opens the file in this [start of the computer](this_boot), and makes it where there is none.
    ///
    /// # Errors
    ///
    /// When it cannot be opened, read or written.
    pub fn open(path: &Path, boot: &str) -> io::Result<Self> {
        let (records, unkept) = match read(path, Some(boot)) {
            Ok(known) => known,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Default::default(),
            Err(error) => return Err(error),
        };
        // Written anew under another name, so that a power cut meanwhile leaves the one or the other.
        let new = path.with_extension("new");
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&new)?;
        file.write_all(&first_record(unkept, boot))?;
        let mut numbered = BTreeMap::new();
        for (place, (board, (last, reserved))) in (1..).zip(records) {
            let given = Given {
                place,
                last,
                reserved,
            };
            file.write_all(&given.record(&board))?;
            numbered.insert(board, given);
        }
        file.sync_all()?;
        std::fs::rename(&new, path)?;
        Ok(Self {
            file,
            path: path.to_owned(),
            records: numbered,
            unkept,
            boot: boot.to_owned(),
        })
    }

    /// What [`lasts`](Self::lasts) of a file says, without touching it. Without `boot` it is taken to be of the computer's
    /// present start.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn lasts_in(path: &Path, boot: Option<&str>) -> io::Result<BTreeMap<String, u64>> {
        let (records, unkept) = read(path, boot)?;
        let last = |(last, reserved)| if unkept { reserved } else { last };
        Ok(records
            .into_iter()
            .map(|(board, given)| (board, last(given)))
            .collect())
    }

    /// The number after which each board goes on: the last one that the file knows of or, if events were published that
    /// the journal may never have got, the last one that was reserved.
    #[must_use]
    pub fn lasts(&self) -> BTreeMap<String, u64> {
        let last = |given: &Given| if self.unkept { given.reserved } else { given.last };
        let all = self.records.iter();
        all.map(|(board, given)| (board.clone(), last(given))).collect()
    }

    /// Whether events were published that the journal may never have got.
    #[must_use]
    pub fn is_unkept(&self) -> bool {
        self.unkept
    }

    /// Whether the file is still where it was made.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.path.exists()
    }

    /// Notes the last numbers of boards; lower ones than are known count for nothing.
    ///
    /// # Errors
    ///
    /// When they cannot be written.
    pub fn note<'b>(&mut self, lasts: impl IntoIterator<Item = (&'b str, u64)>) -> io::Result<()> {
        let mut reserves = false;
        for (board, last) in lasts {
            let places = self.records.len() as u64;
            let given = self.records.entry(board.to_owned()).or_insert(Given {
                place: places + 1,
                last: 0,
                reserved: 0,
            });
            if given.last >= last && given.reserved > 0 {
                continue;
            }
            given.last = given.last.max(last);
            if given.last + RESERVE / 2 > given.reserved {
                given.reserved = given.last + RESERVE;
                reserves = true;
            }
            let (record, place) = (given.record(board), given.place);
            self.write(place, &record)?;
        }
        if reserves {
            self.file.sync_data()?;
        }
        Ok(())
    }

    /// Notes whether events are published that the journal does not have.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn mark_unkept(&mut self, unkept: bool) -> io::Result<()> {
        if self.unkept != unkept {
            self.write(0, &first_record(unkept, &self.boot))?;
            self.unkept = unkept;
            self.file.sync_data()?;
        }
        Ok(())
    }

    /// The program ends, and no number will be given before it begins again: a later start of the computer is not one
    /// after a power cut.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn mark_ended(&mut self) -> io::Result<()> {
        self.boot.clear();
        self.write(0, &first_record(self.unkept, ""))?;
        self.file.sync_data()
    }

    fn write(&mut self, place: u64, record: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(place * RECORD as u64))?;
        self.file.write_all(record)
    }
}

impl Given {
    /// The last number stands there twice: a record that was torn or damaged does not agree with itself.
    fn record(&self, board: &str) -> Vec<u8> {
        let Self { last, reserved, .. } = self;
        record(&format!("{last} {reserved} {last} {board}"))
    }
}

fn first_record(unkept: bool, boot: &str) -> Vec<u8> {
    record(&format!(
        "{FIRST} {} {boot}",
        if unkept { "unkept" } else { "kept" }
    ))
}

/// Whether the first record says that numbers may have been given which nobody noted.
fn is_unkept(first: &str, boot: Option<&str>) -> bool {
    // Where it cannot be read, the worst is believed.
    let Some(state) = first.strip_prefix(FIRST) else {
        return true;
    };
    let mut words = state.split_whitespace();
    let kept = words.next() == Some("kept");
    let other_boot = words
        .next()
        .is_some_and(|then| boot.is_some_and(|now| now != then));
    !kept || other_boot
}

/// Text as a line that fills a record.
fn record(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(RECORD - 1, b' ');
    bytes.push(b'\n');
    bytes
}

/// Last and reserved number of every board, and whether events were published that the journal does not have. Records
/// that make no sense are left out.
type Known = (BTreeMap<String, (u64, u64)>, bool);

fn read(path: &Path, boot: Option<&str>) -> io::Result<Known> {
    let mut bytes = Vec::new();
    File::open(path)?.read_to_end(&mut bytes)?;
    let mut texts = bytes
        .chunks_exact(RECORD)
        .map(|record| String::from_utf8_lossy(record).trim_end().to_owned());
    let first = texts.next().unwrap_or_default();
    let mut known = BTreeMap::new();
    for text in texts {
        let mut fields = text.splitn(4, ' ');
        let mut number = || fields.next()?.parse::<u64>().ok();
        let (Some(last), Some(reserved), Some(again)) = (number(), number(), number()) else {
            continue;
        };
        if let Some(board) = fields.next()
            && last == again
            && reserved >= last
        {
            known.insert(board.to_owned(), (last, reserved));
        }
    }
    Ok((known, !bytes.is_empty() && is_unkept(&first, boot)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOOT: &str = "5e2c";

    fn lasts(path: &Path) -> Vec<(String, u64)> {
        NumbersFile::open(path, BOOT)
            .expect("a file")
            .lasts()
            .into_iter()
            .collect()
    }

    fn named(numbers: &[(&str, u64)]) -> Vec<(String, u64)> {
        numbers
            .iter()
            .map(|(board, last)| ((*board).to_owned(), *last))
            .collect()
    }

    #[test]
    fn numbers_are_known_when_the_journal_is_gone() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("numbers");
        let mut numbers = NumbersFile::open(&path, BOOT).expect("a file");
        assert!(numbers.lasts().is_empty());
        numbers.note([("board 1", 7), ("b", 3)]).expect("room");
        numbers.note([("b", 9), ("c", 1)]).expect("room");
        numbers.note([("b", 4)]).expect("room");
        assert_eq!(lasts(&path), named(&[("b", 9), ("board 1", 7), ("c", 1)]));
        // Again, with the records in another order.
        assert_eq!(lasts(&path), named(&[("b", 9), ("board 1", 7), ("c", 1)]));
        assert_eq!(std::fs::metadata(&path).expect("a file").len(), 4 * RECORD as u64);
    }

    #[test]
    fn what_was_published_and_not_kept_counts_as_given() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("numbers");
        let mut numbers = NumbersFile::open(&path, BOOT).expect("a file");
        numbers.note([("b", 9)]).expect("room");
        numbers.mark_unkept(true).expect("room");
        assert_eq!(lasts(&path), named(&[("b", 9 + RESERVE)]));
        assert!(NumbersFile::open(&path, BOOT).expect("a file").is_unkept());
        let mut numbers = NumbersFile::open(&path, BOOT).expect("a file");
        numbers.mark_unkept(false).expect("room");
        assert_eq!(lasts(&path), named(&[("b", 9)]));
        // New ones are reserved long before the old ones are used up.
        let mut numbers = NumbersFile::open(&path, BOOT).expect("a file");
        numbers.note([("b", 9 + RESERVE)]).expect("room");
        numbers.mark_unkept(true).expect("room");
        assert_eq!(lasts(&path), named(&[("b", 9 + 2 * RESERVE)]));
    }

    #[test]
    fn numbers_of_a_start_that_was_cut_off_count_as_given() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("numbers");
        let mut numbers = NumbersFile::open(&path, BOOT).expect("a file");
        numbers.note([("b", 9)]).expect("room");
        let killed = NumbersFile::lasts_in(&path, Some(BOOT)).expect("a file");
        assert_eq!(killed["b"], 9, "what a process has written outlives it");
        let later = NumbersFile::lasts_in(&path, Some("5e2d")).expect("a file");
        assert_eq!(
            later["b"],
            9 + RESERVE,
            "nobody knows what the disk had not taken"
        );
        numbers.mark_ended().expect("room");
        let ended = NumbersFile::open(&path, "5e2d").expect("a file");
        assert_eq!(ended.lasts()["b"], 9);
        assert!(!ended.is_unkept());
    }

    #[test]
    fn damage_takes_a_record_at_most_and_never_lowers_a_number() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("numbers");
        let mut numbers = NumbersFile::open(&path, BOOT).expect("a file");
        let given = [("b", 812), ("c", 4711)];
        numbers.note(given).expect("room");
        let whole = std::fs::read(&path).expect("a file");
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x04;
            std::fs::write(&path, &damaged).expect("written");
            let known = lasts(&path);
            let right = |board: &str, last: u64| {
                let found = known.iter().find(|(name, _)| name == board);
                found.is_none_or(|(_, known)| *known >= last)
            };
            assert!(
                given.iter().all(|(board, last)| right(board, *last)),
                "{at}: {known:?}"
            );
            assert!(known.len() >= 2 || at >= RECORD);
        }
        for length in 0..whole.len() {
            std::fs::write(&path, &whole[..length]).expect("written");
            let known = lasts(&path);
            assert!(
                known
                    .iter()
                    .all(|(board, last)| given.contains(&(board.as_str(), *last))),
                "{length}"
            );
        }
    }
}
