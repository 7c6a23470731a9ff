//! What messages and bus answers have in common: an id with bit 7, a 7+7 bit length, data below 0x80.

use alloc::vec::Vec;

use crate::framing::{self, Extent};
use crate::rejected::Rejected;

/// The highest number that 7+7 bits hold, and so the longest frame.
pub(crate) const MAX: u16 = 0x3fff;

/// The number of bytes before the data: id, length high, length low.
pub(crate) const HEADER: usize = 3;

/// Returns the number made of a high and a low group of 7 bits.
pub(crate) const fn join(high: u8, low: u8) -> u16 {
    ((high & 0x7f) as u16) << 7 | (low & 0x7f) as u16
}

/// Returns the high and the low group of 7 bits, bits above the 14th dropped.
pub(crate) const fn split(number: u16) -> [u8; 2] {
    [(number >> 7) as u8 & 0x7f, number as u8 & 0x7f]
}

/// Appends a frame: the id with bit 7 set, the length, and the data with bit 7 cleared.
///
/// `length` is that of the data, which is cut at what a frame can hold. Returns where the frame
/// begins in `out`.
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
/// `check` judges the id and declared length of a header before its data has arrived.
///
/// # Errors
///
/// A run of bytes outside of any frame, a header that fails the check, or a frame cut off by the next.
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
