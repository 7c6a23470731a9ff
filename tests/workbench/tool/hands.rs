//! Legal games under simulated hands, each from a seed.

use core::time::Duration;

use clap::Subcommand;
use kiebitz_hardware::emulator::hand::Temperament;

use super::{Games, Hands, Seeds, tastes, temperaments};
use crate::hands::games::Taste;
use crate::hands::{Case, failing, noise, verdict};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Count the games that are published wrongly, and the corrections of published plies
    Rates {
        /// Temperament of the players; can be given several times (default: all but hurried)
        #[arg(long, value_enum)]
        hands: Vec<Hands>,
        /// Preferred moves of the games (default: both kinds in turn)
        #[arg(long, value_enum)]
        games: Option<Games>,
        /// One seed, or a range such as 0..1000 without its end
        #[arg(long, default_value = "0..1000")]
        seeds: Seeds,
        #[command(flatten)]
        odds: Odds,
    },
    /// Show the actions and events around the first wrongly published ply of a game
    Show {
        #[arg(long, value_enum)]
        hands: Hands,
        #[arg(long, value_enum)]
        games: Games,
        #[arg(long)]
        seed: u64,
        #[command(flatten)]
        odds: Odds,
        /// Where to write its capture
        #[arg(long)]
        capture: Option<std::path::PathBuf>,
    },
    /// Measure the time for 4,000 random field updates
    Noise,
}

/// Options that make games hard to follow.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct Odds {
    /// Factor for the speed of the hands
    #[arg(long, default_value_t = 1)]
    times: u32,
    /// Let one square die in each game
    #[arg(long, conflicts_with = "times")]
    dying: bool,
}

impl Odds {
    fn case(self, seed: u64, temperament: Temperament, taste: Taste) -> Case {
        if self.dying {
            Case::deadened(seed, temperament, taste)
        } else {
            Case::hastened(seed, temperament, taste, self.times)
        }
    }
}

impl Command {
    pub(super) fn run(self) -> bool {
        match self {
            Self::Rates {
                hands,
                games,
                seeds,
                odds,
            } => return rates(&hands, games, &seeds, odds),
            Self::Show {
                hands,
                games,
                seed,
                odds,
                capture,
            } => {
                let case = odds.case(seed, hands.into(), games.into());
                if let Some(file) = capture {
                    std::fs::write(file, &case.capture).expect("the capture can be written");
                }
                println!("{}", case.failure().unwrap_or_else(|| "comes back".to_owned()));
            }
            Self::Noise => time_of_noise(),
        }
        true
    }
}

fn rates(hands: &[Hands], games: Option<Games>, Seeds(seeds): &Seeds, odds: Odds) -> bool {
    let mut all_come_back = true;
    for temperament in temperaments(hands) {
        for taste in tastes(games) {
            let (mut plies, mut corrected) = (0, 0);
            for seed in seeds.clone().take(CORRECTIONS_OF) {
                let case = odds.case(seed, temperament, taste);
                plies += case.game.moves.len();
                corrected += verdict::corrections(&verdict::events(&case.capture));
            }
            let (failing, first) = failing(seeds.clone(), |seed| odds.case(seed, temperament, taste));
            println!(
                "== {temperament:?} {taste:?}: {} of {} come back wrong: {failing:?}",
                failing.len(),
                seeds.end - seeds.start
            );
            println!("   {corrected} corrections in {plies} plies\n{first}");
            all_come_back &= failing.is_empty();
        }
    }
    all_come_back
}

fn time_of_noise() {
    for between in [50, 400, 1500] {
        #[expect(
            clippy::disallowed_methods,
            reason = "a measurement, not a part of the program"
        )]
        let began = std::time::Instant::now();
        let events = noise::shuffle(4000, Duration::from_millis(between));
        println!(
            "4000 random field updates, {between} ms apart: {:?}, {events} events",
            began.elapsed()
        );
    }
}

/// Number of games in which corrections are counted.
const CORRECTIONS_OF: usize = 200;
