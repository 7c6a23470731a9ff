use crate::field::Field;
use crate::piece::Piece;

/// The contents of one field: a piece, a result token, or `None` if the field is empty.
pub type Contents = Option<Piece>;

/// The contents of all fields in wire order, indexed by [`Field::index`].
pub type Dump = [Contents; Field::COUNT];

/// The start position with the connector on White's left.
///
/// ```
/// use kiebitz_protocol::{Field, Piece, START_POSITION};
///
/// let e1 = Field::new(60).unwrap();
/// assert_eq!(START_POSITION[e1.index()], Some(Piece::WhiteKing));
/// ```
pub const START_POSITION: Dump = {
    let mut dump = [None; Field::COUNT];
    let mut file = 0;
    while file < BLACK_BACK_RANK.len() {
        dump[file] = Some(BLACK_BACK_RANK[file]);
        dump[8 + file] = Some(Piece::BlackPawn);
        dump[48 + file] = Some(Piece::WhitePawn);
        dump[56 + file] = Some(WHITE_BACK_RANK[file]);
        file += 1;
    }
    dump
};

/// Returns the wire code of a field's contents, 0 for an empty field.
pub(crate) const fn code_of(contents: Contents) -> u8 {
    match contents {
        None => 0,
        Some(piece) => piece.code(),
    }
}

/// Pieces from the a-file to the h-file.
const BLACK_BACK_RANK: [Piece; 8] = [
    Piece::BlackRook,
    Piece::BlackKnight,
    Piece::BlackBishop,
    Piece::BlackQueen,
    Piece::BlackKing,
    Piece::BlackBishop,
    Piece::BlackKnight,
    Piece::BlackRook,
];
const WHITE_BACK_RANK: [Piece; 8] = [
    Piece::WhiteRook,
    Piece::WhiteKnight,
    Piece::WhiteBishop,
    Piece::WhiteQueen,
    Piece::WhiteKing,
    Piece::WhiteBishop,
    Piece::WhiteKnight,
    Piece::WhiteRook,
];

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    #[test]
    fn the_start_position_reads_as_its_fen() {
        let letters: String = START_POSITION
            .iter()
            .map(|contents| contents.and_then(Piece::fen).unwrap_or('.'))
            .collect();
        let expected = ["rnbqkbnr", "pppppppp", &".".repeat(32), "PPPPPPPP", "RNBQKBNR"];
        assert_eq!(letters, expected.concat());
    }
}
