//! From bytes in any portions to bus commands, as an emulated board reads them.

use super::{BusCommand, BusCommandError};
use crate::decoder::{Counters, Rejected, RejectedKind};

/// Finds bus commands in the bytes that a host sends on a bus.
///
/// Bytes below 0x80 outside of a command are reported as skipped. They may be single-board
/// commands, which switch a real board's mode: an emulator that cares feeds byte by byte.
///
/// ```
/// use kiebitz_protocol::{BusCommandDecoder, BusCommandKind};
///
/// let mut decoder = BusCommandDecoder::new();
/// let mut kinds = Vec::new();
/// decoder.feed(&[0x87, 0x00, 0x00, 0x07, 0x82, 0x08], |decoded| kinds.extend(decoded));
/// assert_eq!(kinds[0].kind, BusCommandKind::Ping);
/// assert_eq!(decoder.pending(), 2);
/// ```
#[derive(Debug, Clone, Default)]
pub struct BusCommandDecoder {
    wire: [u8; BusCommand::LENGTH],
    pending: usize,
    counters: Counters,
}

impl BusCommandDecoder {
    /// Returns a decoder with nothing pending and all counters at zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Decodes these bytes together with what is pending, and calls `sink` for each command and
    /// each drop in the order of the line.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        mut sink: impl FnMut(Result<BusCommand, Rejected<BusCommandError>>),
    ) {
        for &byte in bytes {
            if byte >= 0x80 && self.pending > 0 {
                let kind = RejectedKind::Truncated {
                    id: self.wire[0],
                    declared: None,
                };
                sink(Err(self.reject(Rejected {
                    kind,
                    bytes: self.pending,
                })));
            }
            if byte < 0x80 && self.pending == 0 {
                sink(Err(self.reject(Rejected {
                    kind: RejectedKind::Skipped,
                    bytes: 1,
                })));
                continue;
            }
            self.wire[self.pending] = byte;
            self.pending += 1;
            if self.pending == BusCommand::LENGTH {
                sink(self.decode());
            }
        }
    }

    /// Drops an unfinished command, because the line was opened or closed.
    ///
    /// The bytes are counted as [`Counters::reset_bytes`]; the other counters stay.
    pub fn reset(&mut self) {
        self.counters.reset_bytes += self.pending as u64;
        self.pending = 0;
    }

    /// Returns how many bytes wait for the rest of their command, 0 to 3.
    pub fn pending(&self) -> usize {
        self.pending
    }

    /// Returns what was decoded and dropped since this decoder was made.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    fn decode(&mut self) -> Result<BusCommand, Rejected<BusCommandError>> {
        match BusCommand::decode(self.wire) {
            Ok(command) => {
                self.pending = 0;
                self.counters.count_decoded(BusCommand::LENGTH);
                Ok(command)
            }
            Err(error) => Err(self.reject(Rejected::invalid(error, BusCommand::LENGTH))),
        }
    }

    fn reject(&mut self, rejected: Rejected<BusCommandError>) -> Rejected<BusCommandError> {
        self.pending = 0;
        self.counters.count_rejected(&rejected);
        rejected
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BusAddress, BusCommandKind};
    use alloc::vec::Vec;

    #[test]
    fn a_command_after_half_a_command_is_found() {
        let ping = BusCommand {
            kind: BusCommandKind::Ping,
            address: BusAddress::ALL,
        };
        let mut decoder = BusCommandDecoder::new();
        let mut all = Vec::new();
        decoder.feed(&[0x42, 0x82, 0x08], |decoded| all.push(decoded));
        decoder.feed(&ping.encode(), |decoded| all.push(decoded));
        assert_eq!(
            all[0].map_err(|rejected| rejected.kind),
            Err(RejectedKind::Skipped)
        );
        let kind = RejectedKind::Truncated {
            id: 0x82,
            declared: None,
        };
        assert_eq!(all[1..], [Err(Rejected { kind, bytes: 2 }), Ok(ping)]);
        assert_eq!(
            (decoder.counters().skipped_bytes, decoder.counters().truncated),
            (1, 1)
        );
    }

    #[test]
    fn a_reset_counts_what_it_drops() {
        let mut decoder = BusCommandDecoder::new();
        decoder.feed(&[0x82, 0x08, 0x01], |_| panic!("nothing is complete"));
        decoder.reset();
        assert_eq!((decoder.pending(), decoder.counters().reset_bytes), (0, 3));
    }
}
