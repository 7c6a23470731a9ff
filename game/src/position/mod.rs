//! Chess positions, legal or not, and the lines of play between them. This module does not deal with time or hands.

mod any_placement;
pub(crate) mod fields;
mod instead;
pub(crate) mod lines;
mod seen;
pub(crate) mod start;
mod state;

use shakmaty::{Bitboard, Board, Color, KnownOutcome, Piece, Square};

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
    let (roles, colors) = a.clone().into_bitboards();
    let (other_roles, other_colors) = b.clone().into_bitboards();
    let roles = roles.into_iter().zip(other_roles);
    let colors = colors.into_iter().zip(other_colors);
    roles
        .chain(colors)
        .fold(Bitboard::EMPTY, |all, (one, other)| all | (one ^ other))
}
