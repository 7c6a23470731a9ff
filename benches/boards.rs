//! Cost of a thousand boards at blitz pace in one process: `cargo bench --bench boards`.
//!
//! Each board is emulated, with a clock and two blitz players, and has a live session, so that the hall also requests
//! clock readings, dumps and memories. The cost of the emulation is not included. The benchmark runs in virtual time.
//!
//! On one core of a shared 2-core x86-64 machine, 1,234 plies, 6,000 chunks and 3,700 events per second take 14 % of a
//! core, including 0.3 % for polling deadlines and writes. Latency from a chunk to its events, including deadlines that
//! are due: median 18 µs, 99th percentile 68 µs, 99.9th percentile 125 µs, maximum 1 ms. While builds run on both cores,
//! the benchmark takes up to half as much again. After 80 s of play the process, with all boards, players and their
//! memories, has 261 MiB resident.

#![expect(clippy::expect_used, reason = "a benchmark of what it made itself may stop")]

use core::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

use kiebitz::tools::emulate::plies;
use kiebitz_game::hall::{Hall, LineId, Names};
use kiebitz_hardware::capture::LineMode;
use kiebitz_hardware::emulator::hand::{
    Chance, Ending, Script, Setting, Sitting, SittingSettings, Temperament, ms,
};
use kiebitz_hardware::emulator::{BoardSettings, ClockSide, Player};
use kiebitz_hardware::{Line, LineSettings, Timestamp};
use kiebitz_protocol::{LongSerialNumber, SerialNumber};
use shakmaty::{Chess, Position};

const BOARDS: usize = 1000;
/// Warm-up time, in which the sessions identify the boards.
const WARM_UP: Duration = Duration::from_secs(20);
const MEASUREMENT: Duration = Duration::from_secs(60);
/// 2026-11-21, 14:00 UTC.
const START: Timestamp = Timestamp::from_micros(1_795_269_600_000_000);

#[expect(clippy::print_stdout, reason = "a benchmark reports")]
fn main() {
    let empty = resident_kib();
    let players = players();
    let emulators = resident_kib();
    let mut room = Room::new(players);
    room.play(START + WARM_UP);
    let plies_before = room.plies_played();
    room.costs = Costs::default();
    room.play(START + WARM_UP + MEASUREMENT);
    let plies_after = room.plies_played();
    let resident = resident_kib();

    let costs = &mut room.costs;
    let seconds = MEASUREMENT.as_secs_f64();
    println!(
        "{BOARDS} boards, {} s of blitz: {:.0} plies a second played, {} chunks, {} events",
        seconds,
        (plies_after - plies_before) as f64 / seconds,
        costs.latencies.len(),
        costs.events
    );
    println!(
        "CPU: {:.1} % of a core; of it {:.1} % for chunks, {:.1} % for deadlines, {:.1} % for writing and asking what is due",
        100.0 * (costs.chunks + costs.deadlines + costs.polling).as_secs_f64() / seconds,
        100.0 * costs.chunks.as_secs_f64() / seconds,
        100.0 * costs.deadlines.as_secs_f64() / seconds,
        100.0 * costs.polling.as_secs_f64() / seconds
    );
    println!(
        "memory: {} MiB resident, boards and players included ({} MiB of it before anybody played)",
        resident / 1024,
        (emulators - empty) / 1024
    );
    costs.latencies.sort_unstable();
    let at = |share: f64| costs.latencies[((costs.latencies.len() - 1) as f64 * share) as usize];
    println!(
        "from a chunk's last byte to its events: 50 % {:?}, 99 % {:?}, 99.9 % {:?}, worst {:?}",
        at(0.5),
        at(0.99),
        at(0.999),
        at(1.0)
    );
}

struct Room {
    hall: Hall,
    players: Vec<Player>,
    lines: Vec<LineId>,
    /// Deadlines of the players. An entry is stale if it differs from the player's `poll_deadline`.
    due: BinaryHeap<Reverse<(Timestamp, usize)>>,
    costs: Costs,
}

/// Time spent in the hall.
#[derive(Default)]
struct Costs {
    /// Time for all chunks and their events.
    chunks: Duration,
    /// Time for deadlines between chunks.
    deadlines: Duration,
    /// Time for polling writes, closings and deadlines.
    polling: Duration,
    /// Time for each chunk and its events.
    latencies: Vec<Duration>,
    events: usize,
}

impl Room {
    fn new(players: Vec<Player>) -> Self {
        let mut hall = Hall::new("live", Names::Recorded);
        let mut lines = Vec::new();
        for nth in 0..players.len() {
            let line = hall.add(
                &format!("board-{nth}"),
                Line::keeping(LineSettings::of(LineMode::Single)),
            );
            hall.open(START, line);
            lines.push(line);
        }
        let due = players
            .iter()
            .enumerate()
            .filter_map(|(nth, player)| Some(Reverse((player.poll_deadline()?, nth))))
            .collect();
        Self {
            hall,
            players,
            lines,
            due,
            costs: Costs::default(),
        }
    }

    /// Every player plays a single game, so the plies of the current games are all plies.
    fn plies_played(&self) -> usize {
        self.players.iter().map(|player| player.truth().plies).sum()
    }

    fn play(&mut self, until: Timestamp) {
        loop {
            let (deadline, took) = timed(|| self.hall.poll_deadline());
            self.costs.polling += took;
            let player = self.due.peek().map(|Reverse((at, _))| *at);
            let Some(now) = deadline
                .into_iter()
                .chain(player)
                .min()
                .filter(|now| *now < until)
            else {
                return;
            };
            if player == Some(now) {
                let Some(Reverse((_, nth))) = self.due.pop() else {
                    return;
                };
                self.run_player(now, nth);
            } else {
                let (events, took) = timed(|| {
                    self.hall.advance(now);
                    self.hall.take_events()
                });
                self.costs.deadlines += took;
                self.costs.events += events.len();
            }
            self.write(now);
        }
    }

    /// Advances a player to its deadline and passes the bytes of its board to the hall.
    fn run_player(&mut self, now: Timestamp, nth: usize) {
        if self.players[nth].poll_deadline() != Some(now) {
            return;
        }
        while let Some((_, bytes)) = self.players[nth].poll_transmit(now) {
            let line = self.lines[nth];
            let (events, took) = timed(|| {
                self.hall.advance(now);
                self.hall.receive(now, line, &bytes);
                self.hall.take_events()
            });
            self.costs.chunks += took;
            self.costs.latencies.push(took);
            self.costs.events += events.len();
        }
        self.wake(nth);
    }

    fn write(&mut self, now: Timestamp) {
        loop {
            let (written, took) = timed(|| {
                let (line, bytes) = self.hall.poll_write(now)?;
                self.hall.sent(now, line, &bytes);
                Some((line, bytes))
            });
            self.costs.polling += took;
            let Some((line, bytes)) = written else { break };
            let nth = self.lines.binary_search(&line).expect("a line of this hall");
            self.players[nth].handle_bytes(now, &bytes);
            self.wake(nth);
        }
        let (closed, took) = timed(|| self.hall.poll_close());
        self.costs.polling += took;
        assert!(closed.is_none(), "every board answers: {closed:?}");
    }

    fn wake(&mut self, nth: usize) {
        if let Some(due) = self.players[nth].poll_deadline() {
            self.due.push(Reverse((due, nth)));
        }
    }
}

/// Returns players, each with a board and a blitz game that outlasts the measurement.
fn players() -> Vec<Player> {
    (0..BOARDS)
        .map(|nth| {
            let mut chance = Chance::new(nth as u64);
            let settings = SittingSettings {
                setting: Setting {
                    turned: false,
                    white_side: Some(ClockSide::Right),
                    time: Duration::from_secs(180),
                    increment: Duration::from_secs(2),
                    ..Setting::random(&mut chance)
                },
                temperament: Temperament::Blitz,
                thinking: 100,
                seed: chance.bits(),
            };
            let sitting = Sitting::new(START, settings, script(&mut chance));
            let (short, long) = (format!("{nth:05}"), format!("{nth:010}"));
            let board = BoardSettings {
                serial: short.as_bytes().try_into().ok().and_then(SerialNumber::new),
                long_serial: long.as_bytes().try_into().ok().and_then(LongSerialNumber::new),
                clock_phase: chance.time(ms(0, 400)),
                ..BoardSettings::default()
            };
            Player::new(START, board, sitting)
        })
        .collect()
}

/// Returns a random legal game of `LONG_GAME` plies.
fn script(chance: &mut Chance) -> Script {
    loop {
        let mut position = Chess::new();
        let mut script = Script {
            start: plies::dump(position.board()),
            plies: Vec::new(),
            ending: Ending::Stops,
        };
        while script.plies.len() < LONG_GAME && !position.is_game_over() {
            let moves = position.legal_moves();
            let m = moves[chance.below(moves.len())];
            script.plies.push(plies::ply(&position, m));
            position.play_unchecked(m);
        }
        if script.plies.len() == LONG_GAME {
            return script;
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let began = Instant::now();
    let done = work();
    (done, began.elapsed())
}

fn resident_kib() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm
        .split_whitespace()
        .nth(1)
        .and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or_default() * 4
}

/// Length of a game in plies. At 1.2 s per ply it outlasts the measurement.
const LONG_GAME: usize = 170;
