//! How a stream of bytes is cut into units.

use crate::counters::Counted;
use crate::rejected::Rejected;

/// A unit that a [`StreamDecoder`](crate::StreamDecoder) finds in a stream of bytes.
///
/// Implemented by [`Message`](crate::Message), [`Command`](crate::Command), [`BusAnswer`](crate::BusAnswer)
/// and [`BusCommand`](crate::BusCommand), which are all that the wire has. It cannot be implemented outside
/// this crate.
pub trait Framing {
    /// The unit as the decoder hands it on; long ones borrow their data from the stream.
    type Unit<'a>;
    /// Why bytes that are framed correctly are no such unit.
    type Error: Counted;

    /// Finds the unit at the start of `bytes`, which are not empty.
    ///
    /// The verdict on a unit must not change when more bytes follow it, so that the result does not
    /// depend on the portions in which the bytes come.
    ///
    /// # Errors
    ///
    /// The bytes at the start that belong to no unit, at least one and no more than there are.
    #[doc(hidden)]
    fn scan(bytes: &[u8]) -> Result<Extent, Rejected<Self::Error>>;

    /// Reads the bytes of one unit, as many as [`Framing::scan`] found.
    ///
    /// # Errors
    ///
    /// Why the whole unit is to be dropped.
    #[doc(hidden)]
    fn read(unit: &[u8]) -> Result<Self::Unit<'_>, Self::Error>;
}

/// How far the unit at the start of some bytes reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(unnameable_types, reason = "so that only this crate can implement `Framing`")]
pub enum Extent {
    /// The unit is complete and has this many bytes.
    Whole(usize),
    /// More bytes have to come.
    Unfinished {
        /// The number of bytes at which to scan again, unless a byte with bit 7 comes first.
        wanted: usize,
    },
}

/// Finds the unit of `length` bytes at the start of `bytes`, in which the first byte alone has bit 7.
///
/// # Errors
///
/// The start of the unit if the next one cuts it off; `declared` is the length it declared.
#[inline]
pub(crate) fn scan_marked<E>(
    bytes: &[u8],
    length: usize,
    declared: Option<u16>,
) -> Result<Extent, Rejected<E>> {
    let limit = length.min(bytes.len());
    let found = 1 + low_run(bytes.get(1..limit).unwrap_or_default());
    if found == length {
        Ok(Extent::Whole(length))
    } else if found < limit {
        let id = bytes.first().copied().unwrap_or_default();
        Err(Rejected::truncated(id, declared, found))
    } else {
        Ok(Extent::Unfinished { wanted: length })
    }
}

/// Returns the number of bytes below 0x80 at the start.
#[inline]
pub(crate) fn low_run(bytes: &[u8]) -> usize {
    bytes.iter().position(|&byte| byte >= 0x80).unwrap_or(bytes.len())
}
