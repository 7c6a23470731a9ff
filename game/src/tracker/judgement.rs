//! Decides when a ply is announced, amended, withdrawn or confirmed.
//!
//! There is no fixed waiting time. A press, the opponent's hand, or the time for which the pieces have stood decides;
//! `patience` has these times.
//!
//! # Announcing
//!
//! The next ply of the best line is announced
//!
//! - at once, if it was inferred over a gap as the only line,
//! - **settle** after it stood, if its player has pressed, or if the opponent has lifted a piece that the moving piece
//!   cannot be about to capture,
//! - with its reply, once the reply has stood for a scan (**pause** if the reply hides the ply from the scan),
//! - otherwise after the rest that `patience` requires.
//!
//! The announcement is held back
//!
//! - while more squares are unexplained than two moves can explain, or more squares were unexplained before the ply
//!   than pieces in hands can account for,
//! - while a king stands in the centre where the line does not have it: a result is being shown,
//! - for **pause**, if only a dump shows the ply: the board's memory can be requested in that time,
//! - until **doubt** after another piece of the same player was lifted, if that piece has been missing since before the
//!   ply,
//! - for **rest**, while the board shows the same piece on another square as well: the piece is on its way there,
//! - while its player holds another piece, unless a press or a reply supports the ply,
//! - for **unclear**, if another line is about as credible and one of the two has a piece on a square that does not
//!   read it. After that time, or if kings show the result, the ply is announced as a guess (`inferred` in the event).
//!
//! # Amending and withdrawing
//!
//! | what the best line has in place of the announced ply | required standing time |
//! | --- | --- |
//! | another ply, with a press or a reply | **settle** |
//! | another ply, without either | the rest of `patience`, and at least **pause** |
//! | another ply, if it is irregular or the announced ply was confirmed | **rest** |
//! | no ply | **rest** for the position before it |
//!
//! While any square is unexplained, a confirmed ply can change only if kings show a result.
//!
//! # Confirming
//!
//! A ply is confirmed by its player's press, by the reply, or after **doubt** on a quiet board with no square
//! unexplained, unless castling may have begun. A guess is not confirmed while other lines are as credible.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{Bitboard, Color, Square};

use super::Tracker;
use super::examine::withdrawal_of;
use super::node::{Node, NodeId, Played, PlyStatus};
use super::patience::can_take;
use super::tree::Tree;
use crate::events::{Caution, CompletedBy, CorrectionReason, Grounds, SettledBy};
use crate::model::{A_FEW, IN_HANDS, MAX_CONCLUSIONS, REMEMBERED_PLIES, TWO_MOVES};

enum Ready {
    /// The ply can be announced on these grounds.
    Now(Grounds),
    /// The ply cannot be announced before this time.
    At(Timestamp),
    /// The ply cannot be announced while the board stays as it is.
    Not,
}

impl Tracker {
    /// Draws every conclusion that is due at `now`, and determines when the next one may be due.
    pub(super) fn decide(&mut self, now: Timestamp) {
        for _ in 0..MAX_CONCLUSIONS {
            self.wake = None;
            if self.playback.is_none() && self.recalls(now) {
                // Without a line, the memory may have the game from its start.
                if self.line.is_some() && !self.is_lost() {
                    self.join(now);
                }
                if !self.is_jolted() && (self.step_along_line(now) || self.examine(now)) {
                    continue;
                }
                break;
            }
            if let Some(at) = self.checks_gap_at() {
                self.waits(now, at);
            }
            if self.find_start(now) {
                continue;
            }
            if self.is_jolted() && !self.give_up_jolt(now) {
                break;
            }
            let concluded = self.reopen(now)
                || self.give_up_gap(now)
                || self.join(now)
                || self.find_result(now)
                || self.suspect_irregular(now)
                || self.step_along_line(now)
                || self.examine(now);
            if !concluded {
                break;
            }
        }
    }

    /// Announces, amends, withdraws or confirms one ply. Returns whether it did.
    fn step_along_line(&mut self, now: Timestamp) -> bool {
        let known = !self.may_miss_reports();
        // In a gap, plies may have led back to the same position.
        let unheard = self.gap_since.is_some() && self.has_led_back();
        let led_back = unheard || self.is_lost() && self.clock.both_presses_missed();
        let Some(line) = &mut self.line else { return false };
        let tree = &line.tree;
        let (tip, best) = (tree.tip(), tree.best());
        if known && !led_back && tip == best && tree.node(tip).differs.is_empty() {
            line.lost = None;
            self.nothing_was_missed(now);
        }
        self.weigh_doubt();
        if self.refuted(now) {
            return true;
        }
        let Some(line) = &self.line else { return false };
        let tree = &line.tree;
        // After a gap, a single move that explains the board need not be the next ply: see `examine`.
        let announced = tree.path(tip);
        let best_line = tree.path(best);
        let common = announced
            .iter()
            .zip(&best_line)
            .take_while(|(a, b)| a == b)
            .count();
        let unknown = self.gap_since.is_some() || line.lost.is_some();
        if unknown && !best_line.iter().skip(common).any(|id| tree.node(*id).inferred) {
            return false;
        }
        if common < announced.len() {
            let (announced, instead) = (announced[common], best_line.get(common).copied());
            return self.reconsider(now, announced, instead, best);
        }
        if let Some(next) = best_line.get(common).copied() {
            // A line that may be wrong must explain the board before play continues from it.
            let wrong = !tree.node(next).inferred && self.doubted().is_some();
            let ready = if wrong {
                Ready::Not
            } else {
                self.readiness(now, next, best)
            };
            match ready {
                Ready::Now(grounds) => {
                    self.announce_made(now, next, grounds);
                    return true;
                }
                Ready::At(at) => self.wake_at(at),
                Ready::Not => {}
            }
        }
        self.confirm_tip(now, tip) || self.close_old_plies(now)
    }

    fn readiness(&self, now: Timestamp, next: NodeId, best: NodeId) -> Ready {
        let Some(tree) = self.tree() else {
            return Ready::Not;
        };
        let node = tree.node(next);
        let unexplained = tree.node(best).differs;
        let differs = unexplained.count();
        // Squares unexplained before this ply show that something else was played, or pieces are being put away.
        let before = |square: &Square| self.sensors.changed_at(*square) < node.lifted_at;
        let left = unexplained.into_iter().filter(before).count();
        // A king in the centre that the line does not have there shows a result, or is being put away after one.
        let shows = self.sensors.board().kings() & unexplained & Bitboard::CENTER;
        if (differs > TWO_MOVES || left > IN_HANDS || shows.any()) && !node.inferred {
            return Ready::Not;
        }
        // While pieces are being set up, many stand on squares that do not read them yet.
        if node.is_unread() && differs > 0 {
            return Ready::Not;
        }
        let from = |at: Timestamp, grounds: Grounds| {
            if now >= at {
                Ready::Now(grounds)
            } else {
                Ready::At(at)
            }
        };
        let wait = |rest: Duration, grounds: Grounds| from(node.since + rest, grounds);
        let stand = |caution: Caution| {
            let rest = caution.rest(self.model);
            wait(rest, Grounds::Stood(rest, caution))
        };
        if node.inferred {
            return Ready::Now(Grounds::OnlyLine);
        }
        // The board's memory is requested if a dump shows a ply that was not reported; the ply waits for it.
        let asked_by = self
            .hearing
            .tells_by()
            .unwrap_or(node.landed.at + self.model.pause);
        if node.landed.is_late() && now < asked_by {
            return Ready::At(asked_by);
        }
        let clear_at = self.clear_at(tree, next, best);
        if now < clear_at {
            return Ready::At(clear_at);
        }
        if node.is_unread() && best == next && self.pressed_since(node.mover(), node.lifted_at).is_none() {
            return stand(Caution::MayCastle);
        }
        if let Some(held) = self
            .held_since(next, best)
            .filter(|held| now < *held + self.model.doubt)
        {
            return Ready::At(held + self.model.doubt);
        }
        let fresh = unexplained & self.sensors.touched_since(node.lifted_at);
        if !node.is_irregular() && self.shown_again(node, fresh) {
            return stand(Caution::MayBeDrawn);
        }
        if best != next {
            // A piece that is drawn across the board can look like a reply while it crosses a square, so the reply must
            // stand as well, and longer if it hides the ply before it.
            let hidden = tree.path(best).iter().any(|id| tree.node(*id).hidden);
            let at = tree.node(best).since + if hidden { self.model.pause } else { ONE_SCAN_APART };
            let at = at.max(node.since + self.model.rest * u32::from(node.is_irregular()));
            let Some(backed) = self.backed_at(next, best) else {
                return Ready::Not;
            };
            return from(at.max(backed), Grounds::Reply);
        }
        if !node.shown {
            return Ready::Not;
        }
        if node.is_irregular() {
            return wait(self.model.rest, Grounds::Press);
        }
        let lifted = fresh.without(self.sensors.board().occupied());
        let mover_holds_more = (lifted & node.state.board().by_color(node.mover())).any();
        if self.pressed_since(node.mover(), node.lifted_at).is_some() {
            let rest = if self.caution(next) == Caution::MayGoOn {
                ONE_SCAN_APART
            } else {
                self.model.settle
            };
            return wait(rest, Grounds::Press);
        }
        if mover_holds_more {
            return Ready::Not;
        }
        let lifted_by_opponent = lifted & node.state.board().by_color(node.state.turn());
        if lifted_by_opponent
            .into_iter()
            .any(|square| !can_take(tree, next, square))
        {
            return wait(self.model.settle, Grounds::Reply);
        }
        stand(self.caution(next))
    }

    /// Returns the earliest time at which a ply may be announced: its lift or, if the ply is ambiguous, **unclear**
    /// later. If kings show the result, an ambiguous ply does not wait, because no later evidence will decide.
    fn clear_at(&self, tree: &Tree, next: NodeId, best: NodeId) -> Timestamp {
        let tells = tree.node(best).result.is_none() && tree.is_ambiguous(next, best);
        tree.node(next).lifted_at + self.model.unclear * u32::from(tells)
    }

    /// Returns when a player last lifted a piece that is still missing, although one of the plies from `next` on was
    /// made by this player after that. If the piece stands on a square that does not read it, setting it down was an
    /// earlier ply.
    pub(super) fn held_since(&self, next: NodeId, best: NodeId) -> Option<Timestamp> {
        let tree = self.tree()?;
        let last = tree.node(best);
        let missing = last.differs.without(self.sensors.board().occupied());
        let plies = tree
            .path(best)
            .into_iter()
            .filter(|id| *id >= next)
            .map(|id| tree.node(id));
        let lifted = plies.flat_map(|ply| {
            let own = missing & last.state.board().by_color(ply.mover());
            let lifted = own.into_iter().map(|square| self.sensors.changed_at(square));
            lifted.filter(|lifted| *lifted < ply.lifted_at)
        });
        lifted.max()
    }

    /// Whether another square shows the moved piece as well, so that the piece is on its way there.
    fn shown_again(&self, node: &Node, fresh: Bitboard) -> bool {
        let Played::Move(m) = node.played else {
            return false;
        };
        let piece = m.promotion().unwrap_or_else(|| m.role()).of(node.mover());
        let board = self.sensors.board();
        fresh.into_iter().any(|square| {
            board.piece_at(square) == Some(piece)
                && self.sensors.changed_at(square) >= self.sensors.changed_at(m.to())
        })
    }

    /// Handles a best line with `instead`, or no ply, in place of `announced`. Returns whether the line changed.
    fn reconsider(
        &mut self,
        now: Timestamp,
        announced: NodeId,
        instead: Option<NodeId>,
        best: NodeId,
    ) -> bool {
        // While squares are unexplained, the pieces may be on their way back to where they stood, and nearly any ply
        // explains some of the squares.
        let Some(tree) = self.tree() else { return false };
        let number = tree.node(announced).ply;
        let sure = tree.node(announced).standing == PlyStatus::Confirmed;
        let ends = tree.node(best).result.is_some();
        if !ends && self.unexplained() > if sure { 0 } else { IN_HANDS } {
            return false;
        }
        let Some(instead) = instead else {
            return self.take_back(now, announced, best);
        };
        let Some(at) = self.amended_at(announced, instead, best) else {
            return false;
        };
        let against = tree.odds_against()[tree.tip()];
        if self.waits(now, at) {
            return false;
        }
        let grounds = if best == instead {
            let caution = self.caution(instead);
            Grounds::Stood(caution.rest(self.model).max(self.model.pause), caution)
        } else {
            Grounds::Reply
        };
        if !self.went_on_to(announced, instead) && self.refutes(now, number, against) {
            return true;
        }
        let Some(ply) = self.describe(now, instead, grounds) else {
            return false;
        };
        let (mover, lifted_at) = (ply.color, ply.lifted_at);
        let Some(line) = &mut self.line else { return false };
        let reason = if sure {
            CorrectionReason::Recovered
        } else {
            CorrectionReason::MovedOn
        };
        // Withdrawn plies stay candidates: later observations may support them.
        line.tree.withdraw(announced);
        line.tree.mark(instead).standing = PlyStatus::Announced;
        self.note_unannounced(ply);
        self.announce_line(now, reason, None);
        self.complete_if_pressed(now, instead, mover, lifted_at);
        true
    }

    /// Withdraws `announced` if the position before it has stood long enough. Returns whether it did.
    fn take_back(&mut self, now: Timestamp, announced: NodeId, best: NodeId) -> bool {
        let Some(line) = &self.line else { return false };
        let (node, best) = (line.tree.node(announced), line.tree.node(best));
        let since = if best.result.is_some() {
            self.stands_since(self.sensors.board().kings())
        } else if best.differs.is_empty() {
            self.quiet_since
        } else {
            return false;
        };
        let reason = if best.result.is_some() {
            CorrectionReason::Kings
        } else {
            withdrawal_of(&node.played)
        };
        let against = line.tree.odds_against()[line.tree.tip()];
        if self.waits(now, since + self.model.rest) {
            return false;
        }
        self.retract(now, announced, reason, against);
        true
    }

    /// When `instead` will have stood long enough to replace `announced`; `None` if it cannot as the board stands.
    fn amended_at(&self, announced: NodeId, instead: NodeId, best: NodeId) -> Option<Timestamp> {
        let tree = self.tree()?;
        let node = tree.node(instead);
        // If the squares of `instead` do not show it, its piece has moved on, or a hand is on its way there.
        if best == instead && !node.shown && !node.inferred {
            return None;
        }
        let sure = tree.node(announced).standing == PlyStatus::Confirmed;
        // Several positions that the board showed exactly, one after the other, prove more than a quiet board.
        let exact = |id: &NodeId| *id >= instead && tree.node(*id).exact;
        let shown = tree.path(best).into_iter().filter(exact).count();
        // A captured piece that was pushed aside looks like a moved piece until it is taken off the board.
        let aside = best != instead && tree.node(announced).stood > ONE_SCAN_APART;
        let rest = if sure && shown >= A_FEW {
            ONE_SCAN_APART
        } else if sure || aside || node.is_irregular() {
            self.model.rest
        } else if best != instead || self.pressed_since(node.mover(), node.lifted_at).is_some() {
            self.model.settle
        } else {
            self.caution(instead).rest(self.model).max(self.model.pause)
        };
        let backed = self
            .backed_at(instead, best)?
            .max(self.clear_at(tree, instead, best));
        Some(backed.max(node.since.max(tree.node(best).since) + rest))
    }

    /// When a ply is supported well enough to be announced: a suspected irregular move once its reply has rested with
    /// no square unexplained, any other ply as soon as it stands. `None` for a suspicion while squares are unexplained,
    /// in a gap, or during the playback of a polled board, whose resting times are unknown.
    fn backed_at(&self, next: NodeId, best: NodeId) -> Option<Timestamp> {
        let tree = self.tree()?;
        if !tree.is_suspicion(next) {
            return Some(tree.node(next).since);
        }
        let polled = self.polled.is_some() && self.playback.is_some();
        let whole = tree.node(best).differs.is_empty() && self.gap_since.is_none();
        (whole && !polled).then(|| self.quiet_since + self.model.rest)
    }

    /// Announces a ply, completes the mover's previous ply, and confirms the opponent's last one.
    pub(super) fn announce_made(&mut self, now: Timestamp, id: NodeId, grounds: Grounds) {
        let Some(ply) = self.describe(now, id, grounds) else {
            return;
        };
        let (mover, lifted_at) = (ply.color, ply.lifted_at);
        let Some(line) = &mut self.line else { return };
        let tree = &mut line.tree;
        tree.mark(id).standing = PlyStatus::Announced;
        let hidden = tree.node(id).hidden;
        self.habits.note(tree.node(id), &self.sensors);
        let path = tree.path(id);
        let mut earlier = path.into_iter().rev().skip(1);
        let before = earlier.next();
        let own_last = earlier.next().filter(|id| !tree.node(*id).completed);
        if let Some(own_last) = own_last {
            self.complete(now, own_last, CompletedBy::OwnNextMove, None);
        }
        // A reply that no scan has shown does not confirm the ply before it.
        if let Some(before) = before.filter(|_| !hidden) {
            self.confirm(now, before, SettledBy::Reply);
        }
        self.note_unannounced(ply);
        self.announce_line(now, CorrectionReason::Recovered, None);
        self.complete_if_pressed(now, id, mover, lifted_at);
    }

    /// Completes a ply whose press was reported before its squares were.
    fn complete_if_pressed(&mut self, now: Timestamp, id: NodeId, mover: Color, lifted_at: Timestamp) {
        if let Some(press) = self.pressed_since(mover, lifted_at) {
            self.complete(now, id, CompletedBy::Press, press.elapsed);
        }
    }

    /// Confirms the last ply if it was pressed or has stood long enough. Returns whether it did.
    pub(super) fn confirm_tip(&mut self, now: Timestamp, tip: NodeId) -> bool {
        let Some(tree) = self.tree() else { return false };
        let node = tree.node(tip);
        // If reports may have been lost, the piece may have moved on; the next dump shows it.
        if node.standing != PlyStatus::Announced || self.may_miss_reports() {
            return false;
        }
        // If the press came right after the ply landed, the squares may still change.
        if node.completed {
            if self.waits(now, node.since + ONE_SCAN_APART) {
                return false;
            }
            return self.confirm(now, tip, SettledBy::Press);
        }
        if !node.differs.is_empty() || self.caution(tip) == Caution::MayCastle {
            return false;
        }
        if self.playback.is_some_and(|playback| playback.goes_on) {
            return false;
        }
        if self.waits(now, node.since.max(self.quiet_since) + self.model.doubt) {
            return false;
        }
        self.confirm(now, tip, SettledBy::Shape)
    }

    /// Makes the ply followed by [`A_FEW`] others the root of the tree, if it is confirmed. Returns whether it did.
    fn close_old_plies(&mut self, now: Timestamp) -> bool {
        let Some(line) = self.line.as_ref().filter(|line| line.doubt.is_none()) else {
            return false;
        };
        let announced = line.tree.path(line.tree.tip());
        let Some(close) = announced.len().checked_sub(A_FEW + 1).map(|at| announced[at]) else {
            return false;
        };
        // If the next start position appears soon, these plies may turn out to be part of its set-up.
        let in_one_go = self.in_one_go();
        if in_one_go.is_some_and(|since| line.tree.node(close).landed.at >= since)
            && announced.len() <= REMEMBERED_PLIES
        {
            return false;
        }
        match line.tree.node(close).standing {
            PlyStatus::Confirmed => {}
            // A guess, or a ply after one, is proved by later play.
            PlyStatus::Announced
                if line
                    .tree
                    .path(close)
                    .iter()
                    .any(|id| line.tree.node(*id).ambiguous) =>
            {
                if !self.confirm(now, close, SettledBy::Reply) {
                    return false;
                }
            }
            _ => return false,
        }
        let Some(line) = &mut self.line else { return false };
        line.passed.extend(line.tree.advance(close));
        true
    }
}
