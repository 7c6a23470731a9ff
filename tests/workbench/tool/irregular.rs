//! Games in which the Laws are broken, and legal ones, in which no incident may be reported.

use core::fmt::Debug;
use core::time::Duration;

use clap::Subcommand;
use kiebitz_game::events::Event;

use super::{Games, Hands, Seeds, tastes, temperaments};
use crate::hands::hall::OPENING;
use crate::hands::irregular::{Case, judged, legal};
use crate::hands::play::Play;
use crate::hands::touching;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Count the incidents of each kind: true, found and false ones
    Rates {
        /// One seed, or a range such as 0..300 without its end
        #[arg(long, default_value = "0..300")]
        seeds: Seeds,
    },
    /// Count the incidents raised in legal games
    Legal {
        /// Temperament of the players; can be given several times (default: all but hurried)
        #[arg(long, value_enum)]
        hands: Vec<Hands>,
        /// Preferred moves of the games (default: both kinds in turn)
        #[arg(long, value_enum)]
        games: Option<Games>,
        /// One seed, or a range such as 0..300 without its end
        #[arg(long, default_value = "0..300")]
        seeds: Seeds,
    },
    /// Count touches, releases, castlings, uses of two hands and early presses: true, found and false ones
    Touches {
        /// One seed, or a range such as 0..300 without its end
        #[arg(long, default_value = "0..300")]
        seeds: Seeds,
        /// Let squares read empty for up to a second now and then
        #[arg(long)]
        disturbed: bool,
        /// Show the actions and events of each game
        #[arg(long)]
        show: bool,
    },
    /// Show the actions and events of one game
    Show {
        #[arg(long, value_enum)]
        hands: Hands,
        #[arg(long)]
        seed: u64,
    },
}

impl Command {
    pub(super) fn run(self) -> bool {
        match self {
            Self::Rates { seeds: Seeds(seeds) } => {
                let mut all_are_good = true;
                for temperament in temperaments(&[Hands::Calm, Hands::Drawing]) {
                    let count = judged(seeds.clone(), temperament);
                    println!("== irregular, {temperament:?}\n{count}");
                    all_are_good &= count.is_good();
                }
                all_are_good
            }
            Self::Legal {
                hands,
                games,
                seeds: Seeds(seeds),
            } => {
                for temperament in temperaments(&hands) {
                    for taste in tastes(games) {
                        let (count, plies) = legal(seeds.clone(), temperament, taste);
                        println!("== legal, {temperament:?} {taste:?}: {plies} plies\n{count}");
                    }
                }
                true
            }
            Self::Touches {
                seeds: Seeds(seeds),
                disturbed,
                show: shown,
            } => {
                for seed in seeds.clone().filter(|_| shown) {
                    let case = touching::Case::new(seed, disturbed);
                    println!("{}", show(&case.acts, &case.events(), &case.play));
                }
                let count = touching::Count::of(seeds, disturbed);
                println!("{count}");
                count.is_good()
            }
            Self::Show { hands, seed } => {
                let case = Case::new(seed, hands.into());
                let truths: Vec<_> = case.truths.iter().map(|truth| (truth.at, truth)).collect();
                println!("{}", show(&truths, &case.events(), &case.play));
                true
            }
        }
    }
}

/// Lists actions and events in the order of time.
fn show(truths: &[(Duration, impl Debug)], events: &[Event], play: &Play) -> String {
    let mut lines: Vec<(f64, String)> = Vec::new();
    for (at, truth) in truths {
        lines.push((at.as_secs_f64(), format!("** {truth:?}")));
    }
    for step in &play.steps {
        lines.push((step.at.as_secs_f64(), format!("      {:?}", step.deed)));
    }
    for event in events {
        let at = (event.ts.as_micros() - OPENING.as_micros()) as f64 / 1e6;
        let mut words = serde_json::to_string(&event.kind).unwrap();
        words.truncate(170);
        lines.push((at, format!("-> {words}")));
    }
    lines.sort_by(|a, b| a.0.total_cmp(&b.0));
    let text = lines.iter().map(|(at, words)| format!("{at:9.3} {words}\n"));
    text.collect()
}
