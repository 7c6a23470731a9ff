//! Material that can never mate, whatever the position.

use shakmaty::{Bitboard, Board, Color};

/// Whether `side` has too little material to mate, whatever is played (6.9, 5.2.2).
///
/// - A king alone gives no check.
/// - Bishops all on one colour check a king on that colour only, and never cover its flight squares of the other
///   colour. The winner's king alone covers too few of these; the loser's own man must occupy one. A rook or a queen
///   there could take the bishop or interpose, and cannot be pinned from a square of the other colour: only a pawn, a
///   knight or a bishop on the other colour will do.
/// - One knight attacks squares of one colour at a time, so that here, too, the loser's own man must occupy a flight
///   square. A queen beside her king could take the knight.
///
/// Pawns count as any piece to which they may promote. A side with a pawn, a queen, a rook or two unlike minor pieces
/// is left to the search, and so is one knight or bishop against more than the above.
pub(super) fn too_little(board: &Board, side: Color) -> bool {
    let own = board.by_color(side);
    let other = board.by_color(side.other());
    if (own & (board.pawns() | board.rooks_and_queens())).any() {
        return false;
    }
    let knights = own & board.knights();
    let bishops = own & board.bishops();
    if knights.is_empty() && bishops.is_empty() {
        return true;
    }
    if knights.is_empty() {
        let (light, dark) = (
            bishops & Bitboard::LIGHT_SQUARES,
            bishops & Bitboard::DARK_SQUARES,
        );
        if light.any() && dark.any() {
            return false;
        }
        let opposite = if light.any() {
            Bitboard::DARK_SQUARES
        } else {
            Bitboard::LIGHT_SQUARES
        };
        return (other & (board.pawns() | board.knights())).is_empty()
            && (other & board.bishops() & opposite).is_empty();
    }
    if bishops.is_empty() && !knights.more_than_one() {
        return (other & !board.kings() & !board.queens()).is_empty();
    }
    false
}

/// Whether `side` has forces that can drive any king into an unavoidable mate with its opponent's help: a pawn, a rook,
/// a queen, bishops on both colours, bishop and knight, or three knights.
pub(super) fn is_ample(board: &Board, side: Color) -> bool {
    let own = board.by_color(side);
    let knights = own & board.knights();
    let bishops = own & board.bishops();
    let both_colors = (bishops & Bitboard::LIGHT_SQUARES).any() && (bishops & Bitboard::DARK_SQUARES).any();
    (own & (board.pawns() | board.rooks_and_queens())).any()
        || both_colors
        || (knights.any() && bishops.any())
        || knights.count() > 2
}

pub(super) fn faces_bare_king(board: &Board, side: Color) -> bool {
    board.by_color(side.other()).count() == 1
}
