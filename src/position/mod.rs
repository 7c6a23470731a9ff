//! Chess as far as a board shows it: positions, legal or not, and the ways that lead from one to another.
//!
//! It knows nothing of time, reports or hands.

mod any_placement;
pub(crate) mod fields;
mod instead;
pub(crate) mod lines;
mod seen;
pub(crate) mod start;
mod state;

use shakmaty::{Bitboard, Board, Color, Role};

pub(crate) use instead::{Instead, passes};
pub use seen::Seen;
pub(crate) use start::is_chess960;
pub use start::{Orientation, Variant};
pub use state::State;
pub(crate) use state::{Footprint, PossibleMove, castled};

/// Squares on which two placements differ.
pub(crate) fn difference(a: &Board, b: &Board) -> Bitboard {
    let colors = Color::ALL.into_iter().map(|c| a.by_color(c) ^ b.by_color(c));
    let roles = Role::ALL.into_iter().map(|r| a.by_role(r) ^ b.by_role(r));
    colors
        .chain(roles)
        .fold(Bitboard::EMPTY, |all, differ| all | differ)
}
