use alloc::vec::Vec;

use super::checksum;
use crate::address::BusAddress;
use crate::clock::ClockReport;
use crate::counters::{Counted, Counters};
use crate::dump::{self, Dump};
use crate::framing::{Extent, Framing};
use crate::message::{self, MessageError};
use crate::rejected::Rejected;
use crate::septets::{self, HEADER};

/// An answer from a board on a bus.
///
/// ```
/// use kiebitz_protocol::{BusAddress, BusAnswer, BusData};
///
/// let answer = BusAnswer { address: BusAddress::new(1025).unwrap(), data: BusData::Ping };
/// let mut bytes = Vec::new();
/// answer.encode(&mut bytes);
/// assert_eq!(bytes, [0x87, 0x00, 0x06, 0x08, 0x01, 0x16]);
/// assert_eq!(BusAnswer::decode(&bytes), Ok(answer));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct BusAnswer<'a> {
    /// Address of the answering board.
    pub address: BusAddress,
    /// Payload of the answer.
    pub data: BusData<'a>,
}

/// The payload of an answer.
///
/// The enum is exhaustive: [`BusData::Unknown`] covers all undocumented ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum BusData<'a> {
    /// The contents of all 64 fields (0x83).
    Board(Dump),
    /// The clock's report (0x84).
    Clock(ClockReport),
    /// Changes since the last request (0x85); [`eeprom::elements`](crate::eeprom::elements) decodes them.
    Changes(&'a [u8]),
    /// The board's memory from the start tag on (0x86); [`eeprom::elements`](crate::eeprom::elements) decodes it.
    FromStart(&'a [u8]),
    /// The board is present (0x87).
    Ping,
    /// The start tag has been written (0x88).
    StartWritten,
    /// The firmware version (0x89).
    Version {
        /// Number before the dot, 0 to 127.
        major: u8,
        /// Number after the dot, 0 to 127.
        minor: u8,
    },
    /// An undocumented answer with a valid checksum. Its data is not decoded.
    Unknown {
        /// The id with bit 7 set.
        id: u8,
        /// The bytes between address and checksum, each below 0x80.
        data: &'a [u8],
    },
}

impl BusData<'_> {
    /// Returns the id of the answer, with bit 7 set.
    pub const fn id(&self) -> u8 {
        match self {
            Self::Board(_) => BOARD,
            Self::Clock(_) => CLOCK,
            Self::Changes(_) => CHANGES,
            Self::FromStart(_) => FROM_START,
            Self::Ping => PING,
            Self::StartWritten => START_WRITTEN,
            Self::Version { .. } => VERSION,
            Self::Unknown { id, .. } => *id | 0x80,
        }
    }
}

impl<'a> BusAnswer<'a> {
    /// Appends the encoded answer, including its checksum, to `out`.
    ///
    /// The result is always one well-formed answer; see [`Message::encode`](crate::Message::encode).
    /// Data is truncated to 16,377 bytes, the maximum of an answer.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self.data {
            BusData::Board(ref dump) => self.frame(dump.iter().map(|&contents| dump::code_of(contents)), out),
            BusData::Clock(report) => self.frame(report.to_wire().into_iter(), out),
            BusData::Changes(data) | BusData::FromStart(data) | BusData::Unknown { data, .. } => {
                self.frame(data.iter().copied(), out);
            }
            BusData::Ping | BusData::StartWritten => self.frame([].into_iter(), out),
            BusData::Version { major, minor } => {
                self.frame([major, minor].map(|n| n.min(0x7f)).into_iter(), out)
            }
        }
    }

    /// Decodes one complete answer.
    ///
    /// # Errors
    ///
    /// Returns a [`BusAnswerError`] if the checksum, the length or the data is invalid.
    pub fn decode(wire: &'a [u8]) -> Result<Self, BusAnswerError> {
        let (id, high, low, address, data, found) = match *wire {
            [id, high, low, a, b, ref data @ .., found] => (id, high, low, [a, b], data, found),
            _ => {
                return Err(wrong_length(
                    wire.first().copied().unwrap_or_default(),
                    wire.len(),
                    MIN_LENGTH,
                ));
            }
        };
        let declared = septets::join(high, low);
        Self::check_header(id, declared)?;
        if usize::from(declared) != wire.len() {
            return Err(wrong_length(id, wire.len(), declared));
        }
        let expected = checksum::of(&wire[..wire.len() - 1]);
        let address = BusAddress::from_wire(address);
        if expected != found || wire[1..].iter().any(|byte| *byte >= 0x80) {
            return Err(BusAnswerError::Checksum {
                id,
                address,
                expected,
                found,
            });
        }
        let wrong_data_length = wrong_length(id, wire.len(), MIN_LENGTH);
        let data = match id {
            BOARD => BusData::Board(message::dump_from_wire(
                data.try_into().map_err(|_| wrong_data_length)?,
            )?),
            CLOCK => {
                let report = ClockReport::decode(data.try_into().map_err(|_| wrong_data_length)?);
                BusData::Clock(report.map_err(MessageError::from)?)
            }
            CHANGES => BusData::Changes(data),
            FROM_START => BusData::FromStart(data),
            PING => BusData::Ping,
            START_WRITTEN => BusData::StartWritten,
            VERSION => match *data {
                [major, minor] => BusData::Version { major, minor },
                _ => return Err(wrong_data_length),
            },
            _ => BusData::Unknown { id, data },
        };
        Ok(Self { address, data })
    }

    /// Checks the id and declared length of a header before the data has arrived.
    ///
    /// # Errors
    ///
    /// Returns [`MessageError::WrongLength`] if this kind of answer cannot have the declared length.
    fn check_header(id: u8, declared: u16) -> Result<(), BusAnswerError> {
        let (expected, exact) = match id {
            BOARD => (MIN_LENGTH + 64, true),
            CLOCK => (MIN_LENGTH + 7, true),
            PING | START_WRITTEN => (MIN_LENGTH, true),
            VERSION => (MIN_LENGTH + 2, true),
            _ => (MIN_LENGTH, false),
        };
        if declared == expected || (declared > expected && !exact) {
            Ok(())
        } else {
            Err(MessageError::WrongLength {
                id,
                declared,
                expected,
            }
            .into())
        }
    }

    fn frame(&self, data: impl ExactSizeIterator<Item = u8>, out: &mut Vec<u8>) {
        let length = data.len().min(usize::from(septets::MAX - MIN_LENGTH));
        let body = self
            .address
            .to_wire()
            .into_iter()
            .chain(data.take(length))
            .chain([0]);
        let start = septets::encode(
            self.data.id(),
            length + usize::from(MIN_LENGTH) - HEADER,
            body,
            out,
        );
        if let Some((sum, before)) = out[start..].split_last_mut() {
            *sum = checksum::of(before);
        }
    }
}

impl Framing for BusAnswer<'_> {
    type Unit<'a> = BusAnswer<'a>;
    type Error = BusAnswerError;

    #[inline]
    fn scan(bytes: &[u8]) -> Result<Extent, Rejected<BusAnswerError>> {
        septets::scan(bytes, BusAnswer::check_header)
    }

    #[inline]
    fn read(unit: &[u8]) -> Result<BusAnswer<'_>, BusAnswerError> {
        BusAnswer::decode(unit)
    }
}

/// Why a correctly framed bus answer was dropped.
///
/// ```
/// use kiebitz_protocol::{BusAnswer, BusAnswerError};
///
/// let error = BusAnswer::decode(&[0x87, 0x00, 0x06, 0x08, 0x01, 0x17]).unwrap_err();
/// assert!(matches!(error, BusAnswerError::Checksum { expected: 0x16, found: 0x17, .. }));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum BusAnswerError {
    /// The checksum is wrong, or a byte after the id has bit 7 set.
    ///
    /// Repeat the request. If it was for changes, send [`RepeatChanges`](super::BusCommandKind::RepeatChanges); a
    /// second [`Changes`](super::BusCommandKind::Changes) would lose them.
    #[error("answer {id:#04x} of {address} has checksum {found:#04x} instead of {expected:#04x}")]
    Checksum {
        /// The received id, with bit 7 set. May be corrupt.
        id: u8,
        /// The received address. May be corrupt.
        address: BusAddress,
        /// Checksum of the received bytes.
        expected: u8,
        /// The received checksum.
        found: u8,
    },
    /// The length or the data is invalid.
    #[error(transparent)]
    Data(#[from] MessageError),
}

impl Counted for BusAnswerError {
    fn counter<'c>(&self, counters: &'c mut Counters) -> &'c mut u64 {
        match self {
            Self::Checksum { .. } => &mut counters.wrong_checksum,
            Self::Data(error) => error.counter(counters),
        }
    }
}

fn wrong_length(id: u8, bytes: usize, expected: u16) -> BusAnswerError {
    let declared = bytes.try_into().unwrap_or(u16::MAX);
    MessageError::WrongLength {
        id,
        declared,
        expected,
    }
    .into()
}

/// Length in bytes of an answer without data: header, address and checksum.
const MIN_LENGTH: u16 = 6;

const BOARD: u8 = 0x83;
const CLOCK: u8 = 0x84;
const CHANGES: u8 = 0x85;
const FROM_START: u8 = 0x86;
const PING: u8 = 0x87;
const START_WRITTEN: u8 = 0x88;
const VERSION: u8 = 0x89;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    const PING_ANSWER: [u8; 6] = [0x87, 0x00, 0x06, 0x08, 0x01, 0x16];

    #[test]
    fn a_wrong_checksum_is_reported_with_the_address() {
        let mut wire = PING_ANSWER;
        wire[5] ^= 1;
        let address = BusAddress::new(1025).unwrap();
        let error = BusAnswerError::Checksum {
            id: 0x87,
            address,
            expected: 0x16,
            found: 0x17,
        };
        assert_eq!(BusAnswer::decode(&wire), Err(error));
    }

    #[test]
    fn an_answer_of_any_other_length_is_refused() {
        let longer = [&PING_ANSWER[..], &[0]].concat();
        assert!(BusAnswer::decode(&longer).is_err());
        for length in 0..PING_ANSWER.len() {
            assert!(BusAnswer::decode(&PING_ANSWER[..length]).is_err());
        }
    }

    #[test]
    fn changes_too_long_for_an_answer_are_truncated() {
        let data = vec![0x7f; 20_000];
        let address = BusAddress::ALL;
        let mut wire = vec![];
        BusAnswer {
            address,
            data: BusData::Changes(&data),
        }
        .encode(&mut wire);
        let read = BusAnswer::decode(&wire).unwrap();
        assert_eq!(read.data, BusData::Changes(&data[..16_377]));
    }
}
