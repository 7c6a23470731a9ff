use alloc::vec::Vec;
use core::marker::PhantomData;

use crate::counters::Counters;
use crate::framing::{Extent, Framing};
use crate::rejected::Rejected;

/// Finds units of one kind in a stream of bytes: messages, answers or commands. See
/// [`Decoder`](crate::Decoder), [`BusDecoder`](crate::BusDecoder), [`CommandDecoder`](crate::CommandDecoder) and
/// [`BusCommandDecoder`](crate::BusCommandDecoder).
///
/// The portions in which the bytes arrive do not affect the units found.
#[derive(Debug, Clone)]
pub struct StreamDecoder<F> {
    /// The incomplete unit, or the remainder of a unit whose first bytes were dropped.
    pending: Vec<u8>,
    /// Number of pending bytes at which to scan again.
    wanted: usize,
    counters: Counters,
    framing: PhantomData<F>,
}

impl<F> StreamDecoder<F> {
    /// Returns a decoder with an empty buffer and all counters at zero.
    #[must_use]
    pub fn new() -> Self {
        Self {
            pending: Vec::new(),
            wanted: 0,
            counters: Counters::default(),
            framing: PhantomData,
        }
    }

    /// Drops the pending bytes. Call when the line is opened or closed.
    ///
    /// The dropped bytes are counted as [`Counters::reset_bytes`]; the other counters do not change.
    pub fn reset(&mut self) {
        self.counters.reset_bytes += self.pending.len() as u64;
        self.pending.clear();
    }

    /// Returns the number of buffered bytes of an incomplete unit.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Returns the counters since the creation of this decoder.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
}

impl<F: Framing> StreamDecoder<F> {
    /// Decodes the pending bytes followed by `bytes`, and calls `sink` for each unit and each drop, in the
    /// order of the stream.
    ///
    /// A run of skipped bytes that spans several calls is reported once per call.
    pub fn feed(&mut self, bytes: &[u8], mut sink: impl FnMut(Result<F::Unit<'_>, Rejected<F::Error>>)) {
        let mut rest = bytes;
        while !self.pending.is_empty() && !rest.is_empty() {
            rest = self.resume(rest, &mut sink);
        }
        while !rest.is_empty() {
            let found = match F::scan(rest) {
                Ok(Extent::Whole(length)) => Ok(length),
                Ok(Extent::Unfinished { wanted }) => {
                    self.pending.extend_from_slice(rest);
                    self.wanted = wanted;
                    return;
                }
                Err(rejected) => Err(rejected),
            };
            let used = deliver::<F>(rest, found, &mut self.counters, &mut sink);
            rest = rest.get(used..).unwrap_or_default();
        }
    }

    /// Appends bytes to the pending bytes until they contain a unit or must be dropped. Returns the unused bytes.
    fn resume<'b>(
        &mut self,
        bytes: &'b [u8],
        sink: &mut impl FnMut(Result<F::Unit<'_>, Rejected<F::Error>>),
    ) -> &'b [u8] {
        let pending_before = self.pending.len();
        let missing = self.wanted.saturating_sub(pending_before);
        let (offered, _) = bytes.split_at(missing.min(bytes.len()));
        let next_start = offered.iter().position(|byte| *byte >= 0x80);
        let taken = next_start.map_or(offered.len(), |at| at + 1);
        let (offered, after) = bytes.split_at(taken);
        self.pending.extend_from_slice(offered);
        if next_start.is_none() && taken < missing {
            return after;
        }
        let found = match F::scan(&self.pending) {
            Ok(Extent::Whole(length)) => Ok(length),
            Ok(Extent::Unfinished { wanted }) => {
                self.wanted = wanted;
                return after;
            }
            Err(rejected) => Err(rejected),
        };
        let used = deliver::<F>(&self.pending, found, &mut self.counters, sink);
        if used < pending_before {
            // Bytes that were already pending remain. Scan them alone before appending any of `bytes` again.
            self.pending.truncate(pending_before);
            self.pending.drain(..used);
            self.wanted = 0;
            bytes
        } else {
            self.pending.clear();
            bytes.get(used - pending_before..).unwrap_or_default()
        }
    }
}

impl<F> Default for StreamDecoder<F> {
    fn default() -> Self {
        Self::new()
    }
}

/// Reads the found unit, updates the counters and passes the unit or the drop to `sink`.
///
/// Returns the number of bytes used.
#[inline]
fn deliver<F: Framing>(
    bytes: &[u8],
    found: Result<usize, Rejected<F::Error>>,
    counters: &mut Counters,
    sink: &mut impl FnMut(Result<F::Unit<'_>, Rejected<F::Error>>),
) -> usize {
    let decoded = found.and_then(|length| {
        let unit = F::read(bytes.get(..length).unwrap_or(bytes));
        unit.map(|unit| (unit, length))
            .map_err(|error| Rejected::invalid(error, length))
    });
    match decoded {
        Ok((unit, length)) => {
            counters.count_decoded(length);
            sink(Ok(unit));
            length
        }
        Err(rejected) => {
            counters.count_rejected(&rejected);
            let dropped = rejected.bytes;
            sink(Err(rejected));
            dropped
        }
    }
}
