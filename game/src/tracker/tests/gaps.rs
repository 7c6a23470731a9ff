//! Tests of gaps in the observations. Also provides a notation for recorded elements and a journaled game to other
//! tests.

use core::time::Duration;

use kiebitz_hardware::Observation;
use kiebitz_protocol::{Element, Field};
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Square};

use super::memory::change_unreported;
use super::{START, World, castling, wire};
use crate::events::{DoubtfulPlies, Evidence, Ply};
use crate::model::Model;
use crate::position::{State, Variant};
use crate::tracker::Start;

#[test]
fn plies_in_a_gap_are_found_if_only_one_line_leads_there() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(2000);
    world.misses("rnbqkbnrpppp.ppp............p.......P........N..PPPP.PPPRNBQKB.R");
    world.has_announced("e4 Inferred: e5 Nf3");
}

/// White's last ply before the gap and Black's ply in it were pressed, because the clock runs for White again.
#[test]
fn plies_in_a_gap_were_pressed_if_the_clock_runs_for_the_other_side() {
    let mut world = World::new(START);
    world.times(true, false, [200, 200]).times(true, true, [200, 200]);
    world.wait(1000).shows("e2. e4P").wait(400);
    world.observe(Observation::Closed {
        reason: "unplugged".to_owned(),
    });
    world.wait(10_000).observe(Observation::Opened);
    world.fields = World::new("rnbqkbnrpppp.ppp............p.......P...........PPPP.PPPRNBQKBNR").fields;
    world.times(true, true, [197, 193]).dump();
    world.has_announced("e4 Inferred: e5");
    assert_eq!(world.pressed, [(1, None), (2, None)]);
}

/// The clock's first reading comes after the dump that shows Black's ply, while White is thinking. Black's time has stood
/// still since the press, and White's time had not begun to run.
#[test]
fn a_ply_in_a_gap_has_the_times_of_its_press() {
    let mut world = World::new(START);
    world.times(true, false, [200, 200]).times(true, true, [200, 200]);
    world.wait(1000).shows("e2. e4P").wait(1000);
    world.times(false, true, [198, 200]).wait(2000);
    world.observe(Observation::Closed {
        reason: "unplugged".to_owned(),
    });
    world.wait(10_000).observe(Observation::Opened);
    world.fields = World::new("rnbqkbnrpppp.ppp............p.......P...........PPPP.PPPRNBQKBNR").fields;
    world.dump().wait(2500).times(true, true, [196, 193]).wait(1000);
    world.times(true, true, [195, 193]).wait(5000);
    world.shows("g1. f3N").has_announced("e4 Inferred: e5 Nf3");
    assert_eq!(
        world.completion_times,
        [(1, Some([198, 200])), (2, Some([198, 193]))]
    );
}

/// White plays in the gap, and presses only after it.
#[test]
fn a_press_after_a_gap_has_the_times_of_its_own_reading() {
    let mut world = World::new(START);
    world.times(true, false, [200, 200]).times(true, true, [200, 200]);
    world.wait(2000).observe(Observation::Closed {
        reason: "unplugged".to_owned(),
    });
    world.wait(10_000).observe(Observation::Opened);
    world.fields = World::new("rnbqkbnrpppppppp....................P...........PPPP.PPPRNBQKBNR").fields;
    world.dump().wait(1500).times(true, true, [187, 200]).wait(1000);
    world.times(true, true, [186, 200]).wait(3000);
    world.times(false, true, [188, 200]).wait(1000);
    world.times(false, true, [188, 199]).has_announced("Inferred: e4");
    assert_eq!(world.completion_times, [(1, Some([188, 200]))]);
}

/// The knights went out and back in the gap. White's time stood still before the gap and changed in it, so both players
/// have pressed.
#[test]
fn plies_that_lead_back_to_the_same_position_are_not_left_out() {
    let after = |white: u8| {
        let mut world = World::new(START);
        world.times(true, false, [200, 200]).times(true, true, [200, 200]);
        world.wait(1000).shows("e2. e4P").wait(2000);
        world
            .times(false, true, [198, 200])
            .wait(1000)
            .times(false, true, [198, 199]);
        world.observe(Observation::Closed {
            reason: "unplugged".to_owned(),
        });
        world.wait(10_000).observe(Observation::Opened);
        world.times(false, true, [white, 190]).dump();
        // Time for a memory to arrive.
        world.wait(6000).announced.join(" ")
    };
    assert_eq!(after(198), "e4 Inferred:");
    assert_eq!(after(195), "e4 Undecidable:");
}

/// Black castles. For a while, a king on a square to which no ply has led may be half of a castling.
#[test]
fn half_of_a_castling_does_not_refute_an_inferred_line() {
    let mut world = castling();
    world.wait(3000).observe(Observation::Closed {
        reason: "unplugged".to_owned(),
    });
    change_unreported(&mut world, "d2. d3P");
    world.wait(20_000).observe(Observation::Opened);
    world
        .dump()
        .wait(4000)
        .shows("e8. g8k")
        .wait(2500)
        .shows("h8. f8r");
    world.has_announced("Inferred: d3 O-O");
}

/// Nobody pressed a clock after Bd3, but the bishop had rested for a long time. It moves on from d3 with the next ply,
/// in the gap. If it was in the hand again when the gap began, it went on to c4 in the same turn.
#[test]
fn a_ply_that_stood_before_a_gap_is_not_made_in_it() {
    for (lifted, found) in [("", "Nf6 Bc4"), ("d3.", "no, Bc4 Nf6")] {
        let mut world = World::new(START);
        for ply in ["e2. e4P", "e7. e5p", "f1. d3B"] {
            world.shows(ply).wait(8000).dump();
        }
        world.shows(lifted);
        world.misses("rnbqkb.rpppp.ppp.....n......p.....B.P...........PPPP.PPPRNBQK.NR");
        world.wait(3000);
        world.has_announced(&format!("e4 e5 Bd3 Inferred: {found}"));
    }
}

/// The bishop was on its way over d3 to b5 when the gap began.
#[test]
fn a_piece_goes_on_in_a_gap_that_began_while_it_was_on_its_way() {
    let mut world = World::new(START);
    for ply in ["e2. e4P", "e7. e5p"] {
        world.shows(ply).wait(4000);
    }
    world.shows("f1. d3B").wait(900);
    world.misses("rnbqkbnr.ppp.ppp........pB..p.......P........N..PPPP.PPPRNBQK..R");
    world.has_announced("e4 e5 Bd3 withdrawn Inferred: Bb5 a5 Nf3");
}

#[test]
fn moves_in_a_gap_that_fit_in_any_order_are_announced_as_such() {
    let mut world = World::new(START);
    world.misses("rnbqkbnr.pppppp.p......p................P......P.PPPPPP.RNBQKBNR");
    world.wait(4000);
    let orders = world.uncertain;
    assert_eq!((world.announced.len(), orders), (5, 4), "{:?}", world.announced);
}

/// White moves before Black, at nearly the same time, although it is Black's turn in the line over the gap.
#[test]
fn plies_in_the_wrong_order_refute_a_line_over_a_gap() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(2000);
    world.misses("rnbqkbnrpppp.ppp............p.......P........N..PPPP.PPPRNBQKB.R");
    world.wait(4000);
    world
        .shows("a2.")
        .wait(300)
        .shows("a3P")
        .wait(60)
        .shows("a7. a6p");
    world.wait(4000);
    world.has_announced("e4 Inferred: e5 Nf3 withdrawn Undecidable:");
}

#[test]
fn a_game_goes_on_after_a_gap_that_cannot_be_explained() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(2000);
    world.misses("r..q.rk..pp.bpppp.np.n......p.......P.b...NP.N.PPPP.BPP.R.BQ.RK.");
    world.has_announced("e4");
    world.wait(10_000);
    world.has_announced("e4 Undecidable:");
    world.shows("h3. h4P").wait(3000).shows("d6. d5p");
    world.has_announced("e4 Undecidable: goes on: h4 d5");
}

/// Five plies lead back to the last known position. Two of them were observed, so the board did not simply stand still.
#[test]
fn plies_that_lead_back_to_the_last_position_are_announced() {
    let mut world = World::new(START);
    world
        .clock(true, true)
        .shows("e2. e4P")
        .wait(2000)
        .clock(false, true);
    world.shows("e7. e5p").wait(2000).clock(true, true).wait(2000);
    world.observe(Observation::Closed {
        reason: "unplugged".to_owned(),
    });
    // 2. Bc4 Qh4 3. Bd3
    change_unreported(&mut world, "d8. h4q f1. d3B");
    world.wait(60_000).observe(Observation::Opened);
    // The memory was not requested.
    world.clock(false, true).dump().wait(6000);
    world.shows("h4. d8q").wait(900).clock(true, true).wait(900);
    world.shows("d3. f1B").wait(3000).dump();
    world.has_announced("e4 e5 Undecidable: goes on: Qd8 Bf1");
}

/// In a blitz game no piece rests for seconds, so the moves themselves show the side to move.
#[test]
fn a_blitz_game_goes_on_after_a_gap() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(2000);
    world.misses("r..q.rk..pp.bpppp.np.n......p.......P.b...NP.N.PPPP.BPP.R.BQ.RK.");
    // The memory was not requested, and for a moment after the dump a piece may still be in a hand.
    world.wait(4000);
    for squares in [
        "h3. h4P", "d6. d5p", "g2. g3P", "d5. d4p", "c3. a4N", "a8. b8r", "a2. a3P", "g7. g6p", "b2. b3P",
        "h7. h6p", "a4. b2N", "b7. b5p", "b2. a4N", "b5. b4p",
    ] {
        world.shows(squares).wait(900);
    }
    assert!(
        world.announced.join(" ").starts_with("e4 Undecidable: goes on: "),
        "{:?}",
        world.announced
    );
    assert_eq!(world.announced.last().map(String::as_str), Some("b4"));
}

#[test]
fn a_game_goes_on_after_a_rook_captured_a_rook_in_its_corner() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(2000);
    world.misses("...qkbnr.pp.pppp..npb...............P.....NP.N...PP.BPPPr.BQK..R");
    world.wait(10_000);
    world.shows("h2. h4P").wait(3000).shows("d6. d5p");
    world.has_announced("e4 Undecidable: goes on: h4 d5");
}

/// A pawn was in a hand when play was to be rejoined, so the plies before the first known placement are lost. If the
/// pawn had rested on h3 before, these plies are known.
#[test]
fn plies_before_play_is_rejoined_are_undecidable() {
    let announced = |h3: &str| {
        let mut world = World::new(START);
        world.shows("e2. e4P").wait(2000);
        let placement = "r..q.rk..pp.bpppp.np.n......p.......P.b...NP.N.?PPP.BPP.R.BQ.RK.";
        world.misses(&placement.replace('?', h3));
        world.wait(12_000);
        if h3 == "P" {
            world.shows("h3.");
        }
        world.wait(3000).shows("h4P");
        world.wait(500).shows("d6. d5p").wait(3000).shows("g2. g3P");
        world.wait(3000).dump();
        world.announced.join(" ")
    };
    assert_eq!(announced("."), "e4 Undecidable: Undecidable: goes on: g3");
    assert_eq!(announced("P"), "e4 Undecidable: goes on: h4 d5 g3");
}

/// The plies since the gap are not known, so a return to the start position is not a takeback of them.
#[test]
fn pieces_set_up_again_after_a_gap_begin_a_game() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(2000);
    world.misses("r..q.rk..pp.bpppp.np.n......p.......P.b...NP.N.PPPP.BPP.R.BQ.RK.");
    world.wait(12_000);
    world.fields = World::new(START).fields;
    world.dump().wait(3000).shows("d2. d4P");
    world.has_announced("e4 Undecidable: Undecidable: d4");
}

/// The king's move is not beyond doubt, because castling may follow. After eight seconds it has stood for longer than
/// any castling takes.
#[test]
fn a_ply_that_stood_before_a_gap_is_not_withdrawn() {
    let before = |stands: u64| {
        let mut world = castling();
        world.shows("e1. f1K").wait(stands);
        world.misses("r..q.rk..pp.bpppp.np.n......p.......P.b...NP.N.PPPP.BPP.R.BQ.RK.");
        world.wait(12_000);
        world.announced.join(" ")
    };
    assert_eq!(before(8000), "Kf1 Undecidable:");
    assert_eq!(before(3000), "Kf1 withdrawn Undecidable:");
}

/// Like a ply before a gap, a ply that stood before a restart is kept. The journal has the time of its announcement.
#[test]
fn a_ply_that_stood_before_a_restart_is_not_withdrawn() {
    let before = |stood: u64| {
        let mut world = World::new(START);
        let (start, [e4, e5]) = journaled(&world, ["e2e4", "e7e5"]);
        world.now = world.now + Duration::from_millis(stood);
        world
            .tracker
            .resume(world.now, &start, [(&e4, true), (&e5, false)], None);
        world.wait(60_000);
        let placement = "r..q.rk..pp.bpppp.np.n..............P.b...NP.N.PPPP.BPP.R.BQ.RK.";
        world.fields = World::new(placement).fields;
        world.observe(Observation::Opened);
        world.dump();
        // The memory lists e4 and e5, but not how the present placement came about.
        let elements = elements("e2. e4P e7. e5p");
        world.observe(Observation::Memory { elements });
        world.dump().wait(14_000);
        world.announced.join(" ")
    };
    assert_eq!(before(8000), "Undecidable:");
    assert_eq!(before(3000), "withdrawn Undecidable:");
}

/// The next game begins with the same move. A takeback of four unheard plies is not assumed.
#[test]
fn a_game_with_the_same_first_move_after_a_gap_is_a_new_one() {
    let played = |plies: &[&str]| {
        let mut world = World::new(START);
        for squares in plies {
            world.shows(squares).wait(4000);
        }
        world.announced.clear();
        world.misses("rnbqkbnrpppppppp....................P...........PPPP.PPPRNBQKBNR");
        world.wait(12_000).shows("e7. e6p").wait(3000).dump().wait(1000);
        world.announced.join(" ")
    };
    let plies = ["e2. e4P", "e7. e5p", "g1. f3N", "b8. c6n", "f1. c4B"];
    assert_eq!(played(&plies), "Undecidable: goes on: e6");
}

/// Reports are lost again after the gap: a knight is put down without having been lifted.
#[test]
fn play_is_rejoined_from_a_dump_after_reports_were_lost() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(2000);
    world.misses("r..q.rk..pp.bpppp.np.n......p.......P.b...NP.N.PPPP.BPP.R.BQ.RK.");
    world.wait(8000).shows("f3N").wait(4000).shows("h3. h4P");
    world.has_announced("e4");
    world.dump().wait(4000).shows("d6. d5p");
    world.has_announced("e4 Undecidable: goes on: h4 d5");
}

/// Parses changes of squares: "e2." for an empty square, "e4P" for a pawn, with a trailing ' if the change came within
/// a scan of the previous one. R and L are presses on the right and on the left.
pub(super) fn elements(text: &str) -> Vec<Element> {
    let pressed = |left: bool| Element::ClockTime {
        left,
        hours: 0,
        minutes: 4,
        seconds: 50,
    };
    let change = |word: &str| {
        let (square, letter) = word.split_at(2);
        let square: Square = square.parse().expect("a square");
        Element::PieceChange {
            contents: wire(letter.chars().next().expect("a piece")),
            field: Field::new(square.flip_vertical() as u8).expect("a field"),
            quick: letter.ends_with('\''),
        }
    };
    text.split_whitespace()
        .map(|word| match word {
            "R" => pressed(false),
            "L" => pressed(true),
            word => change(word),
        })
        .collect()
}

/// The start of a game and its plies in UCI notation, as the journal has them.
pub(super) fn journaled<const N: usize>(world: &World, plies: [&str; N]) -> (Start, [Ply; N]) {
    let fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let state = State::from_fen(fen, CastlingMode::Standard).expect("a FEN");
    let start = Start {
        variant: Variant::Standard,
        state: state.clone(),
        turned: false,
        goes_on: false,
    };
    let (mut before, mut number) = (state, 0);
    let plies = plies.map(|uci| {
        let uci: UciMove = uci.parse().expect("UCI");
        let played = before.legal_move(&uci).expect("legal");
        number += 1;
        let ply = Ply {
            number,
            color: before.turn(),
            played: Some(played),
            uci: Some(uci),
            san: Some(before.san(played)),
            after: before.after(played),
            captured: None,
            lifted_at: world.now,
            stood_at: world.now,
            inferred: false,
            recovered: false,
            any_order: false,
            clock: None,
            evidence: Evidence::default(),
        };
        before = ply.after.clone();
        ply
    });
    (start, plies)
}

#[test]
fn a_game_is_resumed_from_the_journal() {
    let mut world = World::new(START);
    let (start, [e4]) = journaled(&world, ["e2e4"]);
    world.tracker.resume(world.now, &start, [(&e4, true)], None);
    world.misses("rnbqkbnrpppp.ppp............p.......P........N..PPPP.PPPRNBQKB.R");
    world.has_announced("Inferred: e5 Nf3");
    let numbers = world.tracker.line.map(|line| line.tree.node(line.tree.tip()).ply);
    assert_eq!(numbers, Some(3));
}

/// The daemon had inferred Black's reply over a gap, and was restarted before the reply was confirmed.
fn resumed_in_doubt() -> World {
    let mut world = World::new(START);
    let (start, [e4, e5]) = journaled(&world, ["e2e4", "e7e5"]);
    let doubt = DoubtfulPlies {
        from: world.now,
        first: 2,
        last: 2,
    };
    let plies = [(&e4, true), (&e5, true)];
    world.tracker.resume(world.now, &start, plies, Some(doubt));
    world.misses("rnbqkbnrpppp.ppp............p.......P...........PPPP.PPPRNBQKBNR");
    world
}

/// Black moves again, which the inferred reply does not allow.
#[test]
fn a_doubt_survives_a_restart() {
    let mut world = resumed_in_doubt();
    world.wait(4000).shows("d7. d6p").wait(6000);
    world.has_announced("Inferred: withdrawn Undecidable:");
}

/// White thinks with the piece in the hand, which does not contradict the inferred reply.
#[test]
fn a_piece_in_a_hand_does_not_refute_an_inferred_line() {
    let mut world = resumed_in_doubt();
    world.shows("g1.").wait(6000).shows("f3N");
    world.has_announced("Inferred: Nf3");
}

/// The bishop went to e2 in the gap. Now it is drawn over c4, its square before the gap, to b5.
#[test]
fn a_piece_that_passes_its_square_from_before_a_gap_moved_in_the_gap() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(2000).shows("e7. e5p").wait(2000);
    world.shows("f1. c4B").wait(4000).shows("b8. c6n").wait(4000);
    world.announced.clear();
    world.observe(Observation::Closed {
        reason: "unplugged".to_owned(),
    });
    world.wait(60_000);
    let (c4, e2) = (34, 52);
    world.fields.swap(c4, e2);
    world.observe(Observation::Opened);
    world.dump().wait(900).shows("e2. c4B").wait(100);
    world.shows("c4. b5B").has_announced("Inferred: Be2 no, Bb5");
}

/// The knights have gone out and back, the last one in a gap.
#[test]
fn a_position_that_recurs_in_a_gap_is_not_a_takeback() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(2000).shows("e7. e5p").wait(2000);
    world.shows("g1. f3N").wait(2000).shows("b8. c6n").wait(2000);
    world.shows("f3. g1N").wait(5000);
    world.announced.clear();
    world.misses("rnbqkbnrpppp.ppp............p.......P...........PPPP.PPPRNBQKBNR");
    world.has_announced("Inferred: Nb8");
}

/// King and rook change places. All pieces still stand on their ranks, but no other start position was set up.
#[test]
fn castling_with_the_first_move_in_a_gap_is_not_a_wrong_start() {
    let mut world = World::new("bnrknrqbpppppppp................................PPPPPPPPBNRKNRQB");
    world
        .wait(4000)
        .misses("bnrknrqbpppppppp................................PPPPPPPPBNKRNRQB");
    world.has_announced("Inferred: O-O-O");
}

/// Whole games may have been played in the gap, and the pieces set up again.
#[test]
fn a_gap_at_a_start_position_is_undecidable() {
    let mut world = World::new(START);
    world.wait(4000).misses(START);
    world.has_announced("Undecidable:");
    world
        .shows("e2. e4P")
        .wait(4000)
        .misses("rnbqkbnrpppppppp....................P...........PPPP.PPPRNBQKBNR");
    world.has_announced("Undecidable: e4 Inferred:");
}

/// The pieces are set up while the daemon waits for the memory, and a game begins. The gap begins before the memory
/// arrives.
#[test]
fn a_game_that_begins_just_before_a_gap_is_undecidable_in_it() {
    let mut world = World::new(START);
    for ply in ["e2. e4P", "e7. e5p", "g1. f3N", "b8. c6n", "f1. c4B", "f8. c5b"] {
        world.shows(ply).wait(4000);
    }
    world.fields = World::new(START).fields;
    world.dump().wait(300).observe(Observation::MemoryAsked);
    world.wait(3000);
    world.misses("rnbqkbnr.pppp.pp................p....p..P....N...PPPPPPPRNBQKB.R");
    world.wait(12_000);
    world.has_announced("e4 e5 Nf3 Nc6 Bc4 Bc5 Undecidable:");
}

#[test]
fn a_line_that_was_inferred_wrongly_is_withdrawn() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(4000);
    // The placement suggests that White is to move, but Black moves next.
    world.misses("rnbqkbnrpppp.ppp............p.......P...........PPPP.PPPRNBQKBNR");
    world.shows("d7. d6p").wait(6000).shows("b8. c6n").wait(6000);
    let announced = world.announced.join(" ");
    assert!(announced.starts_with("e4 Inferred: e5"), "{announced}");
    assert!(announced.contains("withdrawn Undecidable:"), "{announced}");
}

/// The simultaneous moves do not show the side to move, so Black's next move is not illegal.
#[test]
fn moves_at_the_same_time_do_not_prove_a_line() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(4000);
    world.misses("rnbqkbnrpppp.ppp............p.......P...........PPPP.PPPRNBQKBNR");
    world
        .shows("d7. d6p g1. f3N")
        .wait(6000)
        .shows("b8. c6n")
        .wait(12_000);
    let announced = world.announced.join(" ");
    assert!(announced.ends_with("withdrawn Undecidable:"), "{announced}");
    assert!(!announced.contains("b8c6"), "{announced}");
}

/// White goes on with another piece although the line still has the queen on d1.
#[test]
fn a_line_is_withdrawn_if_its_player_moves_on_while_a_piece_is_missing() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(4000);
    world.misses("rnbqkbnrpppp.ppp............p.......P...........PPPP.PPPRNBQKBNR");
    world.shows("d1.").wait(2000).shows("g1. f3N").wait(6000);
    let announced = world.announced.join(" ");
    assert!(announced.ends_with("withdrawn Undecidable:"), "{announced}");
    // The missing piece was lifted before the piece of its player's next ply, which is unlikely.
    assert_eq!(world.odds.pop(), Some(Some(Model::FITTED.unlikely as i64)));
}

/// Play goes on too fast for the board to be quiet. No move is announced before the pieces are explained.
#[test]
fn no_move_is_announced_on_a_wrongly_inferred_line() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(4000);
    world.misses("rnbqkbnrpppp.ppp............p.......P...........PPPP.PPPRNBQKBNR");
    // Black's knight moves, which a line with White to move does not explain.
    for squares in [
        "b8. c6n", "g1. f3N", "f8. c5b", "f1. c4B", "g8. f6n", "b1. c3N", "d7. d6p",
    ] {
        world.shows(squares).wait(900);
    }
    world.wait(6000);
    let announced = world.announced.join(" ");
    assert!(
        announced.starts_with("e4 Inferred: e5 withdrawn Undecidable:"),
        "{announced}"
    );
}

/// A king and a rook on the first rank may have the right to castle. If they castle, they had this right.
#[test]
fn castling_is_found_in_a_game_in_progress() {
    let mut world = World::new("....k...ppp..ppp................................PPP..PPP...K...R");
    world.wait(3000).shows("g7. g6p").wait(3000);
    let fen = world
        .tracker
        .line
        .as_ref()
        .map(|line| line.tree.node(0).state.fen());
    assert_eq!(fen.as_deref(), Some("4k3/ppp2ppp/8/8/8/8/PPP2PPP/3K3R b - - 0 1"));
    world.shows("h1. f1R").wait(1500).shows("d1. g1K").wait(4000);
    world.has_announced("g6 O-O");
}

/// An unknown right to castle survives a restart, and is lost when the king moves.
#[test]
fn castling_with_an_unknown_right_is_found_by_its_uci_until_the_king_moves() {
    let found = State::from_fen("3k4/8/8/8/8/8/8/R2K3R w - - 0 1", CastlingMode::Standard);
    let found = found.expect("a FEN").with_unknown_past();
    let uci = |uci: &str| uci.parse().expect("UCI");
    let castling = found.legal_move(&uci("d1h1")).expect("may be legal");
    assert_eq!(found.after(castling).fen(), "3k4/8/8/8/8/8/8/R4RK1 b - - 1 1");
    let mut walked = found;
    for step in ["d1e1", "d8e8", "e1d1", "e8d8"] {
        let step = walked.legal_move(&uci(step)).expect("legal");
        walked = walked.after(step);
    }
    assert_eq!(walked.legal_move(&uci("d1h1")), None);
}

/// White plays Nf3 again in the gap, and presses after it. Until then the clock runs for White; after a takeback of
/// three plies it would run for Black.
#[test]
fn a_takeback_that_the_clock_contradicts_is_not_assumed() {
    let mut world = World::new(START);
    world.clock(true, true);
    let plies = ["e2. e4P", "e7. e5p", "g1. f3N", "b8. c6n", "f3. g1N", "c6. b8n"];
    for (squares, whites_turn) in plies.into_iter().zip([false, true].into_iter().cycle()) {
        world
            .wait(2000)
            .shows(squares)
            .wait(1000)
            .clock(whites_turn, true);
    }
    world.announced.clear();
    world.misses("rnbqkbnrpppp.ppp............p.......P........N..PPPP.PPPRNBQKB.R");
    world.clock(true, true).wait(4000).clock(false, true);
    world.has_announced("Inferred: Nf3");
}

/// The knight is back on its square, and it is White's turn, as after a takeback of the move. If the move was pressed,
/// other plies may have led to this position.
#[test]
fn a_ply_that_was_pressed_is_not_taken_back_in_a_gap() {
    for (pressed, expected) in [(true, "Undecidable:"), (false, "taken back Inferred:")] {
        let mut world = World::new(START);
        world.clock(true, true).wait(2000).shows("e2. e4P").wait(1000);
        world.clock(false, true).wait(2000).shows("e7. e5p").wait(1000);
        world.clock(true, true).wait(2000).shows("g1. f3N").wait(8000);
        if pressed {
            world.clock(false, true).wait(8000);
        }
        world.announced.clear();
        world.misses("rnbqkbnrpppp.ppp............p.......P...........PPPP.PPPRNBQKBNR");
        world.clock(true, true).wait(20_000);
        world.has_announced(expected);
    }
}
