//! Conversion between the protocol's fields and pieces and the squares and pieces of chess.

use kiebitz_protocol::{Dump, Field, Piece as WirePiece};
use shakmaty::{Board, Piece, Square};

/// The square of a field. If the connector is on White's left, field 0 is a8 and field 63 is h1. Turning the board does
/// not change the numbers of its fields.
pub(crate) fn square_of(field: Field, turned: bool) -> Square {
    let field = if turned { field.turned() } else { field };
    Square::new(u32::from(field.number())).flip_vertical()
}

/// The reverse of [`square_of`].
pub(crate) fn field_of(square: Square, turned: bool) -> Option<Field> {
    let field = Field::new(square.flip_vertical() as u8)?;
    Some(if turned { field.turned() } else { field })
}

pub(crate) fn wire_piece(piece: Piece) -> Option<WirePiece> {
    WirePiece::from_fen(piece.char())
}

pub(crate) fn chess_piece(piece: WirePiece) -> Option<Piece> {
    piece.fen().and_then(Piece::from_char)
}

pub(crate) fn board_of(fields: &Dump, turned: bool) -> Board {
    let mut board = Board::empty();
    for (field, contents) in Field::all().zip(fields) {
        if let Some(piece) = contents.and_then(chess_piece) {
            board.set_piece_at(square_of(field, turned), piece);
        }
    }
    board
}
