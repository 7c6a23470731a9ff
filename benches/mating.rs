//! Cost of determining whether a side can still mate: `cargo bench --bench mating [-- FILE.pgn...]`.
//!
//! The benchmark runs the public test vectors first, with a budget of ten million nodes per query. Then it runs the
//! final positions of the games in the given PGN files or, without files, of random legal games of random length.
//! Checkmate positions are omitted.
//!
//! | positions | queries | answered by `quick` | undetermined by `can_mate` | nodes: mean | 99 % | worst |
//! | --- | --- | --- | --- | --- | --- | --- |
//! | end of 1,071 tournament games (from pgn-reader's own benchmark) | 2,142 | 99.86 % | 0 | 241 | 1,098 | 3,425 |
//! | end of 335 online games | 670 | 99.85 % | 0 | 230 | 1,051 | 2,016 |
//! | random endings with four to ten pieces | 12,000 | | 0 | | | 60,503 |

#![expect(clippy::expect_used, reason = "a benchmark of bundled data may stop")]

use std::fs::File;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use kiebitz_game::laws::mating::{MatingAnswer, can_mate, quick};
use pgn_reader::{Reader, SanPlus, Visitor};
use shakmaty::{CastlingMode, Chess, Color, FromSetup, Position, PositionError, fen::Fen};

const BUDGET: u64 = 10_000_000;

#[expect(clippy::print_stdout, reason = "a benchmark reports")]
fn main() {
    vectors();
    let files: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument.ends_with(".pgn"))
        .collect();
    if files.is_empty() {
        let positions: Vec<Chess> = (0..500).map(random_game).collect();
        games("random games", &positions);
    }
    for file in files {
        match final_positions(&file) {
            Ok(positions) => games(&file, &positions),
            Err(error) => println!("{file}: {error}"),
        }
    }
}

/// Costs and results of the queries of one kind.
#[derive(Default)]
struct Costs {
    times: Vec<Duration>,
    nodes: Vec<u64>,
    undetermined: usize,
    wrong: usize,
}

impl Costs {
    fn full(&mut self, position: &Chess, side: Color, expected: Option<bool>) {
        let (verdict, time) = timed(|| can_mate(position, side, BUDGET));
        self.times.push(time);
        self.nodes.push(verdict.nodes);
        let answer = match verdict.answer {
            MatingAnswer::Can { .. } => Some(true),
            MatingAnswer::Cannot { .. } => Some(false),
            MatingAnswer::Undetermined => None,
        };
        self.count(answer, expected);
    }

    fn quick(&mut self, position: &Chess, side: Color, expected: Option<bool>) {
        let (answer, time) = timed(|| quick(position, side));
        self.times.push(time);
        self.nodes.push(0);
        self.count(answer, expected);
    }

    fn count(&mut self, answer: Option<bool>, expected: Option<bool>) {
        self.undetermined += usize::from(answer.is_none());
        self.wrong += usize::from(answer.is_some() && expected.is_some() && answer != expected);
    }

    #[expect(clippy::print_stdout, reason = "a benchmark reports")]
    fn report(mut self, name: &str) {
        let queries = self.times.len().max(1);
        self.times.sort_unstable();
        self.nodes.sort_unstable();
        let mean = self.times.iter().sum::<Duration>() / u32::try_from(queries).unwrap_or(u32::MAX);
        let nodes = self.nodes.iter().sum::<u64>() / queries as u64;
        let index = |share: f64| ((queries - 1) as f64 * share) as usize;
        let at = |share| self.times.get(index(share)).copied().unwrap_or_default();
        println!(
            "{name}: {queries} questions, {} undetermined ({:.2} %), {} wrong; mean {mean:?}, median {:?}, 99 % {:?}, \
             worst {:?}; nodes mean {nodes}, 99 % {}, worst {}",
            self.undetermined,
            100.0 * self.undetermined as f64 / queries as f64,
            self.wrong,
            at(0.5),
            at(0.99),
            at(1.0),
            self.nodes.get(index(0.99)).copied().unwrap_or_default(),
            self.nodes.last().copied().unwrap_or_default(),
        );
    }
}

fn vectors() {
    let (mut full_costs, mut quick_costs) = (Costs::default(), Costs::default());
    for line in include_str!("../tests/positions/mating.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
    {
        let (sides, fen) = line.split_at(3);
        let setup = fen.parse::<Fen>().expect("a FEN").into_setup();
        let position = Chess::from_setup(setup, CastlingMode::Chess960)
            .or_else(PositionError::ignore_too_much_material)
            .or_else(PositionError::ignore_impossible_check)
            .expect("a position");
        for (side, letter) in [(Color::White, 'W'), (Color::Black, 'B')] {
            quick_costs.quick(&position, side, Some(sides.contains(letter)));
            full_costs.full(&position, side, Some(sides.contains(letter)));
        }
    }
    quick_costs.report("vectors, quick");
    full_costs.report("vectors, full");
}

fn games(name: &str, positions: &[Chess]) {
    let (mut full_costs, mut quick_costs) = (Costs::default(), Costs::default());
    for position in positions.iter().filter(|position| !position.is_checkmate()) {
        for side in Color::ALL {
            quick_costs.quick(position, side, None);
            full_costs.full(position, side, None);
        }
    }
    quick_costs.report(&format!("{name}, quick"));
    full_costs.report(&format!("{name}, full"));
}

/// Returns the position after 20 to 299 random legal moves, or earlier if the game ends.
fn random_game(seed: u64) -> Chess {
    let mut state = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as usize
    };
    let mut position = Chess::new();
    for _ in 0..20 + next() % 280 {
        let moves = position.legal_moves();
        let Some(mv) = moves.get(next() % moves.len().max(1)) else {
            break;
        };
        position.play_unchecked(*mv);
    }
    position
}

/// Returns the final positions of the games in a PGN file. Skips games with an illegal move.
fn final_positions(file: &str) -> std::io::Result<Vec<Chess>> {
    let mut reader = Reader::new(File::open(file)?);
    let mut positions = Vec::new();
    while let Some(end) = reader.read_game(&mut FinalPosition)? {
        positions.extend(end);
    }
    Ok(positions)
}

/// Visitor that returns the final position of a game, or `None` if a move is illegal.
struct FinalPosition;

impl Visitor for FinalPosition {
    type Tags = ();
    type Movetext = Chess;
    type Output = Option<Chess>;

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, ()> {
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, (): ()) -> ControlFlow<Self::Output, Chess> {
        ControlFlow::Continue(Chess::new())
    }

    fn san(&mut self, position: &mut Chess, san: SanPlus) -> ControlFlow<Self::Output> {
        match san.san.to_move(position) {
            Ok(mv) => {
                position.play_unchecked(mv);
                ControlFlow::Continue(())
            }
            Err(_) => ControlFlow::Break(None),
        }
    }

    fn end_game(&mut self, position: Chess) -> Self::Output {
        Some(position)
    }
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let began = Instant::now();
    let done = work();
    (done, began.elapsed())
}
