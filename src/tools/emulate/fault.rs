//! Faults of emulated boards, from the command line or typed during the emulation.

use core::fmt;
use core::str::FromStr;
use core::time::Duration;

use shakmaty::Square;
use thiserror::Error;

/// A scheduled fault or repair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Affected boards.
    pub boards: Boards,
    /// Kind of the fault or repair.
    pub trouble: EmulatedFault,
    /// Delay from the start of the emulation, or from the time at which the fault was typed.
    pub at: Duration,
    /// Duration of the fault. If `None`, it lasts until a later repair.
    pub lasts: Option<Duration>,
}

/// Selection of boards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Boards {
    /// All boards.
    All,
    /// The board with this number, counted from 1.
    One(usize),
}

/// Kind of a fault or repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmulatedFault {
    /// Pulls the board's cable out.
    Unplug,
    /// Plugs the board's cable in again.
    Plug,
    /// Sends a burst of bytes that no board sends.
    Garbage,
    /// Drops everything that the board sends.
    Silent,
    /// Stops dropping the board's bytes.
    Heard,
    /// Makes a square report no piece.
    Dead(Square),
    /// Makes a dead square report pieces again.
    Alive(Square),
    /// Pulls the clock's cable out.
    ClockLost,
    /// Plugs the clock's cable in again.
    Clock,
    /// Pauses the players without touching the clock.
    Wait,
    /// Resumes paused players.
    Start,
}

/// Error of parsing a [`Fault`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoFault {
    /// The first word is not a fault.
    #[error(
        "{0:?} is not a fault; expected unplug, plug, garbage, silent, heard, dead, alive, clock-lost, clock, wait or start"
    )]
    Unknown(String),
    /// The second word is not a board.
    #[error("the board is missing: give its number, its name such as board-2, or all")]
    NoBoard,
    /// The third word is not a square, but the fault needs one.
    #[error("the square is missing; expected for example `dead 2 e4`")]
    NoSquare,
    /// The word after `at` or `for` is not a time.
    #[error("{0:?} is not a time; expected for example 5s, 500ms or 2m")]
    NoTime(String),
    /// An unexpected word follows the fault.
    #[error("unexpected {0:?}: a fault ends with its times, as in `unplug 2 at 30s for 5s`")]
    Surplus(String),
}

/// Help text for typed faults.
pub(super) const HELP: &str = "\
unplug 2          unplug board 2                     plug 2         plug it in again
garbage 2         send bytes that no board sends
silent 2          drop everything that it sends      heard 2        stop dropping
dead 2 e4         make square e4 blind               alive 2 e4     make it see pieces again
clock-lost 2      unplug its clock                   clock 2        plug it in again
wait 2            let its players wait           start 2        let them go on; an empty line lets all go on
Add `at 30s` to wait before the fault, and `for 5s` to end it after that time; `all` means every board.";

impl FromStr for Fault {
    type Err = NoFault;

    fn from_str(text: &str) -> Result<Self, NoFault> {
        let mut words = text.split_whitespace();
        let verb = words.next().unwrap_or_default();
        let known = VERBS.contains(&verb);
        if !known {
            return Err(NoFault::Unknown(verb.to_owned()));
        }
        let boards = words.next().ok_or(NoFault::NoBoard)?.parse()?;
        let mut square = || {
            words
                .next()
                .and_then(|word| word.parse().ok())
                .ok_or(NoFault::NoSquare)
        };
        let trouble = match verb {
            "unplug" => EmulatedFault::Unplug,
            "plug" => EmulatedFault::Plug,
            "garbage" => EmulatedFault::Garbage,
            "silent" => EmulatedFault::Silent,
            "heard" => EmulatedFault::Heard,
            "dead" => EmulatedFault::Dead(square()?),
            "alive" => EmulatedFault::Alive(square()?),
            "clock-lost" => EmulatedFault::ClockLost,
            "wait" => EmulatedFault::Wait,
            "start" => EmulatedFault::Start,
            _ => EmulatedFault::Clock,
        };
        let mut fault = Self {
            boards,
            trouble,
            at: Duration::ZERO,
            lasts: None,
        };
        while let Some(word) = words.next() {
            match word {
                "at" => fault.at = time(words.next().unwrap_or_default())?,
                "for" if trouble.repair().is_some() => {
                    fault.lasts = Some(time(words.next().unwrap_or_default())?);
                }
                _ => return Err(NoFault::Surplus(word.to_owned())),
            }
        }
        Ok(fault)
    }
}

impl FromStr for Boards {
    type Err = NoFault;

    fn from_str(text: &str) -> Result<Self, NoFault> {
        if text == "all" {
            return Ok(Self::All);
        }
        let number = text.strip_prefix("board-").unwrap_or(text).parse();
        number
            .ok()
            .filter(|number| *number > 0)
            .map(Self::One)
            .ok_or(NoFault::NoBoard)
    }
}

impl EmulatedFault {
    /// Returns the repair of a fault. `None` for [`Garbage`](Self::Garbage), which passes by itself, and for repairs and
    /// starts.
    #[must_use]
    pub const fn repair(self) -> Option<Self> {
        match self {
            Self::Unplug => Some(Self::Plug),
            Self::Silent => Some(Self::Heard),
            Self::Dead(square) => Some(Self::Alive(square)),
            Self::ClockLost => Some(Self::Clock),
            Self::Wait => Some(Self::Start),
            Self::Plug | Self::Garbage | Self::Heard | Self::Alive(_) | Self::Clock | Self::Start => None,
        }
    }
}

impl fmt::Display for EmulatedFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unplug => f.write_str("unplugged"),
            Self::Plug => f.write_str("plugged in"),
            Self::Garbage => f.write_str("garbage on its line"),
            Self::Silent => f.write_str("silent"),
            Self::Heard => f.write_str("heard again"),
            Self::Dead(square) => write!(f, "{square} is dead"),
            Self::Alive(square) => write!(f, "{square} works again"),
            Self::ClockLost => f.write_str("clock unplugged"),
            Self::Clock => f.write_str("clock plugged in"),
            Self::Wait => f.write_str("waiting"),
            Self::Start => f.write_str("playing"),
        }
    }
}

fn time(word: &str) -> Result<Duration, NoFault> {
    word.parse::<jiff::SignedDuration>()
        .ok()
        .and_then(|time| Duration::try_from(time).ok())
        .filter(|time| *time <= MAX_DURATION)
        .ok_or_else(|| NoFault::NoTime(word.to_owned()))
}

const VERBS: [&str; 11] = [
    "unplug",
    "plug",
    "garbage",
    "silent",
    "heard",
    "dead",
    "alive",
    "clock-lost",
    "clock",
    "wait",
    "start",
];
/// Upper limit of times in a fault.
const MAX_DURATION: Duration = Duration::from_secs(30 * 24 * 3600);

#[cfg(test)]
mod tests {
    use super::*;

    const fn fault(board: usize, trouble: EmulatedFault) -> Fault {
        Fault {
            boards: Boards::One(board),
            trouble,
            at: Duration::ZERO,
            lasts: None,
        }
    }

    #[test]
    fn faults_parse_with_square_and_times() {
        for (text, expected) in [
            ("unplug 2", fault(2, EmulatedFault::Unplug)),
            ("  plug   board-12 ", fault(12, EmulatedFault::Plug)),
            ("dead 1 e4", fault(1, EmulatedFault::Dead(Square::E4))),
            ("clock 3", fault(3, EmulatedFault::Clock)),
            ("wait 4", fault(4, EmulatedFault::Wait)),
            ("start 4", fault(4, EmulatedFault::Start)),
            (
                "silent 2 for 10s",
                Fault {
                    lasts: Some(Duration::from_secs(10)),
                    ..fault(2, EmulatedFault::Silent)
                },
            ),
            (
                "dead 2 a1 at 1m30s for 500ms",
                Fault {
                    at: Duration::from_secs(90),
                    lasts: Some(Duration::from_millis(500)),
                    ..fault(2, EmulatedFault::Dead(Square::A1))
                },
            ),
            (
                "garbage all at 2m",
                Fault {
                    boards: Boards::All,
                    at: Duration::from_secs(120),
                    ..fault(1, EmulatedFault::Garbage)
                },
            ),
        ] {
            assert_eq!(text.parse(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn invalid_faults_are_refused_with_a_reason() {
        for (text, expected) in [
            ("", NoFault::Unknown(String::new())),
            ("explode 2", NoFault::Unknown("explode".to_owned())),
            ("unplug", NoFault::NoBoard),
            ("unplug 0", NoFault::NoBoard),
            ("unplug -1", NoFault::NoBoard),
            ("dead 2", NoFault::NoSquare),
            ("dead 2 z9", NoFault::NoSquare),
            ("unplug 2 for", NoFault::NoTime(String::new())),
            ("unplug 2 for ever", NoFault::NoTime("ever".to_owned())),
            ("unplug 2 for -5s", NoFault::NoTime("-5s".to_owned())),
            ("unplug 2 5s", NoFault::Surplus("5s".to_owned())),
            ("plug 2 for 5s", NoFault::Surplus("for".to_owned())),
            ("start 2 for 5s", NoFault::Surplus("for".to_owned())),
        ] {
            assert_eq!(text.parse::<Fault>(), Err(expected), "{text}");
        }
    }

    #[test]
    fn help_names_every_fault() {
        assert!(VERBS.iter().all(|verb| HELP.contains(&format!("{verb} 2"))));
    }
}
