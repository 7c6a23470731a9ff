//! Reading time controls, in both ways of writing them.

use core::str::FromStr;

use super::{Bonus, InvalidTimeControl, MIN_BARE_SECONDS, Period, TimeControl};

impl TimeControl {
    /// Reads the value of the PGN tag TimeControl, with all times in seconds, as in "40/7200:3600" or "300+2".
    ///
    /// # Errors
    ///
    /// When it is not a time control, or is one of PGN's signs for a sand clock ("*180"), for no time control ("-") or for an unknown one
    /// ("?").
    pub fn from_pgn(text: &str) -> Result<Self, InvalidTimeControl> {
        let bare = text.trim();
        if bare.starts_with(['*', '?']) || bare == "-" {
            return Err(InvalidTimeControl::Unruled {
                text: text.to_owned(),
            });
        }
        let mut reader = Reader::new(text)?;
        let mut periods = Vec::new();
        loop {
            periods.push(reader.pgn_period()?);
            if reader.at_end() {
                return reader.done(periods);
            }
            reader.sign(':', "\":\" or the end")?;
        }
    }

    /// As arbiters write it: bare numbers are minutes.
    fn from_words(text: &str) -> Result<Self, InvalidTimeControl> {
        let mut reader = Reader::new(text)?;
        let mut periods = vec![reader.period()?];
        let mut bonuses = Vec::new();
        while reader.take_sign('+') {
            // "90 min/40 + 30 min + 30 s": nobody has half a minute for the rest of a game.
            if reader.is_seconds() {
                bonuses.push(reader.bonus()?);
                break;
            }
            periods.push(reader.period()?);
        }
        while !reader.at_end() {
            reader.sign(',', "\",\", \"+\" or the end")?;
            bonuses.push(reader.bonus()?);
        }
        for (from, bonus) in bonuses {
            reader.grant(&mut periods, from, bonus)?;
        }
        reader.done(periods)
    }

    /// "90+30" and "90": minutes, and seconds a move. From 180 on it is PGN, and seconds.
    fn from_numbers(text: &str) -> Result<Self, InvalidTimeControl> {
        let mut control = Self::from_pgn(text)?;
        if let [period] = control.periods.as_mut_slice()
            && period.moves.is_none()
            && period.seconds < MIN_BARE_SECONDS
        {
            period.seconds *= 60;
        }
        Ok(control)
    }
}

impl FromStr for TimeControl {
    type Err = InvalidTimeControl;

    fn from_str(text: &str) -> Result<Self, InvalidTimeControl> {
        if text.contains(char::is_alphabetic) {
            Self::from_words(text)
        } else {
            Self::from_numbers(text)
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'t> {
    Number(u32),
    Word(&'t str),
    Sign(char),
}

/// A time in whole minutes, as in "30 min" or "1 h 30 min"; a bare number is minutes. `None` where the text is not a time.
pub(in crate::laws) fn minutes(text: &str) -> Option<u32> {
    let mut reader = Reader::new(text).ok()?;
    let (seconds, _) = reader.time().ok()?;
    (reader.at_end() && seconds.is_multiple_of(60)).then_some(seconds / 60)
}

/// Units of time with the words for them.
const UNITS: [(u32, &[&str]); 3] = [
    (3600, &["h", "hour", "hours", "std", "stunde", "stunden"]),
    (60, &["m", "min", "mins", "minute", "minutes", "minuten"]),
    (1, &["s", "sec", "secs", "second", "seconds", "sek", "sekunden"]),
];
/// What stands before the number of the first move that brings a bonus.
const FROM: [&str; 2] = ["from", "ab"];
const MOVE: [&str; 3] = ["move", "zug", "moves"];
/// What may stand before "move" when every move brings the bonus.
const EACH: [&str; 5] = ["a", "per", "each", "pro", "je"];
const DELAY: [&str; 3] = ["delay", "bronstein", "aufschub"];

/// The text token by token.
struct Reader<'t> {
    text: &'t str,
    lower: Vec<String>,
    tokens: Vec<Token<'t>>,
    at: usize,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str) -> Result<Self, InvalidTimeControl> {
        let mut tokens = Vec::new();
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let alike = |other: char| match first {
                _ if first.is_ascii_digit() => other.is_ascii_digit(),
                _ if first.is_alphabetic() => other.is_alphabetic(),
                _ => false,
            };
            let end = rest.find(|other: char| !alike(other)).unwrap_or(rest.len());
            let end = end.max(first.len_utf8());
            let (token, tail) = rest.split_at(end);
            tokens.push(match first {
                _ if first.is_ascii_digit() => {
                    let number = token
                        .parse()
                        .map_err(|_| Self::number(text, "a number is too large"))?;
                    Token::Number(number)
                }
                _ if first.is_alphabetic() => Token::Word(token),
                // "30 min." and "30 min" are the same.
                '.' => {
                    rest = tail.trim_start();
                    continue;
                }
                sign => Token::Sign(sign),
            });
            rest = tail.trim_start();
        }
        if tokens.is_empty() {
            return Err(InvalidTimeControl::Empty);
        }
        let lower = tokens.iter().map(|token| match token {
            Token::Word(word) => word.to_lowercase(),
            _ => String::new(),
        });
        Ok(Self {
            text,
            lower: lower.collect(),
            tokens,
            at: 0,
        })
    }

    fn at_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    fn unexpected(&self, expected: &'static str) -> InvalidTimeControl {
        let found = match self.tokens.get(self.at) {
            None => "the end".to_owned(),
            Some(Token::Number(number)) => number.to_string(),
            Some(Token::Word(word)) => (*word).to_owned(),
            Some(Token::Sign(sign)) => sign.to_string(),
        };
        InvalidTimeControl::Unexpected {
            text: self.text.to_owned(),
            found,
            expected,
        }
    }

    fn number(text: &str, what: &'static str) -> InvalidTimeControl {
        InvalidTimeControl::Number {
            text: text.to_owned(),
            what,
        }
    }

    fn done(&self, periods: Vec<Period>) -> Result<TimeControl, InvalidTimeControl> {
        let (_, others) = periods.split_last().unwrap_or((&EMPTY, &[]));
        if others.iter().any(|period| period.moves.is_none()) {
            return Err(Self::number(
                self.text,
                "only the last period may be without a number of moves, as in \"2 h/40 + 1 h\"",
            ));
        }
        let what = "times and numbers of moves are more than 0, and not beyond all games";
        TimeControl::new(periods).ok_or_else(|| Self::number(self.text, what))
    }

    fn take_number(&mut self, expected: &'static str) -> Result<u32, InvalidTimeControl> {
        match self.tokens.get(self.at) {
            Some(Token::Number(number)) => {
                self.at += 1;
                Ok(*number)
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    fn take_sign(&mut self, sign: char) -> bool {
        let there = self.tokens.get(self.at) == Some(&Token::Sign(sign));
        self.at += usize::from(there);
        there
    }

    fn sign(&mut self, sign: char, expected: &'static str) -> Result<(), InvalidTimeControl> {
        if self.take_sign(sign) {
            Ok(())
        } else {
            Err(self.unexpected(expected))
        }
    }

    fn take_word(&mut self, words: &[&str]) -> bool {
        let there = self
            .lower
            .get(self.at)
            .is_some_and(|word| words.contains(&word.as_str()));
        self.at += usize::from(there);
        there
    }

    /// "40/7200", "300+2".
    fn pgn_period(&mut self) -> Result<Period, InvalidTimeControl> {
        let first = self.take_number("a number")?;
        let (moves, seconds) = if self.take_sign('/') {
            (Some(first), self.take_number("a number of seconds")?)
        } else {
            (None, first)
        };
        let bonus = if self.take_sign('+') {
            fischer(self.take_number("the seconds a move")?)
        } else {
            Bonus::None
        };
        Ok(Period {
            moves,
            seconds,
            bonus,
        })
    }

    /// "90 min/40", "1 h 30 min".
    fn period(&mut self) -> Result<Period, InvalidTimeControl> {
        let (seconds, _) = self.time()?;
        let moves = if self.take_sign('/') {
            Some(self.take_number("a number of moves")?)
        } else {
            None
        };
        Ok(Period {
            moves,
            seconds,
            bonus: Bonus::None,
        })
    }

    /// A time in seconds, and the last unit it is written in, in seconds; without one it is minutes.
    fn time(&mut self) -> Result<(u32, u32), InvalidTimeControl> {
        let mut sum = 0_u32;
        loop {
            let number = self.take_number("a time")?;
            let unit = UNITS
                .iter()
                .find(|(_, words)| self.take_word(words))
                .map(|(unit, _)| *unit);
            let seconds = number.checked_mul(unit.unwrap_or(60));
            let too_large = || Self::number(self.text, "a time is too large");
            sum = seconds
                .and_then(|seconds| sum.checked_add(seconds))
                .ok_or_else(too_large)?;
            let more = matches!(self.tokens.get(self.at), Some(Token::Number(_)));
            if unit.is_none() || !more {
                return Ok((sum, unit.unwrap_or(60)));
            }
        }
    }

    /// Whether the rest is a number of seconds.
    fn is_seconds(&self) -> bool {
        let seconds = UNITS.last().is_some_and(|(_, words)| {
            let word = self.lower.get(self.at + 1);
            word.is_some_and(|word| words.contains(&word.as_str()))
        });
        let number = matches!(self.tokens.get(self.at), Some(Token::Number(_)));
        let moves = self.tokens.get(self.at + 2) == Some(&Token::Sign('/'))
            && matches!(self.tokens.get(self.at + 3), Some(Token::Number(_)));
        number && seconds && !moves
    }

    /// "30 s from move 1", "30 s a move", "delay 10 s": the first move that has the bonus, and the bonus.
    fn bonus(&mut self) -> Result<(u32, Bonus), InvalidTimeControl> {
        let delayed = self.take_word(&DELAY);
        let (seconds, unit) = self.time()?;
        if unit != 1 {
            return Err(Self::number(
                self.text,
                "what a move brings is written in seconds, as in \"30 s\"",
            ));
        }
        let delayed = self.take_word(&DELAY) || delayed;
        let from = if self.take_word(&FROM) {
            if !self.take_word(&MOVE) {
                return Err(self.unexpected("\"move\""));
            }
            self.take_number("the number of a move")?
        } else {
            let each = self.take_sign('/') || self.take_word(&EACH);
            if each && !self.take_word(&MOVE) {
                return Err(self.unexpected("\"move\""));
            }
            1
        };
        let bonus = match seconds {
            0 => Bonus::None,
            _ if delayed => Bonus::Delay(seconds),
            _ => Bonus::Fischer(seconds),
        };
        Ok((from, bonus))
    }

    /// Grants a bonus in all periods from the one on that begins with that move.
    fn grant(&self, periods: &mut [Period], from: u32, bonus: Bonus) -> Result<(), InvalidTimeControl> {
        let mut first = 1_u32;
        let mut granted = false;
        for period in periods {
            granted |= first == from;
            if granted {
                period.bonus = bonus;
            }
            first = first.saturating_add(period.moves.unwrap_or(u32::MAX));
        }
        let what = "an increment begins with the first move of a period";
        granted.then_some(()).ok_or_else(|| Self::number(self.text, what))
    }
}

fn fischer(seconds: u32) -> Bonus {
    match seconds {
        0 => Bonus::None,
        _ => Bonus::Fischer(seconds),
    }
}

const EMPTY: Period = Period {
    moves: None,
    seconds: 0,
    bonus: Bonus::None,
};
