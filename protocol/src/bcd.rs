//! Binary-coded decimal (BCD): two decimal digits in one byte.

/// Decodes a BCD byte. Returns `None` if the low digit is above 9 or the value is above 59.
pub(crate) const fn sixtieths(byte: u8) -> Option<u8> {
    let value = (byte >> 4) * 10 + (byte & 0x0f);
    if byte & 0x0f <= 9 && value <= 59 {
        Some(value)
    } else {
        None
    }
}

/// Encodes a value as a BCD byte. Values above 59 are encoded as 59.
pub(crate) const fn from_sixtieths(value: u8) -> u8 {
    let value = if value > 59 { 59 } else { value };
    value / 10 * 16 + value % 10
}

/// Clamps a value to one decimal digit.
pub(crate) const fn digit(value: u8) -> u8 {
    if value > 9 { 9 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_sixty_bytes_are_valid() {
        let valid = (0..=255).filter_map(sixtieths);
        assert!(valid.eq(0..60));
        assert!((0..60).all(|value| sixtieths(from_sixtieths(value)) == Some(value)));
    }

    #[test]
    fn a_value_above_fifty_nine_is_encoded_as_fifty_nine() {
        assert_eq!(from_sixtieths(200), 0x59);
    }
}
