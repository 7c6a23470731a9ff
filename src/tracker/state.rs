//! A position in a line of play: legal where it can be, else just what stands on the board.

use shakmaty::fen::Fen;
use shakmaty::san::SanPlus;
use shakmaty::uci::UciMove;
use shakmaty::{
    Bitboard, Board, CastlingMode, Chess, Color, EnPassantMode, FromSetup, Move, Piece, Position,
    PositionError, Role, Setup, Square,
};

/// A placement with the side to move, and a legal position where there is one.
#[derive(Debug, Clone)]
pub struct State {
    board: Board,
    turn: Color,
    position: Option<Chess>,
    mode: CastlingMode,
}

impl State {
    pub(crate) fn legal(position: Chess, mode: CastlingMode) -> Self {
        Self {
            board: position.board().clone(),
            turn: position.turn(),
            position: Some(position),
            mode,
        }
    }

    /// A placement reached by irregular play: its legal position is rebuilt where the placement allows one.
    pub(crate) fn irregular(board: Board, turn: Color, before: &Self) -> Self {
        let rights = before
            .position
            .as_ref()
            .map_or(Bitboard::EMPTY, |p| p.castles().castling_rights());
        let setup = Setup {
            board: board.clone(),
            turn,
            castling_rights: rights,
            ..Setup::empty()
        };
        let position = Chess::from_setup(setup, before.mode)
            .or_else(PositionError::ignore_invalid_castling_rights)
            .or_else(PositionError::ignore_impossible_check)
            .or_else(PositionError::ignore_too_much_material)
            .ok();
        Self {
            board,
            turn,
            position,
            mode: before.mode,
        }
    }

    /// What should stand on the board.
    #[must_use]
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The side to move.
    #[must_use]
    pub fn turn(&self) -> Color {
        self.turn
    }

    /// The position under the rules; `None` where the placement allows none.
    #[must_use]
    pub fn position(&self) -> Option<&Chess> {
        self.position.as_ref()
    }

    /// How castling is written: king to its destination in standard chess, king takes rook in Chess960.
    #[must_use]
    pub fn mode(&self) -> CastlingMode {
        self.mode
    }

    /// The position as FEN; a placement without a legal position is written with its side to move alone.
    #[must_use]
    pub fn fen(&self) -> String {
        match &self.position {
            Some(position) => Fen::from_position(position, EnPassantMode::Legal).to_string(),
            None => {
                let side = if self.turn.is_white() { 'w' } else { 'b' };
                format!("{} {side} - - 0 1", self.board.board_fen())
            }
        }
    }

    pub(crate) fn moves(&self) -> Vec<Candidate> {
        let Some(position) = &self.position else {
            return Vec::new();
        };
        position
            .legal_moves()
            .iter()
            .map(|m| Candidate {
                m: *m,
                footprint: footprint(&self.board, *m),
            })
            .collect()
    }

    /// The state after a legal move of [`moves`](Self::moves).
    pub(crate) fn after(&self, m: Move) -> Self {
        let mut next = self.clone();
        if let Some(position) = &mut next.position {
            position.play_unchecked(m);
            next.board = position.board().clone();
            next.turn = position.turn();
        }
        next
    }

    pub(crate) fn uci(&self, m: Move) -> UciMove {
        m.to_uci(self.mode)
    }

    pub(crate) fn san(&self, m: Move) -> Option<String> {
        let position = self.position.clone()?;
        Some(SanPlus::from_move(position, m).to_string())
    }
}

/// A legal move with what it changes on the board.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) m: Move,
    pub(crate) footprint: Footprint,
}

/// The squares that a move changes, and what stands there after it: two for most moves, three for en passant, up
/// to four for castling.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Footprint {
    squares: [(Square, Option<Piece>); 4],
    count: u8,
}

impl Footprint {
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Square, Option<Piece>)> + '_ {
        self.squares.iter().take(usize::from(self.count)).copied()
    }

    pub(crate) fn squares(&self) -> Bitboard {
        self.iter().map(|(square, _)| square).collect()
    }

    /// The squares of the move that do not show what they would after it.
    pub(crate) fn unmet(&self, board: &Board) -> Bitboard {
        self.iter()
            .filter(|(square, piece)| board.piece_at(*square) != *piece)
            .map(|(square, _)| square)
            .collect()
    }

    pub(crate) fn fits(&self, board: &Board) -> bool {
        self.iter().all(|(square, piece)| board.piece_at(square) == piece)
    }

    /// What moves from where, on a placement that shows `from` and `to` only.
    pub(crate) fn of_displacement(from: Square, to: Square, piece: Piece) -> Self {
        Self {
            squares: [(to, Some(piece)), (from, None), (to, None), (to, None)],
            count: 2,
        }
    }
}

fn footprint(board: &Board, m: Move) -> Footprint {
    // The destination comes first: it rules out most moves at the first look.
    let mut list = [(m.to(), None); 4];
    let mut count = 0;
    let mut put = |square: Square, piece: Option<Piece>| {
        if board.piece_at(square) != piece {
            list[count] = (square, piece);
            count += 1;
        }
    };
    let turn = m
        .from()
        .and_then(|from| board.color_at(from))
        .unwrap_or(Color::White);
    match m {
        Move::Normal {
            role,
            from,
            to,
            promotion,
            ..
        } => {
            put(to, Some(promotion.unwrap_or(role).of(turn)));
            put(from, None);
        }
        Move::EnPassant { from, to } => {
            put(to, Some(Role::Pawn.of(turn)));
            put(from, None);
            put(Square::from_coords(to.file(), from.rank()), None);
        }
        Move::Castle { king, rook } => {
            let (king_to, rook_to) = castled(king, rook, turn);
            put(king_to, Some(Role::King.of(turn)));
            put(rook_to, Some(Role::Rook.of(turn)));
            for left in [king, rook]
                .into_iter()
                .filter(|s| *s != king_to && *s != rook_to)
            {
                put(left, None);
            }
        }
        Move::Put { role, to } => put(to, Some(role.of(turn))),
    }
    Footprint {
        squares: list,
        count: count as u8,
    }
}

/// Where king and rook stand after castling.
pub(crate) fn castled(king: Square, rook: Square, color: Color) -> (Square, Square) {
    let side = shakmaty::CastlingSide::from_king_side(king < rook);
    (side.king_to(color), side.rook_to(color))
}
