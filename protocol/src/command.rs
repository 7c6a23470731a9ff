mod error;

use alloc::vec::Vec;

pub use error::CommandError;

use crate::clock_message::{ClockMessage, ClockMessageError};
use crate::field::Field;
use crate::framing::{Extent, Framing};
use crate::rejected::Rejected;

/// A command to a board in single-board mode.
///
/// The board's input buffer holds 10 bytes, so leave time between commands. Each of these commands switches
/// a board in bus mode, and every other board on its line, to single-board mode.
///
/// Commands that must never be sent have no variant: 0x4e (boot loader) and 0x50 to 0x54 (draughts boards;
/// they store scan modes in the EEPROM).
///
/// The enum is exhaustive, so that an emulator's `match` has to handle every command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Command {
    /// Idle mode without updates (0x40). Not answered.
    Reset,
    /// Request the clock's report (0x41). Answer: BWTIME.
    SendClock,
    /// Request all fields (0x42). Answer: BOARD_DUMP.
    SendBoard,
    /// Update mode (0x43): FIELD_UPDATE on each change, BWTIME at least every second.
    Update,
    /// Update-board mode (0x44): FIELD_UPDATE on each change.
    UpdateBoard,
    /// Request the serial number (0x45). Answer: SERIALNR.
    ReturnSerialNumber,
    /// Request the bus address (0x46). Answer: BUSADRES.
    ReturnBusAddress,
    /// Request the trademark text (0x47). Answer: TRADEMARK.
    SendTrademark,
    /// Request the board's memory (0x49). Answer: EE_MOVES, which takes about 8.3 s.
    SendEeMoves,
    /// Switch to bus mode (0x4a). Not answered.
    ToBusMode,
    /// Update-nice mode (0x4b): FIELD_UPDATE on each change, BWTIME when the clock's data changes.
    UpdateNice,
    /// Request the battery status of a Bluetooth board (0x4c). Answer: BATTERY_STATUS.
    SendBatteryStatus,
    /// Request the version (0x4d). Answer: VERSION.
    SendVersion,
    /// Request the long serial number (0x55). Answer: LONG_SERIALNR.
    ReturnLongSerialNumber,
    /// Set the LEDs of a Revelation II (0x60). Not answered.
    SetLeds {
        /// The pattern, 0 to 127; 0 is off.
        pattern: u8,
        /// The first field.
        first: Field,
        /// The last field.
        last: Field,
    },
    /// Send a message to the clock (0x2b). Answer: the acknowledgement form of BWTIME.
    Clock(ClockMessage),
}

impl Command {
    /// All one-byte commands, ordered by code.
    pub const SINGLE: [Self; 14] = [
        Self::Reset,
        Self::SendClock,
        Self::SendBoard,
        Self::Update,
        Self::UpdateBoard,
        Self::ReturnSerialNumber,
        Self::ReturnBusAddress,
        Self::SendTrademark,
        Self::SendEeMoves,
        Self::ToBusMode,
        Self::UpdateNice,
        Self::SendBatteryStatus,
        Self::SendVersion,
        Self::ReturnLongSerialNumber,
    ];

    /// Returns the first byte of the encoded command.
    pub const fn code(&self) -> u8 {
        match self {
            Self::Reset => 0x40,
            Self::SendClock => 0x41,
            Self::SendBoard => 0x42,
            Self::Update => 0x43,
            Self::UpdateBoard => 0x44,
            Self::ReturnSerialNumber => 0x45,
            Self::ReturnBusAddress => 0x46,
            Self::SendTrademark => 0x47,
            Self::SendEeMoves => 0x49,
            Self::ToBusMode => 0x4a,
            Self::UpdateNice => 0x4b,
            Self::SendBatteryStatus => 0x4c,
            Self::SendVersion => 0x4d,
            Self::ReturnLongSerialNumber => 0x55,
            Self::SetLeds { .. } => SET_LEDS,
            Self::Clock(_) => CLOCK,
        }
    }

    /// Appends the encoded command to `out`. Every byte is below 0x80.
    ///
    /// ```
    /// use kiebitz_protocol::{Command, Field};
    ///
    /// let (first, last) = (Field::new(0).unwrap(), Field::new(63).unwrap());
    /// let mut bytes = Vec::new();
    /// Command::UpdateNice.encode(&mut bytes);
    /// Command::SetLeds { pattern: 0, first, last }.encode(&mut bytes);
    /// assert_eq!(bytes, [0x4b, 0x60, 0x04, 0x00, 0x00, 0x3f, 0x00]);
    /// ```
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(self.code());
        match self {
            Self::SetLeds { pattern, first, last } => {
                out.extend([LEDS_SIZE, pattern & 0x7f, first.number(), last.number(), CLOSE]);
            }
            Self::Clock(message) => {
                let size_at = out.len();
                out.extend([0, OPEN]);
                message.encode(out);
                out.push(CLOSE);
                // Fits: the longest clock message has 12 bytes.
                out[size_at] = (out.len() - size_at - 1) as u8;
            }
            _ => {}
        }
    }

    /// Decodes the command at the start of `bytes` and returns it with its length in bytes, or `None` if the
    /// command is incomplete.
    ///
    /// # Errors
    ///
    /// Returns a [`CommandError`] if `bytes` do not begin with a command.
    ///
    /// ```
    /// use kiebitz_protocol::{Command, CommandError};
    ///
    /// assert_eq!(Command::decode(&[0x42, 0x41]), Ok(Some((Command::SendBoard, 1))));
    /// assert_eq!(Command::decode(&[0x2b, 0x03]), Ok(None));
    /// assert_eq!(Command::decode(&[0x4e]), Err(CommandError::Forbidden { code: 0x4e }));
    /// ```
    pub fn decode(bytes: &[u8]) -> Result<Option<(Self, usize)>, CommandError> {
        match measure(bytes).map_err(|(error, _)| error)? {
            Extent::Whole(length) => Self::read(&bytes[..length]).map(|command| Some((command, length))),
            Extent::Unfinished { .. } => Ok(None),
        }
    }
}

impl Framing for Command {
    type Unit<'a> = Self;
    type Error = CommandError;

    fn scan(bytes: &[u8]) -> Result<Extent, Rejected<CommandError>> {
        measure(bytes).map_err(|(error, dropped)| Rejected::invalid(error, dropped))
    }

    fn read(unit: &[u8]) -> Result<Self, CommandError> {
        match *unit {
            [CLOCK, _, _, id, ref content @ .., CLOSE] => Ok(Self::Clock(ClockMessage::decode(id, content)?)),
            [CLOCK, _, _, id, .., byte] => Err(ClockMessageError::NotClosed { id, byte }.into()),
            [SET_LEDS, _, pattern, first, last, close] => {
                match (Field::new(first), Field::new(last), close) {
                    (Some(first), Some(last), CLOSE) => Ok(Self::SetLeds { pattern, first, last }),
                    _ => Err(CommandError::Leds { first, last, close }),
                }
            }
            _ => {
                let code = unit.first().copied().unwrap_or_default();
                single(code).ok_or(CommandError::Unknown { code })
            }
        }
    }
}

/// The extent of a command, or an error with the number of bytes to drop.
type Measured = Result<Extent, (CommandError, usize)>;

fn measure(bytes: &[u8]) -> Measured {
    let Some(&code) = bytes.first() else {
        return Ok(Extent::Unfinished { wanted: 1 });
    };
    match code {
        CLOCK => measure_clock(bytes),
        SET_LEDS => measure_leds(bytes),
        0x4e | 0x50..=0x54 => Err((CommandError::Forbidden { code }, 1)),
        _ if single(code).is_some() => Ok(Extent::Whole(1)),
        _ => Err((CommandError::Unknown { code }, 1)),
    }
}

fn measure_clock(bytes: &[u8]) -> Measured {
    let Some(&size) = bytes.get(1) else {
        return Ok(Extent::Unfinished { wanted: 2 });
    };
    if !(3..0x80).contains(&size) {
        return Err((CommandError::Size { code: CLOCK, size }, 1));
    }
    match bytes.get(2) {
        None => Ok(Extent::Unfinished { wanted: 3 }),
        Some(&OPEN) => measure_low(CLOCK, bytes, usize::from(size) + 2),
        Some(&byte) => Err((CommandError::NotOpened { byte }, 1)),
    }
}

fn measure_leds(bytes: &[u8]) -> Measured {
    match bytes.get(1) {
        None => Ok(Extent::Unfinished { wanted: 2 }),
        Some(&LEDS_SIZE) => measure_low(SET_LEDS, bytes, usize::from(LEDS_SIZE) + 2),
        Some(&size) => Err((CommandError::Size { code: SET_LEDS, size }, 1)),
    }
}

/// Measures a command of `length` bytes. Fails if one of them has bit 7 set.
fn measure_low(code: u8, bytes: &[u8], length: usize) -> Measured {
    let bytes = bytes.get(..length).unwrap_or(bytes);
    match bytes.iter().position(|byte| *byte >= 0x80) {
        Some(at) => Err((CommandError::CutOff { code }, at)),
        None if bytes.len() < length => Ok(Extent::Unfinished { wanted: length }),
        None => Ok(Extent::Whole(length)),
    }
}

fn single(code: u8) -> Option<Command> {
    Command::SINGLE.into_iter().find(|command| command.code() == code)
}

const CLOCK: u8 = 0x2b;
const SET_LEDS: u8 = 0x60;
const LEDS_SIZE: u8 = 0x04;
/// Byte before the id of a clock message.
const OPEN: u8 = 0x03;
/// Last byte of a command with several bytes.
const CLOSE: u8 = 0x00;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn one_byte_commands_have_the_documented_codes() {
        let codes: Vec<u8> = Command::SINGLE.iter().map(Command::code).collect();
        let expected = [
            0x40, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x49, 0x4a, 0x4b, 0x4c, 0x4d, 0x55,
        ];
        assert_eq!(codes, expected);
    }

    #[test]
    fn forbidden_commands_are_distinguished_from_unknown_commands() {
        for code in 0..=255 {
            let forbidden = matches!(Command::decode(&[code]), Err(CommandError::Forbidden { .. }));
            assert_eq!(
                forbidden,
                code == 0x4e || (0x50..=0x54).contains(&code),
                "{code:#04x}"
            );
        }
    }

    #[test]
    fn every_shorter_part_of_a_command_is_incomplete() {
        let mut bytes = vec![];
        Command::Clock(ClockMessage::Text(crate::ClockText::new("hello", 1))).encode(&mut bytes);
        for length in 0..bytes.len() {
            assert_eq!(Command::decode(&bytes[..length]), Ok(None));
        }
        assert!(matches!(Command::decode(&bytes), Ok(Some((_, 14)))));
    }

    #[test]
    fn bytes_after_a_command_are_ignored() {
        let beep_then_bus_ping = [0x2b, 0x04, 0x03, 0x0b, 0x04, 0x00, 0x87, 0x00, 0x00, 0x07];
        assert!(matches!(Command::decode(&beep_then_bus_ping), Ok(Some((_, 6)))));
    }
}
