//! Play that no legal move explains. It counts as played once it is pressed or replied to.

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{Bitboard, Board, Color, Piece, Rank, Role, Square};

use super::Tracker;
use super::model::TWO_MOVES;
use super::node::{NodeId, Played};
use super::sensors::Sensors;
use super::state::{Footprint, PossibleMove, State, castled};

/// What a player did with their pieces instead of a legal move.
struct Act {
    /// Origin and destination, if a single piece moved; in castling, the king's.
    went: Option<(Square, Square)>,
    footprint: Footprint,
}

/// Most pieces of the mover in an irregular move: as many as in castling.
const MAX_PIECES: usize = 2;

impl Tracker {
    /// Adds what the mover has on the board instead of a legal move as a reading. It stays in the background until a press
    /// backs it; the reply is looked for from there meanwhile. Returns whether something was added.
    pub(super) fn suspect_irregular(&mut self, now: Timestamp) -> bool {
        if self.disturbed || self.gap_since.is_some() || self.line_lost {
            return false;
        }
        let Some(tree) = self
            .line
            .as_ref()
            .filter(|line| !line.awaited)
            .map(|line| &line.tree)
        else {
            return false;
        };
        let tip = tree.tip();
        // The move that was announced may be only a part of what its player does.
        let from = [Some(tip), tree.node(tip).parent];
        from.into_iter()
            .flatten()
            .any(|from| self.suspect_after(now, from))
    }

    fn suspect_after(&mut self, now: Timestamp, from: NodeId) -> bool {
        let Some(line) = &mut self.line else { return false };
        let node = line.tree.node(from);
        let board = self.sensors.board();
        // Within one scan, the order in which squares are reported means nothing.
        let before = node.landed.at.saturating_sub(ONE_SCAN_APART);
        let fresh = node.differs & self.sensors.touched_since(before);
        let Some(act) = act(&node.state, board, fresh) else {
            return false;
        };
        let (left, arrived) = changed(&node.state, board, fresh);
        let explains = |legal: &PossibleMove| {
            legal.footprint.squares().is_superset(left | arrived) && legal.footprint.fits(board)
        };
        // Two pieces look like a move only as king and rook.
        if act.went.is_none() && !castles(&node.state, board, left, arrived) {
            return false;
        }
        let state = after(&node.state, &act.footprint);
        let known = line.tree.find_irregular(from, state.board()).is_some();
        if known || node.possible_moves.iter().any(explains) {
            return false;
        }
        let squares = act.footprint.squares().into_iter();
        let landed = squares.map(|square| self.sensors.changed_at(square)).max();
        let Some(landed) = landed else { return false };
        // The press may be heard before the squares have been read.
        let pressed = self.pressed[node.state.turn()];
        let pressed = pressed.is_some_and(|pressed| pressed + ONE_SCAN_APART >= landed);
        let announced = line.tree.node(line.tree.tip());
        let completed = announced.parent == Some(from) && announced.completed;
        // What came after the press that completed a move is no part of it.
        if completed && !pressed {
            return false;
        }
        let due = landed + ONE_SCAN_APART;
        if now < due {
            self.wake_at(due);
            return false;
        }
        let played = Played::Irregular(act.went);
        let footprint = Some(act.footprint);
        let id = line.tree.add(from, played, state, footprint, &self.sensors, now);
        line.tree.node_mut(id).backed = pressed;
        line.tree.update(&self.sensors, now);
        true
    }

    /// Adds an irregular move: what the mover left standing on the board when they pressed, or when the opponent replied,
    /// is no legal move. Pieces that were displaced before their turn are no part of it. Returns whether there was such a
    /// move.
    pub(super) fn irregular(&mut self, now: Timestamp, tip: NodeId) -> bool {
        let Some(line) = &mut self.line else { return false };
        let node = line.tree.node(tip);
        let before = node.state.clone();
        let fresh = node.differs & self.sensors.touched_since(node.landed.at);
        let board = self.sensors.board();
        let pressed = self.pressed[before.turn()];
        let stood_at = |squares: Bitboard| squares.into_iter().map(|s| self.sensors.changed_at(s)).max();
        let own = act(&before, board, fresh).filter(|act| stood_at(act.footprint.squares()) < pressed);
        // Between two polls it is not known how long anything stood: only a press proves the move.
        let polled = self.polled && self.playback.is_some();
        let found = match own {
            Some(act) => Some((act, None)),
            None if polled => None,
            None => replied_to(&before, fresh, &self.sensors),
        };
        let Some((act, reply)) = found else { return false };
        let state = after(&before, &act.footprint);
        let played = Played::Irregular(act.went);
        let next = match line.tree.find_irregular(tip, state.board()) {
            Some(known) if !line.tree.node(known).backed => known,
            Some(_) => return false,
            None => {
                let footprint = Some(act.footprint);
                line.tree
                    .add(tip, played, state.clone(), footprint, &self.sensors, now)
            }
        };
        line.tree.node_mut(next).backed = true;
        if let Some(reply) = reply {
            let played = Played::Move(reply.m);
            let footprint = Some(reply.footprint);
            if line.tree.find_child(next, played).is_none() {
                let state = state.after(reply.m);
                line.tree.add(next, played, state, footprint, &self.sensors, now);
            }
        }
        line.tree.update(&self.sensors, now);
        true
    }
}

fn after(before: &State, footprint: &Footprint) -> State {
    let mut board = before.board().clone();
    footprint.make(&mut board);
    before.irregular(board)
}

/// What the side to move did, judged by the squares that differ: as many of its pieces must have arrived as left.
fn act(before: &State, board: &Board, differs: Bitboard) -> Option<Act> {
    let (left, arrived) = changed(before, board, differs);
    if left.count() != arrived.count() || left.is_empty() || left.count() > MAX_PIECES {
        return None;
    }
    let pairs = pairs(before.board(), board, left, arrived)?;
    let king = |(from, _): &(Square, Square)| before.board().role_at(*from) == Some(Role::King);
    let went = match pairs.as_slice() {
        [one] => Some(*one),
        // Castling is a move of the king (Art. 3.8.2).
        both if castles(before, board, left, arrived) => both.iter().copied().find(king),
        _ => None,
    };
    let captured = went.and_then(|(from, to)| captured_en_passant(before, board, from, to));
    let squares = left | arrived | captured.into_iter().collect::<Bitboard>();
    let footprint = Footprint::of_squares(squares, board)?;
    Some(Act { went, footprint })
}

/// The squares that pieces of the side to move have left, and those where they have arrived.
fn changed(before: &State, board: &Board, differs: Bitboard) -> (Bitboard, Bitboard) {
    let changed = |a: &Board, b: &Board| -> Bitboard {
        let own = a.by_color(before.turn()) & differs;
        own.into_iter()
            .filter(|s| a.piece_at(*s) != b.piece_at(*s))
            .collect()
    };
    (changed(before.board(), board), changed(board, before.board()))
}

/// Whether the two pieces moved as in castling, which may not be allowed: the king to the c- or g-file, the rook beside
/// it.
fn castles(before: &State, board: &Board, left: Bitboard, arrived: Bitboard) -> bool {
    let color = before.turn();
    let one = |board: &Board, squares: Bitboard, role: Role| {
        (squares & board.by_piece(role.of(color))).single_square()
    };
    let ends = |role: Role| Some((one(before.board(), left, role)?, one(board, arrived, role)?));
    let (Some((king, king_to)), Some((rook, rook_to))) = (ends(Role::King), ends(Role::Rook)) else {
        return false;
    };
    left.count() == 2 && arrived.count() == 2 && castled(king, rook, color) == (king_to, rook_to)
}

/// Which piece went where. Each arrives unchanged, or as what a pawn is promoted to on the last rank.
fn pairs(before: &Board, board: &Board, left: Bitboard, arrived: Bitboard) -> Option<Vec<(Square, Square)>> {
    let mut open = arrived;
    let mut pairs = Vec::new();
    for from in left {
        let piece = before.piece_at(from)?;
        let became = |to: &Square| {
            board
                .piece_at(*to)
                .is_some_and(|shown| can_become(piece, shown, *to))
        };
        let to = open.into_iter().find(became)?;
        open.discard(to);
        pairs.push((from, to));
    }
    Some(pairs)
}

fn can_become(piece: Piece, shown: Piece, at: Square) -> bool {
    let promotes = piece.role == Role::Pawn
        && at.rank() == piece.color.fold_wb(Rank::Eighth, Rank::First)
        && !matches!(shown.role, Role::Pawn | Role::King);
    shown == piece || (shown.color == piece.color && promotes)
}

/// The pawn that was captured as if en passant.
fn captured_en_passant(before: &State, board: &Board, from: Square, to: Square) -> Option<Square> {
    let beside = Square::from_coords(to.file(), from.rank());
    let pawn = |square: Square, color: Color| before.board().piece_at(square) == Some(color.pawn());
    let passes =
        pawn(from, before.turn()) && from.file() != to.file() && before.board().piece_at(to).is_none();
    (passes && pawn(beside, !before.turn()) && board.piece_at(beside).is_none()).then_some(beside)
}

/// An irregular move of one piece and the reply to it, if exactly one such pair explains all squares that differ.
fn replied_to(before: &State, differs: Bitboard, sensors: &Sensors) -> Option<(Act, Option<PossibleMove>)> {
    let (mover, board) = (before.turn(), sensors.board());
    let changed_at = |square: Square| sensors.changed_at(square);
    if !(3..=TWO_MOVES).contains(&differs.count()) {
        return None;
    }
    let mut found = None;
    let gone = differs & before.board().by_color(mover).without(board.by_color(mover));
    for from in gone {
        let piece = before.board().piece_at(from)?;
        // It stands where it went, or it was seen there before the reply captured it.
        let seen = |to: Square| {
            let left = changed_at(from).saturating_sub(ONE_SCAN_APART);
            let mut since = sensors.changes_since(left);
            since.any(|change| change.square == to && change.after == Some(piece))
        };
        for to in differs
            .without(before.board().by_color(mover))
            .without(Bitboard::from(from))
        {
            if board
                .piece_at(to)
                .is_none_or(|shown| shown.color == mover && shown != piece)
                || !seen(to)
            {
                continue;
            }
            let mut between = before.board().clone();
            between.discard_piece_at(from);
            between.set_piece_at(to, piece);
            let squares = Bitboard::from(from).with(to);
            let Some(footprint) = Footprint::of_squares(squares, &between) else {
                continue;
            };
            let rest = if board.piece_at(to) == Some(piece) {
                differs.without(squares)
            } else {
                differs.without(Bitboard::from(from))
            };
            // Two moves within one scan may be reported in either order.
            let in_order = |reply: &PossibleMove| {
                let landed = reply.footprint.squares().into_iter().map(changed_at).max();
                landed.is_some_and(|landed| landed + ONE_SCAN_APART >= changed_at(from))
            };
            for reply in after(before, &footprint).moves() {
                if reply.footprint.squares() == rest && reply.footprint.fits(board) && in_order(&reply) {
                    if found.is_some() {
                        return None;
                    }
                    let went = Some((from, to));
                    found = Some((Act { went, footprint }, Some(reply)));
                }
            }
        }
    }
    found
}
