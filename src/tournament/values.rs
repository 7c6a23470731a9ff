//! Parses values that occur in all formats: ids, ratings, titles, results, dates, and numbers of rounds and tables.

use kiebitz_game::events::GameResult;
use thiserror::Error;

use super::{UnplayedRound, byes};

/// A value that is not valid or not plausible for its field.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum ImplausibleValue {
    #[error("{0:?} is not a FIDE id, which has 6 to 9 digits: correct it")]
    Id(String),
    #[error("{0:?} is a date, not a FIDE id: the columns of the export are mixed up")]
    Date(String),
    #[error("{0:?} may be a date instead of a FIDE id")]
    IdOrDate(String),
    #[error("{0:?} is not a rating")]
    Rating(String),
    #[error("{0:?} is not a result")]
    Result(String),
    #[error("{0:?} is not the number of a round")]
    Round(String),
    #[error("{0:?} is not the number of a table")]
    Table(String),
}

/// Maximum length of a name or another value, in characters. Longer ones do not fit on pages.
const LONGEST: usize = 120;

/// Maximum length of a time control, in characters. It is parsed before pages show it, and FIDE writes one with 145.
const LONGEST_TIME_CONTROL: usize = 300;

/// Cuts a value to [`LONGEST`].
pub(super) fn shortened(text: &str) -> &str {
    cut(text, LONGEST)
}

fn cut(text: &str, longest: usize) -> &str {
    match text.char_indices().nth(longest) {
        Some((end, _)) => text.get(..end).unwrap_or_default().trim_end(),
        None => text,
    }
}

/// Trims a time control. Quotation marks at its end are kept, because they are signs of minutes and seconds, as in
/// "90'+30\"". Returns `None` for a placeholder.
pub(super) fn time_control(text: &str) -> Option<&str> {
    known(text)?;
    Some(cut(text.trim(), LONGEST_TIME_CONTROL))
}

/// Trims blanks and quotation marks, and cuts text that is too long. Returns `None` for a placeholder such as "-" or "?".
pub(super) fn known(text: &str) -> Option<&str> {
    let text = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '“' | '”' | '„'));
    let text = shortened(text);
    let is_placeholder = text.chars().all(|c| matches!(c, '-' | '?' | '–' | '.' | '*'));
    (!is_placeholder).then_some(text)
}

/// Parses a FIDE id, and returns a warning if it may be a date. Accepts numbers as spreadsheets write them
/// ("4600000.0") and with blanks ("4 600 000").
pub(super) fn fide_id(text: &str) -> Result<Option<(u32, Option<ImplausibleValue>)>, ImplausibleValue> {
    let Some(text) = known(text) else {
        return Ok(None);
    };
    let bare: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let bare = bare.strip_suffix(".0").unwrap_or(&bare).trim_start_matches('0');
    if bare.is_empty() {
        return Ok(None);
    }
    if date(text).is_some() {
        return Err(ImplausibleValue::Date(text.to_owned()));
    }
    let is_digits = bare.bytes().all(|byte| byte.is_ascii_digit());
    match bare.parse() {
        Ok(id) if is_digits && (6..=9).contains(&bare.len()) => {
            let doubt = is_day(bare).then(|| ImplausibleValue::IdOrDate(text.to_owned()));
            Ok(Some((id, doubt)))
        }
        _ => Err(ImplausibleValue::Id(text.to_owned())),
    }
}

/// Returns whether these digits may be the birthday of a living player, such as "19890412".
fn is_day(digits: &str) -> bool {
    let part = |from: usize, to: usize| digits.get(from..to).and_then(|part| part.parse::<u32>().ok());
    digits.len() == 8
        && matches!(
            (part(0, 4), part(4, 6), part(6, 8)),
            (Some(1920..=2029), Some(1..=12), Some(1..=31))
        )
}

/// Parses a rating; 0 counts as unrated.
pub(super) fn rating(text: &str) -> Result<Option<u16>, ImplausibleValue> {
    let Some(text) = known(text) else {
        return Ok(None);
    };
    let bare = text.strip_suffix(".0").unwrap_or(text);
    if matches!(
        bare.to_ascii_lowercase().as_str(),
        "unr" | "unr." | "unrated" | "nr"
    ) {
        return Ok(None);
    }
    match bare.parse() {
        Ok(0) => Ok(None),
        Ok(rating @ 1..=3999) => Ok(Some(rating)),
        _ => Err(ImplausibleValue::Rating(text.to_owned())),
    }
}

/// Parses a title into the form of PGN. Accepts the short forms of older programs, such as "g" and "wm", and the French
/// ones of women's titles, such as "gf".
pub(super) fn title(text: &str) -> Option<String> {
    let text = known(text)?;
    let short = match text.to_lowercase().as_str() {
        "g" => "GM",
        "m" => "IM",
        "f" => "FM",
        "c" => "CM",
        "wg" | "gf" => "WGM",
        "wm" | "wi" | "mf" => "WIM",
        "wf" | "ff" => "WFM",
        "wc" | "cf" => "WCM",
        _ => "",
    };
    if !short.is_empty() {
        return Some(short.to_owned());
    }
    let longest = 5;
    (text.chars().count() <= longest && text.chars().all(char::is_alphabetic)).then(|| text.to_uppercase())
}

/// Parses a result, including forfeits. Returns `None` for "*" and empty text.
pub(super) fn result(text: &str) -> Result<Option<GameResult>, ImplausibleValue> {
    let mut bare: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    for (from, to) in [
        ("½", "1/2"),
        ("0.5", "1/2"),
        ("0,5", "1/2"),
        (":", "-"),
        ("–", "-"),
    ] {
        bare = bare.replace(from, to);
    }
    let bare = bare.to_uppercase().replace('_', "");
    let bare = bare.trim_end_matches('F');
    Ok(Some(match bare {
        "" | "*" | "?" | "-" | "PENDING" | "INPROGRESS" => return Ok(None),
        "1-0" | "1F-0" | "+--" | "+-" | "1-0K" | "WHITEWIN" | "WHITEWINS" | "WHITEWON" => {
            GameResult::WhiteWins
        }
        "0-1" | "0F-1" | "--+" | "-+" | "0-1K" | "BLACKWIN" | "BLACKWINS" | "BLACKWON" => {
            GameResult::BlackWins
        }
        "1/2-1/2" | "1/2" | "=" | "=-=" | "REMIS" | "DRAW" => GameResult::Draw,
        "0-0" | "0F-0" | "---" | "--" => GameResult::BothLose,
        "1/2-0" => GameResult::HalfForWhite,
        "0-1/2" => GameResult::HalfForBlack,
        _ => return Err(ImplausibleValue::Result(text.trim().to_owned())),
    }))
}

/// Parses the points of a player without an opponent, "1", "½" or "0", the letters of reports (F, H, U, Z), the word
/// "bye", or a result. Returns `None` for "*" and empty text.
pub(super) fn bye(text: &str, is_white: bool) -> Result<Option<GameResult>, ImplausibleValue> {
    match reason_of_bye(text) {
        Some(reason) => Ok(Some(byes::result_of(reason.points(), is_white))),
        None => result(text),
    }
}

/// Parses the points of a player without an opponent, and returns the usual reason for them. Returns `None` for other
/// text, including results such as "1-0".
pub(super) fn reason_of_bye(text: &str) -> Option<UnplayedRound> {
    let bare: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    match bare.to_uppercase().replace(',', ".").as_str() {
        "1" | "1.0" | "+" | "U" | "BYE" => Some(UnplayedRound::AllocatedBye),
        "F" => Some(UnplayedRound::FullPointBye),
        "½" | "1/2" | "0.5" | ".5" | "=" | "H" => Some(UnplayedRound::HalfPointBye),
        "0" | "0.0" | "-" | "–" | "Z" => Some(UnplayedRound::ZeroPointBye),
        _ => None,
    }
}

/// Returns whether a result means that the game was decided without play, such as "+--" or "1-0F".
pub(super) fn is_forfeit(text: &str) -> bool {
    let bare: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let bare = bare.to_uppercase().replace(':', "-");
    let is_decided = matches!(result(text), Ok(Some(_)));
    // Words such as "BLACK_WIN" have these letters, too.
    let is_word = bare.contains(|c: char| c.is_alphabetic() && !matches!(c, 'F' | 'K'));
    is_decided && !is_word && (bare.contains(['+', 'F', 'K']) || bare.chars().all(|c| matches!(c, '-' | '–')))
}

/// Parses a date such as "2026.11.23" or "23/11/2026" into the form "2026-11-23". Returns `None` if the text is not a
/// date.
pub(super) fn date(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.trim().split(['.', '/', '-']).collect();
    let [first, month, last] = parts.as_slice() else {
        return None;
    };
    match (first.len(), last.len()) {
        (4, 1..=2) => day(first, month, last),
        (1..=2, 4) => day(last, month, first),
        _ => None,
    }
}

/// Formats a date. Returns `None` if it does not exist.
pub(super) fn day(year: &str, month: &str, day: &str) -> Option<String> {
    let number = |text: &str| {
        text.parse::<i16>()
            .ok()
            .filter(|_| text.bytes().all(|b| b.is_ascii_digit()))
    };
    let small = |text: &str| number(text).and_then(|number| i8::try_from(number).ok());
    let date = jiff::civil::Date::new(number(year)?, small(month)?, small(day)?).ok()?;
    Some(date.to_string())
}

/// Parses the numbers of a round: "3", "3.7", "3.2.1" or "Round 3". Returns no numbers for a placeholder.
pub(super) fn round(text: &str) -> Result<Vec<u32>, ImplausibleValue> {
    let Some(text) = known(text) else {
        return Ok(Vec::new());
    };
    let error = || ImplausibleValue::Round(text.to_owned());
    let words = text.trim_start_matches(|c: char| c.is_alphabetic() || c.is_whitespace() || c == '.');
    let words = words.trim_end_matches(['.', ' ']);
    let parts: Option<Vec<u32>> = words
        .split(['.', ','])
        .map(|part| positive(part.trim()))
        .collect();
    match parts {
        Some(parts) if (1..=3).contains(&parts.len()) => Ok(parts),
        // "3." and "3.?" have the round only.
        _ => match words.split(['.', ',']).next().and_then(positive) {
            Some(round) if words.split(['.', ',']).skip(1).all(|part| known(part).is_none()) => {
                Ok(vec![round])
            }
            _ => Err(error()),
        },
    }
}

/// Parses the numbers of a table: "7", "board-7", "T 7", or "2.1" for a match and the board in it.
pub(super) fn table(text: &str) -> Result<Vec<u32>, ImplausibleValue> {
    let Some(text) = known(text) else {
        return Ok(Vec::new());
    };
    let number = text.trim_start_matches(|c: char| !c.is_ascii_digit());
    match round(number) {
        Ok(numbers) if (1..=2).contains(&numbers.len()) => Ok(numbers),
        _ => Err(ImplausibleValue::Table(text.to_owned())),
    }
}

/// Parses a number from 1 to 9999; no event has more rounds or tables.
fn positive(text: &str) -> Option<u32> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|_| is_number)?;
    (1..=9999).contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_control_is_kept_whole() {
        let fide = "90 minutes for the first 40 moves, followed by 30 minutes for the rest of the game with an increment of \
                    30 seconds per move starting from move 1";
        assert!(fide.len() > LONGEST);
        assert_eq!(time_control(fide), Some(fide));
        assert_eq!(time_control(" 90'+30\" "), Some("90'+30\""));
        assert_eq!(time_control("90'"), Some("90'"));
        for none in ["", "-", "?", "\"\""] {
            assert_eq!(time_control(none), None, "{none}");
        }
        let long = "9".repeat(400);
        assert_eq!(time_control(&long).map(str::len), Some(LONGEST_TIME_CONTROL));
    }

    #[test]
    fn ids_parse_in_all_their_spellings() {
        for (text, id) in [
            ("4600000", Some(4_600_000)),
            (" \"4600000\" ", Some(4_600_000)),
            ("0004600000", Some(4_600_000)),
            ("4 600 000", Some(4_600_000)),
            ("4600000.0", Some(4_600_000)),
            ("", None),
            ("-", None),
            ("?", None),
            ("0", None),
            ("00000", None),
        ] {
            assert_eq!(fide_id(text), Ok(id.map(|id| (id, None))), "{text}");
        }
        for text in ["1989-04-12", "1989/04/12", "12.04.1989", "12/4/1989"] {
            assert_eq!(fide_id(text), Err(ImplausibleValue::Date(text.to_owned())));
        }
        assert_eq!(
            fide_id("19890412"),
            Ok(Some((
                19_890_412,
                Some(ImplausibleValue::IdOrDate("19890412".to_owned()))
            )))
        );
        for text in [
            "12345",
            "1234567890",
            "GER 4600000",
            "4600000x",
            "4.6e6",
            "+4600000",
        ] {
            assert_eq!(fide_id(text), Err(ImplausibleValue::Id(text.to_owned())));
        }
    }

    #[test]
    fn ratings_and_titles_parse() {
        assert_eq!(rating("2300"), Ok(Some(2300)));
        for none in ["", "-", "0", "?", "unr.", "0000"] {
            assert_eq!(rating(none), Ok(None), "{none}");
        }
        for invalid in ["GER", "23000", "4000", "-5", "2300?"] {
            assert!(rating(invalid).is_err(), "{invalid}");
        }
        for (text, read) in [
            ("GM", Some("GM")),
            ("wfm", Some("WFM")),
            ("m", Some("IM")),
            ("wg", Some("WGM")),
            ("gf", Some("WGM")),
            ("mf", Some("WIM")),
            ("FF", Some("WFM")),
            ("cf", Some("WCM")),
            ("-", None),
            ("", None),
            ("see the list", None),
        ] {
            assert_eq!(title(text).as_deref(), read, "{text}");
        }
    }

    #[test]
    fn results_parse_in_all_their_spellings() {
        for (text, read) in [
            ("1-0", GameResult::WhiteWins),
            ("1 : 0", GameResult::WhiteWins),
            ("+--", GameResult::WhiteWins),
            ("- - +", GameResult::BlackWins),
            ("0-1F", GameResult::BlackWins),
            ("½-½", GameResult::Draw),
            ("½ - ½", GameResult::Draw),
            ("0,5-0,5", GameResult::Draw),
            ("0-0", GameResult::BothLose),
            ("½-0", GameResult::HalfForWhite),
            ("WHITE_WIN", GameResult::WhiteWins),
            ("Black wins", GameResult::BlackWins),
            ("DRAW", GameResult::Draw),
        ] {
            assert_eq!(result(text), Ok(Some(read)), "{text}");
        }
        for none in ["", "*", "-", "Pending", "In Progress"] {
            assert_eq!(result(none), Ok(None));
        }
        assert!(result("won").is_err());
    }

    #[test]
    fn forfeits_and_byes_are_distinguished_from_games() {
        for forfeit in ["+--", "- - +", "---", "--", "0-1F", "1-0K", "+:-"] {
            assert!(is_forfeit(forfeit), "{forfeit}");
        }
        for played in ["1-0", "0-0", "½-½", "*", "", "-", "won", "BLACK_WIN"] {
            assert!(!is_forfeit(played), "{played}");
        }
        assert_eq!(reason_of_bye("1"), Some(UnplayedRound::AllocatedBye));
        assert_eq!(reason_of_bye(" ½ "), Some(UnplayedRound::HalfPointBye));
        assert_eq!(reason_of_bye("0"), Some(UnplayedRound::ZeroPointBye));
        assert_eq!(reason_of_bye("bye"), Some(UnplayedRound::AllocatedBye));
        assert_eq!(reason_of_bye(""), None);
    }

    #[test]
    fn dates_parse_in_both_orders() {
        for text in [
            "2026.11.23",
            "2026-11-23",
            "2026/11/23",
            "23.11.2026",
            "23/11/2026",
        ] {
            assert_eq!(date(text).as_deref(), Some("2026-11-23"), "{text}");
        }
        for text in [
            "????.??.??",
            "2026.??.??",
            "2026.02.30",
            "26/11/23",
            "",
            "1-2",
            "2026-11-23T14:00",
        ] {
            assert_eq!(date(text), None, "{text}");
        }
    }

    #[test]
    fn rounds_have_up_to_three_numbers() {
        for (text, numbers) in [
            ("3", vec![3]),
            ("3.07", vec![3, 7]),
            (" 3.2.1 ", vec![3, 2, 1]),
            ("Round 3", vec![3]),
            ("R3.7", vec![3, 7]),
            ("3.", vec![3]),
            ("3.?", vec![3]),
            ("?", vec![]),
            ("-", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(round(text), Ok(numbers), "{text}");
        }
        for invalid in ["final", "0", "3.2.1.4", "-3", "1/8", "99999", "3.x"] {
            assert!(round(invalid).is_err(), "{invalid}");
        }
        for (text, numbers) in [
            ("7", vec![7]),
            ("board-07", vec![7]),
            ("2.1", vec![2, 1]),
            ("7.", vec![7]),
            ("", vec![]),
        ] {
            assert_eq!(table(text), Ok(numbers), "{text}");
        }
        assert!(table("stage").is_err());
    }
}
