//! Joins play in the middle, from a placement for which no line of play is known.
//!
//! The next moves show whose turn it was. From each placement that has rested for **doubt**, and from the first one
//! seen, two trees grow, one for each side to move. Play is joined at the first placement from which a tree leads to
//! the board, if both alternatives cost at least **unlikely** more:
//!
//! - The other side's tree. Its cost, like that of the first tree, includes **unlikely** for each piece that stood on a
//!   square without belonging to the tree's line.
//! - No play at all. This costs as much as the changed squares, minus squares with another possible cause: four that
//!   hands may have changed, if the placement did not rest or another line is followed, and one whose report may have
//!   been lost, if no dump has come since.
//!
//! Play is also joined while a line is followed, if that line leaves more squares unexplained than two moves can and
//! either has no plies or the clock runs. Somebody has then set up another position.
//!
//! A pawn that went towards its own side shows that the board was read the wrong way round.
//!
//! In a gap, trees grow from the first dump on. If one is proved, `examine` searches for lines over the gap to the position
//! from which it grew, whose turn is now known; if there is none, play is joined there.
//!
//! Moves between the loss of a line and the joining are unknown, and are reported as an undecidable gap. A gap that no
//! line leads over is given up **patience** after the last dump at the latest.

use kiebitz_hardware::Timestamp;
use shakmaty::{Board, Color};

use super::Tracker;
use super::node::{NodeId, Played};
use super::sensors::Sensors;
use super::tree::Tree;
use crate::events::SensorChange;
use crate::model::{A_FEW, Cost, IN_HANDS, PASSING, PLIES_OF_PROOF, TWO_MOVES};
use crate::position::{State, Variant, start};

/// A placement from which play may go on.
#[derive(Debug)]
pub(super) struct Joining {
    /// The candidate lines, one tree for each side to move.
    trees: Vec<Tree>,
    since: Timestamp,
    /// Whether resting times are known, and not only the order of changes.
    timed: bool,
    /// Whether nothing moved for a while before or after `since`, so that no piece was in a hand.
    rested: bool,
}

/// The better tree of a placement, which leads to the board.
struct Explanation {
    at: usize,
    /// Cost of the other tree minus the cost of this one.
    apart: Cost,
    /// Number of pieces that have stood on the board without belonging to the line.
    unaccounted: usize,
}

impl Joining {
    /// Returns the better of the two trees, if it leads to the board.
    fn explains(&self, sensors: &Sensors) -> Option<Explanation> {
        let cost = |(at, tree): (usize, &Tree)| {
            let unaccounted = self.unaccounted(tree, sensors);
            let cost = tree.costs()[tree.best()].whole + unaccounted * tree.model().unlikely;
            (cost, at, unaccounted)
        };
        let mut costs: Vec<_> = self.trees.iter().enumerate().map(cost).collect();
        costs.sort_unstable();
        let (least, at, unaccounted) = *costs.first()?;
        let best = self.trees[at].node(self.trees[at].best());
        let leads = best.shown && best.differs.is_empty() && best.unread.is_empty();
        let apart = costs.get(1).map_or(Cost::MAX, |(other, ..)| other - least);
        leads.then_some(Explanation {
            at,
            apart,
            unaccounted,
        })
    }

    /// Returns the line that leads to the board, if the alternatives cost enough more. `doubts` is the cost of changed
    /// squares that may have another cause.
    fn proved(&self, sensors: &Sensors, doubts: Cost) -> Option<Tree> {
        let Explanation {
            at,
            apart,
            unaccounted,
        } = self.explains(sensors)?;
        let tree = &self.trees[at];
        let (costs, best) = (tree.costs(), tree.best());
        // If the placement did not rest and a piece does not belong to the line, a piece may have been in a hand. The
        // line then begins at the first position that the board showed exactly.
        let first = if self.rested || unaccounted == 0 {
            tree.root()
        } else {
            tree.path(best).into_iter().find(|id| tree.node(*id).exact)?
        };
        let by_accident = costs[first].whole.saturating_sub(costs[best].whole + doubts);
        if apart.min(by_accident) < tree.model().unlikely {
            return None;
        }
        let mut tree = tree.clone();
        if first != tree.root() {
            tree.begin_after(first);
        }
        Some(tree)
    }

    fn follow(&mut self, sensors: &Sensors, now: Timestamp) {
        for tree in &mut self.trees {
            tree.update(sensors, now);
        }
    }

    fn board(&self) -> &Board {
        let tree = &self.trees[0];
        tree.node(tree.root()).state.board()
    }

    /// Returns the number of pieces that stood on a square for longer than [`PASSING`] without belonging to the line.
    fn unaccounted(&self, tree: &Tree, sensors: &Sensors) -> usize {
        if !self.timed || sensors.has_forgotten_since(self.since) {
            return 1;
        }
        let line = tree.path(tree.best());
        let is_strange = |change: &&SensorChange| {
            let stood = |next: &SensorChange| next.when.at > change.when.at + PASSING;
            let has = |id: &NodeId| tree.node(*id).state.board().piece_at(change.square) == change.after;
            let belongs = has(&tree.root()) || line.iter().any(has);
            change.after.is_some() && !belongs && sensors.next_change(change).is_some_and(stood)
        };
        let strange = sensors.changes_since(self.since).filter(is_strange).count();
        strange + usize::from(!self.rested && begins_on_its_way(tree, &line, sensors))
    }
}

/// Whether the piece that moves first may still have been on its way, because it had arrived at most **doubt** before.
fn begins_on_its_way(tree: &Tree, line: &[NodeId], sensors: &Sensors) -> bool {
    let Some(first) = line.first().map(|id| tree.node(*id)) else {
        return false;
    };
    let Played::Move(m) = first.played else {
        return false;
    };
    // A dump does not show when its pieces arrived.
    let came = |change: &&SensorChange| {
        let here = Some(change.square) == m.from() && change.after.is_some();
        here && change.when.at < first.lifted_at && !change.when.is_late()
    };
    let came = sensors.recent().rfind(came);
    came.is_some_and(|came| first.lifted_at <= came.when.at + tree.model().doubt)
}

impl Tracker {
    /// Begins a line from an earlier placement, once legal moves from there show whose turn it was. Does nothing while
    /// a line is followed that may still fit. In a gap, `examine` first searches for lines to such a placement. Returns
    /// whether a line was begun.
    pub(super) fn join(&mut self, now: Timestamp) -> bool {
        let followed = self.line.is_some() && !self.is_lost();
        let in_gap = followed && self.gap_since.is_some();
        if followed && !in_gap && !self.may_play_elsewhere() {
            self.joining.clear();
            return false;
        }
        if self.disturbed || !self.sensors.known() || self.recovering() || self.hearing.is_away() {
            return false;
        }
        self.orient(now);
        // In a capture, the captured piece may land first, on the square that its captor leaves.
        if self.waits(now, self.quiet_since + self.model.pause) && !self.joining.is_empty() {
            return false;
        }
        // A polled board does not report how long pieces stood between two answers.
        let rested = !self.waits(now, self.quiet_since + self.model.doubt) && self.playback.is_none();
        let landed = self.has_just_landed();
        let (sensors, board) = (&self.sensors, self.sensors.board());
        let mut known = false;
        self.joining.retain_mut(|joining| {
            let unaccounted = joining.explains(sensors).map(|explained| explained.unaccounted);
            joining.rested |= rested && unaccounted == Some(0);
            known |= rested && (unaccounted == Some(0) || joining.board() == board);
            joining.rested || unaccounted.is_some() || !landed
        });
        if let Some(tree) = self.proved(followed).filter(|_| !in_gap) {
            self.leave_line(tree.node(tree.root()).state.board());
            self.begin_with(now, Variant::FromPosition, tree);
            return true;
        }
        if !rested {
            known = followed || !self.joining.is_empty();
        }
        if !known {
            self.joining.retain(|joining| joining.rested);
            self.join_from(now, &self.sensors.board().clone(), rested);
        }
        false
    }

    /// Follows the play from the first dump after a gap.
    pub(super) fn join_from_dump(&mut self, now: Timestamp) {
        self.joining.clear();
        if self.gap_since.is_some() && self.line.is_some() && self.playback.is_none() {
            self.quiet_since = now;
            self.join_from(now, &self.sensors.board().clone(), false);
        }
    }

    /// Returns the position in an open gap from which play has gone on, whatever led to it.
    pub(super) fn played_on_from(&mut self, now: Timestamp) -> Option<(Timestamp, State)> {
        let unknown = self.disturbed || self.recovering() || self.joining.is_empty();
        if unknown || self.waits(now, self.quiet_since + self.model.pause) {
            return None;
        }
        let tree = self.proved(true)?;
        let root = tree.node(tree.root());
        Some((root.landed.at, root.state.clone()))
    }

    fn proved(&self, followed: bool) -> Option<Tree> {
        let explains = |joining: &&Joining| joining.explains(&self.sensors).is_some();
        let joining = self.joining.iter().find(explains)?;
        let dumped = self.polled.is_some() || self.sensors.dumped_at() > joining.since;
        // Hands may have changed `IN_HANDS` squares, and the report of one square may have been lost.
        let squares = usize::from(followed || !joining.rested) * IN_HANDS + usize::from(!dumped);
        let known = dumped || joining.timed;
        joining
            .proved(&self.sensors, squares * self.model.unexplained)
            .filter(|_| known)
    }

    fn join_from(&mut self, now: Timestamp, board: &Board, rested: bool) {
        let sides = Color::ALL
            .into_iter()
            .filter_map(|turn| self.joined_at(board, turn));
        let trees = sides.map(|state| Tree::new(self.model, state, 0, self.quiet_since));
        let mut joining = Joining {
            trees: trees.collect(),
            since: now,
            timed: self.polled.is_none() && self.playback.is_none(),
            rested,
        };
        if joining.trees.is_empty() {
            return;
        }
        joining.follow(&self.sensors, now);
        self.joining.push(joining);
        let too_many = self.joining.len().saturating_sub(A_FEW);
        self.joining.drain(..too_many);
    }

    /// Reads a board without a line the other way round if a pawn has gone backwards, or if nothing was played and the
    /// pawns seem to stand the wrong way round.
    fn orient(&mut self, now: Timestamp) {
        if self.line.is_some() {
            return;
        }
        let board = self.sensors.board();
        let back = |joining: &&Joining| joining.rested && start::went_back(joining.board(), board);
        let before = self
            .joining
            .iter()
            .find(back)
            .map(|joining| joining.board().clone());
        let last = self.joining.last();
        let plays = last.is_some_and(|joining| joining.trees.iter().any(|tree| tree.best() != tree.root()));
        if before.is_none() && (plays || !start::seems_turned(board)) {
            return;
        }
        self.sensors.turn();
        self.joining.clear();
        self.show_squares(now);
        if let Some(mut before) = before {
            before.rotate_180();
            self.join_from(now, &before, true);
        }
    }

    /// Ends the present line for play from another placement. The line is dropped if it has no plies, or if additional
    /// pieces show that another game has begun; otherwise it counts as lost since its last ply.
    fn leave_line(&mut self, joined: &Board) {
        self.line.take_if(|line| {
            let tip = line.tree.node(line.tree.tip());
            tip.ply == 0 || start::is_another_game(joined, tip.state.board())
        });
        if let Some(line) = &self.line {
            self.lose_line(line.tree.node(line.tree.tip()).since);
        }
    }

    /// Whether another position may have been set up during the present line, and play may go on from there.
    fn may_play_elsewhere(&self) -> bool {
        let Some(line) = self.line.as_ref().filter(|line| !line.awaited) else {
            return false;
        };
        let begins = line.tree.node(line.tree.tip()).ply == 0;
        let plays = begins || self.clock.running() == Some(true);
        plays && self.gap_since.is_none() && self.unexplained() > TWO_MOVES
    }

    /// `None` if the position is not legal.
    fn joined_at(&self, board: &Board, turn: Color) -> Option<State> {
        match &self.line {
            Some(line) => start::after_gap(board, turn, &line.tree.node(line.tree.tip()).state),
            None => start::without_history(board, turn),
        }
    }

    fn has_just_landed(&self) -> bool {
        let last = self.sensors.recent().next_back();
        last.is_some_and(|change| change.after.is_some())
    }

    /// Whether plies of both sides have led from another placement to the board.
    pub(super) fn has_led_back(&self) -> bool {
        let mut trees = self.joining.iter().flat_map(|joining| &joining.trees);
        trees.any(|tree| {
            let best = tree.node(tree.best());
            best.ply as usize >= PLIES_OF_PROOF && best.differs.is_empty()
        })
    }

    pub(super) fn follow_joining(&mut self, now: Timestamp) {
        for joining in &mut self.joining {
            joining.follow(&self.sensors, now);
        }
    }

    /// Gives up a gap that no line leads over, **patience** after the last dump. Returns whether it did.
    pub(super) fn give_up_gap(&mut self, now: Timestamp) -> bool {
        if self.gap_since.is_none() || self.disturbed || self.recovering() {
            return false;
        }
        if self.waits(now, self.sensors.dumped_at() + self.model.patience) {
            return false;
        }
        self.give_up_line(now);
        true
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use kiebitz_protocol::Field;
    use shakmaty::{CastlingMode, Square};

    use super::super::tests::wire;
    use super::*;
    use crate::model::Model;

    fn state(placement: &str, turn: &str) -> State {
        let state = State::from_fen(&format!("{placement} {turn} - - 0 1"), CastlingMode::Standard);
        state.expect("a FEN")
    }

    fn field(square: &str) -> Field {
        let square: Square = square.parse().expect("a square");
        Field::new(square.flip_vertical() as u8).expect("a field")
    }

    fn joining(placement: &str, now: Timestamp) -> Joining {
        let trees = ["w", "b"].map(|turn| Tree::new(&Model::FITTED, state(placement, turn), 0, now));
        Joining {
            trees: trees.into(),
            since: now,
            timed: true,
            rested: false,
        }
    }

    /// Returns the placement at which play is joined after reports such as "e2." for an empty square and "e4P" for a
    /// pawn.
    fn joined(placement: &str, squares: &str) -> Option<String> {
        let mut now = Timestamp::from_micros(1_000_000_000);
        let mut sensors = Sensors::showing(now, state(placement, "w").board(), false);
        let mut joining = joining(placement, now);
        for word in squares.split_whitespace() {
            let (square, letter) = word.split_at(2);
            now = now + Duration::from_millis(400);
            let letter = letter.chars().next().expect("a letter");
            sensors.set_field(now, field(square), wire(letter));
            joining.follow(&sensors, now);
        }
        let tree = joining.proved(&sensors, IN_HANDS * Model::FITTED.unexplained)?;
        Some(tree.node(tree.root()).state.board().to_string())
    }

    #[test]
    fn a_game_is_joined_at_the_first_placement_seen() {
        let began = joined(START, "e2. e4P e7. e5p g1. f3N b8. c6n");
        assert_eq!(began.as_deref(), Some(START));
        // The queen that takes on d8 is recaptured before d8 is scanned.
        let exchange = "r2qk3/8/8/8/8/8/8/3QK3";
        let began = joined(exchange, "d1. a8. d8r e1. e2K e8. e7k e2. e3K");
        assert_eq!(began.as_deref(), Some(exchange));
        let began = joined(START, "d2. d4P e7. e6p b1. d2N h7. h6p");
        assert_eq!(began.as_deref(), Some(START));
        assert_eq!(joined(START, "e2. e4P e7. e5p"), None);
    }

    /// Either White's rook takes the bishop, which comes to lie on c5, or Black's bishop goes there and the rook
    /// follows it.
    #[test]
    fn a_game_is_not_joined_if_a_piece_may_have_been_captured_or_moved() {
        let placement = "r1b2rk1/5p1p/n1pp2p1/pp6/3bP3/PBN4P/1PP2PP1/2KR3R";
        assert_eq!(joined(placement, "d4. c5b d1. d4R f8. d8r e4. e5P"), None);
    }

    #[test]
    fn a_piece_that_moves_on_soon_did_not_stand_in_the_placement() {
        let explains = |millis: u64| {
            let now = Timestamp::from_micros(1_000_000_000);
            let before = state("4k3/8/8/8/8/8/5B2/4K3", "w");
            let mut sensors = Sensors::showing(now, before.board(), false);
            sensors.set_field(now, field("f2"), None);
            sensors.set_field(now, field("g3"), wire('B'));
            let mut joining = joining("4k3/8/8/8/8/6B1/8/4K3", now);
            let now = now + Duration::from_millis(millis);
            for (square, letter) in [("g3", '.'), ("h4", 'B')] {
                sensors.set_field(now, field(square), wire(letter));
                joining.follow(&sensors, now);
            }
            joining
                .explains(&sensors)
                .is_some_and(|explained| explained.unaccounted == 0)
        };
        assert!(explains(2500));
        assert!(!explains(1400));
    }

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";

    /// White's pawn is in a hand at first, and is captured on e4.
    #[test]
    fn a_game_is_joined_at_a_position_that_the_board_showed_exactly() {
        let squares = "e4P g8. f6n h2. h3P f6. e4n h3. h4P a7. a6p a2. a3P b7. b6p";
        let began = joined("rnbqkbnr/pppppppp/8/8/8/8/PPPP1PPP/RNBQKBNR", squares);
        let after = "rnbqkb1r/pppppppp/8/8/4n3/7P/PPPP1PP1/RNBQKBNR";
        assert_eq!(began.as_deref(), Some(after));
    }
}
