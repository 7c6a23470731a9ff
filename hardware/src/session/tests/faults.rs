//! Faulty boards, cables and devices.

use core::time::Duration;

use kiebitz_protocol::{Command, Dump, Field, Piece};
use proptest::collection::vec;
use proptest::prelude::*;

use super::world::{START, World};
use crate::emulator::{BoardSettings, ClockSide, EmulatedBoard, EmulatedClock};
use crate::{Observation, Observed, SessionSettings};

/// Bytes that contain neither a message nor the start of one.
const GARBAGE: [u8; 16] = [0x17; 16];

fn reason(world: &World) -> &str {
    &world.session_close.as_ref().expect("given up").1
}

#[test]
fn a_board_that_falls_silent_is_queried_and_given_up() {
    let mut world = World::settled();
    let pulled = world.now;
    world.cable = false;
    world.run(30_000);
    assert!(
        reason(&world).starts_with("the board does not answer"),
        "{}",
        reason(&world)
    );
    let after = World::millis(pulled, world.session_close.as_ref().unwrap().0);
    assert!(after < 16_000, "{after}");
    let closed =
        |o: &Observation| matches!(o, Observation::Closed { reason } if reason.contains("does not answer"));
    assert!(world.first(closed).is_some());
    let written = world.written.len();
    world.run(60_000);
    assert_eq!(
        (world.written.len(), world.session.poll_deadline()),
        (written, None)
    );
}

#[test]
fn with_a_running_clock_silence_is_noticed_sooner() {
    let mut world = World::settled().with_clock(true);
    let pulled = world.now;
    world.cable = false;
    world.run(30_000);
    let after = World::millis(pulled, world.session_close.as_ref().unwrap().0);
    assert!(after < 10_000, "{after}");
}

#[test]
fn a_cable_pulled_for_a_moment_does_not_close_the_port() {
    let mut world = World::settled();
    world.run(9000);
    world.cable = false;
    world.run(3000);
    world.cable = true;
    world.run(3000);
    assert_eq!(world.session_close, None);
    assert!(world.boards() > 0);
}

#[test]
fn an_unnoticed_lost_change_is_dumped_within_a_minute_while_the_clock_runs() {
    let mut world = World::settled().with_clock(true);
    world.run(5000);
    world.cable = false;
    world.set(0, None);
    world.run(2000);
    world.cable = true;
    world.run(60_000);
    assert_eq!(world.first(|o| matches!(o, Observation::Field { .. })), None);
    assert!(
        world
            .first(|o| matches!(o, Observation::Board { dump, .. } if dump[0].is_none()))
            .is_some()
    );
}

/// The king moves to field 1 while the cable is pulled, and returns just after a dump with the king on field 1.
#[test]
fn reports_after_a_dump_do_not_hide_earlier_losses() {
    let mut world = World::settled();
    let king = Some(Piece::WhiteKing);
    world.cable = false;
    world.set(0, None);
    world.set(1, king);
    world.run(2000);
    world.cable = true;
    world.disturb(&GARBAGE);
    world.run(500);
    assert_eq!(world.boards(), 1);
    world.set(1, None);
    world.set(0, king);
    world.run(12_000);
    assert!(world.commands().contains(&Command::SendEeMoves));
}

#[test]
fn a_press_without_a_change_requests_a_dump() {
    let mut world = World::settled().with_clock(true);
    let press = |world: &mut World, side: ClockSide| {
        world.board.clock_mut(world.now).unwrap().press(world.now, side);
        world.run(2000);
        world.boards()
    };
    world.set(0, None);
    world.set(1, Some(Piece::WhiteKing));
    assert_eq!(press(&mut world, ClockSide::Left), 0, "it was reported");
    world.run(5000);
    world.cable = false;
    world.set(63, None);
    world.set(62, Some(Piece::BlackKing));
    world.run(500);
    world.cable = true;
    world.clear_records();
    assert_eq!(press(&mut world, ClockSide::Right), 1);
    world.run(10_000);
    assert!(world.commands().contains(&Command::SendEeMoves));
}

/// Only one of the two plies between the presses was reported.
#[test]
fn two_presses_with_one_move_request_a_dump() {
    let dumps = |lost: bool| {
        let mut world = World::settled().with_clock(true);
        world.run(5000);
        world.clear_records();
        world.set(0, None);
        world.set(1, Some(Piece::WhiteKing));
        world.run(300);
        world.cable = !lost;
        world
            .board
            .clock_mut(world.now)
            .unwrap()
            .press(world.now, ClockSide::Left);
        world.run(1200);
        world.set(63, None);
        world.set(62, Some(Piece::BlackKing));
        world.run(300);
        world
            .board
            .clock_mut(world.now)
            .unwrap()
            .press(world.now, ClockSide::Right);
        world.cable = true;
        world.run(800);
        world.boards()
    };
    assert_eq!([dumps(false), dumps(true)], [0, 1]);
}

/// While the cable is pulled, a piece is lifted and set down. Only the missing reports of the running clock show that
/// changes may be missing.
#[test]
fn a_gap_in_the_reports_of_a_running_clock_requests_the_memory() {
    let requests_memory = |silence: u64| {
        let mut world = World::settled().with_clock(true);
        world.run(5000);
        world.clear_records();
        world.cable = false;
        world.set(0, None);
        world.set(0, Some(Piece::WhiteKing));
        world.run(silence);
        world.cable = true;
        world.run(1500);
        world.commands().contains(&Command::SendEeMoves)
    };
    assert!(!requests_memory(2000));
    assert!(requests_memory(4500));
}

#[test]
fn a_board_given_up_is_driven_again_when_its_port_reopens() {
    let mut world = World::settled();
    world.cable = false;
    world.run(30_000);
    world.cable = true;
    world.clear_records();
    world.open();
    world.run(5000);
    assert!(world.first(|o| matches!(o, Observation::Board { .. })).is_some());
    assert_eq!(world.session_close, None);
}

#[test]
fn a_device_that_sends_garbage_is_not_taken_for_a_board() {
    let mut world = World::new(BoardSettings::default(), SessionSettings::default());
    world.cable = false;
    world.open();
    for _ in 0..200 {
        world.disturb(&GARBAGE);
        world.run(100);
    }
    assert!(
        reason(&world).contains("is not that of a board"),
        "{}",
        reason(&world)
    );
}

#[test]
fn a_board_that_sends_only_garbage_is_given_up() {
    let mut world = World::settled();
    world.cable = false;
    for _ in 0..400 {
        world.disturb(&GARBAGE);
        world.run(100);
    }
    assert!(reason(&world).contains("only garbage"), "{}", reason(&world));
}

#[test]
fn garbage_is_followed_by_a_dump() {
    let mut world = World::settled();
    world.disturb(&GARBAGE);
    world.run(1000);
    assert_eq!(world.commands(), [Command::SendBoard]);
    assert_eq!(world.boards(), 1);
}

#[test]
fn lasting_garbage_does_not_cause_a_flood_of_dumps() {
    let mut world = World::settled();
    for _ in 0..20 {
        world.disturb(&GARBAGE);
        world.run(500);
    }
    assert!(
        (3..=6).contains(&world.boards()),
        "{} dumps in 10 s",
        world.boards()
    );
    assert_eq!(world.session_close, None);
}

#[test]
fn a_board_that_lost_its_power_and_its_mode_reports_again() {
    let mut world = World::settled();
    let pieces = [None; Field::COUNT];
    world.board = EmulatedBoard::with_pieces(world.now, BoardSettings::default(), &pieces);
    world.run(12_000);
    world.set(20, Some(Piece::BlackQueen));
    world.run(1000);
    assert!(
        world
            .first(|o| matches!(o, Observation::Board { dump, .. } if dump[0].is_none()))
            .is_some()
    );
    assert!(world.first(|o| matches!(o, Observation::Field { .. })).is_some());
    assert_eq!(world.session_close, None);
}

#[test]
fn a_board_still_sending_its_memory_to_a_former_host_is_waited_for() {
    let mut world = World::new(BoardSettings::default(), SessionSettings::default());
    for round in 0..4500_u64 {
        let contents = (round % 2 == 0).then_some(Piece::WhitePawn);
        world.set((round / 2 % 64) as u8, contents);
        world.run(300);
    }
    world
        .board
        .handle_bytes(world.now, &[Command::SendEeMoves.code()]);
    world.run(1000);
    world.open();
    let opened = world.now;
    world.run(9000);
    let version = world.first(|o| matches!(o, Observation::Identified(_))).unwrap();
    assert!(World::millis(opened, version) > 7000, "after the memory");
    assert_eq!(
        world.commands()[..2],
        [Command::SendVersion, Command::ReturnSerialNumber]
    );
    world.recall();
    world.run(15_000);
    assert!(world.first(|o| matches!(o, Observation::Memory { .. })).is_some());
    assert_eq!(world.session_close, None);
}

/// Returns the number of requests for the memory if the line adds these bytes to each of the first `damaged` answers.
fn memory_requests(damaged: usize, added: &[u8]) -> usize {
    let mut world = World::new(BoardSettings::default(), SessionSettings::default());
    for number in 0..64 {
        world.set(number, Some(Piece::WhitePawn));
        world.run(300);
    }
    let requests = |world: &World| {
        let is_request = |o: &&Observed| matches!(o.observation, Observation::MemoryAsked);
        world.observed.iter().filter(is_request).count()
    };
    world.open();
    world.recall();
    for answer in 1..=damaged {
        for _ in 0..5000 {
            if requests(&world) < answer {
                world.run(1);
            }
        }
        world.run(60);
        world.disturb(added);
    }
    world.run(3000);
    assert!(world.first(|o| matches!(o, Observation::Memory { .. })).is_some());
    requests(&world)
}

#[test]
fn a_damaged_memory_is_requested_again_at_once() {
    // One byte that cuts the answer off, and two bytes that push its end beyond the declared length.
    for added in [&[0xff][..], &[1, 2]] {
        assert_eq!(memory_requests(1, added), 2, "{added:?}");
    }
}

#[test]
fn the_memory_is_requested_until_it_arrives_undamaged() {
    assert_eq!(memory_requests(4, &[1, 2]), 5);
}

#[test]
fn a_memory_that_a_silent_board_did_not_send_is_requested_after_its_next_message() {
    let mut world = World::new(BoardSettings::default(), SessionSettings::default());
    world.open();
    world.recall();
    while world.first(|o| matches!(o, Observation::MemoryAsked)).is_none() {
        world.run(1);
    }
    world.cable = false;
    world.run(5000);
    world.cable = true;
    let answered = |world: &World| world.first(|o| matches!(o, Observation::Memory { .. })).is_some();
    assert!(!answered(&world));
    world.set(52, None);
    world.run(4000);
    assert!(answered(&world));
}

#[test]
fn a_lost_query_is_sent_again() {
    let mut world = World::new(BoardSettings::default(), SessionSettings::default());
    world.cable = false;
    world.open();
    world.run(1000);
    world.cable = true;
    world.run(3000);
    assert_eq!(
        world.commands()[..3],
        [
            Command::SendVersion,
            Command::SendVersion,
            Command::ReturnSerialNumber
        ]
    );
    assert!(world.first(|o| matches!(o, Observation::Board { .. })).is_some());
}

#[test]
fn a_board_that_reports_without_answering_is_neither_given_up_nor_flooded() {
    let mut world = World::new(BoardSettings::default(), SessionSettings::default());
    world.cable = false;
    world.open();
    for _ in 0..150 {
        world.disturb(&[0x8e, 0x00, 0x05, 20, 0x01, 0x8e, 0x00, 0x05, 20, 0x00]);
        world.run(400);
    }
    assert_eq!(world.session_close, None);
    let count = |wanted| {
        world
            .commands()
            .into_iter()
            .filter(|command| *command == wanted)
            .count()
    };
    // Two queries at first, and two more before the serial numbers are queried again.
    assert_eq!(count(Command::SendVersion), 4);
    assert!(count(Command::SendBoard) < 10, "{}", count(Command::SendBoard));
}

#[test]
fn the_time_out_of_an_answer_starts_when_the_query_is_written() {
    let mut world = World::new(BoardSettings::default(), SessionSettings::default());
    world.session.handle_opened(START);
    let now = world.session.poll_deadline().unwrap();
    let version = world.session.poll_transmit(now).unwrap();
    let written = now + Duration::from_millis(1400);
    world.session.handle_sent(written, &version);
    assert_eq!(
        world.session.poll_deadline(),
        Some(written + Duration::from_millis(1500))
    );
}

#[test]
fn bytes_wait_until_the_driver_takes_them() {
    let mut world = World::settled().with_clock(false);
    world.session.show(world.now, "board 12");
    world.session.handle_deadline(world.now);
    assert_eq!(world.session.poll_deadline(), None);
    world.session.handle_deadline(world.now + Duration::from_secs(60));
    world.run(3000);
    assert!(matches!(world.commands()[..], [Command::Clock(_), ..]));
}

#[test]
fn a_driver_that_never_writes_leads_to_a_close() {
    let mut world = World::new(BoardSettings::default(), SessionSettings::default());
    world.session.handle_opened(START);
    let mut now = START;
    let mut deadlines = 0;
    while world.session.poll_close().is_none() {
        now = world.session.poll_deadline().expect("not left alone");
        world.session.handle_deadline(now);
        let _ = world.session.poll_transmit(now);
        deadlines += 1;
    }
    assert!(deadlines < 20 && now < START + Duration::from_secs(20));
}

#[derive(Debug, Clone)]
enum Fault {
    Cable(bool),
    Garbage,
    PowerLoss,
    Unplugged(u64),
    Moves(u8, bool),
    Clock(bool),
    Show,
}

fn faults() -> impl Strategy<Value = Vec<(u64, Fault)>> {
    let fault = prop_oneof![
        2 => any::<bool>().prop_map(Fault::Cable),
        2 => Just(Fault::Garbage),
        1 => Just(Fault::PowerLoss),
        1 => (0_u64..20_000).prop_map(Fault::Unplugged),
        8 => (0_u8..64, any::<bool>()).prop_map(|(number, occupied)| Fault::Moves(number, occupied)),
        1 => any::<bool>().prop_map(Fault::Clock),
        1 => Just(Fault::Show),
    ];
    vec((0_u64..6000, fault), 0..40)
}

fn inject(world: &mut World, fault: Fault) {
    match fault {
        Fault::Cable(plugged) => world.cable = plugged,
        Fault::Garbage => world.disturb(&GARBAGE),
        Fault::PowerLoss => {
            let pieces: Vec<_> = Field::all().map(|field| world.board.contents(field)).collect();
            let pieces: Dump = pieces.try_into().unwrap();
            world.board = EmulatedBoard::with_pieces(world.now, BoardSettings::default(), &pieces);
        }
        Fault::Unplugged(millis) => {
            world.close("unplugged");
            world.run(millis);
            world.open();
        }
        Fault::Moves(number, occupied) => world.set(number, occupied.then_some(Piece::WhiteQueen)),
        Fault::Clock(running) => {
            let mut clock = EmulatedClock::new(Duration::from_secs(300));
            if running {
                clock.start(world.now);
            }
            world.board.plug_clock(world.now, Some(clock));
        }
        Fault::Show => world.session.show(world.now, "Board 12"),
    }
}

proptest! {
    #[test]
    fn after_all_faults_the_board_is_dumped_and_reports_changes(faults in faults()) {
        let mut world = World::new(BoardSettings::default(), SessionSettings::default());
        world.open();
        for (millis, fault) in faults {
            world.run(millis);
            inject(&mut world, fault);
            if world.session_close.is_some() {
                world.open();
            }
        }
        world.cable = true;
        for _ in 0..80 {
            world.run(1000);
            if world.session_close.is_some() {
                world.open();
            }
        }
        let contents: Vec<_> = Field::all().map(|field| world.board.contents(field)).collect();
        let shown_dump = world.observed.iter().rev().find_map(|observed| match &observed.observation {
            Observation::Board { dump, .. } => Some(dump.to_vec()),
            _ => None,
        });
        prop_assert_eq!(shown_dump, Some(contents));
        world.clear_records();
        world.set(30, Some(Piece::BlackRook));
        world.run(400);
        let update = world.first(|o| matches!(o, Observation::Field { .. }));
        prop_assert!(update.is_some());
    }
}

#[test]
fn the_memory_is_read_when_a_dump_shows_unreported_changes() {
    let mut world = World::settled();
    world.run(30_000);
    world.clear_records();
    // The reports are lost while a piece moves from e2 to e4.
    world.cable = false;
    world.set(52, None);
    world.set(36, Some(Piece::WhitePawn));
    world.run(1500);
    world.cable = true;
    world.run(30_000);
    let commands = world.commands();
    let memories = commands
        .iter()
        .filter(|command| **command == Command::SendEeMoves);
    assert_eq!(memories.count(), 1, "{commands:?}");
}
