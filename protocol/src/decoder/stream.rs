//! The decoder that all four are.

use alloc::vec::Vec;
use core::marker::PhantomData;

use crate::counters::Counters;
use crate::framing::{Extent, Framing};
use crate::rejected::Rejected;

/// Finds units of one kind in a stream of bytes: see [`Decoder`](crate::Decoder),
/// [`BusDecoder`](crate::BusDecoder), [`CommandDecoder`](crate::CommandDecoder) and
/// [`BusCommandDecoder`](crate::BusCommandDecoder).
///
/// Bytes may come in any portions; the units found do not depend on them.
#[derive(Debug, Clone)]
pub struct StreamDecoder<F> {
    /// The unfinished unit, or what is left of it after the front of it was dropped.
    pending: Vec<u8>,
    /// The number of pending bytes at which to scan again.
    wanted: usize,
    counters: Counters,
    framing: PhantomData<F>,
}

impl<F> StreamDecoder<F> {
    /// Returns a decoder with nothing pending and all counters at zero.
    #[must_use]
    pub fn new() -> Self {
        Self {
            pending: Vec::new(),
            wanted: 0,
            counters: Counters::default(),
            framing: PhantomData,
        }
    }

    /// Drops an unfinished unit, because the line was opened or closed.
    ///
    /// The bytes are counted as [`Counters::reset_bytes`]; the other counters stay.
    pub fn reset(&mut self) {
        self.counters.reset_bytes += self.pending.len() as u64;
        self.pending.clear();
    }

    /// Returns how many bytes wait for the rest of their unit.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Returns what was decoded and dropped since this decoder was made.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
}

impl<F: Framing> StreamDecoder<F> {
    /// Decodes these bytes together with what is pending, and calls `sink` for each unit and each
    /// drop in the order of the line.
    ///
    /// A run of skipped bytes that goes on over several calls is reported once per call.
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
            let used = hand_on::<F>(rest, found, &mut self.counters, &mut sink);
            rest = rest.get(used..).unwrap_or_default();
        }
    }

    /// Adds bytes to the pending ones up to the next decision, and returns those left over.
    fn resume<'b>(
        &mut self,
        bytes: &'b [u8],
        sink: &mut impl FnMut(Result<F::Unit<'_>, Rejected<F::Error>>),
    ) -> &'b [u8] {
        let held = self.pending.len();
        let missing = self.wanted.saturating_sub(held);
        let (offered, _) = bytes.split_at(missing.min(bytes.len()));
        let marked = offered.iter().position(|byte| *byte >= 0x80);
        let taken = marked.map_or(offered.len(), |at| at + 1);
        let (offered, after) = bytes.split_at(taken);
        self.pending.extend_from_slice(offered);
        if marked.is_none() && taken < missing {
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
        let used = hand_on::<F>(&self.pending, found, &mut self.counters, sink);
        if used < held {
            // The rest of what was held is scanned again, and then as much of the bytes as it asks for.
            self.pending.truncate(held);
            self.pending.drain(..used);
            self.wanted = 0;
            bytes
        } else {
            self.pending.clear();
            bytes.get(used - held..).unwrap_or_default()
        }
    }
}

impl<F> Default for StreamDecoder<F> {
    fn default() -> Self {
        Self::new()
    }
}

/// Reads the unit of this length at the start of `bytes`, counts it or the bytes dropped there, hands
/// on either, and returns its length.
#[inline]
fn hand_on<F: Framing>(
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
