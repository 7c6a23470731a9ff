//! Chess positions, legal or not, and the lines of play between them. This module does not deal with time or hands.

mod any_placement;
pub(crate) mod fields;
mod instead;
pub(crate) mod lines;
mod seen;
pub(crate) mod start;
mod state;

use shakmaty::{Bitboard, Board, Color, KnownOutcome, Piece, Role, Square};

pub(crate) use instead::{Instead, passes};
pub use seen::Seen;
pub use start::is_chess960;
pub use start::{Orientation, Variant};
pub use state::State;
pub(crate) use state::{Footprint, PossibleMove, castled};

/// The result that two kings in the centre show: both on light squares for White, both on dark ones for Black, one on
/// each for a draw.
pub(crate) fn outcome_of_kings(board: &Board) -> Option<KnownOutcome> {
    let kings = board.kings() & Bitboard::CENTER;
    let both = Color::ALL
        .iter()
        .all(|color| (kings & board.by_color(*color)).count() == 1);
    both.then(|| match (kings & Bitboard::LIGHT_SQUARES).count() {
        2 => KnownOutcome::Decisive { winner: Color::White },
        0 => KnownOutcome::Decisive { winner: Color::Black },
        _ => KnownOutcome::Draw,
    })
}

/// Puts a piece on a square, or empties the square.
pub(crate) fn put(board: &mut Board, square: Square, piece: Option<Piece>) {
    match piece {
        Some(piece) => board.set_piece_at(square, piece),
        None => board.discard_piece_at(square),
    }
}

pub(crate) fn difference(a: &Board, b: &Board) -> Bitboard {
    let colors = Color::ALL.into_iter().map(|c| a.by_color(c) ^ b.by_color(c));
    let roles = Role::ALL.into_iter().map(|r| a.by_role(r) ^ b.by_role(r));
    colors
        .chain(roles)
        .fold(Bitboard::EMPTY, |all, differ| all | differ)
}
