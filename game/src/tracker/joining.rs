//! Joining play in the middle: from a placement for which no line of play is known.
//!
//! The next moves show whose turn it was. Two trees grow from the placement, one for each side to move, until one of
//! them leads to what stands on the board and the other costs more by **unlikely** at least. The line counts once
//!
//! - one move has led to the board and stood for **pause**, if the placement had stood for **doubt** without any
//!   change. Otherwise several plies are needed, because a piece may have been in a hand, and the line must account for
//!   everything that stood on the board meanwhile,
//! - a dump has come since, because a report may be missing without a sign. Several plies seen one by one prove as
//!   much.
//!
//! Play is also joined while a line is followed, if that line leaves more squares unexplained than two moves do and
//! either no move has been made or the clock runs: somebody has set up another position. That always takes several
//! plies.
//!
//! Between the loss of a line and the joining, moves are unknown, and the gap is reported as undecidable. A gap that no
//! line leads over is given up **patience** after the last dump.

use kiebitz_hardware::Timestamp;
use shakmaty::Color;

use super::Tracker;
use super::node::{NodeId, Played};
use super::sensors::Sensors;
use super::tree::Tree;
use crate::events::{Recovery, SensorChange};
use crate::model::{IN_HANDS, PASSING, PLIES_OF_PROOF, SEVERAL, TWO_MOVES};
use crate::position::{State, Variant, start};

/// A placement that play may go on from.
#[derive(Debug)]
pub(super) struct Joining {
    /// What was played since, for either side to move.
    trees: Vec<Tree>,
    /// Since when the board has been watched.
    since: Timestamp,
    /// It is known for how long pieces stood, and not just in which order.
    timed: bool,
    /// Nothing moved for a while, before that or after it: no piece was in a hand.
    rested: bool,
    /// Another line is followed, which would have to be given up.
    against_line: bool,
}

impl Joining {
    /// The line by which the board came to what it shows: one move from a placement that had rested, which must have
    /// `stood` then, or several from any other, for a piece may have been in a hand. `dumped`: a dump has come since.
    fn proved(&mut self, sensors: &Sensors, stood: bool, dumped: bool) -> Option<Tree> {
        let credible = self.credible();
        let [(at, tree)] = credible[..] else { return None };
        let first = self.first_known(tree, sensors)?;
        // Reports can be lost without a sign; a dump shows it. Several plies, seen one by one, do not fit by accident.
        let plies = tree.path(tree.best()).len();
        let seen = plies >= SEVERAL && self.timed;
        if plies < PLIES_OF_PROOF && !stood || !seen && !dumped {
            return None;
        }
        let mut tree = self.trees.swap_remove(at);
        if first != tree.root() {
            tree.begin_after(first);
        }
        Some(tree)
    }

    /// What is as credible as anything since. The side to move decides what a piece beside its square is: one that was taken,
    /// or one that went there.
    fn credible(&self) -> Vec<(usize, &Tree)> {
        let cost = |tree: &Tree| tree.costs().of(tree.best());
        let least = self.trees.iter().map(cost).min().unwrap_or(0);
        let trees = self.trees.iter().enumerate();
        trees
            .filter(|(_, tree)| cost(tree) < least + tree.model().unlikely)
            .collect()
    }

    /// The first placement of a line that leads to what the board shows that is known to have stood like this; `None` where
    /// too little speaks for the line.
    fn first_known(&self, tree: &Tree, sensors: &Sensors) -> Option<NodeId> {
        let needed = if self.rested && !self.against_line {
            1
        } else {
            SEVERAL
        };
        let (best, line) = (tree.node(tree.best()), tree.path(tree.best()));
        if !best.shown || best.differs.any() || best.unread.any() {
            return None;
        }
        if self.rested || self.accounts_for_all(tree, &line, sensors) {
            let seen = line.iter().filter(|id| !tree.node(**id).hidden);
            return (seen.count() >= needed).then_some(tree.root());
        }
        // Before it was seen as a whole, a piece that was in a hand may not have stood where it does.
        let exact: Vec<NodeId> = line.into_iter().filter(|id| tree.node(*id).exact).collect();
        exact.first().copied().filter(|_| exact.len() >= needed)
    }

    /// Neither side's moves lead to what the board shows: a piece was in a hand.
    fn failed(&self) -> bool {
        self.trees.iter().all(|tree| {
            let best = tree.best();
            let line = tree.path(best);
            let never_exact = !self.rested && !line.iter().any(|id| tree.node(*id).exact);
            let long = line.len() > if never_exact { 1 } else { SEVERAL };
            tree.node(best).differs.count() > IN_HANDS || long
        })
    }

    /// Whether all that is credible leads to what stands on the board, and leaves out nothing that stood there before.
    fn explains(&self, sensors: &Sensors) -> bool {
        self.credible().into_iter().all(|(_, tree)| {
            let line = tree.path(tree.best());
            let stands = tree.node(tree.best()).state.board() == sensors.board();
            stands && (line.is_empty() || self.accounts_for_all(tree, &line, sensors))
        })
    }

    /// Whether all pieces that stood on the board meanwhile, and were not just passing, belong to the line.
    fn accounts_for_all(&self, tree: &Tree, line: &[NodeId], sensors: &Sensors) -> bool {
        let belongs = |change: &SensorChange| {
            let passed = |next: &SensorChange| next.when.at <= change.when.at + PASSING;
            let has = |id: &NodeId| tree.node(*id).state.board().piece_at(change.square) == change.after;
            change.after.is_none()
                || sensors.next_change(change).is_some_and(passed)
                || has(&tree.root())
                || line.iter().any(has)
        };
        let known = self.timed && !sensors.has_forgotten_since(self.since);
        known && !begins_on_its_way(tree, line, sensors) && sensors.changes_since(self.since).all(belongs)
    }
}

/// Whether the piece that moves first in a line was still on its way where the line has it stand.
fn begins_on_its_way(tree: &Tree, line: &[NodeId], sensors: &Sensors) -> bool {
    let Some(first) = line.first().map(|id| tree.node(*id)) else {
        return false;
    };
    let Played::Move(m) = first.played else {
        return false;
    };
    // When it came is not known where a dump shows it.
    let told = |change: &&SensorChange| change.after.is_some() && !change.when.is_late();
    let here = |change: &&SensorChange| Some(change.square) == m.from() && told(change);
    let came = sensors.recent().rfind(here).map(|change| change.when.at);
    came.is_some_and(|came| first.lifted_at <= came + tree.model().doubt)
}

impl Tracker {
    /// Without a line, or after it was lost: begins one from a placement that stood on the board, as soon as legal moves from
    /// there show whose turn it was. Returns whether it did.
    pub(super) fn join(&mut self, now: Timestamp) -> bool {
        let followed = self.line.is_some() && !self.is_lost();
        if followed && !self.may_play_elsewhere() {
            self.joining = None;
            return false;
        }
        if self.disturbed || !self.sensors.known() || self.recovering() {
            return false;
        }
        if self.line.is_none() && start::seems_turned(self.sensors.board()) {
            self.sensors.turn();
            self.joining = None;
            self.show_squares(now);
        }
        // Between two answers of a polled board, how long things stood is not known.
        let rested = !self.waits(now, self.quiet_since + self.model.doubt) && self.playback.is_none();
        let wanted = match &mut self.joining {
            None => rested || !followed,
            Some(joining) if rested => {
                let explains = joining.explains(&self.sensors);
                joining.rested |= explains;
                !explains
            }
            Some(joining) => joining.failed() && self.has_just_landed(),
        };
        // A captured piece may come to stand first, on the square that its captor leaves.
        let stood = self.joining.is_some() && !self.waits(now, self.quiet_since + self.model.pause);
        let joining = self.joining.as_mut();
        let tree = joining.and_then(|joining| {
            let dumped = self.polled.is_some() || self.sensors.dumped_at() > joining.since;
            joining.proved(&self.sensors, stood, dumped)
        });
        if let Some(tree) = tree {
            self.joining = None;
            if followed {
                self.leave_line();
            }
            self.begin_with(now, Variant::FromPosition, tree);
            return true;
        }
        if wanted {
            let sides = Color::ALL.into_iter().filter_map(|turn| self.joined_at(turn));
            let trees = sides.map(|state| Tree::new(self.model, state, 0, self.quiet_since));
            self.joining = Some(Joining {
                trees: trees.collect(),
                since: now,
                timed: self.polled.is_none() && self.playback.is_none(),
                rested,
                against_line: followed,
            });
        }
        false
    }

    /// Gives up the line that is followed, from its last ply on. Of a game in which nothing was played, no other one is a
    /// continuation.
    fn leave_line(&mut self) {
        self.line.take_if(|line| line.tree.node(line.tree.tip()).ply == 0);
        if let Some(line) = &self.line {
            self.lose_line(line.tree.node(line.tree.tip()).since);
        }
    }

    /// Whether the game that is followed may be over, or another position set up instead: its line leaves more squares
    /// unexplained than play does. Where nothing has been played yet, or the clock runs, what comes now is play.
    fn may_play_elsewhere(&self) -> bool {
        let Some(line) = self.line.as_ref().filter(|line| !line.awaited) else {
            return false;
        };
        let begins = line.tree.node(line.tree.tip()).ply == 0;
        let plays = begins || self.clock.running() == Some(true);
        plays && self.gap_since.is_none() && self.unexplained() > TWO_MOVES
    }

    /// The position on the board, if it is this side's turn.
    fn joined_at(&self, turn: Color) -> Option<State> {
        let board = self.sensors.board();
        match &self.line {
            Some(line) => start::after_gap(board, turn, &line.tree.node(line.tree.tip()).state),
            None => start::without_history(board, turn),
        }
    }

    /// Whether the last change put a piece down.
    fn has_just_landed(&self) -> bool {
        let last = self.sensors.recent().next_back();
        last.is_some_and(|change| change.after.is_some())
    }

    /// Whether plies of both sides have led from another placement to what stands on the board.
    pub(super) fn has_led_back(&self) -> bool {
        let mut trees = self.joining.iter().flat_map(|joining| &joining.trees);
        trees.any(|tree| {
            let best = tree.node(tree.best());
            best.ply as usize >= PLIES_OF_PROOF && best.differs.is_empty()
        })
    }

    /// Measures what may have been played since against what the sensors now show.
    pub(super) fn follow_joining(&mut self, now: Timestamp) {
        if let Some(joining) = &mut self.joining {
            for tree in &mut joining.trees {
                tree.update(&self.sensors, now);
            }
        }
    }

    /// Gives up a gap that no line leads over, some time after the board was read again: play goes on from there. Returns
    /// whether it did.
    pub(super) fn give_up_gap(&mut self, now: Timestamp) -> bool {
        if self.gap_since.is_none() || self.disturbed || self.recovering() {
            return false;
        }
        if self.waits(now, self.sensors.dumped_at() + self.model.patience) {
            return false;
        }
        self.lose_line(now);
        self.close_gap(now, Recovery::Undecidable);
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

    /// Joined at `placement`, while nobody rests.
    fn joining(placement: &str, now: Timestamp) -> Joining {
        let trees = ["w", "b"].map(|turn| Tree::new(&Model::FITTED, state(placement, turn), 0, now));
        Joining {
            trees: trees.into(),
            since: now,
            timed: true,
            rested: false,
            against_line: false,
        }
    }

    /// The placement from which a game goes on, joined at `placement` while nobody rests, after these squares have shown
    /// pieces: "e2." for an empty one, "e4P" for one with a pawn.
    fn joined(placement: &str, squares: &str) -> Option<String> {
        let mut now = Timestamp::from_micros(1_000_000_000);
        let mut sensors = Sensors::showing(now, state(placement, "w").board(), false);
        let mut joining = joining(placement, now);
        for word in squares.split_whitespace() {
            let (square, letter) = word.split_at(2);
            now = now + Duration::from_millis(400);
            let letter = letter.chars().next().expect("a letter");
            sensors.set_field(now, field(square), wire(letter));
            for tree in &mut joining.trees {
                tree.update(&sensors, now);
            }
        }
        let tree = joining.proved(&sensors, true, true)?;
        Some(tree.node(tree.root()).state.board().to_string())
    }

    /// Nobody was seen to rest, and all that stood on the board is explained.
    #[test]
    fn a_game_goes_on_from_what_was_seen_first() {
        let began = joined(START, "e2. e4P e7. e5p g1. f3N b8. c6n");
        assert_eq!(began.as_deref(), Some(START));
        // Before d8 is scanned, the queen that takes there is taken.
        let exchange = "r2qk3/8/8/8/8/8/8/3QK3";
        let began = joined(exchange, "d1. a8. d8r e1. e2K e8. e7k e2. e3K");
        assert_eq!(began.as_deref(), Some(exchange));
        assert_eq!(joined(START, "e2. e4P e7. e5p g1. f3N"), None);
    }

    /// White's rook takes the bishop, which comes to lie on c5; or Black's bishop went there, and the rook followed it.
    #[test]
    fn a_game_does_not_go_on_with_a_piece_that_may_have_been_taken() {
        let placement = "r1b2rk1/5p1p/n1pp2p1/pp6/3bP3/PBN4P/1PP2PP1/2KR3R";
        assert_eq!(joined(placement, "d4. c5b d1. d4R f8. d8r e4. e5P"), None);
    }

    /// White's bishop, seen on g3, goes on to h4 after so many milliseconds.
    #[test]
    fn a_piece_on_its_way_does_not_stand_where_a_game_goes_on_from() {
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
                for tree in &mut joining.trees {
                    tree.update(&sensors, now);
                }
            }
            joining.explains(&sensors)
        };
        assert!(explains(2500));
        assert!(!explains(1400));
    }

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";

    /// White's pawn was in a hand, and is captured where it was put.
    #[test]
    fn a_game_goes_on_from_a_placement_that_was_seen() {
        let squares = "e4P g8. f6n h2. h3P f6. e4n h3. h4P a7. a6p a2. a3P b7. b6p";
        let began = joined("rnbqkbnr/pppppppp/8/8/8/8/PPPP1PPP/RNBQKBNR", squares);
        let after = "rnbqkb1r/pppppppp/8/8/4n3/7P/PPPP1PP1/RNBQKBNR";
        assert_eq!(began.as_deref(), Some(after));
    }
}
