//! Boards without faults.

use core::time::Duration;

use kiebitz_protocol::{ClockAck, ClockMessage, Command, Element, Message, Piece};

use super::super::question::OPENING_COMMANDS;
use super::world::{START, World, field};
use crate::emulator::BoardSettings;
use crate::{Identity, Observation, Observed, SessionSettings};

const PAWN: Option<Piece> = Some(Piece::WhitePawn);

#[test]
fn after_an_opening_every_query_is_sent_once_and_in_order() {
    let mut world = World::new(BoardSettings::default(), SessionSettings::default());
    world.open();
    world.run(2500);
    assert_eq!(world.commands(), OPENING_COMMANDS);
    let identity = world
        .observed
        .iter()
        .rev()
        .find_map(|observed| match &observed.observation {
            Observation::Identified(identity) => Some(identity.clone()),
            _ => None,
        });
    let expected = Identity {
        serial: Some("00042".to_owned()),
        long_serial: Some("0000000042".to_owned()),
        version: Some((1, 8)),
        trademark: Some("kiebitz emulated board".to_owned()),
    };
    assert_eq!(identity, Some(expected));
    let dump = world.first(|o| matches!(o, Observation::Board { .. })).unwrap();
    let clock = world.first(|o| matches!(o, Observation::ClockAbsent)).unwrap();
    assert!(clock < dump);
    assert!(
        World::millis(START, dump) < 1000,
        "{}",
        World::millis(START, dump)
    );
}

#[test]
fn the_memory_is_read_once_if_the_host_wants_it() {
    let mut world = World::settled();
    world.run(20_000);
    assert!(!world.commands().contains(&Command::SendEeMoves));
    world.recall();
    world.run(1);
    assert_eq!(world.commands().last(), Some(&Command::SendEeMoves));
    world.run(20_000);
    let is_request = |o: &&Observed| matches!(o.observation, Observation::MemoryAsked);
    assert_eq!(world.observed.iter().filter(is_request).count(), 1);
}

#[test]
fn a_memory_that_is_not_wanted_any_more_is_not_read() {
    let mut world = World::new(BoardSettings::default(), SessionSettings::default());
    world.open();
    world.recall();
    world.session.recall(world.now, false);
    world.run(20_000);
    assert!(!world.commands().contains(&Command::SendEeMoves));
}

#[test]
fn the_memory_can_be_left_unread() {
    let settings = SessionSettings {
        read_memory: false,
        ..SessionSettings::default()
    };
    let mut world = World::new(BoardSettings::default(), settings);
    world.open();
    world.recall();
    world.run(20_000);
    assert!(!world.commands().contains(&Command::SendEeMoves));
    assert!(world.commands().contains(&Command::SendTrademark));
}

#[test]
fn a_board_without_serial_numbers_is_not_delayed() {
    let board = BoardSettings {
        serial: None,
        long_serial: None,
        ..BoardSettings::default()
    };
    let mut world = World::new(board, SessionSettings::default());
    world.open();
    world.recall();
    world.run(8000);
    let dump = world.first(|o| matches!(o, Observation::Board { .. })).unwrap();
    assert!(
        World::millis(START, dump) < 3000,
        "{}",
        World::millis(START, dump)
    );
    assert!(world.first(|o| matches!(o, Observation::Memory { .. })).is_some());
}

#[test]
fn while_the_memory_is_read_nothing_is_sent() {
    let mut world = World::new(BoardSettings::default(), SessionSettings::default());
    for round in 0..4500_u64 {
        world.set((round / 2 % 64) as u8, if round % 2 == 0 { PAWN } else { None });
        world.run(300);
    }
    world.open();
    world.recall();
    world.run(5000);
    world.set(63, Some(Piece::BlackQueen));
    world.run(12_000);
    let requested = world.first(|o| matches!(o, Observation::MemoryAsked)).unwrap();
    let memory = world.first(|o| matches!(o, Observation::Memory { .. })).unwrap();
    assert!(
        (8000..9000).contains(&World::millis(requested, memory)),
        "{}",
        World::millis(requested, memory)
    );
    let between = world
        .written
        .iter()
        .filter(|(at, _)| *at > requested && *at < memory);
    assert_eq!(between.count(), 0);
    let questions = world
        .commands()
        .into_iter()
        .filter(|command| *command == Command::SendEeMoves);
    assert_eq!(questions.count(), 1);
    let queen = world.first(
        |o| matches!(o, Observation::Field { update, .. } if update.contents == Some(Piece::BlackQueen)),
    );
    // The converter may hand over both at once.
    assert!(queen.unwrap() >= memory);
}

#[test]
fn changes_made_while_the_port_was_away_are_read_from_the_memory() {
    let mut world = World::settled();
    world.close("unplugged");
    for (millis, number, contents) in [(500, 0, None), (2000, 9, Some(Piece::WhiteKing))] {
        world.run(millis);
        world.set(number, contents);
    }
    world.run(30_000);
    world.open();
    world.recall();
    world.run(5000);
    let memory = world
        .observed
        .iter()
        .find_map(|observed| match &observed.observation {
            Observation::Memory { elements } => Some(elements.clone()),
            _ => None,
        });
    let change = |number, contents| Element::PieceChange {
        contents,
        field: field(number),
        quick: false,
    };
    let played = [change(0, None), change(9, Some(Piece::WhiteKing)), Element::End];
    let memory = memory.unwrap();
    assert!(memory.ends_with(&played), "{memory:?}");
}

#[test]
fn quiet_squares_are_dumped_once_after_changes() {
    let mut world = World::settled();
    for number in 8..14 {
        world.set(number, PAWN);
        world.run(2500);
    }
    assert_eq!(world.commands(), []);
    let moved = world.now;
    world.run(3000);
    assert_eq!(world.commands(), [Command::SendBoard]);
    let after = World::millis(moved, world.written[0].0);
    assert!((500..800).contains(&after), "{after} ms after 2.5 s of quiet");
    world.run(5000);
    assert_eq!(world.boards(), 1);
}

#[test]
fn an_idle_board_gives_a_sign_of_life_every_ten_seconds() {
    let mut world = World::settled();
    world.run(60_000);
    assert!((5..=6).contains(&world.boards()), "{}", world.boards());
    assert_eq!(world.commands()[..2], [Command::UpdateNice, Command::SendBoard]);
    assert_eq!(world.session_close, None);
}

#[test]
fn a_board_that_reports_its_clock_is_dumped_once_a_minute() {
    let mut world = World::settled().with_clock(true);
    world.run(50_000);
    assert_eq!(world.commands(), []);
    world.run(130_000);
    assert_eq!(world.commands(), [Command::SendBoard; 3]);
}

#[test]
fn the_battery_is_queried_at_the_configured_interval() {
    let settings = SessionSettings {
        battery: Some(Duration::from_secs(60)),
        ..SessionSettings::default()
    };
    let mut world = World::new(BoardSettings::default(), settings);
    world.open();
    world.run(150_000);
    let queries = world
        .commands()
        .into_iter()
        .filter(|command| *command == Command::SendBatteryStatus);
    // The emulated board has no battery, so each query is sent twice.
    assert_eq!(queries.count(), 2 * 3);
    assert_eq!(world.session_close, None);
}

#[test]
fn a_text_is_sent_in_chunks_and_ended_after_its_time() {
    let mut world = World::settled().with_clock(false);
    world.session.show(world.now, "Board 12");
    world.run(2000);
    let sizes: Vec<usize> = world.written.iter().map(|(_, bytes)| bytes.len()).collect();
    assert_eq!(sizes, [10, 4]);
    assert!(World::millis(world.written[0].0, world.written[1].0) >= 50);
    world.run(7000);
    let commands = world.commands();
    let [Command::Clock(ClockMessage::Text(text)), .., Command::Clock(end)] = commands[..] else {
        panic!("{commands:?}");
    };
    assert_eq!((text.as_str(), end), ("board 12", ClockMessage::End));
    let to_clock: Vec<_> = world
        .written
        .iter()
        .filter(|(_, bytes)| bytes[0] == 0x2b)
        .collect();
    assert_eq!(to_clock.len(), 2);
    let display_millis = World::millis(to_clock[0].0, to_clock[1].0);
    assert!((5000..5100).contains(&display_millis), "{display_millis}");
}

#[test]
fn a_text_left_on_the_clock_is_ended_when_the_port_reopens() {
    let mut world = World::settled().with_clock(false);
    world.session.show(world.now, "board 12");
    world.run(1000);
    world.close("unplugged");
    world.clear_records();
    world.run(60_000);
    world.open();
    world.run(3000);
    assert_eq!(world.commands().last(), Some(&Command::Clock(ClockMessage::End)));
}

#[test]
fn the_next_clock_message_waits_for_the_acknowledge_or_two_seconds() {
    let times = |mut world: World, meanwhile: &[u8]| {
        world.session.show(world.now, "one");
        world.run(60);
        world.session.show(world.now, "two");
        world.disturb(meanwhile);
        world.run(3000);
        let starts: Vec<_> = world
            .written
            .iter()
            .filter(|(_, bytes)| bytes[0] == 0x2b)
            .collect();
        assert_eq!(starts.len(), 2);
        World::millis(starts[0].0, starts[1].0)
    };
    let acknowledged = times(World::settled().with_clock(false), &[]);
    assert!(acknowledged < 300, "{acknowledged}");
    let mut without_clock = World::settled().with_clock(false);
    without_clock.board.plug_clock(without_clock.now, None);
    let waited = times(without_clock, &[]);
    assert!((2000..2300).contains(&waited), "{waited}");
    let mut pressed = World::settled().with_clock(false);
    pressed.board.plug_clock(pressed.now, None);
    let mut button = Vec::new();
    Message::ClockAck(ClockAck::new([0x10, 0x88, 0x00, 0x33])).encode(&mut button);
    let waited = times(pressed, &button);
    assert!(
        (2000..2300).contains(&waited),
        "a button is no acknowledge: {waited}"
    );
}

#[test]
fn only_the_latest_text_waiting_is_shown() {
    let mut world = World::settled().with_clock(false);
    for text in ["one", "two", "three"] {
        world.session.show(world.now, text);
    }
    world.run(3000);
    let [Command::Clock(ClockMessage::Text(text))] = world.commands()[..] else {
        panic!("{:?}", world.commands());
    };
    assert_eq!(text.as_str(), "three   ");
}

#[test]
fn without_a_clock_nothing_is_shown() {
    let mut unplugged = World::settled().with_clock(false);
    unplugged.board.plug_clock(unplugged.now, None);
    unplugged.run(1000);
    for mut world in [World::settled(), unplugged] {
        world.session.show(world.now, "board 12");
        world.run(3000);
        assert_eq!(world.commands(), []);
    }
}

#[test]
fn zeros_after_a_clock_message_are_not_a_clock_reading() {
    let mut world = World::settled().with_clock(false);
    let zeros = [0x8d, 0x00, 0x0a, 0, 0, 0, 0, 0, 0, 0];
    let is_clock = |o: &Observation| matches!(o, Observation::Clock { .. });
    world.session.show(world.now, "board 12");
    world.run(200);
    world.disturb(&zeros);
    world.run(1000);
    assert_eq!(world.first(is_clock), None);
    world.run(2000);
    world.disturb(&zeros);
    world.run(10);
    assert!(world.first(is_clock).is_some());
}
