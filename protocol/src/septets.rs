//! The frame that messages and bus answers share: an id with bit 7 set, a 7+7-bit length, and data below 0x80.

use alloc::vec::Vec;

use crate::framing::{self, Extent};
use crate::rejected::Rejected;

/// Maximum of a 7+7-bit number, which is also the maximum length of a frame in bytes.
pub(crate) const MAX: u16 = 0x3fff;

/// Length of the header in bytes: id, length high, length low.
pub(crate) const HEADER: usize = 3;

/// Combines a high and a low group of 7 bits into one number.
pub(crate) const fn join(high: u8, low: u8) -> u16 {
    ((high & 0x7f) as u16) << 7 | (low & 0x7f) as u16
}

/// Splits a number into a high and a low group of 7 bits. Drops the top two bits.
pub(crate) const fn split(number: u16) -> [u8; 2] {
    [(number >> 7) as u8 & 0x7f, number as u8 & 0x7f]
}

/// Appends a frame: the id with bit 7 set, the length, and the data with bit 7 cleared.
///
/// `length` is the length of the data, which is truncated to the maximum of a frame. Returns the index in `out` at
/// which the frame begins.
pub(crate) fn encode(id: u8, length: usize, data: impl Iterator<Item = u8>, out: &mut Vec<u8>) -> usize {
    let start = out.len();
    let total = (HEADER + length).min(usize::from(MAX));
    let [high, low] = split(total as u16);
    out.reserve(total);
    out.extend([id | 0x80, high, low]);
    out.extend(data.take(total - HEADER).map(|byte| byte & 0x7f));
    start
}

/// Finds the frame at the start of `bytes`.
///
/// `check` validates the id and declared length of a header before the data has arrived.
///
/// # Errors
///
/// Fails for bytes outside of a frame, a header that does not pass `check`, and a frame cut off by the start of the
/// next.
#[inline]
pub(crate) fn scan<E>(bytes: &[u8], check: impl Fn(u8, u16) -> Result<(), E>) -> Result<Extent, Rejected<E>> {
    match *bytes {
        [id, high, low, ..] if id >= 0x80 && (high | low) < 0x80 => {
            let length = join(high, low);
            check(id, length).map_err(|error| Rejected::invalid(error, HEADER))?;
            framing::scan_marked(bytes, usize::from(length).max(HEADER), Some(length))
        }
        [id, ..] if id >= 0x80 => framing::scan_marked(bytes, HEADER, None),
        _ => Err(Rejected::skipped(framing::low_run(bytes))),
    }
}
