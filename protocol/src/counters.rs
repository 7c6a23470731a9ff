use crate::rejected::{Rejected, RejectedKind};

/// Counts of messages and bytes that a decoder has decoded or dropped since its creation.
///
/// All four decoders use these counters, so "message" also stands for answers and commands. The portions in
/// which the bytes arrive do not affect any counter. The number of bytes fed always equals the sum of
/// `message_bytes`, `skipped_bytes`, `rejected_bytes`, `reset_bytes` and the pending bytes.
///
/// ```
/// use kiebitz_protocol::Decoder;
///
/// let mut decoder = Decoder::new();
/// decoder.feed(&[0x17, 0x93, 0x00, 0x05, 0x01, 0x08, 0x8e, 0x00], |_| {});
/// let counters = decoder.counters();
/// assert_eq!((counters.skipped_bytes, counters.message_bytes, decoder.pending()), (1, 5, 2));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
#[non_exhaustive]
pub struct Counters {
    /// Decoded messages.
    pub messages: u64,
    /// Bytes of decoded messages.
    pub message_bytes: u64,
    /// Bytes outside of any message.
    pub skipped_bytes: u64,
    /// Bytes of messages that were dropped for one of the reasons below.
    pub rejected_bytes: u64,
    /// Bytes of incomplete messages that a reset dropped.
    pub reset_bytes: u64,
    /// Messages cut off by the start of the next message.
    pub truncated: u64,
    /// Messages and commands whose declared length is invalid for their kind.
    pub wrong_length: u64,
    /// Bus answers and commands with a wrong checksum.
    pub wrong_checksum: u64,
    /// Board dumps with a piece code above 15.
    pub wrong_piece_code: u64,
    /// Clock times with invalid digits.
    pub wrong_clock_time: u64,
    /// Serial numbers with unprintable characters.
    pub wrong_serial_number: u64,
    /// Battery states with a charge above 100 percent.
    pub wrong_battery_status: u64,
    /// Memory dumps without an end.
    pub wrong_memory: u64,
    /// Unknown commands.
    pub unknown_command: u64,
    /// Commands that must never be sent to a board.
    pub forbidden_command: u64,
    /// Known commands with invalid contents.
    pub wrong_command: u64,
}

/// An error that has its own counter.
#[expect(unnameable_types, reason = "no errors but those of this crate are counted")]
pub trait Counted {
    /// Returns the counter for this error.
    fn counter<'c>(&self, counters: &'c mut Counters) -> &'c mut u64;
}

impl Counters {
    pub(crate) fn count_decoded(&mut self, bytes: usize) {
        self.messages += 1;
        self.message_bytes += bytes as u64;
    }

    pub(crate) fn count_rejected<E: Counted>(&mut self, rejected: &Rejected<E>) {
        let bytes = rejected.bytes as u64;
        match &rejected.kind {
            RejectedKind::Skipped => {
                self.skipped_bytes += bytes;
                return;
            }
            RejectedKind::Truncated { .. } => self.truncated += 1,
            RejectedKind::Invalid(error) => *error.counter(self) += 1,
        }
        self.rejected_bytes += bytes;
    }
}
