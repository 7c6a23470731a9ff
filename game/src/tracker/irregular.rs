//! Recognises play that no legal move explains.
//!
//! An irregular move is at first a suspicion: a candidate that does not compete until a press supports it or a reply to
//! it is found. With its reply, it competes like any other line, and is announced once the reply has rested and nothing
//! else on the board is unexplained. It can also replace the last ply, if the piece of that ply has moved on. Two
//! pieces at once count only as king and rook (castling that is not allowed), or if they came to their squares within
//! **rest** and were pressed as one move.

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;

use super::Tracker;
use super::node::{Node, NodeId, Played};
use crate::position::{Instead, PossibleMove};

impl Tracker {
    /// Adds the mover's irregular move as a suspicion, if the board shows one. Returns whether it did.
    pub(super) fn suspect_irregular(&mut self, now: Timestamp) -> bool {
        if self.disturbed || self.gap_since.is_some() || self.is_lost() {
            return false;
        }
        let Some(tree) = self
            .line
            .as_ref()
            .filter(|line| !line.awaited)
            .map(|line| &line.tree)
        else {
            return false;
        };
        // The player may have held the piece of the last ply and moved it on.
        let tip = tree.tip();
        let before = tree.node(tip).parent.filter(|_| !tree.node(tip).shown);
        core::iter::once(tip)
            .chain(before)
            .any(|from| self.suspect_irregular_after(now, from))
    }

    fn suspect_irregular_after(&mut self, now: Timestamp, from: NodeId) -> bool {
        let Some(line) = &mut self.line else { return false };
        let node = line.tree.node(from);
        let board = self.sensors.board();
        // Reports within one scan have no order.
        let before = node.landed.at.saturating_sub(ONE_SCAN_APART);
        let fresh = node.differs & self.sensors.touched_since(before);
        let Some(act) = Instead::read(&node.state, board, fresh) else {
            return false;
        };
        let explains = |legal: &PossibleMove| {
            legal.footprint.squares().is_superset(act.footprint.squares()) && legal.footprint.fits(board)
        };
        let state = act.after(&node.state);
        let known = |other: &Node| other.is_irregular() && other.state.board() == state.board();
        if line.tree.find_after(from, known).is_some() || node.state.moves().iter().any(explains) {
            return false;
        }
        let changed = act
            .footprint
            .squares()
            .into_iter()
            .map(|square| self.sensors.changed_at(square));
        let Some((first, landed)) = changed.clone().min().zip(changed.max()) else {
            return false;
        };
        // The press may be reported before the squares.
        let pressed = line.pressed[node.state.turn()];
        let pressed = pressed.is_some_and(|press| press.at + ONE_SCAN_APART >= landed);
        // Two pieces count as one move only if they are king and rook, or if they were pressed as one move.
        let due = match act.went {
            Some(_) => landed + ONE_SCAN_APART,
            None if pressed
                && act.footprint.squares() == node.differs
                && landed <= first + self.model.rest =>
            {
                self.quiet_since + self.model.rest
            }
            None => return false,
        };
        if now < due {
            self.wake_at(due);
            return false;
        }
        let played = Played::Irregular(act.went);
        let footprint = Some(act.footprint);
        let id = line.tree.add(from, played, state, footprint, &self.sensors, now);
        line.tree.node_mut(id).backed = pressed;
        line.tree.update(&self.sensors, now);
        true
    }
}
