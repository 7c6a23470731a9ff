//! When a reading is credible enough to be told, and when it has to be taken back.
//!
//! No fixed wait: the press, the opponent's hand, or the time that the pieces have stood decides, and how long that
//! is depends on what else the same piece could still do.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{Bitboard, Color};

use super::Tracker;
use super::examine::withdrawal_of;
use super::finding::{Caution, Completion, Finding, Grounds, Settlement, Withdrawal};
use super::patience::can_take;
use super::tree::{Node, NodeId, Played, Standing};

/// The press and the reply tell the move at once, but not in the middle of a scan.
const RESTS_AT_ALL: Duration = Duration::from_millis(60);
/// A reply must have stood this long, for a piece drawn on can look like one.
const RESTS: Duration = Caution::NothingFollows.rest();
/// Another reading than the one told must have stood this long.
const RESTS_AMENDED: Duration = Duration::from_millis(450);
/// A move taken back must have been back for this long.
const RESTS_TAKEN_BACK: Duration = Duration::from_millis(1000);
/// A move that nothing can follow is certain after this long.
const CERTAIN_AFTER: Duration = Duration::from_secs(3);
/// A settled ply is taken back when the earlier placement has stood for this long.
const RESTORED_AFTER: Duration = Duration::from_millis(1500);
/// A move whose reply came before it was seen must have stood, with the reply, for this long.
const RESTS_HIDDEN: Duration = Duration::from_millis(700);
/// A captured piece is taken off the board within this long.
const RESTS_PUSHED_ASIDE: Duration = Duration::from_millis(1300);
/// So many plies in a row of another reading prove that a settled one was wrong.
const PLIES_PROVING: usize = 3;
/// Alternatives are kept for so many of the last plies.
const PLIES_OPEN: usize = 3;
/// A ply is not told, and none is told otherwise, while so many squares more are not what they should be: pieces are
/// being set up or cleared away.
const MOST_UNEXPLAINED: usize = 6;
/// More is never concluded from one observation; a bound, so that nothing on a board can hold the daemon up.
const MOST_CONCLUSIONS: usize = 100;

/// Whether a reading may be told.
enum Ready {
    Now(Grounds),
    At(Timestamp),
    Not,
}

impl Tracker {
    /// Draws every conclusion that is due at `now` and finds out when the next one may be.
    pub(super) fn decide(&mut self, now: Timestamp) {
        for _ in 0..MOST_CONCLUSIONS {
            self.wake = None;
            if self.playback.is_none() && (self.waits_for_late(now) || self.waits_for_memory(now)) {
                break;
            }
            let concluded = self.look_for_start(now)
                || self.look_for_position(now)
                || self.look_for_result(now)
                || self.look_at_line(now)
                || self.examine(now);
            if !concluded {
                break;
            }
        }
    }

    /// One step along the line. Returns whether there was one.
    fn look_at_line(&mut self, now: Timestamp) -> bool {
        let Some(line) = &self.line else { return false };
        let tree = &line.tree;
        let (tip, best) = (tree.tip(), tree.best());
        if !self.disturbed && tip == best && tree.node(tip).differs.is_empty() {
            self.lost = false;
            self.astray = false;
            self.nothing_was_missed(now);
        }
        self.weigh_doubt();
        let Some(line) = &self.line else { return false };
        let tree = &line.tree;
        // What one look at the board shows after a gap need not be the next ply: see examine().
        let told = tree.path(tip);
        let reading = tree.path(best);
        let common = told.iter().zip(&reading).take_while(|(a, b)| a == b).count();
        let unknown = self.gap.is_some() || self.astray;
        if unknown && !reading.iter().skip(common).any(|id| tree.node(*id).inferred) {
            return false;
        }
        if common < told.len() {
            return self.reconsider(now, told[common], reading.get(common).copied(), best);
        }
        if let Some(next) = reading.get(common).copied() {
            match self.readiness(now, next, best) {
                Ready::Now(grounds) => {
                    self.tell_made(now, next, grounds);
                    return true;
                }
                Ready::At(at) => self.wake_at(at),
                Ready::Not => {}
            }
        }
        self.settle_tip(now, tip) || self.close_old_plies()
    }

    /// Whether `next`, on the way to the best reading, can be told.
    fn readiness(&self, now: Timestamp, next: NodeId, best: NodeId) -> Ready {
        let Some(tree) = self.line.as_ref().map(|line| &line.tree) else {
            return Ready::Not;
        };
        let node = tree.node(next);
        if tree.node(best).differs.count() > MOST_UNEXPLAINED && !node.inferred {
            return Ready::Not;
        }
        let wait = |rest: Duration, grounds: Grounds| {
            let at = node.since + rest;
            if now >= at {
                Ready::Now(grounds)
            } else {
                Ready::At(at)
            }
        };
        if node.inferred {
            return Ready::Now(Grounds::OnlyLine);
        }
        if best != next {
            // A piece drawn on can look like a reply while it crosses a square: the reply, too, must stand, and longer
            // if it hides what it replies to.
            let hidden = tree.path(best).iter().any(|id| tree.node(*id).hidden);
            let at = tree.node(best).since + if hidden { RESTS_HIDDEN } else { RESTS };
            return if now >= at {
                Ready::Now(Grounds::Reply)
            } else {
                Ready::At(at)
            };
        }
        if !node.met {
            return Ready::Not;
        }
        let fresh = node.differs & self.sensors.touched_since(node.lifted_at);
        if self.shown_again(node, fresh) {
            let caution = Caution::MayBeDrawn;
            return wait(caution.rest(), Grounds::Stood(caution.rest(), caution));
        }
        if self.pressed_since(node.mover(), node.lifted_at).is_some() {
            let rest = if self.caution(next) == Caution::MayGoOn {
                ONE_SCAN_APART
            } else {
                RESTS_AT_ALL
            };
            return wait(rest, Grounds::Press);
        }
        let missing = fresh.without(self.sensors.board().occupied());
        let mover_holds_more = (missing & node.state.board().by_color(node.mover())).any();
        if mover_holds_more {
            return Ready::Not;
        }
        let lifted_by_opponent = missing & node.state.board().by_color(node.state.turn());
        if lifted_by_opponent
            .into_iter()
            .any(|square| !can_take(tree, next, square))
        {
            return wait(RESTS_AT_ALL, Grounds::Reply);
        }
        let caution = self.caution(next);
        wait(caution.rest(), Grounds::Stood(caution.rest(), caution))
    }

    /// Whether the piece that moved is shown on a further square as well: it is on its way there.
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

    /// The best reading is not what was told: from `told` on it is `instead`, or nothing yet.
    fn reconsider(&mut self, now: Timestamp, told: NodeId, instead: Option<NodeId>, best: NodeId) -> bool {
        if self.unexplained() > MOST_UNEXPLAINED {
            return false;
        }
        let Some(instead) = instead else {
            return self.take_back(now, told, best);
        };
        let Some(at) = self.amended_at(told, instead, best) else {
            return false;
        };
        if now < at {
            self.wake_at(at);
            return false;
        }
        let stood = best == instead;
        let grounds = if stood {
            let caution = self.caution(instead);
            Grounds::Stood(caution.rest().max(RESTS_AMENDED), caution)
        } else {
            Grounds::Reply
        };
        if self.refutes(now, self.ply_of(told)) {
            return true;
        }
        let Some(ply) = self.describe(now, instead, grounds) else {
            return false;
        };
        let (mover, lifted_at) = (ply.color, ply.lifted_at);
        let Some(line) = &mut self.line else { return false };
        let settled = line.tree.node(told).standing == Standing::Settled;
        let reason = if settled {
            Withdrawal::Recovered
        } else {
            Withdrawal::MovedOn
        };
        // What is withdrawn stays a reading: the board may yet show that it was right.
        line.tree.withdraw(told);
        line.tree.node_mut(instead).standing = Standing::Told;
        self.tell(
            now,
            Finding::Amended {
                ply: Box::new(ply),
                reason,
            },
        );
        self.complete_if_pressed(now, instead, mover, lifted_at);
        true
    }

    /// The board is back as it was before `told`.
    fn take_back(&mut self, now: Timestamp, told: NodeId, best: NodeId) -> bool {
        let quiet_since = self.quiet_since;
        let Some(line) = &mut self.line else { return false };
        let node = line.tree.node(told);
        if !line.tree.node(best).differs.is_empty() {
            return false;
        }
        let settled = node.standing == Standing::Settled;
        let at = quiet_since + if settled { RESTORED_AFTER } else { RESTS_TAKEN_BACK };
        if now < at {
            self.wake_at(at);
            return false;
        }
        let (ply, reason) = (node.ply, withdrawal_of(&node.played));
        if self.refutes(now, ply) {
            return true;
        }
        let Some(line) = &mut self.line else { return false };
        line.tree.remove(told, best);
        self.tell(now, Finding::Retracted { ply, reason });
        true
    }

    fn ply_of(&self, id: NodeId) -> u32 {
        self.line.as_ref().map_or(0, |line| line.tree.node(id).ply)
    }

    /// When `instead` has stood long enough to replace `told`.
    fn amended_at(&self, told: NodeId, instead: NodeId, best: NodeId) -> Option<Timestamp> {
        let tree = &self.line.as_ref()?.tree;
        let node = tree.node(instead);
        let rest = if tree.node(told).standing == Standing::Settled {
            // A whole line that goes on without what was settled, ply after ply as the board showed it, proves more
            // than a quiet board.
            let line = tree.path(best);
            let shown = line
                .iter()
                .filter(|id| **id >= instead && tree.node(**id).exact)
                .count();
            if shown >= PLIES_PROVING {
                RESTS
            } else {
                RESTORED_AFTER
            }
        } else if best != instead && tree.node(told).stood > ONE_SCAN_APART {
            // A captured piece pushed aside can look as if it had moved there, until it is taken off.
            RESTS_PUSHED_ASIDE
        } else if best != instead || self.pressed_since(node.mover(), node.lifted_at).is_some() {
            RESTS_AT_ALL
        } else {
            self.caution(instead).rest().max(RESTS_AMENDED)
        };
        Some(node.since.max(tree.node(best).since) + rest)
    }

    fn tell_made(&mut self, now: Timestamp, id: NodeId, grounds: Grounds) {
        let Some(ply) = self.describe(now, id, grounds) else {
            return;
        };
        let (mover, lifted_at) = (ply.color, ply.lifted_at);
        let Some(line) = &mut self.line else { return };
        let tree = &mut line.tree;
        tree.node_mut(id).standing = Standing::Told;
        let hidden = tree.node(id).hidden;
        self.habits.note(tree.node(id), &self.sensors);
        let path = tree.path(id);
        let before = path.len().checked_sub(2).map(|at| path[at]);
        let own_last = path
            .len()
            .checked_sub(3)
            .map(|at| path[at])
            .filter(|id| !tree.node(*id).completed);
        if let Some(own_last) = own_last {
            self.complete(now, own_last, Completion::OwnNextMove, None);
        }
        // A reply that was itself never seen settles nothing.
        if let Some(before) = before.filter(|_| !hidden) {
            self.settle(now, before, Settlement::Reply);
        }
        self.tell(now, Finding::Made(Box::new(ply)));
        self.complete_if_pressed(now, id, mover, lifted_at);
    }

    /// The press may have been seen before the squares were.
    fn complete_if_pressed(&mut self, now: Timestamp, id: NodeId, mover: Color, lifted_at: Timestamp) {
        if self.pressed_since(mover, lifted_at).is_some() {
            self.complete(now, id, Completion::Press, self.last_elapsed[mover]);
        }
    }

    /// A ply that was pressed, or has stood for long where nothing can follow, is certain.
    fn settle_tip(&mut self, now: Timestamp, tip: NodeId) -> bool {
        let Some(tree) = self.line.as_ref().map(|line| &line.tree) else {
            return false;
        };
        let node = tree.node(tip);
        if node.standing != Standing::Told {
            return false;
        }
        // Pressed so soon after it landed that its squares might still have changed.
        if node.completed {
            let at = node.since + ONE_SCAN_APART;
            if now >= at {
                self.settle(now, tip, Settlement::Press);
                return true;
            }
            self.wake_at(at);
            return false;
        }
        if !node.differs.is_empty() || self.caution(tip) == Caution::MayCastle {
            return false;
        }
        let at = node.since.max(self.quiet_since) + CERTAIN_AFTER;
        if now < at {
            self.wake_at(at);
            return false;
        }
        self.settle(now, tip, Settlement::Shape);
        true
    }

    /// Makes the plies that are beyond doubt part of the past.
    fn close_old_plies(&mut self) -> bool {
        if self.doubt.is_some() {
            return false;
        }
        let Some(line) = &mut self.line else { return false };
        let told = line.tree.path(line.tree.tip());
        let Some(close) = told.len().checked_sub(PLIES_OPEN + 1).map(|at| told[at]) else {
            return false;
        };
        if line.tree.node(close).standing != Standing::Settled {
            return false;
        }
        line.passed.extend(line.tree.advance(close));
        true
    }
}
