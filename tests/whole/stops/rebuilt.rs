//! Rebuilds the missing events of a journal from the recordings of rounds with stops. A replay of the recordings gives
//! the daemon's events.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;

use jiff::tz::TimeZone;
use kiebitz::journal::Journal;
use kiebitz::replay::Replay;
use kiebitz::restart::{NotRebuilt, Rebuilt, Recordings, rebuild};
use kiebitz_hardware::recorder::{Recorder, RecorderSettings};
use rusqlite::Connection;
use tempfile::TempDir;

use std::collections::VecDeque;

use super::*;
use kiebitz::config::Config;
use kiebitz_game::hall::Names;
use kiebitz_workbench::hands::hall::OPENING;

/// The files of a stopped daemon, and the original events of its journal.
struct DaemonFiles {
    directory: TempDir,
    config: Config,
    original: Payloads,
    /// Signals that ended the daemon during the round: true for SIGTERM, false for SIGKILL.
    ends: BTreeSet<bool>,
}

/// Payloads by board and event number.
type Payloads = BTreeMap<String, BTreeMap<u64, String>>;

fn payloads(journal: &Journal) -> Payloads {
    let boards = journal.boards("live").unwrap().into_iter();
    let all = boards.map(|(board, _)| {
        let events = journal.events_after("live", &board, 0, usize::MAX >> 1).unwrap();
        let events = events.into_iter().map(|event| (event.seq, event.payload));
        (board, events.collect())
    });
    all.collect()
}

impl DaemonFiles {
    fn by(round: Round, stops: Option<VecDeque<Stop>>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut world = World::new(round, &directory);
        if let Some(stops) = stops {
            world.stops = stops;
        }
        let ends = world.stops.iter().map(|stop| stop.terminated).collect();
        world.play_to_the_end();
        let now = world.now;
        world.watcher.stop(now);
        let mut alone = world.watcher.alone.iter();
        assert!(
            alone.all(|(_, why)| *why == Alone::LongAgo),
            "every restart is a replay"
        );
        Self {
            ends,
            directory,
            config: names(round.boards),
            original: payloads(&world.watcher.journal),
        }
    }

    fn by_round(seed: u64, wiring: Wiring) -> Self {
        let round = Round {
            seed,
            wiring,
            boards: 4,
            lasting: Duration::from_secs(900),
            stops: true,
            damage: None,
        };
        Self::by(round, None)
    }

    fn file(&self) -> PathBuf {
        self.directory.path().join("journal.sqlite")
    }

    fn recordings(&self) -> PathBuf {
        self.directory.path().join("recordings")
    }

    fn remove_journal(&self) {
        for suffix in ["", "-wal", "-shm"] {
            let file = self.directory.path().join(format!("journal.sqlite{suffix}"));
            let _ = std::fs::remove_file(file);
        }
    }

    fn change(&self, sql: &str) {
        let changed = Connection::open(self.file()).unwrap().execute(sql, []).unwrap();
        assert!(changed > 0, "{sql}");
    }

    /// Rebuilds the journal. Returns the report and the events afterwards.
    fn rebuild(&self) -> (Rebuilt, Payloads) {
        let mut journal = Journal::open(&self.file()).unwrap();
        let rebuilt = rebuild(
            &mut journal,
            &self.recordings(),
            &TimeZone::UTC,
            "live",
            &self.config,
        )
        .unwrap();
        assert_eq!(rebuilt.damaged, []);
        (rebuilt, payloads(&journal))
    }
}

fn wirings() -> impl Iterator<Item = (u64, Wiring)> {
    let wirings = [Wiring::Single, Wiring::Auto, Wiring::Bus];
    (1..=2).flat_map(move |seed| wirings.map(|wiring| (seed, wiring)))
}

/// Both a replay of the recordings and a journal rebuilt from them alone have the original events.
#[test]
fn recordings_give_the_events_of_the_journal() {
    let mut ends = BTreeSet::<bool>::new();
    for (seed, wiring) in wirings() {
        let files = DaemonFiles::by_round(seed, wiring);
        ends.extend(&files.ends);
        let recordings = Recordings::after(&files.recordings(), Timestamp::from_micros(0), &TimeZone::UTC);
        let replay: Replay<io::Empty> = Replay::of_recordings(recordings, "live");
        let mut replay = replay.named(Names::RecordedAs(files.config.roster()));
        let mut replayed = Payloads::new();
        while replay.next_at().is_some() {
            for explained in replay.step().unwrap() {
                let payload = serde_json::to_string(&explained.event).unwrap();
                let board = replayed.entry(explained.event.board).or_default();
                assert_eq!(board.insert(explained.event.seq, payload), None);
            }
        }
        assert!(replayed == files.original, "seed {seed}, {wiring:?}");

        files.remove_journal();
        let (rebuilt, journaled) = files.rebuild();
        assert!(journaled == files.original, "seed {seed}, {wiring:?}");
        for (board, about) in rebuilt.boards {
            assert_eq!(about.filled, files.original[&board].len());
            assert_eq!((about.unfit, about.missing), (vec![], vec![]), "{board}");
        }
    }
    assert_eq!(ends.len(), 2, "kills and stops");
}

#[test]
fn missing_events_are_filled_in() {
    let files = DaemonFiles::by_round(3, Wiring::Auto);
    for lost in ["seq BETWEEN 20 AND 60", "seq < 10", "seq > 90", "seq % 3 = 0"] {
        files.change(&format!("DELETE FROM event WHERE {lost}"));
        let (rebuilt, journaled) = files.rebuild();
        assert!(journaled == files.original, "{lost}");
        assert!(
            rebuilt
                .boards
                .values()
                .all(|about| about.filled > 0 && about.unfit.is_empty())
        );
    }
    let (rebuilt, _) = files.rebuild();
    assert!(
        rebuilt.boards.values().all(|about| about.filled == 0),
        "nothing is missing any more"
    );
}

#[test]
fn a_board_whose_recording_contradicts_the_journal_gets_nothing() {
    let files = DaemonFiles::by_round(4, Wiring::Single);
    files.change("UPDATE event SET payload = replace(payload, '\"v\":1', '\"v\":1,\"w\":1') WHERE board = 'board-2' AND seq = 50");
    files.change("DELETE FROM event WHERE seq BETWEEN 30 AND 40");
    let before = payloads(&Journal::open(&files.file()).unwrap());
    let (rebuilt, journaled) = files.rebuild();
    assert!(journaled["board-2"] == before["board-2"]);
    let about = &rebuilt.boards["board-2"];
    assert_eq!((about.filled, &about.unfit), (0, &vec![NotRebuilt::Differs(50)]));
    assert_eq!(about.missing, [(30, 40)]);
    for board in ["board-1", "board-3", "board-4"] {
        assert!(journaled[board] == files.original[board], "{board}");
        assert_eq!(rebuilt.boards[board].filled, 11);
    }
}

/// Older recordings were removed to keep within the budget.
#[test]
fn recordings_that_begin_in_the_middle_add_nothing() {
    let files = DaemonFiles::by_round(5, Wiring::Single);
    let all = Recordings::after(&files.recordings(), Timestamp::from_micros(0), &TimeZone::UTC);
    let all: Vec<_> = all.collect();
    let middle = all[all.len() / 2].1.at;
    std::fs::remove_dir_all(files.recordings()).unwrap();
    let mut recorder = Recorder::new(RecorderSettings {
        folder: files.recordings(),
        budget: 1 << 40,
        zone: TimeZone::UTC,
    });
    for (port, packet) in all {
        if packet.at >= middle {
            recorder.record(packet.at, &port.name, port.mode, &packet.content);
        }
    }
    files.change("DELETE FROM event WHERE seq BETWEEN 20 AND 40");
    // Without the first events of board-3 in the journal, the numbers of its recorded events are unknown.
    files.change("DELETE FROM event WHERE board = 'board-3' AND seq < 60");
    let before = payloads(&Journal::open(&files.file()).unwrap());
    let (rebuilt, journaled) = files.rebuild();
    assert!(journaled == before, "{:?}", rebuilt.boards);
    for (board, about) in rebuilt.boards {
        assert_eq!((about.filled, about.unfit.len()), (0, 1), "{board}");
    }
}

/// After a long pause, boards start from the journal. The journal records this for each start.
#[test]
fn days_are_rebuilt_one_by_one() {
    let round = Round {
        seed: 6,
        wiring: Wiring::Single,
        boards: 2,
        lasting: Duration::from_secs(23_000),
        stops: true,
        damage: None,
    };
    let stop = |seconds: u64, down: u64, terminated| Stop {
        at: OPENING + Duration::from_secs(seconds),
        down: Duration::from_secs(down),
        terminated,
    };
    let stops = [
        stop(100, 5, false),
        stop(300, 22_000, true),
        stop(22_500, 5, false),
    ];
    let files = DaemonFiles::by(round, Some(VecDeque::from(stops)));
    let runs = Journal::open(&files.file()).unwrap().all_runs().unwrap();
    let whole: Vec<bool> = runs.iter().map(|run| run.whole).collect();
    assert_eq!(whole, [true, false, true, false]);
    let base = runs[2].boards["board-1"];
    for lost in [
        format!("seq BETWEEN {} AND {base}", base - 5),
        format!("seq > {base} + 3"),
        format!("seq BETWEEN {} AND {base} + 4", base - 5),
        "seq % 2 = 0".to_owned(),
    ] {
        files.change(&format!("DELETE FROM event WHERE {lost}"));
        let (rebuilt, journaled) = files.rebuild();
        assert!(journaled == files.original, "{lost}: {:?}", rebuilt.boards);
    }
    // The first day contradicts the journal, the second does not.
    files.change("UPDATE event SET payload = replace(payload, '\"v\":1', '\"v\":1,\"w\":1') WHERE seq = 2");
    files.change(&format!("DELETE FROM event WHERE seq = {base} + 3"));
    let (rebuilt, _) = files.rebuild();
    for (board, about) in rebuilt.boards {
        assert_eq!(about.missing, [], "{board}");
        assert_eq!(
            (about.filled, about.unfit),
            (1, vec![NotRebuilt::Differs(2)]),
            "{board}"
        );
    }
}

#[cfg(target_os = "linux")]
mod program;
