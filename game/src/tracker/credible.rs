//! Computes the cost of each candidate line: the evidence against it.
//!
//! The cost of a line is the sum of
//!
//! - **ply** for each ply, so that of two lines that explain the same squares the shorter one wins,
//! - the unusual features of each ply: its timing (`made`), the path of its piece (`way`), an irregular move, a reply
//!   that hid it from the scan, a square assumed dead or no longer dead,
//! - **unexplained** for each square that differs from the line's last position, plus half of **unexplained** for each
//!   of the last few plies that began after the square changed; only **odd** in total if the piece on the square was
//!   captured within the last few plies, and may have been laid down there, but not where it was captured,
//! - the same for each piece that stood for **rest** on an empty square of the line while it was played on, even after
//!   the piece has left,
//! - **odd** for each press that belongs to no ply of its player,
//! - for each ply, half of **unexplained** per irregular ply among the few plies before it,
//! - the cost of both kings in the centre, if the line does not have them there (`node`),
//! - **odd** for a last ply whose destination does not read its piece,
//! - the cost of withdrawal of each announced ply that the line does not have. If nothing else on the board had changed
//!   and the ply was pressed or had stood for **patience**, it costs **unlikely**; but several such plies are one
//!   decision to take back, and each further one costs **ply**. It is zero if the line has another ply by the same
//!   player that landed at the same moment: a press supports both.
//!
//! A line that is shorter than the announced line is also charged the costs of the announced plies beyond its end: the
//! board showed these plies, so they would have been taken back. An irregular move with neither press nor reply is not
//! compared at all (see `irregular`).
//!
//! The best line has the lowest cost. Ties go to the line that withdraws the fewest plies, then to the line that was
//! found first.

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{Bitboard, Board, Piece, Square};

use super::made::Timing;
use super::node::{Node, NodeId, Played, Unexplained};
use super::sensors::Sensors;
use super::tree::Tree;
use crate::events::SensorChange;
use crate::model::{Cost, Model, SEVERAL};

/// The order of the nodes of a tree, and the best node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ranking {
    /// Cost of each node including withdrawals, and the number of plies that it withdraws; `None` if it does not
    /// compete.
    ranks: Vec<Option<(Cost, usize)>>,
    best: NodeId,
}

/// The costs of a node's line by its evidence alone, whatever was announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Costs {
    /// Cost of the plies up to and including the node's.
    pub(super) plies: Cost,
    /// Cost of the plies and of the squares left unexplained.
    pub(super) whole: Cost,
}

/// The withdrawal of an announced ply.
#[derive(Debug, Clone, Copy)]
pub(super) struct Withdrawal {
    cost: Cost,
    /// Whether the ply was completed, so that somebody decided to take it back.
    is_done: bool,
}

/// A captured piece, where it was captured, and when the ply before its capture landed.
struct Captured {
    piece: Piece,
    square: Square,
    before: Timestamp,
}

impl Captured {
    /// Whether the piece on an unexplained square may be this one.
    fn is(&self, unexplained: &Unexplained) -> bool {
        unexplained.stranger == Some(self.piece) && unexplained.since + ONE_SCAN_APART >= self.before
    }
}

/// How a line relates to the announced one.
#[derive(Clone, Copy, Default)]
struct Relation {
    /// Number of announced plies that the line begins with.
    common: usize,
    /// A bit for each later announced ply that the line also has, after different plies.
    again: u64,
    /// Whether the line has a suspicion that must not count.
    refuted: bool,
}

impl Relation {
    /// The announced plies that the line does not begin with, as far as `again` has bits.
    fn later(&self, announced: &[NodeId]) -> core::ops::Range<usize> {
        self.common..announced.len().min(64)
    }
}

impl Tree {
    pub(super) fn rank(&self) -> Ranking {
        let ranks = self.ranks(self.costs());
        let ranked = ranks.iter().enumerate();
        let best = ranked.filter_map(|(id, rank)| Some(((*rank)?, id))).min();
        let best = best.map_or_else(|| self.root(), |(_, id)| id);
        Ranking { ranks, best }
    }

    /// Adds the costs of all further nodes to those of the first ones.
    pub(super) fn with_costs(&self, mut costs: Vec<Costs>) -> Vec<Costs> {
        let known = costs.len();
        for (id, node) in self.nodes().iter().enumerate().skip(known) {
            let before = node.parent.map(|parent| costs[parent].plies);
            let plies = before.map_or(0, |before| before + self.strain(id));
            let held = node.is_unread() && self.find_after(id, |_| true).is_none();
            let whole = plies + self.unexplained(node) + usize::from(held) * self.model().odd;
            costs.push(Costs { plies, whole });
        }
        costs
    }

    fn strain(&self, id: NodeId) -> Cost {
        let model = self.model();
        let node = self.node(id);
        let before = node.parent.map(|parent| self.node(parent));
        let own = before.and_then(|before| Some(self.node(before.parent?)));
        let timing = match before {
            Some(before) if observed(node) => strain_of(node.timing(), before, own, model),
            _ => 0,
        };
        let known = before.map_or(Bitboard::EMPTY, |before| before.unread);
        let unlikely = usize::from(node.is_irregular());
        // Players notice an irregular ply before they play on, as they do a piece on a wrong square.
        let plies = std::iter::successors(before, |node| Some(self.node(node.parent?)));
        let unnoticed = plies.take(SEVERAL).filter(|ply| ply.is_irregular()).count();
        let dead = node.unread.without(known).any();
        // A square that turns out not to be dead had failed to read its piece.
        let revived = known.without(node.unread).any();
        let odd = usize::from(node.hidden) + usize::from(dead) + usize::from(revived);
        model.ply
            + timing
            + node.stray
            + node.idle_presses
            + unlikely * model.unlikely
            + odd * model.odd
            + unnoticed * model.unexplained / 2
    }

    fn unexplained(&self, node: &Node) -> Cost {
        let model = self.model();
        let mut cost = node.result.unwrap_or(0) + node.outlived_before + node.outlived;
        if node.unexplained.is_empty() {
            return cost;
        }
        let mut captured = self.captured(node);
        for unexplained in &node.unexplained {
            if let Some(at) = captured.iter().position(|captured| captured.is(unexplained)) {
                // Nobody lays a captured piece down where it was captured, except to take the capture back.
                let is_back = captured.swap_remove(at).square == unexplained.square;
                cost += model.odd + usize::from(is_back) * 2 * model.unexplained;
            } else {
                cost += model.unexplained + self.played_on(node, unexplained.since);
            }
        }
        cost
    }

    /// The pieces captured by the last plies. A captured piece may lie beside its square for some plies, even before the
    /// capturing piece is lifted.
    fn captured(&self, node: &Node) -> Vec<Captured> {
        let captures = |ply: &Node| {
            Some(Captured {
                piece: ply.captured?,
                square: ply.captured_on()?,
                before: self.node(ply.parent?).landed.at,
            })
        };
        self.last_plies(node).filter_map(captures).collect()
    }

    /// Cost of a square that has been unexplained since `since` while play goes on: players put down a piece they hold
    /// before they move again, so a later ply speaks against a hand as the cause.
    fn played_on(&self, node: &Node, since: Timestamp) -> Cost {
        let known = since + ONE_SCAN_APART;
        let plies = self.last_plies(node);
        let later = plies.filter(|ply| ply.parent.is_some() && ply.lifted_at > known);
        later.count() * self.model().unexplained / 2
    }

    fn last_plies<'t>(&'t self, node: &'t Node) -> impl Iterator<Item = &'t Node> {
        std::iter::successors(Some(node), |node| Some(self.node(node.parent?))).take(SEVERAL)
    }

    /// Cost of the pieces that left empty squares of a node's state after `after`, up to `until`, and had stood there
    /// for **rest** while play went on. A line must explain them even if the board does not show them any more.
    pub(super) fn outlived(
        &self,
        node: &Node,
        sensors: &Sensors,
        after: Timestamp,
        until: Timestamp,
    ) -> Cost {
        let model = self.model();
        let of_change = |change: &SensorChange| {
            let left = change.when.at;
            let stranger = change
                .before
                .filter(|_| node.state.board().piece_at(change.square).is_none())?;
            let unexplained = Unexplained {
                square: change.square,
                since: sensors.arrived_before(change)?,
                stranger: Some(stranger),
            };
            let since = unexplained.since;
            let cost = self.played_on(node, since);
            // The way of a ply's own piece is part of the ply's cost.
            let on_its_way =
                |ply: &Node| ply.moves(stranger) && ply.lifted_at <= since && left <= ply.landed.at;
            let counts = cost > 0
                && left > since + model.rest
                && !self.last_plies(node).any(on_its_way)
                && !self
                    .captured(node)
                    .iter()
                    .any(|captured| captured.is(&unexplained));
            counts.then_some(model.unexplained + cost)
        };
        let left = sensors
            .changes_since(after)
            .take_while(|change| change.when.at <= until);
        left.filter_map(of_change).sum()
    }

    pub(crate) fn best(&self) -> NodeId {
        self.ranking().best
    }

    /// The log-odds against each node, relative to the best one.
    pub(super) fn odds_against(&self) -> Vec<i64> {
        let Ranking { ranks, .. } = self.ranking();
        let best = ranks.iter().flatten().map(|(cost, _)| *cost).min().unwrap_or(0);
        let ranked = ranks.iter().zip(self.costs());
        let cost = ranked.map(|(rank, costs)| rank.map_or(costs.whole, |(cost, _)| cost));
        cost.map(|cost| cost as i64 - best as i64).collect()
    }

    fn ranks(&self, costs: &[Costs]) -> Vec<Option<(Cost, usize)>> {
        let announced = self.path(self.tip());
        let withdrawals = self.withdrawals(&announced);
        let root = self.node(self.root()).ply;
        let mut relations: Vec<Relation> = Vec::with_capacity(costs.len());
        let mut ranks = Vec::with_capacity(costs.len());
        for (id, node) in self.nodes().iter().enumerate() {
            let plies = (node.ply - root) as usize;
            let mut relation = Relation::default();
            if let Some(parent) = node.parent {
                relation = relations[parent];
                let announced_at = plies.checked_sub(1).filter(|at| *at < announced.len());
                if announced_at.is_some_and(|at| announced[at] == id) {
                    relation.common = plies;
                } else {
                    let same = |at: &usize| self.is_same_ply(announced[*at], id);
                    let repeated = relation.later(&announced).filter(same);
                    relation.again |= repeated.fold(0, |all, at| all | 1 << at);
                }
                // A suspicion in place of a completed announced ply is not supported by a reply.
                let completed = announced_at.is_some_and(|at| self.node(announced[at]).completed);
                relation.refuted |= completed && self.is_suspicion(id);
            }
            relations.push(relation);
            if relation.refuted || self.is_suspicion(id) {
                ranks.push(None);
                continue;
            }
            // The announced plies beyond the end of the line were shown, so they would have been taken back. If kings
            // show a result and these plies only moved kings, the kings were being put in the centre, and nothing is
            // taken back.
            let put = |plies: &[NodeId]| plies.iter().all(|ply| self.moves_king(*ply));
            let taken_back = announced
                .get(plies..)
                .filter(|plies| node.result.is_none() || !put(plies))
                .map_or(0, |_| {
                    let kept = plies.checked_sub(1).map_or(0, |at| costs[announced[at]].plies);
                    announced.last().map_or(0, |last| costs[*last].plies) - kept
                });
            let later = relation.later(&announced);
            let again = |at: usize| later.contains(&at) && relation.again >> at & 1 == 1;
            let withdrawal = self.withdrawal(&withdrawals, relation.common, again);
            let cost = costs[id].whole + taken_back + withdrawal;
            ranks.push(Some((cost, announced.len() - relation.common)));
        }
        ranks
    }

    /// Cost of withdrawing the announced plies from the one with index `from` on, except those for which `stays` is true.
    /// Players who take back a completed ply may take back several: that is one decision.
    pub(super) fn withdrawal(
        &self,
        announced: &[Withdrawal],
        from: usize,
        stays: impl Fn(usize) -> bool,
    ) -> Cost {
        let model = self.model();
        let withdrawn = announced
            .iter()
            .enumerate()
            .skip(from)
            .filter(|(at, _)| !stays(*at));
        let (mut cost, mut is_done) = (0, false);
        for (_, ply) in withdrawn {
            cost += ply.cost;
            is_done |= ply.is_done;
        }
        cost + usize::from(is_done) * model.unlikely.saturating_sub(model.ply)
    }

    /// The costs of withdrawing announced plies.
    pub(super) fn withdrawals(&self, announced: &[NodeId]) -> Vec<Withdrawal> {
        let model = self.model();
        let regular = !announced.iter().any(|id| self.node(*id).is_irregular());
        let withdrawal = |at: usize| {
            let ply = self.node(announced[at]);
            // The board's record has no times, so a piece that moves on may have been on its way all the time.
            let on_its_way = ply.landed.recorded
                && announced
                    .get(at + 2)
                    .is_some_and(|next| self.goes_on_from(announced[at], *next));
            // A piece that stood this long was not in a hand. An irregular ply may be put right even later.
            let stood_long = ply.stood >= model.patience && !ply.landed.recorded && regular;
            let done = ply.pressed || stood_long;
            let is_done = ply.clear && done && !on_its_way;
            // Withdrawing a guess costs as much as a ply, so that another guess does not win by having one ply fewer.
            let cost = match is_done || ply.ambiguous {
                true => model.ply,
                false => model.withdrawn,
            };
            // A takeback returns the reply's piece first. If the earlier ply's piece returned first, play went on.
            let after = announced.get(at + 1).and_then(|reply| self.node(*reply).back);
            let in_order = ply.back.zip(after);
            let played_on = in_order.is_some_and(|(own, reply)| own + ONE_SCAN_APART < reply);
            Withdrawal {
                cost: cost + usize::from(played_on) * model.odd,
                is_done,
            }
        };
        (0..announced.len()).map(withdrawal).collect()
    }

    fn goes_on_from(&self, first: NodeId, next: NodeId) -> bool {
        let (Played::Move(first), Played::Move(next)) = (self.node(first).played, self.node(next).played)
        else {
            return false;
        };
        next.from() == Some(first.to())
    }

    fn moves_king(&self, id: NodeId) -> bool {
        let node = self.node(id);
        let king = |board: &Board| board.king_of(node.mover());
        let castles = matches!(node.played, Played::Move(m) if m.is_castle());
        let before = node.parent.map(|parent| self.node(parent).state.board());
        !castles && before.is_some_and(|before| king(before) != king(node.state.board()))
    }

    /// Whether `other` counts as the announced ply: either it is the same move with the same number, and the board did
    /// not show another position after the announced one, or it is a ply of the same player that landed at the same
    /// moment.
    fn is_same_ply(&self, announced: NodeId, other: NodeId) -> bool {
        let (announced, other) = (self.node(announced), self.node(other));
        let stood = announced.stable && announced.unread.is_empty();
        let same = announced.ply == other.ply
            && announced.played == other.played
            && (!stood || announced.state.board() == other.state.board());
        let at_once = announced.mover() == other.mover()
            && announced.landed == other.landed
            && !announced.landed.recorded;
        same || (observed(announced) && observed(other) && at_once)
    }

    /// Whether another line about as credible as `best` lacks `next`, and one of the two has an unread piece.
    pub(super) fn is_ambiguous(&self, next: NodeId, best: NodeId) -> bool {
        let Some(parent) = self.node(next).parent else {
            return false;
        };
        let known = self.node(parent).unread;
        let guesses = |id: NodeId| self.node(id).unread.without(known).any();
        if !(parent..self.nodes().len()).any(guesses) {
            return false;
        }
        let costs = self.costs();
        let limit = costs[best].whole + self.model().odd;
        (next..self.nodes().len()).any(|id| {
            costs[id].whole <= limit
                && (guesses(id) || guesses(best))
                && self.passes(id, parent)
                && !self.passes(id, next)
        }) || (parent..next)
            .any(|id| costs[id].whole <= limit && id != parent && guesses(id) && self.passes(id, parent))
    }

    /// Whether a ply on the path to `id` was announced although another was as credible, and another still is.
    pub(super) fn is_ambiguous_line(&self, id: NodeId) -> bool {
        let path = self.path(id);
        let mut ambiguous = path.into_iter().filter(|ply| self.node(*ply).ambiguous);
        ambiguous.any(|ply| self.is_ambiguous(ply, self.best()))
    }

    pub(super) fn passes(&self, id: NodeId, through: NodeId) -> bool {
        std::iter::successors(Some(id), |id| self.node(*id).parent).any(|id| id == through)
    }
}

/// Timing cost of a ply, relative to the ply `before` it and its player's `own` last ply.
pub(super) fn strain_of(timing: Timing, before: &Node, own: Option<&Node>, model: &Model) -> Cost {
    if timing.landed.recorded {
        let before = Some(before).filter(|node| observed(node));
        return before.map_or(0, |before| timing.after_undated(before.timing(), model));
    }
    let reply = Some(before)
        .filter(|node| observed(node))
        .map_or(0, |before| timing.after_reply(before.timing(), model));
    let turn = own
        .filter(|node| observed(node))
        .map_or(0, |own| timing.after_own(own.timing(), before.hidden, model));
    reply + turn
}

/// Whether the time of a ply is known from observations; not for inferred plies and the root.
fn observed(node: &Node) -> bool {
    node.footprint.is_some() && !node.inferred
}
