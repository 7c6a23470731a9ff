//! From bytes in any portions to commands, as an emulated board reads them.

use alloc::vec::Vec;

use super::{Command, CommandError, first_command};
use crate::decoder::{Counters, Rejected};

/// Finds commands in the bytes that a host sends in single-board mode.
///
/// Commands carry no bit 7 and so cannot be told from garbage as messages can. After bytes that
/// are no command the next one is tried. A clock message with impossible contents is dropped
/// whole, so that its text is not taken for commands.
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
#[derive(Debug, Clone, Default)]
pub struct CommandDecoder {
    /// An unfinished command of several bytes, 128 at most.
    pending: Vec<u8>,
    counters: Counters,
}

impl CommandDecoder {
    /// Returns a decoder with nothing pending and all counters at zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Decodes these bytes together with what is pending, and calls `sink` for each command and
    /// each drop in the order of the line.
    pub fn feed(&mut self, bytes: &[u8], mut sink: impl FnMut(Result<Command, Rejected<CommandError>>)) {
        for &byte in bytes {
            self.pending.push(byte);
            while let Some((decoded, length)) = first_command(&self.pending).transpose().map(split_length) {
                match &decoded {
                    Ok(_) => self.counters.count_decoded(length),
                    Err(rejected) => self.counters.count_rejected(rejected),
                }
                self.pending.drain(..length);
                sink(decoded);
            }
        }
    }

    /// Drops an unfinished command, because the line was opened or closed.
    ///
    /// The bytes are counted as [`Counters::reset_bytes`]; the other counters stay.
    pub fn reset(&mut self) {
        self.counters.reset_bytes += self.pending.len() as u64;
        self.pending.clear();
    }

    /// Returns how many bytes wait for the rest of their command.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Returns what was decoded and dropped since this decoder was made.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
}

type Decoded = Result<Command, Rejected<CommandError>>;

fn split_length(found: Result<(Command, usize), (CommandError, usize)>) -> (Decoded, usize) {
    match found {
        Ok((command, length)) => (Ok(command), length),
        Err((error, length)) => (Err(Rejected::invalid(error, length)), length),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClockMessage, ClockText};

    fn decoded(bytes: &[u8]) -> Vec<Result<Command, (CommandError, usize)>> {
        let mut all = Vec::new();
        CommandDecoder::new().feed(bytes, |decoded| {
            all.push(decoded.map_err(|rejected| match rejected.kind {
                crate::RejectedKind::Invalid(error) => (error, rejected.bytes),
                other => panic!("{other:?}"),
            }));
        });
        all
    }

    #[test]
    fn the_text_of_a_broken_clock_message_is_not_taken_for_commands() {
        let text = ClockMessage::Text(ClockText::new("ABCDEFGH", 0));
        let mut bytes = Vec::new();
        Command::Clock(text).encode(&mut bytes);
        bytes[3] = 0x0d;
        bytes.push(0x42);
        let error = crate::ClockMessageError::UnknownId { id: 0x0d };
        assert_eq!(decoded(&bytes), [Err((error.into(), 14)), Ok(Command::SendBoard)]);
    }

    #[test]
    fn commands_after_a_stray_clock_byte_are_found() {
        let error = (CommandError::NotOpened { byte: 0x41 }, 1);
        assert_eq!(
            decoded(&[0x2b, 0x42, 0x41]),
            [Err(error), Ok(Command::SendBoard), Ok(Command::SendClock)]
        );
    }

    #[test]
    fn a_bus_command_inside_a_clock_message_ends_it() {
        let all = decoded(&[0x2b, 0x04, 0x03, 0x87, 0x40]);
        assert_eq!(
            all,
            [
                Err((CommandError::CutOff { code: 0x2b }, 3)),
                Err((CommandError::Unknown { code: 0x87 }, 1)),
                Ok(Command::Reset),
            ]
        );
    }
}
