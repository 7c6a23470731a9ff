//! When a reading is credible enough to be told, and when it has to be taken back.
//!
//! No fixed wait: the press, the opponent's hand, or the time that the pieces have stood decides, and how long that
//! is depends on what else the same piece could still do.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, CastlingSide, Color, Move, Role, Square, attacks};

use super::Tracker;
use super::finding::{Completion, Evidence, Finding, Grounds, Ply, Settlement, Withdrawal};
use super::gap::{self, Found};
use super::motion;
use super::state::{Footprint, State};
use super::tree::{NodeId, Played, Standing, Tree};

/// A move after which the piece can go nowhere else stands for this long before it is told: a scan, and a little.
const RESTS: Duration = Duration::from_millis(220);
/// So does a move whose piece can be drawn further along the same line.
const RESTS_ON_ITS_WAY: Duration = Duration::from_millis(420);
/// A piece that is being drawn over the squares may pause on one where it could stay.
const RESTS_DRAWN: Duration = Duration::from_millis(1400);
/// And a rook or king move that castling would begin with; the other piece follows within seconds.
const RESTS_IN_CASTLING: Duration = Duration::from_millis(2600);
/// The press and the reply tell the move at once, but not in the middle of a scan.
const RESTS_AT_ALL: Duration = Duration::from_millis(60);
/// Another reading than the one told must have stood this long.
const RESTS_AMENDED: Duration = Duration::from_millis(450);
/// A move taken back must have been back for this long.
const RESTS_TAKEN_BACK: Duration = Duration::from_millis(1000);
/// A move that nothing can follow is certain after this long.
const CERTAIN_AFTER: Duration = Duration::from_secs(3);
/// A quiet board that no single move explains is examined for more after this long.
const EXAMINED_AFTER: Duration = Duration::from_millis(1200);
/// A settled ply is taken back when the earlier placement has stood for this long.
const RESTORED_AFTER: Duration = Duration::from_millis(1500);
/// Alternatives are kept for so many of the last plies.
const PLIES_OPEN: usize = 3;
/// How far back an irregularity is looked for, in plies.
const MOST_TAKEN_BACK: usize = 12;
/// Bounds of the search over a gap.
const MOST_PLIES_UNSEEN: usize = 6;
const MOST_POSITIONS: usize = 4000;

/// Whether a reading may be told.
enum Ready {
    Now(Grounds),
    At(Timestamp),
    Not,
}

impl Tracker {
    /// Draws every conclusion that is due at `now` and finds out when the next one may be.
    pub(super) fn decide(&mut self, now: Timestamp) {
        loop {
            self.wake = None;
            if self.waits_for_memory(now) {
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
        self.gap &= self.disturbed || tip != best || !tree.node(tip).differs.is_empty();
        let told = tree.path(tip);
        let reading = tree.path(best);
        let common = told.iter().zip(&reading).take_while(|(a, b)| a == b).count();
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
        self.settle_by_shape(now, tip) || self.close_old_plies()
    }

    /// Whether `next`, on the way to the best reading, can be told.
    fn readiness(&self, now: Timestamp, next: NodeId, best: NodeId) -> Ready {
        let Some(tree) = self.line.as_ref().map(|line| &line.tree) else {
            return Ready::Not;
        };
        let node = tree.node(next);
        let wait = |rest: Duration, grounds: Grounds| {
            let at = node.since + rest;
            if now >= at {
                Ready::Now(grounds)
            } else {
                Ready::At(at)
            }
        };
        if best != next {
            // A piece drawn on can look like a reply while it crosses a square: the reply, too, must stand.
            let at = tree.node(best).since + RESTS;
            return if now >= at {
                Ready::Now(Grounds::Reply)
            } else {
                Ready::At(at)
            };
        }
        if !node.met {
            return Ready::Not;
        }
        if node.inferred {
            return Ready::Now(Grounds::OnlyLine);
        }
        if self.pressed_since(node.mover(), node.lifted_at).is_some() {
            return wait(RESTS_AT_ALL, Grounds::Press);
        }
        let fresh = node.differs & self.sensors.touched_since(node.lifted_at);
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
        let rest = self.patience(next);
        wait(rest, Grounds::Stood(rest))
    }

    /// How long a move must have stood, by what else its piece could still be doing.
    fn patience(&self, id: NodeId) -> Duration {
        let Some(tree) = self.line.as_ref().map(|line| &line.tree) else {
            return RESTS;
        };
        let node = tree.node(id);
        let (Some(parent), Played::Move(m)) = (node.parent, node.played) else {
            return RESTS;
        };
        let others = tree.candidates(parent);
        if others
            .iter()
            .any(|other| begins_castling(m, other.m, node.mover()))
        {
            return RESTS_IN_CASTLING;
        }
        if !others.iter().any(|other| goes_on(m, other.m)) {
            return RESTS;
        }
        let drawn = match motion::drawn(m, node, &self.sensors) {
            Some(drawn) => drawn,
            None => self.habits.may_draw(node.mover()),
        };
        if drawn { RESTS_DRAWN } else { RESTS_ON_ITS_WAY }
    }

    /// The best reading is not what was told: from `told` on it is `instead`, or nothing yet.
    fn reconsider(&mut self, now: Timestamp, told: NodeId, instead: Option<NodeId>, best: NodeId) -> bool {
        let patience = instead.map_or(RESTS_AMENDED, |instead| self.patience(instead).max(RESTS_AMENDED));
        let Some(line) = &mut self.line else { return false };
        let tree = &mut line.tree;
        let settled = tree.node(told).standing == Standing::Settled;
        let ply = tree.node(told).ply;
        let Some(instead) = instead else {
            let back_since = self.quiet_since;
            let clear = tree.node(best).differs.is_empty();
            let at = back_since + if settled { RESTORED_AFTER } else { RESTS_TAKEN_BACK };
            if !clear || now < at {
                if clear {
                    self.wake_at(at);
                }
                return false;
            }
            let reason = withdrawal_of(&tree.node(told).played);
            tree.remove(told, best);
            self.tell(now, Finding::Retracted { ply, reason });
            return true;
        };
        let node = tree.node(instead);
        let pressed = self.pressed[node.mover()].is_some_and(|pressed| pressed >= node.lifted_at);
        let at = if settled {
            node.since.max(self.quiet_since) + RESTORED_AFTER
        } else {
            node.since
                + if best == instead && !pressed {
                    patience
                } else {
                    RESTS_AT_ALL
                }
        };
        if now < at {
            self.wake_at(at);
            return false;
        }
        let reason = if settled {
            Withdrawal::Recovered
        } else {
            Withdrawal::MovedOn
        };
        let grounds = if best == instead {
            Grounds::Stood(RESTS_AMENDED)
        } else {
            Grounds::Reply
        };
        let ply = self.describe(now, instead, grounds);
        let Some(ply) = ply else { return false };
        let (mover, lifted_at) = (ply.color, ply.lifted_at);
        let Some(line) = &mut self.line else { return false };
        line.tree.node_mut(instead).standing = Standing::Told;
        let id = line.tree.remove(told, instead);
        self.tell(
            now,
            Finding::Amended {
                ply: Box::new(ply),
                reason,
            },
        );
        self.complete_if_pressed(now, id, mover, lifted_at);
        true
    }

    fn tell_made(&mut self, now: Timestamp, id: NodeId, grounds: Grounds) {
        let Some(ply) = self.describe(now, id, grounds) else {
            return;
        };
        let (mover, lifted_at) = (ply.color, ply.lifted_at);
        let Some(line) = &mut self.line else { return };
        let tree = &mut line.tree;
        tree.node_mut(id).standing = Standing::Told;
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
        if let Some(before) = before {
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

    fn describe(&self, now: Timestamp, id: NodeId, grounds: Grounds) -> Option<Ply> {
        let tree = &self.line.as_ref()?.tree;
        let node = tree.node(id);
        let parent = tree.node(node.parent?);
        let (played, uci, san, captured) = match node.played {
            Played::Move(m) => (
                Some(m),
                Some(parent.state.uci(m)),
                parent.state.san(m),
                m.capture(),
            ),
            Played::Irregular(Some((from, to))) => {
                let uci = shakmaty::uci::UciMove::Normal {
                    from,
                    to,
                    promotion: None,
                };
                (None, Some(uci), None, parent.state.board().role_at(to))
            }
            Played::Irregular(None) | Played::Root => (None, None, None, None),
        };
        let name = |id: NodeId| match tree.node(id).played {
            Played::Root => "nothing yet".to_owned(),
            Played::Move(m) => {
                let from = tree
                    .node(id)
                    .parent
                    .and_then(|parent| tree.node(parent).state.san(m));
                format!("{} {}", tree.node(id).ply, from.unwrap_or_default())
            }
            Played::Irregular(_) => format!("{} irregular", tree.node(id).ply),
        };
        Some(Ply {
            number: node.ply,
            color: node.mover(),
            played,
            uci,
            san,
            after: node.state.clone(),
            captured,
            lifted_at: node.lifted_at,
            stood_at: self.recovering.unwrap_or(node.since.min(now)),
            inferred: node.inferred || self.recovering.is_some(),
            clock: self.clock.face(),
            evidence: Evidence {
                changes: self.sensors.changes_since(parent.since).copied().collect(),
                grounds: Some(grounds),
                differs: node.differs.into_iter().collect(),
                others: tree
                    .rivals(id)
                    .into_iter()
                    .take(4)
                    .map(|(id, cost)| (name(id), cost))
                    .collect(),
            },
        })
    }

    /// A ply that has stood for long, where nothing can follow, is certain without a press.
    fn settle_by_shape(&mut self, now: Timestamp, tip: NodeId) -> bool {
        let Some(tree) = self.line.as_ref().map(|line| &line.tree) else {
            return false;
        };
        let node = tree.node(tip);
        if node.standing != Standing::Told
            || !node.differs.is_empty()
            || self.patience(tip) == RESTS_IN_CASTLING
        {
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

    /// Looks at a quiet board that the line does not explain: an earlier position restored, plies played unseen, an
    /// irregular move completed by the press. Returns whether one was found.
    fn examine(&mut self, now: Timestamp) -> bool {
        let Some(tree) = self.line.as_ref().map(|line| &line.tree) else {
            return false;
        };
        let best = tree.best();
        if self.examined || self.disturbed || best != tree.tip() || tree.node(best).differs.is_empty() {
            return false;
        }
        let at = self.quiet_since + EXAMINED_AFTER;
        if now < at {
            self.wake_at(at);
            return false;
        }
        if self.restored(now) || self.unseen(now, best) {
            return true;
        }
        self.examined = self.irregular(now, best);
        self.examined
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

fn withdrawal_of(played: &Played) -> Withdrawal {
    match played {
        Played::Irregular(_) => Withdrawal::IllegalRestored,
        Played::Move(_) | Played::Root => Withdrawal::Takeback,
    }
}

/// One piece of the side to move that stands on another square than before, and nothing else.
fn displacement(
    before: &State,
    board: &shakmaty::Board,
    differs: Bitboard,
) -> Option<(Square, Square, shakmaty::Piece)> {
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

/// Whether `other` is the same piece drawn further over the square that `m` ends on.
fn goes_on(m: Move, other: Move) -> bool {
    let (Some(from), Some(other_from)) = (m.from(), other.from()) else {
        return false;
    };
    from == other_from && !other.is_castle() && attacks::between(from, other.to()).contains(m.to())
}

/// Whether `m` is what the board shows when one of the two pieces of the castling `other` has been moved.
fn begins_castling(m: Move, other: Move, mover: Color) -> bool {
    let (Move::Normal { role, from, to, .. }, Move::Castle { king, rook }) = (m, other) else {
        return false;
    };
    let side = CastlingSide::from_king_side(king < rook);
    match role {
        Role::Rook => {
            from == rook
                && (to == side.rook_to(mover) || attacks::between(rook, side.rook_to(mover)).contains(to))
        }
        Role::King => {
            from == king
                && (to == side.king_to(mover) || attacks::between(king, side.king_to(mover)).contains(to))
        }
        _ => false,
    }
}

/// Whether the piece that led to `id` could take on `square` in the same move.
fn can_take(tree: &Tree, id: NodeId, square: Square) -> bool {
    let node = tree.node(id);
    let (Some(parent), Played::Move(m)) = (node.parent, node.played) else {
        return false;
    };
    tree.candidates(parent)
        .iter()
        .any(|other| other.m.from() == m.from() && other.m.to() == square)
}
