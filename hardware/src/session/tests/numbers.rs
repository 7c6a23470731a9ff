//! Who a board says it is, and when.

use kiebitz_protocol::Command;

use super::world::World;
use crate::emulator::{BoardSettings, EmulatedBoard};
use crate::{Observation, SessionSettings, Timestamp};

/// A board that has just been asked for its number, and is not heard any more.
fn asked_who() -> World {
    let mut world = World::new(BoardSettings::default(), SessionSettings::default());
    world.open();
    while !world.commands().contains(&Command::ReturnSerialNumber) {
        world.run(1);
    }
    world.cable = false;
    world
}

/// When a board was first shown.
fn shown(world: &World) -> Option<Timestamp> {
    world.first(|o| matches!(o, Observation::Board { .. }))
}

/// Whether a board had given its number before it was shown.
fn is_introduced(world: &World) -> bool {
    let identified = |o: &Observation| matches!(o, Observation::Identified(who) if who.serial.is_some());
    world
        .first(identified)
        .is_some_and(|identified| Some(identified) < shown(world))
}

/// Both numbers are asked for in a burst of garbage: without one of them the board would pass for another.
#[test]
fn a_board_says_who_it_is_before_it_is_shown_whatever_the_line_does() {
    let mut world = asked_who();
    for _ in 0..40 {
        world.disturb(&[0xff, 0x7f]);
        world.run(100);
    }
    world.cable = true;
    world.run(8000);
    assert!(is_introduced(&world));
}

/// Of a burst of garbage around the number, one byte looks like a digit.
#[test]
fn a_number_that_came_amid_garbage_is_asked_for_again() {
    let mut world = asked_who();
    world.disturb(&[0xff, 0x91, 0x00, 0x08]);
    world.disturb(b"1007:");
    world.run(20);
    world.cable = true;
    world.run(3000);
    let shown = shown(&world).unwrap();
    let told = world.observed.iter().take_while(|observed| observed.at < shown);
    let serials = told.filter_map(|observed| match &observed.observation {
        Observation::Identified(who) => who.serial.as_deref(),
        _ => None,
    });
    let serials: Vec<&str> = serials.collect();
    let own = BoardSettings::default().serial.unwrap();
    assert_eq!(serials.first(), Some(&"1007:"));
    assert_eq!(serials.last(), Some(&own.as_str()));
}

/// The line is dead for a while when both numbers are asked for.
#[test]
fn a_number_that_was_not_told_is_asked_for_once_the_line_is_alive() {
    for dead in [600, 1100, 1500, 3000, 9000] {
        let mut world = asked_who();
        world.run(dead);
        world.cable = true;
        world.run(8000);
        assert!(is_introduced(&world), "{dead} ms");
    }
}

#[test]
fn an_answer_that_comes_late_is_taken() {
    let board = BoardSettings {
        long_serial: None,
        ..BoardSettings::default()
    };
    let mut world = World::new(board, SessionSettings::default());
    world.open();
    world.run(4000);
    world.disturb(&[
        0xa2, 0x00, 0x0d, b'0', b'0', b'0', b'0', b'0', b'3', b'1', b'6', b'5', b'9',
    ]);
    world.run(10);
    let numbered =
        |o: &Observation| matches!(o, Observation::Identified(identity) if identity.long_serial.is_some());
    assert!(world.first(numbered).is_some());
}

#[test]
fn another_board_on_the_same_port_does_not_inherit_a_serial_number() {
    let mut world = World::kept();
    world.close("unplugged");
    let board = BoardSettings {
        serial: None,
        long_serial: None,
        ..BoardSettings::default()
    };
    world.board = EmulatedBoard::new(world.now, board);
    world.forget();
    world.open();
    world.run(6000);
    let inherits =
        |o: &Observation| matches!(o, Observation::Identified(identity) if identity.serial.is_some());
    assert!(world.first(|o| matches!(o, Observation::Identified(_))).is_some());
    assert_eq!(world.first(inherits), None);
}
