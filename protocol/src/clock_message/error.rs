//! Why bytes are not a clock message.

/// Why the contents of command 0x2b are not a clock message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum ClockMessageError {
    /// The id is undocumented.
    #[error("clock message {id:#04x} is not known")]
    UnknownId {
        /// The id.
        id: u8,
    },
    /// The content does not have the length of its kind.
    #[error("clock message {id:#04x} has wrong length {length}")]
    WrongLength {
        /// The id.
        id: u8,
        /// Bytes between the id and the closing zero.
        length: usize,
    },
    /// The content is not closed by a zero.
    #[error("clock message {id:#04x} has wrong last byte {byte:#04x}")]
    NotClosed {
        /// The id.
        id: u8,
        /// The byte in place of the zero.
        byte: u8,
    },
    /// Hours above 9, or minutes or seconds above 59.
    #[error("a clock cannot be set to {hours}:{minutes:02}:{seconds:02}")]
    Time {
        /// Hours.
        hours: u8,
        /// Minutes.
        minutes: u8,
        /// Seconds.
        seconds: u8,
    },
}
