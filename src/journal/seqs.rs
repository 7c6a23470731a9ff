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
///
/// A record ends with a checksum, and the first record has the number of boards, so that a missing or damaged record is
/// noticed. Then the numbers of some boards are unknown, and the file is not [whole](Self::is_whole) until
/// [`complete`](Self::complete) sets a number after which those boards count.
#[derive(Debug)]
pub struct SeqFile {
    file: File,
    path: PathBuf,
    records: BTreeMap<String, GivenSeqs>,
    first: FirstRecord,
}

/// The first record.
#[derive(Debug, Clone, Default)]
struct FirstRecord {
    /// Events were published that the journal may never have got.
    unkept: bool,
    /// The computer's start; empty once the program has ended in order.
    boot: String,
    /// Every board that was given a number has a record, or counts after `others`.
    whole: bool,
    /// The number after which boards without a record count.
    others: u64,
}

/// An identifier of the computer's present start; empty where there is none.
#[must_use]
pub fn this_boot() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    boot.map(|boot| boot.trim().to_owned()).unwrap_or_default()
}

/// The numbers of a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct GivenSeqs {
    /// The place of its record in the file, from 1.
    place: u64,
    /// The last number that the journal has, or has had.
    last: u64,
    /// Numbers up to this one may have been given.
    reserved: u64,
    /// [`digest`](super::digest) of the event with number `last`, if the journal has it.
    digest: Option<u64>,
}

/// In bytes. No sector of a disk is smaller.
const RECORD: usize = 256;
const FIRST: &str = "kiebitz numbers 1";
/// Stands for the computer's start once the program has ended in order.
const NO_BOOT: &str = "-";
/// So many numbers are reserved: a board has some thousand events a day.
const RESERVE: u64 = 100_000;

impl SeqFile {
    /// Opens the file in this [start of the computer](this_boot), and makes it where there is none.
    ///
    /// # Errors
    ///
    /// When it cannot be opened, read or written.
    pub fn open(path: &Path, boot: &str) -> io::Result<Self> {
        let (records, first) = match read(path, Some(boot)) {
            Ok(known) => known,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Default::default(),
            Err(error) => return Err(error),
        };
        let first = FirstRecord {
            boot: boot.to_owned(),
            ..first
        };
        // Written anew under another name, so that a power cut meanwhile leaves the one or the other.
        let new = path.with_extension("new");
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&new)?;
        file.write_all(&first.record(records.len()))?;
        let mut numbered = BTreeMap::new();
        for (place, (board, given)) in (1..).zip(records) {
            let given = GivenSeqs { place, ..given };
            file.write_all(&given.record(&board))?;
            numbered.insert(board, given);
        }
        file.sync_all()?;
        std::fs::rename(&new, path)?;
        Ok(Self {
            file,
            path: path.to_owned(),
            records: numbered,
            first,
        })
    }

    /// What [`lasts`](Self::lasts) of a file says, without touching it. Without `boot` it is taken to be of the computer's
    /// present start.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn lasts_in(path: &Path, boot: Option<&str>) -> io::Result<BTreeMap<String, u64>> {
        let (records, first) = read(path, boot)?;
        Ok(records
            .into_iter()
            .map(|(board, given)| (board, given.last(first.unkept)))
            .collect())
    }

    /// What [`reserved`](Self::reserved) of a file says, without touching it.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn reserved_in(path: &Path) -> io::Result<BTreeMap<String, u64>> {
        let (records, _) = read(path, None)?;
        let all = records.into_iter();
        Ok(all.map(|(board, given)| (board, given.reserved)).collect())
    }

    /// The number after which each board goes on: the last one that the file knows of or, if events were published that
    /// the journal may never have got, the last one that was reserved.
    #[must_use]
    pub fn lasts(&self) -> BTreeMap<String, u64> {
        let all = self.records.iter();
        all.map(|(board, given)| (board.clone(), given.last(self.first.unkept)))
            .collect()
    }

    /// The last number that is reserved for each board: no higher one was given, even if the file is an older copy.
    #[must_use]
    pub fn reserved(&self) -> BTreeMap<String, u64> {
        let all = self.records.iter();
        all.map(|(board, given)| (board.clone(), given.reserved))
            .collect()
    }

    /// The last number of each board whose event the journal had, with the [`digest`](super::digest) of that event.
    #[must_use]
    pub fn digests(&self) -> BTreeMap<String, (u64, u64)> {
        let all = self.records.iter();
        all.filter_map(|(board, given)| Some((board.clone(), (given.last, given.digest?))))
            .collect()
    }

    /// Whether the file has the numbers of all boards. False for a file that is new, or of which records are damaged or
    /// missing.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.first.whole
    }

    /// The number after which boards without a record count.
    #[must_use]
    pub fn others(&self) -> u64 {
        self.first.others
    }

    /// From now on boards without a record count after this number, if it is higher than before. The file is whole then.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn complete(&mut self, others: u64) -> io::Result<()> {
        if self.first.whole && self.first.others >= others {
            return Ok(());
        }
        let first = FirstRecord {
            whole: true,
            others: self.first.others.max(others),
            ..self.first.clone()
        };
        self.write(0, &first.record(self.records.len()))?;
        self.first = first;
        self.file.sync_data()
    }

    /// Whether events were published that the journal may never have got.
    #[must_use]
    pub fn is_unkept(&self) -> bool {
        self.first.unkept
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
        self.note_kept(lasts.into_iter().map(|(board, last)| (board, last, None)))
    }

    /// The same, with the [`digest`](super::digest) of the event with that number, if the journal has it.
    ///
    /// # Errors
    ///
    /// When they cannot be written.
    pub fn note_kept<'b>(
        &mut self,
        lasts: impl IntoIterator<Item = (&'b str, u64, Option<u64>)>,
    ) -> io::Result<()> {
        let (mut reserves, known) = (false, self.records.len());
        for (board, last, digest) in lasts {
            let places = self.records.len() as u64;
            let given = self.records.entry(board.to_owned()).or_insert(GivenSeqs {
                place: places + 1,
                last: 0,
                reserved: 0,
                digest: None,
            });
            let adds_digest = given.last == last && given.digest.is_none() && digest.is_some();
            if given.last >= last && given.reserved > 0 && !adds_digest {
                continue;
            }
            (given.last, given.digest) = (last, digest);
            if given.last + RESERVE / 2 > given.reserved {
                given.reserved = given.last + RESERVE;
                reserves = true;
            }
            let (record, place) = (given.record(board), given.place);
            self.write(place, &record)?;
        }
        if self.records.len() > known {
            self.write(0, &self.first.record(self.records.len()))?;
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
        if self.first.unkept != unkept {
            let first = FirstRecord {
                unkept,
                ..self.first.clone()
            };
            self.write(0, &first.record(self.records.len()))?;
            self.first = first;
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
        self.first.boot.clear();
        self.write(0, &self.first.record(self.records.len()))?;
        self.file.sync_data()
    }

    fn write(&mut self, place: u64, record: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(place * RECORD as u64))?;
        self.file.write_all(record)
    }
}

impl GivenSeqs {
    /// The last number that may have been given.
    fn last(self, unkept: bool) -> u64 {
        if unkept { self.reserved } else { self.last }
    }

    /// The last number stands there twice, and a checksum at the end: a record that was torn or damaged does not agree
    /// with itself.
    fn record(&self, board: &str) -> Vec<u8> {
        let Self {
            last,
            reserved,
            digest,
            ..
        } = self;
        let digest = digest.map_or_else(|| "-".to_owned(), |digest| format!("{digest:016x}"));
        let text = format!("{last} {reserved} {last} {board}\t{digest}");
        let check = super::digest(&text);
        record(&format!("{text}\t{check:016x}"))
    }

    /// Reads a record. Older versions wrote neither digest nor checksum.
    fn parse(text: &str) -> Option<(String, Self)> {
        let mut columns = text.split('\t');
        let (numbers, digest, check) = (columns.next()?, columns.next(), columns.next());
        if let Some(digest) = digest {
            let text = format!("{numbers}\t{digest}");
            if check? != format!("{:016x}", super::digest(&text)) {
                return None;
            }
        }
        let mut fields = numbers.splitn(4, ' ');
        let mut number = || fields.next()?.parse::<u64>().ok();
        let (last, reserved, again) = (number()?, number()?, number()?);
        let board = fields.next()?;
        (last == again && reserved >= last).then(|| {
            let given = Self {
                place: 0,
                last,
                reserved,
                digest: digest.and_then(|digest| u64::from_str_radix(digest, 16).ok()),
            };
            (board.to_owned(), given)
        })
    }
}

impl FirstRecord {
    /// The first record of a file with so many boards.
    fn record(&self, boards: usize) -> Vec<u8> {
        let Self {
            unkept,
            boot,
            whole,
            others,
        } = self;
        let state = if *unkept { "unkept" } else { "kept" };
        let boot = if boot.is_empty() { NO_BOOT } else { boot };
        let boards = if *whole {
            boards.to_string()
        } else {
            "?".to_owned()
        };
        let text = format!("{FIRST} {state} {boot} {boards} {others}");
        let check = super::digest(&text);
        record(&format!("{text} {check:016x}"))
    }

    /// Reads the first record of a file with so many readable records of boards; `damaged` tells whether others are not
    /// readable. If `boot` is another start of the computer than the one in the record, numbers may have been given that
    /// nobody noted.
    fn parse(text: &str, boards: usize, damaged: bool, boot: Option<&str>) -> Self {
        // If it cannot be read, the worst is assumed.
        let lost = Self {
            unkept: true,
            ..Self::default()
        };
        let Some(state) = text.strip_prefix(FIRST) else {
            return lost;
        };
        let words: Vec<&str> = state.split_whitespace().collect();
        let other_boot =
            |then: &str| !then.is_empty() && then != NO_BOOT && boot.is_some_and(|now| now != then);
        match words[..] {
            [state, then, count, others, check] => {
                let checked = text.rsplit_once(' ').map_or("", |(checked, _)| checked);
                if check != format!("{:016x}", super::digest(checked)) {
                    return lost;
                }
                let whole = count.parse().is_ok_and(|count: usize| boards >= count);
                Self {
                    unkept: state != "kept" || other_boot(then),
                    boot: String::new(),
                    whole: whole && !damaged,
                    others: others.parse().unwrap_or_default(),
                }
            }
            // Written by an older version.
            [state] | [state, _] => Self {
                unkept: state != "kept" || words.get(1).is_some_and(|then| other_boot(then)),
                whole: !damaged,
                ..Self::default()
            },
            _ => lost,
        }
    }
}

/// Text as a line that fills a record.
fn record(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(RECORD - 1, b' ');
    bytes.push(b'\n');
    bytes
}

/// The records of all boards, and the first record. Records that make no sense are left out.
type Known = (BTreeMap<String, GivenSeqs>, FirstRecord);

fn read(path: &Path, boot: Option<&str>) -> io::Result<Known> {
    let mut bytes = Vec::new();
    File::open(path)?.read_to_end(&mut bytes)?;
    let mut texts = bytes
        .chunks(RECORD)
        .map(|record| String::from_utf8_lossy(record).trim_end().to_owned());
    let first = texts.next().unwrap_or_default();
    let (mut known, mut damaged) = (BTreeMap::new(), bytes.len() % RECORD != 0);
    for text in texts {
        match GivenSeqs::parse(&text) {
            Some((board, given)) => drop(known.insert(board, given)),
            None => damaged = true,
        }
    }
    let first = if bytes.is_empty() {
        FirstRecord::default()
    } else {
        FirstRecord::parse(&first, known.len(), damaged, boot)
    };
    Ok((known, first))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOOT: &str = "5e2c";

    fn lasts(path: &Path) -> Vec<(String, u64)> {
        SeqFile::open(path, BOOT)
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
        let mut numbers = SeqFile::open(&path, BOOT).expect("a file");
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
        let mut numbers = SeqFile::open(&path, BOOT).expect("a file");
        numbers.note([("b", 9)]).expect("room");
        numbers.mark_unkept(true).expect("room");
        assert_eq!(lasts(&path), named(&[("b", 9 + RESERVE)]));
        assert!(SeqFile::open(&path, BOOT).expect("a file").is_unkept());
        let mut numbers = SeqFile::open(&path, BOOT).expect("a file");
        numbers.mark_unkept(false).expect("room");
        assert_eq!(lasts(&path), named(&[("b", 9)]));
        // New ones are reserved long before the old ones are used up.
        let mut numbers = SeqFile::open(&path, BOOT).expect("a file");
        numbers.note([("b", 9 + RESERVE)]).expect("room");
        numbers.mark_unkept(true).expect("room");
        assert_eq!(lasts(&path), named(&[("b", 9 + 2 * RESERVE)]));
    }

    #[test]
    fn numbers_of_a_start_that_was_cut_off_count_as_given() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("numbers");
        let mut numbers = SeqFile::open(&path, BOOT).expect("a file");
        numbers.note([("b", 9)]).expect("room");
        let killed = SeqFile::lasts_in(&path, Some(BOOT)).expect("a file");
        assert_eq!(killed["b"], 9, "what a process has written outlives it");
        let later = SeqFile::lasts_in(&path, Some("5e2d")).expect("a file");
        assert_eq!(
            later["b"],
            9 + RESERVE,
            "nobody knows what the disk had not taken"
        );
        numbers.mark_ended().expect("room");
        let ended = SeqFile::open(&path, "5e2d").expect("a file");
        assert_eq!(ended.lasts()["b"], 9);
        assert!(!ended.is_unkept());
    }

    #[test]
    fn a_file_says_whether_it_has_all_boards() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("numbers");
        let open = || SeqFile::open(&path, BOOT).expect("a file");
        assert!(!open().is_whole(), "it was not there");
        assert!(!open().is_whole(), "nobody has completed it");
        let mut numbers = open();
        numbers.complete(500).expect("room");
        numbers
            .note_kept([("b", 7, Some(1)), ("c", 8, None)])
            .expect("room");
        assert!(open().is_whole());
        assert_eq!(open().others(), 500);
        assert_eq!(open().digests(), BTreeMap::from([("b".to_owned(), (7, 1))]));
        let whole = std::fs::read(&path).expect("a file");
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x04;
            std::fs::write(&path, &damaged).expect("written");
            let known = open();
            let is_same = known.lasts() == BTreeMap::from([("b".to_owned(), 7), ("c".to_owned(), 8)]);
            assert!(!known.is_whole() || is_same, "{at}: {:?}", known.lasts());
        }
        std::fs::write(&path, &whole[..2 * RECORD]).expect("written");
        assert!(!open().is_whole(), "a record is missing");
        let old = [record("kiebitz numbers 1 kept 5e2c"), record("9 100009 9 b")].concat();
        std::fs::write(&path, old).expect("written");
        assert!(open().is_whole(), "an older version had no count");
        assert_eq!(lasts(&path), named(&[("b", 9)]));
    }

    #[test]
    fn damage_takes_a_record_at_most_and_never_lowers_a_number() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("numbers");
        let mut numbers = SeqFile::open(&path, BOOT).expect("a file");
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
