//! A quiet board that no single legal move explains: something was restored, played unseen, or irregular.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, Board, Piece, Square};

use super::Tracker;
use super::finding::{Finding, Withdrawal};
use super::gap::{self, Found};
use super::state::{Footprint, State};
use super::tree::{NodeId, Played, Tree};

/// A quiet board that no single move explains is examined for more after this long.
const EXAMINED_AFTER: Duration = Duration::from_millis(1200);
/// How far back an irregularity is looked for, in plies.
const MOST_TAKEN_BACK: usize = 12;
/// Bounds of the search over a gap.
const MOST_PLIES_UNSEEN: usize = 6;
const MOST_POSITIONS: usize = 4000;

impl Tracker {
    /// Looks at a quiet board that the line does not explain: an earlier position restored, plies played unseen, an
    /// irregular move completed by the press. Returns whether one was found.
    pub(super) fn examine(&mut self, now: Timestamp) -> bool {
        let Some(tree) = self.line.as_ref().map(|line| &line.tree) else {
            return false;
        };
        let best = tree.best();
        if self.disturbed || best != tree.tip() || tree.node(best).differs.is_empty() {
            return false;
        }
        let at = self.quiet_since + EXAMINED_AFTER;
        if now < at {
            self.wake_at(at);
            return false;
        }
        // The same board need not be searched twice; a press may still come and tell what stands on it.
        let searched = core::mem::replace(&mut self.examined, true);
        (!searched && (self.restored(now) || self.unseen(now, best))) || self.irregular(now, best)
    }

    /// An earlier position of the line stands on the board again: what was played after it is taken back.
    fn restored(&mut self, now: Timestamp) -> bool {
        let Some(line) = &mut self.line else { return false };
        let board = self.sensors.board();
        let told = line.tree.path(line.tree.tip());
        let back = told
            .iter()
            .rev()
            .skip(1)
            .copied()
            .chain(std::iter::once(line.tree.root()))
            .find(|id| line.tree.node(*id).state.board() == board);
        if let Some(back) = back {
            let Some(first) = told
                .iter()
                .copied()
                .find(|id| line.tree.node(*id).parent == Some(back))
            else {
                return false;
            };
            let ply = line.tree.node(first).ply;
            let reason = withdrawal_of(&line.tree.node(first).played);
            line.tree.remove(first, line.tree.root());
            self.tell(now, Finding::Retracted { ply, reason });
            return true;
        }
        let passed = line.passed.len();
        let earlier = (1..passed)
            .rev()
            .take(MOST_TAKEN_BACK)
            .find(|at| line.passed[*at].board() == board);
        let Some(earlier) = earlier else { return false };
        let state = line.passed[earlier].clone();
        line.passed.truncate(earlier);
        let ply = u32::try_from(earlier).unwrap_or(u32::MAX);
        line.tree = Tree::new(state, ply, now);
        line.tree.update(&self.sensors, now);
        self.tell(
            now,
            Finding::Retracted {
                ply: ply + 1,
                reason: Withdrawal::Takeback,
            },
        );
        true
    }

    /// Plies played while nobody looked, where just one line of them leads to what stands on the board.
    fn unseen(&mut self, now: Timestamp, best: NodeId) -> bool {
        let Some(line) = &mut self.line else { return false };
        let node = line.tree.node(best);
        let state = node.state.clone();
        // While somebody looked, no piece can have left or reached a square that showed no change.
        let within = if self.gap {
            Bitboard::FULL
        } else {
            self.sensors.touched_since(node.landed_at)
        };
        let board = self.sensors.board();
        let Found::Only(moves) = gap::search(&state, board, within, MOST_PLIES_UNSEEN, MOST_POSITIONS) else {
            return false;
        };
        let mut parent = best;
        for m in moves {
            let state = line.tree.node(parent).state.after(m);
            parent = line
                .tree
                .add(parent, Played::Move(m), state, None, &self.sensors, now);
            line.tree.node_mut(parent).inferred = true;
        }
        true
    }

    /// What the mover left standing when he pressed is no legal move. What was displaced before his turn is no part of
    /// it.
    fn irregular(&mut self, now: Timestamp, best: NodeId) -> bool {
        let Some(line) = &mut self.line else { return false };
        let node = line.tree.node(best);
        let before = node.state.clone();
        let fresh = node.differs & self.sensors.touched_since(node.landed_at);
        let Some((from, to, piece)) = displacement(&before, self.sensors.board(), fresh) else {
            return false;
        };
        let stood_at = self.sensors.changed_at(from).max(self.sensors.changed_at(to));
        // Without a press the board is looked at again when one comes.
        if self.pressed[before.turn()].is_none_or(|pressed| pressed <= stood_at) {
            return false;
        }
        let mut board = before.board().clone();
        board.discard_piece_at(from);
        board.set_piece_at(to, piece);
        let footprint = Footprint::of_displacement(from, to, piece);
        let state = State::irregular(board, !before.turn(), &before);
        let played = Played::Irregular(Some((from, to)));
        line.tree
            .add(best, played, state, Some(footprint), &self.sensors, now);
        true
    }
}

pub(super) fn withdrawal_of(played: &Played) -> Withdrawal {
    match played {
        Played::Irregular(_) => Withdrawal::IllegalRestored,
        Played::Move(_) | Played::Root => Withdrawal::Takeback,
    }
}

/// One piece of the side to move that stands on another square than before, and nothing else.
fn displacement(before: &State, board: &Board, differs: Bitboard) -> Option<(Square, Square, Piece)> {
    if differs.count() != 2 {
        return None;
    }
    let from = differs
        .into_iter()
        .find(|square| board.piece_at(*square).is_none())?;
    let to = differs.into_iter().find(|square| *square != from)?;
    let piece = before.board().piece_at(from)?;
    (piece.color == before.turn() && board.piece_at(to) == Some(piece)).then_some((from, to, piece))
}
