//! Recognises a jolt: somebody ran into the table, and many pieces slid at once.
//!
//! A jolt is assumed if the pieces that slid to a neighbouring square within **rest** cost more as unexplained squares
//! than a jolt does (**reversed**). Moves that were made before the first piece slid remain. During a jolt, nothing on
//! the board counts as a move. The jolt ends when
//!
//! - the pieces stand as before, or
//! - the clock is started or pressed after the board has been quiet for **rest**, or the board has been quiet for
//!   **patience** while the clock is not stopped. At most six squares may then still be wrong; they stay unexplained.

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, Board, Square, attacks};

use super::Tracker;
use super::finding::Finding;
use super::node::{Node, NodeId};
use super::sensors::Sensors;
use crate::events::{CorrectionReason, Since};
use crate::model::TWO_MOVES;

impl Tracker {
    pub(super) fn is_jolted(&self) -> bool {
        self.line.as_ref().is_some_and(|line| line.jolted)
    }

    /// Detects the beginning or end of a jolt. Returns whether a jolt is going on.
    pub(super) fn follow_jolt(&mut self, now: Timestamp) -> bool {
        if self.is_jolted() {
            if self.stands_again() {
                self.steady(now);
            }
            return self.is_jolted();
        }
        let over = self.shown.is_some();
        if over || self.recovering() || self.gap_since.is_some() || self.is_lost() {
            return false;
        }
        let since = now.saturating_sub(self.model.rest);
        let Some(line) = &mut self.line else { return false };
        let tree = &line.tree;
        let path = tree.path(tree.best());
        let recent = path.iter().position(|id| tree.node(*id).landed.at >= since);
        let (before, recent) = path.split_at(recent.unwrap_or(path.len()));
        let stood = before.last().copied().unwrap_or_else(|| tree.root());
        let slides = slides(tree.node(stood).state.board(), &self.sensors, since);
        if more_were_placed(tree.node(stood).state.board(), &self.sensors, slides.len()) {
            return false;
        }
        // Plies before the first slide do not belong to the jolt.
        let played = recent
            .iter()
            .take_while(|id| comes_before(tree.node(**id), &slides))
            .count();
        let moves = recent.iter().take(played).map(|id| tree.node(*id));
        let of_moves = moves.fold(Bitboard::EMPTY, |all, node| all | squares(node));
        let slid = slides.iter().filter(|slide| !of_moves.contains(slide.to)).count();
        let unexplained = |id: &NodeId| self.sensors.differing(tree.node(*id).state.board()).count();
        let unexplained = path.iter().map(unexplained).min().unwrap_or(slid);
        // Ordinary play can move three pieces at once: castling and a simultaneous reply.
        let odds = (slid.min(unexplained) * self.model.unexplained) as i64 - self.model.reversed as i64;
        if odds <= 0 {
            return false;
        }
        line.jolted = true;
        if let Some(id) = recent.get(played).copied() {
            self.retract(now, id, CorrectionReason::Recovered, odds);
        }
        self.announce(now, Finding::Jolted);
        true
    }

    fn stands_again(&self) -> bool {
        let Some(tree) = self.tree() else { return false };
        let shown = |id: NodeId| tree.node(id).state.board() == self.sensors.board();
        let (tip, best) = (tree.tip(), tree.best());
        shown(tip) || (shown(best) && tree.path(best).contains(&tip))
    }

    /// Ends a jolt after **patience**, although nobody puts the pieces back. Returns whether it did.
    pub(super) fn give_up_jolt(&mut self, now: Timestamp) -> bool {
        if self.clock.running() == Some(false) {
            return false;
        }
        if self.waits(now, self.quiet_since + self.model.patience) {
            return false;
        }
        self.go_on_jolted(now)
    }

    /// Ends a jolt when the clock is started or pressed, even if some pieces have not been put back.
    pub(super) fn clock_after_jolt(&mut self, now: Timestamp) {
        if self.is_jolted() && now >= self.quiet_since + self.model.rest {
            self.go_on_jolted(now);
        }
    }

    fn go_on_jolted(&mut self, now: Timestamp) -> bool {
        let Some(line) = &mut self.line else { return false };
        let tip = line.tree.tip();
        let left = line.tree.node(tip).differs;
        // Play continues only if few squares are wrong. In a gap, the squares are dealt with when the gap is closed.
        if left.count() > TWO_MOVES && self.gap_since.is_none() {
            return false;
        }
        // Squares that are still wrong must not count as a move of either side.
        line.tree.node_mut(tip).landed = Since::at(now);
        self.steady(now);
        true
    }

    pub(super) fn steady(&mut self, now: Timestamp) {
        if let Some(line) = &mut self.line {
            line.jolted = false;
        }
        self.announce(now, Finding::Steadied);
    }
}

#[derive(Debug, Clone, Copy)]
struct Slide {
    from: Square,
    to: Square,
    at: Timestamp,
}

fn slides(before: &Board, sensors: &Sensors, since: Timestamp) -> Vec<Slide> {
    let shown = sensors.board();
    let moved = sensors.touched_since(since);
    let mut taken = Bitboard::EMPTY;
    let mut slides = Vec::new();
    for square in moved {
        let Some(piece) = before.piece_at(square) else {
            continue;
        };
        if shown.piece_at(square) == Some(piece) {
            continue;
        }
        // A captured piece may have been laid down beside its square; this is not a slide.
        if shown.color_at(square) == Some(!piece.color) {
            continue;
        }
        let beside = attacks::king_attacks(square) & moved & !taken;
        let arrived = |to: &Square| shown.piece_at(*to) == Some(piece) && before.piece_at(*to) != Some(piece);
        if let Some(to) = beside.into_iter().find(arrived) {
            taken.add(to);
            slides.push(Slide {
                from: square,
                to,
                at: sensors.changed_at(to),
            });
        }
    }
    let changes_places = |slide: &Slide| {
        slides
            .iter()
            .any(|other| (other.from, other.to) == (slide.to, slide.from))
    };
    let (_, slides) = slides.iter().copied().partition::<Vec<_>, _>(changes_places);
    slides
}

/// Whether more than twice as many pieces arrived as slid, so that they are being set up.
fn more_were_placed(before: &Board, sensors: &Sensors, slid: usize) -> bool {
    let placed = sensors.differing(before) & sensors.board().occupied();
    placed.count() > 2 * slid
}

fn comes_before(node: &Node, slides: &[Slide]) -> bool {
    let mut others = slides.iter().filter(|slide| !squares(node).contains(slide.to));
    others.all(|slide| node.landed.at <= slide.at)
}

fn squares(node: &Node) -> Bitboard {
    node.footprint
        .map_or(Bitboard::EMPTY, |footprint| footprint.squares())
}
