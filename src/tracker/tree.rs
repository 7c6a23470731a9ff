//! The credible lines of play: a small tree of states, measured against what the sensors show.

use core::cmp::Reverse;
use core::time::Duration;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{Bitboard, Color, Move, Square, attacks};

use super::sensors::{Sensors, Since};
use super::state::{Candidate, Footprint, State};

/// Index of a node in its tree.
pub(crate) type NodeId = usize;

/// A state that a credible line of play reaches.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) parent: Option<NodeId>,
    /// Number of the ply that led here; 0 at the start of the line.
    pub(crate) ply: u32,
    pub(crate) played: Played,
    pub(crate) state: State,
    candidates: Vec<Candidate>,
    footprint: Option<Footprint>,
    /// When the mover's piece left its square.
    pub(crate) lifted_at: Timestamp,
    /// The squares of the move have shown it since then, or last did.
    pub(crate) since: Timestamp,
    /// The last square of the move came to show it.
    pub(crate) landed: Since,
    /// Whether the squares of the move show it now.
    pub(crate) met: bool,
    /// Where the sensors differ from this state.
    pub(crate) differs: Bitboard,
    pub(crate) standing: Standing,
    /// The longest time that its squares showed it without a break.
    pub(crate) stood: Duration,
    /// Its squares never showed it: the reply came before they were read.
    pub(crate) hidden: bool,
    /// The board has shown exactly this state at some time.
    pub(crate) exact: bool,
    /// The board has shown exactly this state, undisturbed, for longer than a piece rests on its way.
    seen: bool,
    /// Only one ply can have followed: other readings are not looked for any more.
    closed: bool,
    /// Whether the ply is completed in the sense of the Laws.
    pub(crate) completed: bool,
    /// Found over a gap, not watched.
    pub(crate) inferred: bool,
    /// Found with others that may have been played in another order.
    pub(crate) any_order: bool,
}

/// How a node was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Played {
    /// It is where the tree begins.
    Root,
    /// By a legal move.
    Move(Move),
    /// By irregular play: one piece from one square to another, where it was that.
    Irregular(Option<(Square, Square)>),
}

/// How far a node's ply has gone on its way out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    /// One reading among others.
    Considered,
    /// Told as made.
    Told,
    /// Told, and certain.
    Settled,
}

/// A bound on the readings kept at a time: shuffled pieces must not blow up the search.
const MOST_NODES: usize = 40;
/// A board that differs on more squares than this is being set up or cleared; no single move explains it.
const MOST_DIFFERENCES: usize = 14;

/// A state that stood for so long was no moment of a motion.
const SEEN: Duration = Duration::from_millis(800);

/// A piece drawn over a square is shown there for two scans at most.
const PASSES: Duration = ONE_SCAN_APART.saturating_mul(2);
/// Nobody moves, lets the other reply, and moves again in less.
const BETWEEN_OWN_MOVES: Duration = Duration::from_millis(250);

/// The lines of play that are credible, from the last ply beyond doubt on. Parents come before their children.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    updated_at: Timestamp,
}

impl Tree {
    pub(crate) fn new(state: State, ply: u32, at: Timestamp) -> Self {
        Self {
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

    pub(crate) const fn root(&self) -> NodeId {
        0
    }

    /// The last ply told; the root when none is.
    pub(crate) fn tip(&self) -> NodeId {
        let told = |node: &Node| node.parent.is_none() || node.standing >= Standing::Told;
        (0..self.nodes.len())
            .rev()
            .find(|id| told(&self.nodes[*id]))
            .unwrap_or(0)
    }

    /// The nodes from the root (left out) to `id`.
    pub(crate) fn path(&self, id: NodeId) -> Vec<NodeId> {
        let mut path: Vec<NodeId> = std::iter::successors(Some(id), |id| self.nodes[*id].parent)
            .filter(|id| *id != self.root())
            .collect();
        path.reverse();
        path
    }

    /// The candidates considered at a node, for telling what else a piece could do.
    pub(crate) fn candidates(&self, id: NodeId) -> &[Candidate] {
        &self.nodes[id].candidates
    }

    /// The reading that fits the sensors best. Of equal ones the one that withdraws the fewest plies wins, then the one
    /// whose next ply stood for longer than a piece takes to pass, then the shorter line.
    pub(crate) fn best(&self) -> NodeId {
        let told = self.path(self.tip());
        let rank = |id: &NodeId| {
            let path = self.path(*id);
            let common = told.iter().zip(&path).take_while(|(a, b)| a == b).count();
            let stood = path
                .get(common)
                .map_or(Duration::ZERO, |next| self.nodes[*next].stood);
            let withdrawn = told.len() - common;
            (
                self.nodes[*id].differs.count(),
                withdrawn,
                stood <= PASSES,
                path.len(),
                Reverse(stood),
            )
        };
        (0..self.nodes.len()).min_by_key(rank).unwrap_or_default()
    }

    /// Other readings than `id` and what follows from it, best first; of what came before it, that it was not played yet.
    pub(crate) fn rivals(&self, id: NodeId) -> Vec<NodeId> {
        let line = self.path(id);
        let parent = self.nodes[id].parent;
        let rival = |other: &NodeId| {
            Some(*other) == parent
                || !(*other == self.root() || line.contains(other) || self.path(*other).contains(&id))
        };
        let mut rivals: Vec<NodeId> = (0..self.nodes.len()).filter(rival).collect();
        rivals.sort_by_key(|rival| (self.nodes[*rival].differs.count(), *rival));
        rivals
    }

    /// How many told plies a reading would withdraw.
    pub(crate) fn withdrawn_by(&self, id: NodeId) -> usize {
        let (told, path) = (self.path(self.tip()), self.path(id));
        told.len() - told.iter().zip(&path).take_while(|(a, b)| a == b).count()
    }

    /// Measures every reading anew and adds those that the sensors now show.
    pub(crate) fn update(&mut self, sensors: &Sensors, now: Timestamp) {
        let undisturbed = now.saturating_duration_since(self.updated_at);
        self.updated_at = now;
        for node in &mut self.nodes {
            node.seen |= node.met && node.differs.is_empty() && undisturbed >= SEEN;
            node.measure(sensors, now);
        }
        self.close();
        let mut id = 0;
        // Several plies at one look can have been played in more orders than are worth holding.
        while id < self.nodes.len() && self.nodes.len() < 2 * MOST_NODES {
            self.grow(id, sensors, now);
            id += 1;
        }
        self.prune();
    }

    /// What was settled and seen is no longer open: its rivals are forgotten.
    fn close(&mut self) {
        let legal = |node: &Node| matches!(node.played, Played::Move(_));
        let certain = |node: &Node| node.standing == Standing::Settled && node.seen && legal(node);
        for id in self.path(self.tip()) {
            let Some(parent) = self.nodes[id].parent.filter(|parent| !self.nodes[*parent].closed) else {
                continue;
            };
            if certain(&self.nodes[id]) {
                self.nodes[parent].closed = true;
                self.keep(|tree, node| {
                    let path = tree.path(node);
                    path.len() < tree.path(id).len() || path.contains(&id)
                });
                // The numbers have changed; the next one is closed at the next change.
                return;
            }
        }
    }

    /// Adds a child that was found in another way than by watching its squares. Returns its number.
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
        node.lifted_at = lifted_at(&self.nodes[parent], footprint.as_ref(), sensors, now);
        let unseen = Since {
            from: self.nodes[parent].landed.from,
            at: now,
        };
        node.landed = footprint.map_or(unseen, |footprint| landed(&footprint, sensors));
        node.measure(sensors, now);
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Makes `id` the root. What does not descend from it is forgotten; the states passed on the way are returned,
    /// the old root's first.
    pub(crate) fn advance(&mut self, id: NodeId) -> Vec<State> {
        let passed = std::iter::once(self.root())
            .chain(self.path(id))
            .filter(|passed| *passed != id)
            .map(|passed| self.nodes[passed].state.clone())
            .collect();
        self.keep(|tree, node| node == id || tree.path(node).contains(&id));
        if let Some(root) = self.nodes.first_mut() {
            root.parent = None;
            root.played = Played::Root;
        }
        passed
    }

    /// A node and all that was told after it are mere readings again.
    pub(crate) fn withdraw(&mut self, id: NodeId) {
        for other in self.path(self.tip()).into_iter().filter(|other| *other >= id) {
            let node = &mut self.nodes[other];
            node.standing = Standing::Considered;
            node.completed = false;
        }
    }

    /// Forgets a node and all that follows from it. Returns what the number of `other`, which is kept, has become.
    pub(crate) fn remove(&mut self, id: NodeId, other: NodeId) -> NodeId {
        if let Some(parent) = self.nodes[id].parent {
            self.nodes[parent].closed = false;
        }
        let renumbered = self.keep(|tree, node| node != id && !tree.path(node).contains(&id));
        renumbered[other].unwrap_or_default()
    }

    /// Returns the new number of each node kept.
    fn keep(&mut self, keep: impl Fn(&Self, NodeId) -> bool) -> Vec<Option<NodeId>> {
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
        renumbered
    }

    /// Drops readings that the board has moved away from: leaves that nothing has been told of.
    fn prune(&mut self) {
        let best = self.nodes[self.best()].differs.count();
        loop {
            let worst = self.leaves().max_by_key(|id| self.nodes[*id].differs.count());
            let Some(worst) = worst else { break };
            let node = &self.nodes[worst];
            let hopeless = !node.met && node.differs.count() >= best + 2;
            if !hopeless && self.nodes.len() <= MOST_NODES {
                break;
            }
            self.remove(worst, self.root());
        }
    }

    fn leaves(&self) -> impl Iterator<Item = NodeId> + '_ {
        (1..self.nodes.len()).filter(|id| {
            self.nodes[*id].standing == Standing::Considered
                && !self.nodes.iter().skip(*id).any(|node| node.parent == Some(*id))
        })
    }

    fn grow(&mut self, id: NodeId, sensors: &Sensors, now: Timestamp) {
        let node = &self.nodes[id];
        let differs = node.differs;
        if node.closed || differs.is_empty() || differs.count() > MOST_DIFFERENCES {
            return;
        }
        let board = sensors.board();
        let touched = sensors.touched_since(node.lifted_at);
        let own_last = node.parent.map(|parent| self.nodes[parent].landed);
        let mut grown = Vec::new();
        for candidate in &node.candidates {
            let Some(from) = candidate.m.from() else { continue };
            if candidate.footprint.fits(board) {
                let landed = landed(&candidate.footprint, sensors);
                if in_order(node.landed, landed) && in_turn(own_last, landed) {
                    grown.push((*candidate, None));
                }
            } else if (differs | touched).contains(from) {
                let reply = hidden_reply(node, candidate, sensors);
                grown.extend(reply.map(|reply| (*candidate, Some(reply))));
            }
        }
        for (candidate, reply) in grown {
            let child = self.child(id, &candidate, sensors, now);
            if let Some(reply) = reply {
                self.nodes[child].hidden = true;
                self.child(child, &reply, sensors, now);
            }
        }
    }

    /// A reading of what followed a node that nothing has been told of.
    pub(crate) fn considered_after(&self, parent: NodeId) -> Option<NodeId> {
        (parent..self.nodes.len()).find(|id| {
            let node = &self.nodes[*id];
            node.parent == Some(parent) && node.standing == Standing::Considered
        })
    }

    /// The child that was reached like this, if it is a reading already.
    pub(crate) fn known(&self, parent: NodeId, played: Played) -> Option<NodeId> {
        (parent..self.nodes.len())
            .find(|id| self.nodes[*id].parent == Some(parent) && self.nodes[*id].played == played)
    }

    fn child(&mut self, parent: NodeId, candidate: &Candidate, sensors: &Sensors, now: Timestamp) -> NodeId {
        let played = Played::Move(candidate.m);
        if let Some(known) = self.known(parent, played) {
            return known;
        }
        let state = self.nodes[parent].state.after(candidate.m);
        self.add(parent, played, state, Some(candidate.footprint), sensors, now)
    }
}

impl Node {
    fn new(parent: Option<NodeId>, ply: u32, played: Played, state: State, at: Timestamp) -> Self {
        Self {
            parent,
            ply,
            played,
            candidates: state.moves(),
            state,
            footprint: None,
            lifted_at: at,
            since: at,
            landed: Since::at(at),
            met: false,
            differs: Bitboard::EMPTY,
            standing: Standing::Considered,
            stood: Duration::ZERO,
            hidden: false,
            exact: false,
            seen: false,
            closed: false,
            completed: false,
            inferred: false,
            any_order: false,
        }
    }

    /// Who made the ply that led here.
    pub(crate) fn mover(&self) -> Color {
        !self.state.turn()
    }

    fn measure(&mut self, sensors: &Sensors, now: Timestamp) {
        self.differs = sensors.differing(self.state.board());
        let met = self
            .footprint
            .is_none_or(|footprint| footprint.fits(sensors.board()));
        if self.met {
            self.stood = self.stood.max(now.saturating_duration_since(self.since));
        } else if met {
            self.since = now;
        }
        self.hidden &= !met;
        self.exact |= met && self.differs.is_empty();
        self.met = met;
    }
}

/// When the pieces that a move takes from their squares last left them.
fn lifted_at(parent: &Node, footprint: Option<&Footprint>, sensors: &Sensors, now: Timestamp) -> Timestamp {
    let mover = parent.state.turn();
    footprint
        .into_iter()
        .flat_map(Footprint::iter)
        .filter(|(square, after)| after.is_none() && parent.state.board().color_at(*square) == Some(mover))
        .map(|(square, _)| sensors.changed_at(square))
        .min()
        .unwrap_or(now)
}

/// When the last square of a move came to show what it does.
fn landed(footprint: &Footprint, sensors: &Sensors) -> Since {
    let met = footprint
        .iter()
        .filter(|(square, piece)| sensors.board().piece_at(*square) == *piece);
    met.map(|(square, _)| sensors.changed(square))
        .reduce(Since::and)
        .unwrap_or(Since::at(Timestamp::from_micros(0)))
}

/// Whether a move that landed at `then` can have followed one that landed at `before`: squares are read one after
/// another, so two moves within one scan may be reported either way round.
fn in_order(before: Since, then: Since) -> bool {
    then.at + ONE_SCAN_APART >= before.from
}

/// Whether a player whose last move landed at `own_last` can have had his next one land at `then`, with a reply in
/// between: it takes a hand longer than a drawn piece takes to the next square.
fn in_turn(own_last: Option<Since>, then: Since) -> bool {
    own_last.is_none_or(|own_last| then.at >= own_last.from + BETWEEN_OWN_MOVES)
}

/// Whether the piece that is to have been captured on `hidden` before it was read there was seen to stand somewhere
/// else after it was lifted: then that is where it went. So it is if another piece of the mover's was seen there.
fn stood_elsewhere(m: Move, hidden: Square, node: &Node, sensors: &Sensors) -> bool {
    let Some(from) = m.from() else { return false };
    let piece = m.promotion().unwrap_or_else(|| m.role()).of(node.state.turn());
    let on_its_way = attacks::between(from, hidden).with(from).with(hidden);
    let lifted = sensors.changed_at(from);
    let captured = sensors.changed_at(hidden);
    let since_lift = || {
        sensors
            .recent()
            .skip_while(|change| change.at + ONE_SCAN_APART < lifted)
    };
    since_lift()
        .filter(|shown| shown.after.is_some_and(|after| after.color == piece.color))
        .any(|shown| {
            if shown.after != Some(piece) {
                return shown.square == hidden;
            }
            let left = since_lift().find(|change| change.square == shown.square && change.at > shown.at);
            let until = left.map_or(captured, |change| change.at);
            !on_its_way.contains(shown.square) || until > shown.at + PASSES
        })
}

/// The reply that hides what is still missing of a move: it captured the piece before its square was read, or
/// stands where the piece came from.
fn hidden_reply(node: &Node, candidate: &Candidate, sensors: &Sensors) -> Option<Candidate> {
    let board = sensors.board();
    let unmet = candidate.footprint.unmet(board);
    let hidden = unmet.single_square()?;
    let replied_by = board.piece_at(hidden)?;
    let opponent = !node.state.turn();
    if replied_by.color != opponent {
        return None;
    }
    // Something of the opponent's must have left its square for it.
    let left = node
        .state
        .board()
        .by_color(opponent)
        .without(board.by_color(opponent));
    if left.without(hidden).is_empty() {
        return None;
    }
    let lifted = landed(&candidate.footprint, sensors);
    if !in_order(lifted, sensors.changed(hidden)) || stood_elsewhere(candidate.m, hidden, node, sensors) {
        return None;
    }
    let after = node.state.after(candidate.m);
    after.moves().into_iter().find(|reply| {
        reply.footprint.squares().contains(hidden)
            && reply.footprint.fits(board)
            && in_order(node.landed, lifted)
            && in_turn(Some(lifted), landed(&reply.footprint, sensors))
            && in_turn(Some(node.landed), landed(&reply.footprint, sensors))
    })
}
