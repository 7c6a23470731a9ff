//! From bytes in any portions to answers on a bus.

use super::{BusAnswer, BusAnswerError};
use crate::decoder::{Counters, Rejected};
use crate::framing::Framer;

/// What a [`BusDecoder`] hands on: an answer, or why bytes were dropped.
pub type BusDecoded<'a> = Result<BusAnswer<'a>, Rejected<BusAnswerError>>;

/// Finds answers in the bytes that the boards of a bus send.
///
/// Works as [`Decoder`](crate::Decoder) does. Answers that collided on the line show as wrong
/// checksums or as cut off.
///
/// ```
/// use kiebitz_protocol::{BusData, BusDecoder};
///
/// let mut decoder = BusDecoder::new();
/// let mut versions = Vec::new();
/// decoder.feed(&[0x89, 0x00, 0x08, 0x08, 0x01, 0x01, 0x04, 0x1f], |decoded| {
///     if let Ok(answer) = decoded {
///         versions.push((answer.address.number(), matches!(answer.data, BusData::Version { .. })));
///     }
/// });
/// assert_eq!(versions, [(1025, true)]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct BusDecoder {
    framer: Framer,
    counters: Counters,
}

impl BusDecoder {
    /// Returns a decoder with nothing pending and all counters at zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Decodes these bytes together with what is pending, and calls `sink` for each answer and
    /// each drop in the order of the line.
    ///
    /// A run of skipped bytes that goes on over several calls is reported once per call.
    pub fn feed(&mut self, bytes: &[u8], mut sink: impl FnMut(BusDecoded<'_>)) {
        let Self { framer, counters } = self;
        framer.feed(bytes, BusAnswer::check_header, |framed| {
            let decoded = framed.and_then(|frame| {
                let answer =
                    BusAnswer::decode(frame).map_err(|error| Rejected::invalid(error, frame.len()))?;
                counters.count_decoded(frame.len());
                Ok(answer)
            });
            if let Err(rejected) = &decoded {
                counters.count_rejected(rejected);
            }
            sink(decoded);
        });
    }

    /// Drops an unfinished answer, because the line was opened or closed or the wait for it is over.
    ///
    /// The bytes are counted as [`Counters::reset_bytes`]; the other counters stay.
    pub fn reset(&mut self) {
        self.counters.reset_bytes += self.framer.reset() as u64;
    }

    /// Returns how many bytes wait for the rest of their answer.
    pub fn pending(&self) -> usize {
        self.framer.pending()
    }

    /// Returns what was decoded and dropped since this decoder was made.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
}
