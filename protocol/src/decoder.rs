//! From bytes in any portions to messages.

mod counters;
mod rejected;

pub(crate) use counters::Counted;
pub use counters::Counters;
pub use rejected::{Rejected, RejectedKind};

use crate::framing::Framer;
use crate::message::Message;

/// What a [`Decoder`] hands on: a message, or why bytes were dropped.
pub type Decoded<'a> = Result<Message<'a>, Rejected>;

/// Finds messages in the bytes that a board sends in single-board mode.
///
/// Bytes may come in any portions; the messages found do not depend on them. A byte with bit 7
/// starts a message wherever it stands, so after garbage the decoder is back in step with the
/// first whole message. A header with a length that its kind cannot have is dropped at once.
///
/// The buffer holds one unfinished message, 16 kB at most. Messages that arrive whole are
/// decoded in place.
///
/// ```
/// use kiebitz_protocol::{Decoder, Message};
///
/// let mut decoder = Decoder::new();
/// let mut versions = Vec::new();
/// for portion in [&[0x17, 0x93][..], &[0x00], &[0x05, 0x01, 0x08]] {
///     decoder.feed(portion, |decoded| match decoded {
///         Ok(Message::Version { major, minor }) => versions.push((major, minor)),
///         Ok(_) => {}
///         Err(rejected) => assert_eq!(rejected.bytes, 1),
///     });
/// }
/// assert_eq!(versions, [(1, 8)]);
/// assert_eq!(decoder.counters().skipped_bytes, 1);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Decoder {
    framer: Framer,
    counters: Counters,
}

impl Decoder {
    /// Returns a decoder with nothing pending and all counters at zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Decodes these bytes together with what is pending, and calls `sink` for each message and
    /// each drop in the order of the line.
    ///
    /// A run of skipped bytes that goes on over several calls is reported once per call.
    pub fn feed(&mut self, bytes: &[u8], mut sink: impl FnMut(Decoded<'_>)) {
        let Self { framer, counters } = self;
        framer.feed(bytes, Message::check_header, |framed| {
            let decoded = framed.and_then(|frame| {
                let message =
                    Message::from_frame(frame).map_err(|error| Rejected::invalid(error, frame.len()))?;
                counters.count_decoded(frame.len());
                Ok(message)
            });
            if let Err(rejected) = &decoded {
                counters.count_rejected(rejected);
            }
            sink(decoded);
        });
    }

    /// Drops an unfinished message, because the line was opened or closed.
    ///
    /// The bytes are counted as [`Counters::reset_bytes`]; the other counters stay.
    pub fn reset(&mut self) {
        self.counters.reset_bytes += self.framer.reset() as u64;
    }

    /// Returns how many bytes wait for the rest of their message.
    pub fn pending(&self) -> usize {
        self.framer.pending()
    }

    /// Returns what was decoded and dropped since this decoder was made.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Field, FieldUpdate, MessageError, Piece};
    use alloc::vec::Vec;

    const E2_EMPTY: [u8; 5] = [0x8e, 0x00, 0x05, 52, 0x00];
    const E4_PAWN: [u8; 5] = [0x8e, 0x00, 0x05, 36, 0x01];

    /// Feeds portions; keeps the updates found and the drops with their bytes.
    fn read(decoder: &mut Decoder, portions: &[&[u8]]) -> (Vec<FieldUpdate>, Vec<Rejected>) {
        let (mut updates, mut rejected) = (Vec::new(), Vec::new());
        for portion in portions {
            decoder.feed(portion, |decoded| match decoded {
                Ok(Message::FieldUpdate(update)) => updates.push(update),
                Ok(other) => panic!("{other:?}"),
                Err(why) => rejected.push(why),
            });
        }
        (updates, rejected)
    }

    fn pawn_on_e4() -> FieldUpdate {
        FieldUpdate::new(Field::new(36).unwrap(), Some(Piece::WhitePawn))
    }

    #[test]
    fn a_message_cut_at_every_length_is_one_message() {
        for at in 0..=E4_PAWN.len() {
            let (first, rest) = E4_PAWN.split_at(at);
            let found = read(&mut Decoder::new(), &[first, rest]);
            assert_eq!(found, (Vec::from([pawn_on_e4()]), Vec::new()), "cut at {at}");
        }
    }

    #[test]
    fn a_message_cut_off_by_the_next_is_told_with_its_length() {
        let mut decoder = Decoder::new();
        let (updates, rejected) = read(&mut decoder, &[&E2_EMPTY[..4], &E4_PAWN]);
        let kind = RejectedKind::Truncated {
            id: 0x8e,
            declared: Some(5),
        };
        assert_eq!(updates, [pawn_on_e4()]);
        assert_eq!(rejected, [Rejected { kind, bytes: 4 }]);
        assert_eq!(
            (decoder.counters().truncated, decoder.counters().rejected_bytes),
            (1, 4)
        );
    }

    #[test]
    fn a_header_that_declares_too_much_does_not_swallow_the_next_message() {
        let longest_memory = [0x8f, 0x7f, 0x7f];
        for portions in [
            &[&longest_memory[..], &E4_PAWN][..],
            &[&[longest_memory[0]], &longest_memory[1..], &E4_PAWN],
        ] {
            let (updates, rejected) = read(&mut Decoder::new(), portions);
            let kind = RejectedKind::Truncated {
                id: 0x8f,
                declared: Some(0x3fff),
            };
            assert_eq!(updates, [pawn_on_e4()]);
            assert_eq!(rejected, [Rejected { kind, bytes: 3 }]);
        }
    }

    #[test]
    fn a_wrong_length_is_rejected_as_soon_as_the_header_is_there() {
        let mut decoder = Decoder::new();
        let (updates, rejected) = read(&mut decoder, &[&[0x8e, 0x00], &[0x06]]);
        let error = MessageError::WrongLength {
            id: 0x8e,
            declared: 6,
            expected: 5,
        };
        assert_eq!(
            (updates, rejected),
            (Vec::new(), Vec::from([Rejected::invalid(error, 3)]))
        );
        assert_eq!((decoder.pending(), decoder.counters().wrong_length), (0, 1));
    }

    #[test]
    fn a_length_below_the_header_is_no_message() {
        for length in 0..3 {
            let (_, rejected) = read(&mut Decoder::new(), &[&[0xff, 0x00, length]]);
            let error = MessageError::WrongLength {
                id: 0xff,
                declared: length.into(),
                expected: 3,
            };
            assert_eq!(rejected, [Rejected::invalid(error, 3)]);
        }
    }

    #[test]
    fn a_run_of_garbage_is_reported_once() {
        let mut decoder = Decoder::new();
        let (updates, rejected) = read(&mut decoder, &[&[[0x05; 5], E4_PAWN].concat()]);
        assert_eq!(updates, [pawn_on_e4()]);
        assert_eq!(
            rejected,
            [Rejected {
                kind: RejectedKind::Skipped,
                bytes: 5
            }]
        );
        assert_eq!(
            (decoder.counters().skipped_bytes, decoder.counters().message_bytes),
            (5, 5)
        );
    }

    #[test]
    fn a_reset_keeps_the_rest_of_the_old_message_from_the_new_line() {
        let mut decoder = Decoder::new();
        read(&mut decoder, &[&E2_EMPTY[..4]]);
        assert_eq!(decoder.pending(), 4);
        decoder.reset();
        let (updates, rejected) = read(&mut decoder, &[&[0x00], &E4_PAWN]);
        assert_eq!((updates.len(), rejected.len()), (1, 1));
        assert_eq!((decoder.pending(), decoder.counters().reset_bytes), (0, 4));
    }
}
