//! The checksum at the end of every answer and command on a bus.

/// Returns the low 7 bits of the sum of the bytes.
pub(super) fn of(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte)) & 0x7f
}
