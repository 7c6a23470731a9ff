//! The candidate lines of play: a small tree of positions, measured against what the sensors show.
//!
//! The root is an earlier position of the line. After every change of a square, every node is measured again. Then the
//! tree grows, starting with the cheapest lines, by plies
//!
//! - whose squares all show them now,
//! - that are hidden except for one square, because the reply captured the piece there or stands where it came from, or
//! - if the best line leaves anything unexplained: whose squares have shown them since the ply before. In a time
//!   scramble, a piece may be read only after the reply, because it was set down off-centre; one report then brings
//!   several plies.
//!
//! While no square is unexplained, a confirmed ply that was pressed or answered, on a board that showed it exactly,
//! closes its alternatives. That keeps the tree small and decides nothing: `reopen` finds them again. A leaf whose
//! squares no longer show its ply is dropped once it costs **hopeless** more than the best line. `MAX_READINGS` limits
//! the size.

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{Bitboard, Color, Square};

use super::credible::strain_of;
use super::made::{Timing, was_shown};
use super::node::{Node, NodeId, Played, PlyStatus};
use super::sensors::Sensors;
use super::way::{stood_elsewhere, stray};
use crate::events::Since;
use crate::model::{MAX_READINGS, Model, REMEMBERED_PLIES, TWO_MOVES};
use crate::position::{Footprint, PossibleMove, State};

/// The credible lines of play, from the last ply beyond doubt on. Parents come before their children.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    model: &'static Model,
    nodes: Vec<Node>,
    updated_at: Timestamp,
}

impl Tree {
    pub(crate) fn new(model: &'static Model, state: State, ply: u32, at: Timestamp) -> Self {
        Self {
            model,
            nodes: vec![Node::new(None, ply, Played::Root, state, at)],
            updated_at: at,
        }
    }

    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id]
    }

    pub(crate) fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id]
    }

    pub(super) fn model(&self) -> &'static Model {
        self.model
    }

    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(crate) const fn root(&self) -> NodeId {
        0
    }

    /// The last announced ply; the root if there is none.
    pub(crate) fn tip(&self) -> NodeId {
        let announced = |node: &Node| node.parent.is_none() || node.standing >= PlyStatus::Announced;
        (0..self.nodes.len())
            .rev()
            .find(|id| announced(&self.nodes[*id]))
            .unwrap_or(0)
    }

    /// The nodes after the root, up to and including `id`.
    pub(crate) fn path(&self, id: NodeId) -> Vec<NodeId> {
        let mut path: Vec<NodeId> = std::iter::successors(Some(id), |id| self.nodes[*id].parent)
            .filter(|id| *id != self.root())
            .collect();
        path.reverse();
        path
    }

    /// Adds the ply that brings a piece to a square which does not show it.
    pub(super) fn add_unread(
        &mut self,
        parent: NodeId,
        candidate: &PossibleMove,
        square: Square,
        sensors: &Sensors,
        now: Timestamp,
    ) {
        let played = Played::Move(candidate.m);
        if self.find_child(parent, played).is_some() {
            return;
        }
        let child = self.child(parent, candidate, sensors, now);
        let node = &mut self.nodes[child];
        node.unread.add(square);
        node.measure(sensors, now, self.model);
    }

    /// Whether a node is an irregular move that nothing but the placement speaks for.
    pub(super) fn is_suspicion(&self, id: NodeId) -> bool {
        let node = &self.nodes[id];
        node.is_irregular() && node.standing == PlyStatus::Candidate && !node.backed
    }

    /// An irregular move of `color` that nothing but the placement speaks for, where it explains the board better than
    /// anything else does.
    pub(crate) fn suspected(&self, color: Color) -> Option<NodeId> {
        let best = self.best();
        let otherwise = self.nodes[best].differs.count();
        let better = |id: NodeId| id == best || self.nodes[id].differs.count() < otherwise;
        let explains = |suspicion: NodeId| {
            // With another ply of this player, a press is for that one.
            let last = self.nodes[suspicion].ply + 1;
            (suspicion..self.nodes.len())
                .any(|id| self.nodes[id].ply <= last && better(id) && self.passes(id, suspicion))
        };
        (0..self.nodes.len())
            .find(|id| self.is_suspicion(*id) && self.nodes[*id].mover() == color && explains(*id))
    }

    /// The readings that contradict a ply, best first, each with the log-odds against it and for the most credible one: all
    /// that do not have it, but for what its own line begins with. Its parent is among them, as the reading that it has not
    /// been played yet.
    pub(crate) fn rivals(&self, id: NodeId) -> Vec<(NodeId, i64)> {
        let (line, node) = (self.path(id), &self.nodes[id]);
        let is_ply = |other: &NodeId| {
            let other = &self.nodes[*other];
            other.ply == node.ply && other.played == node.played
        };
        let begins = |other: NodeId| other == self.root() || line.contains(&other);
        let contradicts = |other: NodeId| {
            Some(other) == node.parent || !(begins(other) || self.path(other).iter().any(is_ply))
        };
        let against = self.odds_against();
        let mut rivals: Vec<NodeId> = (0..self.nodes.len()).filter(|id| contradicts(*id)).collect();
        rivals.sort_by_key(|rival| (against[*rival], *rival));
        rivals.into_iter().map(|rival| (rival, against[rival])).collect()
    }

    /// How many announced plies a reading would withdraw.
    pub(crate) fn withdrawn_by(&self, id: NodeId) -> usize {
        let (announced, path) = (self.path(self.tip()), self.path(id));
        announced.len() - announced.iter().zip(&path).take_while(|(a, b)| a == b).count()
    }

    /// Measures every reading again and adds those that the sensors now show.
    pub(crate) fn update(&mut self, sensors: &Sensors, now: Timestamp) {
        let undisturbed = now.saturating_duration_since(self.updated_at);
        self.updated_at = now;
        let followed = self.followed();
        for (node, followed) in self.nodes.iter_mut().zip(followed) {
            // A record of the board does not say for how long anything stood.
            let stood = undisturbed >= self.model.rest && !node.landed.recorded;
            node.stable |= node.shown && node.differs.is_empty() && stood;
            let shown = node.shown;
            node.measure(sensors, now, self.model);
            // Its piece may have stood elsewhere since it was first shown there. Where its square does not read it, nothing
            // tells when that was.
            let again = !shown && !node.was_captured(sensors);
            if node.shown && (again || (!followed && node.is_unread())) {
                node.stray = node.stray.max(stray(node, sensors, now, self.model));
            }
        }
        self.close();
        self.close_past();
        self.grow_all(sensors, now, false);
        let best = self.best();
        let hides = self.path(best).iter().any(|id| self.nodes[*id].hidden);
        let last = &self.nodes[best];
        if !last.differs.is_empty() || last.unread.any() || hides {
            self.grow_all(sensors, now, true);
        }
        self.prune();
    }

    /// Adds what the sensors show now, or have shown. The most credible readings go on first, and what is added to them: of
    /// several plies that appear at once there can be more orders than are worth keeping.
    fn grow_all(&mut self, sensors: &Sensors, now: Timestamp, from_history: bool) {
        let costs = self.costs();
        let limit = costs.of(self.best_by(&costs)) + self.model.hopeless();
        let mut known: Vec<NodeId> = (0..self.nodes.len()).collect();
        known.retain(|id| costs.of_plies(*id) < limit);
        known.sort_by_key(|id| costs.of(*id));
        let mut added = self.nodes.len();
        for id in known {
            self.grow_from(id, sensors, now, from_history);
            while added < self.nodes.len() {
                self.grow_from(added, sensors, now, from_history);
                added += 1;
            }
        }
    }

    fn grow_from(&mut self, id: NodeId, sensors: &Sensors, now: Timestamp, from_history: bool) {
        if self.size() >= 2 * MAX_READINGS {
            return;
        }
        self.grow(id, sensors, now, from_history);
        if from_history {
            self.grow_unread(id, sensors, now);
        }
    }

    /// Measures every reading again, and adds none.
    pub(crate) fn measure(&mut self, sensors: &Sensors, now: Timestamp) {
        self.updated_at = now;
        for node in &mut self.nodes {
            node.measure(sensors, now, self.model);
        }
    }

    /// A confirmed ply whose state was stable is no longer open: its rivals are dropped. Until it is pressed or answered, its
    /// player may still have the piece in the hand and go on with it, however long it has rested.
    fn close(&mut self) {
        let legal = |node: &Node| matches!(node.played, Played::Move(_));
        let certain = |node: &Node| node.standing == PlyStatus::Confirmed && node.stable && legal(node);
        let tip = self.tip();
        // While squares are unexplained, no ply is certain.
        if self.nodes[tip].differs.any() {
            return;
        }
        let left = |id: NodeId| id != tip || self.nodes[id].completed;
        for id in self.path(tip) {
            let Some(parent) = self.nodes[id].parent.filter(|parent| !self.nodes[*parent].closed) else {
                continue;
            };
            if certain(&self.nodes[id]) && left(id) {
                self.nodes[parent].closed = true;
                self.retain(|tree, node| tree.nodes[node].ply < tree.nodes[id].ply || tree.passes(node, id));
                // The ids have changed; the next ply is closed at the next update.
                return;
            }
        }
    }

    /// Several lines can be as credible for as long as a game lasts. What is followed by more plies than players have in mind
    /// is read in no other way any more.
    fn close_past(&mut self) {
        let mut later = vec![0; self.nodes.len()];
        for (id, node) in self.nodes.iter_mut().enumerate().rev() {
            if later[id] > REMEMBERED_PLIES {
                node.closed = true;
                node.possible_moves = Vec::new();
            }
            if let Some(parent) = node.parent {
                later[parent] = later[parent].max(later[id] + 1);
            }
        }
    }

    /// The ply after a node is in doubt again.
    fn open(&mut self, id: NodeId) {
        let node = &mut self.nodes[id];
        node.closed = false;
        if node.possible_moves.is_empty() {
            node.possible_moves = node.state.moves();
        }
    }

    /// Adds a child and returns its id.
    pub(crate) fn add(
        &mut self,
        parent: NodeId,
        played: Played,
        state: State,
        footprint: Option<Footprint>,
        sensors: &Sensors,
        now: Timestamp,
    ) -> NodeId {
        let mut node = Node::new(Some(parent), self.nodes[parent].ply + 1, played, state, now);
        node.footprint = footprint;
        node.unread = self.still_unread(parent, sensors);
        node.witnessed = self.nodes[parent].witnessed & node.unread;
        node.landed = Since::between(self.nodes[parent].landed.from, now);
        if let Some(footprint) = &footprint {
            let made = Timing::of(&self.nodes[parent], footprint, sensors, now);
            (node.lifted_at, node.landed) = (made.lifted_at, made.landed);
        }
        if node.unread.is_empty() {
            let died = self.died_under_piece(&node, sensors);
            node.unread.extend(died);
        }
        node.stray = stray(&node, sensors, now, self.model);
        if let Played::Move(m) = played {
            let mover = self.nodes[parent].state.turn();
            node.captured = m.capture().map(|role| role.of(!mover));
        }
        node.measure(sensors, now, self.model);
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// The squares of a node that show nothing, without those that have shown something since its ply stood.
    fn still_unread(&self, id: NodeId, sensors: &Sensors) -> Bitboard {
        let node = &self.nodes[id];
        let weak =
            |square: Square| node.witnessed.contains(square) && sensors.board().piece_at(square).is_none();
        let nothing = |square: &Square| sensors.changed_at(*square) <= node.since || weak(*square);
        node.unread.into_iter().filter(nothing).collect()
    }

    /// Makes `id` the root and drops all that does not descend from it. Returns the states passed on the way, the old
    /// root's first.
    pub(crate) fn advance(&mut self, id: NodeId) -> Vec<State> {
        let passed = std::iter::once(self.root())
            .chain(self.path(id))
            .filter(|passed| *passed != id)
            .map(|passed| self.nodes[passed].state.clone())
            .collect();
        self.retain(|tree, node| tree.passes(node, id));
        if let Some(root) = self.nodes.first_mut() {
            root.parent = None;
            root.played = Played::Root;
        }
        passed
    }

    /// Makes `id` the root of a line that begins with it.
    pub(super) fn begin_after(&mut self, id: NodeId) {
        self.advance(id);
        let before = self.nodes[self.root()].ply;
        for node in &mut self.nodes {
            node.ply -= before;
        }
    }

    /// Turns a node and all that was announced after it back into candidates.
    pub(crate) fn withdraw(&mut self, id: NodeId) {
        for other in self.path(self.tip()).into_iter().filter(|other| *other >= id) {
            let node = &mut self.nodes[other];
            node.standing = PlyStatus::Candidate;
            node.completed = false;
            node.pressed = false;
        }
    }

    /// Drops a node and all that follows from it. Those before it keep their ids.
    pub(crate) fn remove(&mut self, id: NodeId) {
        if let Some(parent) = self.nodes[id].parent {
            self.open(parent);
        }
        self.retain(|tree, node| !tree.passes(node, id));
    }

    /// Drops the nodes for which `keep` is false.
    fn retain(&mut self, keep: impl Fn(&Self, NodeId) -> bool) {
        let kept: Vec<bool> = (0..self.nodes.len()).map(|id| keep(self, id)).collect();
        let mut renumbered = vec![None; kept.len()];
        let mut next = 0;
        for (id, kept) in kept.iter().enumerate() {
            if *kept {
                renumbered[id] = Some(next);
                next += 1;
            }
        }
        let mut id = 0;
        self.nodes.retain_mut(|node| {
            node.parent = node.parent.and_then(|parent| renumbered[parent]);
            id += 1;
            kept[id - 1]
        });
    }

    /// Drops candidates that the board has moved away from, and the least credible ones of too many.
    fn prune(&mut self) {
        loop {
            let costs = self.costs();
            let limit = costs.of(self.best_by(&costs)) + self.model.hopeless();
            let mut leaves = self.leaves();
            let tip = self.tip();
            leaves
                .sort_by_cached_key(|id| (core::cmp::Reverse(costs.of(*id)), self.path(*id).contains(&tip)));
            // What the worst ones were reached by may be worse than the others.
            let too_many = self.size().saturating_sub(MAX_READINGS);
            let too_many = too_many.min(leaves.len().div_ceil(2));
            let is_dropped = |(nth, id): (usize, &NodeId)| {
                let node = &self.nodes[*id];
                let hopeless = (!node.shown || node.is_unread()) && costs.of(*id) >= limit;
                (hopeless || nth < too_many).then_some(*id)
            };
            let dropped: Vec<NodeId> = leaves.iter().enumerate().filter_map(is_dropped).collect();
            if dropped.is_empty() {
                return;
            }
            for id in &dropped {
                if let Some(parent) = self.nodes[*id].parent {
                    self.open(parent);
                }
            }
            self.retain(|_, id| !dropped.contains(&id));
        }
    }

    /// How many readings there are. Those that are closed take half the memory, and nothing is looked for from them.
    fn size(&self) -> usize {
        let closed = self.nodes.iter().filter(|node| node.closed).count();
        self.nodes.len() - closed / 2
    }

    /// Whether something follows each node.
    pub(super) fn followed(&self) -> Vec<bool> {
        let mut followed = vec![false; self.nodes.len()];
        for parent in self.nodes.iter().filter_map(|node| node.parent) {
            followed[parent] = true;
        }
        followed
    }

    /// The candidates that nothing follows.
    fn leaves(&self) -> Vec<NodeId> {
        let followed = self.followed();
        let is_leaf = |id: &NodeId| self.nodes[*id].standing == PlyStatus::Candidate && !followed[*id];
        (1..self.nodes.len()).filter(is_leaf).collect()
    }

    /// Adds the children of a node that the sensors now show, and the replies that hide such a child.
    fn grow(&mut self, id: NodeId, sensors: &Sensors, now: Timestamp, from_history: bool) {
        let node = &self.nodes[id];
        let differs = node.differs;
        // With more, the pieces are being set up or cleared away.
        if node.closed || differs.is_empty() || differs.count() > 2 * TWO_MOVES {
            return;
        }
        let board = sensors.board();
        let touched = sensors.touched_since(node.lifted_at);
        let own = node.parent.map(|parent| &self.nodes[parent]);
        let mut grown = Vec::new();
        for candidate in &node.possible_moves {
            let Some(from) = candidate.m.from() else { continue };
            let shown = candidate.footprint.fits(board)
                || (from_history && was_shown(node, &candidate.footprint, sensors));
            if shown {
                let made = Timing::of(node, &candidate.footprint, sensors, now);
                if strain_of(made, node, own, self.model) <= self.model.hopeless() {
                    grown.push((*candidate, None));
                }
            } else if (differs | touched).contains(from) {
                let reply = hidden_reply(node, candidate, sensors, now);
                grown.extend(reply.map(|reply| (*candidate, Some(reply))));
            }
        }
        for (candidate, reply) in grown {
            let known = self.nodes.len();
            let child = self.child(id, &candidate, sensors, now);
            if let Some(reply) = reply {
                if child >= known {
                    let hides = reply.footprint.squares() & candidate.footprint.squares();
                    let replied = hides.into_iter().map(|square| sensors.changed_at(square)).max();
                    self.hide(child, replied.unwrap_or(now));
                }
                self.child(child, &reply, sensors, now);
            }
        }
    }

    /// Takes a node to be hidden by its reply, which came to stand then: no scan can have come between the two. A piece
    /// that was lifted after the reply stood was lifted in the same scan.
    fn hide(&mut self, id: NodeId, replied: Timestamp) {
        let node = &mut self.nodes[id];
        let from = replied.saturating_sub(ONE_SCAN_APART);
        node.hidden = true;
        node.landed.from = node.landed.from.max(from);
        node.landed.at = node.landed.at.max(from);
        node.stray += usize::from(node.lifted_at > replied) * self.model.odd;
    }

    /// The first child of a node that is like this.
    pub(super) fn find_after(&self, parent: NodeId, is: impl Fn(&Node) -> bool) -> Option<NodeId> {
        let child = |id: &NodeId| self.nodes[*id].parent == Some(parent) && is(&self.nodes[*id]);
        (parent..self.nodes.len()).find(child)
    }

    /// The child that is reached by `played`, if there is one.
    pub(crate) fn find_child(&self, parent: NodeId, played: Played) -> Option<NodeId> {
        self.find_after(parent, |node| node.played == played)
    }

    /// The child that is reached by a possible move; it is added if need be.
    fn child(
        &mut self,
        parent: NodeId,
        candidate: &PossibleMove,
        sensors: &Sensors,
        now: Timestamp,
    ) -> NodeId {
        let played = Played::Move(candidate.m);
        if let Some(known) = self.find_child(parent, played) {
            return known;
        }
        let state = self.nodes[parent].state.after(candidate.m);
        self.add(parent, played, state, Some(candidate.footprint), sensors, now)
    }
}

/// The reply that hides the one square on which a move is not shown: it captured the piece before the square was
/// scanned, or stands where the piece came from.
fn hidden_reply(
    node: &Node,
    candidate: &PossibleMove,
    sensors: &Sensors,
    now: Timestamp,
) -> Option<PossibleMove> {
    let board = sensors.board();
    let unmet = candidate.footprint.unmet(board);
    let hidden = unmet.single_square()?;
    let replied_by = board.piece_at(hidden)?;
    let opponent = !node.state.turn();
    if replied_by.color != opponent {
        return None;
    }
    let lifted = Timing::of(node, &candidate.footprint, sensors, now).landed;
    if sensors.changed(hidden).precedes(lifted) || stood_elsewhere(candidate.m, hidden, node, sensors) {
        return None;
    }
    let after = node.state.after(candidate.m);
    after
        .moves()
        .into_iter()
        .find(|reply| reply.footprint.squares().contains(hidden) && reply.footprint.fits(board))
}
