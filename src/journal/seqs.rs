//! The seqs that were given to events, stored beside the journal for the case that the journal is damaged, deleted, or
//! cut short.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A small file with the last seq of every board.
///
/// The file consists of records of 256 bytes, each written by one call: written records survive the process, and after
/// a power cut a record has either its old or its new content. The file is written after every commit of the journal,
/// without waiting for the disk, since the journal has the same information.
///
/// Every record reserves seqs in advance. If the journal cannot store events, they are published with reserved seqs,
/// and the first record is marked as unkept. If the program ends before the journal has stored them, the number of
/// given seqs is unknown, and numbering continues after the reserved ones. The same applies after a power cut: a disk
/// that had failed before may have missed the mark, and some disks lose writes that they have confirmed. The first
/// record therefore names the boot in which it was written, until the program ends regularly.
///
/// Every record ends with a checksum, and the first record has the number of boards, so missing and damaged records are
/// detected. If there are any, the seqs of some boards are unknown, and the file is not [whole](Self::is_whole) until
/// [`complete`](Self::complete) sets a number after which those boards count.
#[derive(Debug)]
pub struct SeqFile {
    file: File,
    path: PathBuf,
    records: BTreeMap<String, GivenSeqs>,
    first: FirstRecord,
}

#[derive(Debug, Clone, Default)]
struct FirstRecord {
    /// Events were published that the journal may not have stored.
    unkept: bool,
    /// Boot ID; empty after the program has ended regularly.
    boot: String,
    /// Every board that was given a seq has a record or counts after `others`.
    whole: bool,
    /// The number after which boards without a record count.
    others: u64,
}

/// Boot ID of the computer; empty if the system has none.
#[must_use]
pub fn this_boot() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    boot.map(|boot| boot.trim().to_owned()).unwrap_or_default()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct GivenSeqs {
    /// Index of the record in the file, from 1.
    place: u64,
    /// Last seq that the journal has or once had.
    last: u64,
    /// Upper bound for the seqs that may have been given.
    reserved: u64,
    /// [`digest`](super::digest) of the event with seq `last`; `None` if the journal does not have it.
    digest: Option<u64>,
}

/// Size of a record in bytes. No disk has smaller sectors.
const RECORD: usize = 256;
const FIRST: &str = "kiebitz numbers 1";
/// Replaces the boot ID after the program has ended regularly.
const NO_BOOT: &str = "-";
/// Number of seqs reserved in advance. A board has some thousand events a day.
const RESERVE: u64 = 100_000;

impl SeqFile {
    /// Opens the file, or creates it if it does not exist. `boot` is the [boot ID](this_boot).
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
        // Rewritten under another name, so that a power cut leaves either the old or the new file.
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

    /// Reads [`lasts`](Self::lasts) from a file without changing it. If `boot` is `None`, the file is taken to be from
    /// the current boot.
    pub fn lasts_in(path: &Path, boot: Option<&str>) -> io::Result<BTreeMap<String, u64>> {
        let (records, first) = read(path, boot)?;
        Ok(records
            .into_iter()
            .map(|(board, given)| (board, given.last(first.unkept)))
            .collect())
    }

    /// Reads [`reserved`](Self::reserved) from a file without changing it.
    pub fn reserved_in(path: &Path) -> io::Result<BTreeMap<String, u64>> {
        let (records, _) = read(path, None)?;
        let all = records.into_iter();
        Ok(all.map(|(board, given)| (board, given.reserved)).collect())
    }

    /// The seq after which each board continues: the last known one or, if events were published that the journal may
    /// not have stored, the last reserved one.
    #[must_use]
    pub fn lasts(&self) -> BTreeMap<String, u64> {
        let all = self.records.iter();
        all.map(|(board, given)| (board.clone(), given.last(self.first.unkept)))
            .collect()
    }

    /// Last reserved seq of each board. No higher seq was given, even if the file is an older copy.
    #[must_use]
    pub fn reserved(&self) -> BTreeMap<String, u64> {
        let all = self.records.iter();
        all.map(|(board, given)| (board.clone(), given.reserved))
            .collect()
    }

    /// Seq and [`digest`](super::digest) of each board's last event that the journal had.
    #[must_use]
    pub fn digests(&self) -> BTreeMap<String, (u64, u64)> {
        let all = self.records.iter();
        all.filter_map(|(board, given)| Some((board.clone(), (given.last, given.digest?))))
            .collect()
    }

    /// Whether the file has the seqs of all boards. False for a new file and if records are damaged or missing.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.first.whole
    }

    /// The number after which boards without a record count.
    #[must_use]
    pub fn others(&self) -> u64 {
        self.first.others
    }

    /// Raises the number after which boards without a record count to `others`. The file is whole afterwards.
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

    /// Whether events were published that the journal may not have stored.
    #[must_use]
    pub fn is_unkept(&self) -> bool {
        self.first.unkept
    }

    /// Whether the file still exists at its path.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.path.exists()
    }

    /// Records the last seqs of boards, ignoring seqs that are not higher than the known ones.
    pub fn note<'b>(&mut self, lasts: impl IntoIterator<Item = (&'b str, u64)>) -> io::Result<()> {
        self.note_kept(lasts.into_iter().map(|(board, last)| (board, last, None)))
    }

    /// Like [`note`](Self::note), with the [`digest`](super::digest) of the event if the journal has stored it.
    pub fn note_kept<'b>(
        &mut self,
        lasts: impl IntoIterator<Item = (&'b str, u64, Option<u64>)>,
    ) -> io::Result<()> {
        let (mut reserves, known) = (false, self.records.len());
        for (board, last, digest) in lasts {
            let count = self.records.len() as u64;
            let given = self.records.entry(board.to_owned()).or_insert(GivenSeqs {
                place: count + 1,
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

    /// Records whether events are published that the journal has not stored.
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

    /// Records a regular end of the program. No seq may be given afterwards, so the next boot need not assume a power
    /// cut.
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
    /// The last seq that may have been given.
    fn last(self, unkept: bool) -> u64 {
        if unkept { self.reserved } else { self.last }
    }

    /// Encodes a record. `last` occurs twice and a checksum is at the end, so that a torn or damaged record is
    /// detected.
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

    /// Decodes a record. Older versions wrote neither digest nor checksum.
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
    /// Encodes the first record of a file with this number of boards.
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

    /// Decodes the first record of a file with `boards` readable records; `damaged` is true if there are unreadable
    /// ones. If `boot` differs from the boot in the record, unrecorded seqs may have been given.
    fn parse(text: &str, boards: usize, damaged: bool, boot: Option<&str>) -> Self {
        // The worst case, assumed if the record cannot be read.
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

fn record(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(RECORD - 1, b' ');
    bytes.push(b'\n');
    bytes
}

/// The readable records of boards, and the first record.
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
    fn seqs_are_known_without_the_journal() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("numbers");
        let mut numbers = SeqFile::open(&path, BOOT).expect("a file");
        assert!(numbers.lasts().is_empty());
        numbers.note([("board 1", 7), ("b", 3)]).expect("room");
        numbers.note([("b", 9), ("c", 1)]).expect("room");
        numbers.note([("b", 4)]).expect("room");
        assert_eq!(lasts(&path), named(&[("b", 9), ("board 1", 7), ("c", 1)]));
        // Opened again, with the records in another order.
        assert_eq!(lasts(&path), named(&[("b", 9), ("board 1", 7), ("c", 1)]));
        assert_eq!(std::fs::metadata(&path).expect("a file").len(), 4 * RECORD as u64);
    }

    #[test]
    fn seqs_of_published_but_unstored_events_count_as_given() {
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
        // Seqs are reserved anew long before the old reservation is used up.
        let mut numbers = SeqFile::open(&path, BOOT).expect("a file");
        numbers.note([("b", 9 + RESERVE)]).expect("room");
        numbers.mark_unkept(true).expect("room");
        assert_eq!(lasts(&path), named(&[("b", 9 + 2 * RESERVE)]));
    }

    #[test]
    fn reserved_seqs_count_as_given_after_a_power_cut() {
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
    fn missing_and_damaged_records_make_a_file_incomplete() {
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
    fn damage_loses_at_most_one_record_and_lowers_no_seq() {
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
            let not_lowered = |board: &str, last: u64| {
                let found = known.iter().find(|(name, _)| name == board);
                found.is_none_or(|(_, known)| *known >= last)
            };
            assert!(
                given.iter().all(|(board, last)| not_lowered(board, *last)),
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
