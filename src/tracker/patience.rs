//! How long a move must have stood before it is told: it depends on what its piece could still be doing.

use core::time::Duration;

use shakmaty::{CastlingSide, Color, Move, Role, Square, attacks};

use super::Tracker;
use super::tree::{NodeId, Played, Tree};

/// A move after which the piece can go nowhere else stands for this long before it is told: a scan, and a little.
pub(super) const RESTS: Duration = Duration::from_millis(220);
/// So does a move whose piece can be drawn further along the same line.
pub(super) const RESTS_ON_ITS_WAY: Duration = Duration::from_millis(420);
/// A piece that is being drawn over the squares may pause on one where it could stay.
pub(super) const RESTS_DRAWN: Duration = Duration::from_millis(1250);
/// And a rook or king move that castling would begin with; the other piece follows within seconds.
pub(super) const RESTS_IN_CASTLING: Duration = Duration::from_millis(2600);

impl Tracker {
    /// How long a move must have stood, by what else its piece could still be doing.
    pub(super) fn patience(&self, id: NodeId) -> Duration {
        let Some(tree) = self.line.as_ref().map(|line| &line.tree) else {
            return RESTS;
        };
        let node = tree.node(id);
        let (Some(parent), Played::Move(m)) = (node.parent, node.played) else {
            return RESTS;
        };
        let others = tree.candidates(parent);
        if others
            .iter()
            .any(|other| begins_castling(m, other.m, node.mover()))
        {
            return RESTS_IN_CASTLING;
        }
        if !others.iter().any(|other| goes_on(m, other.m)) {
            return RESTS;
        }
        let drawn = self.habits.may_be_drawn(m, node, &self.sensors);
        if drawn { RESTS_DRAWN } else { RESTS_ON_ITS_WAY }
    }
}

/// Whether `other` is the same piece drawn further over the square that `m` ends on.
fn goes_on(m: Move, other: Move) -> bool {
    let (Some(from), Some(other_from)) = (m.from(), other.from()) else {
        return false;
    };
    from == other_from && !other.is_castle() && attacks::between(from, other.to()).contains(m.to())
}

/// Whether `m` is what the board shows when one of the two pieces of the castling `other` has been moved.
fn begins_castling(m: Move, other: Move, mover: Color) -> bool {
    let (Move::Normal { role, from, to, .. }, Move::Castle { king, rook }) = (m, other) else {
        return false;
    };
    let side = CastlingSide::from_king_side(king < rook);
    match role {
        Role::Rook => {
            from == rook
                && (to == side.rook_to(mover) || attacks::between(rook, side.rook_to(mover)).contains(to))
        }
        Role::King => {
            from == king
                && (to == side.king_to(mover) || attacks::between(king, side.king_to(mover)).contains(to))
        }
        _ => false,
    }
}

/// Whether the piece that led to `id` could be on its way to take on `square`.
pub(super) fn can_take(tree: &Tree, id: NodeId, square: Square) -> bool {
    let node = tree.node(id);
    let (Some(parent), Played::Move(m)) = (node.parent, node.played) else {
        return false;
    };
    tree.candidates(parent)
        .iter()
        .any(|other| other.m.to() == square && goes_on(m, other.m))
}
