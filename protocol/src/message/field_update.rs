//! One changed field.

use crate::dump::{self, Contents};
use crate::field::Field;
use crate::piece::Piece;

/// One field whose contents changed (FIELD_UPDATE).
///
/// ```
/// use kiebitz_protocol::{Field, FieldUpdate, Piece};
///
/// let update = FieldUpdate::new(Field::new(36).unwrap(), Some(Piece::WhitePawn));
/// assert_eq!(update.flags, 0);
///
/// let mut bytes = Vec::new();
/// kiebitz_protocol::Message::FieldUpdate(update).encode(&mut bytes);
/// assert_eq!(bytes, [0x8e, 0x00, 0x05, 36, 0x01]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct FieldUpdate {
    /// The field, from the low 6 bits of its byte.
    pub field: Field,
    /// Its new contents, from the low 4 bits of their byte; `None` when it was emptied.
    pub contents: Contents,
    /// The bits above those: undocumented, and 0 in every capture so far.
    ///
    /// Bits 0 to 2 are bits 4 to 6 of the piece byte, bit 3 is bit 6 of the field byte. The
    /// update is valid in spite of them.
    pub flags: u8,
}

impl FieldUpdate {
    /// Returns an update without flags.
    pub const fn new(field: Field, contents: Contents) -> Self {
        Self {
            field,
            contents,
            flags: 0,
        }
    }

    #[inline]
    pub(crate) const fn from_wire([field, code]: [u8; 2]) -> Self {
        Self {
            field: Field::from_low_bits(field),
            contents: Piece::from_low_bits(code),
            flags: (code >> 4) & 0x07 | (field >> 6 & 1) << 3,
        }
    }

    pub(crate) const fn to_wire(self) -> [u8; 2] {
        [
            self.field.number() | (self.flags >> 3 & 1) << 6,
            dump::code_of(self.contents) | (self.flags & 0x07) << 4,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Piece;

    #[test]
    fn all_bytes_below_bit_seven_round_trip() {
        for field in 0..0x80 {
            for code in 0..0x80 {
                assert_eq!(FieldUpdate::from_wire([field, code]).to_wire(), [field, code]);
            }
        }
    }

    #[test]
    fn unknown_bits_are_flags_beside_field_and_piece() {
        let update = FieldUpdate::from_wire([0x40 | 36, 0x50 | 1]);
        assert_eq!(update.field.number(), 36);
        assert_eq!(update.contents, Some(Piece::WhitePawn));
        assert_eq!(update.flags, 0b1101);
    }
}
