//! The commands of the workbench.

mod bus;
mod files;
mod fit;
mod gaps;
mod hands;
mod irregular;
mod messages;
mod soak;

use core::ops::Range;
use core::str::FromStr;
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use kiebitz_hardware::emulator::hand::Temperament;

use crate::hands::games::Taste;

/// Measures at length the properties that the tests sample, shows one case in detail, and updates expected files.
///
/// Every case is determined by its seed. Use a release build for measurements.
#[derive(Debug, Parser)]
#[command(
    name = "workbench",
    bin_name = "cargo run [--release] -p kiebitz-workbench --"
)]
#[command(disable_help_subcommand = true, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Legal games under simulated hands.
    #[command(subcommand)]
    Hands(hands::Command),
    /// Games in which the Laws are broken.
    #[command(subcommand)]
    Irregular(irregular::Command),
    /// Thirty boards on one bus with damaged answers.
    #[command(subcommand)]
    Bus(bus::Command),
    /// Rounds of two hours with all kinds of faults.
    #[command(subcommand)]
    Soak(soak::Command),
    /// Blitz games on boards that lose their power with the cable.
    Gaps(gaps::Gaps),
    /// Measure the effect of each parameter of the tracker's model, and search for a better model.
    Fit(fit::Fit),
    /// The captures in tests/captures.
    #[command(subcommand)]
    Captures(files::Captures),
    /// List all texts for users in the sources, each with its place.
    Messages(messages::Messages),
}

/// Runs a command. Fails if a measured value is out of its limits.
pub fn main() -> ExitCode {
    let is_good = match Arguments::parse().command {
        Command::Hands(command) => command.run(),
        Command::Irregular(command) => command.run(),
        Command::Bus(command) => command.run(),
        Command::Soak(command) => command.run(),
        Command::Gaps(command) => command.run(),
        Command::Fit(command) => command.run(),
        Command::Captures(command) => command.run(),
        Command::Messages(command) => command.run(),
    };
    if is_good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Seeds: one, or a range such as `0..1000` without its end.
#[derive(Debug, Clone)]
struct Seeds(Range<u64>);

impl FromStr for Seeds {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const ADVICE: &str = "say one seed, or a range as in 0..1000, its end left out";
        let number = |text: &str| text.parse::<u64>().map_err(|_| ADVICE);
        let seeds = match text.split_once("..") {
            Some((first, end)) => number(first)?..number(end)?,
            None => number(text)?..number(text)?.saturating_add(1),
        };
        if seeds.is_empty() {
            Err(ADVICE)
        } else {
            Ok(Self(seeds))
        }
    }
}

/// The temperament of the players.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Hands {
    /// One thing after the other, and always a press.
    Calm,
    /// Pieces are drawn over the squares.
    Drawing,
    /// Quick moves.
    Blitz,
    /// Players adjust, hover, push captured pieces aside, and forget the clock.
    Clumsy,
    /// A time scramble.
    Hurried,
}

impl From<Hands> for Temperament {
    fn from(hands: Hands) -> Self {
        match hands {
            Hands::Calm => Self::Calm,
            Hands::Drawing => Self::Drawing,
            Hands::Blitz => Self::Blitz,
            Hands::Clumsy => Self::Clumsy,
            Hands::Hurried => Self::Hurried,
        }
    }
}

/// Returns the given temperaments, or all but the hurried one if none is given.
fn temperaments(hands: &[Hands]) -> Vec<Temperament> {
    if hands.is_empty() {
        Temperament::UNHURRIED.to_vec()
    } else {
        hands.iter().copied().map(Temperament::from).collect()
    }
}

/// The preferred moves of random games.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Games {
    /// Any legal move.
    Any,
    /// Castling, promotion and en passant.
    Special,
}

impl From<Games> for Taste {
    fn from(games: Games) -> Self {
        match games {
            Games::Any => Self::Any,
            Games::Special => Self::Special,
        }
    }
}

fn tastes(games: Option<Games>) -> Vec<Taste> {
    games.map_or_else(|| vec![Taste::Any, Taste::Special], |games| vec![games.into()])
}
