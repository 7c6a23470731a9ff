//! The tokens of time controls: numbers, units, signs, and meaningful words in several languages.

use super::InvalidTimeControl;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    Number(u32),
    /// A unit of time, in seconds.
    Unit(u32),
    /// "40 moves".
    Move,
    /// "SD/30", "30 min/end": all remaining moves.
    Rest,
    /// "d5", "delay 5 s".
    Delay,
    /// "inc/30", "30 s increment".
    Increment,
    /// "from move 1".
    From,
    /// "per move".
    Each,
    /// "40 moves in 90 min", "90 min for 40 moves".
    In,
    /// '/'.
    Slash,
    /// '+'.
    Plus,
    /// '|', between minutes and seconds.
    Bar,
    /// A comma or a word like "and".
    Comma,
    /// Anything else.
    Other,
}

pub(super) type WrittenToken<'t> = (Token, &'t str);

/// Units of time, in seconds, with the words for them.
const UNITS: [(u32, &[&str]); 3] = [
    (
        3600,
        &[
            "h",
            "hr",
            "hrs",
            "hour",
            "hours",
            "std",
            "stunde",
            "stunden",
            "heure",
            "heures",
            "hora",
            "horas",
            "ora",
            "ore",
            "uur",
            "godz",
            "ч",
            "час",
            "часа",
            "часов",
        ],
    ),
    (
        60,
        &[
            "m",
            "min",
            "mins",
            "minute",
            "minutes",
            "minuten",
            "minuto",
            "minutos",
            "minuti",
            "minut",
            "minuta",
            "minuty",
            "perc",
            "мин",
            "минут",
            "минуты",
            "минута",
        ],
    ),
    (
        1,
        &[
            "s",
            "sec",
            "secs",
            "second",
            "seconds",
            "sek",
            "sekunde",
            "sekunden",
            "seconde",
            "secondes",
            "seg",
            "segs",
            "segundo",
            "segundos",
            "secondo",
            "secondi",
            "seconden",
            "sekund",
            "sekundy",
            "mp",
            "másodperc",
            "сек",
            "секунд",
            "секунды",
            "секунда",
        ],
    ),
];
/// Tokens with the words for them.
const WORDS: [(Token, &[&str]); 10] = [
    (
        Token::Move,
        &[
            "move",
            "moves",
            "mv",
            "mvs",
            "zug",
            "zuge",
            "züge",
            "zügen",
            "zuege",
            "zuegen",
            "coup",
            "coups",
            "jugada",
            "jugadas",
            "mossa",
            "mosse",
            "zet",
            "zetten",
            "mm",
            "mov",
            "movs",
            "movimiento",
            "movimientos",
            "movimento",
            "movimentos",
            "lance",
            "lances",
            "ruch",
            "ruchy",
            "ruchów",
            "tah",
            "tahy",
            "tahů",
            "lépés",
            "ход",
            "хода",
            "ходов",
        ],
    ),
    (
        Token::Rest,
        &[
            "g",
            "game",
            "sd",
            "sudden",
            "rest",
            "restliche",
            "restlichen",
            "remainder",
            "remaining",
            "end",
            "ende",
            "partie",
            "partia",
            "partii",
            "partida",
            "партия",
            "партию",
            "finish",
            "ko",
            "all",
            "alle",
        ],
    ),
    (
        Token::Delay,
        &["d", "delay", "bronstein", "aufschub", "verzögerung"],
    ),
    (
        Token::Increment,
        &[
            "inc",
            "incr",
            "increment",
            "increments",
            "inkrement",
            "fischer",
            "bonus",
            "zuschlag",
            "zeitzuschlag",
            "gutschrift",
            "zeitgutschrift",
            "addition",
            "additional",
            "added",
            "zusätzlich",
        ],
    ),
    (Token::From, &["from", "ab", "starting", "beginning", "desde"]),
    (
        Token::Each,
        &[
            "a", "per", "each", "every", "pro", "je", "jeden", "par", "por", "p", "na", "на", "за",
        ],
    ),
    // "100'x40"
    (Token::Slash, &["x"]),
    (Token::In, &["in", "for", "für", "fuer"]),
    (Token::Plus, &["plus"]),
    (
        Token::Comma,
        &[
            "and", "und", "then", "dann", "danach", "followed", "with", "mit", "sowie",
        ],
    ),
];
/// Words for the first move.
const FIRST_WORDS: [&str; 5] = ["one", "first", "eins", "ersten", "erstem"];
/// Words without a meaning here, including the endings of ordinals ("41st").
const FILLERS: [&str; 18] = [
    "the",
    "den",
    "die",
    "das",
    "der",
    "dem",
    "of",
    "by",
    "an",
    "eine",
    "einer",
    "einem",
    "death",
    "bedenkzeit",
    "st",
    "nd",
    "rd",
    "th",
];
/// Signs for minutes: an apostrophe and its substitutes on keyboards. Two signs in a row mean seconds.
const MINUTE_SIGNS: [char; 7] = ['\'', '′', '’', '‘', '´', '`', 'ʹ'];
const SECOND_SIGNS: [char; 6] = ['"', '″', '”', '“', '„', 'ʺ'];

/// Splits a text into tokens. Brackets, dots of abbreviations and words without a meaning are left out.
///
/// # Errors
///
/// Fails if a number is too large.
pub(super) fn tokens(text: &str) -> Result<Vec<WrittenToken<'_>>, InvalidTimeControl> {
    let mut found: Vec<WrittenToken<'_>> = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = length(first, rest);
        let (written, after) = rest.split_at(length);
        let next = after.trim_start();
        let before = found.last().map(|(token, _)| *token);
        match token(first, written, text)? {
            // "a 30 second increment", "the first 40 moves"
            Some(Token::Each | Token::Number(1)) if is_word(first) && next.starts_with(is_digit) => {}
            // "Min.", "41. Zug"; a dot in a number is kept as a token and refused later.
            None if written == "."
                && matches!(before, Some(Token::Number(_)))
                && after.starts_with(is_digit) =>
            {
                found.push((Token::Other, written));
            }
            // "30-second increment"
            None if written == "-" && !matches!(before, Some(Token::Number(_))) => {
                found.push((Token::Other, written));
            }
            Some(token) => found.push((token, written)),
            None => {}
        }
        rest = next;
    }
    Ok(found)
}

/// The length of the first token, in bytes.
fn length(first: char, text: &str) -> usize {
    let alike = |other: char| (is_digit(first) && is_digit(other)) || (is_word(first) && is_word(other));
    let after_first = first.len_utf8();
    let more = text.get(after_first..).unwrap_or_default();
    if MINUTE_SIGNS.contains(&first) {
        let second = more.chars().next().filter(|second| MINUTE_SIGNS.contains(second));
        return after_first + second.map_or(0, char::len_utf8);
    }
    let end = more.find(|other| !alike(other)).unwrap_or(more.len());
    if alike(first) {
        after_first + end
    } else {
        after_first
    }
}

const fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// Whether a character is a letter. `is_alphabetic` alone also accepts some of the signs.
fn is_word(c: char) -> bool {
    c.is_alphabetic() && !MINUTE_SIGNS.contains(&c) && !SECOND_SIGNS.contains(&c)
}

/// Converts the text of a token; `None` if the text has no meaning.
fn token(first: char, written: &str, text: &str) -> Result<Option<Token>, InvalidTimeControl> {
    if first.is_ascii_digit() {
        let number = written.parse().map_err(|_| InvalidTimeControl::Number {
            text: text.to_owned(),
            what: "a number is too large",
        })?;
        return Ok(Some(Token::Number(number)));
    }
    if MINUTE_SIGNS.contains(&first) {
        let seconds = written.chars().count() > 1;
        return Ok(Some(Token::Unit(if seconds { 1 } else { 60 })));
    }
    if SECOND_SIGNS.contains(&first) {
        return Ok(Some(Token::Unit(1)));
    }
    Ok(match first {
        '/' | '⁄' | '∕' | '／' | '×' => Some(Token::Slash),
        '+' | '＋' => Some(Token::Plus),
        '|' => Some(Token::Bar),
        ',' | ';' | '&' => Some(Token::Comma),
        '.' | '(' | ')' | '-' => None,
        _ if is_word(first) => word(&written.to_lowercase()),
        _ => Some(Token::Other),
    })
}

fn word(word: &str) -> Option<Token> {
    if FILLERS.contains(&word) {
        return None;
    }
    if FIRST_WORDS.contains(&word) {
        return Some(Token::Number(1));
    }
    let units = UNITS.iter().map(|(unit, words)| (Token::Unit(*unit), *words));
    let known = units.chain(WORDS).find(|(_, words)| words.contains(&word));
    Some(known.map_or(Token::Other, |(token, _)| token))
}
