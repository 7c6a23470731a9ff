//! The cost of each candidate line: how much speaks against it.
//!
//! The cost of a line is the sum of
//!
//! - **ply** for each ply, so that of two lines that explain the same, the shorter one wins,
//! - what is unusual about each ply: its timing (`made`), the way of its piece (`way`), a move that is not legal, a ply
//!   that its reply hid from the scan, a square that must be dead for it,
//! - **unexplained** for each square that shows something else than the line's last position, and half as much again for
//!   each of the last plies that was begun since; only **odd** if the piece on it was captured within the last plies and
//!   may lie beside its square,
//! - half of **unexplained** for each ply that was played although one of the plies before it was irregular,
//! - what it costs that both kings stand in the centre, if the line does not have them there (`node`),
//! - what withdrawing costs for each announced ply that the line does not have. A ply is dearer to withdraw if nothing
//!   else on the board had changed and it was pressed, or had stood for **patience**. It costs nothing if the line has
//!   another ply by the same player that landed at the same moment: a press speaks for both.
//!
//! If a line has no ply in the place of an announced one, it also costs what that ply had cost: the ply was shown, and
//! is now taken back. An irregular move with neither press nor reply is not compared at all (see `irregular`).
//!
//! The best line costs least. Ties go to the line that withdraws fewest plies, then to the one that was found first.

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{Bitboard, Board, Piece};

use super::made::Timing;
use super::node::{Node, NodeId, Played};
use super::tree::Tree;
use crate::model::{Cost, Model, SEVERAL};

/// What speaks against each reading of a tree.
pub(super) struct Costs {
    /// What is unusual about the plies up to and with that of a node.
    plies: Vec<Cost>,
    /// The same with the squares that are left unexplained.
    whole: Vec<Cost>,
}

impl Costs {
    /// What speaks against a reading.
    pub(super) fn of(&self, id: NodeId) -> Cost {
        self.whole[id]
    }

    /// What is unusual about its plies.
    pub(super) fn of_plies(&self, id: NodeId) -> Cost {
        self.plies[id]
    }
}

impl Tree {
    /// What speaks against each reading.
    pub(super) fn costs(&self) -> Costs {
        let mut plies: Vec<Cost> = Vec::with_capacity(self.nodes().len());
        let mut whole = Vec::with_capacity(self.nodes().len());
        let followed = self.followed();
        for (id, node) in self.nodes().iter().enumerate() {
            // Parents come before their children.
            let cost = node.parent.map_or(0, |parent| plies[parent] + self.strain(id));
            plies.push(cost);
            let held = usize::from(node.is_unread()) * self.model().odd;
            whole.push(cost + self.unexplained(node) + usize::from(!followed[id]) * held);
        }
        Costs { plies, whole }
    }

    /// What is unusual about a ply after those before it.
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
        // What is irregular is noticed before play goes on, like a piece that stands on a wrong square.
        let plies = std::iter::successors(before, |node| Some(self.node(node.parent?)));
        let unnoticed = plies.take(SEVERAL).filter(|ply| ply.is_irregular()).count();
        let dead = node.unread.without(known).any();
        // A square that is not dead after all has not read a piece.
        let revived = known.without(node.unread).any();
        let odd = usize::from(node.hidden) + usize::from(dead) + usize::from(revived);
        model.ply
            + timing
            + node.stray
            + unlikely * model.unlikely
            + odd * model.odd
            + unnoticed * model.unexplained / 2
    }

    /// What the squares cost that a reading leaves unexplained.
    fn unexplained(&self, node: &Node) -> Cost {
        let model = self.model();
        let plies = || std::iter::successors(Some(node), |node| Some(self.node(node.parent?))).take(SEVERAL);
        // A captured piece may lie beside its square for some plies. It may be laid there before its captor is lifted.
        let captures = |ply: &Node| Some((ply.captured?, self.node(ply.parent?).landed.at));
        let mut captured: Vec<_> = plies().filter_map(captures).collect();
        let mut cost = node.result.unwrap_or(0);
        for (since, stranger) in &node.unexplained {
            let known = *since + ONE_SCAN_APART;
            let is_stranger = |(piece, at): &(Piece, Timestamp)| Some(*piece) == *stranger && known >= *at;
            if let Some(at) = captured.iter().position(is_stranger) {
                captured.swap_remove(at);
                cost += model.odd;
                continue;
            }
            // A hand that is busy puts a piece down before play goes on.
            let played_on = plies()
                .filter(|ply| ply.parent.is_some() && ply.lifted_at > known)
                .count();
            cost += model.unexplained + played_on * model.unexplained / 2;
        }
        cost
    }

    /// The most credible reading: the one that costs least. Ties go to the one that withdraws the fewest plies, then to
    /// the one that was found first.
    pub(crate) fn best(&self) -> NodeId {
        self.best_by(&self.costs())
    }

    /// The same with what speaks against each reading.
    pub(super) fn best_by(&self, costs: &Costs) -> NodeId {
        let ranks = self.ranks(costs).into_iter().enumerate();
        let best = ranks.filter_map(|(id, rank)| Some((rank?, id))).min();
        best.map_or_else(|| self.root(), |(_, id)| id)
    }

    /// The log-odds against each reading and for the most credible one.
    pub(super) fn odds_against(&self) -> Vec<i64> {
        let costs = self.costs();
        let ranks = self.ranks(&costs);
        let best = ranks.iter().flatten().map(|(cost, _)| *cost).min().unwrap_or(0);
        let ranked = ranks.iter().enumerate();
        let cost = ranked.map(|(id, rank)| rank.map_or_else(|| costs.of(id), |(cost, _)| cost));
        cost.map(|cost| cost as i64 - best as i64).collect()
    }

    /// What speaks against each reading, with what it costs to withdraw what it does not have, and how many plies those are;
    /// `None` for one that does not count.
    fn ranks(&self, costs: &Costs) -> Vec<Option<(Cost, usize)>> {
        let announced = self.path(self.tip());
        let withdrawals = self.withdrawals(&announced);
        let root = self.node(self.root()).ply;
        // How many announced plies each reading begins with; which of the later ones it has after other plies, one bit for
        // each; and whether a suspicion on its way may count at all.
        let mut common = vec![0; self.nodes().len()];
        let mut again = vec![0_u64; self.nodes().len()];
        let mut credible = vec![true; self.nodes().len()];
        let mut ranks = vec![None; self.nodes().len()];
        for (id, node) in self.nodes().iter().enumerate() {
            let plies = (node.ply - root) as usize;
            if let Some(parent) = node.parent {
                let told = plies.checked_sub(1).filter(|at| *at < announced.len());
                let on_line = told.is_some_and(|at| announced[at] == id);
                common[id] = if on_line { plies } else { common[parent] };
                again[id] = again[parent];
                if !on_line {
                    let same = |at: &usize| self.is_same_ply(announced[*at], id);
                    let told = (common[id]..announced.len().min(64)).filter(same);
                    again[id] |= told.fold(0, |all, at| all | 1 << at);
                }
                // Where another ply was completed in its place, a reply does not speak for it.
                let completed = told.is_some_and(|at| self.node(announced[at]).completed);
                credible[id] = credible[parent] && !(completed && self.is_suspicion(id));
            }
            if !credible[id] || self.is_suspicion(id) {
                continue;
            }
            let withdrawn = announced.len() - common[id];
            // Plies that were announced, and so were shown, and nothing was played in their place. A king that is put in the
            // centre is not taken back.
            let put = |plies: &[NodeId]| plies.iter().all(|ply| self.moves_king(*ply));
            let taken_back = announced
                .get(plies..)
                .filter(|plies| node.result.is_none() || !put(plies))
                .map_or(0, |_| {
                    let kept = plies.checked_sub(1).map_or(0, |at| costs.plies[announced[at]]);
                    announced.last().map_or(0, |last| costs.plies[*last]) - kept
                });
            let again = (common[id]..announced.len().min(64)).filter(|at| again[id] >> at & 1 == 1);
            let again: Cost = again.map(|at| withdrawals[at] - withdrawals[at + 1]).sum();
            let cost = costs.of(id) + taken_back + withdrawals[common[id]] - again;
            ranks[id] = Some((cost, withdrawn));
        }
        ranks
    }

    /// What it costs to withdraw the announced plies from each of them on; none of them at last.
    pub(super) fn withdrawals(&self, announced: &[NodeId]) -> Vec<Cost> {
        let model = self.model();
        let regular = !announced.iter().any(|id| self.node(*id).is_irregular());
        let cost = |at: usize| {
            let ply = self.node(announced[at]);
            // In a record, which has no times, a piece that goes on may have been on its way all the time.
            let on_its_way = ply.landed.recorded
                && announced
                    .get(at + 2)
                    .is_some_and(|next| self.goes_on_from(announced[at], *next));
            // Where it stood for long, no hand was on its piece. What is no move may be put right later.
            let left = ply.stood >= model.patience && !ply.landed.recorded && regular;
            let done = ply.pressed || left;
            let cost = match (ply.clear && done && !on_its_way, ply.ambiguous) {
                (true, _) => model.unlikely,
                // One ply fewer does not make another guess better.
                (_, true) => model.ply,
                _ => model.withdrawn,
            };
            // The reply is taken back first. Where its piece goes back after that of the ply before, both play on.
            let after = announced.get(at + 1).and_then(|reply| self.node(*reply).back);
            let in_order = ply.back.zip(after);
            let played_on = in_order.is_some_and(|(own, reply)| own + ONE_SCAN_APART < reply);
            cost + usize::from(played_on) * model.unlikely
        };
        let mut withdrawals = vec![0; announced.len() + 1];
        for at in (0..announced.len()).rev() {
            withdrawals[at] = withdrawals[at + 1] + cost(at);
        }
        withdrawals
    }

    /// Whether a ply moves the piece that another one moved.
    fn goes_on_from(&self, first: NodeId, next: NodeId) -> bool {
        let (Played::Move(first), Played::Move(next)) = (self.node(first).played, self.node(next).played)
        else {
            return false;
        };
        next.from() == Some(first.to())
    }

    /// Whether a ply moved a king alone.
    fn moves_king(&self, id: NodeId) -> bool {
        let node = self.node(id);
        let king = |board: &Board| board.king_of(node.mover());
        let castles = matches!(node.played, Played::Move(m) if m.is_castle());
        let before = node.parent.map(|parent| self.node(parent).state.board());
        !castles && before.is_some_and(|before| king(before) != king(node.state.board()))
    }

    /// Whether another node has the announced ply as well: the same move at the same place, unless the board showed another
    /// position after it, or a ply of the same player that landed at the same moment.
    fn is_same_ply(&self, told: NodeId, other: NodeId) -> bool {
        let (told, other) = (self.node(told), self.node(other));
        let stood = told.stable && told.unread.is_empty();
        let same = told.ply == other.ply
            && told.played == other.played
            && (!stood || told.state.board() == other.state.board());
        let at_once = told.mover() == other.mover() && told.landed == other.landed && !told.landed.recorded;
        same || (observed(told) && observed(other) && at_once)
    }

    /// Whether another reading is about as credible as `best`, with another ply in the place of `next`, where one of the
    /// two has a piece on a square that does not show it.
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
        let limit = costs.of(best) + self.model().odd;
        (next..self.nodes().len()).any(|id| {
            costs.of(id) <= limit
                && (guesses(id) || guesses(best))
                && self.passes(id, parent)
                && !self.passes(id, next)
        }) || (parent..next)
            .any(|id| costs.of(id) <= limit && id != parent && guesses(id) && self.passes(id, parent))
    }

    /// Whether a ply, or one before it, was told although others were as credible, and they still are.
    pub(super) fn is_ambiguous_line(&self, id: NodeId) -> bool {
        let path = self.path(id);
        let mut ambiguous = path.into_iter().filter(|ply| self.node(*ply).ambiguous);
        ambiguous.any(|ply| self.is_ambiguous(ply, self.best()))
    }

    /// Whether the way to a node leads through another, or ends there.
    pub(super) fn passes(&self, id: NodeId, through: NodeId) -> bool {
        std::iter::successors(Some(id), |id| self.node(*id).parent).any(|id| id == through)
    }
}

/// What is unusual about when a ply was made after the one that it answers and its player's last.
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

/// Whether a ply was seen, so that it is known when: of what was played unobserved it is not, nor of the start.
fn observed(node: &Node) -> bool {
    node.footprint.is_some() && !node.inferred
}
