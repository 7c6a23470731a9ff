//! A player's line in FIDE's report, by its columns, wherever they have slipped to.
//!
//! Columns are characters. Programs that count bytes pad a name with letters outside ASCII too little, and a name that is
//! too long moves what follows: so the columns after the name are looked for some places to either side, until all of
//! them fit.

use shakmaty::Color;

/// A player's line.
#[derive(Debug)]
pub(super) struct TrfLine {
    /// The number by which others name the player.
    pub(super) number: u32,
    pub(super) title: String,
    pub(super) name: String,
    pub(super) rating: String,
    pub(super) federation: String,
    pub(super) id: String,
    /// Where the id stands, from 1.
    pub(super) id_column: usize,
    /// From the first round; `None`: not in that round. All are missing where they do not fit.
    pub(super) rounds: Vec<Option<Cell>>,
    pub(super) rounds_fit: bool,
}

/// A player's round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    /// The opponent's number; 0: none.
    pub(super) opponent: u32,
    pub(super) color: Option<Color>,
    /// In upper case; a blank where there is none.
    pub(super) result: char,
    /// From 1.
    pub(super) column: usize,
}

/// Why a line cannot be read, with the column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TrfLineError {
    Number,
    Columns,
}

/// Reads a line that begins with 001.
pub(super) fn line(text: &str) -> Result<TrfLine, TrfLineError> {
    let line = TrfColumns::of(text);
    let number = line.field(5, 8, 0).parse().map_err(|_| TrfLineError::Number)?;
    let all_fits =
        |shift: &isize| line.player_fits(*shift) && line.rest_fits(*shift) && line.rounds_fit(*shift);
    let strict = shifts(text).find(all_fits);
    let shift = strict.or_else(|| shifts(text).find(|shift| line.player_fits(*shift)));
    let shift = shift.ok_or(TrfLineError::Columns)?;
    // What stands between is not needed, and may be what has slipped.
    let slipped = || shifts(text).find(|shift| line.is_blank(&[90, 91], *shift) && line.rounds_fit(*shift));
    let rounds = strict.or_else(slipped);
    Ok(TrfLine {
        number,
        title: line.field(11, 13, 0),
        name: line.name(shift),
        rating: line.field(49, 52, shift),
        federation: line.field(54, 56, shift),
        id: line.field(58, 68, shift),
        id_column: line.first_of(58, 68, shift),
        rounds: rounds.map(|shift| line.rounds(shift)).unwrap_or_default(),
        rounds_fit: rounds.is_some(),
    })
}

/// How far what follows the name may have slipped, the likeliest first.
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

    /// What stands in a column, from 1, that has slipped; blank where the line has ended.
    fn at(&self, column: usize, shift: isize) -> char {
        let index = column.saturating_add_signed(shift).checked_sub(1);
        let found = index.and_then(|index| self.characters.get(index)).copied();
        found.filter(|c| !c.is_whitespace()).unwrap_or(' ')
    }

    fn field(&self, from: usize, to: usize, shift: isize) -> String {
        let text: String = (from..=to).map(|column| self.at(column, shift)).collect();
        text.trim().to_owned()
    }

    fn name(&self, shift: isize) -> String {
        self.field(15, 47_usize.saturating_add_signed(shift), 0)
    }

    /// The first column of a field that is not blank.
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

    /// Whether rating, federation and id stand where they do with this shift.
    fn player_fits(&self, shift: isize) -> bool {
        self.is_blank(&[48, 53, 57, 69], shift)
            && (shift == 0 || self.is_credible(shift))
            && self.has_only(49, 52, shift, |c| c.is_ascii_digit() || c == '-')
            && self.has_only(54, 56, shift, |c| c.is_alphanumeric() || c == '-')
            && self.has_only(58, 68, shift, |c| {
                c.is_ascii_digit() || matches!(c, '-' | '/' | '.')
            })
            && self.field(54, 56, shift).chars().all(|c| !c.is_ascii_digit())
    }

    /// Whether there is anything in these columns, and nothing of it in the name.
    fn is_credible(&self, shift: isize) -> bool {
        let rating = self.field(49, 52, shift);
        let is_one = rating.is_empty() || rating == "0" || rating.len() > 2;
        let is_there = !self.field(49, 68, shift).is_empty();
        is_one && is_there && !self.name(shift).contains(|c: char| c.is_ascii_digit())
    }

    /// Whether birthday, points and place do.
    fn rest_fits(&self, shift: isize) -> bool {
        self.is_blank(&[80, 85, 90, 91], shift)
            && self.has_only(70, 79, shift, |c| {
                c.is_ascii_digit() || matches!(c, '-' | '/' | '.')
            })
            && self.has_only(81, 84, shift, |c| c.is_ascii_digit() || matches!(c, '.' | ','))
            && self.has_only(86, 89, shift, |c| c.is_ascii_digit())
    }

    /// Whether the rounds do.
    fn rounds_fit(&self, shift: isize) -> bool {
        self.round_columns(shift)
            .all(|from| self.cell(from, shift).is_some())
    }

    /// The first columns of the rounds.
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

    /// The round that begins in a column: `None`: it does not fit; `Some(None)`: it is blank.
    fn cell(&self, from: usize, shift: isize) -> Option<Option<Cell>> {
        let opponent = self.field(from, from + 3, shift);
        let color = self.at(from + 5, shift).to_ascii_lowercase();
        let result = self.at(from + 7, shift).to_ascii_uppercase();
        let blanks = [from + 4, from + 6, from + 8, from + 9];
        let is_right = opponent.bytes().all(|byte| byte.is_ascii_digit())
            && matches!(color, 'w' | 'b' | '-' | ' ')
            && "10=+-HFUZWDL½ ".contains(result)
            && self.is_blank(&blanks, shift);
        if !is_right {
            return None;
        }
        if opponent.is_empty() && color == ' ' && result == ' ' {
            return Some(None);
        }
        let cell = Cell {
            opponent: opponent.parse().unwrap_or(0),
            color: match color {
                'w' => Some(Color::White),
                'b' => Some(Color::Black),
                _ => None,
            },
            result: if result == '½' { '=' } else { result },
            column: from.saturating_add_signed(shift),
        };
        Some(Some(cell))
    }
}

/// The column of the first round.
pub(super) const FIRST_ROUND: usize = 92;
/// The columns of a round.
pub(super) const WIDTH: usize = 10;
/// How far columns are looked for.
const FARTHEST: isize = 14;
