//! Play that no legal move explains. It counts as played once it is pressed or replied to.

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{Bitboard, Board, Color, Piece, Rank, Role, Square};

use super::Tracker;
use super::node::Played;
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
        if self.disturbed || self.gap_since.is_some() || self.is_lost() {
            return false;
        }
        let Some(line) = self.line.as_mut().filter(|line| !line.awaited) else {
            return false;
        };
        let from = line.tree.tip();
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
        let state = after(&node.state, &act.footprint);
        let known = line.tree.find_irregular(from, state.board()).is_some();
        if known || node.possible_moves.iter().any(explains) {
            return false;
        }
        let squares = act.footprint.squares().into_iter();
        let landed = squares.map(|square| self.sensors.changed_at(square)).max();
        let Some(landed) = landed else { return false };
        // The press may be heard before the squares have been read.
        let pressed = line.pressed[node.state.turn()];
        let pressed = pressed.is_some_and(|press| press.at + ONE_SCAN_APART >= landed);
        // Two pieces look like a move only as king and rook; if they are pressed as one, they were moved as one.
        let due = match act.went {
            Some(_) => landed + ONE_SCAN_APART,
            None if pressed && act.footprint.squares() == node.differs => self.quiet_since + self.model.rest,
            None => return false,
        };
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

    /// A reply that has come to rest, with nothing else on the board changed, backs the irregular move that it answers.
    /// Returns whether there was one.
    pub(super) fn back_answered(&mut self) -> bool {
        // Between two polls it is not known how long anything stood: only a press proves the move.
        if self.polled.is_some() && self.playback.is_some() {
            return false;
        }
        let Some(line) = &mut self.line else { return false };
        let Some(answered) = line.tree.answered_suspicion() else {
            return false;
        };
        line.tree.node_mut(answered).backed = true;
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
