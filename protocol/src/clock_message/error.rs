/// Why the payload of command 0x2b is not a clock message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum ClockMessageError {
    /// The id is undocumented.
    #[error("clock message {id:#04x} is not known")]
    UnknownId {
        /// The id.
        id: u8,
    },
    /// The content has a length that this kind of clock message cannot have.
    #[error("clock message {id:#04x} has wrong length {length}")]
    WrongLength {
        /// The id.
        id: u8,
        /// Number of bytes between the id and the closing zero.
        length: usize,
    },
    /// The content does not end with a zero byte.
    #[error("clock message {id:#04x} has wrong last byte {byte:#04x}")]
    NotClosed {
        /// The id.
        id: u8,
        /// The byte found in place of the zero.
        byte: u8,
    },
    /// The hours are above 9, or the minutes or seconds above 59.
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
