use crate::dump::{self, Contents};
use crate::field::Field;
use crate::piece::Piece;

/// The new contents of one field (FIELD_UPDATE).
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
    /// The changed field, from the low 6 bits of the field byte.
    pub field: Field,
    /// New contents of the field, from the low 4 bits of the piece byte; `None` if the field became empty.
    pub contents: Contents,
    /// The remaining bits of both bytes. They are undocumented, and 0 in every capture so far.
    ///
    /// Bits 0 to 2 are bits 4 to 6 of the piece byte, bit 3 is bit 6 of the field byte. An update with flags is
    /// valid.
    pub flags: u8,
}

impl FieldUpdate {
    /// Returns an update with all flags 0.
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
    fn all_bytes_without_bit_seven_round_trip() {
        for field in 0..0x80 {
            for code in 0..0x80 {
                assert_eq!(FieldUpdate::from_wire([field, code]).to_wire(), [field, code]);
            }
        }
    }

    #[test]
    fn undocumented_bits_are_decoded_as_flags() {
        let update = FieldUpdate::from_wire([0x40 | 36, 0x50 | 1]);
        assert_eq!(update.field.number(), 36);
        assert_eq!(update.contents, Some(Piece::WhitePawn));
        assert_eq!(update.flags, 0b1101);
    }
}
