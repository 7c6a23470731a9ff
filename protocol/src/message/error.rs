//! Why a framed message cannot be read.

use crate::clock::ClockTimeError;
use crate::counters::{Counted, Counters};

/// Why a message from the board was dropped although it was framed as it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum MessageError {
    /// The header declares a length that this kind of message cannot have.
    ///
    /// Told as soon as the header is there. The bytes after it are skipped on their own.
    #[error("message {id:#04x} declares {declared} bytes, its kind has {expected}")]
    WrongLength {
        /// The id with bit 7 set.
        id: u8,
        /// The declared length in bytes, header included.
        declared: u16,
        /// The length in bytes, header included: 3 as the least for kinds without a fixed one.
        expected: u16,
    },
    /// A board dump has a piece code above 15.
    #[error("field {field} has piece code {code:#04x}")]
    PieceCode {
        /// The wire number of the first such field, 0 to 63.
        field: u8,
        /// The code.
        code: u8,
    },
    /// A connected clock shows an impossible time.
    #[error(transparent)]
    ClockTime(#[from] ClockTimeError),
    /// A serial number has a character that cannot be printed.
    #[error("serial number has the unprintable character {byte:#04x}")]
    SerialNumber {
        /// The first such character.
        byte: u8,
    },
    /// A battery has more than 100 percent, and not 0x7f for unknown.
    #[error("battery at {percent} percent")]
    BatteryPercent {
        /// The number.
        percent: u8,
    },
}

impl Counted for MessageError {
    fn counter<'c>(&self, counters: &'c mut Counters) -> &'c mut u64 {
        match self {
            Self::WrongLength { .. } => &mut counters.wrong_length,
            Self::PieceCode { .. } => &mut counters.wrong_piece_code,
            Self::ClockTime(_) => &mut counters.wrong_clock_time,
            Self::SerialNumber { .. } => &mut counters.wrong_serial_number,
            Self::BatteryPercent { .. } => &mut counters.wrong_battery_status,
        }
    }
}
