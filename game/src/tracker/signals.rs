//! Recognises signs on the board that are not moves: a start position that was set up, or a result that is shown.
//!
//! A start position begins a new line: at once if there is no line, otherwise after **pause**. A position with
//! misplaced pieces, or the usual start position with one or two unread pieces, must stand for **doubt**.
//!
//! A result counts after **rest**, and later (`Model::counts_after`) if there is evidence against it: a king that
//! already stood in the centre, a ply that is not yet announced, a running clock beside a result piece, or a result
//! piece that may be a misread piece of the game. A result piece that may be misread does not count at all while the
//! clock runs.
//!
//! When the next start position stands, the last plies may have been pieces on their way to it. Each ply is weighed,
//! from the last one back. Pieces that go home, pieces that move after the clock was stopped, and pieces that move in
//! one go on a board without a clock suggest a set-up.

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, Board, Color, KnownOutcome};

use super::Tracker;
use super::finding::Finding;
use super::node::{NodeId, Played, PlyStatus};
use super::tree::Tree;
use crate::events::{CorrectionReason, EndReason, SettledBy};
use crate::model::{Cost, IN_HANDS};
use crate::position::{State, Variant, outcome_of_kings, start};

struct Sign {
    outcome: KnownOutcome,
    by: EndReason,
    since: Timestamp,
    /// Cost of the evidence against it.
    against: Cost,
}

impl Tracker {
    /// Begins a line from a start position that the best line does not explain, or that was set up after the end of the
    /// game. Returns whether it did.
    pub(super) fn find_start(&mut self, now: Timestamp) -> bool {
        let result_pieces = self.sensors.result_squares().any();
        if self.stands_as_expected() {
            if let Some(line) = &mut self.line {
                line.awaited = false;
            }
            if !self.ended {
                return false;
            }
        }
        let awaits_another = self.line.as_ref().is_some_and(|line| line.awaited);
        if awaits_another {
            self.turn_to_expected(now);
        }
        if !self.sensors.known() || result_pieces || awaits_another {
            return false;
        }
        let found = self.either_way(|board| start::recognise_as(&self.drawn, board));
        let Some(((variant, state), turn)) = found else {
            return self.find_start_in_part(now);
        };
        let wrong = variant == Variant::WrongStart;
        if wrong && !turn && self.has_castled_from_start() {
            return false;
        }
        let may_have_castled = wrong && self.may_have_castled();
        let castled = may_have_castled
            .then(|| start::before_castling(state.board()))
            .flatten();
        let (variant, state) = castled.map_or((variant, state), |state| (Variant::Chess960, state));
        let ready = self.quiet_since + if wrong { self.model.doubt } else { self.model.pause };
        if (self.line.is_some() || wrong) && self.waits(now, ready) {
            return false;
        }
        if turn {
            self.sensors.turn();
            self.show_squares(now);
        }
        let mut tree = Tree::new(self.model, state, 0, now);
        tree.update(&self.sensors, now);
        // The castling was not observed.
        for id in tree.path(tree.best()) {
            tree.node_mut(id).inferred = true;
        }
        self.begin_with(now, variant, tree);
        true
    }

    /// Rotates the board if the arbiter's position stands on it the other way round.
    fn turn_to_expected(&mut self, now: Timestamp) {
        let Some(line) = &self.line else { return };
        let root = line.tree.node(line.tree.root()).state.board();
        let mut turned = self.sensors.board().clone();
        turned.rotate_180();
        if !self.sensors.known() || turned != *root || self.waits(now, self.quiet_since + self.model.pause) {
            return;
        }
        self.sensors.turn();
        self.show_squares(now);
        if let Some(line) = &mut self.line {
            line.tree.update(&self.sensors, now);
            line.awaited = false;
        }
    }

    /// Applies `find` to the board and, if that fails, to the rotated board. The flag is true for the rotated board.
    fn either_way<T>(&self, find: impl Fn(&Board) -> Option<T>) -> Option<(T, bool)> {
        let mut turned = self.sensors.board().clone();
        turned.rotate_180();
        let here = find(self.sensors.board()).map(|found| (found, false));
        here.or_else(|| Some((find(&turned)?, true)))
    }

    fn has_castled_from_start(&self) -> bool {
        self.line.as_ref().is_some_and(|line| {
            let tip = line.tree.node(line.tree.tip());
            tip.ply == 0 && start::is_castled(&tip.state, self.sensors.board())
        })
    }

    /// Whether White may have castled before the board was connected, with the clock running.
    fn may_have_castled(&self) -> bool {
        let king = self.sensors.board().king_of(Color::White);
        let unseen = king.is_some_and(|king| self.sensors.changed(king).is_late());
        unseen && self.clock.running() == Some(true)
    }

    /// Begins a line from the usual start position with one or two unread pieces, which are assumed until play shows
    /// otherwise. Returns whether it did.
    fn find_start_in_part(&mut self, now: Timestamp) -> bool {
        // In a playback, the next change has no known time, so the position is not known to have stood.
        let known = !self.disturbed && self.playback.is_none();
        let Some((unseen, turn)) = self.either_way(start::unseen).filter(|_| known) else {
            return false;
        };
        // During a game, the missing piece may be in a hand.
        let expected = self.expected().map_or(usize::MAX, |(_, differs)| differs.count());
        if expected <= IN_HANDS {
            return false;
        }
        if self.waits(now, self.quiet_since + self.model.doubt) {
            return false;
        }
        if turn {
            self.sensors.turn();
        }
        self.sensors.believe(unseen, &Board::new());
        self.show_squares(now);
        self.begin(now, now, Variant::Standard, State::default());
        true
    }

    /// Stops assuming unread pieces once more than half of the pieces have been put away.
    pub(super) fn doubt_unseen(&mut self, now: Timestamp) {
        if self.sensors.unseen().is_empty() {
            return;
        }
        let expected = self.expected().map_or(0, |(board, _)| board.occupied().count());
        if 2 * self.sensors.board().occupied().count() < expected {
            self.sensors.disbelieve();
            self.show_squares(now);
        }
    }

    /// Assumes the line's pieces on these squares, as before a restart.
    pub(crate) fn believe_unseen(&mut self, squares: Bitboard) {
        if let Some(board) = self.expected().map(|(board, _)| board.clone()) {
            self.sensors.believe(squares, &board);
        }
    }

    /// Announces a result that the board shows. Returns whether there was a new one.
    pub(super) fn find_result(&mut self, now: Timestamp) -> bool {
        let Some(sign) = self.result_on_board() else {
            self.shown = None;
            return false;
        };
        let Sign { outcome, by, .. } = sign;
        if self.shown == Some((outcome, by)) {
            return false;
        }
        let stands = self.model.counts_after(sign.against);
        if stands.is_none_or(|stands| self.waits(now, sign.since + stands)) {
            return false;
        }
        self.shown = Some((outcome, by));
        if self.gap_since.is_some() && !self.disturbed {
            // The plies in the gap can no longer be reconstructed.
            self.give_up_line(now);
        }
        self.announce(now, Finding::ResultShown { outcome, by });
        true
    }

    /// Whether the best line explains the whole board. If plies are unknown, only the announced line counts: a board
    /// that shows an earlier position has been set up again, and no plies were taken back.
    fn stands_as_expected(&self) -> bool {
        self.line.as_ref().is_some_and(|line| {
            let best = line.tree.best();
            let known = line.lost.is_none() && self.gap_since.is_none() || best == line.tree.tip();
            known && line.tree.node(best).differs.is_empty()
        })
    }

    fn result_on_board(&self) -> Option<Sign> {
        let tree = self.tree()?;
        let board = |id: NodeId| tree.node(id).state.board();
        let gap = self.gap_since.is_some() || self.is_lost();
        self.result_piece(board(tree.tip()))
            .or_else(|| self.kings_in_centre(board(tree.best()), !gap && tree.tip() != tree.best()))
    }

    /// Returns the result shown by a result piece. If other squares differ from `expected` as well, or if `expected`
    /// has a piece on its square, the result piece is probably a misread piece of the game.
    fn result_piece(&self, expected: &Board) -> Option<Sign> {
        let outcome = self.sensors.shown_result()?;
        let squares = self.sensors.result_squares();
        let explained =
            self.sensors.differing(expected) == squares && (squares & expected.occupied()).is_empty();
        let against = usize::from(!explained) * self.model.unlikely;
        Some(Sign {
            outcome,
            by: EndReason::ResultPiece,
            since: self.stands_since(squares),
            against: match self.clock.running() {
                Some(true) => against + self.model.odd,
                // Players stop the clock at the end of a game.
                Some(false) => 0,
                None => against,
            },
        })
    }

    /// Both kings in the centre, which cannot arise in play: on light squares White won, on dark squares Black won, on
    /// one of each it is a draw. `before` is the placement of the best line; `unannounced` is true if a ply is still to
    /// be announced.
    fn kings_in_centre(&self, before: &Board, unannounced: bool) -> Option<Sign> {
        let board = self.sensors.board();
        let outcome = outcome_of_kings(board)?;
        let kings = board.kings() & Bitboard::CENTER;
        let stood_there = kings
            .into_iter()
            .any(|square| before.piece_at(square) == board.piece_at(square));
        Some(Sign {
            outcome,
            by: EndReason::Kings,
            since: self.stands_since(kings),
            against: usize::from(stood_there || unannounced) * self.model.odd,
        })
    }

    /// Returns when the last of `squares` changed or, if `squares` is empty, when the board last changed.
    pub(super) fn stands_since(&self, squares: Bitboard) -> Timestamp {
        let changed = squares.into_iter().map(|square| self.sensors.changed_at(square));
        changed.max().unwrap_or(self.quiet_since)
    }

    /// Finds the ply from which on the announced plies are more credible as the set-up of the next game than as play,
    /// and withdraws it and all later plies. A set-up moves pieces to their squares in `start`, after the clock was
    /// stopped or, without a clock, in one go.
    pub(super) fn withdraw_setting_up(&mut self, now: Timestamp, start: &Board) {
        let Some(tree) = self.tree() else { return };
        let model = self.model;
        let announced = tree.path(tree.tip());
        let made = self.made_before_the_clock_stopped(&announced);
        let in_one_go = self.in_one_go();
        let (mut odds, mut best) = (0, (0, None));
        for (at, id) in announced.iter().enumerate().rev() {
            let node = tree.node(*id);
            let at_once = in_one_go.is_some_and(|since| node.landed.at >= since);
            let home = matches!(node.played, Played::Move(m) if start.piece_at(m.to()) == Some(m.role().of(node.mover())));
            let sure = node.standing == PlyStatus::Confirmed;
            let played = usize::from(home) * model.odd
                + usize::from(at_once) * model.unlikely
                + usize::from(at >= made) * model.reversed;
            let set_up =
                model.withdrawn + usize::from(sure) * model.unlikely + usize::from(!home) * model.unexplained;
            odds += played as i64 - set_up as i64;
            best = best.max((odds, (odds > 0).then_some(*id)));
        }
        if let (odds, Some(first)) = best {
            self.retract(now, first, CorrectionReason::SetUp, odds);
        }
        // The remaining plies were played, however soon after them the pieces were set up.
        if let Some(tip) = self.tree().map(Tree::tip) {
            self.confirm(now, tip, SettledBy::Shape);
        }
    }

    /// Returns how many of the announced plies were made before the clock was stopped; all of them if the clock was not
    /// stopped or this is not known.
    fn made_before_the_clock_stopped(&self, announced: &[NodeId]) -> usize {
        let all = announced.len();
        let stopped = self.clock.stopped_since().filter(|_| !self.recovering());
        let Some((since, line)) = stopped.zip(self.line.as_ref()) else {
            return all;
        };
        let after = |id: &NodeId| {
            let node = line.tree.node(*id);
            node.lifted_at > since && !node.completed
        };
        let Some(last) = announced.iter().rposition(|id| !after(id)) else {
            return all;
        };
        // If the clock was not running at the last ply before its stop, the stop proves nothing.
        let before = line.tree.node(announced[last]).since;
        let ran = self.clock.ran_at(before) && before <= since;
        if ran { last + 1 } else { all }
    }

    /// Returns when the latest series of changes without a pause of **rest** began; `None` if a clock is connected, or
    /// during playback of the board's memory.
    pub(super) fn in_one_go(&self) -> Option<Timestamp> {
        if self.recovering() || self.clock.running().is_some() {
            return None;
        }
        let mut since = None;
        for change in self.sensors.recent().rev() {
            if since.is_some_and(|since| since > change.when.at + self.model.rest) {
                return since;
            }
            since = Some(change.when.at);
        }
        // In a long set-up, the pause before it may no longer be among the recent changes.
        let forgotten = self.sensors.has_forgotten();
        since.map(|since| if forgotten { Timestamp::default() } else { since })
    }
}
