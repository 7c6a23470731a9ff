//! Parsing of time controls, in the notation of people and of PGN.
//!
//! A text with two plausible readings is an error that lists both. The parser does not guess, because a wrong guess
//! could change the mode of play, and with it every ruling of the day.

use core::str::FromStr;

use super::element::{Element, Reader, Rest, WrittenTime};
use super::{Bonus, InvalidTimeControl, Period, TimeControl};

/// Bare numbers below this are minutes; from this on they are seconds, as in PGN.
const MIN_BARE_SECONDS: u32 = 180;
/// If the time of a period with a number of moves is below this number, it may be in minutes instead of PGN's seconds.
const MIN_PGN_PERIOD: u32 = 600;
/// Bare numbers from 180 up to this one may be minutes: with an increment typical of long games, the text is ambiguous.
const MAX_LONG_MINUTES: u32 = 360;
const MIN_LONG_INCREMENT: u32 = 15;
/// Bullet games of online play, in seconds: "60+1".
const BULLET: core::ops::RangeInclusive<u32> = 60..=179;
const BULLET_INCREMENT: core::ops::RangeInclusive<u32> = 1..=2;
/// Plausible numbers of moves of a period.
const MOVES: core::ops::RangeInclusive<u32> = 20..=80;
/// Number of moves in most first periods.
const USUAL_MOVES: u32 = 40;
/// Most seconds of an increment.
const MAX_INCREMENT: u32 = 60;
/// After a period with a number of moves, a bare number up to this may mean an increment.
const MAX_USUAL_INCREMENT: u32 = 30;

impl TimeControl {
    /// Parses the value of the PGN tag TimeControl, with all times in seconds, as in "40/7200:3600" or "300+2".
    ///
    /// # Errors
    ///
    /// Fails if the text is not a time control, or is one of PGN's signs for a sand clock ("*180"), for no time control
    /// ("-") or for an unknown one ("?").
    pub fn from_pgn(text: &str) -> Result<Self, InvalidTimeControl> {
        check_ruled(text)?;
        if text.trim().is_empty() {
            return Err(InvalidTimeControl::Empty);
        }
        let fields = text.split(':').map(|field| pgn_period(field, text));
        validated(fields.collect::<Result<_, _>>()?, text)
    }

    /// Parses the time control of an event: PGN, or words for one that PGN cannot express.
    ///
    /// # Errors
    ///
    /// As [`from_pgn`](Self::from_pgn).
    pub fn from_event(text: &str) -> Result<Self, InvalidTimeControl> {
        Self::from_pgn(text).or_else(|_| text.parse())
    }
}

impl FromStr for TimeControl {
    type Err = InvalidTimeControl;

    fn from_str(text: &str) -> Result<Self, InvalidTimeControl> {
        let mut control = read(text)?;
        control.typed = Some(text.trim().to_owned());
        Ok(control)
    }
}

fn read(text: &str) -> Result<TimeControl, InvalidTimeControl> {
    check_ruled(text)?;
    let numbers_only = |c: char| c.is_ascii_digit() || c.is_whitespace() || matches!(c, '+' | '/' | ':');
    if text.chars().all(numbers_only)
        && let Some(control) = from_numbers(text)?
    {
        return Ok(control);
    }
    let elements = Reader::new(text)?.elements()?;
    Meaning::of(&elements, text)?.control(text)
}

/// Parses a text of numbers as PGN. Returns `None` if the text must be parsed in people's notation, and an error if it
/// may be either.
fn from_numbers(text: &str) -> Result<Option<TimeControl>, InvalidTimeControl> {
    let Ok(control) = TimeControl::from_pgn(text) else {
        return Ok(None);
    };
    let in_minutes = || {
        let mut control = control.clone();
        control.periods.iter_mut().for_each(|period| period.seconds *= 60);
        control
    };
    if let [period] = control.periods() {
        let increment = period.bonus.seconds();
        return match period.moves {
            Some(_) if period.seconds < MIN_PGN_PERIOD => Ok(None),
            None if period.seconds < MIN_BARE_SECONDS => Ok(None),
            None if period.seconds <= MAX_LONG_MINUTES && increment >= MIN_LONG_INCREMENT => {
                Err(ambiguous(text, &[in_minutes(), control.clone()]))
            }
            _ => Ok(Some(control)),
        };
    }
    let doubtful = |period: &Period| period.moves.is_some() && period.seconds < MIN_PGN_PERIOD;
    if control.periods().iter().any(doubtful) {
        return Err(ambiguous(text, &[in_minutes(), control.clone()]));
    }
    Ok(Some(control))
}

/// Parses a time in whole minutes, as in "30 min" or "1 h 30 min"; a bare number is minutes. `None` if the text is not
/// a time.
pub(in crate::laws) fn minutes(text: &str) -> Option<u32> {
    let mut reader = Reader::new(text).ok()?;
    let seconds = match reader.time().ok()? {
        WrittenTime::Bare(minutes) => minutes.checked_mul(60)?,
        WrittenTime::Seconds(seconds) | WrittenTime::Long(seconds) => seconds,
    };
    (reader.at_end() && seconds.is_multiple_of(60)).then_some(seconds / 60)
}

/// The meaning of two bare numbers with a slash between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NumberOrder {
    /// "40/90".
    MovesFirst,
    /// "90/40".
    MinutesFirst,
}

/// The periods of a time control, and the time added by moves.
#[derive(Debug, Default)]
struct Meaning {
    periods: Vec<Period>,
    /// Pairs of the first move that adds time, and the time that it adds.
    bonuses: Vec<(u32, Bonus)>,
}

impl Meaning {
    fn of(elements: &[Element], text: &str) -> Result<Self, InvalidTimeControl> {
        if let [element] = elements
            && let (WrittenTime::Bare(one), Some(other)) = (element.time, element.pair)
            && element.rest.is_none()
        {
            return Self::of_pair(one, other, text);
        }
        let order = order(elements);
        let mut meaning = Self::default();
        for element in elements {
            meaning.add(element, order, text)?;
        }
        meaning.check_unambiguous(elements, text)?;
        Ok(meaning)
    }

    /// Parses two bare numbers as in "40/90". Fails unless there is exactly one plausible reading.
    fn of_pair(one: u32, other: u32, text: &str) -> Result<Self, InvalidTimeControl> {
        let period = |moves, seconds: u32, bonus| {
            TimeControl::new(vec![Period {
                moves,
                seconds,
                bonus,
            }])
        };
        let minutes = |number: u32| number.saturating_mul(60);
        let mut readings = Vec::new();
        if other <= MAX_INCREMENT {
            readings.extend(period(None, minutes(one), fischer(other)));
        }
        if MOVES.contains(&other) {
            readings.extend(period(Some(other), minutes(one), Bonus::None));
        }
        if MOVES.contains(&one) {
            readings.extend(period(Some(one), minutes(other), Bonus::None));
            readings.extend(period(Some(one), other, Bonus::None).filter(|_| other >= MAX_INCREMENT));
        }
        match readings.as_slice() {
            [] => Err(number(
                text,
                "minutes, seconds and moves cannot be distinguished: write them as in \"90 min/40 + 30 min + 30 s\"",
            )),
            [control] => Ok(Self {
                periods: control.periods().to_vec(),
                bonuses: Vec::new(),
            }),
            several => Err(ambiguous(text, several)),
        }
    }

    fn add(
        &mut self,
        element: &Element,
        order: Option<NumberOrder>,
        text: &str,
    ) -> Result<(), InvalidTimeControl> {
        let begins_with_rest = self.periods.last().is_some_and(|period| period.moves.is_none());
        let bonus = match element.time {
            _ if element.moves.is_some() || element.pair.is_some() || element.rest.is_some() => false,
            WrittenTime::Long(_) => element.of_moves,
            WrittenTime::Seconds(_) => element.of_moves || !self.periods.is_empty(),
            WrittenTime::Bare(_) => element.of_moves || element.after_bar || begins_with_rest,
        };
        if bonus {
            let (WrittenTime::Bare(seconds) | WrittenTime::Seconds(seconds)) = element.time else {
                return Err(number(
                    text,
                    "increment and delay are written in seconds, as in \"30 s\"",
                ));
            };
            self.bonuses
                .push((element.from.unwrap_or(1), bonus_of(seconds, element.delay)));
            return Ok(());
        }
        if element.of_moves || (element.rest.is_some() && (element.moves.is_some() || element.pair.is_some()))
        {
            return Err(number(
                text,
                "periods and increment are written separately, as in \"90 min/40 + 30 min, 30 s from move 1\"",
            ));
        }
        let seconds = |time| match time {
            WrittenTime::Bare(minutes) => minutes.saturating_mul(60),
            WrittenTime::Seconds(seconds) | WrittenTime::Long(seconds) => seconds,
        };
        let (moves, time) = match (element.time, element.pair) {
            (WrittenTime::Bare(one), Some(other)) => match order {
                Some(NumberOrder::MovesFirst) => (Some(one), WrittenTime::Bare(other)),
                Some(NumberOrder::MinutesFirst) => (Some(other), WrittenTime::Bare(one)),
                None => {
                    return Err(number(
                        text,
                        "write which are minutes and which are moves, as in \"60 min/40\"",
                    ));
                }
            },
            _ => (element.moves, element.time),
        };
        self.periods.push(Period {
            moves,
            seconds: seconds(time),
            bonus: Bonus::None,
        });
        if let Some(increment) = element.increment {
            self.bonuses.push((1, fischer(increment)));
        }
        Ok(())
    }

    /// Fails if the text has another plausible reading.
    fn check_unambiguous(&self, elements: &[Element], text: &str) -> Result<(), InvalidTimeControl> {
        let bare = |element: &Element| match element.time {
            WrittenTime::Bare(number)
                if element.pair.is_none() && element.rest.is_none() && element.moves.is_none() =>
            {
                Some(number)
            }
            _ => None,
        };
        let (Some(first), Some(last)) = (elements.first(), elements.last()) else {
            return Ok(());
        };
        let ambiguous_with = |other: Option<TimeControl>| {
            let readings: Vec<TimeControl> = self.control(text).ok().into_iter().chain(other).collect();
            Err(ambiguous(text, &readings))
        };
        if let Some(number) = bare(first) {
            let barred = elements.iter().any(|element| element.after_bar);
            let bullet = match elements {
                [_, second] => !second.of_moves && bare(second).is_some_and(|s| is_bullet(number, s)),
                _ => false,
            };
            if (bullet || number >= MIN_BARE_SECONDS) && !barred {
                let mut in_seconds = self.control(text)?;
                in_seconds
                    .periods
                    .iter_mut()
                    .for_each(|period| period.seconds /= 60);
                return ambiguous_with(Some(in_seconds));
            }
        }
        if let ([one], [element]) = (self.periods.as_slice(), elements)
            && let Some(moves) = one.moves.filter(|moves| *moves <= MAX_USUAL_INCREMENT)
            && element.moves_bare
        {
            // "90 min/30"
            let bonus = fischer(moves);
            return ambiguous_with(TimeControl::new(vec![Period {
                moves: None,
                bonus,
                ..*one
            }]));
        }
        // "90/40 + 30": another half hour, or half a minute a move.
        if let (Some(number), Some((rest, before))) = (bare(last), self.periods.split_last())
            && rest.moves.is_none()
            && !before.is_empty()
            && self.bonuses.is_empty()
            && number <= MAX_USUAL_INCREMENT
        {
            let with_bonus = before.iter().map(|period| Period {
                bonus: fischer(number),
                ..*period
            });
            return ambiguous_with(TimeControl::new(with_bonus.collect()));
        }
        Ok(())
    }

    fn control(&self, text: &str) -> Result<TimeControl, InvalidTimeControl> {
        let mut periods = self.periods.clone();
        for (at, (from, bonus)) in self.bonuses.iter().enumerate() {
            if self.bonuses.iter().skip(at + 1).any(|(other, _)| other == from) {
                return Err(number(text, "there can be one increment or one delay, not both"));
            }
            add_bonus(&mut periods, *from, *bonus, text)?;
        }
        validated(periods, text)
    }
}

/// Derives the order of bare pairs such as "40/90" from the other numbers or words of the text, if possible.
fn order(elements: &[Element]) -> Option<NumberOrder> {
    let rests = elements.iter().filter_map(|element| element.rest);
    let by_rest = rests.map(|rest| match rest {
        Rest::Before => NumberOrder::MovesFirst,
        Rest::After => NumberOrder::MinutesFirst,
    });
    let pairs = elements
        .iter()
        .filter_map(|element| match (element.time, element.pair) {
            (WrittenTime::Bare(one), Some(other)) => Some((one, other)),
            _ => None,
        });
    let by_numbers = pairs.filter_map(|(one, other)| match (one, other) {
        (USUAL_MOVES, USUAL_MOVES) => None,
        (USUAL_MOVES, _) => Some(NumberOrder::MovesFirst),
        (_, USUAL_MOVES) => Some(NumberOrder::MinutesFirst),
        (one, other) if !MOVES.contains(&one) && MOVES.contains(&other) => Some(NumberOrder::MinutesFirst),
        (one, other) if MOVES.contains(&one) && !MOVES.contains(&other) => Some(NumberOrder::MovesFirst),
        _ => None,
    });
    by_numbers.chain(by_rest).next()
}

/// Adds a bonus to the period that begins with move `from` and to all later ones. Fails if no period begins with this
/// move.
fn add_bonus(periods: &mut [Period], from: u32, bonus: Bonus, text: &str) -> Result<(), InvalidTimeControl> {
    let mut first = 1_u32;
    let mut granted = false;
    for period in periods {
        granted |= first == from;
        if granted {
            period.bonus = bonus;
        }
        first = first.saturating_add(period.moves.unwrap_or(u32::MAX));
    }
    let problem = "an increment begins with the first move of a period";
    granted.then_some(()).ok_or_else(|| number(text, problem))
}

/// Parses a field such as "40/7200", "300+2" or "5400".
fn pgn_period(field: &str, text: &str) -> Result<Period, InvalidTimeControl> {
    let read = |part: &str, expected: &'static str| {
        let part = part.trim();
        let digits = !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
        match (digits, part.parse()) {
            (true, Ok(number)) => Ok(number),
            (true, Err(_)) => Err(number(text, "a number is too large")),
            (false, _) => Err(InvalidTimeControl::Unexpected {
                text: text.to_owned(),
                found: if part.is_empty() { "the end" } else { part }.to_owned(),
                expected,
            }),
        }
    };
    let (times, bonus) = match field.split_once('+') {
        Some((times, bonus)) => (times, fischer(read(bonus, "the seconds a move")?)),
        None => (field, Bonus::None),
    };
    let (moves, seconds) = match times.split_once('/') {
        Some((moves, seconds)) => (Some(read(moves, "a number of moves")?), seconds),
        None => (None, times),
    };
    Ok(Period {
        moves,
        seconds: read(seconds, "a number of seconds")?,
        bonus,
    })
}

/// Whether the short format "90+30" is parsed back to these numbers, and not ambiguous.
pub(super) fn is_short(minutes: u32, increment: u32) -> bool {
    minutes < MIN_BARE_SECONDS && !is_bullet(minutes, increment)
}

/// Whether the numbers may be a bullet game: "60+1" may mean an hour, or one minute in an online game.
fn is_bullet(number: u32, increment: u32) -> bool {
    BULLET.contains(&number) && BULLET_INCREMENT.contains(&increment)
}

/// Fails on PGN's signs for clocks without rules in the Laws.
fn check_ruled(text: &str) -> Result<(), InvalidTimeControl> {
    let bare = text.trim();
    if bare.starts_with(['*', '?']) || bare == "-" {
        return Err(InvalidTimeControl::Unruled {
            text: text.to_owned(),
        });
    }
    Ok(())
}

fn validated(periods: Vec<Period>, text: &str) -> Result<TimeControl, InvalidTimeControl> {
    let others = periods.split_last().map_or(&[][..], |(_, others)| others);
    if others.iter().any(|period| period.moves.is_none()) {
        return Err(number(
            text,
            "only the last period may be without a number of moves, as in \"2 h/40 + 1 h\"",
        ));
    }
    let problem = "a time or a number of moves is zero or too large";
    TimeControl::new(periods).ok_or_else(|| number(text, problem))
}

fn number(text: &str, what: &'static str) -> InvalidTimeControl {
    InvalidTimeControl::Number {
        text: text.to_owned(),
        what,
    }
}

fn ambiguous(text: &str, readings: &[TimeControl]) -> InvalidTimeControl {
    InvalidTimeControl::Ambiguous {
        text: text.to_owned(),
        readings: readings.iter().map(TimeControl::in_words).collect(),
    }
}

fn bonus_of(seconds: u32, delayed: bool) -> Bonus {
    match seconds {
        0 => Bonus::None,
        _ if delayed => Bonus::Delay(seconds),
        _ => Bonus::Fischer(seconds),
    }
}

fn fischer(seconds: u32) -> Bonus {
    bonus_of(seconds, false)
}
