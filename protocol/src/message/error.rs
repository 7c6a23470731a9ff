use crate::clock::ClockTimeError;
use crate::counters::{Counted, Counters};

/// Why a correctly framed message from a board was dropped.
///
/// ```
/// use kiebitz_protocol::{Decoder, MessageError, RejectedKind};
///
/// // A field update has 5 bytes, never 6.
/// Decoder::new().feed(&[0x8e, 0x00, 0x06], |decoded| {
///     let error = MessageError::WrongLength { id: 0x8e, declared: 6, expected: 5 };
///     assert_eq!(decoded.unwrap_err().kind, RejectedKind::Invalid(error));
/// });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum MessageError {
    /// The header declares a length that is invalid for this kind of message.
    ///
    /// Reported as soon as the header is complete. The bytes after the header are reported as skipped separately.
    #[error("message {id:#04x} declares {declared} bytes instead of {expected}")]
    WrongLength {
        /// The id with bit 7 set.
        id: u8,
        /// The declared length in bytes, header included.
        declared: u16,
        /// The valid length in bytes, header included; for kinds without a fixed length the minimum.
        expected: u16,
    },
    /// A board dump has a piece code above 15.
    #[error("field {field} has unknown piece code {code:#04x}")]
    PieceCode {
        /// Wire number of the first such field, 0 to 63.
        field: u8,
        /// The invalid piece code.
        code: u8,
    },
    /// A connected clock shows an impossible time.
    #[error(transparent)]
    ClockTime(#[from] ClockTimeError),
    /// A serial number has an unprintable character.
    #[error("serial number has the unprintable character {byte:#04x}")]
    SerialNumber {
        /// The first such character.
        byte: u8,
    },
    /// The battery charge is above 100 percent and is not 0x7f (unknown).
    #[error("battery charge of {percent} percent is too large")]
    BatteryPercent {
        /// The charge in percent.
        percent: u8,
    },
    /// A memory dump does not end with [`Element::End`](crate::Element::End), so bytes were lost or inserted.
    #[error("the memory dump has no end")]
    MemoryWithoutEnd,
}

impl Counted for MessageError {
    fn counter<'c>(&self, counters: &'c mut Counters) -> &'c mut u64 {
        match self {
            Self::WrongLength { .. } => &mut counters.wrong_length,
            Self::PieceCode { .. } => &mut counters.wrong_piece_code,
            Self::ClockTime(_) => &mut counters.wrong_clock_time,
            Self::SerialNumber { .. } => &mut counters.wrong_serial_number,
            Self::BatteryPercent { .. } => &mut counters.wrong_battery_status,
            Self::MemoryWithoutEnd => &mut counters.wrong_memory,
        }
    }
}
