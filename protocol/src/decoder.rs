//! From bytes in any portions to messages, answers and commands.

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
/// A byte with bit 7 starts a message wherever it comes, so after garbage the decoder is back in
/// step with the first whole message. A header with a length that its kind cannot have is dropped
/// at once.
///
/// The buffer holds one unfinished message, at most 16 kB. Messages that arrive whole are decoded
/// in place.
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

/// What a [`Decoder`] hands on: a message, or why bytes were dropped.
pub type Decoded<'a> = Result<Message<'a>, Rejected<MessageError>>;

/// Finds answers in the bytes that the boards on a bus send.
///
/// Works as [`Decoder`] does. Answers that collided on the line show as wrong checksums or as cut off.
/// Reset the decoder when the wait for an answer is over.
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

/// What a [`BusDecoder`] hands on: an answer, or why bytes were dropped.
pub type BusDecoded<'a> = Result<BusAnswer<'a>, Rejected<BusAnswerError>>;

/// Finds commands in the bytes that a host sends in single-board mode.
///
/// Commands have no bit 7, so unlike messages they cannot be distinguished from garbage. After bytes that
/// are no command the decoder tries the next one. A clock message with impossible contents is
/// dropped whole, so that its text is not read as commands. At most 128 bytes are pending.
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
pub type BusCommandDecoder = StreamDecoder<BusCommand>;
