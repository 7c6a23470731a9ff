//! Queries for serial numbers on a disturbed line.

use kiebitz_protocol::Command;

use super::world::World;
use crate::emulator::{BoardSettings, EmulatedBoard};
use crate::{Observation, SessionSettings, Timestamp};

/// Returns a world whose cable was pulled just after the query for the serial number.
fn cut_off_at_the_serial_number() -> World {
    let mut world = World::new(BoardSettings::default(), SessionSettings::default());
    world.open();
    while !world.commands().contains(&Command::ReturnSerialNumber) {
        world.run(1);
    }
    world.cable = false;
    world
}

/// Returns the time of the first observed dump.
fn first_dump_at(world: &World) -> Option<Timestamp> {
    world.first(|o| matches!(o, Observation::Board { .. }))
}

/// Returns whether the serial number was known before the first dump.
fn serial_known_before_dump(world: &World) -> bool {
    let identified = |o: &Observation| matches!(o, Observation::Identified(id) if id.serial.is_some());
    world
        .first(identified)
        .is_some_and(|identified| Some(identified) < first_dump_at(world))
}

/// Both serial numbers are queried during a burst of garbage. Without them, the board could not be identified.
#[test]
fn a_board_is_identified_before_its_dump_despite_garbage() {
    let mut world = cut_off_at_the_serial_number();
    for _ in 0..40 {
        world.disturb(&[0xff, 0x7f]);
        world.run(100);
    }
    world.cable = true;
    world.run(8000);
    assert!(serial_known_before_dump(&world));
}

/// A byte of garbage becomes the last character of the serial number.
#[test]
fn a_serial_number_amid_garbage_is_queried_again() {
    let mut world = cut_off_at_the_serial_number();
    world.disturb(&[0xff, 0x91, 0x00, 0x08]);
    world.disturb(b"1007:");
    world.run(20);
    world.cable = true;
    world.run(3000);
    let first_dump_at = first_dump_at(&world).unwrap();
    let earlier = world
        .observed
        .iter()
        .take_while(|observed| observed.at < first_dump_at);
    let serials = earlier.filter_map(|observed| match &observed.observation {
        Observation::Identified(id) => id.serial.as_deref(),
        _ => None,
    });
    let serials: Vec<&str> = serials.collect();
    let own = BoardSettings::default().serial.unwrap();
    assert_eq!(serials.first(), Some(&"1007:"));
    assert_eq!(serials.last(), Some(&own.as_str()));
}

/// The line is interrupted when both numbers are queried.
#[test]
fn a_missing_serial_number_is_queried_once_the_line_is_alive() {
    for outage in [600, 1100, 1500, 3000, 9000] {
        let mut world = cut_off_at_the_serial_number();
        world.run(outage);
        world.cable = true;
        world.run(8000);
        assert!(serial_known_before_dump(&world), "{outage} ms");
    }
}

#[test]
fn a_late_answer_is_accepted() {
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
    let mut world = World::settled();
    world.close("unplugged");
    let board = BoardSettings {
        serial: None,
        long_serial: None,
        ..BoardSettings::default()
    };
    world.board = EmulatedBoard::new(world.now, board);
    world.clear_records();
    world.open();
    world.run(6000);
    let inherits =
        |o: &Observation| matches!(o, Observation::Identified(identity) if identity.serial.is_some());
    assert!(world.first(|o| matches!(o, Observation::Identified(_))).is_some());
    assert_eq!(world.first(inherits), None);
}

/// Two such boards would otherwise count as the same one.
#[test]
fn a_serial_number_of_blanks_counts_as_none() {
    let board = BoardSettings {
        serial: kiebitz_protocol::SerialNumber::new(*b"     "),
        long_serial: kiebitz_protocol::LongSerialNumber::new(*b"          "),
        ..BoardSettings::default()
    };
    let mut world = World::new(board, SessionSettings::default());
    world.open();
    world.run(6000);
    let numbered = |o: &Observation| matches!(o, Observation::Identified(identity) if identity.serial.is_some() || identity.long_serial.is_some());
    assert!(world.first(|o| matches!(o, Observation::Identified(_))).is_some());
    assert_eq!(world.first(numbered), None);
}
