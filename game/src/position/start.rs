//! Start positions: placements on a board before the first move.

use shakmaty::{
    Bitboard, Board, CastlingMode, Chess, Color, File, FromSetup, Position, PositionError, Rank, Role, Setup,
    Square,
};

use super::difference;
use super::state::State;

vocabulary! {
    "variant"
    /// The kind of game that a start position opens.
    pub enum Variant {
        /// The standard start position (Laws Art. 2.3).
        Standard = "standard",
        /// One of the other 959 start positions of Chess960 (Laws, Guidelines II).
        Chess960 = "chess960",
        /// All pieces on their own ranks, but neither in the standard order nor in one of Chess960: set up wrongly.
        /// This includes the standard position with one or two swaps. Castling is written as in Chess960.
        WrongStart = "wrong_start",
        /// Any other position: the board was found in it, without its history.
        FromPosition = "from_position",
    }
}

vocabulary! {
    "orientation"
    /// The side of the board on which White sits.
    pub enum Orientation {
        /// The connector is on White's left.
        Normal = "normal",
        /// The connector is on White's right.
        Turned = "turned",
    }
}

impl Orientation {
    /// Converts from the flag `turned`.
    #[must_use]
    pub const fn of(turned: bool) -> Self {
        if turned { Self::Turned } else { Self::Normal }
    }
}

impl Variant {
    /// The rules and notation of castling; `None` if they depend on the position.
    #[must_use]
    pub const fn castling_mode(self) -> Option<CastlingMode> {
        match self {
            Self::Standard => Some(CastlingMode::Standard),
            Self::Chess960 | Self::WrongStart => Some(CastlingMode::Chess960),
            Self::FromPosition => None,
        }
    }
}

/// The prescribed start position of a game.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Drawn {
    /// Not prescribed: the standard position, or any of Chess960.
    #[default]
    Any,
    /// The standard position.
    Usual,
    /// An unknown start position of Chess960.
    Chess960,
    /// A given placement.
    Placement(Board),
}

impl Drawn {
    /// The rooks of a start position that may castle (2023: A.5.1.2): the rooks on their prescribed squares, if the
    /// king is on its prescribed square too.
    fn castling_rights(&self, variant: Variant, board: &Board) -> Bitboard {
        let standard = Board::new();
        let prescribed = match (self, variant) {
            (Self::Placement(placement), _) => placement,
            (Self::Usual, _) | (Self::Any, Variant::WrongStart) => &standard,
            (Self::Any | Self::Chess960, _) => board,
        };
        let king_in_place = |color: &Color| board.king_of(*color) == prescribed.king_of(*color);
        Color::ALL
            .into_iter()
            .filter(king_in_place)
            .fold(Bitboard::EMPTY, |rooks, color| {
                let rook = Role::Rook.of(color);
                rooks | (board.by_piece(rook) & prescribed.by_piece(rook))
            })
    }
}

/// Number of squares on which a start position differs from the standard one if two pairs of pieces are swapped.
const TWO_SWAPS: usize = 4;
/// Most pieces of the standard start position that the board may fail to read. A dead coil in a piece or under a square
/// is rare, and two are rarer; more missing pieces have not been set up yet.
const MAX_UNSEEN: usize = 2;

/// Recognises a start position, if all pieces are set up: pawns on their ranks, the others behind them.
///
/// The position is one of Chess960 if the pieces are mirrored, the king stands between the rooks, and the bishops stand
/// on squares of different colours. It is wrong if it is neither standard nor Chess960, or if it differs from the
/// standard one by at most two swaps.
pub(crate) fn recognise(board: &Board) -> Option<(Variant, State)> {
    recognise_as(&Drawn::Any, board)
}

/// As [`recognise`], with `drawn` as the prescribed position: a king or rook that is not on its prescribed square has
/// no right to castle.
pub(crate) fn recognise_as(drawn: &Drawn, board: &Board) -> Option<(Variant, State)> {
    if !is_array(board) {
        return None;
    }
    let differs = difference(board, &Board::new()).count();
    let (variant, mode) = if differs == 0 {
        (Variant::Standard, CastlingMode::Standard)
    } else if differs > TWO_SWAPS && has_start_shape(board) {
        (Variant::Chess960, CastlingMode::Chess960)
    } else {
        (Variant::WrongStart, CastlingMode::Chess960)
    };
    let setup = Setup {
        board: board.clone(),
        castling_rights: drawn.castling_rights(variant, board),
        turn: Color::White,
        ..Setup::initial()
    };
    Some((variant, State::from_setup(setup, mode)))
}

/// Whether a placement results from a start position after White, or both players, castled with the first move. All
/// pieces then stand on their own ranks, as in a start position that was set up wrongly.
pub(crate) fn is_castled(start: &State, board: &Board) -> bool {
    let castled = |state: &State| {
        let moves = state.legal_moves().into_iter().filter(|m| m.is_castle());
        moves.map(|m| state.after(m)).collect::<Vec<_>>()
    };
    let by_white = castled(start);
    let by_both = || by_white.iter().flat_map(castled);
    by_white.iter().any(|state| state.board() == board) || by_both().any(|state| state.board() == board)
}

/// The Chess960 start position from which White reached a placement by castling with the first move, derived from
/// Black's pieces.
pub(crate) fn before_castling(board: &Board) -> Option<State> {
    let mut start = board.clone();
    for square in Bitboard::from(Rank::First) {
        let role = board.role_at(square.flip_vertical())?;
        start.set_piece_at(square, role.of(Color::White));
    }
    recognise(&start)
        .filter(|(variant, state)| *variant == Variant::Chess960 && is_castled(state, board))
        .map(|(_, state)| state)
}

/// The squares of the standard start position that show no piece; `None` if no piece or more than `MAX_UNSEEN` are
/// missing, or if any other square differs.
pub(crate) fn unseen(board: &Board) -> Option<Bitboard> {
    let standard = Board::new();
    let missing = difference(board, &standard);
    let few = (1..=MAX_UNSEEN).contains(&missing.count());
    (few && (missing & board.occupied()).is_empty()).then_some(missing)
}

/// Whether each side has all its pieces on its first two ranks, the pawns on the second.
fn is_array(board: &Board) -> bool {
    Color::ALL.into_iter().all(|color| {
        let (first, second) = color.fold_wb((Rank::First, Rank::Second), (Rank::Eighth, Rank::Seventh));
        let own = board.by_color(color);
        let count = |role: Role| (own & board.by_role(role)).count();
        own == (Bitboard::from(first) | Bitboard::from(second))
            && board.pawns() & own == Bitboard::from(second)
            && [Role::Knight, Role::Bishop, Role::Rook].map(count) == [2, 2, 2]
            && [Role::Queen, Role::King].map(count) == [1, 1]
    })
}

/// The position of a placement with `turn` to move, in a game whose start was not observed. Kings and rooks on their
/// original squares have the right to castle. `None` if the placement allows no legal position.
pub(crate) fn without_history(board: &Board, turn: Color) -> Option<State> {
    let castling_rooks = |color: Color| {
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
        castling_rooks(Color::White) | castling_rooks(Color::Black),
        CastlingMode::Standard,
    )
}

/// Whether a side has more pieces than in `before`, so that another game must have begun.
pub(crate) fn is_another_game(board: &Board, before: &Board) -> bool {
    let count = |board: &Board, color: Color| board.by_color(color).count();
    let has_more = |color: Color| count(board, color) > count(before, color);
    Color::ALL.into_iter().any(has_more)
}

/// As [`without_history`], for a game that was observed until `last`: a king or rook that has left its square since
/// then has no right to castle. If another game has begun, `last` is ignored.
pub(crate) fn after_gap(board: &Board, turn: Color, last: &State) -> Option<State> {
    if is_another_game(board, last.board()) {
        return without_history(board, turn);
    }
    let rights = last
        .position()
        .map_or(Bitboard::EMPTY, |position| position.castles().castling_rights());
    let king_unmoved = |color: Color| board.king_of(color) == last.board().king_of(color);
    let kept = Color::ALL.into_iter().filter(|color| king_unmoved(*color));
    // The colour must match, too: an enemy rook may stand on the square on which it captured this one.
    let rooks = kept.fold(Bitboard::EMPTY, |rooks, color| {
        let rook = Role::Rook.of(color);
        rooks | (board.by_piece(rook) & last.board().by_piece(rook))
    });
    let state = position_of(board, turn, rights & rooks, last.mode())?;
    // Rooks that stayed on squares other than their home squares indicate the same game, so a right lost before is
    // still lost.
    let at_home = without_history(board, turn).map_or(Bitboard::EMPTY, |state| state.castling_rights());
    Some(state.without_castling(rooks & !rights & !at_home & !last.may_castle()))
}

/// Guesses whether a placement was read the wrong way round, for a board on which White's side is unknown: on average,
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
    let reversed = white * blacks > black * whites;
    reversed && Color::ALL.into_iter().any(could_be)
}

/// Whether the only difference between two placements is a pawn that moved towards its own side.
pub(crate) fn went_back(before: &Board, board: &Board) -> bool {
    let differs = difference(before, board);
    let left = differs.without(board.occupied()).single_square();
    let arrived = differs.without(before.occupied()).single_square();
    let Some((from, to)) = left.zip(arrived).filter(|_| differs.count() == 2) else {
        return false;
    };
    let pawn = before.piece_at(from).filter(|piece| piece.role == Role::Pawn);
    let ahead = |color: Color| color.fold_wb(from.rank() < to.rank(), from.rank() > to.rank());
    pawn.is_some_and(|pawn| {
        board.piece_at(to) == Some(pawn) && from.file() == to.file() && !ahead(pawn.color)
    })
}

fn position_of(board: &Board, turn: Color, castling_rights: Bitboard, mode: CastlingMode) -> Option<State> {
    let setup = Setup {
        board: board.clone(),
        turn,
        castling_rights,
        ..Setup::empty()
    };
    // After a wrong set-up, shakmaty may count two bishops on one square colour as more material than a game can have.
    let position = Chess::from_setup(setup, mode).or_else(PositionError::ignore_too_much_material);
    Some(State::legal(position.ok()?, mode).with_unknown_past())
}

/// Whether the pieces stand in a Chess960 order, including the standard start position (Guidelines II.2).
pub fn is_chess960(board: &Board) -> bool {
    is_array(board) && has_start_shape(board)
}

/// Whether the pieces of an array stand in a Chess960 order.
fn has_start_shape(board: &Board) -> bool {
    let back = board.white() & Rank::First;
    let mirrored = back.into_iter().all(|square: Square| {
        board.role_at(square) == board.role_at(square.flip_vertical())
            && board.color_at(square.flip_vertical()) == Some(Color::Black)
    });
    if !mirrored {
        return false;
    }
    let rooks = back & board.rooks();
    let bishops = back & board.bishops();
    let between =
        |king: Square| rooks.first().is_some_and(|r| r < king) && rooks.last().is_some_and(|r| r > king);
    board.king_of(Color::White).is_some_and(between)
        && bishops.into_iter().filter(|s| s.is_light()).count() == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Castling rights, as in FEN, of a start position with these pieces of White and Black.
    fn rights(drawn: &Drawn, white: &str, black: &str) -> String {
        let placement = format!("{black}/pppppppp/8/8/8/8/PPPPPPPP/{white}");
        let board: Board = placement.parse().expect("a placement");
        let (_, state) = recognise_as(drawn, &board).expect("a start position");
        let fen = state.fen();
        fen.split(' ').nth(2).expect("rights").to_owned()
    }

    /// 2023, A.5.1.2: a king that began on a wrong square may not castle, and no king may castle with a rook that did.
    /// The correct squares depend on the drawn position.
    #[test]
    fn only_pieces_on_their_prescribed_squares_may_castle() {
        let swapped = || {
            Drawn::Placement(
                "rnbkqbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBKQBNR"
                    .parse()
                    .expect("a placement"),
            )
        };
        for (drawn, white, black, expected) in [
            (Drawn::Any, "RNBQKBNR", "rnbqkbnr", "KQkq"),
            (Drawn::Any, "RNBKQBNR", "rnbqkbnr", "kq"),
            (Drawn::Any, "RNBKQBNR", "rnbkqbnr", "-"),
            (Drawn::Any, "RNBQKBRN", "rnbqkbnr", "Qkq"),
            (Drawn::Any, "RNBQKBNR", "nrbqkbnr", "KQk"),
            (Drawn::Any, "RBNQKNBR", "rnbqkbnr", "KQkq"),
            (Drawn::Any, "BBQRKRNN", "bbqrkrnn", "KQkq"),
            (Drawn::Usual, "BBQRKRNN", "bbqrkrnn", "-"),
            (Drawn::Usual, "RNBKQBNR", "rnbkqbnr", "-"),
            (Drawn::Chess960, "RNBKQBNR", "rnbkqbnr", "KQkq"),
            (swapped(), "RNBKQBNR", "rnbkqbnr", "KQkq"),
            (swapped(), "RNBQKBNR", "rnbkqbnr", "kq"),
        ] {
            assert_eq!(
                rights(&drawn, white, black),
                expected,
                "{drawn:?}: {white} {black}"
            );
        }
    }

    /// A pawn step shows the direction in which its side plays.
    #[test]
    fn a_pawn_goes_back_if_the_board_is_turned() {
        let placement = |fen: &str| fen.parse::<Board>().expect("a placement");
        let before = placement("4k3/2p5/8/8/8/3P4/8/4K3");
        for (after, back) in [
            ("4k3/2p5/8/8/8/8/3P4/4K3", true),
            ("4k3/2p5/8/8/3P4/8/8/4K3", false),
            ("2p1k3/8/8/8/8/3P4/8/4K3", true),
            ("4k3/8/8/2p5/8/3P4/8/4K3", false),
            ("4k3/2p5/8/8/8/8/2P5/4K3", false),
            ("4k3/2p5/8/8/8/3P4/4K3/8", false),
        ] {
            assert_eq!(went_back(&before, &placement(after)), back, "{after}");
        }
    }

    /// A gap does not restore a right that a king is known to have lost.
    #[test]
    fn a_gap_does_not_restore_a_right_to_castle() {
        let board: Board = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBKQBNR"
            .parse()
            .expect("a placement");
        let (_, start) = recognise(&board).expect("a start position");
        let later: Board = "rnbqkbnr/pppp1ppp/8/4p3/2B1P3/5N2/PPPP1PPP/RNBKQ2R"
            .parse()
            .expect("a placement");
        let state = after_gap(&later, Color::White, &start).expect("a position");
        assert!(
            !state.legal_moves().iter().any(|m| m.is_castle()),
            "{}",
            state.fen()
        );
    }
}
