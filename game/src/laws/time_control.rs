//! Time controls: the time that a player has for a number of moves, as arbiters and as PGN write it.

mod element;
mod read;
mod token;

use core::fmt::{self, Write};

use thiserror::Error;

use super::edition::{Edition, Mode};
use super::table;
pub(super) use read::minutes;

/// The time that each player has for the moves of each period (2023: 6.3.1).
///
/// Parses the notation of people, in minutes and seconds per move ("90+30", "90'/40 + 30' + 30\"", "G/90;d5", "40/90,
/// SD/30; +30", "90 Min. + 30 Sek./Zug"), and that of PGN, in seconds ("40/7200:3600"). A text with two plausible
/// readings, such as "40/90", is an error that lists them. Formats in minutes: "90 min/40 + 30 min, 30 s from move 1".
///
/// Two time controls are equal if players have the same time, regardless of the notation.
///
/// ```
/// use kiebitz_game::laws::{Bonus, TimeControl};
///
/// let control: TimeControl = "90 min/40 + 30 min, 30 s from move 1".parse()?;
/// assert_eq!(control.pgn().as_deref(), Some("40/5400+30:1800+30"));
/// assert_eq!(control.bonus(41), Bonus::Fischer(30));
/// assert_eq!(TimeControl::from_pgn("5400+30")?.to_string(), "90+30");
/// # Ok::<(), kiebitz_game::laws::InvalidTimeControl>(())
/// ```
#[derive(Debug, Clone)]
pub struct TimeControl {
    /// At least one period; all but the last one have a number of moves.
    periods: Vec<Period>,
    /// The text from which it was parsed.
    typed: Option<String>,
}

impl PartialEq for TimeControl {
    fn eq(&self, other: &Self) -> bool {
        self.periods == other.periods
    }
}

impl Eq for TimeControl {}

/// A period of a time control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    /// Number of moves in the period, at least one; `None` for all remaining moves.
    pub moves: Option<u32>,
    /// Time added at the start of the period, in seconds. Unused time of the period before is kept (6.3.2).
    pub seconds: u32,
    /// Time added by each move of the period.
    pub bonus: Bonus,
}

/// Time added by a move.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Bonus {
    /// No time is added.
    #[default]
    None,
    /// Seconds added to the player's time after the move.
    Fischer(u32),
    /// Seconds before the player's time starts to run; unused seconds are lost (Bronstein).
    Delay(u32),
}

/// A text that is not a time control.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InvalidTimeControl {
    /// The text is empty.
    #[error(
        "the time control is empty; write it as in \"90+30\" or \"90 min/40 + 30 min, 30 s from move 1\""
    )]
    Empty,
    /// A part of the text is unexpected.
    #[error("time control {text:?}: found {found:?} where {expected} belongs")]
    Unexpected {
        /// The whole text.
        text: String,
        /// The unexpected part; "the end" if the text ends too early.
        found: String,
        /// The expected text.
        expected: &'static str,
    },
    /// A number is too large or zero.
    #[error("time control {text:?}: {what}")]
    Number {
        /// The whole text.
        text: String,
        /// The error.
        what: &'static str,
    },
    /// The text has several plausible readings.
    #[error("time control {text:?} is ambiguous: write {}", listed(readings))]
    Ambiguous {
        /// The whole text.
        text: String,
        /// The readings, each in an unambiguous notation.
        readings: Vec<String>,
    },
    /// PGN's sign for a sand clock, for an unknown time control or for none.
    #[error(
        "time control {text:?} is a sand clock, unknown or none: the Laws have no rules for such a clock"
    )]
    Unruled {
        /// The whole text.
        text: String,
    },
}

/// A player's progress in a time control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    /// The period, from 0; the last one repeats if it has a number of moves.
    pub period: u32,
    /// Moves still to be completed in the period; `None` for all remaining moves.
    pub moves_left: Option<u32>,
}

impl TimeControl {
    /// Creates a time control. `None` if the list is empty, a period other than the last has no number of moves, or a
    /// number is zero or too large.
    #[must_use]
    pub fn new(periods: Vec<Period>) -> Option<Self> {
        let (last, others) = periods.split_last()?;
        let is_plausible = |period: &Period| {
            period.moves.is_none_or(|moves| (1..=MAX_MOVES).contains(&moves))
                && (1..=MAX_SECONDS).contains(&period.seconds)
                && period.bonus.seconds() <= MAX_SECONDS
                && !matches!(period.bonus, Bonus::Fischer(0) | Bonus::Delay(0))
        };
        let numbered = others.iter().all(|period| period.moves.is_some());
        let is_valid = numbered && others.iter().all(is_plausible) && is_plausible(last);
        is_valid.then_some(Self { periods, typed: None })
    }

    /// The periods in order, at least one.
    #[must_use]
    pub fn periods(&self) -> &[Period] {
        &self.periods
    }

    /// The text as typed; `None` if the time control was not parsed from a person's text.
    #[must_use]
    pub fn typed(&self) -> Option<&str> {
        self.typed.as_deref()
    }

    /// The value of the PGN tag TimeControl, as in "40/5400+30:1800+30"; `None` with a delay, which PGN cannot express.
    #[must_use]
    pub fn pgn(&self) -> Option<String> {
        let field = |period: &Period| {
            let moves = period.moves.map_or_else(String::new, |moves| format!("{moves}/"));
            match period.bonus {
                Bonus::None => Some(format!("{moves}{}", period.seconds)),
                Bonus::Fischer(bonus) => Some(format!("{moves}{}+{bonus}", period.seconds)),
                Bonus::Delay(_) => None,
            }
        };
        let fields: Option<Vec<String>> = self.periods.iter().map(field).collect();
        fields.map(|fields| fields.join(":"))
    }

    /// The progress of a player after `completed` moves.
    #[must_use]
    pub fn standing(&self, completed: u32) -> Reached {
        let mut period = 0;
        let mut left = completed;
        loop {
            let Some(moves) = self.period(period).moves else {
                return Reached {
                    period,
                    moves_left: None,
                };
            };
            if left < moves {
                return Reached {
                    period,
                    moves_left: Some(moves - left),
                };
            }
            left -= moves;
            period += 1;
        }
    }

    /// Number of moves that a player must have completed at the end of `period`, from 0; `None` for all.
    #[must_use]
    pub fn required(&self, period: u32) -> Option<u32> {
        let mut moves = (0..=period).map(|period| self.period(period).moves);
        moves.try_fold(0_u32, |sum, moves| Some(sum.saturating_add(moves?)))
    }

    /// Whether no period follows `period`, from 0.
    #[must_use]
    pub fn is_last(&self, period: u32) -> bool {
        self.period(period).moves.is_none()
    }

    /// Time added by the player's move with this number, from 1.
    #[must_use]
    pub fn bonus(&self, number: u32) -> Bonus {
        self.period(self.standing(number.saturating_sub(1)).period).bonus
    }

    /// Sum of the times of the first `periods` periods, in milliseconds.
    #[must_use]
    pub fn credited_ms(&self, periods: u32) -> u64 {
        (0..periods).fold(0, |sum: u64, period| {
            sum.saturating_add(u64::from(self.period(period).seconds) * 1000)
        })
    }

    /// A player's time for sixty moves, in seconds: all base times plus sixty times the increment or delay. It decides
    /// between rapid and blitz (2023: A.1, B.1).
    #[must_use]
    pub fn player_seconds(&self) -> u64 {
        let base: u64 = self.periods.iter().map(|period| u64::from(period.seconds)).sum();
        let bonus: u64 = (1..=60)
            .map(|number| u64::from(self.bonus(number).seconds()))
            .sum();
        base + bonus
    }

    /// Longest duration of a game of sixty moves, in seconds.
    #[must_use]
    pub fn game_seconds(&self) -> u64 {
        2 * self.player_seconds()
    }

    /// The mode of play to which an edition assigns this time (1997: B.1, C.1; 2023: A.1, B.1).
    #[must_use]
    pub fn mode(&self, edition: Edition) -> Mode {
        table::mode(edition, self.player_seconds())
    }

    /// Whether a player in time trouble must keep writing because moves add thirty seconds or more (8.4).
    #[must_use]
    pub fn keeps_writing(&self, period: u32) -> bool {
        self.period(period).bonus.seconds() >= 30
    }

    /// The period with this index, from 0; the last one repeats.
    fn period(&self, index: u32) -> Period {
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        let last = Period {
            moves: None,
            seconds: 0,
            bonus: Bonus::None,
        };
        let period = self.periods.get(index).or_else(|| self.periods.last());
        period.copied().unwrap_or(last)
    }
}

impl Bonus {
    /// The seconds of the increment or delay; zero for neither.
    #[must_use]
    pub const fn seconds(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Fischer(seconds) | Self::Delay(seconds) => seconds,
        }
    }
}

/// Most moves in a period. No real game has more.
const MAX_MOVES: u32 = 999;
/// Most time, in seconds: a hundred hours. No real game has more.
const MAX_SECONDS: u32 = 360_000;

/// Formats in arbiters' notation. Parsing the result gives an equal time control.
impl fmt::Display for TimeControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [
            Period {
                moves: None,
                seconds,
                bonus: Bonus::Fischer(bonus),
            },
        ] = self.periods.as_slice()
            && seconds % 60 == 0
            && read::is_short(seconds / 60, *bonus)
        {
            return write!(f, "{}+{bonus}", seconds / 60);
        }
        f.write_str(&self.in_words())
    }
}

impl TimeControl {
    /// Formats every number with its unit, as in "90 min/40 + 30 min, 30 s from move 1".
    fn in_words(&self) -> String {
        let mut from = 1;
        let mut before = Bonus::None;
        let mut words = String::new();
        let mut bonuses = String::new();
        for (index, period) in self.periods.iter().enumerate() {
            if index > 0 {
                words.push_str(" + ");
            }
            words.push_str(&time_text(period.seconds));
            if period.bonus != before {
                let delay = if matches!(period.bonus, Bonus::Delay(_)) {
                    "delay "
                } else {
                    ""
                };
                let _ = write!(bonuses, ", {delay}{} s from move {from}", period.bonus.seconds());
            }
            before = period.bonus;
            if let Some(moves) = period.moves {
                // "90 min/30" alone might mean an increment.
                let unit = if self.periods.len() == 1 { " moves" } else { "" };
                let _ = write!(words, "/{moves}{unit}");
                from += moves;
            }
        }
        words + &bonuses
    }
}

/// Formats as in "2 h", "90 min" or "1 min 30 s".
fn time_text(seconds: u32) -> String {
    match (seconds / 60, seconds % 60) {
        (minutes, 0) if minutes % 60 == 0 => format!("{} h", minutes / 60),
        (minutes, 0) => format!("{minutes} min"),
        (minutes, rest) => format!("{minutes} min {rest} s"),
    }
}

/// Formats as in "\"90+30\" or \"90 min/30 moves\"".
fn listed(readings: &[String]) -> String {
    let quoted: Vec<String> = readings.iter().map(|reading| format!("{reading:?}")).collect();
    quoted.join(" or ")
}

#[cfg(test)]
mod tests;
