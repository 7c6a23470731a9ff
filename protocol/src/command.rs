//! What a host sends to a board in single-board mode.

mod decoder;
mod error;

use alloc::vec::Vec;

pub use decoder::CommandDecoder;
pub use error::CommandError;

use crate::clock_message::{ClockMessage, ClockMessageError};
use crate::field::Field;

/// One command to a board in single-board mode.
///
/// The board's input buffer holds 10 bytes: leave time between commands. Any of them switches a
/// board in bus mode, and every other board on its line, to single-board mode.
///
/// Commands that must never be sent, 0x4e (boot loader) and 0x50 to 0x54 (draughts boards, with
/// scan modes kept in EEPROM), cannot be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Command {
    /// Idle mode, no updates (0x40). Not answered.
    Reset,
    /// Ask for the clock (0x41). Answer: BWTIME.
    SendClock,
    /// Ask for all fields (0x42). Answer: BOARD_DUMP.
    SendBoard,
    /// Update mode (0x43): FIELD_UPDATE on change, BWTIME at least every second.
    Update,
    /// Update-board mode (0x44): FIELD_UPDATE on change.
    UpdateBoard,
    /// Ask for the serial number (0x45). Answer: SERIALNR.
    ReturnSerialNumber,
    /// Ask for the bus address (0x46). Answer: BUSADRES.
    ReturnBusAddress,
    /// Ask for the trademark text (0x47). Answer: TRADEMARK.
    SendTrademark,
    /// Ask for the board's memory (0x49). Answer: EE_MOVES, which takes about 8.3 s.
    SendEeMoves,
    /// Switch to bus mode (0x4a). Not answered.
    ToBusMode,
    /// Update-nice mode (0x4b): FIELD_UPDATE on change, BWTIME when the clock's data changed.
    UpdateNice,
    /// Ask for the battery of a Bluetooth board (0x4c). Answer: BATTERY_STATUS.
    SendBatteryStatus,
    /// Ask for the version (0x4d). Answer: VERSION.
    SendVersion,
    /// Ask for the long serial number (0x55). Answer: LONG_SERIALNR.
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
    /// Tell the clock something (0x2b). Answer: BWTIME in its acknowledge form.
    Clock(ClockMessage),
}

impl Command {
    /// The commands of one byte.
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

    /// Returns the first byte.
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

    /// Appends the command as it stands on the wire, every byte below 0x80.
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
                // No clock message is longer than 12 bytes.
                out[size_at] = (out.len() - size_at - 1) as u8;
            }
            _ => {}
        }
    }

    /// Reads the command at the start of `bytes` and returns it with its length in bytes.
    ///
    /// `None` when its end has not come yet.
    ///
    /// # Errors
    ///
    /// [`CommandError`] when no command stands there.
    ///
    /// ```
    /// use kiebitz_protocol::{Command, CommandError};
    ///
    /// assert_eq!(Command::decode(&[0x42, 0x41]), Ok(Some((Command::SendBoard, 1))));
    /// assert_eq!(Command::decode(&[0x2b, 0x03]), Ok(None));
    /// assert_eq!(Command::decode(&[0x4e]), Err(CommandError::Forbidden { code: 0x4e }));
    /// ```
    pub fn decode(bytes: &[u8]) -> Result<Option<(Self, usize)>, CommandError> {
        first_command(bytes).map_err(|(error, _)| error)
    }
}

/// A command and its length, `None` when its end has not come, or why there is none and how many
/// bytes to drop for it.
type Found = Result<Option<(Command, usize)>, (CommandError, usize)>;

fn first_command(bytes: &[u8]) -> Found {
    let Some(&code) = bytes.first() else {
        return Ok(None);
    };
    match code {
        CLOCK => clock_command(bytes),
        SET_LEDS => leds_command(bytes),
        0x4e | 0x50..=0x54 => Err((CommandError::Forbidden { code }, 1)),
        _ => {
            let single = Command::SINGLE.iter().find(|command| command.code() == code);
            single
                .map(|&command| Some((command, 1)))
                .ok_or((CommandError::Unknown { code }, 1))
        }
    }
}

fn clock_command(bytes: &[u8]) -> Found {
    let Some(&size) = bytes.get(1) else {
        return Ok(None);
    };
    if !(3..0x80).contains(&size) {
        return Err((CommandError::Size { code: CLOCK, size }, 1));
    }
    match bytes.get(2) {
        None => return Ok(None),
        Some(&OPEN) => {}
        Some(&byte) => return Err((CommandError::NotOpened { byte }, 1)),
    }
    let length = usize::from(size) + 2;
    match *low_bytes(CLOCK, bytes, length)? {
        [_, _, _, id, ref content @ .., CLOSE] if bytes.len() >= length => {
            let message = ClockMessage::decode(id, content).map_err(|error| (error.into(), length))?;
            Ok(Some((Command::Clock(message), length)))
        }
        [_, _, _, id, .., byte] if bytes.len() >= length => {
            Err((ClockMessageError::NotClosed { id, byte }.into(), length))
        }
        _ => Ok(None),
    }
}

fn leds_command(bytes: &[u8]) -> Found {
    let Some(&size) = bytes.get(1) else {
        return Ok(None);
    };
    if size != LEDS_SIZE {
        return Err((CommandError::Size { code: SET_LEDS, size }, 1));
    }
    let length = usize::from(LEDS_SIZE) + 2;
    let [_, _, pattern, first, last, close] = *low_bytes(SET_LEDS, bytes, length)? else {
        return Ok(None);
    };
    match (Field::new(first), Field::new(last), close) {
        (Some(first), Some(last), CLOSE) => Ok(Some((Command::SetLeds { pattern, first, last }, length))),
        _ => Err((CommandError::Leds { first, last, close }, length)),
    }
}

/// Returns the first `length` bytes, or as many as there are.
///
/// # Errors
///
/// [`CommandError::CutOff`] if one of them has bit 7, which no command has.
fn low_bytes(code: u8, bytes: &[u8], length: usize) -> Result<&[u8], (CommandError, usize)> {
    let bytes = bytes.get(..length).unwrap_or(bytes);
    match bytes.iter().position(|byte| *byte >= 0x80) {
        Some(at) => Err((CommandError::CutOff { code }, at)),
        None => Ok(bytes),
    }
}

const CLOCK: u8 = 0x2b;
const SET_LEDS: u8 = 0x60;
const LEDS_SIZE: u8 = 0x04;
/// Stands before the id of a clock message.
const OPEN: u8 = 0x03;
/// Closes a command of several bytes.
const CLOSE: u8 = 0x00;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn single_byte_commands_have_the_codes_of_the_description() {
        let codes: Vec<u8> = Command::SINGLE.iter().map(Command::code).collect();
        let expected = [
            0x40, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x49, 0x4a, 0x4b, 0x4c, 0x4d, 0x55,
        ];
        assert_eq!(codes, expected);
    }

    #[test]
    fn forbidden_commands_are_told_apart_from_unknown_ones() {
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
    fn a_command_is_incomplete_at_every_length_but_its_own() {
        let mut bytes = vec![];
        Command::Clock(ClockMessage::Text(crate::ClockText::new("hello", 1))).encode(&mut bytes);
        for length in 0..bytes.len() {
            assert_eq!(Command::decode(&bytes[..length]), Ok(None));
        }
        assert!(matches!(Command::decode(&bytes), Ok(Some((_, 14)))));
    }

    #[test]
    fn what_follows_a_command_is_not_looked_at() {
        let beep_then_bus_ping = [0x2b, 0x04, 0x03, 0x0b, 0x04, 0x00, 0x87, 0x00, 0x00, 0x07];
        assert!(matches!(Command::decode(&beep_then_bus_ping), Ok(Some((_, 6)))));
    }
}
