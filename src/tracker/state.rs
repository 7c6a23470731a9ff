//! A position in a line of play: a legal one where possible, else just what stands on the board.

use shakmaty::fen::Fen;
use shakmaty::san::SanPlus;
use shakmaty::uci::UciMove;
use shakmaty::{
    Bitboard, Board, CastlingMode, Chess, Color, EnPassantMode, File, FromSetup, Move, Piece, Position,
    PositionError, Rank, Role, Setup, Square, attacks,
};

/// A placement with the side to move, and a legal position where there is one.
#[derive(Debug, Clone)]
pub struct State {
    board: Board,
    turn: Color,
    position: Option<Chess>,
    mode: CastlingMode,
    /// Rooks whose right to castle is not known, because the start of the game was not observed. The position claims no
    /// right for them.
    may_castle: Bitboard,
}

impl State {
    pub(crate) fn legal(position: Chess, mode: CastlingMode) -> Self {
        Self {
            board: position.board().clone(),
            turn: position.turn(),
            position: Some(position),
            mode,
            may_castle: Bitboard::EMPTY,
        }
    }

    /// The same state where it is not known what was played before. Any king and rook on their first rank may have the
    /// right to castle, at least in Chess960; if they do castle, they had it.
    #[must_use]
    pub fn with_unknown_past(mut self) -> Self {
        let claimed = self
            .position
            .as_ref()
            .map_or(Bitboard::EMPTY, |position| position.castles().castling_rights());
        let rooks = |color: Color| {
            let rank = Bitboard::from(color.fold_wb(Rank::First, Rank::Eighth));
            let king = self.board.king_of(color).filter(|king| rank.contains(*king));
            king.map_or(Bitboard::EMPTY, |_| {
                rank & self.board.by_piece(Role::Rook.of(color))
            })
        };
        self.may_castle = (rooks(Color::White) | rooks(Color::Black)).without(claimed);
        self
    }

    /// The same state as the successor of `before`: the right to castle stays unknown where king and rook have not moved.
    #[must_use]
    pub fn following(mut self, before: &Self) -> Self {
        let stays = |color: Color| self.board.king_of(color) == before.board.king_of(color);
        let kept = Color::ALL.into_iter().filter(|color| stays(*color));
        let rooks = kept.map(|color| self.board.by_piece(Role::Rook.of(color)));
        self.may_castle = before.may_castle & rooks.fold(Bitboard::EMPTY, |all, rooks| all | rooks);
        self
    }

    /// The usual start position.
    pub(crate) fn standard() -> Self {
        Self::legal(Chess::new(), CastlingMode::Standard)
    }

    /// A state from FEN, also where the placement allows no legal position. `None` if `fen` is not valid FEN.
    #[must_use]
    pub fn from_fen(fen: &str, mode: CastlingMode) -> Option<Self> {
        let setup = fen.parse::<Fen>().ok()?.into_setup();
        let (board, turn) = (setup.board.clone(), setup.turn);
        let position = Chess::from_setup(setup, mode)
            .or_else(PositionError::ignore_too_much_material)
            .or_else(PositionError::ignore_impossible_check)
            .ok();
        Some(Self {
            board,
            turn,
            position,
            mode,
            may_castle: Bitboard::EMPTY,
        })
    }

    /// A placement reached by irregular play, with a legal position where the placement allows one.
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
            may_castle: Bitboard::EMPTY,
        }
        .following(before)
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

    /// The position as FEN. Without a legal position, only the placement and the side to move are given.
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

    /// The legal moves. Without a legal position, all moves that the pieces can make.
    pub(crate) fn moves(&self) -> Vec<PossibleMove> {
        let possible = |m: Move| PossibleMove {
            m,
            footprint: footprint(&self.board, m),
        };
        match self.legal_moves() {
            Some(moves) => moves.into_iter().map(possible).collect(),
            None => unruled_moves(&self.board, self.turn)
                .into_iter()
                .map(possible)
                .collect(),
        }
    }

    /// The legal moves, with castling also where the right to it is not known; `None` without a legal position.
    pub(crate) fn legal_moves(&self) -> Option<Vec<Move>> {
        let position = self.position.as_ref()?;
        let mut moves: Vec<Move> = position.legal_moves().into_iter().collect();
        let castling_rights = self.may_castle & self.board.by_color(self.turn);
        if castling_rights.any() {
            let setup = Setup {
                castling_rights,
                ..position.to_setup(EnPassantMode::Legal)
            };
            let entitled = Chess::from_setup(setup, CastlingMode::Chess960)
                .or_else(PositionError::ignore_invalid_castling_rights)
                .or_else(PositionError::ignore_impossible_check)
                .or_else(PositionError::ignore_too_much_material);
            let castling = |entitled: Chess| entitled.legal_moves().into_iter().filter(|m| m.is_castle());
            moves.extend(entitled.into_iter().flat_map(castling));
        }
        Some(moves)
    }

    /// The legal move with this UCI notation.
    #[must_use]
    pub fn legal_move(&self, uci: &UciMove) -> Option<Move> {
        let mut moves = self.legal_moves()?.into_iter();
        moves.find(|m| self.uci(*m) == *uci)
    }

    /// Whether the piece on `from` can move to `to`, regardless of the side to move and of check. Castling and en passant
    /// are left out.
    pub(crate) fn reaches(&self, from: Square, to: Square) -> bool {
        self.board.color_at(from).is_some_and(|color| {
            unruled_moves(&self.board, color)
                .iter()
                .any(|m| m.from() == Some(from) && m.to() == to)
        })
    }

    /// The squares that a move changes.
    pub(crate) fn squares(&self, m: Move) -> Bitboard {
        footprint(&self.board, m).squares()
    }

    /// The state after one of [`moves`](Self::moves).
    pub(crate) fn after(&self, m: Move) -> Self {
        let mut next = self.clone();
        if let Some(position) = &mut next.position {
            position.play_unchecked(m);
            next.board = position.board().clone();
            next.turn = position.turn();
            return next.following(self);
        }
        footprint(&self.board, m).make(&mut next.board);
        Self::irregular(next.board, !self.turn, self)
    }

    /// The UCI notation of one of [`moves`](Self::moves).
    pub(crate) fn uci(&self, m: Move) -> UciMove {
        let Move::Castle { king, rook } = m else {
            return m.to_uci(self.mode);
        };
        if !self.may_castle.contains(rook) {
            return m.to_uci(self.mode);
        }
        let standard = king.file() == File::E && (rook.file() == File::A || rook.file() == File::H);
        // From other squares it must be Chess960.
        m.to_uci(CastlingMode::from_chess960(!standard))
    }

    /// The SAN of one of [`moves`](Self::moves); `None` without a legal position.
    pub(crate) fn san(&self, m: Move) -> Option<String> {
        let position = self.position.clone()?;
        Some(SanPlus::from_move(position, m).to_string())
    }
}

/// A move that can be made in a state, with what it changes on the board.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PossibleMove {
    pub(crate) m: Move,
    pub(crate) footprint: Footprint,
}

/// The squares that a move changes, with what stands there after it: two for most moves, three for en passant, up to
/// four for castling.
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

    /// The squares of the move that do not show it.
    pub(crate) fn unmet(&self, board: &Board) -> Bitboard {
        self.iter()
            .filter(|(square, piece)| board.piece_at(*square) != *piece)
            .map(|(square, _)| square)
            .collect()
    }

    /// Whether all squares of the move show it.
    pub(crate) fn fits(&self, board: &Board) -> bool {
        self.iter().all(|(square, piece)| board.piece_at(square) == piece)
    }

    /// These squares with what `board` shows on them; `None` for no squares, or for more than four.
    pub(crate) fn of_squares(squares: Bitboard, board: &Board) -> Option<Self> {
        let mut list = [(squares.first()?, None); 4];
        for (at, square) in squares.into_iter().enumerate() {
            *list.get_mut(at)? = (square, board.piece_at(square));
        }
        Some(Self {
            squares: list,
            count: squares.count() as u8,
        })
    }

    /// Makes the move on a board.
    pub(crate) fn make(&self, board: &mut Board) {
        for (square, piece) in self.iter() {
            match piece {
                Some(piece) => board.set_piece_at(square, piece),
                None => board.discard_piece_at(square),
            }
        }
    }
}

/// The moves that the pieces of `color` can make, regardless of check. Castling and en passant are left out.
fn unruled_moves(board: &Board, color: Color) -> Vec<Move> {
    let own = board.by_color(color);
    let mut moves = Vec::new();
    for (from, role) in own
        .into_iter()
        .filter_map(|from| Some((from, board.role_at(from)?)))
    {
        let targets = if role == Role::Pawn {
            pawn_targets(board, from, color)
        } else {
            attacks::attacks(from, role.of(color), board.occupied()).without(own)
        };
        for to in targets {
            let promotes = role == Role::Pawn && to.rank() == color.fold_wb(Rank::Eighth, Rank::First);
            let normal = |promotion| Move::Normal {
                role,
                from,
                capture: board.role_at(to),
                to,
                promotion,
            };
            if promotes {
                let roles = [Role::Queen, Role::Knight, Role::Rook, Role::Bishop];
                moves.extend(roles.map(Some).map(normal));
            } else {
                moves.push(normal(None));
            }
        }
    }
    moves
}

fn pawn_targets(board: &Board, from: Square, color: Color) -> Bitboard {
    let captures = attacks::pawn_attacks(color, from) & board.by_color(!color);
    let ahead = |square: Square| {
        let next = square.offset(color.fold_wb(8, -8))?;
        board.piece_at(next).is_none().then_some(next)
    };
    let first = ahead(from);
    let at_home = from.rank() == color.fold_wb(Rank::Second, Rank::Seventh);
    let second = first.filter(|_| at_home).and_then(ahead);
    captures | first.into_iter().chain(second).collect::<Bitboard>()
}

fn footprint(board: &Board, m: Move) -> Footprint {
    // The destination comes first: it rules out most moves with one comparison.
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
