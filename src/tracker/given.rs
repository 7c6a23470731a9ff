//! What is known by word: an arbiter says what the line of play is, or whose side of the clock is whose.

use kiebitz_hardware::Timestamp;

use super::tree::Tree;
use super::{Line, Side, State, Tracker};

/// What an arbiter says of a board.
#[derive(Debug, Clone)]
pub(crate) enum Given {
    /// The line of play goes through these states, from its start to what is due now.
    Line(Vec<State>),
    /// Another line of play begins with this one.
    Start(State),
    /// This side of the clock is White's.
    WhiteSide(Side),
}

/// No press speaks against an arbiter's word before so many others do.
const WORD: i8 = i8::MAX / 2;

impl Tracker {
    /// An arbiter has said something. A line that he gives is not told: he knows it.
    pub(crate) fn hear(&mut self, now: Timestamp, given: Given) {
        match given {
            Given::Line(states) => self.set_line(now, states),
            Given::Start(state) => self.set_position(now, state),
            Given::WhiteSide(side) => self.vote_white(now, side, WORD),
        }
    }

    fn set_line(&mut self, now: Timestamp, mut passed: Vec<State>) {
        let Some(due) = passed.pop() else { return };
        let ply = u32::try_from(passed.len()).unwrap_or(u32::MAX);
        self.gap = None;
        self.astray = false;
        self.examined = 0;
        let mut tree = Tree::new(due, ply, now);
        tree.update(&self.sensors, now);
        let awaited = !tree.node(tree.root()).differs.is_empty();
        self.line = Some(Line {
            passed,
            tree,
            awaited,
        });
        self.pressed = shakmaty::ByColor::default();
        self.decide(now);
    }
}
