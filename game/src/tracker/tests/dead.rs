//! Tests of dead squares, which never read the piece on them.

use shakmaty::{Bitboard, Square};

use super::super::tree::Tree;
use super::{START, World};

fn missing(world: &World) -> Option<Bitboard> {
    world.tracker.expected().map(|(_, differs)| differs)
}

#[test]
fn a_move_to_a_dead_square_is_announced_once_the_piece_moves_on() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(600);
    // The knight may be on f6 or on h6.
    world.shows("g8.").wait(5000).shows("d2. d4P").wait(3000);
    world.has_announced("e4");
    world.shows("e4.").wait(300).shows("e4n").wait(1500);
    world.has_announced("e4 Nf6 d4 Nxe4");
}

#[test]
fn a_move_to_a_dead_square_is_announced_before_the_result() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(600);
    world.shows("g8.").wait(5000).shows("d2. d4P").wait(3000);
    world.shows("e1. d5K e8. e5k");
    world.has_announced("e4 Nf6 d4 1/2-1/2");
}

/// White's knight may be on f3 or on h3. Until `Model::unclear` has passed, a line with either move does not replace
/// the announced line.
#[test]
fn a_move_to_a_dead_square_amends_no_ply_before_its_time() {
    let mut world = World::new(START);
    world
        .shows("g1.")
        .wait(1400)
        .shows("a7.")
        .wait(200)
        .shows("a6p")
        .wait(170);
    world.shows("d2.").wait(30).shows("d4P").wait(450);
    world.shows("b6p").wait(30).shows("b7.").wait(5000);
    world.has_announced("d4");
    world.wait(30_000);
    world.has_announced("d4 no, Nf3 a6 d4 b6");
}

#[test]
fn a_piece_that_has_only_one_dead_square_to_go_to_went_there() {
    let mut world = World::new(START);
    world.shows("e2. e3P").wait(600).shows("a7. a6p").wait(600);
    world.shows("e1.").wait(5000).shows("b7. b6p").wait(3000);
    world.has_announced("e3 a6 Ke2 b6");
}

/// The knight was on f6 or on h6. A square that reads a pawn later is not the dead one.
#[test]
fn a_square_that_reads_again_was_not_the_dead_one() {
    let between = ["g8n", "a2. a3P", "a7. a6p", "a3. a4P", "a6. a5p", "h2. h3P"];
    for (pawn, line) in [
        ("h7. h6p", "e4 Nf6 d4 Ng8 a3 a6 a4 a5 h3 h6 h4"),
        (
            "f7. f6p",
            "e4 Nf6 d4 Ng8 a3 a6 a4 a5 h3 no, Nh6 d4 Ng8 a3 a6 a4 a5 h3 f6 h4",
        ),
    ] {
        let mut world = World::new(START);
        world.shows("e2. e4P").wait(600);
        world.shows("g8.").wait(5000).shows("d2. d4P").wait(31_000);
        for ply in between.iter().chain(&[pawn, "h3. h4P"]) {
            world.shows(ply).wait(2000);
        }
        world.has_announced(line);
    }
}

/// The bishop may be on e2, d3, c4 or b5. A knight that was read on f5 has not captured it.
#[test]
fn a_piece_that_stood_elsewhere_did_not_capture_on_a_dead_square() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(600).shows("a7. a6p").wait(600);
    world.shows("f1.").wait(5000).shows("b7. b6p").wait(31_000);
    let between = [
        "h2. h3P", "a6. a5p", "h3. h4P", "b8. a6n", "a2. a3P", "a6. c5n", "a3. a4P", "c5. b7n", "b1. c3N",
        "b7. d6n", "c3. d5N", "d6. f5n", "d5. f4N", "f5. g3n",
    ];
    for ply in between {
        world.shows(ply).wait(2000);
    }
    world.has_announced("e4 a6 Be2 b6 h3 a5 h4 Na6 a3 Nc5 a4 Nb7 Nc3 Nd6 Nd5 Nf5 Nf4 Ng3");
}

/// The bishop may be on e2, d3, c4 or b5 until it captures. The tree does not always have room for all four long lines.
#[test]
fn a_move_to_a_dead_square_may_be_decided_after_many_plies() {
    let between = [
        "a2. a4P", "a6. a5p", "h2. h4P", "g7. g6p", "g2. g3P", "c7. c5p", "f2. f3P", "e7. e5p", "c2. c3P",
        "h7. h5p", "b2. b3P", "b8. a6n", "g1. h3N", "a6. c7n", "h3. f4N", "g8. h6n", "b1. a3N", "h6. g4n",
        "a3. c2N", "f8. g7b", "a1. b1R", "c8. b7b", "h1. h2R", "d8. b8q", "h2. g2R", "a8. a6r", "c1. a3B",
        "h8. g8r",
    ];
    let names = "a4 a5 h4 g6 g3 c5 f3 e5 c3 h5 b3 Na6 Nh3 Nc7 Nf4 Nh6 Na3 Ng4 Nc2 Bg7 Rb1 Bb7 Rh2 Qb8 Rg2 Ra6 Ba3 Rg8";
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(600).shows("a7. a6p").wait(600);
    world.shows("f1.").wait(5000).shows("b7. b6p").wait(31_000);
    for ply in between.iter().chain(&["f7. f7B", "f7. e8. f7k"]) {
        world.shows(ply).wait(2000);
    }
    world.has_announced(&format!("e4 a6 Be2 b6 {names} no, Bc4 b6 {names} Bxf7+ Kxf7"));
}

/// From before White's second move on, the board reads b1 as empty although the knight stands there.
#[test]
fn a_square_that_dies_under_its_piece_keeps_it_until_it_moves_on() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(2000).shows("e7. e5p").wait(2000);
    world.shows("b1.").wait(5000);
    world.shows("g1. f3N").wait(2000).shows("b8. c6n").wait(2000);
    assert_eq!(missing(&world), Some(Square::B1.into()), "it may be in a hand");
    world.shows("h2. h3P").wait(2000);
    assert_eq!(missing(&world), Some(Bitboard::EMPTY));
    world
        .shows("g8. f6n")
        .wait(2000)
        .shows("c3N")
        .wait(2000)
        .shows("h7. h6p");
    world.has_announced("e4 e5 Nf3 Nc6 h3 Nf6 Nc3 h6");
}

/// A displaced queen is in a hand that puts it back. Its square is not dead.
#[test]
fn a_piece_that_was_seen_elsewhere_does_not_stand_on_its_square() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(2000).shows("e7. e5p").wait(2000);
    world.shows("d1. d3Q").wait(5000);
    for squares in ["b1. c3N", "b8. c6n", "h2. h3P"] {
        world.shows(squares).wait(2000);
    }
    world.shows("d3.").wait(500);
    assert_eq!(missing(&world), Some(Square::D1.into()));
    world.shows("d1Q").has_announced("e4 e5 Nc3 Nc6 h3");
}

/// The bishop may be on e2, d3, c4 or b5. If e2 is ruled out, the bishop is reported on the next of these squares.
#[test]
fn a_piece_that_is_not_read_is_reported_on_its_square_of_the_line() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(600).shows("a7. a6p").wait(600);
    world.shows("f1.").wait(5000).shows("b7. b6p").wait(31_000);
    let bishop = Some(shakmaty::Color::White.bishop());
    assert_eq!(world.reported.piece_at(Square::E2), bishop);
    world.shows("g1. e2N");
    world.has_announced("e4 a6 Be2 b6 no, Bd3 b6 Ne2");
    assert_eq!(world.reported.piece_at(Square::D3), bishop);
}

/// A knight on f6 was not read because it stood off the centre. A queen is later read on f6 while it is drawn over it,
/// so f6 is not dead and another square can be.
#[test]
fn a_square_that_has_read_a_piece_is_not_the_dead_one() {
    let mut world = World::new(START);
    let plies = ["e2. e4P", "h7. h6p", "d2. d4P"];
    for ply in plies {
        world.shows(ply).wait(2000);
    }
    world.shows("g8.").wait(5000);
    let drawn = "f3. f4Q f4. f5Q f5. f6Q f6. f7. f7Q";
    for ply in [
        "a2. a3P",
        "g4n",
        "d1. f3Q",
        "a7. a6p",
        drawn,
        "e8. f7. f7k",
        "b2. b3P",
    ] {
        world.shows(ply).wait(2000);
    }
    world.shows("b8.").wait(5000);
    for ply in ["c2. c3P", "e5n", "b3. b4P"] {
        world.shows(ply).wait(2000);
    }
    world.has_announced("e4 h6 d4 Nf6 a3 Ng4 Qf3 a6 Qxf7+ Kxf7 b3 Nc6 c3 Nce5 b4");
}

/// A press does not show to which square the knight went, so it confirms no ply. `confirm_tip` must return false then,
/// because the tracker repeats a step that returns true.
#[test]
fn a_move_to_a_dead_square_is_not_confirmed_by_a_press() {
    let mut world = World::new(START);
    world
        .clock(true, true)
        .wait(2000)
        .shows("e2. e4P")
        .wait(600)
        .clock(false, true);
    world
        .shows("g8.")
        .wait(5000)
        .clock(true, true)
        .shows("d2. d4P")
        .wait(31_000);
    world.clock(false, true).wait(2000);
    let tip = world.tracker.tree().map_or(0, Tree::tip);
    let tip_ply = world
        .tracker
        .tree()
        .map(|tree| (tree.node(tip).ply, tree.node(tip).completed));
    assert_eq!(tip_ply, Some((3, true)));
    assert!(!world.tracker.confirm_tip(world.now, tip));
}

/// The king is on e2 or on f2, and one of them is dead. A king that is read on e2 later may have come from f2.
#[test]
fn a_move_to_a_dead_square_is_amended_when_the_square_reads_the_piece() {
    let mut world = World::new(START);
    for ply in ["f2. f4P", "a7. a6p", "e2. e4P", "b7. b6p"] {
        world.shows(ply).wait(2000);
    }
    world.shows("e1.").wait(5000).shows("h7. h6p").wait(31_000);
    for ply in ["a2. a3P", "g7. g6p", "e2K", "a6. a5p", "b2. b3P", "b6. b5p"] {
        world.shows(ply).wait(2000);
    }
    world.has_announced("f4 a6 e4 b6 Ke2 h6 a3 g6 no, Kf2 h6 a3 g6 Ke2 a5 b3 b5");
}
