//! Why bytes are not a command.

use crate::clock_message::ClockMessageError;
use crate::counters::{Counted, Counters};

/// Why bytes sent to a board are not a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// No command begins with this byte. With bit 7 it may begin a bus command.
    #[error("command {code:#04x} is not known")]
    Unknown {
        /// The byte.
        code: u8,
    },
    /// A command that must never be sent to a chess board (0x4e, 0x50 to 0x54).
    #[error("command {code:#04x} must never be sent")]
    Forbidden {
        /// The byte.
        code: u8,
    },
    /// A command of several bytes has a size that it cannot have.
    #[error("command {code:#04x} has wrong size {size}")]
    Size {
        /// The first byte.
        code: u8,
        /// The second byte.
        size: u8,
    },
    /// The clock message inside does not begin with 0x03.
    #[error("clock message has wrong first byte {byte:#04x}")]
    NotOpened {
        /// The byte in place of 0x03.
        byte: u8,
    },
    /// A command of several bytes was cut off by a byte with bit 7.
    #[error("command {code:#04x} cut off by a byte with bit 7")]
    CutOff {
        /// The first byte.
        code: u8,
    },
    /// LEDs of a field above 63, or not closed by a zero.
    #[error("command for LEDs {first} to {last} has wrong last byte {close:#04x}")]
    Leds {
        /// The first field's byte.
        first: u8,
        /// The last field's byte.
        last: u8,
        /// The byte in place of the closing zero.
        close: u8,
    },
    /// The clock message inside cannot be read.
    #[error(transparent)]
    Clock(#[from] ClockMessageError),
}

impl Counted for CommandError {
    fn counter<'c>(&self, counters: &'c mut Counters) -> &'c mut u64 {
        match self {
            Self::Unknown { .. } => &mut counters.unknown_command,
            Self::Forbidden { .. } => &mut counters.forbidden_command,
            Self::Size { .. } => &mut counters.wrong_length,
            Self::CutOff { .. } => &mut counters.truncated,
            Self::NotOpened { .. } | Self::Leds { .. } | Self::Clock(_) => &mut counters.wrong_command,
        }
    }
}
