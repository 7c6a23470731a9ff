//! Finding and polling boards, and boards that join and leave.

use core::time::Duration;

use kiebitz_protocol::{BusCommand, BusCommandKind};

use super::world::{START, World, address, board, piece, replay};
use crate::Observation;
use crate::emulator::EmulatedBusSettings;

const SECOND: Duration = Duration::from_secs(1);

fn world(numbers: std::ops::RangeInclusive<u16>) -> World {
    World::new(numbers, EmulatedBusSettings::default())
}

fn opened(observation: &Observation) -> bool {
    *observation == Observation::Opened
}

fn closed(observation: &Observation) -> bool {
    matches!(observation, Observation::Closed { .. })
}

#[test]
fn thirty_boards_are_found_in_spite_of_collisions() {
    let mut world = world(1001..=1030);
    world.run(Duration::from_secs(12));
    assert_eq!(world.line.boards().count(), 30, "{:?}", world.line.figures());
    world.run(10 * SECOND);
    for number in 1001..=1030 {
        assert_eq!(world.count(number, opened), 1);
        let identity = world.of(number).find_map(|observed| match &observed.observation {
            Observation::Identified(identity) if identity.version.is_some() => Some(identity.clone()),
            _ => None,
        });
        let identity = identity.unwrap();
        assert_eq!(identity.serial, Some(format!("{number:05}")));
        assert_eq!(identity.version, Some((1, 8)));
        assert!(world.count(number, |o| matches!(o, Observation::Board { .. })) > 0);
        assert!(world.count(number, |o| matches!(o, Observation::Clock { .. })) > 0);
    }
}

/// Changes 4 squares of one board every 70 ms, board by board, so that every board has changes in each round.
fn play_on_thirty(world: &mut World) {
    world.run(Duration::from_secs(30));
    for step in 0..1200_usize {
        let number = 1001 + (step % 30) as u16;
        for change in 0..4 {
            let piece = (change % 2 == 1).then_some(piece(step / 30)).flatten();
            world.set(number, (step % 61 + change) as u8, piece);
        }
        world.run(Duration::from_millis(70));
    }
}

#[test]
fn thirty_boards_in_play_are_polled_in_less_than_three_seconds_a_round() {
    let mut world = world(1001..=1030);
    play_on_thirty(&mut world);
    let figures = world.line.figures();
    assert!(figures.rounds > 50, "{figures:?}");
    assert!(figures.longest_round < Duration::from_millis(2500), "{figures:?}");
    for number in 1001..=1030 {
        let clocks = world.count(number, |o| matches!(o, Observation::Clock { .. }));
        assert!(clocks > 45, "{number}: {clocks} clock readings");
        assert_eq!(world.count(number, closed), 0);
    }
}

#[test]
fn even_slow_boards_are_polled_in_less_than_three_seconds_a_round() {
    let mut world = World::slow(1001..=1030);
    play_on_thirty(&mut world);
    let figures = world.line.figures();
    assert!(figures.rounds > 35, "{figures:?}");
    assert!(figures.longest_round < 3 * SECOND, "{figures:?}");
    for number in 1001..=1030 {
        let clocks = world.count(number, |o| matches!(o, Observation::Clock { .. }));
        assert!(clocks > 20, "{number}: {clocks} clock readings");
        assert_eq!(world.count(number, closed), 0);
    }
}

#[test]
fn a_few_boards_are_queried_exactly_four_times_a_second() {
    let mut world = world(1..=2);
    world.run(10 * SECOND);
    let before = (world.line.figures(), world.wakes);
    world.run(60 * SECOND);
    let after = world.line.figures();
    assert!((239..=241).contains(&(after.rounds - before.0.rounds)));
    assert!(after.last_round < Duration::from_millis(250));
    // One wake per round, because answers arrive before the timeout.
    assert!(world.wakes - before.1 < 260, "{}", world.wakes - before.1);
    assert_eq!((after.silent, after.damaged), (before.0.silent, before.0.damaged));
}

#[test]
fn changes_are_reported_with_the_time_span_of_their_origin() {
    let mut world = world(7..=7);
    world.run(10 * SECOND);
    let lifted_at = world.now;
    world.set(7, 52, piece(0));
    world.run(SECOND);
    let reported: Vec<_> = world
        .of(7)
        .filter_map(|observed| match &observed.observation {
            Observation::Changes {
                elements,
                not_before,
                not_after,
                ..
            } if !elements.is_empty() => Some((*not_after, *not_before)),
            _ => None,
        })
        .collect();
    assert_eq!(reported.len(), 2, "power-up and the change");
    assert_eq!(reported[0].1.as_micros(), 0, "not known since when");
    let (not_after, not_before) = reported[1];
    assert!(not_before < lifted_at && lifted_at < not_after);
    assert!(not_after.saturating_duration_since(not_before) < Duration::from_millis(1000));
}

#[test]
fn a_board_that_leaves_is_reported_once_and_returns_with_its_pending_changes() {
    let mut world = world(1..=5);
    world.run(10 * SECOND);
    let mut detached = world.bus.detach(world.now, address(3)).unwrap();
    detached.set(world.now, super::world::field(10), piece(3));
    world.run(20 * SECOND);
    assert_eq!(world.count(3, closed), 1);
    let reason = world.of(3).find_map(|observed| match &observed.observation {
        Observation::Closed { reason } => Some(reason.as_str()),
        _ => None,
    });
    assert_eq!(reason, Some("the board does not answer on the bus"));
    assert_eq!(world.line.boards().count(), 4);

    let rounds = world.line.figures().rounds;
    world.bus.attach(world.now, detached).unwrap();
    world.run(5 * SECOND);
    assert_eq!(world.count(3, opened), 2);
    assert!(
        world.line.figures().rounds >= rounds + 18,
        "the others are polled meanwhile"
    );
    assert_eq!(
        world.reported()[&address(3)],
        [(super::world::field(10), piece(3))]
    );
    let since = world.now.saturating_sub(5 * SECOND);
    let dumped = world
        .of(3)
        .any(|observed| observed.at > since && matches!(observed.observation, Observation::Board { .. }));
    assert!(dumped, "a board that comes back is dumped");
}

#[test]
fn a_board_that_joins_is_found_while_the_others_are_polled() {
    let mut world = world(1001..=1029);
    world.run(30 * SECOND);
    world.bus.attach(world.now, board(world.now, 1030)).unwrap();
    let before = world.line.figures();
    world.run(90 * SECOND);
    assert_eq!(world.count(1030, opened), 1);
    let after = world.line.figures();
    assert!(after.longest_round < 3 * SECOND, "{after:?}");
    assert!(after.rounds - before.rounds >= 30, "{after:?}");
}

#[test]
fn a_board_that_joins_is_found_even_on_a_line_without_time_to_spare() {
    let mut world = World::slow(1001..=1030);
    world.run(30 * SECOND);
    world.bus.attach(world.now, board(world.now, 1031)).unwrap();
    world.run(300 * SECOND);
    assert_eq!(world.count(1031, opened), 1, "{:?}", world.line.figures());
}

#[test]
fn boards_left_in_single_mode_are_found() {
    let mut world = world(1..=3);
    world.bus.handle_bytes(START, &[0x40]);
    world.run(10 * SECOND);
    assert_eq!(world.line.boards().count(), 3);
}

#[test]
fn a_line_without_answers_is_closed() {
    let mut world = world(1..=2);
    world.run(10 * SECOND);
    let boards: Vec<_> = world.bus.addresses().collect();
    for address in boards {
        world.bus.detach(world.now, address);
    }
    world.run(60 * SECOND);
    let last = &world.recording.last().unwrap().1;
    assert!(
        matches!(last, super::world::RecordedInput::Closed(reason) if reason.contains("30 s")),
        "{last:?}"
    );
    assert_eq!(world.count(1, closed), 1);
    let wakes = world.wakes;
    world.run(60 * SECOND);
    assert_eq!(world.wakes, wakes, "a closed line sleeps");
}

#[test]
fn an_empty_line_is_searched_only_every_few_seconds() {
    let mut world = World::new([], EmulatedBusSettings::default());
    world.run(29 * SECOND);
    assert!(world.wakes < 25, "{}", world.wakes);
    world.bus.attach(world.now, board(world.now, 5)).unwrap();
    world.run(10 * SECOND);
    assert_eq!(world.count(5, opened), 0, "it came too late for the half minute");
}

#[test]
fn no_change_is_lost_while_the_port_is_closed() {
    let mut world = world(1..=8);
    world.run(15 * SECOND);
    world.close("the cable was pulled");
    for number in 1..=8 {
        world.set(number, 20, piece(usize::from(number)));
    }
    world.run(10 * SECOND);
    assert_eq!(world.line.boards().count(), 0);
    world.open();
    world.run(15 * SECOND);
    for number in 1..=8 {
        assert_eq!((world.count(number, opened), world.count(number, closed)), (2, 1));
        let reported = &world.reported()[&address(number)];
        assert_eq!(reported, &[(super::world::field(20), piece(usize::from(number)))]);
    }
}

#[test]
fn a_second_daemon_gets_only_changes_that_the_first_did_not() {
    let mut world = world(1..=8);
    world.run(15 * SECOND);
    for number in 1..=8 {
        world.set(number, 20, piece(usize::from(number)));
    }
    world.run(5 * SECOND);
    for number in 1..=8 {
        world.set(number, 21, piece(usize::from(number)));
    }
    world.line = crate::BusLine::polling(crate::BusSettings::default());
    world.observed.clear();
    world.open();
    world.run(15 * SECOND);
    for number in 1..=8 {
        let reported = &world.reported()[&address(number)];
        assert_eq!(reported, &[(super::world::field(21), piece(usize::from(number)))]);
    }
}

/// A daemon queries the board, which answers and forgets its changes, and is killed before it has recorded the answer.
#[test]
fn an_unrecorded_answer_is_not_lost() {
    let mut world = world(1..=3);
    world.run(15 * SECOND);
    world.set(2, 20, piece(1));
    world.run(5 * SECOND);
    world.set(2, 21, piece(2));
    world.set(2, 22, piece(3));
    world.now = world.now + SECOND;
    let question = BusCommand {
        kind: BusCommandKind::Changes,
        address: address(2),
    };
    world.bus.handle_bytes(world.now, &question.encode());
    world.now = world.now + SECOND;
    let mut answer = Vec::new();
    while let Some((_, bytes)) = world.bus.poll_transmit(world.now) {
        answer.extend(bytes);
    }
    assert!(answer.len() > 6, "two changes");
    world.close("killed");
    world.set(2, 23, piece(4));
    world.run(2 * SECOND);
    world.open();
    world.run(15 * SECOND);
    let fields = (20..).map(super::world::field);
    let pieces = (1..=4).map(piece);
    assert_eq!(
        world.reported()[&address(2)],
        fields.zip(pieces).collect::<Vec<_>>()
    );
    assert_eq!(world.replayed(), world.observed);
}

#[test]
fn a_board_that_hangs_for_a_while_stays() {
    let mut world = world(1..=3);
    world.run(10 * SECOND);
    let now = world.now;
    let hanging = world.bus.board_mut(now, address(2)).unwrap();
    hanging.silence(now, now + 3 * SECOND);
    world.set(2, 33, piece(1));
    world.run(10 * SECOND);
    assert_eq!(world.count(2, closed), 0);
    assert_eq!(world.reported()[&address(2)].len(), 1);
}

#[test]
fn a_board_that_lost_its_power_is_dumped_again() {
    let mut world = world(1..=2);
    world.run(10 * SECOND);
    let dumps = world.count(1, |o| matches!(o, Observation::Board { .. }));
    let now = world.now;
    world.bus.board_mut(now, address(1)).unwrap().power_off(now);
    world.run(2 * SECOND);
    let now = world.now;
    world.bus.board_mut(now, address(1)).unwrap().power_on(now);
    world.run(5 * SECOND);
    assert!(world.count(1, |o| matches!(o, Observation::Board { .. })) > dumps);
}

#[test]
fn a_replay_makes_the_same_observations_however_bytes_are_divided() {
    let mut world = World::new(
        1..=12,
        EmulatedBusSettings {
            damaged_answers: 50,
            damaged_commands: 20,
            ..EmulatedBusSettings::default()
        },
    );
    for step in 0..300_usize {
        world.set(1 + (step % 12) as u16, (step % 64) as u8, piece(step / 64));
        if step == 50 {
            world.bus.detach(world.now, address(1));
            world.bus.attach(world.now, board(world.now, 1)).unwrap();
        }
        if step == 150 {
            world.close("unplugged");
            world.run(2 * SECOND);
            world.open();
        }
        world.run(Duration::from_millis(300));
    }
    assert!(world.observed.len() > 1000);
    assert_eq!(world.replayed(), world.observed);

    let single: Vec<_> = world
        .recording
        .iter()
        .flat_map(|(at, recorded)| match recorded {
            super::world::RecordedInput::Inbound(bytes) => bytes
                .iter()
                .map(|byte| (*at, super::world::RecordedInput::Inbound(vec![*byte])))
                .collect(),
            other => vec![(*at, other.clone())],
        })
        .collect();
    assert_eq!(replay(&single), world.observed);
}
