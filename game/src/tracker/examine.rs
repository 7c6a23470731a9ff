//! Explains a quiet board that fits no legal move: an earlier position was restored, or plies were played unobserved.
//!
//! The board is examined once it has been quiet for **rest**; after a gap, **pause** is enough if nothing has changed
//! since the dump. If something has changed, the placement of the first dump is examined as of its moment, because
//! later reports are play from there. The following explanations are tried:
//!
//! 1. A position of the last few moves stands on the board again: the plies after it were taken back. In a gap this is
//!    tried last, because play more often leads to the same position again than an arbiter restores it, and pressed
//!    plies are not taken back.
//! 2. In a gap, the last ply was not confirmed and its piece has gone on to another square.
//! 3. In a gap, or if reports were lost, between one and `MAX_UNSEEN_PLIES` plies were played unobserved, the fewest
//!    first. They count only if exactly one line leads to the board, if the clock agrees with the turn, and if the line
//!    does not leave out a ply that was seen before the gap.
//! 4. In a gap, the play since the first dump may show which plies were played (`over_gap`). This is tried first, and does
//!    not wait for a quiet board.
//! 5. In a gap, the play may show from which position it goes on (`joining`). Lines to this position are then searched for
//!    instead of lines to the dump or the present placement; if there is none, the line is lost.
//!
//! Each call of `examine` makes a few searches of at most `MAX_POSITIONS` positions, so that no observation takes long.
//! If the clock runs for the side to move after an inferred line, all plies of the line count as pressed.
//!
//! If the board stands as before the gap, nothing was played, unless the clock shows that both sides have pressed.
//!
//! # Doubt
//!
//! An inferred line can fit by accident, so its plies are `DoubtfulPlies` until a later ply proves them. That ply comes
//! at least two plies after them, was begun after the ply before it stood, and leads to a position that the board
//! showed exactly. Three kinds of evidence count against the line: a piece on a square where no ply put one, a player
//! who moves while another of their pieces is missing, and unusual plies after the line. While their cost exceeds
//! **odd**, nothing is announced after the line. If that lasts for **rest** (**put_right** if a single piece is the
//! only evidence), or over several plies, the line is withdrawn and its gap becomes undecidable, unless the board's
//! memory can still fill it.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::{Board, Color, Move};

use super::Tracker;
use super::finding::Finding;
use super::hearing::Hearing;
use super::line::Press;
use super::node::{Node, NodeId, Played, PlyStatus};
use super::over_gap::{FEW_PLIES, GapPlies};
use super::tree::Tree;
use crate::events::{CompletedBy, CorrectionReason, DoubtfulPlies, Recovery};
use crate::model::{
    Cost, IN_HANDS, MAX_POSITIONS, MAX_UNSEEN_PLIES, PLIES_OF_PROOF, REMEMBERED_PLIES, SEARCH_INTERVAL,
    SEVERAL,
};
use crate::position::State;
use crate::position::lines::{self, FoundLines};

#[derive(Debug, Clone)]
pub(super) struct View {
    at: Timestamp,
    pub(super) board: Board,
    /// `None` unless the running clock, or the play after the placement, shows the turn for certain.
    turn: Option<Color>,
    /// Whether play has gone on from the placement, so that no piece was in a hand.
    pub(super) played_on: bool,
}

/// Shortest time in which a game can be played, the pieces set up again and the first plies of the next game made.
const GAME_TIME: Duration = Duration::from_secs(120);

impl View {
    /// Whether the clock agrees with the turn `plies` plies after a position in which `turn` is to move.
    fn turn_fits(&self, turn: Color, plies: usize) -> bool {
        let turn = if plies.is_multiple_of(2) { turn } else { !turn };
        self.turn.is_none_or(|runs| runs == turn)
    }
}

impl Tracker {
    pub(super) fn weigh_doubt(&mut self) {
        let Some(line) = &mut self.line else { return };
        let tree = &line.tree;
        // Plies made at the same time do not show whose turn it was.
        let answers = |id: NodeId| {
            let before = tree.node(id).parent.map(|before| tree.node(before).landed.at);
            before.is_none_or(|landed| landed < tree.node(id).lifted_at)
        };
        let proves = |id: NodeId, doubt: &DoubtfulPlies| {
            let node = tree.node(id);
            node.exact && doubt.is_dispelled_by(node.ply) && answers(id)
        };
        let plies = || core::iter::once(tree.root()).chain(tree.path(tree.tip()));
        line.doubt.take_if(|doubt| plies().any(|id| proves(id, doubt)));
        if line.doubt.is_none() {
            line.before_doubt = None;
        }
    }

    /// Returns the cost of the evidence against an inferred line in doubt, if it exceeds **odd**, and the number of
    /// plies that the best line has after the announced ones. Empty squares do not count, because their pieces may be
    /// in hands.
    pub(super) fn doubted(&self) -> Option<(Cost, usize)> {
        let (line, doubt) = self.line.as_ref().and_then(|line| Some((line, line.doubt?)))?;
        let (tree, best, model) = (&line.tree, line.tree.best(), self.model);
        let stands = tree.node(best).differs & self.sensors.board().occupied();
        let path = tree.path(best);
        let announced = tree.node(tree.tip()).ply.max(doubt.last);
        let next = tree.node(best).ply.saturating_sub(announced) as usize;
        let before = path.iter().rev().nth(next).map_or_else(|| tree.root(), |id| *id);
        let costs = tree.costs();
        let unusual = costs[best].plies - costs[before].plies - next * model.ply;
        let after = path.iter().find(|id| tree.node(**id).ply > doubt.last);
        let held = after.and_then(|first| self.held_since(*first, best)).is_some();
        let against = unusual + stands.count() * model.unexplained + usize::from(held) * model.unlikely;
        (against > model.odd).then_some((against, next))
    }

    /// Withdraws an inferred line if evidence has counted against it for long enough, or over several plies. Returns
    /// whether it did.
    pub(super) fn refuted(&mut self, now: Timestamp) -> bool {
        let goes_on = self.playback.is_some_and(|playback| playback.goes_on);
        let known = self.gap_since.is_none() && !self.is_lost() && !goes_on;
        let doubt = self.line.as_ref().and_then(|line| line.doubt);
        let Some((doubt, (against, next))) = doubt.zip(self.doubted()).filter(|_| known) else {
            return false;
        };
        // A single piece on another square may be half of a castling.
        let rest = match against == self.model.unexplained {
            true => self.model.put_right,
            false => self.model.rest,
        };
        if next < SEVERAL && self.waits(now, self.quiet_since + rest) {
            return false;
        }
        self.refutes(now, doubt.first, against as i64)
    }

    /// Withdraws the inferred line that contains `ply`, with the log-odds `odds`. Returns whether there was such a
    /// line.
    pub(super) fn refutes(&mut self, now: Timestamp, ply: u32, odds: i64) -> bool {
        let known = self.gap_since.is_none();
        let is_doubted = |doubt: &mut DoubtfulPlies| known && (doubt.first..=doubt.last).contains(&ply);
        let Some(line) = &mut self.line else { return false };
        let Some(doubt) = line.doubt.take_if(is_doubted) else {
            return false;
        };
        let announced = line.tree.path(line.tree.tip());
        let is_first = |id: &NodeId| line.tree.node(*id).ply == doubt.first;
        let Some(first) = announced.into_iter().find(is_first) else {
            return false;
        };
        let unheard = line.before_doubt.take();
        line.checkpoint = None;
        self.retract(now, first, CorrectionReason::Recovered, odds);
        self.gap_since = Some(doubt.from);
        match unheard {
            Some(unheard) => self.ask_memory(now, doubt.from, unheard),
            None => self.give_up_line(now),
        }
        true
    }

    pub(super) fn give_up_line(&mut self, now: Timestamp) {
        self.lose_line(now);
        self.close_gap(now, Recovery::Undecidable);
    }

    /// Returns the player whose clock runs, if White's side is beyond doubt.
    pub(super) fn clock_turn(&self, now: Timestamp) -> Option<Color> {
        // A clock reading from after `now` does not show the turn at `now`.
        let ahead = self.clock.reading().is_some_and(|(at, _)| at > now) && self.polled.is_none();
        let heard = !self.clock.is_unheard() && !ahead;
        let sure = self.clock.running() == Some(true) && self.clock.is_sure() && heard;
        let runs = self.clock.turn().filter(|_| sure);
        runs.and_then(|side| self.clock.color_of(side))
    }

    /// Examines a quiet board that the line does not explain. Returns whether the board must be judged again.
    pub(super) fn examine(&mut self, now: Timestamp) -> bool {
        if let Some(plies) = self.plies_of_gap(now)
            && self.infer_by_play(now, plies)
        {
            return true;
        }
        let gap = self.gap_since.is_some();
        let unheard = self.hearing.unheard().filter(|_| gap);
        if unheard.is_some_and(|unheard| unheard.refuted) {
            return false;
        }
        let awaits_memory = unheard.is_some();
        if awaits_memory && self.is_at_start_for(now, GAME_TIME) {
            // Whole games may have been played, which only the memory has.
            return false;
        }
        self.find_played_on(now);
        let Some(line) = &self.line else { return false };
        let (tree, searches) = (&line.tree, line.examined);
        let tip = tree.tip();
        if self.disturbed || (!gap && tree.best() != tip) || searches > MAX_UNSEEN_PLIES {
            return false;
        }
        // Reports since the first dump are play from its placement.
        let first = line.found.clone().filter(|_| gap);
        let is_first = first
            .as_ref()
            .is_some_and(|first| first.board == *self.sensors.board() && !first.played_on);
        let found = first.filter(|_| !is_first);
        let played_on = found.as_ref().is_some_and(|found| found.played_on);
        let explained = match &found {
            Some(found) => {
                let state = &tree.node(tip).state;
                state.board() == &found.board && (!played_on || found.turn_fits(state.turn(), 0))
            }
            None => tree.node(tip).differs.is_empty(),
        };
        if explained {
            return gap && !awaits_memory && self.stood_over_gap(now, found.is_some());
        }
        // A piece that has moved since the dump may still be on its way.
        let rest = match gap && self.quiet_since <= self.sensors.dumped_at() {
            true => self.model.pause,
            false => self.model.rest,
        };
        let at_rest = self.quiet_since + rest;
        if found.is_none() && self.waits(now, at_rest) {
            return false;
        }
        if self.is_lost() && !gap {
            return false;
        }
        // The same board is not searched twice, unless a press has come since the first search.
        let plies = searches + 1;
        if awaits_memory && plies > PLIES_OF_PROOF && !(played_on && self.may_lack_power()) {
            // Longer lines fit more often by accident, and the memory may have the plies.
            return false;
        }
        if plies <= MAX_UNSEEN_PLIES {
            self.note_examined(plies);
            if plies == 1 && !gap && self.restore_earlier(now) {
                return true;
            }
            if found
                .as_ref()
                .is_some_and(|found| self.infer_plies(found, tip, plies))
            {
                if let Some(line) = &mut self.line {
                    line.tree.update(&self.sensors, now);
                }
                return true;
            }
            if played_on {
                self.wake_at(now + SEARCH_INTERVAL);
                return false;
            }
            // During playback, the present placement may be the middle of a motion.
            let goes_on = !is_first && self.playback.is_some_and(|playback| playback.goes_on);
            let here = self.view(now);
            // A short line to the present placement is better evidence than a longer one to the first dump.
            let search_present = found.is_none() || plies >= PLIES_OF_PROOF;
            if search_present && self.waits(now, at_rest) {
                self.note_examined(searches);
                return false;
            }
            let shortest = if found.is_some() && plies == PLIES_OF_PROOF {
                1
            } else {
                plies
            };
            if search_present
                && !goes_on
                && (shortest..=plies).any(|plies| self.infer_plies(&here, tip, plies))
            {
                return true;
            }
            // Longer lines are searched for in another call, so that no call takes long.
            self.wake_at(now + SEARCH_INTERVAL);
            return false;
        }
        if awaits_memory {
            return false;
        }
        if let Some(line) = &mut self.line {
            line.found = None;
        }
        if played_on {
            self.lose_line(now);
            return true;
        }
        if found.is_some() {
            // A piece may have been in a hand during the dump, so the present placement is searched for next.
            self.note_examined(0);
            return true;
        }
        // In a gap, play that leads to the same position again is more credible than a restored position.
        if gap && self.restore_earlier(now) {
            return true;
        }
        if gap && !self.is_lost() {
            // The board is judged again, as a position from which play may be joined.
            self.lose_line(now);
            return true;
        }
        if let Hearing::Suspect(since) = self.hearing
            && !gap
            && self.unexplained() > IN_HANDS
        {
            // No line leads to the board. If the memory does not come, the lost reports count as a gap.
            let given_up = since + self.model.patience;
            if now >= given_up {
                self.gap_since = Some(self.quiet_since);
                return true;
            }
            self.wake_at(given_up);
        }
        false
    }

    /// Adds the plies of a gap that the play since then shows. Returns whether it did.
    fn infer_by_play(&mut self, now: Timestamp, plies: GapPlies) -> bool {
        let Some(tree) = self.tree() else { return false };
        let tip = tree.tip();
        let (before, expected) = (&plies.before, &tree.node(tip).state);
        if expected.board() != before.board() || expected.turn() != before.turn() {
            return false;
        }
        let last = plies.moves.iter().fold(plies.before, |state, m| state.after(*m));
        let view = View {
            at: plies.dumped_at,
            board: last.board().clone(),
            turn: None,
            played_on: true,
        };
        let length = plies.moves.len();
        let found = match plies.any_order {
            true => FoundLines::AnyOrder(plies.moves),
            false => FoundLines::Only(plies.moves),
        };
        let infers = self.infer(&view, tip, length, found);
        if let Some(line) = self.line.as_mut().filter(|_| infers) {
            line.tree.update(&self.sensors, now);
        }
        infers
    }

    fn view(&self, at: Timestamp) -> View {
        View {
            at,
            board: self.sensors.board().clone(),
            turn: self.clock_turn(at),
            played_on: false,
        }
    }

    /// In a gap, searches for lines to the placement from which play has gone on instead of the first dump.
    fn find_played_on(&mut self, now: Timestamp) {
        let found = self.line.as_ref().and_then(|line| line.found.as_ref());
        if self.gap_since.is_none() || found.is_some_and(|found| found.played_on) {
            return;
        }
        let Some((at, state)) = self.played_on_from(now) else {
            return;
        };
        let view = View {
            at,
            board: state.board().clone(),
            turn: Some(state.turn()),
            played_on: true,
        };
        if let Some(line) = &mut self.line {
            line.found = Some(view);
            line.examined = 0;
        }
    }

    pub(super) fn find(&mut self, at: Timestamp) {
        let view = self.view(at);
        if let Some(line) = &mut self.line {
            line.found = Some(view);
        }
    }

    /// Handles a placement that agrees with the line after a gap. Returns whether the gap is closed. If both sides have
    /// pressed, unknown plies have led back to the same position.
    fn stood_over_gap(&mut self, now: Timestamp, moved_since: bool) -> bool {
        if self.clock.both_presses_missed() {
            self.give_up_line(now);
        } else if moved_since {
            self.close_gap_as_it_stood(now);
        }
        self.gap_since.is_none()
    }

    /// Takes back the plies after an earlier position that stands on the board again, if that costs less than the
    /// squares that the line leaves unexplained. Returns whether it did.
    fn restore_earlier(&mut self, now: Timestamp) -> bool {
        let Some(line) = &self.line else { return false };
        let (tree, model, passed) = (&line.tree, self.model, line.passed.len());
        let announced = tree.path(tree.tip());
        let root = &tree.node(tree.root()).state;
        let states = announced.iter().map(|id| &tree.node(*id).state);
        let states: Vec<&State> = line.passed.iter().chain([root]).chain(states).collect();
        // Once the start position has left the tree, it does not count, because the next game may begin from it.
        let oldest = passed.min(passed.saturating_sub(REMEMBERED_PLIES).max(1));
        let restored = |left: &usize| states[*left].board() == self.sensors.board();
        let Some(left) = (oldest..states.len() - 1).rev().find(restored) else {
            return false;
        };
        let withdrawals = tree.withdrawals(&announced);
        let cost = tree.withdrawal(&withdrawals, left.saturating_sub(passed), |_| false)
            + passed.saturating_sub(left) * model.unlikely;
        let unexplained = tree.node(tree.tip()).differs.count() * model.unexplained;
        if cost >= unexplained {
            return false;
        }
        let odds = unexplained as i64 - cost as i64;
        // In a gap, the clock must agree, and pressed plies are not taken back. If more plies were taken back than
        // remain, the pieces were set up for another game with the same opening.
        let pressed = announced.iter().rposition(|id| tree.node(*id).completed);
        let fits = left
            >= pressed
                .map_or(0, |at| passed + at + 1)
                .max(states.len() - 1 - left);
        let turn = states[left].turn();
        if self.gap_since.is_some() && !(fits && self.clock_turn(now).is_none_or(|runs| runs == turn)) {
            return false;
        }
        if let Some(first) = left.checked_sub(passed).map(|at| announced[at]) {
            let reason = withdrawal_of(&tree.node(first).played);
            self.retract(now, first, reason, odds);
            return true;
        }
        let state = states[left].clone();
        let Some(line) = &mut self.line else { return false };
        line.passed.truncate(left);
        line.tree = Tree::new(model, state, u32::try_from(left).unwrap_or(u32::MAX), now);
        line.tree.update(&self.sensors, now);
        self.announce_line(now, CorrectionReason::Takeback, Some(odds));
        true
    }

    /// Adds `plies` unobserved plies if exactly one line of that length leads to `view`. Returns whether it did.
    fn infer_plies(&mut self, view: &View, tip: NodeId, plies: usize) -> bool {
        self.infer_continuation(view, tip, plies) || self.infer_unobserved(view, tip, plies)
    }

    /// Like [`infer_plies`](Self::infer_plies), with the first ply in place of `last`, whose piece may have been on its
    /// way when the gap began.
    fn infer_continuation(&mut self, view: &View, last: NodeId, plies: usize) -> bool {
        let Some(tree) = self.tree() else { return false };
        let node = tree.node(last);
        let in_hand = self.gap_since.is_some() && !node.completed && node.standing == PlyStatus::Announced;
        let (Some(before), Played::Move(m)) = (node.parent.filter(|_| in_hand), node.played) else {
            return false;
        };
        let goes_on = |other: &Move| other.from() == m.from() && other.to() != m.to();
        let others: Vec<Move> = tree
            .node(before)
            .state
            .legal_moves()
            .into_iter()
            .filter(goes_on)
            .collect();
        // Shares the budget of one search among the first plies.
        let budget = MAX_POSITIONS / others.len().max(1);
        let mut lines = others.into_iter().filter_map(|first| {
            let state = tree.node(before).state.after(first);
            let found = lines::between(&state, &view.board, plies - 1, budget);
            (found != FoundLines::Nothing).then(|| found.preceded_by(first))
        });
        match (lines.next(), lines.next()) {
            (Some(found), None) => self.infer(view, before, plies, found),
            _ => false,
        }
    }

    /// Whether two plies move the same piece, so that it was on its way when the first one was announced.
    pub(super) fn went_on_to(&self, announced: NodeId, instead: NodeId) -> bool {
        let from = |tree: &Tree, id: NodeId| match tree.node(id).played {
            Played::Move(m) => m.from(),
            _ => None,
        };
        self.tree()
            .is_some_and(|tree| from(tree, announced) == from(tree, instead))
    }

    /// Like [`infer_plies`](Self::infer_plies), with all plies after `from`.
    fn infer_unobserved(&mut self, view: &View, from: NodeId, plies: usize) -> bool {
        if self.gap_since.is_none() && self.hearing.is_sure() {
            return false;
        }
        let Some(node) = self.tree().map(|tree| tree.node(from)) else {
            return false;
        };
        let found = lines::between(&node.state, &view.board, plies, MAX_POSITIONS);
        if found == FoundLines::Nothing {
            return false;
        }
        let infers = self.infer(view, from, plies, found);
        if !infers {
            // Longer lines are less credible than the lines found, which may only lack a press.
            self.note_examined(MAX_UNSEEN_PLIES);
        }
        infers
    }

    /// Whether the view shows the middle of a ply, for example of castling: the next change lifts a piece of the player
    /// who made the last of `moves`, and the opponent cannot have captured this piece.
    fn is_mid_ply(&self, view: &View, from: NodeId, moves: &[Move]) -> bool {
        let lifted = self.sensors.changes_since(view.at).next();
        let Some((tree, change)) = self.tree().zip(lifted) else {
            return false;
        };
        let (Some(piece), None) = (change.before, change.after) else {
            return false;
        };
        let state = moves
            .iter()
            .fold(tree.node(from).state.clone(), |state, m| state.after(*m));
        let takes = |m: &Move| lines::captured_on(*m) == Some(change.square);
        piece.color != state.turn() && !state.legal_moves().iter().any(takes)
    }

    /// Adds the plies found after `from` unless evidence speaks against them. Returns whether it did.
    fn infer(&mut self, view: &View, from: NodeId, plies: usize, found: FoundLines) -> bool {
        let now = view.at;
        let (moves, any_order) = match found {
            FoundLines::Only(moves) => (moves, false),
            FoundLines::AnyOrder(moves) => (moves, true),
            FoundLines::Nothing | FoundLines::Several => return false,
        };
        let Some(node) = self.tree().map(|tree| tree.node(from)) else {
            return false;
        };
        let since = node.since;
        let to_move = match plies % 2 {
            0 => node.state.turn(),
            _ => !node.state.turn(),
        };
        let fits = view.turn_fits(node.state.turn(), plies);
        if !fits || self.omits_observed_ply(view, from, &moves) || self.is_mid_ply(view, from, &moves) {
            return false;
        }
        let Some(tree) = self.tree() else { return false };
        let left = tree.node(tree.tip()).differs.count() * self.model.unexplained;
        if let Some(on_its_way) = tree.path(tree.tip()).into_iter().find(|id| *id > from) {
            let odds = left as i64 - (plies * self.model.ply) as i64;
            self.retract(now, on_its_way, CorrectionReason::Recovered, odds);
        }
        let gap = self.gap_since;
        // The plies follow the start position, but games may have been played before them.
        if self.is_at_start_for(now, GAME_TIME) {
            self.close_gap(now, Recovery::Undecidable);
        }
        // `view.turn` is `None` if the first clock reading came after the placement.
        let turn_read_later = self.turn_after_missed_press().filter(|turn| *turn == to_move);
        let next = view.turn.or(turn_read_later);
        let pressed = next.map(|color| !color);
        let mut completed = None;
        let Some(line) = &mut self.line else { return false };
        // Any other candidate is one of these plies, or wrong.
        let candidate = |node: &Node| node.standing == PlyStatus::Candidate;
        while let Some(other) = line.tree.find_after(from, candidate) {
            line.tree.remove(other);
        }
        let mut parent = from;
        for m in moves {
            let played = Played::Move(m);
            let state = line.tree.node(parent).state.after(m);
            parent = match line.tree.find_child(parent, played) {
                Some(known) => known,
                None => line.tree.add(parent, played, state, None, &self.sensors, now),
            };
            let node = line.tree.node_mut(parent);
            // The ply may be older than a stop of the clock in the gap.
            node.lifted_at = gap.unwrap_or(node.lifted_at);
            node.inferred = true;
            node.any_order = any_order;
        }
        let last = line.tree.node(parent).ply;
        let tip = line.tree.node_mut(from);
        let waited = next.is_some() && tip.standing != PlyStatus::Candidate && tip.parent.is_some();
        if waited && !core::mem::replace(&mut tip.completed, true) {
            completed = Some((tip.ply, tip.mover()));
        }
        // The clock runs for the other side, so all of these plies were pressed.
        let press = Press {
            at: now,
            elapsed: None,
        };
        for mover in pressed.iter().chain(next.filter(|_| plies > 1).iter()) {
            line.pressed[*mover] = Some(press);
        }
        let doubt = DoubtfulPlies {
            from: gap.unwrap_or(since),
            first: line.tree.node(from).ply + 1,
            last,
        };
        line.lost = None;
        if let Hearing::Back(unheard, _) = &self.hearing
            && !self.recalled
        {
            line.before_doubt.get_or_insert_with(|| unheard.clone());
            if self.loses_power.is_none() && (any_order || plies > FEW_PLIES) {
                line.unchecked.get_or_insert_with(|| unheard.clone());
            }
        }
        // If this line continues another one in doubt, both are in doubt and are withdrawn together.
        line.doubt = Some(
            line.doubt
                .map_or(doubt, |before| DoubtfulPlies { last, ..before }),
        );
        if let Some((ply, mover)) = completed {
            let by = CompletedBy::Press;
            let clock = match plies {
                1 => self.clock.shown_at_missed_press(mover, true),
                _ => self.clock.shown_before_gap(),
            };
            let elapsed = None;
            self.announce(
                now,
                Finding::Completed {
                    ply,
                    by,
                    clock,
                    elapsed,
                },
            );
        }
        self.close_gap(now, Recovery::Inferred);
        true
    }

    /// Whether the board showed another ply before the gap that also leads to `view` but is missing from `moves`.
    fn omits_observed_ply(&self, view: &View, from: NodeId, moves: &[Move]) -> bool {
        let Some((line, gap)) = self.line.as_ref().zip(self.gap_since) else {
            return false;
        };
        let nodes = line.tree.nodes().iter();
        let mut seen = nodes.filter(|node| {
            let left_out = !matches!(node.played, Played::Move(m) if moves.contains(&m));
            node.parent == Some(from) && node.exact && node.landed.at <= gap && left_out
        });
        // Shares the budget of one search among the lengths.
        let budget = MAX_POSITIONS / moves.len().max(1);
        seen.any(|node| {
            (1..=moves.len()).any(|plies| {
                view.turn_fits(node.state.turn(), plies)
                    && lines::between(&node.state, &view.board, plies, budget) != FoundLines::Nothing
            })
        })
    }

    /// Withdraws the unconfirmed plies before a gap that began at `from`, if the piece of the first one has left its
    /// square and this costs more than withdrawing them. After the gap, nothing can confirm them.
    fn withdraw_unconfirmed(&mut self, now: Timestamp, from: Timestamp) {
        let Some(tree) = self.tree() else { return };
        let model = self.model;
        let announced = tree.path(tree.tip()).into_iter().rev();
        let open = |id: &NodeId| tree.node(*id).standing != PlyStatus::Confirmed;
        let Some(first) = announced.take_while(open).last() else {
            return;
        };
        let node = tree.node(first);
        let gone = match node.played {
            Played::Move(m) => self.sensors.differing(node.state.board()).contains(m.to()),
            Played::Irregular(_) | Played::Root => true,
        };
        let regular = matches!(node.played, Played::Move(_));
        let stood = regular && node.exact && from.saturating_duration_since(node.since) >= model.put_right;
        let cost = if stood { model.unlikely } else { model.withdrawn };
        let odds = (usize::from(gone) * model.unexplained) as i64 - cost as i64;
        if odds > 0 {
            self.retract(now, first, CorrectionReason::Recovered, odds);
        }
    }

    /// Closes a gap if the board stands as before it, once the placement has stood for longer than a piece in motion
    /// would.
    pub(super) fn nothing_was_missed(&mut self, now: Timestamp) {
        if self.gap_since.is_some() && (self.hearing.unheard().is_some() || self.clock.both_presses_missed())
        {
            return;
        }
        let stood = self.quiet_since + self.model.pause;
        if now >= stood || self.sensors.dumped_at() == now {
            self.close_gap_as_it_stood(now);
        } else if self.gap_since.is_some() {
            self.wake_at(stood);
        }
    }

    /// Returns how to close a gap after which the board stands as before. Most likely nothing was played. At a start
    /// position, however, whole games may have been played if the gap was longer than **patience**.
    pub(super) fn recovery_as_it_stood(&self, now: Timestamp) -> Recovery {
        if self.is_at_start_for(now, self.model.patience) {
            Recovery::Undecidable
        } else {
            Recovery::Inferred
        }
    }

    /// Whether the line is at its start position, and the open gap has lasted for more than `time`.
    pub(super) fn is_at_start_for(&self, now: Timestamp, time: Duration) -> bool {
        let starts = self.tree().is_some_and(|tree| tree.node(tree.tip()).ply == 0);
        starts && self.gap_since.is_some_and(|since| now > since + time)
    }

    /// Closes a gap after which the board stands as before. Completes the last ply if its press was missed in the gap.
    fn close_gap_as_it_stood(&mut self, now: Timestamp) {
        if self.gap_since.is_some() {
            // The checkpoint set by `close_gap` includes the press.
            self.complete_missed_presses(now);
            self.close_gap(now, self.recovery_as_it_stood(now));
        }
    }

    pub(super) fn close_gap(&mut self, now: Timestamp, by: Recovery) {
        if let Some(from) = self.gap_since.take() {
            if by == Recovery::Undecidable {
                self.withdraw_unconfirmed(now, from);
            } else {
                self.set_checkpoint(now);
            }
            self.announce_recovered(now, by, 0, from);
        }
    }

    /// `changes` is the number of changes of squares that the memory held.
    pub(super) fn announce_recovered(
        &mut self,
        to: Timestamp,
        by: Recovery,
        changes: usize,
        from: Timestamp,
    ) {
        let recovered = Finding::Recovered {
            by,
            changes,
            from,
            to,
        };
        self.announce(to, recovered);
    }
}

pub(super) fn withdrawal_of(played: &Played) -> CorrectionReason {
    match played {
        Played::Irregular(_) => CorrectionReason::IllegalRestored,
        Played::Move(_) | Played::Root => CorrectionReason::Takeback,
    }
}
