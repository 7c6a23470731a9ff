//! The candidate lines of play: a small tree of positions, each compared with the sensors.
//!
//! The root is an earlier position of the line. After every change of a square, every node is compared with the sensors
//! again. Then the tree grows, starting with the cheapest lines. It adds a ply if
//!
//! - all squares of the ply show it now,
//! - all of them but one show it, and the reply captured the piece on that square or stands on the square that the
//!   piece left, or
//! - all of them have shown it at some time since the ply before, and the best line leaves squares unexplained or has
//!   unread pieces or hidden plies. In a time scramble, a piece that was set down off-centre may be read only after the
//!   reply, so that one report completes several plies.
//!
//! While no square is unexplained, the alternatives to a confirmed ply are dropped if the ply was pressed or answered
//! and the board showed exactly its position. This only keeps the tree small: `reopen` can bring the alternatives back.
//! A leaf whose squares no longer show its ply is dropped if it costs **hopeless** more than the best line.
//! `MAX_READINGS` limits the size of the tree.

use core::cell::OnceCell;
use core::ops::{Deref, DerefMut};

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{Bitboard, Color, Square};

use super::credible::{Costs, Ranking, strain_of};
use super::made::{Timing, was_shown};
use super::node::{Node, NodeId, Played, PlyStatus};
use super::sensors::Sensors;
use super::way::{stood_elsewhere, stray};
use crate::events::Since;
use crate::model::{Cost, MAX_READINGS, Model, REMEMBERED_PLIES, TWO_MOVES};
use crate::position::{Footprint, PossibleMove, State};

/// The credible lines of play, from a confirmed ply on. Parents come before their children.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    model: &'static Model,
    nodes: Nodes,
    updated_at: Timestamp,
}

/// The nodes of a tree with their costs and their ranking, which are computed when they are first needed after a change.
#[derive(Debug, Clone)]
struct Nodes {
    list: Vec<Node>,
    costs: OnceCell<Vec<Costs>>,
    ranking: OnceCell<Ranking>,
}

impl Deref for Nodes {
    type Target = Vec<Node>;

    fn deref(&self) -> &Vec<Node> {
        &self.list
    }
}

impl DerefMut for Nodes {
    fn deref_mut(&mut self) -> &mut Vec<Node> {
        self.costs.take();
        self.ranking.take();
        &mut self.list
    }
}

impl Tree {
    pub(crate) fn new(model: &'static Model, state: State, ply: u32, at: Timestamp) -> Self {
        Self {
            model,
            nodes: Nodes {
                list: vec![Node::new(None, ply, Played::Root, state, at)],
                costs: OnceCell::new(),
                ranking: OnceCell::new(),
            },
            updated_at: at,
        }
    }

    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id]
    }

    pub(crate) fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id]
    }

    /// A node, to record what was announced or pressed. The evidence for its ply must stay as it is: the costs are not
    /// computed again.
    pub(super) fn mark(&mut self, id: NodeId) -> &mut Node {
        self.nodes.ranking.take();
        &mut self.nodes.list[id]
    }

    pub(super) fn model(&self) -> &'static Model {
        self.model
    }

    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Marks an announced ply as confirmed, which has no effect on the ranking. Returns the number of the ply.
    pub(super) fn confirm(&mut self, id: NodeId) -> u32 {
        let node = &mut self.nodes.list[id];
        node.standing = PlyStatus::Confirmed;
        node.ply
    }

    pub(super) fn costs(&self) -> &[Costs] {
        self.nodes.costs.get_or_init(|| self.with_costs(Vec::new()))
    }

    pub(super) fn ranking(&self) -> &Ranking {
        self.nodes.ranking.get_or_init(|| self.rank())
    }

    pub(crate) const fn root(&self) -> NodeId {
        0
    }

    pub(crate) fn tip(&self) -> NodeId {
        let announced = |node: &Node| node.parent.is_none() || node.standing >= PlyStatus::Announced;
        (0..self.nodes.len())
            .rev()
            .find(|id| announced(&self.nodes[*id]))
            .unwrap_or(0)
    }

    pub(crate) fn path(&self, id: NodeId) -> Vec<NodeId> {
        let mut path: Vec<NodeId> = std::iter::successors(Some(id), |id| self.nodes[*id].parent)
            .filter(|id| *id != self.root())
            .collect();
        path.reverse();
        path
    }

    /// Adds a ply that puts a piece on `square`, which does not read it.
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

    /// Whether a node is an irregular move supported by the placement alone.
    pub(super) fn is_suspicion(&self, id: NodeId) -> bool {
        let node = &self.nodes[id];
        node.is_irregular() && node.standing == PlyStatus::Candidate && !node.backed
    }

    /// Returns a suspected irregular move of `color` whose line is the best, or leaves fewer squares unexplained than
    /// the best.
    pub(crate) fn suspected(&self, color: Color) -> Option<NodeId> {
        let best = self.best();
        let otherwise = self.nodes[best].differs.count();
        let better = |id: NodeId| id == best || self.nodes[id].differs.count() < otherwise;
        let explains = |suspicion: NodeId| {
            // If this player has made another ply after the suspicion, a press belongs to that ply.
            let last = self.nodes[suspicion].ply + 1;
            (suspicion..self.nodes.len())
                .any(|id| self.nodes[id].ply <= last && better(id) && self.passes(id, suspicion))
        };
        (0..self.nodes.len())
            .find(|id| self.is_suspicion(*id) && self.nodes[*id].mover() == color && explains(*id))
    }

    /// The nodes that contradict a ply, most credible first, each with the log-odds against it relative to the best
    /// line. These are all nodes whose line does not contain the ply, except for the earlier nodes of the ply's own
    /// line. Its parent is included and stands for "not played yet".
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

    pub(crate) fn withdrawn_by(&self, id: NodeId) -> usize {
        let (announced, path) = (self.path(self.tip()), self.path(id));
        announced.len() - announced.iter().zip(&path).take_while(|(a, b)| a == b).count()
    }

    /// Compares the nodes with the squares after a change, and adds the plies that the squares show.
    pub(crate) fn update(&mut self, sensors: &Sensors, now: Timestamp) {
        self.compare(sensors, now);
        self.grow_all(sensors, now, false);
        self.search_further(sensors, now);
    }

    /// Like `update`, after a press. No square has changed, so a line that explains the board stays the best.
    pub(super) fn press(&mut self, sensors: &Sensors, now: Timestamp) {
        self.compare(sensors, now);
        if self.is_open() {
            self.grow_all(sensors, now, false);
        }
        self.search_further(sensors, now);
    }

    fn compare(&mut self, sensors: &Sensors, now: Timestamp) {
        let before = core::mem::replace(&mut self.updated_at, now);
        let undisturbed = now.saturating_duration_since(before);
        let followed = self.followed();
        let outlived = |node| self.outlived(node, sensors, before, now);
        let outlived: Vec<Cost> = self.nodes.iter().map(outlived).collect();
        for ((node, followed), outlived) in self.nodes.iter_mut().zip(followed).zip(outlived) {
            node.outlived += outlived;
            // The board's record does not have times, so nothing is known to have rested.
            let stood = undisturbed >= self.model.rest && !node.landed.recorded;
            node.stable |= node.shown && node.differs.is_empty() && stood;
            let shown = node.shown;
            node.measure(sensors, now, self.model);
            // If a ply's squares show it again, its piece may have stood elsewhere in between. If its destination does
            // not read it, the time of its arrival is unknown until a ply follows.
            let again = !shown && !node.was_captured(sensors);
            if node.shown && (again || (!followed && node.is_unread())) {
                node.stray = node.stray.max(stray(node, sensors, now, self.model));
            }
        }
        self.close();
        self.close_past();
    }

    /// Adds the plies that the squares have shown before if the best line is open, and drops hopeless lines.
    fn search_further(&mut self, sensors: &Sensors, now: Timestamp) {
        if self.is_open() {
            self.grow_all(sensors, now, true);
        }
        self.prune();
    }

    /// Whether the best line leaves squares unexplained, or has unread pieces or hidden plies.
    fn is_open(&self) -> bool {
        let best = self.best();
        let last = &self.nodes[best];
        last.differs.any() || last.unread.any() || self.path(best).iter().any(|id| self.nodes[*id].hidden)
    }

    /// Adds plies to the most credible lines first, because several plies that appear at once can have more orders than
    /// are worth keeping. `from_history` includes plies that the sensors have shown before.
    fn grow_all(&mut self, sensors: &Sensors, now: Timestamp, from_history: bool) {
        let costs = self.costs();
        let limit = costs[self.best()].whole + self.model.hopeless();
        let mut known: Vec<NodeId> = (0..costs.len()).collect();
        known.retain(|id| costs[*id].plies < limit);
        known.sort_by_key(|id| costs[*id].whole);
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

    pub(crate) fn measure(&mut self, sensors: &Sensors, now: Timestamp) {
        self.updated_at = now;
        for node in self.nodes.iter_mut() {
            node.measure(sensors, now, self.model);
        }
    }

    /// Drops the alternatives of a confirmed ply whose state was stable. The last ply stays open until it is pressed or
    /// answered, because its player may still hold the piece and move on, however long it has rested.
    fn close(&mut self) {
        let legal = |node: &Node| matches!(node.played, Played::Move(_));
        let certain = |node: &Node| node.standing == PlyStatus::Confirmed && node.stable && legal(node);
        let tip = self.tip();
        if self.nodes[tip].differs.any() {
            return;
        }
        let left = |id: NodeId| id != tip || self.nodes[id].completed;
        for id in self.path(tip) {
            let Some(parent) = self.nodes[id].parent.filter(|parent| !self.nodes[*parent].closed) else {
                continue;
            };
            if certain(&self.nodes[id]) && left(id) {
                self.nodes.list[parent].closed = true;
                self.retain(|tree, node| tree.nodes[node].ply < tree.nodes[id].ply || tree.passes(node, id));
                // Node ids have changed; the next update closes the next ply.
                return;
            }
        }
    }

    /// Closes nodes followed by more than [`REMEMBERED_PLIES`] plies, because lines can stay equally credible for a
    /// whole game. The last announced ply stays open: the plies after it may be accidental, such as pieces that went
    /// back and forth within a scan.
    fn close_past(&mut self) {
        let mut later = vec![0; self.nodes.len()];
        let tip = self.tip();
        for (id, node) in self.nodes.list.iter_mut().enumerate().rev() {
            if later[id] > REMEMBERED_PLIES && id != tip {
                node.closed = true;
            }
            if let Some(parent) = node.parent {
                later[parent] = later[parent].max(later[id] + 1);
            }
        }
    }

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
        let before = &self.nodes[parent];
        node.outlived_before =
            before.outlived_before + self.outlived(before, sensors, before.landed.at, node.landed.at);
        node.stray = stray(&node, sensors, now, self.model);
        node.idle_presses = self.presses_without_ply(&node, sensors) * self.model.odd;
        if let Played::Move(m) = played {
            let mover = self.nodes[parent].state.turn();
            node.captured = m.capture().map(|role| role.of(!mover));
        }
        node.measure(sensors, now, self.model);
        node.outlived = self.outlived(&node, sensors, node.landed.at, now);
        // A last ply whose piece is not read costs more: its costs change with its first reply.
        let kept = !self.nodes[parent].is_unread();
        let costs = self.nodes.costs.take().filter(|_| kept);
        self.nodes.push(node);
        if let Some(costs) = costs {
            self.nodes.costs = OnceCell::from(self.with_costs(costs));
        }
        self.nodes.len() - 1
    }

    /// Number of presses by a ply's player between the own last ply and this one that belong to no ply: the first one
    /// completed the last ply.
    fn presses_without_ply(&self, node: &Node, sensors: &Sensors) -> usize {
        let before = node.parent.map(|id| &self.nodes[id]);
        let Some(own) = before.and_then(|before| before.parent) else {
            return 0;
        };
        let (from, to) = (self.nodes[own].lifted_at, node.lifted_at);
        let presses = sensors.presses_of(node.mover());
        let between = presses.filter(|at| *at > from && *at < to).count();
        between.saturating_sub(1)
    }

    /// The unread squares of a node, without the squares that have shown something since its ply stood. Squares that
    /// read their piece only for a moment stay unread.
    fn still_unread(&self, id: NodeId, sensors: &Sensors) -> Bitboard {
        let node = &self.nodes[id];
        let weak =
            |square: Square| node.witnessed.contains(square) && sensors.board().piece_at(square).is_none();
        let nothing = |square: &Square| sensors.changed_at(*square) <= node.since || weak(*square);
        node.unread.into_iter().filter(nothing).collect()
    }

    /// Makes `id` the root and drops every node that does not descend from it. Returns the states before it, from the
    /// old root's on.
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

    /// Makes `id` the root of a line that begins at ply 0.
    pub(super) fn begin_after(&mut self, id: NodeId) {
        self.advance(id);
        let before = self.nodes[self.root()].ply;
        for node in self.nodes.iter_mut() {
            node.ply -= before;
        }
    }

    pub(crate) fn withdraw(&mut self, id: NodeId) {
        for other in self.path(self.tip()).into_iter().filter(|other| *other >= id) {
            let node = self.mark(other);
            node.standing = PlyStatus::Candidate;
            node.completed = false;
            node.pressed = false;
        }
    }

    /// Removes a node and its descendants, and opens its parent again. Nodes before `id` keep their ids.
    pub(crate) fn remove(&mut self, id: NodeId) {
        if let Some(parent) = self.nodes[id].parent {
            self.nodes.list[parent].closed = false;
        }
        self.retain(|tree, node| !tree.passes(node, id));
    }

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
        let costs = self.nodes.costs.take();
        let mut is_kept = kept.iter();
        self.nodes.retain_mut(|node| {
            node.parent = node.parent.and_then(|parent| renumbered[parent]);
            is_kept.next().is_some_and(|kept| *kept)
        });
        // A ply whose piece is not read may have lost its last reply.
        if let Some(mut costs) = costs.filter(|_| !self.nodes.iter().any(Node::is_unread)) {
            let mut is_kept = kept.iter();
            costs.retain(|_| is_kept.next().is_some_and(|kept| *kept));
            self.nodes.costs = OnceCell::from(costs);
        }
    }

    fn prune(&mut self) {
        loop {
            let costs = self.costs();
            let limit = costs[self.best()].whole + self.model.hopeless();
            let mut leaves = self.leaves();
            let too_many = self.size().saturating_sub(MAX_READINGS);
            if too_many > 0 {
                let tip = self.tip();
                leaves.sort_by_cached_key(|id| (core::cmp::Reverse(costs[*id].whole), self.passes(*id, tip)));
            }
            // The parents of the worst leaves may be worse than the other leaves, so at most half of them go at once.
            let too_many = too_many.min(leaves.len().div_ceil(2));
            let is_dropped = |(nth, id): (usize, &NodeId)| {
                let node = &self.nodes[*id];
                let hopeless = (!node.shown || node.is_unread()) && costs[*id].whole >= limit;
                (hopeless || nth < too_many).then_some(*id)
            };
            let dropped: Vec<NodeId> = leaves.iter().enumerate().filter_map(is_dropped).collect();
            if dropped.is_empty() {
                return;
            }
            for id in &dropped {
                if let Some(parent) = self.nodes[*id].parent {
                    self.nodes.list[parent].closed = false;
                }
            }
            self.retain(|_, id| !dropped.contains(&id));
        }
    }

    /// Size of the tree in nodes. A closed node counts half: it takes half the memory and is not extended.
    fn size(&self) -> usize {
        let closed = self.nodes.iter().filter(|node| node.closed).count();
        self.nodes.len() - closed / 2
    }

    pub(super) fn followed(&self) -> Vec<bool> {
        let mut followed = vec![false; self.nodes.len()];
        for parent in self.nodes.iter().filter_map(|node| node.parent) {
            followed[parent] = true;
        }
        followed
    }

    fn leaves(&self) -> Vec<NodeId> {
        let followed = self.followed();
        let is_leaf = |id: &NodeId| self.nodes[*id].standing == PlyStatus::Candidate && !followed[*id];
        (1..self.nodes.len()).filter(is_leaf).collect()
    }

    /// Adds the children of a node that the sensors show, and the children that a reply hides, with that reply.
    fn grow(&mut self, id: NodeId, sensors: &Sensors, now: Timestamp, from_history: bool) {
        let node = &self.nodes[id];
        let differs = node.differs;
        // If more squares differ, the pieces are being set up or cleared away.
        if node.closed || differs.is_empty() || differs.count() > 2 * TWO_MOVES {
            return;
        }
        let board = sensors.board();
        let touched = sensors.touched_since(node.lifted_at);
        let own = node.parent.map(|parent| &self.nodes[parent]);
        let replied = board.by_color(!node.state.turn());
        // The squares that show something else than this position, or have shown it since its ply.
        let since = node.lifted_at.saturating_sub(ONE_SCAN_APART);
        let changed = differs | sensors.differing(node.state.board()) | sensors.touched_since(since);
        // Every ply changes the square of one of its player's pieces.
        if changed.is_disjoint(node.state.board().by_color(node.state.turn())) {
            return;
        }
        let mut grown = Vec::new();
        for candidate in node.state.moves() {
            let footprint = &candidate.footprint;
            if changed.is_disjoint(footprint.squares()) {
                continue;
            }
            let Some(from) = candidate.m.from() else { continue };
            let shown = changed.is_superset(footprint.squares())
                && (footprint.fits(board) || (from_history && was_shown(node, footprint, sensors)));
            if shown {
                if self.find_child(id, Played::Move(candidate.m)).is_some() {
                    continue;
                }
                let made = Timing::of(node, footprint, sensors, now);
                if strain_of(made, node, own, self.model) <= self.model.hopeless() {
                    grown.push((*candidate, None));
                }
            } else if (differs | touched).contains(from) && !replied.is_disjoint(footprint.squares()) {
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

    /// Marks a node as hidden by its reply, which landed at `replied`. No scan came between the two plies, so the node
    /// landed at most a scan earlier. Charges **odd** if its piece was reported as lifted after the reply landed, which
    /// is possible only within one scan.
    fn hide(&mut self, id: NodeId, replied: Timestamp) {
        let node = &mut self.nodes[id];
        let from = replied.saturating_sub(ONE_SCAN_APART);
        node.hidden = true;
        node.landed.from = node.landed.from.max(from);
        node.landed.at = node.landed.at.max(from);
        node.stray += usize::from(node.lifted_at > replied) * self.model.odd;
    }

    pub(super) fn find_after(&self, parent: NodeId, matches: impl Fn(&Node) -> bool) -> Option<NodeId> {
        let child = |id: &NodeId| self.nodes[*id].parent == Some(parent) && matches(&self.nodes[*id]);
        (parent..self.nodes.len()).find(child)
    }

    pub(crate) fn find_child(&self, parent: NodeId, played: Played) -> Option<NodeId> {
        self.find_after(parent, |node| node.played == played)
    }

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

/// The reply that hides one square of a move from the scan, by a capture there or by standing on the move's
/// origin.
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
    let replies =
        |reply: &&PossibleMove| reply.footprint.squares().contains(hidden) && reply.footprint.fits(board);
    after.moves().iter().find(replies).copied()
}
