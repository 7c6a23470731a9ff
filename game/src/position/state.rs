//! A position in a line of play: legal, or any other placement from which play continues.

use core::num::NonZeroU32;
use std::sync::OnceLock;

use shakmaty::fen::Fen;
use shakmaty::san::{San, SanPlus, Suffix};
use shakmaty::uci::UciMove;
use shakmaty::{
    Bitboard, Board, CastlingMode, Chess, Color, EnPassantMode, File, FromSetup, Move, MoveList, Piece,
    Position, PositionError, Rank, Role, Setup, Square,
};

use super::any_placement::{self, pseudo_legal_moves};
use super::put;

/// A placement with the side to move, the rights to castle, and the counters of the FEN.
///
/// Whether a move is legal does not depend on the history (Laws Art. 3.10.1: a move is legal if it meets Art. 3.1 to
/// 3.9): the piece must move according to the Laws, and the player's own king must not be left attacked.
#[derive(Debug, Clone)]
pub struct State {
    basis: Basis,
    mode: CastlingMode,
    /// Rooks that may have the right to castle: the right is unknown because the start of the game was not observed.
    /// They are not in the castling rights of `basis`.
    may_castle: Bitboard,
    moves: Moves,
}

/// The possible moves of a state, computed when they are first needed. A copy of a state computes its own: most copies
/// only keep the placement.
#[derive(Debug, Default)]
struct Moves(OnceLock<Box<[PossibleMove]>>);

impl Clone for Moves {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// The placement of a state, whether or not shakmaty accepts it as a position.
#[derive(Debug, Clone)]
enum Basis {
    /// A position that shakmaty accepts.
    Position(Chess),
    /// Any other placement, for example after illegal play: the player who has just moved is in check, a pawn stands
    /// on the last rank, or a king is missing.
    Any(Box<Setup>),
}

impl Basis {
    fn of(setup: Setup, mode: CastlingMode) -> Self {
        match accepted(setup.clone(), mode) {
            Some(position) => Self::Position(position),
            None => Self::Any(Box::new(setup)),
        }
    }

    fn setup(&self) -> Setup {
        match self {
            Self::Position(position) => position.to_setup(EnPassantMode::Always),
            Self::Any(setup) => Setup::clone(setup),
        }
    }
}

/// The position for a setup; `None` if shakmaty rejects it.
fn accepted(setup: Setup, mode: CastlingMode) -> Option<Chess> {
    Chess::from_setup(setup, mode)
        .or_else(PositionError::ignore_invalid_castling_rights)
        .or_else(PositionError::ignore_invalid_ep_square)
        .or_else(PositionError::ignore_impossible_check)
        .or_else(PositionError::ignore_too_much_material)
        .ok()
}

/// The standard start position.
impl Default for State {
    fn default() -> Self {
        Self::legal(Chess::new(), CastlingMode::Standard)
    }
}

impl State {
    pub(crate) fn legal(position: Chess, mode: CastlingMode) -> Self {
        Self::new(Basis::Position(position), mode)
    }

    const fn new(basis: Basis, mode: CastlingMode) -> Self {
        Self {
            basis,
            mode,
            may_castle: Bitboard::EMPTY,
            moves: Moves(OnceLock::new()),
        }
    }

    /// The same state with an unknown history. Any king and rook on their first rank may have the right to castle, at
    /// least in Chess960; if they do castle, they had it.
    #[must_use]
    pub fn with_unknown_past(mut self) -> Self {
        let rooks = |color: Color| {
            let rank = Bitboard::from(color.fold_wb(Rank::First, Rank::Eighth));
            let king = self.board().king_of(color).filter(|king| rank.contains(*king));
            king.map_or(Bitboard::EMPTY, |_| {
                rank & self.board().by_piece(Role::Rook.of(color))
            })
        };
        self.may_castle = (rooks(Color::White) | rooks(Color::Black)).without(self.castling_rights());
        self.forget_moves();
        self
    }

    /// Marks the state as the successor of `before`: a right to castle stays unknown if king and rook have not moved.
    #[must_use]
    pub fn following(mut self, before: &Self) -> Self {
        let kept = unmoved_rooks(before.board(), self.board());
        self.may_castle = before.may_castle & kept;
        self.forget_moves();
        self
    }

    /// Records that these rooks have no right to castle.
    pub(super) fn without_castling(mut self, rooks: Bitboard) -> Self {
        self.may_castle &= !rooks;
        self.forget_moves();
        self
    }

    /// The rooks whose right to castle is unknown.
    pub(super) const fn may_castle(&self) -> Bitboard {
        self.may_castle
    }

    /// Parses a FEN with any placement. `None` if `fen` is not a valid FEN.
    #[must_use]
    pub fn from_fen(fen: &str, mode: CastlingMode) -> Option<Self> {
        let setup = fen.parse::<Fen>().ok()?.into_setup();
        Some(Self::new(Basis::of(setup, mode), mode))
    }

    pub(crate) fn from_setup(setup: Setup, mode: CastlingMode) -> Self {
        Self::new(Basis::of(setup, mode), mode)
    }

    /// The state after an irregular move of the side to move has left `board`. The opponent has the move, and the
    /// counters of the FEN continue.
    pub(crate) fn irregular(&self, board: Board) -> Self {
        let next = self.succeeded_by(board, None);
        Self::new(Basis::of(next, self.mode), self.mode).following(self)
    }

    /// The same placement with the other side to move.
    pub(crate) fn turned(&self) -> Self {
        let setup = self.basis.setup().into_swapped_turn();
        Self {
            basis: Basis::of(setup, self.mode),
            mode: self.mode,
            may_castle: self.may_castle,
            moves: Moves::default(),
        }
    }

    fn succeeded_by(&self, board: Board, ep_square: Option<Square>) -> Setup {
        let before = self.basis.setup();
        let quiet = board.pawns() == before.board.pawns()
            && board.occupied().count() == before.board.occupied().count();
        let kept = unmoved_rooks(&before.board, &board);
        Setup {
            castling_rights: before.castling_rights & kept,
            turn: !before.turn,
            ep_square,
            halfmoves: if quiet {
                before.halfmoves.saturating_add(1)
            } else {
                0
            },
            fullmoves: next_move(before.fullmoves, before.turn),
            board,
            ..Setup::empty()
        }
    }

    /// The expected placement on the board.
    #[must_use]
    pub fn board(&self) -> &Board {
        match &self.basis {
            Basis::Position(position) => position.board(),
            Basis::Any(setup) => &setup.board,
        }
    }

    /// The side to move.
    #[must_use]
    pub fn turn(&self) -> Color {
        match &self.basis {
            Basis::Position(position) => position.turn(),
            Basis::Any(setup) => setup.turn,
        }
    }

    /// The rooks with which castling is still allowed.
    pub(super) fn castling_rights(&self) -> Bitboard {
        match &self.basis {
            Basis::Position(position) => position.castles().castling_rights(),
            Basis::Any(setup) => setup.castling_rights,
        }
    }

    /// The position for shakmaty; `None` if shakmaty rejects the placement, for example after illegal play.
    #[must_use]
    pub fn position(&self) -> Option<&Chess> {
        match &self.basis {
            Basis::Position(position) => Some(position),
            Basis::Any(_) => None,
        }
    }

    /// The notation of castling: king to its destination in standard chess, king takes rook in Chess960.
    #[must_use]
    pub fn mode(&self) -> CastlingMode {
        self.mode
    }

    /// The state as FEN, with an en passant square only if a capture there is possible.
    #[must_use]
    pub fn fen(&self) -> String {
        match &self.basis {
            Basis::Position(position) => Fen::from_position(position, EnPassantMode::Legal).to_string(),
            Basis::Any(setup) => {
                let is_en_passant = |m: &Move| m.is_en_passant();
                let ep_square = setup
                    .ep_square
                    .filter(|_| self.legal_moves().iter().any(is_en_passant));
                let setup = Setup {
                    ep_square,
                    ..Setup::clone(setup)
                };
                Fen::try_from_setup(setup)
                    .unwrap_or_else(|lossy| lossy.ignore())
                    .to_string()
            }
        }
    }

    /// The legal moves, with the squares that each of them changes.
    pub(crate) fn moves(&self) -> &[PossibleMove] {
        let turn = self.turn();
        let possible = |m: Move| PossibleMove {
            m,
            footprint: footprint(turn, m),
        };
        let Moves(moves) = &self.moves;
        moves.get_or_init(|| self.legal_moves().into_iter().map(possible).collect())
    }

    /// Frees the memory of the moves of a position that will hardly be asked for them again.
    pub(crate) fn forget_moves(&mut self) {
        self.moves = Moves::default();
    }

    /// The legal moves, including castling moves for which the right to castle is unknown.
    pub(crate) fn legal_moves(&self) -> Vec<Move> {
        let mut moves: Vec<Move> = match &self.basis {
            Basis::Position(position) => position.legal_moves().into_iter().collect(),
            Basis::Any(setup) => return any_placement::legal_moves(setup, self.may_castle),
        };
        let castling_rights = self.may_castle & self.board().by_color(self.turn());
        if castling_rights.any() {
            let setup = Setup {
                castling_rights,
                ..self.basis.setup()
            };
            let castling = |entitled: Chess| entitled.legal_moves().into_iter().filter(|m| m.is_castle());
            let entitled = accepted(setup, CastlingMode::Chess960);
            moves.extend(entitled.into_iter().flat_map(castling));
        }
        moves
    }

    /// The legal move with this UCI notation.
    #[must_use]
    pub fn legal_move(&self, uci: &UciMove) -> Option<Move> {
        let mut moves = self.legal_moves().into_iter();
        moves.find(|m| self.uci(*m) == *uci)
    }

    /// The legal move with this UCI notation, with either notation of castling.
    #[must_use]
    pub fn move_of_uci(&self, uci: &UciMove) -> Option<Move> {
        let by_shakmaty = || uci.to_move(self.position()?).ok();
        by_shakmaty().or_else(|| self.legal_move(uci))
    }

    /// The legal move with this SAN, if there is exactly one.
    #[must_use]
    pub fn move_of_san(&self, san: &San) -> Option<Move> {
        if let Some(position) = self.position() {
            return san.to_move(position).ok();
        }
        let mut matching = self.legal_moves().into_iter().filter(|m| san.matches(*m));
        let found = matching.next()?;
        matching.next().is_none().then_some(found)
    }

    /// Whether the piece on `from` can move to `to`, ignoring the side to move and check. Castling and en passant are
    /// left out.
    pub(crate) fn reaches(&self, from: Square, to: Square) -> bool {
        self.board().color_at(from).is_some_and(|color| {
            pseudo_legal_moves(self.board(), color)
                .iter()
                .any(|m| m.from() == Some(from) && m.to() == to)
        })
    }

    pub(crate) fn in_check(&self) -> bool {
        any_placement::in_check(self.board(), self.turn())
    }

    /// The state after one of [`moves`](Self::moves).
    pub(crate) fn after(&self, m: Move) -> Self {
        let basis = match &self.basis {
            Basis::Position(position) => {
                let mut next = position.clone();
                next.play_unchecked(m);
                Basis::Position(next)
            }
            Basis::Any(setup) => {
                let mut board = setup.board.clone();
                footprint(setup.turn, m).make(&mut board);
                let next = self.succeeded_by(board, any_placement::passed_square(m));
                Basis::of(next, self.mode)
            }
        };
        Self::new(basis, self.mode).following(self)
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
        // Castling from other squares is only possible in Chess960.
        m.to_uci(CastlingMode::from_chess960(!standard))
    }

    /// The SAN of one of [`moves`](Self::moves), with the sign for check or mate.
    pub(crate) fn san(&self, m: Move) -> String {
        match &self.basis {
            Basis::Position(position) => SanPlus::from_move(position.clone(), m).to_string(),
            Basis::Any(_) => self.san_from_any(m),
        }
    }

    fn san_from_any(&self, m: Move) -> String {
        let mut similar = MoveList::new();
        let same = |other: &Move| other.role() == m.role() && other.to() == m.to();
        // A board has no more similar moves than the list can hold.
        for other in self.legal_moves().into_iter().filter(same) {
            if similar.try_push(other).is_err() {
                break;
            }
        }
        let after = self.after(m);
        let suffix = after.in_check().then(|| {
            if after.legal_moves().is_empty() {
                Suffix::Checkmate
            } else {
                Suffix::Check
            }
        });
        let san = San::disambiguate(m, &similar);
        SanPlus { san, suffix }.to_string()
    }
}

/// The rooks on the same squares as before, of sides whose king has not moved either.
fn unmoved_rooks(before: &Board, after: &Board) -> Bitboard {
    let king_unmoved = |color: &Color| before.king_of(*color) == after.king_of(*color);
    let rooks = |color: Color| {
        let rook = Role::Rook.of(color);
        before.by_piece(rook) & after.by_piece(rook)
    };
    let kept = Color::ALL.into_iter().filter(king_unmoved);
    kept.fold(Bitboard::EMPTY, |all, color| all | rooks(color))
}

/// The move number after a ply of `turn`.
fn next_move(number: NonZeroU32, turn: Color) -> NonZeroU32 {
    turn.fold_wb(number, number.saturating_add(1))
}

/// A possible move in a state, with the squares that it changes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PossibleMove {
    pub(crate) m: Move,
    pub(crate) footprint: Footprint,
}

/// The squares changed by a move, with their content after it: two for most moves, three for en passant, up to four for
/// castling.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Footprint {
    parts: [(Square, Option<Piece>); 4],
    count: u8,
    squares: Bitboard,
}

impl Footprint {
    /// A footprint without squares. `first` only fills the list.
    const fn empty(first: Square) -> Self {
        Self {
            parts: [(first, None); 4],
            count: 0,
            squares: Bitboard::EMPTY,
        }
    }

    /// Adds a square with its content after the move. More than four squares are left out.
    fn put(&mut self, square: Square, piece: Option<Piece>) {
        if let Some(part) = self.parts.get_mut(usize::from(self.count)) {
            *part = (square, piece);
            self.count += 1;
            self.squares.add(square);
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Square, Option<Piece>)> + '_ {
        self.parts.iter().take(usize::from(self.count)).copied()
    }

    pub(crate) const fn squares(&self) -> Bitboard {
        self.squares
    }

    /// The squares of the move whose content on `board` differs from that after the move.
    pub(crate) fn unmet(&self, board: &Board) -> Bitboard {
        self.iter()
            .filter(|(square, piece)| board.piece_at(*square) != *piece)
            .map(|(square, _)| square)
            .collect()
    }

    /// Whether `board` shows all squares as they are after the move.
    pub(crate) fn fits(&self, board: &Board) -> bool {
        self.iter().all(|(square, piece)| board.piece_at(square) == piece)
    }

    /// The given squares with their content on `board`; `None` for no squares, or for more than four.
    pub(crate) fn of_squares(squares: Bitboard, board: &Board) -> Option<Self> {
        let mut footprint = Self::empty(squares.first()?);
        for square in squares {
            footprint.put(square, board.piece_at(square));
        }
        (footprint.squares == squares).then_some(footprint)
    }

    pub(crate) fn make(&self, board: &mut Board) {
        for (square, piece) in self.iter() {
            put(board, square, piece);
        }
    }
}

fn footprint(turn: Color, m: Move) -> Footprint {
    // The destination comes first: it rules out most moves with one comparison.
    let mut footprint = Footprint::empty(m.to());
    match m {
        Move::Normal {
            role,
            from,
            to,
            promotion,
            ..
        } => {
            footprint.put(to, Some(promotion.unwrap_or(role).of(turn)));
            footprint.put(from, None);
        }
        Move::EnPassant { from, to } => {
            footprint.put(to, Some(Role::Pawn.of(turn)));
            footprint.put(from, None);
            footprint.put(Square::from_coords(to.file(), from.rank()), None);
        }
        Move::Castle { king, rook } => {
            let (king_to, rook_to) = castled(king, rook, turn);
            // In Chess960, one of the two may stay on its square.
            if king_to != king {
                footprint.put(king_to, Some(Role::King.of(turn)));
            }
            if rook_to != rook {
                footprint.put(rook_to, Some(Role::Rook.of(turn)));
            }
            for left in [king, rook]
                .into_iter()
                .filter(|s| *s != king_to && *s != rook_to)
            {
                footprint.put(left, None);
            }
        }
        Move::Put { role, to } => footprint.put(to, Some(role.of(turn))),
    }
    footprint
}

/// The squares of king and rook after castling.
pub(crate) fn castled(king: Square, rook: Square, color: Color) -> (Square, Square) {
    let side = shakmaty::CastlingSide::from_king_side(king < rook);
    (side.king_to(color), side.rook_to(color))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_with_another_turn_or_past_has_moves_of_its_own() {
        let fen = "4k2r/8/8/8/8/8/8/4K2R w - - 0 1";
        let state = State::from_fen(fen, CastlingMode::Standard).expect("a FEN");
        let castles = |state: &State| state.moves().iter().any(|possible| possible.m.is_castle());
        assert!(!castles(&state));
        let of_black =
            |possible: &PossibleMove| state.board().color_at(possible.m.to()) == Some(Color::White);
        assert!(
            state.turned().moves().iter().any(of_black),
            "Black can take the rook"
        );
        assert!(castles(&state.with_unknown_past()));
    }
}
