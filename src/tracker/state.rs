//! A position in a line of play: legal where it can be, else just what stands on the board.

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
    /// Rooks that nobody knows whether they may castle, for the game was found in the middle. The position claims no
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

    /// The same where nobody knows what has been played before: whatever king and rook stand on their first rank may
    /// castle, in some game of Chess960 at least. That they do proves that they may.
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

    /// The same behind `before`: what was not known there of castling still is not, where king and rook have not moved.
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

    /// A state written as FEN, also one that the Laws know no position for. `None` where it is no FEN.
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

    /// The legal moves; where the Laws know no such position, all that the pieces could do there.
    pub(crate) fn moves(&self) -> Vec<Candidate> {
        let candidate = |m: Move| Candidate {
            m,
            footprint: footprint(&self.board, m),
        };
        match self.legal_moves() {
            Some(moves) => moves.into_iter().map(candidate).collect(),
            None => unruled_moves(&self.board, self.turn)
                .into_iter()
                .map(candidate)
                .collect(),
        }
    }

    /// The legal moves, castling among them where it may be one; `None` where the Laws know no such position.
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

    /// The legal move that UCI writes so.
    #[must_use]
    pub fn legal_move(&self, uci: &UciMove) -> Option<Move> {
        let mut moves = self.legal_moves()?.into_iter();
        moves.find(|m| self.uci(*m) == *uci)
    }

    /// Whether the piece on `from` goes to `to` by the way it moves, whoever is to move, check or no check: castling
    /// and en passant left out.
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

    pub(crate) fn uci(&self, m: Move) -> UciMove {
        let Move::Castle { king, rook } = m else {
            return m.to_uci(self.mode);
        };
        if !self.may_castle.contains(rook) {
            return m.to_uci(self.mode);
        }
        let standard = king.file() == File::E && (rook.file() == File::A || rook.file() == File::H);
        // Elsewhere it is found out to be Chess960.
        m.to_uci(CastlingMode::from_chess960(!standard))
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

    /// What `board` shows on these squares; `None` for more than four.
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

    /// Puts on a board what it shows after the move.
    pub(crate) fn make(&self, board: &mut Board) {
        for (square, piece) in self.iter() {
            match piece {
                Some(piece) => board.set_piece_at(square, piece),
                None => board.discard_piece_at(square),
            }
        }
    }
}

/// Where the pieces of `color` could go by the way they move, check or no check.
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
