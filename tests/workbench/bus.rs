//! A hall of boards on one bus, played on by hand and polled in virtual time: every game comes back as it was played.

mod report;
pub mod world;

use kiebitz_hardware::emulator::hand::Temperament;

use crate::hands::games::Taste;
use world::{Bus, World};

/// Boards on one line, hands of two kinds in turn, and every fiftieth answer damaged.
pub const THIRTY: Bus<'_> = Bus {
    boards: 30,
    games: 2,
    hands: &[Temperament::Calm, Temperament::Drawing],
    taste: Taste::Any,
    damaged_answers: 20,
    faults: false,
};

#[test]
fn games_at_thirty_boards_with_damaged_answers_come_back_as_they_were_played() {
    let mut world = World::new(1, &THIRTY);
    world.run();
    println!("{}", world.figures());
    let failures = world.failures();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(world.games(), 60);
}

/// The line fails six times a minute, and every board is without power once. What was played without it cannot be known;
/// all else is right, or it is stated that it is not known.
#[test]
fn games_on_a_failing_line_and_through_lost_power_are_right_or_stated() {
    let mut world = World::new(
        3,
        &Bus {
            boards: 10,
            hands: &[Temperament::Calm, Temperament::Blitz],
            faults: true,
            ..THIRTY
        },
    );
    world.run();
    println!("{}", world.figures());
    let failures = world.failures();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(world.games(), 20);
}
