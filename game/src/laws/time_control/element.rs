//! The elements of a time control, separated by plus signs and commas: a period, or the time added by a move.

use super::InvalidTimeControl;
use super::token::{Token, WrittenToken, tokens};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WrittenTime {
    /// A number without a unit.
    Bare(u32),
    /// Seconds alone, as in "30 s".
    Seconds(u32),
    /// A time with minutes or hours, in seconds.
    Long(u32),
}

/// A period or an increment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) time: WrittenTime,
    /// Number of moves: "90 min/40", "40 moves in 90 min".
    pub(super) moves: Option<u32>,
    /// Whether the number of moves is written without the word "moves".
    pub(super) moves_bare: bool,
    /// The number after a slash, if neither number has a unit: "40/90".
    pub(super) pair: Option<u32>,
    /// A word for the rest of the game: "SD/30" or "30 min/end".
    pub(super) rest: Option<Rest>,
    /// Whether the text marks the time as added by a move.
    pub(super) of_moves: bool,
    pub(super) delay: bool,
    /// First move that adds the time.
    pub(super) from: Option<u32>,
    /// Seconds added by each move, written after a period: "90'/30\"".
    pub(super) increment: Option<u32>,
    /// Whether the element follows a bar: "15|10".
    pub(super) after_bar: bool,
}

/// The position of the word for the rest of the game, relative to the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// "G/90", "SD/30", as in the United States.
    Before,
    /// "30 min/end".
    After,
}

pub(super) struct Reader<'t> {
    text: &'t str,
    tokens: Vec<WrittenToken<'t>>,
    at: usize,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str) -> Result<Self, InvalidTimeControl> {
        let tokens = tokens(text)?;
        if tokens.is_empty() {
            return Err(InvalidTimeControl::Empty);
        }
        Ok(Self { text, tokens, at: 0 })
    }

    pub(super) fn elements(&mut self) -> Result<Vec<Element>, InvalidTimeControl> {
        let mut elements = vec![self.element(false)?];
        while !self.at_end() {
            let bar = self.take(Token::Bar);
            let separated = bar || self.separator();
            // "G/60 d5" has no separator.
            if !separated && !self.begins_another() {
                return Err(self.unexpected("\",\", \"+\" or the end"));
            }
            elements.push(self.element(bar)?);
        }
        Ok(elements)
    }

    pub(super) fn at_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    fn token(&self, ahead: usize) -> Option<Token> {
        self.tokens.get(self.at + ahead).map(|(token, _)| *token)
    }

    fn take(&mut self, token: Token) -> bool {
        let found = self.token(0) == Some(token);
        self.at += usize::from(found);
        found
    }

    pub(super) fn unexpected(&self, expected: &'static str) -> InvalidTimeControl {
        let found = self.tokens.get(self.at).map(|(_, written)| *written);
        InvalidTimeControl::Unexpected {
            text: self.text.to_owned(),
            found: found.unwrap_or("the end").to_owned(),
            expected,
        }
    }

    fn number(&mut self, expected: &'static str) -> Result<u32, InvalidTimeControl> {
        match self.token(0) {
            Some(Token::Number(number)) => {
                self.at += 1;
                Ok(number)
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    /// Consumes a separator: a plus sign, commas or words like "and", or both. Returns whether there was one.
    fn separator(&mut self) -> bool {
        let mut comma = false;
        while self.take(Token::Comma) {
            comma = true;
        }
        let plus = self.take(Token::Plus);
        while self.take(Token::Comma) {
            comma = true;
        }
        comma || plus
    }

    /// Whether another element begins here: a word for the rest, a delay or an increment, followed by its time.
    fn begins_another(&self) -> bool {
        let word = matches!(self.token(0), Some(Token::Rest | Token::Delay | Token::Increment));
        let number = |ahead| matches!(self.token(ahead), Some(Token::Number(_)));
        word && (number(1) || (self.token(1) == Some(Token::Slash) && number(2)))
    }

    fn element(&mut self, after_bar: bool) -> Result<Element, InvalidTimeControl> {
        let mut element = Element {
            time: WrittenTime::Bare(0),
            moves: None,
            moves_bare: false,
            pair: None,
            rest: None,
            of_moves: false,
            delay: false,
            from: None,
            increment: None,
            after_bar,
        };
        self.prefix(&mut element);
        let moves = match (self.token(0), self.token(1)) {
            (Some(Token::Number(moves)), Some(Token::Move)) => Some(moves),
            _ => None,
        };
        if moves.is_some() {
            element.moves = moves;
            self.at += 2;
            let _ = self.take(Token::Slash) || self.take(Token::In);
        }
        element.time = self.time()?;
        while self.tail(&mut element)? {}
        Ok(element)
    }

    /// Consumes the words before the time.
    fn prefix(&mut self, element: &mut Element) {
        loop {
            match self.token(0) {
                Some(Token::Delay) => element.delay = true,
                Some(Token::Increment) => {}
                // "all moves in 90 min"
                Some(Token::Rest) => {
                    element.rest = Some(Rest::Before);
                    self.at += usize::from(self.token(1) == Some(Token::Move));
                }
                Some(Token::In) => {
                    self.at += 1;
                    continue;
                }
                _ => return,
            }
            element.of_moves |= element.rest.is_none();
            self.at += 1;
            let _ = self.take(Token::Slash);
        }
    }

    /// Consumes one item after the time. Returns false if there is none.
    fn tail(&mut self, element: &mut Element) -> Result<bool, InvalidTimeControl> {
        if self.begins_another() {
            return Ok(false);
        }
        let _ = self.take(Token::In);
        match self.token(0) {
            Some(Token::Slash) => {
                self.at += 1;
                self.after_slash(element)?;
            }
            Some(Token::Number(moves)) if self.token(1) == Some(Token::Move) => {
                element.moves = Some(moves);
                self.at += 2;
            }
            Some(Token::Rest) => {
                element.rest = Some(Rest::After);
                self.at += 1;
                let _ = self.take(Token::Move);
            }
            Some(Token::Each) => {
                self.at += 1;
                // "30 s p/ mov."
                let _ = self.take(Token::Slash);
                if !self.take(Token::Move) {
                    return Err(self.unexpected("\"move\""));
                }
                element.of_moves = true;
            }
            Some(Token::From) => {
                while self.take(Token::From) {}
                let word = self.take(Token::Move);
                element.from = Some(self.number("the number of a move")?);
                if !self.take(Token::Move) && !word {
                    return Err(self.unexpected("\"move\""));
                }
                element.of_moves = true;
            }
            Some(Token::Delay) => {
                element.delay = true;
                element.of_moves = true;
                self.at += 1;
            }
            Some(Token::Increment) => {
                element.of_moves = true;
                self.at += 1;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn after_slash(&mut self, element: &mut Element) -> Result<(), InvalidTimeControl> {
        match (self.token(0), self.token(1)) {
            (Some(Token::Move), _) => {
                self.at += 1;
                element.of_moves = true;
            }
            (Some(Token::Rest), _) => {
                self.at += 1;
                element.rest = Some(Rest::After);
            }
            (Some(Token::Number(moves)), Some(Token::Move)) => {
                self.at += 2;
                element.moves = Some(moves);
            }
            (Some(Token::Number(_)), Some(Token::Unit(_))) => match (element.time, self.time()?) {
                // "40/90 min"
                (WrittenTime::Bare(moves), time) if element.moves.is_none() => {
                    element.moves = Some(moves);
                    element.time = time;
                }
                (_, WrittenTime::Seconds(seconds)) if element.increment.is_none() => {
                    element.increment = Some(seconds);
                }
                _ => return Err(self.unexpected("a number of moves")),
            },
            (Some(Token::Number(number)), _) if element.pair.is_none() && element.moves.is_none() => {
                self.at += 1;
                if matches!(element.time, WrittenTime::Bare(_)) {
                    element.pair = Some(number);
                } else {
                    element.moves = Some(number);
                    element.moves_bare = true;
                }
            }
            _ => return Err(self.unexpected("a number of moves")),
        }
        Ok(())
    }

    /// Parses "90 min", "1 h 30 min" or "1 h 30".
    pub(super) fn time(&mut self) -> Result<WrittenTime, InvalidTimeControl> {
        let mut sum = 0_u32;
        let mut before = None;
        let mut only_seconds = true;
        loop {
            let number = self.number("a time")?;
            let unit = match self.token(0) {
                Some(Token::Unit(unit)) => {
                    self.at += 1;
                    Some(unit)
                }
                _ => None,
            };
            let unit = match (unit, before) {
                (None, None) => return Ok(WrittenTime::Bare(number)),
                // "1 h 30"
                (None, Some(3600)) => 60,
                (None, Some(_)) => return Err(self.unexpected("\"s\"")),
                (Some(unit), _) => unit,
            };
            let seconds = number.checked_mul(unit);
            sum = seconds
                .and_then(|seconds| sum.checked_add(seconds))
                .ok_or_else(|| InvalidTimeControl::Number {
                    text: self.text.to_owned(),
                    what: "a time is too large",
                })?;
            only_seconds &= unit == 1;
            before = Some(unit);
            let more = matches!(self.token(0), Some(Token::Number(_))) && self.token(1) != Some(Token::Move);
            let smaller = match self.token(1) {
                Some(Token::Unit(next)) => next < unit,
                _ => unit == 3600,
            };
            if !more || !smaller {
                return Ok(if only_seconds {
                    WrittenTime::Seconds(sum)
                } else {
                    WrittenTime::Long(sum)
                });
            }
        }
    }
}
