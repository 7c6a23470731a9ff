//! A line of play that the daemon's journal has, taken up again.

use kiebitz_hardware::Timestamp;

use super::clock::Side;
use super::finding::{Ply, Start};
use super::sensors::{Sensors, difference};
use super::state::{Footprint, State};
use super::tree::{Played, Standing, Tree};
use super::{Doubt, Line, Tracker};

impl Tracker {
    /// Goes on with a line of play that was followed until `at`, from its start over each ply, with whether it was
    /// settled: the daemon's journal has it. What was played since is looked for as behind any other gap. `doubt`: some of
    /// these plies were found by reconstruction, and nothing has confirmed them.
    pub fn resume<'s>(
        &mut self,
        at: Timestamp,
        start: &'s Start,
        plies: impl IntoIterator<Item = (&'s Ply, bool)>,
        white_side: Option<Side>,
        doubt: Option<Doubt>,
    ) {
        let plies: Vec<(&Ply, bool)> = plies.into_iter().collect();
        let settled = plies
            .iter()
            .rposition(|(_, settled)| *settled)
            .map_or(0, |last| last + 1);
        // What was told last and not settled was perhaps still in the hand.
        let states = || core::iter::once(&start.state).chain(plies.iter().map(|(ply, _)| &ply.after));
        let stood = states().skip(settled);
        let mut stood = stood.map(|state| Sensors::showing(at, state.board(), start.turned));
        let Some(before) = stood.next() else { return };
        let perhaps = stood.collect();
        let doubted = doubt.and_then(|doubt| usize::try_from(doubt.first.checked_sub(1)?).ok());
        let (passed, open) = plies.split_at(doubted.map_or(settled, |doubted| doubted.min(settled)));
        let mut passed: Vec<State> = states().take(passed.len() + 1).cloned().collect();
        let Some(last) = passed.pop() else { return };
        let ply = u32::try_from(passed.len()).unwrap_or(u32::MAX);
        *self = Self::new();
        self.sensors = Sensors::turned_like(start.turned);
        if let Some(side) = white_side {
            self.clock.vote_white(side, 1);
        }
        let mut tree = Tree::new(last, ply, at);
        let mut tip = tree.root();
        for (ply, settled) in open {
            let went = ply.uci.and_then(|uci| Some((uci.from()?, uci.to()?)));
            let played = ply.played.map_or(Played::Irregular(went), Played::Move);
            let squares = difference(tree.node(tip).state.board(), ply.after.board());
            let footprint = Footprint::of_squares(squares, ply.after.board());
            tip = tree.add(tip, played, ply.after.clone(), footprint, &before, at);
            let node = tree.node_mut(tip);
            node.standing = if *settled {
                Standing::Settled
            } else {
                Standing::Told
            };
            node.inferred = ply.inferred;
        }
        self.line = Some(Line {
            passed,
            tree,
            awaited: false,
        });
        self.doubt = doubt;
        self.gap_begins(at);
        if let Some(gap) = &mut self.missing {
            gap.before = before;
            gap.perhaps = perhaps;
        }
    }

    /// Goes on at a board of which no line of play is known, and that was listened to until `at`.
    pub fn resume_without_line(&mut self, at: Timestamp) {
        *self = Self::new();
        self.gap = Some(at);
    }
}
