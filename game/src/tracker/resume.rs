//! Resumes a line of play from the daemon's journal. Later plies are reconstructed as after any other gap.

use kiebitz_hardware::Timestamp;
use shakmaty::Board;

use super::Tracker;
use super::finding::Start;
use super::line::LineOfPlay;
use super::node::{Played, PlyStatus};
use super::sensors::Sensors;
use super::tree::Tree;
use crate::clock::Side;
use crate::events::{DoubtfulPlies, Ply, Since};
use crate::position::{Footprint, State, difference};

impl Tracker {
    /// Resumes a line of play that was followed until `at`. Each of its `plies` comes with whether it was confirmed.
    /// `doubt` has the plies that were inferred and have not been proved since.
    pub(crate) fn resume<'s>(
        &mut self,
        at: Timestamp,
        start: &'s Start,
        plies: impl IntoIterator<Item = (&'s Ply, bool)>,
        doubt: Option<DoubtfulPlies>,
    ) {
        let plies: Vec<(&Ply, bool)> = plies.into_iter().collect();
        let confirmed = plies
            .iter()
            .rposition(|(_, confirmed)| *confirmed)
            .map_or(0, |last| last + 1);
        // The piece of an unconfirmed ply may still have been in a hand, so the board may have shown the position
        // before or after each of them.
        let states = || core::iter::once(&start.state).chain(plies.iter().map(|(ply, _)| &ply.after));
        let stood = states().skip(confirmed);
        let mut stood = stood.map(|state| Sensors::showing(at, state.board(), start.turned));
        let Some(before) = stood.next() else { return };
        let alternatives = stood.collect();
        let doubted = doubt.and_then(|doubt| usize::try_from(doubt.first.checked_sub(1)?).ok());
        // The last confirmed ply and all doubtful ones stay in the tree, because the memory or the board may contradict
        // them.
        let open = doubted.map_or(confirmed, |doubted| doubted.min(confirmed));
        let (passed, open) = plies.split_at(open.saturating_sub(1));
        let mut passed: Vec<State> = states().take(passed.len() + 1).cloned().collect();
        let Some(last) = passed.pop() else { return };
        let ply = u32::try_from(passed.len()).unwrap_or(u32::MAX);
        *self = Self::following(self.model);
        self.sensors = Sensors::turned_like(start.turned);
        let mut tree = Tree::new(self.model, last, ply, at);
        let mut tip = tree.root();
        for (ply, confirmed) in open {
            let went = ply.uci.and_then(|uci| Some((uci.from()?, uci.to()?)));
            let played = ply.played.map_or(Played::Irregular(went), Played::Move);
            let squares = difference(tree.node(tip).state.board(), ply.after.board());
            let footprint = Footprint::of_squares(squares, ply.after.board());
            tip = tree.add(tip, played, ply.after.clone(), footprint, &before, at);
            let node = tree.node_mut(tip);
            node.standing = if *confirmed {
                PlyStatus::Confirmed
            } else {
                PlyStatus::Announced
            };
            node.inferred = ply.inferred;
            // Only the order of the plies is known.
            let from = Timestamp::from_micros(0);
            (node.lifted_at, node.landed) = (at, Since::between(from, at));
            (node.since, node.shown, node.exact) = (ply.stood_at.min(at), true, true);
        }
        self.line = Some(LineOfPlay {
            doubt,
            ..LineOfPlay::new(passed, tree)
        });
        self.begin_gap(at);
        if let Some(unheard) = self.hearing.unheard_mut() {
            unheard.before = before;
            unheard.alternatives = alternatives;
            unheard.powered = true;
        }
    }

    /// `halted` is the side whose clock was not running at the end, with its time in seconds.
    pub(crate) fn resume_clock(&mut self, white_side: Option<Side>, halted: Option<(Side, u32)>) {
        if let Some(side) = white_side {
            self.clock.vote_white(side, 1);
        }
        if let Some(unheard) = self.hearing.unheard_mut() {
            unheard.halted = halted;
        }
    }

    /// Sets the final placement of the game before, which distinguishes the line from another game with the same
    /// opening.
    pub(crate) fn resume_after(&mut self, before: &Board) {
        if let Some(unheard) = self.hearing.unheard_mut() {
            let showing = Sensors::showing(unheard.heard_until, before, self.sensors.turned());
            unheard.cleared = Some(*showing.fields());
        }
    }

    /// Resumes a board without a known line of play, which was observed until `at`.
    pub(crate) fn resume_without_line(&mut self, at: Timestamp) {
        *self = Self::following(self.model);
        self.gap_since = Some(at);
    }
}
