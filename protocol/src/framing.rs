use crate::counters::Counted;
use crate::rejected::Rejected;

/// A unit that a [`StreamDecoder`](crate::StreamDecoder) finds in a stream of bytes.
///
/// The implementations cover all units of the protocol: [`Message`](crate::Message),
/// [`Command`](crate::Command), [`BusAnswer`](crate::BusAnswer) and [`BusCommand`](crate::BusCommand). The trait
/// cannot be implemented outside this crate.
pub trait Framing {
    /// The decoded unit. Long units borrow their data from the stream.
    type Unit<'a>;
    /// Error for correctly framed bytes that are not a valid unit.
    type Error: Counted;

    /// Finds the unit at the start of `bytes`, which must not be empty.
    ///
    /// Bytes after the unit must not change the result, because the result must not depend on the portions in
    /// which the bytes arrive.
    ///
    /// # Errors
    ///
    /// Returns the number of leading bytes that do not belong to a unit: at least 1, at most `bytes.len()`.
    #[doc(hidden)]
    fn scan(bytes: &[u8]) -> Result<Extent, Rejected<Self::Error>>;

    /// Decodes the bytes of one unit, whose length [`Framing::scan`] returned.
    ///
    /// # Errors
    ///
    /// Returns the reason if the unit is invalid. The decoder then drops the whole unit.
    #[doc(hidden)]
    fn read(unit: &[u8]) -> Result<Self::Unit<'_>, Self::Error>;
}

/// The extent of the unit at the start of some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(unnameable_types, reason = "so that only this crate can implement `Framing`")]
pub enum Extent {
    /// The unit is complete. Contains its length in bytes.
    Whole(usize),
    /// The unit is incomplete.
    Unfinished {
        /// Number of bytes at which to scan again. A byte with bit 7 set triggers a scan earlier.
        wanted: usize,
    },
}

/// Finds the unit of `length` bytes at the start of `bytes`. Only the first byte of a unit has bit 7 set.
///
/// # Errors
///
/// Returns [`RejectedKind::Truncated`](crate::RejectedKind::Truncated) with the `declared` length if another
/// byte with bit 7 set cuts the unit off.
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

/// Returns the number of leading bytes below 0x80.
#[inline]
pub(crate) fn low_run(bytes: &[u8]) -> usize {
    bytes.iter().position(|&byte| byte >= 0x80).unwrap_or(bytes.len())
}
