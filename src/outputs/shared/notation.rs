//! Moves as players write them: the algebraic notation of the Laws, with the piece letters of a language.
//!
//! Events hold English SAN; this is for score sheets and reports (2023: Appendix C, 1997: Annex E). Castling is written
//! with zeros, promotion without a sign before the letter (d8Q), and "e.p." follows a capture en passant. Reading
//! takes what the appendix leaves open as well: the long form, captures without an x, d8=Q, and moves without their
//! signs of check and mate. Letters mean what they mean in the given language: R is a rook in English, a king in French
//! and a knight in Finnish, and no language is ever guessed from one.
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

/// The sign after a move that mates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MateSign {
    /// `#`, which the Laws know beside `++` (E23 C.13).
    #[default]
    Hash,
    /// `++`, the only one of the Laws of 1997 (Annex E).
    DoublePlus,
}

/// How moves are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notation {
    letters: &'static Letters,
    mate: MateSign,
}

/// Castling to the side of h1 and h8, as the Laws write it.
pub(crate) const SHORT_CASTLING: &str = "0-0";
/// Castling to the side of a1 and a8.
pub(crate) const LONG_CASTLING: &str = "0-0-0";
/// After a capture en passant.
pub(crate) const EN_PASSANT: &str = "e.p.";
/// An offer of a draw, written down by both players (E23 8.1.5).
pub const DRAW_OFFER: &str = "(=)";

impl MateSign {
    /// The sign that an edition of the Laws has.
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
    /// With these letters and this sign.
    #[must_use]
    pub const fn new(letters: &'static Letters, mate: MateSign) -> Self {
        Self { letters, mate }
    }

    /// The language of the letters.
    #[must_use]
    pub const fn letters(self) -> &'static Letters {
        self.letters
    }

    /// A legal move in a position, as in "Sbd2" or "exd6 e.p.".
    #[must_use]
    pub fn write(self, played: Move, position: &Chess) -> String {
        let san = SanPlus::from_move(position.clone(), played);
        self.san(&san, played.is_en_passant())
    }

    /// A move of which only the English SAN is known; `en_passant` where it captures so.
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
            // Chess has neither pieces in hand nor null moves; they are shown as they are.
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
    /// The letter of a piece; pawns have none.
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
