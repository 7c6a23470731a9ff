//! Tests of play that breaks the Laws.

use core::time::Duration;

use kiebitz_hardware::Observation;

use super::gaps::elements;
use super::{START, World, castling};

#[test]
fn an_irregular_move_is_followed_once_pressed() {
    let mut world = World::new(START);
    world.clock(true, false).clock(true, true).wait(500);
    world.shows("g1. g3N").clock(false, true).wait(3000);
    world.shows("e7. e5p").has_announced("g1g3 e5");
}

#[test]
fn two_pieces_moved_at_once_are_followed_once_pressed() {
    let mut world = castling();
    world.clock(true, true);
    // King and queen change places.
    world.shows("e1. d1. d1K e1Q").wait(300).clock(false, true);
    world.has_announced("irregular");
    world.shows("e8. g8k h8. f8r").wait(300).clock(true, true);
    world.has_announced("irregular O-O");
}

#[test]
fn an_irregular_move_is_followed_once_answered() {
    let mut world = World::new(START);
    world
        .clock(true, true)
        .shows("e2. e5P")
        .wait(2000)
        .shows("d7. d6p");
    world.has_announced("e2e5 d6");
    world.shows("e5. d6P").wait(300).shows("c7. d6p");
    world.has_announced("e2e5 d6 exd6 cxd6");
}

/// No clock is connected. A bishop move from f1 to b5 would explain the reply as well, but not the knight on b6.
#[test]
fn an_irregular_move_is_followed_once_a_reply_explains_the_whole_board() {
    let mut world = World::new(START);
    for squares in ["e2. e4P", "e7. e5p", "f1. c4B", "b8. b6n", "c4. b5B", "g8. f6n"] {
        world.shows(squares).wait(3000);
    }
    world.has_announced("e4 e5 Bc4 b8b6 Bb5 Nf6");
}

/// The pawn was displaced before the knight's move, which was pressed. The later return of the knight does not make the
/// displacement a move.
#[test]
fn a_displaced_piece_does_not_replace_a_move_that_was_pressed() {
    let mut world = World::new(START);
    world.clock(true, true);
    for (squares, whites_turn) in [("e2. e4P", false), ("f7. f6p", true)] {
        world.shows(squares).wait(800).clock(whites_turn, true).wait(800);
    }
    world.shows("b2. a3P").wait(8000);
    for (squares, whites_turn) in [
        ("b1. c3N", false),
        ("f6. f5p", true),
        ("c3. b1N", false),
        ("d7. d6p", true),
    ] {
        world.shows(squares).wait(800).clock(whites_turn, true).wait(2000);
    }
    world.has_announced("e4 f6 Nc3 f5 Nb1 d6");
}

#[test]
fn pieces_between_two_polls_are_not_known_to_have_rested() {
    // The board is quiet until the next poll, or only until the pieces are cleared away at an unknown time before that
    // poll.
    for (then, announced) in [("", "e2e5 d6"), ("g1.", "")] {
        let mut world = World::new(START);
        let asked = world.now;
        let after = |seconds| asked + Duration::from_secs(seconds);
        for (seconds, text) in [(2, "e2. e5P d7. d6p"), (4, then), (6, "")] {
            world.wait(2000).observe(Observation::Changes {
                elements: elements(text),
                not_before: after(seconds - 2),
                not_after: after(seconds),
                from_before: false,
            });
        }
        world.has_announced(announced);
    }
}

#[test]
fn an_irregular_move_is_found_when_the_reply_captures_its_piece() {
    let mut world = World::new(START);
    world.shows("d2. d4P").wait(2000).shows("e7. e5p").wait(2000);
    world.shows("f1. c5B").wait(2000).shows("f8. c5b");
    world.has_announced("d4 e5 f1c5 Bxc5");
}

#[test]
fn play_goes_on_from_a_king_left_in_check() {
    let mut world = World::new(START);
    world.clock(true, true);
    for (squares, whites_turn) in [
        ("e2. e4P", false),
        ("d7. d6p", true),
        ("f1. b5B", false), // check
        ("a7. a6p", true),  // which is ignored
        ("b5. a6B", false),
        ("c7. c6p", true),
    ] {
        world
            .shows(squares)
            .wait(1500)
            .clock(whites_turn, true)
            .wait(1500);
    }
    world.has_announced("e4 d6 Bb5+ a7a6 Bxa6 c6");
}

#[test]
fn a_displaced_piece_does_not_hide_the_game() {
    let mut world = World::new(START);
    world
        .shows("a7. a6p")
        .wait(3000)
        .shows("e2. e4P")
        .wait(1000)
        .shows("e7. e5p")
        .has_announced("e4 e5");
}

/// An illegal castling (Art. 3.8.2.1: the king has moved before) is one ply, in whatever order its pieces are moved,
/// even if the reply comes at once.
#[test]
fn castling_that_is_not_allowed_is_one_ply() {
    for order in ["e1. g1K h1. f1R", "h1. f1R e1. g1K", "e1. h1. g1K f1R"] {
        let mut world = castling();
        world.clock(true, true);
        for (squares, whites_turn) in [
            ("e1. e2K", false),
            ("a7. a6p", true),
            ("e2. e1K", false),
            ("a6. a5p", true),
        ] {
            world.shows(squares).wait(800).clock(whites_turn, true).wait(800);
        }
        world.announced.clear();
        world.shows(order).wait(300).clock(false, true).wait(200);
        world.shows("a5. a4p").wait(300).clock(true, true).wait(2000);
        world.shows("b1. c3N");
        let announced = |world: &mut World| {
            world.wait(4000);
            world.announced.join(" ").replace("Rf1 no, irregular", "e1g1")
        };
        assert!(
            announced(&mut world).ends_with("e1g1 a4 Nc3"),
            "{order}: {}",
            world.announced.join(" ")
        );
    }
}

/// The king is left in check (Art. 3.9.2). The reply begins before the press, and is legal.
#[test]
fn a_reply_that_overlaps_the_press_of_an_illegal_move_is_legal() {
    let mut world = World::new(START);
    world.clock(true, true);
    for (squares, whites_turn) in [
        ("e2. e4P", false),
        ("d7. d6p", true),
        ("f1. b5B", false), // check
    ] {
        world.shows(squares).wait(800).clock(whites_turn, true).wait(800);
    }
    world.shows("a7. a6p").wait(250).shows("b5.").clock(true, true);
    world
        .wait(250)
        .shows("a6B")
        .wait(200)
        .clock(false, true)
        .wait(300);
    world.shows("c7. c6p").wait(300).clock(true, true);
    world.has_announced("e4 d6 Bb5+ a7a6 Bxa6 c6");
}

#[test]
fn a_piece_pushed_aside_after_the_press_leaves_the_move_as_it_was() {
    let mut world = World::new(START);
    world.clock(true, true);
    world.shows("g1. f3N").wait(800).clock(false, true).wait(1000);
    world.shows("f3. g3N").wait(1000);
    world.shows("e7. e5p").wait(800).clock(true, true).wait(800);
    world.shows("e2. e4P").wait(800).clock(false, true);
    world.has_announced("Nf3 e5 e4");
}

/// Art. 4.7, 6.2.1: a piece that has rested for seconds may still be in the hand.
#[test]
fn a_piece_that_has_rested_for_seconds_may_go_on() {
    let mut world = World::new(START);
    world.clock(true, true);
    world.shows("g1. f3N").wait(4500).shows("f3. h3N").wait(400);
    world.clock(false, true).wait(800);
    world.shows("e7. e5p").wait(4500).shows("e5. e6p").wait(2500);
    world.clock(true, true).wait(800);
    // Even after the press, the placement on the board decides.
    world.shows("e6. e5p").wait(2500).shows("e5. e6p").wait(1000);
    world.shows("d2. d4P").wait(500).clock(false, true);
    world.has_announced("Nf3 no, Nh3 e5 no, e6 no, e5 no, e6 d4");
}
