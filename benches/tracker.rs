//! Cost of tracking one board: `cargo bench --bench tracker`.
//!
//! Time per observation on one core of a shared 2-core x86-64 machine. Each call is timed separately, and the fastest
//! of five rounds counts:
//!
//! | observations | mean | worst |
//! | --- | --- | --- |
//! | recorded game | 0.7 µs | 2.4 µs |
//! | 400,000 adversarial observations (pieces on random squares at random times) | 0.5 µs | 17 µs |
//! | 2,000 gaps without the board's memory | 8.8 µs | 226 µs |
//!
//! A tracker takes 18 KiB after a short game.

#![expect(clippy::expect_used, reason = "a benchmark of bundled data may stop")]

use std::time::{Duration, Instant};

use kiebitz_game::hall::Board as WatchedBoard;
use kiebitz_game::laws::Regulations;
use kiebitz_hardware::capture::{CaptureReader, Content, Direction};
use kiebitz_hardware::{Observation, Observed, Session, Timestamp};
use kiebitz_protocol::{Dump, Field, FieldUpdate, Piece};
use shakmaty::{Board, Chess, Position};

const ROUNDS: usize = 5;

#[expect(clippy::print_stdout, reason = "a benchmark reports")]
fn main() {
    let game = recorded();
    let before = resident_kib();
    let boards: Vec<WatchedBoard> = (0..1000).map(|_| follow(&game).0).collect();
    let kib_per_board = resident_kib().saturating_sub(before) / boards.len();
    println!("memory: {kib_per_board} KiB a board after a game");
    report("recorded game", &game);
    report("shuffled pieces", &shuffled(400_000));
    report("gaps without memory", &gaps(2000));
}

#[expect(clippy::print_stdout, reason = "a benchmark reports")]
fn report(name: &str, observations: &[Observed]) {
    // Every round makes the same calls, so taking the minimum of each call excludes delays by other processes.
    let (_, mut costs) = follow(observations);
    for _ in 1..ROUNDS {
        for (cost, repeated) in costs.iter_mut().zip(follow(observations).1) {
            *cost = repeated.min(*cost);
        }
    }
    costs.sort_unstable();
    let total: Duration = costs.iter().sum();
    let at = |share: f64| costs[((costs.len() - 1) as f64 * share) as usize];
    let mean = total / u32::try_from(observations.len()).unwrap_or(u32::MAX);
    println!(
        "{name}: {} observations, mean {mean:?}, 99 % {:?}, 99.9 % {:?}, worst {:?}",
        observations.len(),
        at(0.99),
        at(0.999),
        at(1.0)
    );
}

/// Feeds observations to a board and returns the time of each call.
fn follow(observations: &[Observed]) -> (WatchedBoard, Vec<Duration>) {
    let mut board = WatchedBoard::new("board-1", "bench", Regulations::default());
    let mut costs = Vec::with_capacity(observations.len());
    for observed in observations {
        while let Some(deadline) = board.poll_deadline().filter(|deadline| *deadline <= observed.at) {
            costs.push(timed(|| board.advance(deadline)));
        }
        costs.push(timed(|| board.observe(observed)));
        board.take_events();
    }
    (board, costs)
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn timed(work: impl FnOnce()) -> Duration {
    let began = Instant::now();
    work();
    began.elapsed()
}

fn recorded() -> Vec<Observed> {
    let capture: &[u8] = include_bytes!("../src/tools/demo/game.pcapng");
    let mut reader = CaptureReader::new(capture).expect("the bundled capture");
    let mut session = Session::new();
    let mut observations = Vec::new();
    while let Ok(Some(packet)) = reader.next_packet() {
        match &packet.content {
            Content::Opened => session.handle_opened(packet.at),
            Content::Closed { reason } => session.handle_closed(packet.at, reason),
            Content::ClockSet { .. } => {}
            Content::Bytes {
                direction: Direction::Inbound,
                bytes,
            } => session.handle_bytes(packet.at, bytes),
            Content::Bytes {
                direction: Direction::Outbound,
                bytes,
            } => session.handle_sent(packet.at, bytes),
        }
        observations.extend(std::iter::from_fn(|| session.poll_observation()));
    }
    observations
}

/// Returns random field updates, with a dump of the start position for every 97th observation.
fn shuffled(count: usize) -> Vec<Observed> {
    let start = recorded()
        .into_iter()
        .find_map(|observed| match observed.observation {
            Observation::Board { dump, .. } => Some(dump),
            _ => None,
        })
        .expect("a dump");
    let mut next = random();
    let mut now = Timestamp::from_micros(0);
    (0..count)
        .map(|at| {
            now = now + Duration::from_millis(1 + next(300));
            let field = Field::all().nth(next(64) as usize).expect("a field");
            let contents = Piece::from_code(next(13) as u8)
                .expect("a code")
                .filter(|_| at % 3 != 0);
            let update = FieldUpdate::new(field, contents);
            let observation = match at % 97 {
                0 => Observation::Board {
                    dump: start,
                    not_before: now,
                },
                _ => Observation::Field {
                    update,
                    not_before: now,
                },
            };
            Observed { at: now, observation }
        })
        .collect()
}

/// Returns random games, each with a gap in which up to ten plies are played or, in one of eight, another game starts.
fn gaps(count: u64) -> Vec<Observed> {
    let mut next = random();
    let mut now = Timestamp::from_micros(0);
    let mut observations = Vec::new();
    let mut observe = |seconds: u64, observation: Observation| {
        now = now + Duration::from_secs(seconds);
        observations.push(Observed { at: now, observation });
    };
    let dump = |position: &Chess, not_before| Observation::Board {
        dump: fields(position.board()),
        not_before,
    };
    let long_ago = Timestamp::from_micros(0);
    for gap in 0..count {
        let mut position = Chess::new();
        observe(60, dump(&position, long_ago));
        for _ in 0..next(30) {
            play(&mut position, &mut next);
            observe(4, dump(&position, long_ago));
        }
        let reason = "unplugged".to_owned();
        observe(1, Observation::Closed { reason });
        if gap % 8 == 0 {
            position = Chess::new();
        }
        for _ in 0..next(if gap % 8 == 0 { 60 } else { 11 }) {
            play(&mut position, &mut next);
        }
        observe(60, Observation::Opened);
        observe(1, dump(&position, long_ago));
    }
    observations
}

fn play(position: &mut Chess, next: &mut impl FnMut(u64) -> u64) {
    let moves = position.legal_moves();
    if !moves.is_empty() {
        position.play_unchecked(moves[next(moves.len() as u64) as usize]);
    }
}

fn fields(board: &Board) -> Dump {
    let mut dump: Dump = [None; 64];
    for (square, piece) in board.clone() {
        dump[usize::from(square.flip_vertical())] = Piece::from_fen(piece.char());
    }
    dump
}

fn random() -> impl FnMut(u64) -> u64 {
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    move |below: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % below
    }
}

fn resident_kib() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm
        .split_whitespace()
        .nth(1)
        .and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or_default() * 4
}
