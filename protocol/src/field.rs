/// A field of the board, identified by its wire number, 0 to 63.
///
/// Fields are numbered row by row: with the connector on White's left, 0 is a8, 1 is b8 and 63 is h1. The
/// numbering stays the same if White sits on the other side; see [`Field::turned`].
///
/// ```
/// use kiebitz_protocol::Field;
///
/// let e4 = Field::new(36).unwrap();
/// assert_eq!(e4.turned().number(), 27);
/// assert_eq!(Field::new(64), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Field(u8);

impl Field {
    /// The number of fields on a board.
    pub const COUNT: usize = 64;

    /// Returns the field with this wire number, or `None` if the number is above 63.
    pub const fn new(number: u8) -> Option<Self> {
        if number < 64 { Some(Self(number)) } else { None }
    }

    /// Returns the field with the number in the low 6 bits; the other bits are ignored.
    pub(crate) const fn from_low_bits(byte: u8) -> Self {
        Self(byte & 0x3f)
    }

    /// Returns the wire number, 0 to 63.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Returns the wire number as an index into a [`Dump`](crate::Dump), 0 to 63.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the field in the same place after the board is turned by 180 degrees: 63 minus the number.
    #[must_use]
    pub const fn turned(self) -> Self {
        Self(63 - self.0)
    }

    /// Returns all fields in wire order, starting at 0.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
        (0..64_u8).map(Self)
    }
}

impl From<Field> for u8 {
    fn from(field: Field) -> Self {
        field.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_sixty_four_fields() {
        assert_eq!(Field::all().count(), Field::COUNT);
        assert!(Field::all().enumerate().all(|(i, field)| field.index() == i));
        assert_eq!(Field::new(63).map(u8::from), Some(63));
        assert_eq!(Field::new(64), None);
    }

    #[test]
    fn turning_twice_returns_the_same_field() {
        assert!(Field::all().all(|field| field.turned().turned() == field));
        assert!(Field::all().rev().eq(Field::all().map(Field::turned)));
    }
}
