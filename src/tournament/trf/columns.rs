//! Parses a player's line in FIDE's report, even if its columns are shifted.
//!
//! Columns are counted in characters. Programs that count bytes pad a name with non-ASCII letters too little, and a
//! name that is too long shifts the columns after it. The parser therefore tries some shifts to both sides until all
//! columns fit.

use shakmaty::Color;

#[derive(Debug)]
pub(super) struct TrfLine {
    /// Starting number, by which the lines of opponents refer to the player.
    pub(super) number: u32,
    pub(super) title: String,
    pub(super) name: String,
    pub(super) rating: String,
    pub(super) federation: String,
    pub(super) id: String,
    /// Column of the FIDE id, counted from 1.
    pub(super) id_column: usize,
    /// Twice the points so far; `None` if the line has none, or if its columns do not fit.
    pub(super) half_points: Option<u32>,
    /// Rounds of the player, from the first; `None` if the cell is blank. Empty if the rounds do not fit their columns.
    pub(super) rounds: Vec<Option<Cell>>,
    pub(super) rounds_fit: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    /// Starting number of the opponent; 0 if there is none.
    pub(super) opponent: u32,
    pub(super) color: Option<Color>,
    /// Code of the result in upper case, or a blank if there is no result or an unknown code.
    pub(super) result: char,
    /// Code of the result as written, if it is not one of a report.
    pub(super) unknown: Option<char>,
    /// First column of the entry, counted from 1.
    pub(super) column: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TrfLineError {
    Number,
    Columns,
}

/// Parses a line with the code 001.
pub(super) fn line(text: &str) -> Result<TrfLine, TrfLineError> {
    let line = TrfColumns::of(text);
    let number = line.field(5, 8, 0).parse().map_err(|_| TrfLineError::Number)?;
    let all_fits =
        |shift: &isize| line.player_fits(*shift) && line.rest_fits(*shift) && line.rounds_fit(*shift);
    let strict = shifts(text).find(all_fits);
    let shift = strict.or_else(|| shifts(text).find(|shift| line.player_fits(*shift)));
    let shift = shift.ok_or(TrfLineError::Columns)?;
    // The columns between id and rounds are not needed, and may themselves cause the shift of the rounds.
    let shifted = || shifts(text).find(|shift| line.is_blank(&[90, 91], *shift) && line.rounds_fit(*shift));
    let rounds = strict.or_else(shifted);
    Ok(TrfLine {
        number,
        title: line.field(11, 13, 0),
        name: line.name(shift),
        rating: line.field(49, 52, shift),
        federation: line.field(54, 56, shift),
        id: line.field(58, 68, shift),
        id_column: line.first_of(58, 68, shift),
        half_points: strict.and_then(|shift| half_points(&line.field(81, 84, shift))),
        rounds: rounds.map(|shift| line.rounds(shift)).unwrap_or_default(),
        rounds_fit: rounds.is_some(),
    })
}

/// Parses points such as "2.5" or "3", and doubles them.
fn half_points(text: &str) -> Option<u32> {
    let (whole, half) = text.split_once(['.', ',']).unwrap_or((text, ""));
    let half = match half {
        "" | "0" => 0,
        "5" => 1,
        _ => return None,
    };
    let whole: u32 = whole.parse().ok()?;
    whole.checked_mul(2)?.checked_add(half)
}

/// Returns the shifts to try for the columns after the name, the most likely first.
fn shifts(text: &str) -> impl Iterator<Item = isize> {
    let characters = text.chars().count();
    let more_bytes = isize::try_from(text.len() - characters).unwrap_or_default();
    let likely = [0, -more_bytes.min(FARTHEST)];
    likely.into_iter().chain((1..=FARTHEST).flat_map(|by| [-by, by]))
}

struct TrfColumns {
    characters: Vec<char>,
}

impl TrfColumns {
    fn of(text: &str) -> Self {
        Self {
            characters: text.trim_end().chars().collect(),
        }
    }

    /// Returns the character at a shifted column, counted from 1. Returns a blank beyond the end of the line.
    fn at(&self, column: usize, shift: isize) -> char {
        let index = column.saturating_add_signed(shift).checked_sub(1);
        let found = index.and_then(|index| self.characters.get(index)).copied();
        found.filter(|c| !c.is_whitespace()).unwrap_or(' ')
    }

    fn field(&self, from: usize, to: usize, shift: isize) -> String {
        let text: String = (from..=to).map(|column| self.at(column, shift)).collect();
        text.trim().to_owned()
    }

    /// Returns the name. If nothing is shifted, it may fill the separator after it.
    fn name(&self, shift: isize) -> String {
        let last = if shift == 0 { SEPARATOR } else { SEPARATOR - 1 };
        self.field(15, last.saturating_add_signed(shift), 0)
    }

    /// Returns the first column of a field that is not blank.
    fn first_of(&self, from: usize, to: usize, shift: isize) -> usize {
        let first = (from..=to).find(|column| self.at(*column, shift) != ' ');
        first.unwrap_or(from).saturating_add_signed(shift)
    }

    fn is_blank(&self, columns: &[usize], shift: isize) -> bool {
        columns.iter().all(|column| self.at(*column, shift) == ' ')
    }

    fn has_only(&self, from: usize, to: usize, shift: isize, allowed: impl Fn(char) -> bool) -> bool {
        let text = self.field(from, to, shift);
        text.chars().all(allowed)
    }

    /// Returns whether rating, federation and id fit with this shift.
    fn player_fits(&self, shift: isize) -> bool {
        let is_separated = match shift {
            // The rating may be the first to be shifted.
            0 => !self.at(SEPARATOR, 0).is_ascii_digit(),
            _ => self.is_blank(&[SEPARATOR], shift) && self.is_credible(shift),
        };
        is_separated
            && self.is_blank(&[53, 57, 69], shift)
            && self.has_only(49, 52, shift, |c| c.is_ascii_digit() || c == '-')
            && self.has_only(54, 56, shift, |c| c.is_alphanumeric() || c == '-')
            && self.has_only(58, 68, shift, |c| {
                c.is_ascii_digit() || matches!(c, '-' | '/' | '.')
            })
            && self.field(54, 56, shift).chars().all(|c| !c.is_ascii_digit())
    }

    /// Returns whether the shifted columns are not all blank, the rating is plausible and the name has no digits.
    fn is_credible(&self, shift: isize) -> bool {
        let rating = self.field(49, 52, shift);
        let is_rating = rating.is_empty() || rating == "0" || rating.len() > 2;
        let is_present = !self.field(49, 68, shift).is_empty();
        is_rating && is_present && !self.name(shift).contains(|c: char| c.is_ascii_digit())
    }

    /// Returns whether birthday, points and rank fit with this shift.
    fn rest_fits(&self, shift: isize) -> bool {
        self.is_blank(&[80, 85, 90, 91], shift)
            && self.has_only(70, 79, shift, |c| {
                c.is_ascii_digit() || matches!(c, '-' | '/' | '.')
            })
            && self.has_only(81, 84, shift, |c| c.is_ascii_digit() || matches!(c, '.' | ','))
            && self.has_only(86, 89, shift, |c| c.is_ascii_digit())
    }

    /// Returns whether the rounds fit with this shift.
    fn rounds_fit(&self, shift: isize) -> bool {
        self.round_columns(shift)
            .all(|from| self.cell(from, shift).is_some())
    }

    fn round_columns(&self, shift: isize) -> impl Iterator<Item = usize> {
        let ends = self.characters.len();
        (0..)
            .map(|round| FIRST_ROUND + WIDTH * round)
            .take_while(move |from| from.saturating_add_signed(shift) <= ends)
    }

    fn rounds(&self, shift: isize) -> Vec<Option<Cell>> {
        let columns = self.round_columns(shift);
        columns.map(|from| self.cell(from, shift).flatten()).collect()
    }

    /// Parses the entry of a round. Returns `None` if it does not fit, and `Some(None)` if it is blank.
    fn cell(&self, from: usize, shift: isize) -> Option<Option<Cell>> {
        let opponent = self.field(from, from + 3, shift);
        let color = self.at(from + 5, shift).to_ascii_lowercase();
        let result = self.at(from + RESULT, shift).to_ascii_uppercase();
        let blanks = [from + 4, from + 6, from + 8, from + 9];
        let is_valid = opponent.bytes().all(|byte| byte.is_ascii_digit())
            && matches!(color, 'w' | 'b' | '-' | ' ')
            && self.is_blank(&blanks, shift);
        if !is_valid {
            return None;
        }
        if opponent.is_empty() && color == ' ' && result == ' ' {
            return Some(None);
        }
        let is_known = RESULTS.contains(result);
        let cell = Cell {
            opponent: opponent.parse().unwrap_or(0),
            color: match color {
                'w' => Some(Color::White),
                'b' => Some(Color::Black),
                _ => None,
            },
            result: match result {
                '½' => '=',
                result if is_known => result,
                _ => ' ',
            },
            unknown: (!is_known).then(|| self.at(from + RESULT, shift)),
            column: from.saturating_add_signed(shift),
        };
        Some(Some(cell))
    }
}

/// Column between the name and the rating.
const SEPARATOR: usize = 48;
/// Codes of results, and a blank for none.
const RESULTS: &str = "10=+-HFUZWDL½ ";
pub(super) const FIRST_ROUND: usize = 92;
/// Width of a round, in columns.
pub(super) const WIDTH: usize = 10;
/// Position of the result in the entry of a round.
pub(super) const RESULT: usize = 7;
/// Largest shift of columns to try.
const FARTHEST: isize = 14;
