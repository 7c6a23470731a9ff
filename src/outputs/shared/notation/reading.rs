//! Reads moves that people have written.

use shakmaty::{CastlingSide, Chess, File, Move, Position, Rank, Role, Square};
use thiserror::Error;

use super::{DRAW_OFFER, EN_PASSANT, Letters, MateSign, Notation};

/// A move that was read from text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadMove {
    /// The move, legal in the given position.
    pub played: Move,
    /// Whether a draw offer is noted after the move.
    pub draw_offered: bool,
}

/// Reason why a text is not a move in a position.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unread {
    /// The text is not a move in any position.
    #[error("\"{text}\" is not a move in {language} notation ({letters})")]
    NoMove {
        /// The text.
        text: String,
        /// The language whose letters were expected.
        language: &'static str,
        /// The letters, king first.
        letters: String,
    },
    /// No legal move matches the text.
    #[error("\"{text}\" is not a legal move in this position")]
    Illegal {
        /// The text.
        text: String,
    },
    /// Several legal moves match the text.
    #[error("\"{text}\" is ambiguous: {}", moves.join(" or "))]
    Ambiguous {
        /// The text.
        text: String,
        /// The matching moves, in full.
        moves: Vec<String>,
    },
}

/// The parts of a written move; `None` for a part that the text leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MoveText {
    Castling(CastlingSide),
    Piece {
        role: Role,
        file: Option<File>,
        rank: Option<Rank>,
        /// Whether there is an x. A move without one may also be a capture (E23 C.13).
        takes: bool,
        to: Square,
        promotion: Option<Role>,
        en_passant: bool,
    },
}

/// Reads a move written with the letters of one language: short or long, with or without x, "e.p." and the signs of
/// check and mate, promotion as d8Q or d8=Q, castling with zeros or the letter O, and "(=)" after it.
///
/// Signs of check and mate are not checked: score sheets have them wrong too often to reject a move for that. An x or
/// "e.p." on a move that is not such a capture is an error.
///
/// # Errors
///
/// Fails if the text is not a move, not legal in this position, or ambiguous.
pub fn read(text: &str, letters: &'static Letters, position: &Chess) -> Result<ReadMove, Unread> {
    let trimmed = text.trim();
    let (rest, draw_offered) = match trimmed.strip_suffix(DRAW_OFFER) {
        Some(rest) => (rest.trim_end(), true),
        None => (trimmed, false),
    };
    let parsed = parse(rest, letters).ok_or_else(|| Unread::NoMove {
        text: trimmed.to_owned(),
        language: letters.name,
        letters: letters.all(),
    })?;
    let moves = position.legal_moves();
    let candidates: Vec<Move> = moves
        .iter()
        .copied()
        .filter(|legal| parsed.fits(*legal))
        .collect();
    match candidates.as_slice() {
        [played] => Ok(ReadMove {
            played: *played,
            draw_offered,
        }),
        [] => Err(Unread::Illegal {
            text: trimmed.to_owned(),
        }),
        several => Err(Unread::Ambiguous {
            text: trimmed.to_owned(),
            moves: several
                .iter()
                .map(|legal| Notation::new(letters, MateSign::Hash).write(*legal, position))
                .collect(),
        }),
    }
}

fn parse(text: &str, letters: &Letters) -> Option<MoveText> {
    let (text, en_passant) = without_signs(text);
    if let Some(side) = castling(text) {
        return (!en_passant).then_some(MoveText::Castling(side));
    }
    let (role, rest) = piece(text, letters).unwrap_or((Role::Pawn, text));
    let (rest, promotion) = promoted(rest, letters);
    let (rest, to) = square_at_end(rest)?;
    let (rest, takes) = match rest.strip_suffix('x') {
        Some(rest) => (rest, true),
        None => (rest, false),
    };
    let (file, rank) = origin(rest)?;
    Some(MoveText::Piece {
        role,
        file,
        rank,
        takes,
        to,
        promotion,
        en_passant,
    })
}

/// Removes the signs of check and mate and "e.p." from the end, in any order. Returns whether "e.p." was among them.
fn without_signs(text: &str) -> (&str, bool) {
    let mut en_passant = false;
    let mut rest = text;
    loop {
        rest = rest.trim_end();
        if let Some(before) = rest.strip_suffix(EN_PASSANT) {
            (rest, en_passant) = (before, true);
        } else if let Some(before) = rest.strip_suffix(['+', '#']) {
            rest = before;
        } else {
            return (rest, en_passant);
        }
    }
}

fn castling(text: &str) -> Option<CastlingSide> {
    match text {
        "0-0" | "O-O" => Some(CastlingSide::KingSide),
        "0-0-0" | "O-O-O" => Some(CastlingSide::QueenSide),
        _ => None,
    }
}

/// Reads the piece at the start. The longest letter wins: in Russian the king is Кр, the knight К.
fn piece<'t>(text: &'t str, letters: &Letters) -> Option<(Role, &'t str)> {
    let found = PIECES
        .into_iter()
        .filter_map(|role| Some((role, text.strip_prefix(letters.letter(role))?)));
    found.min_by_key(|(_, rest)| rest.len())
}

/// Reads the promotion piece at the end, as in d8D or d8=D.
fn promoted<'t>(text: &'t str, letters: &Letters) -> (&'t str, Option<Role>) {
    let found = PIECES
        .into_iter()
        .filter_map(|role| Some((role, text.strip_suffix(letters.letter(role))?)));
    match found.min_by_key(|(_, rest)| rest.len()) {
        Some((role, rest)) => (rest.strip_suffix('=').unwrap_or(rest), Some(role)),
        None => (text, None),
    }
}

fn square_at_end(text: &str) -> Option<(&str, Square)> {
    let index = text.len().checked_sub(2)?;
    let square = Square::from_ascii(text.get(index..)?.as_bytes()).ok()?;
    Some((text.get(..index)?, square))
}

/// Reads the origin of the move, as far as it is given. A hyphen may follow a complete square.
fn origin(text: &str) -> Option<(Option<File>, Option<Rank>)> {
    let mut chars = text.chars();
    match (chars.next(), chars.next(), chars.next(), chars.next()) {
        (None, ..) => Some((None, None)),
        (Some(given), None, ..) => match (File::from_char(given), Rank::from_char(given)) {
            (None, None) => None,
            given => Some(given),
        },
        (Some(file), Some(rank), None | Some('-'), None) => {
            Some((Some(File::from_char(file)?), Some(Rank::from_char(rank)?)))
        }
        _ => None,
    }
}

impl MoveText {
    fn fits(self, legal: Move) -> bool {
        match self {
            Self::Castling(side) => legal.castling_side() == Some(side),
            Self::Piece {
                role,
                file,
                rank,
                takes,
                to,
                promotion,
                en_passant,
            } => {
                let from = legal.from();
                // A pawn's capture is always written with its file (E23 C.9).
                let names_file = role != Role::Pawn || file.is_some() || !legal.is_capture();
                names_file
                    && legal.castling_side().is_none()
                    && (legal.role(), legal.to(), legal.promotion()) == (role, to, promotion)
                    && from.is_some_and(|from| file.is_none_or(|file| from.file() == file))
                    && from.is_some_and(|from| rank.is_none_or(|rank| from.rank() == rank))
                    && (!takes || legal.is_capture())
                    && (!en_passant || legal.is_en_passant())
            }
        }
    }
}

/// The pieces that have letters.
const PIECES: [Role; 5] = [Role::King, Role::Queen, Role::Rook, Role::Bishop, Role::Knight];
