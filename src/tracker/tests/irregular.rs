//! Play that breaks the Laws.

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

#[test]
fn what_stood_between_two_polls_is_not_known_to_have_rested() {
    // The board is quiet until the next poll, or only until the pieces are cleared away at some time before it.
    for (then, announced) in [("", "e2e5 d6"), ("g1.", "")] {
        let mut world = World::new(START);
        let asked = world.now;
        let after = |seconds| asked + Duration::from_secs(seconds);
        for (seconds, text) in [(2, "e2. e5P d7. d6p"), (4, then), (6, "")] {
            world.wait(2000).observe(Observation::Changes {
                elements: elements(text),
                not_before: after(seconds - 2),
                not_after: after(seconds),
            });
        }
        world.has_announced(announced);
    }
}

#[test]
fn an_irregular_move_taken_by_the_reply_is_found() {
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
