//! What an arbiter has stated about a board: the line of play, a start position, or White's side of the clock.

use kiebitz_hardware::Timestamp;

use super::line::LineOfPlay;
use super::tree::Tree;
use super::{Side, State, Tracker};

/// What an arbiter has stated about a board.
#[derive(Debug, Clone)]
pub(crate) enum Given {
    /// The line of play goes through these states, from its start to what should stand on the board now.
    Line(Vec<State>),
    /// A new line of play begins with this state.
    Start(State),
    /// This side of the clock is White's.
    WhiteSide(Side),
}

/// Votes of an arbiter for White's side of the clock: more than are ever counted, so that the side is beyond doubt at once,
/// and few enough to be added without overflow. Later presses can still outvote them.
const ARBITER_VOTES: i8 = i8::MAX / 2;

impl Tracker {
    /// Takes over what an arbiter has stated. A line that they give is not announced, for they know it.
    pub(crate) fn correct(&mut self, now: Timestamp, given: Given) {
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
