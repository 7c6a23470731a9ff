//! Compares the lines that may lead over a gap by the play that follows.
//!
//! When the first dump after a gap arrives, the lines of up to [`MAX_PLIES`] plies to it become candidates in a copy of
//! the tree. A hand may hold pieces during the dump, so a position fits even if the board lacks a piece of the player to
//! move, and one that this player may capture. An unobserved ply, and one observed only in the dump, costs **odd** more
//! than another ply. A line costs **odd** more if the clock runs for the player who is not to move at its end. The
//! reports after the dump count for or against each candidate as they do for any line. So the plies of a gap can be
//! inferred while play goes on:
//!
//! | condition | margin over all other lines |
//! | --- | --- |
//! | a later ply led to a position that the board showed exactly | at least **unlikely** |
//! | at most two plies are missing, and the board has matched the best line exactly for **pause** | more than **odd** |
//!
//! A line with the same plies in another order is not another line; if it costs less than **odd** more, the plies are
//! marked `any_order`. Such plies, and more than two, are accepted only if the board's memory may have nothing of the gap,
//! and has not been requested.

use kiebitz_hardware::Timestamp;
use shakmaty::Move;

use super::Tracker;
use super::node::{NodeId, Played, PlyStatus};
use super::sensors::Sensors;
use super::tree::Tree;
use crate::model::{Cost, MAX_POSITIONS};
use crate::position::{State, lines};

/// Most plies of a candidate line over a gap.
const MAX_PLIES: usize = 4;

/// Most plies of a gap that are inferred without play after them, or if the board's memory is expected to have them.
/// Longer lines fit more often by accident.
pub(super) const FEW_PLIES: usize = 2;

/// The candidate lines over an open gap.
#[derive(Debug)]
pub(super) struct OverGap {
    tree: Tree,
    /// The position before the gap.
    before: State,
    /// Number of plies up to which all lines to the dump are candidates.
    complete: usize,
    dumped_at: Timestamp,
}

/// The plies inferred over a gap from later play.
pub(super) struct GapPlies {
    pub(super) before: State,
    pub(super) moves: Vec<Move>,
    /// Whether they may have been played in another order.
    pub(super) any_order: bool,
    /// When the dump showed them.
    pub(super) dumped_at: Timestamp,
}

impl OverGap {
    fn new(line: &Tree, gap: Timestamp, sensors: &Sensors, now: Timestamp) -> Self {
        let mut tree = line.clone();
        let tip = tree.tip();
        let before = tree.node(tip).state.clone();
        let (found, complete) = lines::reaching(&before, sensors.board(), MAX_PLIES, MAX_POSITIONS);
        for moves in found {
            tree.add_unobserved(tip, &moves, gap, sensors, now);
        }
        tree.update(sensors, now);
        Self {
            tree,
            before,
            complete,
            dumped_at: now,
        }
    }

    /// Whether a candidate ply was played by the time of the dump.
    fn is_of_gap(&self, id: NodeId) -> bool {
        let node = self.tree.node(id);
        node.standing == PlyStatus::Candidate && (node.inferred || node.landed.at <= self.dumped_at)
    }

    /// Extra cost of the plies of a line that were observed only in the dump. Unobserved plies have it already.
    fn of_late_plies(&self, id: NodeId) -> Cost {
        let path = self.tree.path(id).into_iter();
        let late = path.filter(|id| self.is_of_gap(*id) && !self.tree.node(*id).inferred);
        late.count() * self.tree.model().odd
    }

    /// Returns the plies of a line from the end of the announced line to `last`; `None` if one of them is irregular.
    fn moves_to(&self, last: NodeId) -> Option<Vec<Move>> {
        let tip = self.tree.tip();
        let path = self.tree.path(last).into_iter();
        let after = path.filter(|id| *id > tip && self.tree.passes(*id, tip));
        let moves = after.map(|id| match self.tree.node(id).played {
            Played::Move(m) => Some(m),
            Played::Irregular(_) | Played::Root => None,
        });
        moves.collect()
    }
}

impl Tracker {
    /// Collects the candidate lines to the first dump after a gap.
    pub(super) fn look_over_gap(&mut self, now: Timestamp) {
        let gap = self.gap_since.filter(|_| self.playback.is_none());
        if let Some((line, gap)) = self.line.as_mut().zip(gap) {
            line.over_gap = Some(OverGap::new(&line.tree, gap, &self.sensors, now));
        }
    }

    /// Updates the candidates after a change of the board, and drops them once the gap is closed.
    pub(super) fn follow_over_gap(&mut self, now: Timestamp) {
        let open = self.gap_since.is_some();
        let Some(line) = &mut self.line else { return };
        line.over_gap.take_if(|_| !open);
        if let Some(over) = &mut line.over_gap {
            over.tree.update(&self.sensors, now);
        }
    }

    /// Returns the plies of the open gap, if the play since then shows them.
    pub(super) fn plies_of_gap(&mut self, now: Timestamp) -> Option<GapPlies> {
        // At a start position, whole games may have been played in the gap.
        if self.gap_since.is_none() || self.disturbed || self.is_at_start_for(now, self.model.patience) {
            return None;
        }
        let turn = self.clock_turn(now);
        let over = self.line.as_ref()?.over_gap.as_ref()?;
        let (tree, model) = (&over.tree, self.model);
        let against = tree.odds_against();
        let cost = |id: NodeId| {
            let wrong = turn.is_some_and(|turn| turn != tree.node(id).state.turn());
            against[id] + (usize::from(wrong) * model.odd + over.of_late_plies(id)) as i64
        };
        let costs: Vec<i64> = (0..against.len()).map(cost).collect();
        let best = (0..costs.len()).min_by_key(|id| costs[*id])?;
        let path = tree.path(best);
        let last = path.iter().copied().rfind(|id| over.is_of_gap(*id))?;
        let moves = over.moves_to(last)?;
        // Kings that show a result hide where they came from.
        let ends = tree.node(best).result.is_some();
        if ends || !tree.passes(last, tree.tip()) || over.complete < moves.len() {
            return None;
        }
        let (mut any_order, mut margin) = (false, i64::MAX);
        for id in (0..costs.len()).filter(|id| !tree.passes(*id, last)) {
            let apart = costs[id] - costs[best];
            let other = tree.path(id).into_iter().rfind(|id| over.is_of_gap(*id));
            let other = other.and_then(|other| over.moves_to(other)).unwrap_or_default();
            if other.len() == moves.len() && lines::same_moves(&moves, &other) {
                any_order |= apart < model.odd as i64;
            } else {
                margin = margin.min(apart);
            }
        }
        let is_later = |id: &NodeId| tree.node(*id).ply > tree.node(last).ply;
        let followed = path.iter().any(|id| is_later(id) && tree.node(*id).exact);
        let exact = tree.node(best).differs.is_empty();
        let plies = GapPlies {
            before: over.before.clone(),
            moves,
            any_order,
            dumped_at: over.dumped_at,
        };
        let short = plies.moves.len() <= FEW_PLIES;
        let may_be_known = self.memory_requested_at.is_some() || !self.may_lack_power();
        if may_be_known && (any_order || !short) {
            return None;
        }
        if followed && margin >= model.unlikely as i64 {
            return Some(plies);
        }
        if !exact || !short || margin <= model.odd as i64 {
            return None;
        }
        (!self.waits(now, self.quiet_since + model.pause)).then_some(plies)
    }
}

impl Tree {
    /// Adds a line of unobserved plies, played since `gap`.
    fn add_unobserved(
        &mut self,
        from: NodeId,
        moves: &[Move],
        gap: Timestamp,
        sensors: &Sensors,
        now: Timestamp,
    ) {
        let mut parent = from;
        for m in moves {
            let played = Played::Move(*m);
            if let Some(known) = self.find_child(parent, played) {
                parent = known;
                continue;
            }
            let state = self.node(parent).state.after(*m);
            parent = self.add(parent, played, state, None, sensors, now);
            let cost = self.model().odd;
            let node = self.node_mut(parent);
            node.lifted_at = gap;
            node.inferred = true;
            node.stray += cost;
        }
    }
}
