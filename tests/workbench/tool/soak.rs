//! Rounds with faults, in virtual time.

use core::time::Duration;
use std::collections::BTreeSet;

use clap::{Args, Subcommand, ValueEnum};

use super::Seeds;
use crate::hands::hall::OPENING;
use crate::soak::faults::Plan;
use crate::soak::known::{self, Difference, Power};
use crate::soak::verdict::{self, Wrong};
use crate::soak::world::{Outcome, Round};
use crate::soak::{self, ALL};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Play rounds of two hours; fails if the errors differ from tests/workbench/soak/known.txt
    Rounds {
        #[command(flatten)]
        kind: Kind,
        /// One seed, or a range such as 1..21 without its end (default: the seeds that the list covers)
        #[arg(long)]
        seeds: Option<Seeds>,
    },
    /// Show the log of one board of a round
    Show {
        #[command(flatten)]
        kind: Kind,
        #[arg(long)]
        seed: u64,
        /// From 1 to 8
        #[arg(long, value_parser = clap::value_parser!(u64).range(1..=8))]
        board: u64,
        /// Second of the round around which to show the log
        #[arg(long, value_parser = seconds)]
        at: Duration,
        /// Seconds shown before that time
        #[arg(long, default_value = "60", value_parser = seconds)]
        before: Duration,
        /// Seconds shown after that time
        #[arg(long, default_value = "30", value_parser = seconds)]
        after: Duration,
    },
}

/// The kind of round.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct Kind {
    /// Power supply of the boards: own or cable
    #[arg(long, default_value = "own")]
    power: Power,
    /// Faults of the round
    #[arg(long, value_enum, default_value = "all")]
    faults: Faults,
    /// Let every game end with a shown result
    #[arg(long)]
    results: bool,
}

/// The faults of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Faults {
    All,
    None,
    Unplugs,
    Restarts,
    Bursts,
    Silences,
}

impl Command {
    pub(super) fn run(self) -> bool {
        match self {
            Self::Rounds { kind, seeds } => rounds(kind, seeds),
            Self::Show {
                kind,
                seed,
                board,
                at,
                before,
                after,
            } => {
                let board = board as usize - 1;
                let round = Round {
                    logged: Some(board),
                    ..kind.round(seed)
                };
                let here = Wrong {
                    board,
                    at: OPENING + at,
                    words: String::new(),
                    reported: false,
                };
                println!("{}", verdict::around(&round.play().log, &here, before, after));
                true
            }
        }
    }
}

fn rounds(kind: Kind, seeds: Option<Seeds>) -> bool {
    let listed = kind.power.listed_seeds();
    let seeds = seeds.map_or_else(|| listed.clone(), |Seeds(seeds)| seeds);
    // The list covers only rounds with all faults and without `results`.
    let list = if kind.faults == Faults::All && !kind.results {
        known::list()
    } else {
        Vec::new()
    };
    let mut as_listed = true;
    let mut all = (0, 0);
    for seed in seeds {
        let (outcome, wrong, text) = soak::wrong(kind.round(seed));
        let boards: Vec<usize> = wrong.iter().map(|wrong| wrong.board + 1).collect();
        let difference = Difference::of_round(kind.power, seed, &boards, &list);
        let neither = neither_right_nor_reported(&outcome, &wrong);
        let games: usize = outcome.tables.iter().map(|table| table.dealt.len()).sum();
        println!("{text}");
        println!(
            "seed {seed}: {games} games, {neither} neither right nor stated, held {:?}",
            outcome.held
        );
        print!("{difference}");
        as_listed &= difference.is_none();
        all = (all.0 + games, all.1 + neither);
    }
    println!("{} games, {} neither right nor stated", all.0, all.1);
    as_listed
}

/// Returns the number of games with an error that is not reported as a gap.
fn neither_right_nor_reported(outcome: &Outcome, wrong: &[Wrong]) -> usize {
    let game = |wrong: &Wrong| {
        let played = &outcome.tables[wrong.board].played;
        let last = played.iter().rfind(|played| played.at <= wrong.at);
        (wrong.board, last.map_or(0, |played| played.game))
    };
    let wrong = wrong.iter().filter(|wrong| !wrong.reported);
    wrong.map(game).collect::<BTreeSet<_>>().len()
}

impl Kind {
    const fn round(self, seed: u64) -> Round {
        Round {
            seed,
            plan: self.faults.plan(),
            power: self.power,
            results: self.results,
            logged: None,
        }
    }
}

impl Faults {
    const fn plan(self) -> Plan {
        let none = Plan {
            unplugs: 0,
            restarts: 0,
            bursts: 0,
            silences: 0,
            away: soak::faults::AWAY,
        };
        match self {
            Self::All => ALL,
            Self::None => none,
            Self::Unplugs => Plan {
                unplugs: ALL.unplugs,
                ..none
            },
            Self::Restarts => Plan {
                restarts: ALL.restarts,
                ..none
            },
            Self::Bursts => Plan {
                bursts: ALL.bursts,
                ..none
            },
            Self::Silences => Plan {
                silences: ALL.silences,
                ..none
            },
        }
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "say seconds as in 12.5".to_owned())?;
    Duration::try_from_secs_f64(number).map_err(|error| error.to_string())
}
