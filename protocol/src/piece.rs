//! Pieces and result tokens by their wire codes.

use crate::Field;

/// A piece or result token that the board can tell apart, in wire order.
///
/// The number is the code on the wire; 0 means an empty field and is no piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Piece {
    /// White pawn, code 1.
    WhitePawn = 1,
    /// White rook, code 2.
    WhiteRook = 2,
    /// White knight, code 3.
    WhiteKnight = 3,
    /// White bishop, code 4.
    WhiteBishop = 4,
    /// White king, code 5.
    WhiteKing = 5,
    /// White queen, code 6.
    WhiteQueen = 6,
    /// Black pawn, code 7.
    BlackPawn = 7,
    /// Black rook, code 8.
    BlackRook = 8,
    /// Black knight, code 9.
    BlackKnight = 9,
    /// Black bishop, code 10.
    BlackBishop = 10,
    /// Black king, code 11.
    BlackKing = 11,
    /// Black queen, code 12.
    BlackQueen = 12,
    /// The result piece for a draw, code 13.
    DrawToken = 13,
    /// The result piece for a win of White, code 14.
    WhiteWinsToken = 14,
    /// The result piece for a win of Black, code 15.
    BlackWinsToken = 15,
}

impl Piece {
    /// All pieces and tokens in wire order, code 1 first.
    pub const ALL: [Self; 15] = [
        Self::WhitePawn,
        Self::WhiteRook,
        Self::WhiteKnight,
        Self::WhiteBishop,
        Self::WhiteKing,
        Self::WhiteQueen,
        Self::BlackPawn,
        Self::BlackRook,
        Self::BlackKnight,
        Self::BlackBishop,
        Self::BlackKing,
        Self::BlackQueen,
        Self::DrawToken,
        Self::WhiteWinsToken,
        Self::BlackWinsToken,
    ];

    /// Returns the wire code, 1 to 15.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Returns what a wire code says of a field: `Some(None)` for 0 (empty), `None` above 15.
    ///
    /// ```
    /// use kiebitz_protocol::Piece;
    ///
    /// assert_eq!(Piece::from_code(5), Some(Some(Piece::WhiteKing)));
    /// assert_eq!(Piece::from_code(0), Some(None));
    /// assert_eq!(Piece::from_code(16), None);
    /// ```
    pub const fn from_code(code: u8) -> Option<Contents> {
        if code < 16 {
            Some(contents_from_low_bits(code))
        } else {
            None
        }
    }
}

/// What stands on one field: a piece, a token, or `None` for an empty field.
pub type Contents = Option<Piece>;

/// What stands on all fields, indexed by [`Field::index`](crate::Field::index).
pub type Dump = [Contents; Field::COUNT];

/// Returns the wire code of a field's contents, 0 for an empty field.
pub const fn code_of(contents: Contents) -> u8 {
    match contents {
        None => 0,
        Some(piece) => piece.code(),
    }
}

/// Returns the contents named by the low 4 bits, whatever stands above them.
pub(crate) const fn contents_from_low_bits(byte: u8) -> Contents {
    BY_CODE[(byte & 0x0f) as usize]
}

const BY_CODE: [Contents; 16] = {
    let mut table = [None; 16];
    let mut i = 0;
    while i < Piece::ALL.len() {
        table[Piece::ALL[i].code() as usize] = Some(Piece::ALL[i]);
        i += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_names_what_it_came_from() {
        for code in 0..16 {
            assert_eq!(Piece::from_code(code).map(code_of), Some(code));
        }
    }

    #[test]
    fn codes_above_fifteen_name_nothing() {
        assert!((16..=255).all(|code| Piece::from_code(code).is_none()));
    }

    #[test]
    fn wire_order_is_the_order_of_the_type() {
        assert!(Piece::ALL.is_sorted());
        assert_eq!(Piece::BlackWinsToken.code(), 15);
    }
}
