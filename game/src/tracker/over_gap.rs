//! Compares the lines that may lead over a gap by the play that follows.
//!
//! When the first dump after a gap arrives, the short lines to it become candidates in a copy of the tree. A hand may
//! hold pieces during the dump, so positions with a piece of the player to move, and one that it may capture, are
//! included. Each ply that nothing shows costs **odd** in addition to **ply**, and so does a last position in which it is
//! not the turn of the player whose clock runs. The reports after the dump count for or against each candidate as they do
//! for any line. So the plies of a gap can be inferred while play goes on:
//!
//! | the play since the dump | margin over all other lines |
//! | --- | --- |
//! | a later ply led to a position that the board showed exactly | at least **unlikely** |
//! | none, and the board has shown the end of a line of one or two plies exactly for **pause** | more than **odd** |
//!
//! Lines with the same plies in another order do not count as other lines; the plies are then marked `any_order`. Such
//! lines, and those of more than two plies, count only for a board whose memory has nothing of its gaps.

use kiebitz_hardware::Timestamp;
use shakmaty::Move;

use super::Tracker;
use super::node::{NodeId, Played, PlyStatus};
use super::sensors::Sensors;
use super::tree::Tree;
use crate::model::{Cost, IN_HANDS, MAX_POSITIONS, PLIES_OF_PROOF};
use crate::position::{State, lines};

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

/// The plies of a gap, which the play since then shows.
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
        let (found, complete) = lines::reaching(&before, sensors.board(), IN_HANDS, MAX_POSITIONS);
        for moves in found {
            tree.add_unseen(tip, &moves, gap, sensors, now);
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

    /// Cost of plies that only the dump shows, beyond that of observed plies. Those added for the gap have it already.
    fn of_late_plies(&self, id: NodeId) -> Cost {
        let path = self.tree.path(id).into_iter();
        let late = path.filter(|id| self.is_of_gap(*id) && !self.tree.node(*id).inferred);
        late.count() * self.tree.model().odd
    }

    /// Returns the plies of a line from the end of the announced line to `last`.
    fn moves_to(&self, last: NodeId) -> Vec<Move> {
        let tip = self.tree.tip();
        let path = self.tree.path(last).into_iter();
        let after = path.filter(|id| *id > tip && self.tree.passes(*id, tip));
        let moves = after.filter_map(|id| match self.tree.node(id).played {
            Played::Move(m) => Some(m),
            Played::Irregular(_) | Played::Root => None,
        });
        moves.collect()
    }
}

impl Tracker {
    /// Lists the lines to the first dump after a gap.
    pub(super) fn look_over_gap(&mut self, now: Timestamp) {
        let gap = self.gap_since.filter(|_| self.playback.is_none());
        if let Some((line, gap)) = self.line.as_mut().zip(gap) {
            line.over_gap = Some(OverGap::new(&line.tree, gap, &self.sensors, now));
        }
    }

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
        if self.gap_since.is_none() || self.disturbed {
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
        let moves = over.moves_to(last);
        // Kings that show a result hide where they came from.
        let ends = tree.node(best).result.is_some();
        if ends || !tree.passes(last, tree.tip()) || over.complete < moves.len() {
            return None;
        }
        let (mut any_order, mut margin) = (false, i64::MAX);
        for id in (0..costs.len()).filter(|id| !tree.passes(*id, last)) {
            let apart = costs[id] - costs[best];
            let other = tree.path(id).into_iter().rfind(|id| over.is_of_gap(*id));
            let other = other.map(|other| over.moves_to(other)).unwrap_or_default();
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
        // Longer lines fit more often by accident, and the memory may have the plies in their order.
        let short = plies.moves.len() <= PLIES_OF_PROOF;
        if !self.loses_power && (any_order || !short) {
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
    /// Adds a line of plies that nothing shows, played since `gap`.
    fn add_unseen(
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
            let price = self.model().odd;
            let node = self.node_mut(parent);
            node.lifted_at = gap;
            node.inferred = true;
            node.stray += price;
        }
    }
}
