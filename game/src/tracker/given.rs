//! Corrections by an arbiter: the line of play, a start position, or White's side of the clock.

use kiebitz_hardware::Timestamp;

use super::line::LineOfPlay;
use super::tree::Tree;
use super::{Side, State, Tracker};

#[derive(Debug, Clone)]
pub(crate) enum Given {
    /// The states from the start to the position that should stand on the board now.
    Line(Vec<State>),
    Start(State),
    WhiteSide(Side),
}

/// Votes of an arbiter for White's side of the clock: enough to be certain at once, and few enough to be added without
/// overflow. Later presses can outvote them.
const ARBITER_VOTES: i8 = i8::MAX / 2;

impl Tracker {
    /// Applies a correction. A given line is not announced, because the arbiter knows it.
    pub(crate) fn correct(&mut self, now: Timestamp, given: Given) {
        self.play_back_held(now);
        match given {
            Given::Line(states) => self.set_line(now, states),
            Given::Start(state) => self.set_position(now, state),
            Given::WhiteSide(side) => self.vote_white(now, side, ARBITER_VOTES),
        }
    }

    fn set_line(&mut self, now: Timestamp, mut passed: Vec<State>) {
        let Some(due) = passed.pop() else { return };
        let ply = u32::try_from(passed.len()).unwrap_or(u32::MAX);
        let mut tree = Tree::new(self.model, due, ply, now);
        tree.update(&self.sensors, now);
        let awaited = !tree.node(tree.root()).differs.is_empty();
        self.follow(LineOfPlay {
            awaited,
            ..LineOfPlay::new(passed, tree)
        });
        self.decide(now);
    }
}
