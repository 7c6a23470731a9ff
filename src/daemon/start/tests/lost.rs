//! Damage to the state directory after a round: no seq is given to another event, and every event that follows from
//! recordings, starts and commands is restored.

use std::collections::BTreeSet;
use std::io::BufReader;

use kiebitz_game::command::Command;
use kiebitz_game::events::GameResult;
use kiebitz_hardware::capture::{CaptureReader, Content, Packet};
use kiebitz_hardware::recorder::{Recorder, RecorderSettings};

use super::*;

/// All events that have left the process, by board and seq.
type Published = BTreeMap<(String, u64), String>;

struct Played {
    directory: TempDir,
    config: Config,
    published: Published,
    now: Timestamp,
    /// The files as they were after the first of two games.
    midway: Vec<(PathBuf, Vec<u8>)>,
}

/// The arbiter's commands, each with the percentage of a game's packets after which it is sent.
const COMMANDS: [(usize, &str); 4] = [
    (
        10,
        r#"{"id":"1","do":"set_players","white":"Adams, Ada","black":"Baker, Bo"}"#,
    ),
    (50, r#"{"id":"2","do":"annotate","text":"the clock was set"}"#),
    (
        94,
        r#"{"id":"3","do":"set_result","result":"1/2-1/2","reason":"agreement"}"#,
    ),
    (
        97,
        r#"{"id":"4","do":"annotate","text":"score sheets are signed"}"#,
    ),
];
const JOURNAL: &str = "journal.sqlite";

fn capture(name: &str) -> Vec<(Interface, Packet)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/captures")
        .join(name);
    let file = BufReader::new(fs::File::open(path).expect("the capture"));
    let mut reader = CaptureReader::new(file).expect("a capture");
    let mut packets = Vec::new();
    while let Some(packet) = reader.next_packet().expect("it is whole") {
        packets.push((reader.interfaces()[packet.interface].clone(), packet));
    }
    packets
}

fn config(directory: &TempDir) -> Config {
    let text = format!("[daemon]\nstate_directory = {:?}\n", directory.path());
    Config::parse("kiebitz.toml".as_ref(), &text).expect("a configuration")
}

fn started(config: &Config, now: Timestamp) -> Started {
    let storage = Storage::default();
    let context = StartContext {
        zone: &TimeZone::UTC,
        storage: &storage,
        abandoned: &AtomicBool::new(false),
        progress: &Progress::default(),
    };
    start(config, Beginning::Program, now, &context, &mut |_| {}).expect("a start")
}

fn payload(event: &Event) -> String {
    serde_json::to_string(event).expect("JSON")
}

impl Played {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let mut played = Self {
            config: config(&directory),
            directory,
            published: Published::new(),
            now: NOW,
            midway: Vec::new(),
        };
        played.play("/dev/ttyA", "clean-game.pcapng");
        played.midway = played.files();
        played.play("/dev/ttyB", "games/blitz-0.pcapng");
        played
    }

    /// Starts the daemon, plays a game at a port, and kills the daemon.
    fn play(&mut self, port: &str, game: &str) {
        let Started {
            journal,
            numbers,
            mut hall,
            unkept,
            closed,
            ..
        } = started(&self.config, self.now);
        let (mut journal, mut numbers) = (journal.expect("a journal"), numbers.expect("a file"));
        assert_eq!(unkept, []);
        let filled = Journal::open_to_read(&self.config.journal_file()).expect("a journal");
        self.published.extend(all_events(&filled));
        let mut inputs = InputsFile::open(&self.config.inputs_file()).expect("a file");
        let mut recorder = self.recorder();
        close(&mut recorder, closed);
        let packets = capture(game);
        let count = packets.len();
        let first = packets[0].1.at;
        let began = self.now + Duration::from_secs(1);
        for (nth, (interface, packet)) in packets.into_iter().enumerate() {
            let at = began + packet.at.saturating_duration_since(first);
            let interface = Interface {
                name: port.to_owned(),
                ..interface
            };
            recorder.record(at, port, interface.mode, &packet.content);
            hall.advance(at);
            hall.play_back(&interface, &Packet { at, ..packet });
            let board = hall.boards().find(|board| board.port() == port);
            let board = board.map(|board| board.name().to_owned());
            let due = COMMANDS.iter().filter(|(after, _)| after * count / 100 == nth);
            for (board, (_, command)) in board.iter().zip(due) {
                let command = Command::parse(command).expect("a command");
                let answer = hall.command(at + Duration::from_micros(1), board, &command);
                assert!(answer.ok, "{answer:?}");
            }
            let events: Vec<Event> = hall
                .take_events()
                .into_iter()
                .map(|explained| explained.event)
                .collect();
            inputs
                .append(&Input::commands(&events).collect::<Vec<_>>())
                .expect("room");
            journal.append(&events).expect("room");
            for event in &events {
                let noted = (&*event.board, event.seq, digest_of(event));
                numbers.note_kept([noted]).expect("room");
                self.published
                    .insert((event.board.clone(), event.seq), payload(event));
            }
            self.now = at;
        }
        self.now = self.now + Duration::from_secs(20);
        // Copy the files as SIGKILL leaves them, since closing the journal would empty its log.
        let files_at_kill = self.files();
        drop(journal);
        write_files(&files_at_kill);
    }

    fn recorder(&self) -> Recorder {
        Recorder::new(RecorderSettings {
            folder: self.config.recordings(),
            budget: 1 << 40,
            zone: TimeZone::UTC,
        })
    }

    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let files = fs::read_dir(self.directory.path())
            .expect("a directory")
            .flatten();
        let files = files.map(|file| file.path()).filter(|path| path.is_file());
        files
            .map(|path| (path.clone(), fs::read(path).expect("a file")))
            .collect()
    }

    fn copied(&self) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let config = config(&directory);
        fs::create_dir(config.recordings()).expect("a directory");
        for folder in [self.directory.path().to_owned(), self.config.recordings()] {
            for file in fs::read_dir(&folder).expect("a directory").flatten() {
                if file.path().is_file() {
                    let place = file.path();
                    let place = place.strip_prefix(self.directory.path()).expect("in it");
                    fs::copy(file.path(), directory.path().join(place)).expect("room");
                }
            }
        }
        let moved = |path: &PathBuf| {
            let place = path.strip_prefix(self.directory.path()).expect("in it");
            directory.path().join(place)
        };
        let midway = self.midway.iter();
        Self {
            midway: midway.map(|(path, bytes)| (moved(path), bytes.clone())).collect(),
            config,
            directory,
            published: self.published.clone(),
            now: self.now,
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn change(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let Ok(mut bytes) = fs::read(self.file(name)) else {
            return;
        };
        if !bytes.is_empty() {
            change(&mut bytes);
        }
        fs::write(self.file(name), bytes).expect("room");
    }

    fn remove(&self, name: &str) {
        // Fails if an earlier damage has already removed the file.
        let _ = fs::remove_file(self.file(name));
    }

    /// Restores the named files to their state after the first game.
    fn roll_back(&self, names: &[&str]) {
        for name in names {
            self.remove(name);
        }
        let midway = self.midway.iter();
        let midway: Vec<_> = midway
            .filter(|(path, _)| names.iter().any(|name| *path == self.file(name)))
            .cloned()
            .collect();
        write_files(&midway);
    }

    /// Starts the daemon and checks the journal. Returns the journal's events.
    fn begin(&mut self, case: &str) -> Published {
        self.now = self.now + Duration::from_secs(60);
        let Started {
            journal,
            numbers,
            mut hall,
            closed,
            ..
        } = started(&self.config, self.now);
        close(&mut self.recorder(), closed);
        let mut journal = journal.unwrap_or_else(|| panic!("{case} leaves no journal"));
        let mut numbers = numbers.unwrap_or_else(|| panic!("{case} leaves no numbers"));
        let kept = all_events(&journal);
        for (key, payload) in &kept {
            let published = self.published.get(key);
            assert!(
                published.is_none_or(|published| published == payload),
                "{case}: {key:?} was given to another event"
            );
        }
        self.published.extend(kept.clone());
        // From now on, known and new boards report events.
        let boards: BTreeSet<String> = self.published.keys().map(|(board, _)| board.clone()).collect();
        for board in boards.iter().map(String::as_str).chain(["another"]) {
            let note = Command::parse(r#"{"id":"5","do":"annotate","text":"go on"}"#).expect("a command");
            hall.command(self.now, board, &note);
        }
        let events: Vec<Event> = hall
            .take_events()
            .into_iter()
            .map(|explained| explained.event)
            .collect();
        for event in &events {
            let key = (event.board.clone(), event.seq);
            assert!(
                self.published.insert(key.clone(), payload(event)).is_none(),
                "{case}: {key:?} is given again"
            );
        }
        journal.append(&events).expect("room");
        let noted = events.iter();
        let noted = noted.map(|event| (&*event.board, event.seq, digest_of(event)));
        numbers.note_kept(noted).expect("room");
        kept
    }

    /// Whether the journal has the names and results of all games.
    fn has_games(&self) -> bool {
        let journal = Journal::open_to_read(&self.config.journal_file()).expect("a journal");
        let boards: BTreeSet<&String> = self.published.keys().map(|(board, _)| board).collect();
        boards.iter().filter(|board| ***board != "another").all(|board| {
            let game = journal.all_of(LIVE_STREAM, board).last_game().expect("readable");
            game.is_some_and(|game| {
                let players = game.record.players.unwrap_or_default();
                players.white.as_deref() == Some("Adams, Ada")
                    && game.record.result == GameResult::Draw
                    && game.record.moves.len() > 10
            })
        })
    }
}

fn write_files(files: &[(PathBuf, Vec<u8>)]) {
    for (path, bytes) in files {
        fs::write(path, bytes).expect("room");
    }
}

fn all_events(journal: &Journal) -> Published {
    let mut kept = Published::new();
    for (board, _) in journal.boards(LIVE_STREAM).expect("readable") {
        let events = journal.events_after(LIVE_STREAM, &board, 0, usize::MAX >> 1);
        for event in events.expect("readable") {
            kept.insert((board.clone(), event.seq), event.payload);
        }
    }
    kept
}

/// A kind of damage: description, whether all events are restored with their seqs, and action.
type Damage = (String, bool, How);

type How = Box<dyn Fn(&Played, &mut Chance)>;

fn damages() -> Vec<Damage> {
    let mut damages: Vec<Damage> = Vec::new();
    let mut damage = |case: &str, restores_all: bool, action: How| {
        damages.push((case.to_owned(), restores_all, action));
    };
    for kilobytes in [4, 8, 12, 20, 40, 80] {
        damage(
            &format!("the last {kilobytes} kB of the journal are zeros"),
            true,
            Box::new(move |played, _| {
                checkpoint(played);
                played.change(JOURNAL, |bytes| {
                    let from = bytes.len().saturating_sub(kilobytes * 1024);
                    bytes[from..].fill(0);
                });
            }),
        );
    }
    for _ in 0..12 {
        damage(
            "pages of the journal are garbled",
            true,
            Box::new(|played, chance| {
                checkpoint(played);
                played.change(JOURNAL, |bytes| {
                    for _ in 0..=chance.below(4) {
                        let page = 4096 * chance.below((bytes.len() / 4096).max(1));
                        let with = u8::try_from(chance.below(256)).unwrap_or_default();
                        bytes
                            .iter_mut()
                            .skip(page)
                            .take(4096)
                            .for_each(|byte| *byte = with);
                    }
                });
            }),
        );
    }
    for _ in 0..6 {
        damage(
            "the journal is cut short",
            true,
            Box::new(|played, chance| {
                checkpoint(played);
                played.change(JOURNAL, |bytes| bytes.truncate(chance.below(bytes.len())));
            }),
        );
    }
    damage(
        "the log of the journal is gone",
        true,
        Box::new(|played, _| played.remove("journal.sqlite-wal")),
    );
    damage(
        "the log of the journal is cut short",
        true,
        Box::new(|played, chance| {
            played.change("journal.sqlite-wal", |bytes| {
                bytes.truncate(chance.below(bytes.len()))
            });
        }),
    );
    damage(
        "the journal is an older copy",
        true,
        Box::new(|played, _| played.roll_back(&[JOURNAL, "journal.sqlite-wal", "journal.sqlite-shm"])),
    );
    damage(
        "the journal is gone",
        true,
        Box::new(|played, _| {
            for beside in ["", "-wal", "-shm"] {
                played.remove(&format!("{JOURNAL}{beside}"));
            }
        }),
    );
    damage(
        "the numbers are gone",
        true,
        Box::new(|played, _| played.remove("numbers")),
    );
    damage(
        "the numbers are an older copy",
        true,
        Box::new(|played, _| played.roll_back(&["numbers"])),
    );
    for _ in 0..4 {
        damage(
            "the numbers are garbled",
            true,
            Box::new(|played, chance| {
                played.change("numbers", |bytes| {
                    let from = chance.below(bytes.len());
                    bytes
                        .iter_mut()
                        .skip(from)
                        .take(300)
                        .for_each(|byte| *byte = b'7');
                });
            }),
        );
    }
    damage(
        "the second copy of commands is gone",
        true,
        Box::new(|played, _| played.remove("inputs.jsonl")),
    );
    damages
}

/// Moves everything from the log into the journal's file, as SQLite does now and then. A damaged file stays unchanged.
fn checkpoint(played: &Played) {
    let journal = rusqlite::Connection::open(played.file(JOURNAL)).expect("a file");
    let _ = journal.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
}

/// Records the closing of ports that were open when the daemon was killed.
fn close(recorder: &mut Recorder, closed: Vec<(Timestamp, Interface)>) {
    for (at, port) in closed {
        let reason = restart::CUT_OFF.to_owned();
        recorder.record(at, &port.name, port.mode, &Content::Closed { reason });
    }
}

#[test]
fn published_events_keep_their_seqs_and_are_restored_after_any_damage() {
    let played = Played::new();
    let boards: BTreeSet<&String> = played.published.keys().map(|(board, _)| board).collect();
    assert!(
        played.published.len() > 200 && boards.len() == 2,
        "{} of {boards:?}",
        played.published.len()
    );
    let mut chance = Chance::new(53);
    for (nth, (case, restores_all, damage)) in damages().iter().enumerate() {
        let mut damaged = played.copied();
        damage(&damaged, &mut chance);
        let case = format!("{nth}: {case}");
        let kept = damaged.begin(&case);
        assert!(damaged.has_games(), "{case}");
        if *restores_all {
            for (key, payload) in &played.published {
                assert_eq!(kept.get(key), Some(payload), "{case}: {key:?} is there again");
            }
        }
        damaged.begin(&format!("{case}, once more"));
        assert!(damaged.has_games(), "{case}, once more");
    }
}

/// The seqs of events that the recordings no longer contain are not given again.
#[test]
fn seqs_of_lost_events_are_not_given_again() {
    let played = Played::new();
    let mut chance = Chance::new(530);
    let damages = damages();
    for nth in 0..60 {
        let mut damaged = played.copied();
        let mut case = format!("number {nth}");
        for _ in 0..=chance.below(3) {
            let (description, _, damage) = &damages[chance.below(damages.len())];
            case = format!("{case}; {description}");
            damage(&damaged, &mut chance);
        }
        match chance.below(4) {
            0 => {
                damaged.remove("inputs.jsonl");
                case = format!("{case}; no second copy of commands");
            }
            1 => {
                for file in fs::read_dir(damaged.config.recordings())
                    .expect("a directory")
                    .flatten()
                {
                    let bytes = fs::read(file.path()).expect("a file");
                    fs::write(file.path(), &bytes[..chance.below(bytes.len() + 1)]).expect("room");
                }
                case = format!("{case}; recordings are cut short");
            }
            _ => {}
        }
        damaged.begin(&case);
        damaged.begin(&format!("{case}, once more"));
    }
}

/// Only the recordings show that all other files are older copies.
#[test]
fn seqs_continue_above_an_older_copy_and_the_next_start_replays_the_jump() {
    let mut played = Played::new();
    let names = [
        JOURNAL,
        "journal.sqlite-wal",
        "journal.sqlite-shm",
        "numbers",
        "inputs.jsonl",
    ];
    played.roll_back(&names);
    let mut before = Published::new();
    for case in [
        "an older copy",
        "an older copy, once more",
        "an older copy, a third time",
    ] {
        let kept = played.begin(case);
        assert!(
            before.iter().all(|(key, payload)| kept.get(key) == Some(payload)),
            "{case}"
        );
        before = kept;
        let journal = Journal::open_to_read(&played.config.journal_file()).expect("a journal");
        let run = journal.all_runs().expect("readable").pop().expect("a start");
        assert_eq!(
            run.boards,
            BTreeMap::new(),
            "{case}: all boards go on from the recordings"
        );
        assert_eq!(
            run.jumps.is_empty(),
            case != "an older copy",
            "{case}: {:?}",
            run.jumps
        );
    }
    let moves = |board: &str| {
        let of_board = before.iter().filter(|((name, _), _)| name == board);
        of_board
            .filter(|(_, payload)| payload.contains("move.made"))
            .count()
    };
    assert!(moves("00042") > 10, "the second game is there");
}
