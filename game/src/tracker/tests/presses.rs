//! Tests of presses that are reported late or read from the memory: which ply they complete.

use kiebitz_hardware::Observation;
use kiebitz_protocol::{Element, Field};
use shakmaty::Square;

use super::super::Side;
use super::{START, World, wire};

/// Parses an element of the memory: a change like "c4P", with a trailing "'" if it came right after the previous one, a
/// press like "|w" by White, who sits on the right of the clock, or "start" for the start position.
fn recorded(notation: &str) -> Element {
    if notation == "start" {
        return Element::StartPosition;
    }
    if let Some(side) = notation.strip_prefix('|') {
        return Element::ClockTime {
            left: side == "b",
            hours: 0,
            minutes: 3,
            seconds: 20,
        };
    }
    let square: Square = notation[..2].parse().expect("a square");
    Element::PieceChange {
        field: Field::new(square.flip_vertical() as u8).expect("a field"),
        contents: notation.chars().nth(2).and_then(wire),
        quick: notation.ends_with('\''),
    }
}

/// Closes the port, and opens it 90 seconds later with `memory` as the elements since the start position. `heard` runs
/// between the request of the memory and its arrival.
fn remembers(world: &mut World, memory: &str, heard: impl FnOnce(&mut World)) {
    let mut elements = vec![Element::StartPosition];
    elements.extend(memory.split_whitespace().map(recorded));
    elements.push(Element::End);
    world.observe(Observation::Closed {
        reason: "unplugged".to_owned(),
    });
    for element in &elements {
        if let Element::PieceChange { field, contents, .. } = element {
            world.fields[field.index()] = *contents;
        }
    }
    world.wait(90_000).observe(Observation::Opened);
    world.dump().observe(Observation::MemoryAsked);
    heard(world);
    world.observe(Observation::Memory { elements });
}

/// A game begins while the board is not heard, and Black's press is recorded while White's pawn is on its way. The
/// lever position afterwards is not evidence for that press.
#[test]
fn a_press_recorded_late_does_not_complete_the_move_in_progress() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(4000);
    remembers(
        &mut world,
        "e2. e4P' |w e7. e5p' |b e4. e2P e5. e7p start b1. a3N |w b8. a6n |b g1. f3N |w \
         d7. d5p c3P c2.' |b c4P' c3.' c8.' e6b' |w",
        |world| {
            world.clock(false, true);
        },
    );
    world.wait(4000);
    let announced = world.announced.join(" ");
    assert!(announced.ends_with("Na3 Na6 Nf3 d5 c4 Be6"), "{announced}");
    assert_eq!(world.tracker.white_side(), Some(Side::Right));
}

/// White presses while the daemon waits for the memory, which also contains this press.
#[test]
fn a_press_heard_before_the_memory_completes_no_ply_that_is_played_back() {
    let mut world = World::new("rnbqkbnrpppppppp................................PPPPPPPPRNBQKBNR");
    world.clock(true, true);
    world.shows("e2. e4P").wait(800).clock(false, true).wait(1000);
    world.shows("e7. e5p").wait(800).clock(true, true).wait(1000);
    remembers(
        &mut world,
        "e2. e4P' |w e7. e5p' |b f1. e2B e2.' d3B d3.' c4B' |w",
        |world| {
            world.clock(true, true).wait(1000);
            world.clock(false, true).wait(1000);
        },
    );
    world.has_announced("e4 e5 Inferred: Bc4 Memory:");
}

/// The memory has no times, so the turns in a gap and the first turn after it have no known duration.
#[test]
fn the_first_turn_after_a_gap_has_no_known_duration() {
    let mut world = World::new("rnbqkbnrpppppppp................................PPPPPPPPRNBQKBNR");
    world.clock(true, true);
    world.wait(2000).shows("e2. e4P").wait(800).clock(false, true);
    world
        .wait(2000)
        .shows("e7. e5p")
        .wait(800)
        .clock(true, true)
        .wait(1000);
    remembers(&mut world, "e2. e4P |w e7. e5p |b g1. f3N |w", |world| {
        world.clock(false, true);
    });
    world.wait(4000);
    world.shows("b8. c6n").wait(800).clock(true, true).wait(1000);
    world.shows("f1. b5B").wait(800).clock(false, true).wait(1000);
    world.has_announced("e4 e5 Memory: Nf3 Nc6 Bb5");
    assert_eq!(
        world.pressed,
        [(1, Some(2)), (2, Some(2)), (3, None), (4, None), (5, Some(1))]
    );
}

/// In a blitz game, the clock's reports come after the replies. The player of such a press is unknown until the next
/// press.
#[test]
fn a_press_reported_after_the_reply_does_not_show_whites_side() {
    let mut world = World::new(START);
    world.clock(true, false).wait(1000);
    world.shows("d2. d4P").wait(30).clock(true, true).wait(300);
    world.shows("e7. e6p").wait(1500).clock(false, true);
    world.wait(400).clock(false, true);
    assert_eq!(world.tracker.white_side(), None);
    world.wait(100).clock(true, true).wait(400).clock(true, true);
    world.wait(800).shows("e2. e4P").wait(500).clock(false, true);
    world.wait(400).clock(false, true);
    world.has_announced("d4 e6 e4");
    assert_eq!(world.tracker.white_side(), Some(Side::Right));
}

/// A pawn is drawn over e6 to e5, and the serial line is disturbed before the last reports of it.
#[test]
fn a_press_on_a_disturbed_line_settles_nothing_before_a_dump() {
    let mut world = World::new(START);
    world.clock(true, true).shows("e2. e4P").wait(600);
    world.clock(false, true).wait(2000);
    world.shows("e7. e6p");
    let settled = world.settled;
    world.observe(Observation::Disturbed { bytes: 3 });
    world.wait(300).clock(true, true).wait(600);
    assert_eq!(
        (world.announced.join(" "), world.settled),
        ("e4 e6".to_owned(), settled)
    );
    let (e6, e5) = (20, 28);
    world.fields[e6] = None;
    world.fields[e5] = wire('p');
    world.dump().has_announced("e4 e6 no, e5");
}
