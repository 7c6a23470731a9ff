//! Who can never mate because of what stands on the board, wherever it stands.

use shakmaty::{Bitboard, Board, Color};

/// Whether `side` has too little to mate, whatever is played.
///
/// A king never gives check. A lone knight attacks squares of one colour; the king's flights of that colour next to
/// his corner can only be taken from him by a man of his own that is no queen (a queen beside her king would take the knight
/// or interpose). Bishops all on one colour leave every flight of the other colour
/// to the kings, and the corner's neighbour of the other colour needs a blocker: a pawn, a knight or a
/// bishop on the other colour can be one; a rook or a queen there guards the square the bishop checks from or interposes.
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
