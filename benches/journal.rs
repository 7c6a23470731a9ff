//! Cost of storing events: `cargo bench --bench journal`. The journal is created in the directory for temporary files,
//! so `TMPDIR=/var/lib/kiebitz cargo bench --bench journal` measures another disk.
//!
//! Figures of an unoptimised build on a shared 2-core x86-64 machine with a virtual disk: a commit with one event takes
//! 0.3 ms on an idle disk and 2 to 8 ms on a busy one, a commit with 1000 events 20 to 55 ms. An event therefore costs
//! about 5 ms in a commit of its own and 0.05 ms in a large commit. An acknowledgement takes 0.04 ms. With 204,500
//! events of 369 bytes (a year at a busy club), opening takes 0.5 ms, reading the last seq 0.06 ms, reading the last
//! game and reading the unsent events 0.3 ms each, and deleting all events 0.6 to 1.7 s.

#![expect(clippy::expect_used, reason = "a benchmark of bundled data may stop")]

use std::path::Path;
use std::time::{Duration, Instant};

use kiebitz::journal::Journal;
use kiebitz::replay::Replay;
use kiebitz_game::events::Event;
use kiebitz_hardware::Timestamp;

/// Number of events in the journal when the queries are measured: a year at a busy club.
const YEAR: usize = 200_000;

#[expect(clippy::print_stdout, reason = "a benchmark reports")]
fn main() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("journal.sqlite");
    let mut journal = Journal::open(&path).expect("a journal");
    let game = recorded();
    let mut next = Source::new(&game);
    for (commits, size) in [(500, 1), (500, 8), (200, 100), (50, 1000)] {
        let batches: Vec<Vec<Event>> = (0..commits).map(|_| next.events(size)).collect();
        let costs = batches
            .iter()
            .map(|batch| timed(|| journal.append(batch).expect("room")));
        report(&format!("{size} events a commit"), costs.collect());
    }
    while next.count < YEAR {
        journal.append(&next.events(10_000)).expect("room");
    }
    let acknowledgements = (0..500).map(|seq| {
        timed(|| {
            journal
                .acknowledge("mqtt", "live", [("board-0", seq)])
                .expect("room")
        })
    });
    report("an acknowledgement", acknowledgements.collect());
    drop(journal);
    let bytes = std::fs::metadata(&path).expect("the file").len();
    println!(
        "{} events: {} bytes an event",
        next.count,
        bytes / next.count as u64
    );

    let opening_time = timed(|| drop(Journal::open(&path).expect("a journal")));
    println!("opening: {opening_time:?}");
    let mut journal = Journal::open(&path).expect("a journal");
    let last = timed(|| assert!(journal.last_seq("live", "board-0").expect("a number") > 0));
    println!("last number: {last:?}");
    let game = timed(|| {
        assert!(
            journal
                .all_of("live", "board-0")
                .last_game()
                .expect("readable")
                .is_some()
        )
    });
    println!("last game: {game:?}");
    let unsent = timed(|| assert_eq!(journal.unsent("mqtt", "live").expect("readable").len(), 8));
    println!("what is unsent: {unsent:?}");
    let deletion = timed(|| {
        journal
            .forget_before("live", Timestamp::from_micros(i64::MAX))
            .expect("room");
    });
    println!("forgetting all of it: {deletion:?}");
}

/// Generates any number of events by repeating a recorded game on eight boards in turn.
struct Source<'g> {
    game: &'g [Event],
    count: usize,
}

impl<'g> Source<'g> {
    fn new(game: &'g [Event]) -> Self {
        Self { game, count: 0 }
    }

    fn events(&mut self, count: usize) -> Vec<Event> {
        (0..count).map(|_| self.event()).collect()
    }

    fn event(&mut self) -> Event {
        let (round, board) = (self.count / 8, self.count % 8);
        self.count += 1;
        let mut event = self.game[round % self.game.len()].clone();
        event.board = format!("board-{board}");
        event.seq = round as u64 + 1;
        event.game = event
            .game
            .map(|_| format!("2026-11-21-board-{board}-{}", 1 + round / self.game.len()));
        event
    }
}

fn recorded() -> Vec<Event> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures/clean-game.pcapng");
    let mut replay = Replay::open(&path, "live").expect("a capture");
    let mut events = Vec::new();
    while replay.next_at().is_some() {
        events.extend(
            replay
                .step()
                .expect("a whole capture")
                .into_iter()
                .map(|step| step.event),
        );
    }
    events
}

#[expect(clippy::print_stdout, reason = "a benchmark reports")]
fn report(name: &str, mut costs: Vec<Duration>) {
    costs.sort_unstable();
    let total: Duration = costs.iter().sum();
    let at = |share: f64| costs[((costs.len() - 1) as f64 * share) as usize];
    let mean = total / u32::try_from(costs.len()).unwrap_or(u32::MAX);
    println!("{name}: mean {mean:?}, 99 % {:?}, worst {:?}", at(0.99), at(1.0));
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn timed(work: impl FnOnce()) -> Duration {
    let began = Instant::now();
    work();
    began.elapsed()
}
