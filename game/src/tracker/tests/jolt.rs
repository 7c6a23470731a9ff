//! Tests of jolts: somebody runs into the table, and pieces slide.

use shakmaty::CastlingMode;

use super::super::{Given, State};
use super::{START, World};

/// After e4, five pieces slide to neighbouring squares.
fn jolted() -> World {
    let mut world = World::new(START);
    world.clock(true, true);
    world.shows("e2. e4P").wait(500).clock(false, true).wait(2000);
    world
        .shows("b1. c3. a2. a3P g1. h3N d2. d3P c1. b1B f7. f6p")
        .wait(1000);
    world
}

#[test]
fn no_move_is_announced_until_the_pieces_stand_again() {
    let mut world = jolted();
    world.clock(false, false).wait(3000);
    // While the pieces are put back, the board shows placements that legal moves could lead to.
    for squares in ["a3. a2P", "h3. g1N", "d3. d2P", "b1. c1B", "b1N"] {
        world.shows(squares).wait(4000);
    }
    world.shows("f6. f7p").wait(2000).clock(false, true);
    world.shows("e7. e5p").has_announced("e4 e5");
}

#[test]
fn play_goes_on_without_a_piece_that_is_not_put_back() {
    let mut world = jolted();
    world.clock(false, false).wait(3000);
    for squares in ["h3. g1N", "d3. d2P", "b1. c1B", "b1N", "f6. f7p"] {
        world.shows(squares).wait(1000);
    }
    // The pawn is left on a3, which is not a move.
    world.wait(2000).clock(false, true);
    world.shows("e7. e5p").wait(500).clock(true, true);
    world.shows("d1. h5Q").has_announced("e4 e5 Qh5");
}

#[test]
fn a_move_just_before_a_jolt_was_played() {
    let mut world = World::new(START);
    world.clock(true, true);
    world.shows("g1. h3N").wait(400);
    world.shows("c1. b1B b8. c8n a2. a3P d2. d3P f7. f6p").wait(1000);
    world.clock(true, false).wait(1000);
    for squares in [
        "b1. c1B", "b1N", "c8. b8n", "c8b", "a3. a2P", "d3. d2P", "f6. f7p",
    ] {
        world.shows(squares).wait(800);
    }
    world.wait(2000).clock(true, true).wait(500).clock(false, true);
    world.shows("e7. e5p").has_announced("Nh3 e5");
}

/// The castlings move four pieces, two of them to neighbouring squares.
#[test]
fn two_castlings_are_not_a_jolt() {
    let mut world = super::castling();
    world
        .shows("e1. g1K h1. f1R e8. g8k h8. f8r")
        .has_announced("O-O O-O");
}

/// Pieces that are set up for the next game come to many squares, some of them beside their previous ones.
#[test]
fn pieces_being_set_up_are_not_a_jolt() {
    let mut world = World::new(START);
    world.shows("b8. a6n a8. a5r c8. g4b d8. d6q h8. h5r f1. c4B b1. c3N");
    world.shows("a2. a3P c1. b1B d2. d3P f7. f6p").wait(100);
    assert!(!world.tracker.is_jolted());
}

#[test]
fn no_jolt_is_detected_after_a_result() {
    let mut world = World::new(START);
    world.clock(true, true);
    world.shows("e2. e4P").wait(500).clock(false, true).wait(2000);
    world.clock(false, false).shows("e1. e5K e8. d4k").wait(4000);
    assert!(
        world.announced.contains(&"0-1".to_owned()),
        "{:?}",
        world.announced
    );
    world
        .shows("b1. c3. a2. a3P g1. h3N d2. d3P c1. b1B f7. f6p")
        .wait(100);
    assert!(!world.tracker.is_jolted());
}

#[test]
fn a_gap_in_a_jolt_is_closed_like_any_other() {
    let mut world = jolted();
    world.clock(false, false).wait(3000);
    world.misses("r.bqk.nrpppp.ppp..n.......b.p.....B.P........N..PPPP.PPPRNBQK..R");
    world.wait(3000).clock(false, true).wait(2000);
    world
        .shows("g8. f6n")
        .wait(3000)
        .dump()
        .has_announced("e4 Undecidable: goes on: Nf6");
}

/// The arbiter's line ends in a position in which not all pieces stand as before the jolt.
#[test]
fn play_goes_on_from_the_line_that_an_arbiter_states() {
    let mut world = jolted();
    let fen = "rnbqkbnr/ppppp1pp/5p2/8/4P3/P1NP3N/1PP2PPP/RB1QKB1R b KQkq - 0 1";
    let stated = State::from_fen(fen, CastlingMode::Standard).expect("a FEN");
    let line = Given::Line(vec![State::default(), stated]);
    world.tracker.correct(world.now, line);
    world.wait(1000).shows("e7. e5p").has_announced("e4 e5");
}
