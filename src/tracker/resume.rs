//! A line of play that the daemon's journal has, taken up again.

use kiebitz_hardware::Timestamp;

use super::clock::Side;
use super::finding::{Ply, Start};
use super::sensors::{Sensors, difference};
use super::state::{Footprint, State};
use super::tree::{Played, Standing, Tree};
use super::{Line, Tracker};

impl Tracker {
    /// Goes on with a line of play that was followed until `at`, from its start over each ply, with whether it was
    /// settled: the daemon's journal has it. What was played since is looked for as behind any other gap.
    pub fn resume<'s>(
        &mut self,
        at: Timestamp,
        start: &'s Start,
        plies: impl IntoIterator<Item = (&'s Ply, bool)>,
        white_side: Option<Side>,
    ) {
        let plies: Vec<(&Ply, bool)> = plies.into_iter().collect();
        let settled = plies
            .iter()
            .rposition(|(_, settled)| *settled)
            .map_or(0, |last| last + 1);
        let (settled, open) = plies.split_at(settled);
        let states = settled.iter().map(|(ply, _)| &ply.after);
        let mut passed: Vec<State> = core::iter::once(&start.state).chain(states).cloned().collect();
        let Some(last) = passed.pop() else { return };
        let ply = u32::try_from(passed.len()).unwrap_or(u32::MAX);
        // What was told last and not settled was perhaps still in the hand.
        let before = Sensors::showing(at, last.board(), start.turned);
        *self = Self::new();
        self.sensors = Sensors::turned_like(start.turned);
        if let Some(side) = white_side {
            self.clock.vote_white(side, 1);
        }
        let mut tree = Tree::new(last, ply, at);
        let mut tip = tree.root();
        for (ply, _) in open {
            let went = ply.uci.and_then(|uci| Some((uci.from()?, uci.to()?)));
            let played = ply.played.map_or(Played::Irregular(went), Played::Move);
            let squares = difference(tree.node(tip).state.board(), ply.after.board());
            let footprint = Footprint::of_squares(squares, ply.after.board());
            tip = tree.add(tip, played, ply.after.clone(), footprint, &before, at);
            let node = tree.node_mut(tip);
            node.standing = Standing::Told;
            node.inferred = ply.inferred;
        }
        self.line = Some(Line {
            passed,
            tree,
            awaited: false,
        });
        self.gap_begins(at);
        if let Some(gap) = &mut self.missing {
            gap.before = before;
        }
    }

    /// Goes on at a board of which no line of play is known, and that was listened to until `at`.
    pub fn resume_without_line(&mut self, at: Timestamp) {
        *self = Self::new();
        self.gap = Some(at);
    }
}
