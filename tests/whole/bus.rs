//! A hall of boards on one bus, played on by hand and polled in virtual time: every game comes back as it was played.

mod report;
mod world;

use kiebitz_hardware::emulator::hand::Temperament;

use crate::hands::games::Taste;
use world::{Bus, World};

/// Boards on one line, hands of two kinds in turn, and every fiftieth answer damaged.
const THIRTY: Bus<'_> = Bus {
    boards: 30,
    games: 2,
    hands: &[Temperament::Calm, Temperament::Drawing],
    taste: Taste::Any,
    damaged_answers: 20,
};

#[test]
fn thirty_boards_with_damaged_answers_tell_every_game_as_it_was_played() {
    let mut world = World::new(1, &THIRTY);
    world.run();
    println!("{}", world.figures());
    let failures = world.failures();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(world.games(), 60);
}

/// `cargo test --test whole bus::rates -- --ignored --nocapture`; `BUS_SEEDS=100..110` for others, `BUS_HANDS=Blitz` for
/// one kind of hands.
#[test]
#[ignore = "measures, and asserts nothing"]
fn rates() {
    let wanted = std::env::var("BUS_HANDS").ok();
    let are_wanted = |hands: &Temperament| {
        wanted
            .as_ref()
            .is_none_or(|wanted| *wanted == format!("{hands:?}"))
    };
    for hands in Temperament::ALL.into_iter().filter(are_wanted) {
        for taste in [Taste::Any, Taste::Special] {
            let bus = Bus {
                hands: &[hands],
                taste,
                ..THIRTY
            };
            let (mut games, mut failing) = (0, Vec::new());
            for seed in seeds() {
                let mut world = World::new(seed, &bus);
                world.run();
                games += world.games();
                failing.extend(world.failing().map(|board| (seed, board)));
                println!("   {}", world.figures());
            }
            println!(
                "== {hands:?} {taste:?}: boards with a wrong game, as (seed, board), among {games} games: {failing:?}"
            );
        }
    }
}

/// `BUS="Blitz Any 3 17" cargo test --test whole bus::one_board -- --ignored --nocapture`: hands (or Mixed, as in the
/// test above), taste, seed and board.
#[test]
#[ignore = "shows one board"]
fn one_board() {
    let wanted = std::env::var("BUS").expect("BUS names hands, taste, seed and board");
    let words: Vec<&str> = wanted.split_whitespace().collect();
    let hands: Vec<Temperament> = Temperament::ALL
        .into_iter()
        .filter(|hands| format!("{hands:?}") == words[0])
        .collect();
    let bus = Bus {
        hands: if hands.is_empty() { THIRTY.hands } else { &hands },
        taste: if words[1] == "Any" {
            Taste::Any
        } else {
            Taste::Special
        },
        ..THIRTY
    };
    let mut world = World::new(words[2].parse().unwrap(), &bus);
    world.run();
    println!("{}", world.describe(words[3].parse().unwrap()));
}

fn seeds() -> core::ops::Range<u64> {
    let wanted = std::env::var("BUS_SEEDS").unwrap_or_else(|_| "0..3".to_owned());
    let (first, end) = wanted.split_once("..").expect("as in 0..3");
    first.parse().unwrap()..end.parse().unwrap()
}
