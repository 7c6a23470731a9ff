//! Start positions: what can stand on a board before the first move.

use shakmaty::{
    Bitboard, Board, CastlingMode, Chess, Color, File, FromSetup, Position, Rank, Role, Setup, Square,
};

use super::state::State;
use crate::vocabulary::vocabulary;

vocabulary! {
    "variant"
    /// The kind of game that a start position opens.
    pub enum Variant {
        /// The usual start position (Laws Art. 2.3).
        Standard = "standard",
        /// One of the other 959 start positions of Chess960 (Laws, Guidelines II).
        Chess960 = "chess960",
        /// Any other position: the board was found in it, without its history.
        FromPosition = "from_position",
    }
}

vocabulary! {
    "orientation"
    /// Where White sits.
    pub enum Orientation {
        /// With the connector on White's left.
        Normal = "normal",
        /// With the connector on White's right.
        Turned = "turned",
    }
}

impl Orientation {
    /// Of a board that stands turned, or not.
    #[must_use]
    pub const fn of(turned: bool) -> Self {
        if turned { Self::Turned } else { Self::Normal }
    }
}

/// The start position that stands on the board, if it is one: pieces mirrored on the first and last rank, the king
/// between the rooks, the bishops on squares of different colours.
pub(crate) fn recognise(board: &Board) -> Option<(Variant, State)> {
    if board.occupied().count() != 32 || board.pawns().count() != 16 {
        return None;
    }
    if *board == Board::new() {
        return Some((
            Variant::Standard,
            State::legal(Chess::new(), CastlingMode::Standard),
        ));
    }
    if !has_start_shape(board) {
        return None;
    }
    let setup = Setup {
        board: board.clone(),
        castling_rights: board.rooks(),
        turn: Color::White,
        ..Setup::initial()
    };
    let position = Chess::from_setup(setup, CastlingMode::Chess960).ok()?;
    Some((Variant::Chess960, State::legal(position, CastlingMode::Chess960)))
}

/// The position of a placement with `turn` to move, in a game whose start was not observed. Kings and rooks on their
/// original squares have the right to castle. `None` if the placement allows no legal position.
pub(crate) fn without_history(board: &Board, turn: Color) -> Option<State> {
    let home = |color: Color| {
        let rank = color.fold_wb(Rank::First, Rank::Eighth);
        let castles = board.king_of(color) == Some(Square::from_coords(File::E, rank));
        let corners =
            Bitboard::from(Square::from_coords(File::A, rank)).with(Square::from_coords(File::H, rank));
        if castles {
            corners & board.by_piece(Role::Rook.of(color))
        } else {
            Bitboard::EMPTY
        }
    };
    position_of(
        board,
        turn,
        home(Color::White) | home(Color::Black),
        CastlingMode::Standard,
    )
}

/// The same for a game that was observed until `last`: a king or rook that has left its square since then has no right to
/// castle. If a side has more pieces than it had then, another game has begun.
pub(crate) fn after_gap(board: &Board, turn: Color, last: &State) -> Option<State> {
    let count = |board: &Board, color: Color| board.by_color(color).count();
    if Color::ALL
        .into_iter()
        .any(|color| count(board, color) > count(last.board(), color))
    {
        return without_history(board, turn);
    }
    let rights = last
        .position()
        .map_or(Bitboard::EMPTY, |position| position.castles().castling_rights());
    let stays = |color: Color| board.king_of(color) == last.board().king_of(color);
    let kept = Color::ALL.into_iter().filter(|color| stays(*color));
    let rooks = kept.fold(Bitboard::EMPTY, |rooks, color| {
        rooks | board.by_piece(Role::Rook.of(color))
    });
    position_of(board, turn, rights & rooks, last.mode())
}

/// Whether a placement seems to be read the wrong way round, where it is not known on which side White sits: on average
/// the white pawns should stand on lower ranks than the black ones.
pub(crate) fn seems_turned(board: &Board) -> bool {
    let mut turned = board.clone();
    turned.rotate_180();
    let could_be = |turn: Color| without_history(&turned, turn).is_some();
    // The sum of the ranks, and the number of pawns.
    let pawns = |color: Color| {
        let pawns = board.by_piece(Role::Pawn.of(color));
        let ranks = pawns.into_iter().map(|at| usize::from(at.rank())).sum::<usize>();
        (ranks, pawns.count())
    };
    let ((white, whites), (black, blacks)) = (pawns(Color::White), pawns(Color::Black));
    let apart = white * blacks > black * whites;
    apart && Color::ALL.into_iter().any(could_be)
}

fn position_of(board: &Board, turn: Color, castling_rights: Bitboard, mode: CastlingMode) -> Option<State> {
    let setup = Setup {
        board: board.clone(),
        turn,
        castling_rights,
        ..Setup::empty()
    };
    let position = Chess::from_setup(setup, mode).ok()?;
    Some(State::legal(position, mode).with_unknown_past())
}

fn has_start_shape(board: &Board) -> bool {
    let pawns = |color: Color, rank: Rank| board.by_piece(Role::Pawn.of(color)) == rank.into();
    if !pawns(Color::White, Rank::Second) || !pawns(Color::Black, Rank::Seventh) {
        return false;
    }
    let back = board.white() & Rank::First;
    let mirrored = back.into_iter().all(|square: Square| {
        board.role_at(square) == board.role_at(square.flip_vertical())
            && board.color_at(square.flip_vertical()) == Some(Color::Black)
    });
    let count = |role: Role| (back & board.by_role(role)).count();
    if back.count() != 8
        || !mirrored
        || [Role::Knight, Role::Bishop, Role::Rook].map(count) != [2, 2, 2]
        || [Role::Queen, Role::King].map(count) != [1, 1]
    {
        return false;
    }
    let rooks = back & board.rooks();
    let bishops = back & board.bishops();
    let between =
        |king: Square| rooks.first().is_some_and(|r| r < king) && rooks.last().is_some_and(|r| r > king);
    board.king_of(Color::White).is_some_and(between)
        && bishops.into_iter().filter(|s| s.is_light()).count() == 1
}
