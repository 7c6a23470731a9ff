//! Irregular moves: a player's actions in place of a legal move.

use shakmaty::{Bitboard, Board, File, Piece, Rank, Role, Square};

use super::state::{Footprint, State};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Instead {
    /// Origin and destination, if a single piece moved; in castling, those of the king.
    pub(crate) went: Option<(Square, Square)>,
    /// Whether king and rook moved as in castling.
    pub(crate) castles: bool,
    pub(crate) footprint: Footprint,
}

/// Most pieces of the mover in an irregular move: as many as in castling.
const MAX_PIECES: usize = 2;

impl Instead {
    /// Derives the irregular move of the side to move from the squares that differ; `None` unless one or two of its
    /// pieces left their squares and as many arrived on others.
    pub(crate) fn read(before: &State, board: &Board, differs: Bitboard) -> Option<Self> {
        let (left, arrived) = changed(before, board, differs);
        // A single piece may have captured one of its own colour.
        let left = if arrived.single_square().is_some() {
            left.without(arrived)
        } else {
            left
        };
        if left.count() != arrived.count() || left.is_empty() || left.count() > MAX_PIECES {
            return None;
        }
        let pairs = pairs(before.board(), board, left, arrived)?;
        let castled = castled(before.board(), &pairs);
        let went = match pairs.as_slice() {
            [one] => Some(*one),
            _ => castled,
        };
        let passed = went.filter(|(from, to)| passes(before, *from, *to));
        let captured = passed
            .map(|(from, to)| Square::from_coords(to.file(), from.rank()))
            .filter(|captured| board.piece_at(*captured).is_none());
        let squares = left | arrived | captured.into_iter().collect::<Bitboard>();
        Some(Self {
            went,
            castles: castled.is_some(),
            footprint: Footprint::of_squares(squares, board)?,
        })
    }

    pub(crate) fn after(&self, before: &State) -> State {
        let mut board = before.board().clone();
        self.footprint.make(&mut board);
        before.irregular(board)
    }
}

/// The squares that pieces of the side to move have left, and those on which they have arrived.
fn changed(before: &State, board: &Board, differs: Bitboard) -> (Bitboard, Bitboard) {
    let changed = |a: &Board, b: &Board| -> Bitboard {
        let own = a.by_color(before.turn()) & differs;
        own.into_iter()
            .filter(|s| a.piece_at(*s) != b.piece_at(*s))
            .collect()
    };
    (changed(before.board(), board), changed(board, before.board()))
}

/// The king's move, if king and rook moved along their rank as in castling and the king went to the c- or g-file; the
/// castling need not be legal. Castling is a move of the king (Art. 3.8.2).
fn castled(before: &Board, pairs: &[(Square, Square)]) -> Option<(Square, Square)> {
    let pair_of = |role: Role| {
        let mut pairs = pairs.iter().copied();
        pairs.find(|(from, _)| before.role_at(*from) == Some(role))
    };
    let (king, rook) = (pair_of(Role::King)?, pair_of(Role::Rook)?);
    let along = |(from, to): (Square, Square)| from.rank() == king.0.rank() && to.rank() == king.0.rank();
    let on_castling_file = matches!(king.1.file(), File::C | File::G);
    (on_castling_file && along(king) && along(rook)).then_some(king)
}

/// Origin and destination of each piece; `None` if a piece that left does not match any arrived piece. A pawn on the
/// last rank arrives promoted, any other piece unchanged.
fn pairs(before: &Board, board: &Board, left: Bitboard, arrived: Bitboard) -> Option<Vec<(Square, Square)>> {
    let mut remaining = arrived;
    let mut pairs = Vec::new();
    for from in left {
        let piece = before.piece_at(from)?;
        let became = |to: &Square| {
            board
                .piece_at(*to)
                .is_some_and(|shown| can_become(piece, shown, *to))
        };
        let to = remaining.into_iter().find(became)?;
        remaining.discard(to);
        pairs.push((from, to));
    }
    Some(pairs)
}

fn can_become(piece: Piece, shown: Piece, at: Square) -> bool {
    let promotes = piece.role == Role::Pawn && at.rank() == piece.color.fold_wb(Rank::Eighth, Rank::First);
    shown == piece || (shown.color == piece.color && promotes)
}

/// Whether a pawn moves as in a capture en passant, which need not be legal.
pub(crate) fn passes(before: &State, from: Square, to: Square) -> bool {
    let Some(piece) = before.board().piece_at(from) else {
        return false;
    };
    let beside = Square::from_coords(to.file(), from.rank());
    let fifth = piece.color.fold_wb(Rank::Fifth, Rank::Fourth);
    piece.role == Role::Pawn
        && from.rank() == fifth
        && from.file().distance(to.file()) == 1
        && to.rank() == piece.color.fold_wb(Rank::Sixth, Rank::Third)
        && before.board().piece_at(to).is_none()
        && before.board().piece_at(beside) == Some((!piece.color).pawn())
}
