//! A line that leaves the boards' changes to another host.

use core::time::Duration;
use std::collections::BTreeSet;

use kiebitz_protocol::{BusCommandKind, Piece};

use super::world::{World, address, board, field};
use crate::emulator::EmulatedBusSettings;
use crate::{BusLine, BusSettings, Observation};

const SECOND: Duration = Duration::from_secs(1);

fn was_dumped(world: &World, number: u16) -> bool {
    world.count(number, |o| matches!(o, Observation::Board { .. })) > 0
}

#[test]
fn every_board_is_dumped_and_keeps_its_changes_for_another_host() {
    let mut world = World::peeking(1..=12, EmulatedBusSettings::default());
    world.set(3, 52, Some(Piece::WhitePawn));
    world.run(SECOND * 15);
    for number in 1..=12 {
        assert!(was_dumped(&world, number), "{number}");
        let clock = |o: &Observation| matches!(o, Observation::Clock { .. });
        assert!(world.count(number, clock) > 0);
        let version =
            |o: &Observation| matches!(o, Observation::Identified(id) if id.version == Some((1, 8)));
        assert_eq!(world.count(number, version), 1);
    }
    world.run(SECOND * 60);
    let harmless = [
        BusCommandKind::Ping,
        BusCommandKind::IgnoreNextPing,
        BusCommandKind::Version,
        BusCommandKind::Board,
        BusCommandKind::Clock,
    ];
    assert!(world.queries.iter().all(|kind| harmless.contains(kind)));

    // A host that polls afterwards gets the changes.
    world.close("inspected");
    world.line = BusLine::polling(BusSettings::default());
    world.open();
    world.run(SECOND * 15);
    let placed = (field(52), Some(Piece::WhitePawn));
    assert!(world.reported()[&address(3)].contains(&placed));
}

#[test]
fn damaged_answers_are_queried_again() {
    let damaging = EmulatedBusSettings {
        damaged_answers: 100,
        ..EmulatedBusSettings::default()
    };
    let mut world = World::peeking(1..=6, damaging);
    world.run(SECOND * 30);
    assert!((1..=6).all(|number| was_dumped(&world, number)));
}

#[test]
fn each_round_dumps_every_board_and_boards_join_and_leave() {
    let mut world = World::peeking([1, 2], EmulatedBusSettings::default());
    world.run(SECOND * 10);
    world.set(1, 52, Some(Piece::WhitePawn));
    let before = world.observed.len();
    world.run(SECOND * 2);
    let shown = |o: &Observation| matches!(o, Observation::Board { dump, .. } if dump[52].is_some());
    let of_both: BTreeSet<_> = world.observed[before..].iter().map(|(at, _)| *at).collect();
    assert!(world.count(1, shown) >= 2 && of_both.len() == 2);

    world.bus.detach(world.now, address(1)).unwrap();
    world.bus.attach(world.now, board(world.now, 3)).unwrap();
    world.run(SECOND * 30);
    assert_eq!(world.count(1, |o| matches!(o, Observation::Closed { .. })), 1);
    assert!(was_dumped(&world, 3));
}
