//! Time scrambles, and squares that do not show what stands on them.

use super::{START, World};

#[test]
fn a_piece_that_is_read_after_the_reply_moved_before_it() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(600);
    // The pawn stands off the centre of e5 until somebody nudges it.
    world.shows("e7.").wait(300).shows("g1. f3N").wait(500);
    world.has_announced("e4");
    world.shows("e5p").wait(700).shows("b8. c6n").wait(700);
    world.has_announced("e4 e5 Nf3 Nc6");
}

#[test]
fn a_piece_that_went_on_before_the_one_before_it_was_read_made_both_moves() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(600);
    world.shows("e7.").wait(250).shows("f1. c4B").wait(600);
    world.shows("b8. c6n").wait(350).shows("c4. b3B").wait(400);
    world.shows("e5p").wait(900);
    world.has_announced("e4 e5 Bc4 Nc6 Bb3");
}

#[test]
fn a_captured_piece_that_is_laid_down_beside_its_square_was_not_moved_there() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(600).shows("d7. d5p").wait(600);
    world.shows("e4. d5P d6p").wait(1200).shows("d6.").wait(400);
    world.shows("d8. d5q").wait(700);
    world.has_announced("e4 d5 exd5 Qxd5");
}

#[test]
fn where_a_piece_on_a_dead_square_went_is_told_once_it_goes_on() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(600);
    // It may be on f6 or on h6.
    world.shows("g8.").wait(5000).shows("d2. d4P").wait(3000);
    world.has_announced("e4");
    world.shows("e4.").wait(300).shows("e4n").wait(1500);
    world.has_announced("e4 Nf6 d4 Nxe4");
}

#[test]
fn a_piece_that_can_have_gone_to_one_dead_square_only_went_there() {
    let mut world = World::new(START);
    world.shows("e2. e3P").wait(600).shows("a7. a6p").wait(600);
    world.shows("e1.").wait(5000).shows("b7. b6p").wait(3000);
    world.has_announced("e3 a6 Ke2 b6");
}

/// The knight was on f6 or on h6. The square that reads a pawn later is not the one that is dead.
#[test]
fn a_square_that_reads_again_shows_where_a_piece_had_gone_before() {
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

/// The bishop may be on e2, d3, c4 or b5. A knight that was seen to go to f5 has not captured it.
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

/// The bishop may be on e2, d3, c4 or b5 until it captures. With four long lines there is not always room for each.
#[test]
fn where_a_piece_on_a_dead_square_went_may_show_after_many_plies() {
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

#[test]
fn a_promoted_piece_that_is_captured_at_once_is_what_was_shown() {
    let mut world = World::new(START);
    let opening = [
        "e2. e4P",
        "d7. d5p",
        "e4. d5. d5P",
        "c7. c6p",
        "d5. c6. c6P",
        "g8. f6n",
    ];
    for ply in opening.iter().chain(&["c6. b7. b7P", "b8. d7n"]) {
        world.shows(ply).wait(900);
    }
    world.shows("c8. c8R").wait(700).shows("b7.").wait(270);
    world.shows("c8.").wait(950).shows("d8. c8q").wait(900);
    world.has_announced("e4 d5 exd5 c6 dxc6 Nf6 cxb7 Nbd7 bxc8=R Qxc8");
}

/// Two hands set up the pieces for the next game: what they do explains no other last ply.
#[test]
fn pieces_that_are_set_up_amend_no_settled_ply() {
    let mut world = World::new(START);
    for ply in ["e2. e4P", "e7. e5p", "g1. f3N", "g8. f6n", "b1. c3N", "d7. d6p"] {
        world.shows(ply).wait(900);
    }
    world.wait(20_000).shows("f6. f3. e4. d6. c3. g8n e5.").wait(2500);
    world.has_announced("e4 e5 Nf3 Nf6 Nc3 d6");
}
