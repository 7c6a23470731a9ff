//! Reconsiders closed plies if the line leaves squares unexplained.
//!
//! Closed plies leave the tree, which keeps it small, but they are not final. If the line leaves squares unexplained,
//! the tracker returns to an earlier position that the board has shown, and follows all observations since then again,
//! with every candidate line that they allow. The announced plies compete with the other candidates; only the cost of
//! withdrawing them favours them.

use kiebitz_hardware::Timestamp;
use shakmaty::Bitboard;

use super::Tracker;
use super::line::LineOfPlay;
use super::node::{Node, NodeId, Played, PlyStatus};
use super::sensors::Sensors;
use super::tree::Tree;
use crate::model::{REMEMBERED_PLIES, TWO_MOVES};
use crate::position::{PossibleMove, State, difference};

impl Tracker {
    /// Replaces the tree if another line explains more of the unexplained squares. Returns whether it did.
    pub(super) fn reopen(&mut self, now: Timestamp) -> bool {
        if self.disturbed || self.gap_since.is_some() || self.is_lost() || self.playback.is_some() {
            return false;
        }
        let Some(line) = self
            .line
            .as_ref()
            .filter(|line| !line.awaited && line.doubt.is_none())
        else {
            return false;
        };
        let best = line.tree.node(line.tree.best());
        let unexplained = best.differs;
        if unexplained.is_empty() || unexplained.count() > 2 * TWO_MOVES || line.reopened == self.quiet_since
        {
            return false;
        }
        // A missing piece is most likely in a hand, so it gets more time than a piece that stands elsewhere.
        let stands = (unexplained & self.sensors.board().occupied()).any();
        let due = self.quiet_since + if stands { self.model.rest } else { self.model.doubt };
        if self.waits(now, due) {
            return false;
        }
        let quiet_since = self.quiet_since;
        let reopened = self
            .line
            .as_ref()
            .and_then(|line| line.read_again(&self.sensors, unexplained, now));
        let Some(line) = &mut self.line else { return false };
        line.reopened = quiet_since;
        let Some((passed, tree)) = reopened else {
            return false;
        };
        line.passed.truncate(passed);
        line.tree = tree;
        true
    }
}

impl LineOfPlay {
    /// Builds a new tree from an earlier position and all observations since. Returns the number of states before that
    /// position, and the tree; `None` if the best line of the new tree contains the announced plies or does not explain
    /// more squares.
    fn read_again(&self, sensors: &Sensors, unexplained: Bitboard, now: Timestamp) -> Option<(usize, Tree)> {
        let tree = &self.tree;
        let root = &tree.node(tree.root()).state;
        let announced = tree.path(tree.tip());
        let announced_states = announced.iter().map(|id| &tree.node(*id).state);
        let states: Vec<&State> = self.passed.iter().chain([root]).chain(announced_states).collect();
        let oldest = states.len().saturating_sub(REMEMBERED_PLIES + 1);
        let plies = states.windows(2).skip(oldest);
        let touches = |ply: &[&State]| (difference(ply[0].board(), ply[1].board()) & unexplained).any();
        let first = plies.clone().position(touches).unwrap_or_else(|| plies.len());
        let changed = unexplained
            .into_iter()
            .map(|square| sensors.changed_at(square))
            .min()?;
        let shown = |at: usize| sensors.showed(states[at].board()).map(|since| (at, since));
        let first = (oldest + first).min(self.passed.len());
        let mut known = (oldest..=first).rev().filter_map(shown);
        let (at, since) = known
            .clone()
            .find(|(_, since)| *since < changed)
            .or_else(|| known.next_back())?;
        let ply = u32::try_from(at).unwrap_or(u32::MAX);
        let mut again = Tree::new(tree.model(), states[at].clone(), ply, since);
        again.read(sensors, since, now);
        again.take_over(self, at, sensors, now);
        let (best, tip) = (again.best(), again.tip());
        let explains = again.node(best).differs.count() < unexplained.count();
        let replaces = !again.path(best).contains(&tip);
        (explains && replaces).then_some((at, again))
    }
}

impl Tree {
    fn read(&mut self, sensors: &Sensors, since: Timestamp, now: Timestamp) {
        let mut past = sensors.as_of(since);
        self.update(&past, since);
        let mut changes = sensors.changes_since(since).peekable();
        while let Some(change) = changes.next() {
            let at = change.when.at;
            past.take_presses(sensors, at);
            past.show(change);
            if changes.peek().is_none_or(|next| next.when.at > at) {
                self.update(&past, at);
            }
        }
        self.update(sensors, now);
    }

    /// Adds the plies of `line` after its state number `at`, each with its status.
    fn take_over(&mut self, line: &LineOfPlay, at: usize, sensors: &Sensors, now: Timestamp) {
        let tree = &line.tree;
        let root = &tree.node(tree.root()).state;
        let states = line.passed.iter().chain([root]).skip(at + 1);
        let announced = tree.path(tree.tip()).into_iter().map(|id| tree.node(id));
        let announced = announced.map(|node| (&node.state, Some(node)));
        let mut parent = self.root();
        for (state, node) in states.map(|state| (state, None)).chain(announced) {
            let same = |other: &Node| other.state.board() == state.board();
            let id = self
                .find_after(parent, same)
                .unwrap_or_else(|| self.adopt(parent, state, node, sensors, now));
            let own = self.node_mut(id);
            // Of a ply before the old root, only the state is kept. Such a ply was confirmed.
            own.standing = node.map_or(PlyStatus::Confirmed, |node| node.standing);
            own.completed = node.is_none_or(|node| node.completed);
            own.pressed = node.is_none_or(|node| node.pressed);
            if let Some(node) = node {
                own.ambiguous = node.ambiguous;
                own.inferred |= node.inferred;
                own.any_order = node.any_order;
                own.backed |= node.backed;
                own.stood = own.stood.max(node.stood);
                own.clear |= node.clear;
            }
            parent = id;
        }
    }

    /// Adds an announced ply that the observations do not support.
    fn adopt(
        &mut self,
        parent: NodeId,
        state: &State,
        node: Option<&Node>,
        sensors: &Sensors,
        now: Timestamp,
    ) -> NodeId {
        let before = &self.node(parent).state;
        let leads = |legal: &PossibleMove| before.after(legal.m).board() == state.board();
        let legal = || before.moves().iter().find(|legal| leads(legal));
        let played = match node {
            Some(node) => node.played,
            None => legal().map_or(Played::Irregular(None), |legal| Played::Move(legal.m)),
        };
        let id = self.add(parent, played, state.clone(), None, sensors, now);
        if let Some(node) = node {
            *self.node_mut(id) = Node {
                parent: Some(parent),
                ..node.clone()
            };
        }
        id
    }
}

#[cfg(test)]
impl Tracker {
    /// Also holds the kept costs and the ranking to a full computation.
    pub(super) fn check_line(&self) {
        if let Some(line) = &self.line {
            let tree = &line.tree;
            assert_eq!(line.passed.len(), tree.node(tree.root()).ply as usize);
            assert_eq!(tree.costs(), tree.with_costs(Vec::new()));
            assert_eq!(*tree.ranking(), tree.rank());
        }
    }

    /// For tests: the number of the root's ply, the moves of the best line, and the moves of the best line of a tree
    /// rebuilt from the root; `None` if the board has not shown the root's position within its recent changes.
    pub(super) fn best_lines(&self, now: Timestamp) -> Option<(u32, Vec<Played>, Vec<Played>)> {
        let line = self.line.as_ref()?;
        let played = |tree: &Tree| -> Vec<Played> {
            let path = tree.path(tree.best());
            path.into_iter().map(|id| tree.node(id).played).collect()
        };
        let root = line.tree.node(line.tree.root());
        let since = self.sensors.showed(root.state.board())?;
        let mut again = Tree::new(line.tree.model(), root.state.clone(), root.ply, since);
        again.read(&self.sensors, since, now);
        Some((root.ply, played(&line.tree), played(&again)))
    }
}
