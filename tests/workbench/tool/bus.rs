//! Thirty boards on one bus.

use clap::{Subcommand, ValueEnum};
use kiebitz_hardware::emulator::hand::Temperament;

use super::{Games, Hands, Seeds, tastes, temperaments};
use crate::bus::THIRTY;
use crate::bus::world::{Bus, World};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// How many games come back wrong.
    Rates {
        /// Whose hands; all in turn without it. May be given again.
        #[arg(long, value_enum)]
        hands: Vec<Hands>,
        /// What the games are full of; both without it.
        #[arg(long, value_enum)]
        games: Option<Games>,
        /// One, or a range as in 0..3, its end left out.
        #[arg(long, default_value = "0..3")]
        seeds: Seeds,
        /// The line fails six times a minute, and every board loses its power once. Then a game may also be wrong where that
        /// is stated.
        #[arg(long)]
        faults: bool,
    },
    /// What happened at one board around the first ply that comes back wrong.
    Show {
        #[arg(long, value_enum)]
        hands: BusHands,
        #[arg(long, value_enum)]
        games: Games,
        #[arg(long)]
        seed: u64,
        /// From 1 to 30.
        #[arg(long, value_parser = clap::value_parser!(u16).range(1..=30))]
        board: u16,
        /// With the faults of `rates`.
        #[arg(long)]
        faults: bool,
    },
}

/// Whose hands play at the boards of a bus.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum BusHands {
    Calm,
    Drawing,
    Blitz,
    Clumsy,
    /// Calm and drawing in turn, as in the test.
    Mixed,
}

impl BusHands {
    fn temperaments(self) -> Vec<Temperament> {
        let hands = match self {
            Self::Calm => Hands::Calm,
            Self::Drawing => Hands::Drawing,
            Self::Blitz => Hands::Blitz,
            Self::Clumsy => Hands::Clumsy,
            Self::Mixed => return THIRTY.hands.to_vec(),
        };
        vec![hands.into()]
    }
}

impl Command {
    pub(super) fn run(self) -> bool {
        match self {
            Self::Rates {
                hands,
                games,
                seeds: Seeds(seeds),
                faults,
            } => {
                let mut all_come_back = true;
                for temperament in temperaments(&hands) {
                    for taste in tastes(games) {
                        let bus = Bus {
                            hands: &[temperament],
                            taste,
                            faults,
                            ..THIRTY
                        };
                        let (mut played, mut failing) = (0, Vec::new());
                        for seed in seeds.clone() {
                            let mut world = World::new(seed, &bus);
                            world.run();
                            played += world.games();
                            failing.extend(world.failing().map(|board| (seed, board)));
                            println!("   {}", world.figures());
                        }
                        println!(
                            "== {temperament:?} {taste:?}: {played} games; boards with one that comes back wrong, as \
                             (seed, board): {failing:?}"
                        );
                        all_come_back &= failing.is_empty();
                    }
                }
                all_come_back
            }
            Self::Show {
                hands,
                games,
                seed,
                board,
                faults,
            } => {
                let bus = Bus {
                    hands: &hands.temperaments(),
                    taste: games.into(),
                    faults,
                    ..THIRTY
                };
                let mut world = World::new(seed, &bus);
                world.run();
                println!("{}", world.describe(board));
                true
            }
        }
    }
}
