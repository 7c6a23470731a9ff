//! Tests of the tracker, which follows simulated hands on a simulated board.

mod clock;
mod dead;
mod gaps;
mod haste;
mod irregular;
mod jolt;
mod memory;
mod merged;
mod polled;
mod presses;
mod reopened;
mod starts;

use core::time::Duration;

use kiebitz_hardware::{Observation, Observed, Timestamp};
use kiebitz_protocol::{ClockTimes, Contents, Dump, Field, FieldUpdate, Piece as Wire, SideTime};
use shakmaty::Board;

use super::{Finding, Tracker};
use crate::events::{CompletedBy, CorrectionReason};
use crate::model::Model;
use crate::position::start::Drawn;

/// A board, a clock and a tracker that follows them. Time passes only in [`wait`](Self::wait).
struct World {
    tracker: Tracker,
    now: Timestamp,
    fields: Dump,
    announced: Vec<String>,
    /// When each announced ply stood.
    stood: Vec<Timestamp>,
    /// The plies completed by a press, and the seconds that each turn took.
    pressed: Vec<(u32, Option<u64>)>,
    /// White's and Black's times at each completed ply, in seconds.
    completion_times: Vec<(u32, Option<[u64; 2]>)>,
    /// Number of announced plies whose order is not certain.
    uncertain: usize,
    settled: usize,
    /// The log-odds for each settled ply, and against each retracted one.
    odds: Vec<Option<i64>>,
    clock_changes: Vec<String>,
    /// The placement in the last snapshot of the squares.
    reported: Board,
}

const START: &str = "rnbqkbnrpppppppp................................PPPPPPPPRNBQKBNR";

impl World {
    fn new(placement: &str) -> Self {
        Self::expecting(Drawn::Any, placement)
    }

    /// A board on which games should begin from the start position `drawn`.
    fn expecting(drawn: Drawn, placement: &str) -> Self {
        let mut tracker = Tracker::new();
        tracker.expect_start(drawn);
        let mut world = Self {
            tracker,
            now: Timestamp::from_micros(1_000_000_000),
            fields: [None; 64],
            announced: Vec::new(),
            stood: Vec::new(),
            pressed: Vec::new(),
            completion_times: Vec::new(),
            uncertain: 0,
            settled: 0,
            odds: Vec::new(),
            clock_changes: Vec::new(),
            reported: Board::empty(),
        };
        for (field, letter) in world.fields.iter_mut().zip(placement.chars()) {
            *field = wire(letter);
        }
        world.dump();
        world.wait(1000).dump();
        world
    }

    /// Lets `ms` milliseconds pass.
    fn wait(&mut self, ms: u64) -> &mut Self {
        let until = self.now + Duration::from_millis(ms);
        while let Some(deadline) = self.tracker.poll_deadline().filter(|deadline| *deadline <= until) {
            self.tracker.handle_deadline(deadline);
        }
        self.now = until;
        self.listen();
        self
    }

    /// Reports changes of squares, one every 20 ms. "e2." is an empty square, "e4P" one with a white pawn.
    fn shows(&mut self, squares: &str) -> &mut Self {
        for square in squares.split_whitespace() {
            let [file, rank, letter] = *square.as_bytes() else {
                panic!("not a square with a piece: {square}")
            };
            let number = (b'8' - rank) * 8 + (file - b'a');
            let field = Field::new(number).expect("a square");
            let contents = wire(char::from(letter));
            self.fields[usize::from(number)] = contents;
            let update = FieldUpdate::new(field, contents);
            self.observe(Observation::Field {
                update,
                not_before: self.now,
            });
            self.wait(20);
        }
        self
    }

    fn dump(&mut self) -> &mut Self {
        self.observe(Observation::Board {
            dump: self.fields,
            not_before: self.now,
        });
        self
    }

    /// Reports the clock with 200 s for each player. White's times are on its right-hand side.
    fn clock(&mut self, whites_turn: bool, running: bool) -> &mut Self {
        self.times(whites_turn, running, [200, 200])
    }

    /// Reports the clock with White's and Black's times in seconds.
    fn times(&mut self, whites_turn: bool, running: bool, [white, black]: [u8; 2]) -> &mut Self {
        let side = |seconds: u8| SideTime {
            minutes: seconds / 60,
            seconds: seconds % 60,
            flag_fallen: seconds == 0,
            ..SideTime::default()
        };
        let times = ClockTimes {
            left: side(black),
            right: side(white),
            running,
            lever_right_high: whites_turn,
            ..ClockTimes::default()
        };
        self.observe(Observation::Clock {
            times,
            not_before: self.now,
        });
        self
    }

    /// Begins a gap of a minute, after which `placement` stands on the board. The board has no memory.
    fn misses(&mut self, placement: &str) -> &mut Self {
        self.observe(Observation::Closed {
            reason: "unplugged".to_owned(),
        });
        self.wait(60_000);
        for (field, letter) in self.fields.iter_mut().zip(placement.chars()) {
            *field = wire(letter);
        }
        self.observe(Observation::Opened);
        self.dump().wait(2000).dump()
    }

    fn observe(&mut self, observation: Observation) {
        self.tracker.observe(&Observed {
            at: self.now,
            observation,
        });
        self.tracker.check_line();
        self.listen();
    }

    fn listen(&mut self) {
        while let Some((_, finding)) = self.tracker.poll_finding() {
            if let Finding::Made(ply) = &finding {
                self.uncertain += usize::from(ply.any_order);
                self.stood.push(ply.stood_at);
            }
            self.settled += usize::from(matches!(finding, Finding::Settled { .. }));
            if let Finding::Settled { odds, .. } | Finding::Retracted { odds, .. } = finding {
                self.odds.push(odds);
            }
            if let Finding::Clock(change) = &finding {
                self.clock_changes.push(format!("{change:?}"));
            }
            if let Finding::Completed {
                ply,
                by: CompletedBy::Press,
                elapsed,
                ..
            } = &finding
            {
                self.pressed
                    .push((*ply, elapsed.map(|elapsed| elapsed.as_secs())));
            }
            if let Finding::Completed { ply, clock, .. } = &finding {
                let seconds = clock.map(|clock| [clock.white_ms / 1000, clock.black_ms / 1000]);
                self.completion_times.push((*ply, seconds));
            }
            if let Finding::Squares(snapshot) = &finding {
                self.reported.clone_from(&snapshot.board);
            }
            self.announced.extend(match finding {
                Finding::Made(ply) => {
                    let uci = ply.uci.map(|uci| uci.to_string());
                    ply.san.or(uci).or_else(|| Some("irregular".to_owned()))
                }
                Finding::Amended { ply, .. } => {
                    let name = ply.san.unwrap_or_else(|| "irregular".to_owned());
                    Some(format!("no, {name}"))
                }
                Finding::Retracted {
                    reason: CorrectionReason::Takeback,
                    ..
                } => Some("taken back".to_owned()),
                Finding::Retracted {
                    ply,
                    reason: CorrectionReason::SetUp,
                    ..
                } => Some(format!("set up from {ply}")),
                Finding::Retracted { .. } => Some("withdrawn".to_owned()),
                Finding::ResultShown { outcome, .. } => Some(outcome.to_string()),
                Finding::Recovered { by, .. } => Some(format!("{by:?}:")),
                Finding::Start(start) if start.goes_on => Some("goes on:".to_owned()),
                _ => None,
            });
        }
    }

    #[track_caller]
    fn has_announced(&mut self, moves: &str) {
        self.wait(4000);
        assert_eq!(self.announced.join(" "), moves);
    }
}

pub(super) fn wire(letter: char) -> Contents {
    let at = ".PRNBKQprnbkq=+-".find(letter).expect("a piece letter");
    u8::try_from(at)
        .ok()
        .and_then(Wire::from_code)
        .expect("a piece code")
}

/// A placement in which both sides can castle on the king's side.
const CASTLING: &str = "rnbqk..rpppp.ppp....pn....b.............PN...B..PPPP.PPPRNBQK..R";

fn castling() -> World {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(2000).shows("e7. e6p").wait(2000);
    world.shows("g1. f3N").wait(2000).shows("g8. f6n").wait(2000);
    world.shows("f1. c4B").wait(2000).shows("f8. c5b").wait(2000);
    assert_eq!(world.announced.join(" "), "e4 e6 Nf3 Nf6 Bc4 Bc5");
    world.announced.clear();
    world
}

#[test]
fn a_move_is_announced_once_it_has_come_to_rest() {
    World::new(START).shows("e2. e4P").has_announced("e4");
}

/// A knight's jump cannot be the beginning of another move, so it is announced at once. A king that is pushed to the
/// next square while it is adjusted comes back within a scan.
#[test]
fn a_move_waits_only_if_its_piece_may_come_back() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(600).shows("e7. e5p").wait(600);
    world.shows("g1. f3N").wait(80);
    world.has_announced("e4 e5 Nf3");
    world.shows("e8. e7k").wait(200).shows("e7. e8k").wait(1000);
    world.has_announced("e4 e5 Nf3");
    world.shows("e8. e7k").wait(300);
    world.has_announced("e4 e5 Nf3 Ke7");
}

#[test]
fn two_moves_at_once_and_a_late_origin_are_found() {
    World::new(START)
        .shows("g1. f3N g8. f6n")
        .wait(900)
        .shows("d4P d2.")
        .has_announced("Nf3 Nf6 d4");
}

#[test]
fn castling_in_every_order_is_one_ply() {
    castling().shows("e1. g1K h1. f1R").has_announced("O-O");
    castling()
        .shows("h1. f1R")
        .wait(1600)
        .shows("e1. g1K")
        .has_announced("O-O");
    castling()
        .shows("e1. h1.")
        .wait(700)
        .shows("f1R g1K")
        .has_announced("O-O");
    castling()
        .shows("e1. g1K")
        .wait(2000)
        .shows("h1. f1R")
        .has_announced("O-O");
}

#[test]
fn a_rook_beside_its_king_is_a_move_once_it_stays() {
    castling().shows("h1. f1R").has_announced("Rf1");
}

#[test]
fn en_passant_in_every_order_is_one_ply() {
    for order in ["e5. d6P d5.", "d5. e5. d6P", "e5. d5. d6P"] {
        let mut world = World::new(START);
        world
            .shows("e2. e4P")
            .wait(900)
            .shows("a7. a6p")
            .wait(900)
            .shows("e4. e5P")
            .wait(900);
        world
            .shows("d7. d5p")
            .wait(900)
            .shows(order)
            .has_announced("e4 a6 e5 d5 exd6");
    }
}

#[test]
fn promotion_in_every_order_is_one_ply() {
    for order in [
        "b7. a8.  a8P",
        "a8. a8N b7.",
        "b7. a8. a8N",
        "a8. b7. a8P a8. a8N",
    ] {
        let mut world = World::new(START);
        world
            .shows("e2. e4P")
            .wait(900)
            .shows("d7. d5p")
            .wait(900)
            .shows("e4. d5. d5P")
            .wait(900);
        world
            .shows("c7. c6p")
            .wait(900)
            .shows("d5. c6. c6P")
            .wait(900)
            .shows("g8. f6n")
            .wait(900);
        world
            .shows("c6. b7. b7P")
            .wait(900)
            .shows("b8. d7n")
            .wait(900)
            .shows(order);
        if order.ends_with('P') {
            world.wait(1500).shows("a8. a8N");
        }
        world.has_announced("e4 d5 exd5 c6 dxc6 Nf6 cxb7 Nbd7 bxa8=N");
    }
}

#[test]
fn a_capture_hidden_by_the_recapture_is_found() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(900).shows("d7. d5p").wait(900);
    // The white pawn stands on d5 for less than a scan, so no report shows it.
    world
        .shows("e4. d5.")
        .wait(300)
        .shows("d8. d5q")
        .has_announced("e4 d5 exd5 Qxd5");
}

/// The report of the capturing rook was lost. The next report of its square repeats the content before the capture.
#[test]
fn a_capture_whose_report_was_lost_is_found_by_the_recapture() {
    let rooks = format!("...rk......r....{}.P.........R..K.", ".".repeat(32));
    let mut world = World::new(&rooks);
    world.wait(3000).shows("g1. f1K").wait(500).shows("e8. e7k");
    for ply in ["d1. d8. d7r", "b2. b3P", "e7. e6k", "f1. e2K"] {
        world.wait(500).shows(ply);
    }
    world.has_announced("Kf1 Ke7 Rxd7+ Rxd7 b3 Ke6 Ke2");
}

#[test]
fn a_piece_that_goes_on_is_one_move() {
    let mut world = castling();
    world
        .shows("d2. d3P")
        .wait(300)
        .shows("d3. d4P")
        .has_announced("d4");
}

#[test]
fn a_drawn_piece_does_not_stop_on_the_squares_that_it_passes() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(900).shows("e7. e5p").wait(900);
    world
        .shows("e2B f1. d3B e2. c4B d3. b5B c4.")
        .has_announced("e4 e5 Bb5");
}

#[test]
fn a_press_announces_a_move_that_could_go_on() {
    let mut world = World::new(START);
    world.clock(true, false).clock(true, true).wait(500);
    world.shows("d2. d3P").clock(false, true).wait(70);
    assert_eq!(world.announced, ["d3"]);
}

#[test]
fn a_move_taken_back_before_the_press_is_withdrawn() {
    World::new(START)
        .shows("e2. e4P")
        .wait(1000)
        .shows("e4. e2P")
        .wait(2000)
        .shows("d2. d4P")
        .has_announced("e4 taken back d4");
}

/// A move explains two squares. Once it is announced, the cost of withdrawing it also speaks for it.
#[test]
fn settled_and_withdrawn_plies_have_log_odds() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(3000).shows("e4. e2P").wait(3000);
    let Model {
        unexplained,
        withdrawn,
        ..
    } = Model::FITTED;
    let (squares, withdrawn) = (2 * unexplained as i64, withdrawn as i64);
    assert_eq!(world.odds, [Some(squares + withdrawn), Some(squares - withdrawn)]);
}

#[test]
fn a_piece_lifted_and_put_back_is_not_a_move() {
    World::new(START)
        .shows("e2.")
        .wait(3000)
        .shows("e2P")
        .wait(500)
        .shows("g8. g8n")
        .has_announced("");
}
