use crate::clock_message::ClockMessageError;
use crate::counters::{Counted, Counters};

/// Why bytes sent to a board are not a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// No single-board command begins with this byte. A byte with bit 7 set may begin a bus command.
    #[error("command {code:#04x} is not known")]
    Unknown {
        /// The byte.
        code: u8,
    },
    /// The command must never be sent to a chess board (0x4e, 0x50 to 0x54).
    #[error("command {code:#04x} must never be sent")]
    Forbidden {
        /// The byte.
        code: u8,
    },
    /// The size byte is invalid for this command.
    #[error("command {code:#04x} has wrong size {size}")]
    Size {
        /// The first byte.
        code: u8,
        /// The size byte, second in the command.
        size: u8,
    },
    /// The clock message does not begin with 0x03.
    #[error("clock message has wrong first byte {byte:#04x}")]
    NotOpened {
        /// The byte found in place of 0x03.
        byte: u8,
    },
    /// A byte with bit 7 set came before the end of the command.
    #[error("command {code:#04x} cut off by a byte with bit 7")]
    CutOff {
        /// The first byte.
        code: u8,
    },
    /// The LED command names a field above 63 or does not end with a zero byte.
    #[error("command for LEDs {first} to {last} has wrong last byte {close:#04x}")]
    Leds {
        /// The byte of the first field.
        first: u8,
        /// The byte of the last field.
        last: u8,
        /// The last byte of the command, expected to be zero.
        close: u8,
    },
    /// The clock message cannot be decoded.
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
