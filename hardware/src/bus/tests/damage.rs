//! Damaged answers and commands.

use core::time::Duration;
use std::collections::BTreeMap;

use kiebitz_protocol::{BusAddress, Contents, Field};
use proptest::prelude::*;

use super::world::{World, address, field};
use crate::emulator::EmulatedBusSettings;
use crate::{BusLine, Observation, Timestamp};

/// Makes random changes on the boards of a bus that damages answers and commands. Returns the world and the changes.
fn play(
    boards: u16,
    settings: EmulatedBusSettings,
    stalls: u16,
    changes: usize,
) -> (World, BTreeMap<BusAddress, Vec<(Field, Contents)>>) {
    let mut random = fastrand::Rng::with_seed(settings.seed);
    let mut world = World::new(1..=boards, settings);
    world.stalls = stalls;
    let mut made: BTreeMap<_, Vec<_>> = BTreeMap::new();
    world.run(Duration::from_secs(40));
    // A badly damaged line may need further pings.
    for _ in 0..60 {
        if world.line.boards().count() < usize::from(boards) {
            world.run(Duration::from_secs(10));
        }
    }
    for _ in 0..changes {
        let number = random.u16(1..=boards);
        let so_far: &mut Vec<(Field, Contents)> = made.entry(address(number)).or_default();
        // Use another square than before: the scan could miss a square that changes again at once, or the memory could
        // record the change as a flicker.
        let last = so_far.last().map(|(field, _)| field.number());
        let at = random.u8(..63);
        let at = if last == Some(at) { 63 } else { at };
        let code = random.usize(..12);
        let now = world.now;
        let board = world.bus.board_mut(now, address(number)).unwrap();
        let contents = match board.contents(field(at)) {
            Some(_) => None,
            None => kiebitz_protocol::Piece::ALL.get(code).copied(),
        };
        board.set(now, field(at), contents);
        so_far.push((field(at), contents));
        world.run(Duration::from_millis(260));
    }
    world.run(Duration::from_secs(20));
    (world, made)
}

/// Returns the first difference between the changes made and the changes reported.
fn difference(world: &World, made: &BTreeMap<BusAddress, Vec<(Field, Contents)>>) -> Option<String> {
    let reported = world.reported();
    made.iter().find_map(|(address, made)| {
        let reported = reported.get(address).map_or(&[][..], Vec::as_slice);
        let same = made.iter().zip(reported).take_while(|(a, b)| a == b).count();
        (same < made.len().max(reported.len())).then(|| {
            let around = |list: &[(Field, Contents)]| {
                let from = same.saturating_sub(2).min(list.len());
                format!("{:?}", &list[from..list.len().min(same + 4)])
            };
            format!(
                "{address} at {same}: {} reported as {}",
                around(made),
                around(reported)
            )
        })
    })
}

/// Returns the number of reports with changes that happened before a dump but were reported after it.
fn changes_after_their_dump(world: &World) -> usize {
    let mut dumped = BTreeMap::new();
    let mut early_dumps = 0;
    for (address, observed) in &world.observed {
        match &observed.observation {
            Observation::Board { .. } => {
                dumped.insert(*address, observed.at);
            }
            Observation::Changes {
                elements, not_after, ..
            } if !elements.is_empty() => {
                early_dumps += usize::from(dumped.get(address).is_some_and(|dumped| not_after < dumped));
            }
            _ => {}
        }
    }
    early_dumps
}

#[test]
fn two_percent_damaged_answers_lose_and_duplicate_no_change() {
    let settings = EmulatedBusSettings {
        damaged_answers: 20,
        damaged_commands: 5,
        seed: 2,
        ..EmulatedBusSettings::default()
    };
    let (world, made) = play(30, settings, 0, 5000);
    let figures = world.line.figures();
    assert!(figures.damaged > 500 && figures.silent > 200, "{figures:?}");
    assert_eq!(difference(&world, &made), None);
    assert_eq!(changes_after_their_dump(&world), 0);
    assert!(figures.longest_round < Duration::from_secs(3), "{figures:?}");
    let left = world
        .observed
        .iter()
        .filter(|(_, observed)| matches!(observed.observation, Observation::Closed { .. }))
        .count();
    assert_eq!(left, 0);
    assert_eq!(world.replayed(), world.observed);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_change_is_reported_once_and_in_order(
        seed in any::<u64>(),
        boards in 1_u16..5,
        damaged_answers in 0_u16..250,
        damaged_commands in 0_u16..200,
        stalls in 0_u16..30,
    ) {
        let settings = EmulatedBusSettings {
            damaged_answers,
            damaged_commands,
            seed,
            ..EmulatedBusSettings::default()
        };
        let (world, made) = play(boards, settings, stalls, 120);
        prop_assert_eq!(difference(&world, &made), None);
        prop_assert_eq!(world.replayed(), world.observed);
    }

    #[test]
    fn garbage_neither_stops_polling_nor_adds_boards(chunks in proptest::collection::vec(
        (0_u64..900, proptest::collection::vec(any::<u8>(), 0..40)), 0..60)
    ) {
        let mut world = World::new(1..=3, EmulatedBusSettings::default());
        for (pause, bytes) in chunks {
            world.run(Duration::from_millis(pause));
            world.noise(&bytes);
        }
        world.run(Duration::from_secs(60));
        let boards: Vec<u16> = world.line.boards().map(BusAddress::number).collect();
        prop_assert_eq!(boards, vec![1, 2, 3]);
        prop_assert_eq!(world.replayed(), world.observed);
    }

    #[test]
    fn no_input_makes_a_listening_line_panic(
        inputs in proptest::collection::vec((any::<bool>(), proptest::collection::vec(any::<u8>(), 0..30)), 0..50)
    ) {
        let mut line = BusLine::new();
        for (index, (sent, bytes)) in inputs.iter().enumerate() {
            let now = Timestamp::from_micros(index as i64 * 10_000);
            if *sent {
                line.handle_sent(now, bytes);
            } else {
                line.handle_bytes(now, bytes);
            }
        }
        while line.poll_observation().is_some() {}
    }
}

#[test]
fn boards_on_a_line_full_of_garbage_are_still_queried_and_found_again() {
    let mut world = World::new(1..=1, EmulatedBusSettings::default());
    world.run(Duration::from_secs(10));
    let before = world.line.figures();
    for _ in 0..2000 {
        world.noise(&[0x55; 10]);
        world.run(Duration::from_millis(10));
    }
    let after = world.line.figures();
    let queries = after.questions + after.sweeps - before.questions - before.sweeps;
    assert!((8..100).contains(&queries), "{after:?}");
    world.run(Duration::from_secs(10));
    assert_eq!(world.line.boards().count(), 1);
}
