//! Moves as players write them: the algebraic notation of the Laws, with the piece letters of a language.
//!
//! Events have English SAN; score sheets and reports use this notation (2023: Appendix C, 1997: Annex E). Castling is
//! written with zeros, promotion without a sign before the letter (d8Q), and a capture en passant is followed by
//! "e.p.". The reader also accepts the forms that the appendix leaves open: the long form, captures without an x, d8=Q,
//! and moves without signs of check and mate. A letter has the meaning of the given language: R is a rook in English, a
//! king in French and a knight in Finnish. The language is never guessed from the letters.
//!
//! ```
//! use kiebitz::outputs::shared::notation::{Letters, MateSign, Notation, read};
//! use shakmaty::{Chess, Position};
//!
//! let german = Letters::of("de").expect("in the table");
//! let start = Chess::new();
//! let played = read("Sf3", german, &start)?;
//! assert_eq!(Notation::new(german, MateSign::Hash).write(played.played, &start), "Sf3");
//! # Ok::<(), kiebitz::outputs::shared::notation::Unread>(())
//! ```

mod letters;
mod reading;

use core::fmt::Write;

use kiebitz_game::laws::Edition;
use shakmaty::san::{San, SanPlus, Suffix};
use shakmaty::{CastlingSide, Chess, Move, Role};

pub use letters::{LETTERS, Letters};
pub use reading::{ReadMove, Unread, read};

/// Sign for checkmate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MateSign {
    /// `#`, which the Laws allow beside `++` (E23 C.13).
    #[default]
    Hash,
    /// `++`, the only sign in the Laws of 1997 (Annex E).
    DoublePlus,
}

/// Piece letters and mate sign for writing moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notation {
    letters: &'static Letters,
    mate: MateSign,
}

/// Castling with the rook on h1 or h8, as the Laws write it.
pub(crate) const SHORT_CASTLING: &str = "0-0";
/// Castling with the rook on a1 or a8.
pub(crate) const LONG_CASTLING: &str = "0-0-0";
/// Suffix of a capture en passant.
pub(crate) const EN_PASSANT: &str = "e.p.";
/// Sign for a draw offer, which both players must write down (E23 8.1.5).
pub const DRAW_OFFER: &str = "(=)";

impl MateSign {
    /// The sign in an edition of the Laws.
    #[must_use]
    pub const fn of(edition: Edition) -> Self {
        match edition {
            Edition::Fide1997 => Self::DoublePlus,
            Edition::Fide2009
            | Edition::Fide2014
            | Edition::Fide2017
            | Edition::Fide2018
            | Edition::Fide2023 => Self::Hash,
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::Hash => "#",
            Self::DoublePlus => "++",
        }
    }
}

impl Notation {
    /// Creates a notation.
    #[must_use]
    pub const fn new(letters: &'static Letters, mate: MateSign) -> Self {
        Self { letters, mate }
    }

    /// The piece letters.
    #[must_use]
    pub const fn letters(self) -> &'static Letters {
        self.letters
    }

    /// Writes a legal move, as in "Sbd2" or "exd6 e.p.".
    #[must_use]
    pub fn write(self, played: Move, position: &Chess) -> String {
        let san = SanPlus::from_move(position.clone(), played);
        self.san(&san, played.is_en_passant())
    }

    /// Writes a move that is given in English SAN. `en_passant` is whether it captures en passant.
    #[must_use]
    pub fn san(self, san: &SanPlus, en_passant: bool) -> String {
        let mut text = String::new();
        // Writing to a String does not fail.
        let _ = self.append(&mut text, san, en_passant);
        text
    }

    fn append(self, text: &mut String, san: &SanPlus, en_passant: bool) -> core::fmt::Result {
        match san.san {
            San::Normal {
                role,
                file,
                rank,
                capture,
                to,
                promotion,
            } => {
                text.push_str(self.letters.letter(role));
                text.extend(file.map(|file| file.char()));
                text.extend(rank.map(|rank| rank.char()));
                text.push_str(if capture { "x" } else { "" });
                write!(text, "{to}")?;
                text.push_str(promotion.map_or("", |role| self.letters.letter(role)));
            }
            San::Castle(CastlingSide::KingSide) => text.push_str(SHORT_CASTLING),
            San::Castle(CastlingSide::QueenSide) => text.push_str(LONG_CASTLING),
            // Chess has neither drops nor null moves; they are written as shakmaty writes them.
            San::Put { .. } | San::Null => write!(text, "{}", san.san)?,
        }
        text.push_str(match san.suffix {
            None => "",
            Some(Suffix::Check) => "+",
            Some(Suffix::Checkmate) => self.mate.text(),
        });
        if en_passant {
            write!(text, " {EN_PASSANT}")?;
        }
        Ok(())
    }
}

impl Letters {
    /// The letter of a piece; empty for a pawn.
    #[must_use]
    pub const fn letter(&self, role: Role) -> &'static str {
        match role {
            Role::Pawn => "",
            Role::Knight => self.knight,
            Role::Bishop => self.bishop,
            Role::Rook => self.rook,
            Role::Queen => self.queen,
            Role::King => self.king,
        }
    }
}

#[cfg(test)]
mod tests;
