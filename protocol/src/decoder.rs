//! Decoders that find messages, answers and commands in a stream of bytes.

mod stream;
#[cfg(test)]
mod tests;

pub use stream::StreamDecoder;

use crate::bus::{BusAnswer, BusAnswerError, BusCommand};
use crate::command::Command;
use crate::message::{Message, MessageError};
use crate::rejected::Rejected;

/// Finds messages in the bytes that a board sends in single-board mode.
///
/// A byte with bit 7 set always starts a message, so the decoder resynchronises at the first complete message
/// after garbage. A header whose length is invalid for its kind is dropped immediately.
///
/// The buffer holds one incomplete message, at most 16 kB. Messages that arrive complete are decoded in place.
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
pub type Decoder = StreamDecoder<Message<'static>>;

/// The output of a [`Decoder`]: a message, or dropped bytes and the reason.
pub type Decoded<'a> = Result<Message<'a>, Rejected<MessageError>>;

/// Finds answers in the bytes that the boards on a bus send.
///
/// Works like [`Decoder`]. Answers that collided on the line have wrong checksums or are cut off. Reset the
/// decoder when the timeout for an answer has passed.
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
pub type BusDecoder = StreamDecoder<BusAnswer<'static>>;

/// The output of a [`BusDecoder`]: an answer, or dropped bytes and the reason.
pub type BusDecoded<'a> = Result<BusAnswer<'a>, Rejected<BusAnswerError>>;

/// Finds commands in the bytes that a host sends in single-board mode.
///
/// Commands have no byte with bit 7 set, so unlike messages they cannot be distinguished from garbage. After
/// a byte that does not begin a command, the decoder tries the next byte. A clock message with invalid contents
/// is dropped as a whole, so that its text is not decoded as commands. At most 128 bytes are pending.
///
/// ```
/// use kiebitz_protocol::{Command, CommandDecoder};
///
/// let mut decoder = CommandDecoder::new();
/// let mut commands = Vec::new();
/// decoder.feed(&[0x40, 0x4d, 0x4e, 0x42], |decoded| commands.extend(decoded));
/// assert_eq!(commands, [Command::Reset, Command::SendVersion, Command::SendBoard]);
/// assert_eq!(decoder.counters().forbidden_command, 1);
/// ```
pub type CommandDecoder = StreamDecoder<Command>;

/// Finds bus commands in the bytes that a host sends on a bus.
///
/// Bytes below 0x80 outside of a command are reported as skipped. They may be single-board commands, which
/// switch the mode of a real board. An emulator that needs the exact position of the switch feeds one byte at
/// a time.
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
pub type BusCommandDecoder = StreamDecoder<BusCommand>;
