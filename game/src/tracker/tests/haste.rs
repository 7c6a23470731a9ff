//! Tests of time scrambles, in which the players move faster than the board reads.

use super::{START, World};

#[test]
fn a_piece_read_after_the_reply_moved_before_the_reply() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(600);
    // The pawn stands off the centre of e5, unread, until somebody nudges it.
    world.shows("e7.").wait(300).shows("g1. f3N").wait(500);
    world.has_announced("e4");
    world.shows("e5p").wait(700).shows("b8. c6n").wait(700);
    world.has_announced("e4 e5 Nf3 Nc6");
}

#[test]
fn a_piece_that_moved_twice_before_the_reply_was_read_made_both_moves() {
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
fn a_promoted_piece_captured_at_once_is_of_the_kind_that_was_read() {
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

/// Two hands set up the pieces for the next game. These changes are not evidence for another last ply.
#[test]
fn pieces_that_are_set_up_amend_no_settled_ply() {
    let mut world = World::new(START);
    for ply in ["e2. e4P", "e7. e5p", "g1. f3N", "g8. f6n", "b1. c3N", "d7. d6p"] {
        world.shows(ply).wait(900);
    }
    world.wait(20_000).shows("f6. f3. e4. d6. c3. g8n e5.").wait(2500);
    world.has_announced("e4 e5 Nf3 Nf6 Nc3 d6");
}

/// The reports of Black's knight are lost, and a dump shows its move after three more plies.
#[test]
fn a_ply_that_a_dump_shows_comes_before_those_that_followed_it() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(4000);
    let (b8, c6) = (1, 18);
    world.fields.swap(b8, c6);
    for squares in ["g1. f3N", "e7. e5p", "d2. d4P"] {
        world.shows(squares).wait(500);
    }
    world.dump().wait(4000).shows("a7. a6p");
    world.has_announced("e4 e5 no, Nc6 Nf3 e5 d4 a6");
}

/// Black's pawn rests on e6 for a moment before it goes on to e5, and is captured there en passant. Another pawn was
/// captured before.
#[test]
fn a_pawn_captured_en_passant_had_moved_on() {
    let mut world = World::new(START);
    for ply in ["e2. e4P", "f7. f5p", "e4. f5. f5P"] {
        world.shows(ply).wait(900);
    }
    world.shows("e7. e6p").wait(190).shows("e6. e5p").wait(400);
    world.shows("e5.").wait(170).shows("e6P f5.");
    world.has_announced("e4 f5 exf5 e5 fxe6");
}

/// Black's bishop rests on d5 while White moves. It is then drawn over c4, and c4 still reads it after its capture on
/// b3. White's previous ply does not prove that the bishop moved to c4.
#[test]
fn a_piece_read_on_two_squares_has_moved_on() {
    let mut world = World::new(START);
    for ply in ["d2. d3P", "d7. d6p", "b2. b3P", "c8. e6b", "h2. h3P"] {
        world.shows(ply).wait(900);
    }
    world.shows("e6. d5b").wait(240).shows("d4P d3.").wait(140);
    world.shows("d5. c4b b3.").wait(200).shows("b3b").wait(200);
    world.shows("c4.").has_announced("d3 d6 b3 Be6 h3 Bd5 d4 Bxb3");
}

#[test]
fn no_move_is_announced_while_more_is_unexplained_than_hands_can_hold() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(3000).shows("e7. e5p").wait(3000);
    world.shows("a1. b1. c1. a8. b8.").wait(20_000);
    world.shows("g1. f3N").wait(3000).shows("g8. f6n").wait(3000);
    world.has_announced("e4 e5");
}
