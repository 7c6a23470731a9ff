//! Plies in the form of events.

use shakmaty::Role;

use crate::events::{Move, Ply};

/// Index of a ply in a list that begins with ply 1.
pub(super) fn index(ply: u32) -> usize {
    usize::try_from(ply).unwrap_or(usize::MAX).saturating_sub(1)
}

pub(super) fn move_of(ply: &Ply) -> Move {
    Move {
        ply: ply.number,
        color: ply.color,
        uci: ply.uci.map(|uci| uci.to_string()),
        san: ply.san.clone(),
        fen: ply.after.fen(),
        captured: ply.captured.map(|role: Role| role.char().to_string()),
        clock: ply.clock,
        legal: ply.played.is_some(),
        inferred: ply.inferred,
        order_certain: !ply.any_order,
    }
}
