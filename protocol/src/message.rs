mod battery;
mod error;
mod field_update;
mod serial;

use alloc::vec::Vec;

pub use battery::BatteryStatus;
pub use error::MessageError;
pub use field_update::FieldUpdate;
pub use serial::{LongSerialNumber, Serial, SerialNumber};

use crate::address::BusAddress;
use crate::clock::{ClockAbsent, ClockAck, ClockReport, ClockTimes};
use crate::dump::{self, Dump};
use crate::eeprom;
use crate::field::Field;
use crate::framing::{Extent, Framing};
use crate::piece::Piece;
use crate::rejected::Rejected;
use crate::septets::{self, HEADER};

/// A message from a board in single-board mode.
///
/// Long messages borrow their data from the decoded bytes. A [`Decoder`](crate::Decoder) finds messages in a
/// stream; [`Message::encode`] encodes them, for an emulator.
///
/// The enum is exhaustive: [`Message::Unknown`] covers all undocumented ids.
///
/// ```
/// use kiebitz_protocol::{Field, FieldUpdate, Message, Piece};
///
/// let field = Field::new(52).unwrap(); // e2
/// let mut bytes = Vec::new();
/// Message::FieldUpdate(FieldUpdate::new(field, None)).encode(&mut bytes);
/// Message::FieldUpdate(FieldUpdate::new(field, Some(Piece::WhiteKing))).encode(&mut bytes);
/// assert_eq!(bytes, [0x8e, 0, 5, 52, 0, 0x8e, 0, 5, 52, 5]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Message<'a> {
    /// The contents of all 64 fields (BOARD_DUMP).
    BoardDump(Dump),
    /// The times of a connected clock (BWTIME).
    ///
    /// Directly after a clock message, ignore times whose bytes are all zero.
    ClockTimes(ClockTimes),
    /// An acknowledgement of a clock message, or an unsolicited report (BWTIME, acknowledgement form).
    ClockAck(ClockAck),
    /// No clock is connected (BWTIME with bit 5 of its last byte set).
    ClockAbsent(ClockAbsent),
    /// One field changed (FIELD_UPDATE).
    FieldUpdate(FieldUpdate),
    /// The board's memory (EE_MOVES); [`eeprom::elements`] decodes it.
    ///
    /// It ends with [`Element::End`](crate::Element::End), followed by nothing but padding.
    EeMoves(&'a [u8]),
    /// The board's address on a bus (BUSADRES).
    BusAddress(BusAddress),
    /// The serial number (SERIALNR).
    SerialNumber(SerialNumber),
    /// The long serial number (LONG_SERIALNR).
    LongSerialNumber(LongSerialNumber),
    /// ASCII text with firmware names and serial number (TRADEMARK).
    Trademark(&'a str),
    /// The firmware version (VERSION).
    Version {
        /// Number before the dot, 0 to 127.
        major: u8,
        /// Number after the dot, 0 to 127.
        minor: u8,
    },
    /// The state of a Bluetooth board's battery (BATTERY_STATUS).
    BatteryStatus(BatteryStatus),
    /// An undocumented message. Its data is not decoded.
    ///
    /// Includes a BATTERY_STATUS with a length other than 12, because the published length and layout of that
    /// message disagree.
    Unknown {
        /// The id with bit 7 set.
        id: u8,
        /// The bytes after the header, each below 0x80.
        data: &'a [u8],
    },
}

impl<'a> Message<'a> {
    /// Returns the id of the message, with bit 7 set.
    pub const fn id(&self) -> u8 {
        match self {
            Self::BoardDump(_) => BOARD_DUMP,
            Self::ClockTimes(_) | Self::ClockAck(_) | Self::ClockAbsent(_) => BWTIME,
            Self::FieldUpdate(_) => FIELD_UPDATE,
            Self::EeMoves(_) => EE_MOVES,
            Self::BusAddress(_) => BUSADRES,
            Self::SerialNumber(_) => SERIALNR,
            Self::LongSerialNumber(_) => LONG_SERIALNR,
            Self::Trademark(_) => TRADEMARK,
            Self::Version { .. } => VERSION,
            Self::BatteryStatus(_) => BATTERY_STATUS,
            Self::Unknown { id, .. } => *id | 0x80,
        }
    }

    /// Appends the encoded message to `out`.
    ///
    /// The result is always one well-formed message. Encoding clamps values above their range to the maximum,
    /// replaces characters outside ASCII with `?`, clears bit 7 of data bytes, and truncates data to 16,380 bytes,
    /// the maximum of a message.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match *self {
            Self::BoardDump(ref dump) => {
                self.frame(dump.iter().map(|&contents| dump::code_of(contents)), out)
            }
            Self::ClockTimes(times) => self.frame(ClockReport::Times(times).to_wire().into_iter(), out),
            Self::ClockAck(ack) => self.frame(ClockReport::Ack(ack).to_wire().into_iter(), out),
            Self::ClockAbsent(absent) => self.frame(ClockReport::Absent(absent).to_wire().into_iter(), out),
            Self::FieldUpdate(update) => self.frame(update.to_wire().into_iter(), out),
            Self::BusAddress(address) => self.frame(septets::split(address.number()).into_iter(), out),
            Self::SerialNumber(serial) => self.frame(serial.to_wire().into_iter(), out),
            Self::LongSerialNumber(serial) => self.frame(serial.to_wire().into_iter(), out),
            Self::Trademark(text) => {
                let ascii: Vec<u8> = text
                    .chars()
                    .map(|c| u8::try_from(c).ok().filter(u8::is_ascii).unwrap_or(b'?'))
                    .collect();
                self.frame(ascii.into_iter(), out);
            }
            Self::Version { major, minor } => {
                self.frame([major, minor].map(|n| n.min(0x7f)).into_iter(), out)
            }
            Self::BatteryStatus(status) => self.frame(status.to_wire().into_iter(), out),
            Self::EeMoves(data) | Self::Unknown { data, .. } => self.frame(data.iter().copied(), out),
        }
    }

    /// Checks the id and declared length of a header before the data has arrived.
    ///
    /// # Errors
    ///
    /// Returns [`MessageError::WrongLength`] if this kind of message cannot have the declared length.
    #[inline]
    pub(crate) fn check_header(id: u8, declared: u16) -> Result<(), MessageError> {
        let (expected, exact) = match id {
            BOARD_DUMP => (67, true),
            BWTIME => (10, true),
            FIELD_UPDATE | BUSADRES | VERSION => (5, true),
            SERIALNR => (8, true),
            LONG_SERIALNR => (13, true),
            _ => (HEADER as u16, false),
        };
        if declared == expected || (declared > expected && !exact) {
            Ok(())
        } else {
            Err(MessageError::WrongLength {
                id,
                declared,
                expected,
            })
        }
    }

    /// Decodes a frame whose header has passed [`Message::check_header`].
    ///
    /// # Errors
    ///
    /// Returns a [`MessageError`] if the data is invalid.
    #[inline]
    pub(crate) fn from_frame(frame: &'a [u8]) -> Result<Self, MessageError> {
        let [id, _, _, data @ ..] = frame else {
            return Err(MessageError::WrongLength {
                id: 0,
                declared: 0,
                expected: HEADER as u16,
            });
        };
        let id = *id;
        Ok(match id {
            BOARD_DUMP => Self::BoardDump(dump_from_wire(&array(id, data)?)?),
            BWTIME => match ClockReport::decode(array(id, data)?)? {
                ClockReport::Times(times) => Self::ClockTimes(times),
                ClockReport::Ack(ack) => Self::ClockAck(ack),
                ClockReport::Absent(absent) => Self::ClockAbsent(absent),
            },
            FIELD_UPDATE => Self::FieldUpdate(FieldUpdate::from_wire(array(id, data)?)),
            EE_MOVES if eeprom::is_closed(data) => Self::EeMoves(data),
            EE_MOVES => return Err(MessageError::MemoryWithoutEnd),
            BUSADRES => Self::BusAddress(BusAddress::from_wire(array(id, data)?)),
            SERIALNR => Self::SerialNumber(Serial::from_wire(array(id, data)?)?),
            TRADEMARK => Self::Trademark(core::str::from_utf8(data).unwrap_or_default()),
            VERSION => {
                let [major, minor] = array(id, data)?;
                Self::Version { major, minor }
            }
            BATTERY_STATUS if data.len() == BatteryStatus::LENGTH => {
                Self::BatteryStatus(BatteryStatus::from_wire(array(id, data)?)?)
            }
            LONG_SERIALNR => Self::LongSerialNumber(Serial::from_wire(array(id, data)?)?),
            _ => Self::Unknown { id, data },
        })
    }

    fn frame(&self, data: impl ExactSizeIterator<Item = u8>, out: &mut Vec<u8>) {
        septets::encode(self.id(), data.len(), data, out);
    }
}

impl Framing for Message<'_> {
    type Unit<'a> = Message<'a>;
    type Error = MessageError;

    #[inline]
    fn scan(bytes: &[u8]) -> Result<Extent, Rejected<MessageError>> {
        septets::scan(bytes, Message::check_header)
    }

    #[inline]
    fn read(unit: &[u8]) -> Result<Message<'_>, MessageError> {
        Message::from_frame(unit)
    }
}

/// Decodes the piece codes of a board dump.
///
/// # Errors
///
/// Returns [`MessageError::PieceCode`] for the first code above 15.
pub(crate) fn dump_from_wire(codes: &[u8; Field::COUNT]) -> Result<Dump, MessageError> {
    let mut dump = [None; Field::COUNT];
    for (field, (contents, &code)) in dump.iter_mut().zip(codes).enumerate() {
        *contents = Piece::from_code(code).ok_or(MessageError::PieceCode {
            field: field as u8,
            code,
        })?;
    }
    Ok(dump)
}

fn array<const N: usize>(id: u8, data: &[u8]) -> Result<[u8; N], MessageError> {
    let length = |data: usize| (HEADER + data) as u16;
    let wrong = MessageError::WrongLength {
        id,
        declared: length(data.len()),
        expected: length(N),
    };
    data.try_into().map_err(|_| wrong)
}

const BOARD_DUMP: u8 = 0x86;
const BWTIME: u8 = 0x8d;
const FIELD_UPDATE: u8 = 0x8e;
const EE_MOVES: u8 = 0x8f;
const BUSADRES: u8 = 0x90;
const SERIALNR: u8 = 0x91;
const TRADEMARK: u8 = 0x92;
const VERSION: u8 = 0x93;
const BATTERY_STATUS: u8 = 0xa0;
const LONG_SERIALNR: u8 = 0xa2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decoder;
    use crate::clock::ClockTimeError;
    use alloc::vec;

    /// Decodes and re-encodes one message.
    fn reencoded(bytes: &[u8]) -> Result<Vec<u8>, Rejected<MessageError>> {
        let mut result = Ok(vec![]);
        Decoder::new().feed(bytes, |decoded| {
            result = decoded.map(|message| {
                let mut out = vec![];
                message.encode(&mut out);
                out
            });
        });
        result
    }

    fn frame(id: u8, data: &[u8]) -> Vec<u8> {
        [&[id, 0, (HEADER + data.len()) as u8], data].concat()
    }

    #[test]
    fn every_kind_of_message_round_trips() {
        let dump: Vec<u8> = (0..64).map(|field| field % 16).collect();
        for (id, data) in [
            (BOARD_DUMP, &dump[..]),
            (BWTIME, &[0x70, 0x59, 0x59, 0x09, 0x00, 0x01, 0x1f]),
            (BWTIME, &[0x3a, 0x10, 0x08, 0x2a, 0x00, 0x33, 0x00]),
            (BWTIME, &[0x0f, 0x7f, 0x7f, 0x00, 0x00, 0x00, 0x20]),
            (FIELD_UPDATE, &[0x7f, 0x7f]),
            (EE_MOVES, &[0x7f, 0x7f, 0x7f, 0x6a, 0x6b]),
            (EE_MOVES, &[0x6b]),
            (EE_MOVES, &[0x6b, 0x00, 0x7f]),
            (BUSADRES, &[0x08, 0x01]),
            (SERIALNR, b"01025"),
            (TRADEMARK, b"a board of our own\nVersion 1.0"),
            (VERSION, &[1, 8]),
            (BATTERY_STATUS, &[100, 0x7f, 0x7f, 1, 2, 3, 4, 5, 3]),
            (BATTERY_STATUS, &[100, 5, 30, 1]),
            (LONG_SERIALNR, b"3000012345"),
            (0xb0, &[1, 2, 3]),
        ] {
            let bytes = frame(id, data);
            assert_eq!(reencoded(&bytes), Ok(bytes));
        }
    }

    #[test]
    fn each_kind_of_invalid_value_is_reported() {
        let mut dump = [0; 64];
        dump[9] = 0x10;
        for (id, data, error) in [
            (
                BOARD_DUMP,
                &dump[..],
                MessageError::PieceCode { field: 9, code: 0x10 },
            ),
            (
                BWTIME,
                &[0, 0x60, 0, 0, 0, 0, 0],
                ClockTimeError::Minutes { byte: 0x60 }.into(),
            ),
            (
                BWTIME,
                &[0, 0, 0, 0x0c, 0, 0, 0],
                ClockTimeError::Hours { byte: 0x0c }.into(),
            ),
            (SERIALNR, b"0102\0", MessageError::SerialNumber { byte: 0 }),
            (EE_MOVES, &[], MessageError::MemoryWithoutEnd),
            (EE_MOVES, &[0x6a, 0x41, 0x24], MessageError::MemoryWithoutEnd),
        ] {
            let bytes = frame(id, data);
            assert_eq!(reencoded(&bytes), Err(Rejected::invalid(error, bytes.len())));
        }
    }

    #[test]
    fn a_battery_status_of_unexpected_length_is_unknown() {
        let bytes = frame(BATTERY_STATUS, &[80, 5, 30, 1]);
        let mut unknown = false;
        Decoder::new().feed(&bytes, |decoded| {
            unknown = decoded
                == Ok(Message::Unknown {
                    id: BATTERY_STATUS,
                    data: &[80, 5, 30, 1],
                });
        });
        assert!(unknown);
    }

    #[test]
    fn data_beyond_the_fourteen_bit_length_is_truncated() {
        let data = vec![0x40; 20_000];
        let mut bytes = vec![];
        Message::EeMoves(&data).encode(&mut bytes);
        assert_eq!((bytes.len(), &bytes[..3]), (16_383, &[EE_MOVES, 0x7f, 0x7f][..]));
    }

    #[test]
    fn characters_outside_ascii_are_encoded_as_question_marks() {
        let mut bytes = vec![];
        Message::Trademark("Kö\u{85}").encode(&mut bytes);
        assert_eq!(bytes, frame(TRADEMARK, b"K??"));
    }
}
