//! Thirty boards on one bus.

use clap::{Subcommand, ValueEnum};
use kiebitz_hardware::emulator::hand::Temperament;

use super::{Games, Hands, Seeds, tastes, temperaments};
use crate::bus::THIRTY;
use crate::bus::world::{Bus, World};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Count the games that are published wrongly
    Rates {
        /// Temperament of the players; can be given several times (default: all but hurried, in turn)
        #[arg(long, value_enum)]
        hands: Vec<Hands>,
        /// Preferred moves of the games (default: both kinds in turn)
        #[arg(long, value_enum)]
        games: Option<Games>,
        /// One seed, or a range such as 0..3 without its end
        #[arg(long, default_value = "0..3")]
        seeds: Seeds,
        /// Let the line fail six times a minute, and every board lose its power once. Differences reported as a gap
        /// then do not count
        #[arg(long)]
        faults: bool,
    },
    /// Show the actions and events at one board around the first wrongly published ply
    Show {
        #[arg(long, value_enum)]
        hands: BusHands,
        #[arg(long, value_enum)]
        games: Games,
        #[arg(long)]
        seed: u64,
        /// From 1 to 30
        #[arg(long, value_parser = clap::value_parser!(u16).range(1..=30))]
        board: u16,
        /// With the faults of `rates`
        #[arg(long)]
        faults: bool,
    },
}

/// The temperaments of the players at the boards of a bus.
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
