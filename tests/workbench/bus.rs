//! A hall of boards on one bus, with simulated hands and polled in virtual time: every game is published as played.

mod report;
pub mod world;

use kiebitz_hardware::emulator::hand::Temperament;

use crate::hands::games::Taste;
use world::{Bus, World};

/// Thirty boards on one bus, with two temperaments in turn and one of fifty answers damaged.
pub const THIRTY: Bus<'_> = Bus {
    boards: 30,
    games: 2,
    hands: &[Temperament::Calm, Temperament::Drawing],
    taste: Taste::Any,
    damaged_answers: 20,
    faults: false,
};

#[test]
fn games_at_thirty_boards_with_damaged_answers_are_published_as_played() {
    let mut world = World::new(1, &THIRTY);
    world.run();
    println!("{}", world.figures());
    let failures = world.failures();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(world.games(), 60);
}

/// The line fails six times a minute, and every board loses its power once. Moves made without power are unknown; every
/// other move must be published correctly, or its gap reported.
#[test]
fn games_on_a_failing_line_and_through_power_losses_are_right_or_their_gaps_reported() {
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
