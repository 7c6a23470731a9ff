/// A piece or result token that the board can identify, in wire order.
///
/// The discriminant is the code on the wire. Code 0 means an empty field. The enum is exhaustive, because its
/// variants use all other values of the four-bit code.
///
/// ```
/// use kiebitz_protocol::{Color, Piece, PieceKind};
///
/// let knight = Piece::new(Color::Black, PieceKind::Knight);
/// assert_eq!((knight, knight.code(), knight.fen()), (Piece::BlackKnight, 9, Some('n')));
/// assert_eq!((knight.color(), knight.kind()), (Some(Color::Black), Some(PieceKind::Knight)));
/// assert_eq!(Piece::DrawToken.color(), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
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
    /// The result token for a draw, code 13.
    DrawToken = 13,
    /// The result token for a win of White, code 14.
    WhiteWinsToken = 14,
    /// The result token for a win of Black, code 15.
    BlackWinsToken = 15,
}

impl Piece {
    /// All pieces and tokens in wire order, starting at code 1.
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

    /// Returns the chess piece of this colour and kind.
    pub const fn new(color: Color, kind: PieceKind) -> Self {
        match (color, kind) {
            (Color::White, PieceKind::Pawn) => Self::WhitePawn,
            (Color::White, PieceKind::Rook) => Self::WhiteRook,
            (Color::White, PieceKind::Knight) => Self::WhiteKnight,
            (Color::White, PieceKind::Bishop) => Self::WhiteBishop,
            (Color::White, PieceKind::King) => Self::WhiteKing,
            (Color::White, PieceKind::Queen) => Self::WhiteQueen,
            (Color::Black, PieceKind::Pawn) => Self::BlackPawn,
            (Color::Black, PieceKind::Rook) => Self::BlackRook,
            (Color::Black, PieceKind::Knight) => Self::BlackKnight,
            (Color::Black, PieceKind::Bishop) => Self::BlackBishop,
            (Color::Black, PieceKind::King) => Self::BlackKing,
            (Color::Black, PieceKind::Queen) => Self::BlackQueen,
        }
    }

    /// Returns the colour of a chess piece, or `None` for a result token.
    ///
    /// The tokens for a win have no colour either.
    pub const fn color(self) -> Option<Color> {
        match self.code() {
            1..=6 => Some(Color::White),
            7..=12 => Some(Color::Black),
            _ => None,
        }
    }

    /// Returns the kind of a chess piece, or `None` for a result token.
    pub const fn kind(self) -> Option<PieceKind> {
        match self {
            Self::WhitePawn | Self::BlackPawn => Some(PieceKind::Pawn),
            Self::WhiteRook | Self::BlackRook => Some(PieceKind::Rook),
            Self::WhiteKnight | Self::BlackKnight => Some(PieceKind::Knight),
            Self::WhiteBishop | Self::BlackBishop => Some(PieceKind::Bishop),
            Self::WhiteKing | Self::BlackKing => Some(PieceKind::King),
            Self::WhiteQueen | Self::BlackQueen => Some(PieceKind::Queen),
            Self::DrawToken | Self::WhiteWinsToken | Self::BlackWinsToken => None,
        }
    }

    /// Returns the FEN letter of a chess piece, upper case for White, or `None` for a result token.
    pub const fn fen(self) -> Option<char> {
        let (Some(color), Some(kind)) = (self.color(), self.kind()) else {
            return None;
        };
        Some(match color {
            Color::White => kind.letter(),
            Color::Black => kind.letter().to_ascii_lowercase(),
        })
    }

    /// Returns the chess piece with this FEN letter, or `None` for any other character.
    ///
    /// ```
    /// use kiebitz_protocol::Piece;
    ///
    /// assert_eq!(Piece::from_fen('Q'), Some(Piece::WhiteQueen));
    /// assert_eq!(Piece::from_fen('x'), None);
    /// ```
    pub fn from_fen(letter: char) -> Option<Self> {
        Self::ALL.into_iter().find(|piece| piece.fen() == Some(letter))
    }

    /// Returns the wire code, 1 to 15.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Returns the contents of a field with this wire code: `Some(None)` for 0 (empty), `None` if the code is
    /// above 15.
    ///
    /// ```
    /// use kiebitz_protocol::Piece;
    ///
    /// assert_eq!(Piece::from_code(5), Some(Some(Piece::WhiteKing)));
    /// assert_eq!(Piece::from_code(0), Some(None));
    /// assert_eq!(Piece::from_code(16), None);
    /// ```
    pub const fn from_code(code: u8) -> Option<Option<Self>> {
        if code < 16 {
            Some(Self::from_low_bits(code))
        } else {
            None
        }
    }

    /// Returns the contents with the code in the low 4 bits; the other bits are ignored.
    pub(crate) const fn from_low_bits(byte: u8) -> Option<Self> {
        match byte & 0x0f {
            0 => None,
            code => Some(Self::ALL[code as usize - 1]),
        }
    }
}

/// The colour of a chess piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Color {
    /// White.
    White,
    /// Black.
    Black,
}

impl Color {
    /// Returns the colour of the opponent.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::White => Self::Black,
            Self::Black => Self::White,
        }
    }
}

/// The kind of a chess piece, in wire order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum PieceKind {
    /// A pawn.
    Pawn,
    /// A rook.
    Rook,
    /// A knight.
    Knight,
    /// A bishop.
    Bishop,
    /// A king.
    King,
    /// A queen.
    Queen,
}

impl PieceKind {
    /// All kinds in wire order.
    pub const ALL: [Self; 6] = [
        Self::Pawn,
        Self::Rook,
        Self::Knight,
        Self::Bishop,
        Self::King,
        Self::Queen,
    ];

    /// Returns the English piece letter in upper case; `P` for a pawn.
    pub const fn letter(self) -> char {
        match self {
            Self::Pawn => 'P',
            Self::Rook => 'R',
            Self::Knight => 'N',
            Self::Bishop => 'B',
            Self::King => 'K',
            Self::Queen => 'Q',
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dump::code_of;
    use alloc::vec::Vec;

    #[test]
    fn every_code_round_trips() {
        for code in 0..16 {
            assert_eq!(Piece::from_code(code).map(code_of), Some(code));
        }
    }

    #[test]
    fn codes_above_fifteen_are_refused() {
        assert!((16..=255).all(|code| Piece::from_code(code).is_none()));
    }

    #[test]
    fn pieces_are_ordered_by_wire_code() {
        assert!(Piece::ALL.is_sorted());
        assert_eq!(Piece::BlackWinsToken.code(), 15);
    }

    #[test]
    fn colour_and_kind_round_trip() {
        for piece in Piece::ALL {
            match (piece.color(), piece.kind()) {
                (Some(color), Some(kind)) => assert_eq!(Piece::new(color, kind), piece),
                (None, None) => assert!(piece >= Piece::DrawToken),
                half => panic!("{piece:?}: {half:?}"),
            }
        }
    }

    #[test]
    fn twelve_fen_letters_map_to_the_pieces_in_wire_order() {
        let found: Vec<Piece> = "PRNBKQprnbkq".chars().filter_map(Piece::from_fen).collect();
        assert_eq!(found, Piece::ALL[..12]);
        assert_eq!(
            (0..0x80_u8).map(char::from).filter_map(Piece::from_fen).count(),
            12
        );
    }
}
