//! A quiet board that no single legal move explains: something was restored, played unseen, or irregular.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, Color, Move};

use super::Tracker;
use super::finding::{Finding, Recovery, Withdrawal};
use super::gap::{self, Found};
use super::tree::{NodeId, Played, Standing, Tree};

/// A quiet board that no single move explains is examined for more after this long.
const EXAMINED_AFTER: Duration = Duration::from_millis(1200);
/// And what stands there after a gap, whatever single move would explain it.
const GAP_EXAMINED_AFTER: Duration = Duration::from_millis(600);
/// Told plies are doubted only when the board has been quiet for so long: a piece may be in somebody's hand.
const DOUBTED_AFTER: Duration = Duration::from_secs(3);
/// So many squares may be a piece that was pushed aside.
const DISPLACED: usize = 2;
/// How far back an irregularity is looked for, in plies.
const MOST_TAKEN_BACK: usize = 12;
/// Bounds of the search over a gap.
const MOST_PLIES_UNSEEN: usize = 8;
const MOST_POSITIONS: usize = 1400;
const BETWEEN_SEARCHES: Duration = Duration::from_millis(2);

/// Plies found by reconstruction, which what is played later may show to be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Doubt {
    /// Reports were missed from then on.
    pub from: Timestamp,
    /// Number of the first of these plies.
    pub first: u32,
    /// Number of the last of them.
    pub last: u32,
}

impl Doubt {
    /// Whether the ply of that number, once the board has shown exactly what stood behind it, proves the line.
    pub(crate) fn is_dispelled_by(self, ply: u32) -> bool {
        ply >= self.last + PLIES_CONFIRMING
    }
}

/// So many plies behind a reconstructed line that the board has shown exactly prove it.
const PLIES_CONFIRMING: u32 = 2;
/// After so many of which it has shown none exactly, the line was another one.
const PLIES_REFUTING: u32 = 4;

impl Tracker {
    /// What was played since a line was reconstructed confirms it, or does not. Then it is withdrawn.
    pub(super) fn weigh_doubt(&mut self) {
        let (Some(doubt), Some(line)) = (self.doubt, &self.line) else {
            return;
        };
        let tree = &line.tree;
        let exact = |id: NodeId| tree.node(id).exact && doubt.is_dispelled_by(tree.node(id).ply);
        if core::iter::once(tree.root())
            .chain(tree.path(tree.tip()))
            .any(exact)
        {
            self.doubt = None;
        }
    }

    /// Whether what stands on the board speaks against a reconstructed line: then it is withdrawn, and the gap is open
    /// again. Returns whether it was.
    fn refuted(&mut self, now: Timestamp) -> bool {
        let (Some(doubt), Some(line)) = (self.doubt, &self.line) else {
            return false;
        };
        let played_on = line.tree.node(line.tree.tip()).ply >= doubt.last + PLIES_REFUTING;
        let at = self.quiet_since + DOUBTED_AFTER;
        if !played_on && now < at {
            self.wake_at(at);
            return false;
        }
        self.refute(now)
    }

    /// Withdraws a reconstructed line if `ply` is one of it: the board does not stand as it should behind that.
    pub(super) fn refutes(&mut self, now: Timestamp, ply: u32) -> bool {
        let doubted = |doubt: Doubt| (doubt.first..=doubt.last).contains(&ply);
        self.gap.is_none() && self.doubt.is_some_and(doubted) && self.refute(now)
    }

    fn refute(&mut self, now: Timestamp) -> bool {
        let (Some(doubt), Some(line)) = (self.doubt.take(), &mut self.line) else {
            return false;
        };
        let told = line.tree.path(line.tree.tip());
        let Some(first) = told.into_iter().find(|id| line.tree.node(*id).ply == doubt.first) else {
            return false;
        };
        line.tree.remove(first, line.tree.root());
        self.tell(
            now,
            Finding::Retracted {
                ply: doubt.first,
                reason: Withdrawal::Recovered,
            },
        );
        self.astray = true;
        // Said at once: what was told meanwhile was wrong, and no gap is open that would be closed later.
        self.gap = Some(doubt.from);
        self.close_gap(now, Recovery::Undecidable);
        true
    }

    /// Whether the clock, where one runs whose sides are beyond doubt, says that it is the turn of the side that would be
    /// to move.
    fn turn_fits(&self, turn: Color) -> bool {
        let sure = self.clock.running() == Some(true) && self.clock.is_sure();
        let runs = self.clock.turn().filter(|_| sure);
        runs.and_then(|side| self.clock.color_of(side))
            .is_none_or(|color| color == turn)
    }

    /// Looks at a quiet board that the line does not explain: an earlier position restored, plies played unseen, an
    /// irregular move completed by the press. Returns whether one was found.
    pub(super) fn examine(&mut self, now: Timestamp) -> bool {
        let Some(tree) = self.line.as_ref().map(|line| &line.tree) else {
            return false;
        };
        let tip = tree.tip();
        let gap = self.gap.is_some();
        if self.disturbed || (!gap && tree.best() != tip) || tree.node(tip).differs.is_empty() {
            return false;
        }
        let differs = tree.node(tip).differs.count();
        // A piece that was seen to move since the first look may be on its way still.
        let seen_at_once = gap && self.quiet_since <= self.sensors.dumped_at();
        let rest = if seen_at_once {
            GAP_EXAMINED_AFTER
        } else {
            EXAMINED_AFTER
        };
        let at = self.quiet_since + rest;
        if now < at {
            self.wake_at(at);
            return false;
        }
        if self.astray && !gap {
            // Where play goes on from is found out by what is played next.
            return false;
        }
        // The same board need not be searched twice; a press may still come and tell what stands on it.
        let (back, plies) = (
            self.examined / MOST_PLIES_UNSEEN,
            self.examined % MOST_PLIES_UNSEEN + 1,
        );
        if let Some(from) = self.search_from(back) {
            let wait = self.quiet_since + DOUBTED_AFTER;
            if back > 0 && now < wait {
                self.wake_at(wait);
                return false;
            }
            self.examined += 1;
            if (back == 0 && plies == 1 && !gap && self.restored(now)) || self.unseen(now, from, plies) {
                return true;
            }
            // Lines of one more ply are looked for at another moment, so that no single one takes long.
            self.wake_at(now + BETWEEN_SEARCHES);
            return false;
        }
        if self.doubt.is_some() && !gap {
            return self.refuted(now);
        }
        // In a gap a position is more credibly played again than restored.
        if gap && self.restored(now) {
            return true;
        }
        if gap && !self.astray {
            // Looked at once more, for a position from which play goes on.
            self.astray = true;
            return true;
        }
        if self.lost && !gap && differs > DISPLACED {
            // Reports were lost, and no line leads here: a gap that is no silence.
            self.gap = Some(self.quiet_since);
            return true;
        }
        // Across a gap anything may have been played.
        !gap && !self.astray && self.irregular(now, tip)
    }

    /// The ply from which on something else may have been played: the last one told and, if reports were lost before it
    /// was, the ones before.
    fn search_from(&self, back: usize) -> Option<NodeId> {
        let tree = &self.line.as_ref()?.tree;
        let told = tree.path(tree.tip());
        if back > 0 && !self.lost {
            return None;
        }
        match told.len().checked_sub(back)? {
            0 => Some(tree.root()),
            after => Some(told[after - 1]),
        }
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
            if self.refutes(now, ply) {
                return true;
            }
            let Some(line) = &mut self.line else { return false };
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

    /// So many plies played while nobody looked, where just one line of them leads to what stands on the board.
    fn unseen(&mut self, now: Timestamp, from: NodeId, plies: usize) -> bool {
        let Some(line) = &self.line else { return false };
        let node = line.tree.node(from);
        let turn = node.state.turn();
        let fits = self.turn_fits(if plies.is_multiple_of(2) { turn } else { !turn });
        let (state, since) = (node.state.clone(), node.since);
        // While somebody looked, no piece can have left or reached a square that showed no change.
        let within = if self.gap.is_some() || self.lost {
            Bitboard::FULL
        } else {
            self.sensors.touched_since(node.landed.at)
        };
        let board = self.sensors.board();
        let (moves, any_order) = match gap::search(&state, board, within, plies, MOST_POSITIONS) {
            Found::Only(moves) => (moves, false),
            Found::AnyOrder(moves) => (moves, true),
            Found::Nothing => return false,
            Found::Several => (Vec::new(), false),
        };
        if moves.is_empty() || !fits {
            // No longer line from here is more credible than these. A press may still come, or was forgotten.
            self.examined = self.examined.next_multiple_of(MOST_PLIES_UNSEEN);
            return false;
        }
        let Some(line) = &mut self.line else { return false };
        // What one look at the board suggested is one of these moves, or none.
        let mut from = from;
        while let Some(other) = line.tree.considered_after(from) {
            from = line.tree.remove(other, from);
        }
        let mut parent = from;
        for m in moves {
            let played = Played::Move(m);
            let state = line.tree.node(parent).state.after(m);
            parent = match line.tree.known(parent, played) {
                Some(known) => known,
                None => line.tree.add(parent, played, state, None, &self.sensors, now),
            };
            let node = line.tree.node_mut(parent);
            node.inferred = true;
            node.any_order = any_order;
        }
        let last = line.tree.node(parent).ply;
        let doubt = Doubt {
            from: self.gap.unwrap_or(since),
            first: line.tree.node(from).ply + 1,
            last,
        };
        self.astray = false;
        // A line reconstructed behind one that is still in doubt falls with it.
        self.doubt = Some(self.doubt.map_or(doubt, |before| Doubt { last, ..before }));
        self.close_gap(now, Recovery::Inferred);
        true
    }

    /// What was told last before a gap and was not settled by then may have been a piece on its way: nothing confirms
    /// it any more.
    fn withdraw_unconfirmed(&mut self, now: Timestamp) {
        let Some(line) = &mut self.line else { return };
        let told = line.tree.path(line.tree.tip());
        let settled = told
            .iter()
            .rposition(|id| line.tree.node(*id).standing == Standing::Settled);
        let Some(first) = told.get(settled.map_or(0, |last| last + 1)).copied() else {
            return;
        };
        let node = line.tree.node(first);
        // Its piece still stands where it went.
        let stands = |m: Move| {
            self.sensors.board().piece_at(m.to()) == node.state.board().piece_at(m.to())
                && node.state.board().piece_at(m.to()).is_some()
        };
        if matches!(node.played, Played::Move(m) if stands(m)) {
            return;
        }
        let ply = node.ply;
        line.tree.remove(first, line.tree.root());
        let reason = Withdrawal::Recovered;
        self.tell(now, Finding::Retracted { ply, reason });
    }

    /// The board stands as it did before a gap. If that is no moment of a motion, nothing was played in it.
    pub(super) fn nothing_was_missed(&mut self, now: Timestamp) {
        let stood = self.quiet_since + GAP_EXAMINED_AFTER;
        if now >= stood || self.sensors.dumped_at() == now {
            self.close_gap(now, Recovery::Inferred);
        } else if self.gap.is_some() {
            self.wake_at(stood);
        }
    }

    /// Says what has become of a gap, once.
    pub(super) fn close_gap(&mut self, now: Timestamp, by: Recovery) {
        if let Some(from) = self.gap.take() {
            if by == Recovery::Undecidable {
                self.withdraw_unconfirmed(now);
            }
            self.tell(
                now,
                Finding::Recovered {
                    by,
                    changes: 0,
                    from,
                    to: now,
                },
            );
        }
    }
}

pub(super) fn withdrawal_of(played: &Played) -> Withdrawal {
    match played {
        Played::Irregular(_) => Withdrawal::IllegalRestored,
        Played::Move(_) | Played::Root => Withdrawal::Takeback,
    }
}
