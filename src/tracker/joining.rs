//! Joining play in the middle: from a placement of which no line of play is known. Whose turn it was shows with the next
//! moves.

use kiebitz_hardware::Timestamp;
use shakmaty::Color;

use super::Tracker;
use super::finding::Recovery;
use super::model::{IN_HANDS, SEVERAL};
use super::node::NodeId;
use super::start::{self, Variant};
use super::state::State;
use super::tree::Tree;

/// A placement that play may go on from.
#[derive(Debug)]
pub(super) struct Joining {
    /// What was played since, for either side to move.
    trees: Vec<Tree>,
    /// Nothing moved for a while before that: no piece was in a hand.
    rested: bool,
}

impl Joining {
    /// The line by which the board came to what it shows: one move from a placement that had rested, several from any
    /// other, for a piece may have been in a hand.
    fn proved(&mut self) -> Option<Tree> {
        let needed = if self.rested { 1 } else { SEVERAL };
        let stood = |tree: &Tree| {
            let best = tree.best();
            let (last, line) = (tree.node(best), tree.path(best));
            let whole = last.shown && last.differs.is_empty() && last.unread.is_empty();
            let hidden = line.iter().any(|id| tree.node(*id).hidden);
            let exact: Vec<NodeId> = line.into_iter().filter(|id| tree.node(*id).exact).collect();
            let proved = whole && !hidden && exact.len() >= needed;
            proved.then(|| (tree.costs().of(best), exact.first().copied()))
        };
        let trees = self.trees.iter().enumerate();
        let proved = trees.filter_map(|(at, tree)| Some((at, stood(tree)?)));
        let (at, (_, first)) = proved.min_by_key(|(_, (cost, _))| *cost)?;
        let mut tree = self.trees.swap_remove(at);
        if let Some(first) = first.filter(|_| !self.rested) {
            // Until then, a piece that was in a hand may not have stood where it does.
            tree.begin_after(first);
        }
        Some(tree)
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
}

impl Tracker {
    /// Without a line, or after it was lost in a gap: begins one from a placement that stood on the board, as soon as legal
    /// moves from there show whose turn it was. Returns whether it did.
    pub(super) fn join(&mut self, now: Timestamp) -> bool {
        if self.line.as_ref().is_some_and(|line| line.lost.is_none()) {
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
        if let Some(tree) = self.joining.as_mut().and_then(Joining::proved) {
            self.joining = None;
            self.begin_with(now, Variant::FromPosition, tree);
            return true;
        }
        let ready = self.quiet_since + self.model.doubt;
        // Between two answers of a polled board, how long things stood is not known.
        let rested = now >= ready && self.playback.is_none();
        if now < ready {
            self.wake_at(ready);
        }
        let known = |joining: &Joining| {
            joining.trees.iter().any(|tree| {
                let root = tree.node(tree.root());
                root.state.board() == self.sensors.board()
            })
        };
        let wanted = match &self.joining {
            None => rested || self.line.is_some(),
            Some(joining) if rested => !joining.rested || !known(joining),
            Some(joining) => joining.failed() && self.has_just_landed(),
        };
        if wanted {
            let sides = Color::ALL.into_iter().filter_map(|turn| self.joined_at(turn));
            let trees = sides.map(|state| Tree::new(self.model, state, 0, self.quiet_since));
            self.joining = Some(Joining {
                trees: trees.collect(),
                rested,
            });
        }
        false
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
        let given_up = self.sensors.dumped_at() + self.model.patience;
        if now < given_up {
            self.wake_at(given_up);
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

    use super::super::model::Model;
    use super::super::sensors::Sensors;
    use super::super::tests::wire;
    use super::*;

    /// The placement from which a game goes on, joined at `placement` while nobody rests, after these squares have shown
    /// pieces: "e2." for an empty one, "e4P" for one with a pawn.
    fn joined(placement: &str, squares: &str) -> Option<String> {
        let state = |turn: &str| {
            let state = State::from_fen(&format!("{placement} {turn} - - 0 1"), CastlingMode::Standard);
            state.expect("a FEN")
        };
        let mut now = Timestamp::from_micros(1_000_000_000);
        let mut sensors = Sensors::showing(now, state("w").board(), false);
        let trees = ["w", "b"].map(|turn| Tree::new(&Model::FITTED, state(turn), 0, now));
        let mut joining = Joining {
            trees: trees.into(),
            rested: false,
        };
        for word in squares.split_whitespace() {
            let (square, letter) = word.split_at(2);
            let square: Square = square.parse().expect("a square");
            let field = Field::new(square.flip_vertical() as u8).expect("a field");
            now = now + Duration::from_millis(400);
            sensors.set_field(now, field, wire(letter.chars().next().expect("a letter")));
            for tree in &mut joining.trees {
                tree.update(&sensors, now);
            }
        }
        let tree = joining.proved()?;
        Some(tree.node(tree.root()).state.board().to_string())
    }

    /// White's pawn was in a hand, and is captured where it was put.
    #[test]
    fn a_game_goes_on_from_a_placement_that_was_seen() {
        let squares = "e4P g8. f6n h2. h3P f6. e4n h3. h4P a7. a6p a2. a3P b7. b6p";
        let began = joined("rnbqkbnr/pppppppp/8/8/8/8/PPPP1PPP/RNBQKBNR", squares);
        let after = "rnbqkb1r/pppppppp/8/8/4n3/7P/PPPP1PP1/RNBQKBNR";
        assert_eq!(began.as_deref(), Some(after));
    }
}
