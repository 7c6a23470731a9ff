//! Determines how long a move must have stood before it is announced without a press or a reply. The time depends on
//! the ways in which its piece could still move:
//!
//! | the piece | rest |
//! | --- | --- |
//! | cannot move on | **settle** |
//! | came to a neighbouring square within a scan, or other squares are unexplained: it may be put back | one scan |
//! | can go on along the same line | **pause** |
//! | can go on along the same line, and may be drawn over the squares, pausing on one | **rest** |
//! | is a king or rook with which castling may have begun: the other piece would follow | **doubt** |

use core::time::Duration;

use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{CastlingSide, Color, Move, Role, Square, attacks};

use super::Tracker;
use super::motion::flight;
use super::node::{NodeId, Played};
use super::sensors::Sensors;
use super::tree::Tree;
use crate::events::Caution;
use crate::model::Model;

impl Caution {
    pub(super) const fn rest(self, model: &Model) -> Duration {
        match self {
            Self::NothingFollows => model.settle,
            Self::MayGoBack => ONE_SCAN_APART,
            Self::MayGoOn => model.pause,
            Self::MayBeDrawn => model.rest,
            Self::MayCastle => model.doubt,
        }
    }
}

impl Tracker {
    /// Returns how the piece of a ply may still move, which determines the required rest.
    pub(super) fn caution(&self, id: NodeId) -> Caution {
        let Some(tree) = self.tree() else {
            return Caution::NothingFollows;
        };
        let node = tree.node(id);
        let (Some(parent), Played::Move(m)) = (node.parent, node.played) else {
            return Caution::NothingFollows;
        };
        let others = tree.node(parent).state.moves();
        if others
            .iter()
            .any(|other| begins_castling(m, other.m, node.mover()))
        {
            return Caution::MayCastle;
        }
        if !others.iter().any(|other| goes_on(m, other.m)) {
            // Unexplained squares show that more than a move is going on.
            return if is_nudge(m, &self.sensors) || !node.differs.is_empty() {
                Caution::MayGoBack
            } else {
                Caution::NothingFollows
            };
        }
        if self.habits.may_be_drawn(m, node, &self.sensors, self.model) {
            Caution::MayBeDrawn
        } else {
            Caution::MayGoOn
        }
    }
}

/// Whether `other` moves the same piece farther along the same line, over the destination of `m`.
fn goes_on(m: Move, other: Move) -> bool {
    let (Some(from), Some(other_from)) = (m.from(), other.from()) else {
        return false;
    };
    from == other_from && !other.is_castle() && attacks::between(from, other.to()).contains(m.to())
}

/// Whether the piece appeared beside its square within a scan, so that it may only have been touched.
fn is_nudge(m: Move, sensors: &Sensors) -> bool {
    let near = m
        .from()
        .is_some_and(|from| attacks::king_attacks(from).contains(m.to()));
    near && flight(m, sensors).is_some_and(|flight| flight <= ONE_SCAN_APART)
}

/// Whether the board shows `m` while only one of the two pieces of the castling `other` has moved.
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

/// Whether the piece of `id` could be on its way to a capture on `square`.
pub(super) fn can_take(tree: &Tree, id: NodeId, square: Square) -> bool {
    let node = tree.node(id);
    let (Some(parent), Played::Move(m)) = (node.parent, node.played) else {
        return false;
    };
    let others = tree.node(parent).state.moves();
    others
        .iter()
        .any(|other| other.m.to() == square && goes_on(m, other.m))
}
