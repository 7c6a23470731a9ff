//! Damaged journals: the daemon starts with each of them and gives no seq twice.

use core::time::Duration;
use std::fs;
use std::path::PathBuf;

use kiebitz_hardware::capture::LineMode;
use kiebitz_hardware::emulator::hand::Chance;
use kiebitz_hardware::emulator::{BoardSettings, EmulatedBoard};
use kiebitz_hardware::{Line, LineSettings};
use tempfile::TempDir;

use super::*;
use crate::journal::{Input, digest_of};
use crate::replay::Replay;

mod lost;

/// A month after the games of the capture.
const NOW: Timestamp = Timestamp::from_micros(1_795_269_600_000_000);
const BOARDS: [&str; 2] = ["a", "b"];
const TIMES: usize = 200;

/// The state directory of a daemon that was killed or stopped.
struct Place {
    directory: TempDir,
    config: Config,
    lasts: BTreeMap<String, u64>,
}

impl Place {
    fn new(stopped: bool) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let mut place = Self {
            config: config(&directory),
            directory,
            lasts: BTreeMap::new(),
        };
        let events = events();
        let mut journal = Journal::open(&place.config.journal_file()).expect("a journal");
        let mut numbers = SeqFile::open(&place.config.seqs_file(), "").expect("a file");
        for batch in events.chunks(7) {
            journal.append(batch).expect("room");
            place
                .lasts
                .extend(batch.iter().map(|event| (event.board.clone(), event.seq)));
            numbers
                .note(place.lasts.iter().map(|(board, last)| (&**board, *last)))
                .expect("room");
        }
        if !stopped {
            // Copy the files as SIGKILL leaves them, since closing the journal would empty its log.
            let log = Journal::log_of(&place.config.journal_file());
            let files = [place.config.journal_file(), log];
            let files_at_kill = files.map(|file| (fs::read(&file).expect("a file"), file));
            drop(journal);
            for (bytes, file) in files_at_kill {
                fs::write(file, bytes).expect("room");
            }
        }
        place
    }

    fn copied(&self) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        for file in fs::read_dir(self.directory.path()).expect("a directory") {
            let file = file.expect("a file");
            fs::copy(file.path(), directory.path().join(file.file_name())).expect("room");
        }
        Self {
            config: config(&directory),
            directory,
            lasts: self.lasts.clone(),
        }
    }

    /// Flips bits in the journal or its log, truncates it or overwrites a part. Returns a description of the damage.
    fn damage(&self, chance: &mut Chance) -> String {
        let journal = self.config.journal_file();
        let log = Journal::log_of(&journal);
        let files: Vec<PathBuf> = [journal, log].into_iter().filter(|file| file.exists()).collect();
        let file = &files[chance.below(files.len())];
        let mut bytes = fs::read(file).expect("a file");
        let case = match chance.below(10) {
            0 | 1 => {
                bytes.truncate(chance.below(bytes.len()));
                format!("{} cut to {}", file.display(), bytes.len())
            }
            2 => {
                let page = 4096 * chance.below(bytes.len() / 4096);
                bytes.iter_mut().skip(page).take(4096).for_each(|byte| *byte = 0);
                format!("{} has no page at {page}", file.display())
            }
            3 => {
                // The header determines the type of the file.
                let at = chance.below(100);
                bytes[at] ^= 1 << chance.below(8);
                format!("{} is another at {at}", file.display())
            }
            _ => {
                let flips = 1 + chance.below(20);
                for _ in 0..flips {
                    let at = chance.below(bytes.len());
                    bytes[at] ^= 1 << chance.below(8);
                }
                format!("{} has {flips} flips", file.display())
            }
        };
        fs::write(file, bytes).expect("room");
        case
    }

    /// Starts like the daemon, connects boards that report events, and stores these events.
    fn begin(&mut self, case: &str) {
        let started = start_daemon(&self.config);
        let Started {
            journal,
            numbers,
            mut hall,
            unkept,
            ..
        } = started.unwrap_or_else(|error| panic!("{case} keeps it from starting: {error:#}"));
        let mut journal = journal.unwrap_or_else(|| panic!("{case} leaves no journal"));
        assert_eq!(unkept, [], "{case}");
        let events = boards_come(&mut hall);
        for board in BOARDS {
            let last = self.lasts[board];
            let mut seqs = events
                .iter()
                .filter(|event| event.board == board)
                .map(|event| event.seq);
            let first = seqs
                .next()
                .unwrap_or_else(|| panic!("{case}: nobody hears {board}"));
            assert!(first > last, "{case}: {board} goes on with {first} after {last}");
        }
        journal
            .append(&events)
            .unwrap_or_else(|error| panic!("{case}: {error}"));
        journal
            .check(true)
            .unwrap_or_else(|error| panic!("{case}: {error}"));
        let lasts = events.iter().map(|event| (event.board.clone(), event.seq));
        self.lasts.extend(lasts);
        let mut numbers = numbers.unwrap_or_else(|| panic!("{case} leaves no numbers"));
        let noted = numbers.note(self.lasts.iter().map(|(board, last)| (&**board, *last)));
        noted.expect("room");
    }
}

fn config(directory: &TempDir) -> Config {
    let text = format!(
        "[daemon]\nstate_directory = {:?}\n[[board]]\nserial = \"00042\"\nname = \"a\"\n\
         [[board]]\nserial = \"00043\"\nname = \"b\"\n",
        directory.path()
    );
    Config::parse("kiebitz.toml".as_ref(), &text).expect("a configuration")
}

fn start_daemon(config: &Config) -> Result<Started> {
    let context = StartContext {
        zone: &TimeZone::UTC,
        storage: &Storage::default(),
        abandoned: &AtomicBool::new(false),
        progress: &Progress::default(),
    };
    start(config, Beginning::Program, NOW, &context, &mut |_| {})
}

/// Three rounds in which both boards play the game of the capture.
fn events() -> Vec<Event> {
    let capture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures/clean-game.pcapng");
    let mut replay = Replay::open(&capture, LIVE_STREAM).expect("the capture");
    let mut played = Vec::new();
    while replay.next_at().is_some() {
        played.extend(
            replay
                .step()
                .expect("it is whole")
                .into_iter()
                .map(|explained| explained.event),
        );
    }
    let mut events = Vec::new();
    for round in 0..3 {
        for event in &played {
            events.extend(BOARDS.map(|board| Event {
                board: board.to_owned(),
                seq: round * played.len() as u64 + event.seq,
                game: event.game.as_ref().map(|game| format!("{game}-{board}-{round}")),
                ..event.clone()
            }));
        }
    }
    events
}

/// Connects two boards, and returns their events.
fn boards_come(hall: &mut Hall) -> Vec<Event> {
    let mut now = NOW + Duration::from_secs(1);
    let mut lines: Vec<_> = ["00042", "00043"]
        .iter()
        .map(|serial| {
            let line = hall.add(serial, Line::keeping(LineSettings::of(LineMode::Single)));
            hall.open(now, line);
            let settings = BoardSettings {
                serial: serial
                    .as_bytes()
                    .try_into()
                    .ok()
                    .and_then(kiebitz_protocol::SerialNumber::new),
                ..BoardSettings::default()
            };
            (line, EmulatedBoard::new(now, settings))
        })
        .collect();
    let end = now + Duration::from_secs(5);
    while now < end {
        hall.advance(now);
        for (line, board) in &mut lines {
            while let Some(bytes) = hall.poll_write_to(now, *line) {
                board.handle_bytes(now, &bytes);
                hall.sent(now, *line, &bytes);
            }
            while let Some((_, bytes)) = board.poll_transmit(now) {
                hall.receive(now, *line, &bytes);
            }
        }
        now = now + Duration::from_millis(5);
    }
    hall.take_events()
        .into_iter()
        .map(|explained| explained.event)
        .collect()
}

/// Damages a journal 200 times, and then starts twice.
#[test]
fn no_damage_prevents_a_start_or_repeats_a_seq() {
    let places = [Place::new(false), Place::new(true)];
    assert!(places[0].lasts["a"] > 250, "{:?}", places[0].lasts);
    let mut chance = Chance::new(2026);
    let mut replaced = 0;
    for nth in 0..TIMES {
        let mut place = places[nth % 2].copied();
        let case = format!("number {nth}: {}", place.damage(&mut chance));
        place.begin(&case);
        place.begin(&format!("{case}, once more"));
        let files = fs::read_dir(place.directory.path()).expect("a directory");
        let is_aside = |name: &str| name.contains(".damaged-");
        replaced += usize::from(
            files
                .flatten()
                .any(|file| file.file_name().to_str().is_some_and(is_aside)),
        );
    }
    assert!(
        replaced > TIMES / 4,
        "{replaced} were damaged so that it mattered"
    );
}

#[test]
fn a_foreign_file_in_a_new_state_directory_is_left_alone() {
    let place = Place::new(true);
    fs::remove_file(place.config.seqs_file()).expect("a file");
    let other = rusqlite::Connection::open(place.config.journal_file()).expect("a file");
    other
        .execute_batch("DROP TABLE event; DROP TABLE output; DROP TABLE delivered; PRAGMA application_id = 7")
        .expect("room");
    drop(other);
    let started = start_daemon(&place.config);
    let refused = started.expect_err("it is somebody's").to_string();
    assert!(refused.contains("not a journal of kiebitz"), "{refused}");
}
