//! The checksum that closes every answer and command on a bus.

/// Returns the sum of the bytes with bit 7 cleared.
pub(super) fn of(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte)) & 0x7f
}
