use alloc::vec::Vec;

use crate::bcd;
use crate::dump::{self, Contents};
use crate::field::Field;

/// An entry of the board's memory (EE_MOVES).
///
/// The board records changes without a host as well, as long as it has power.
///
/// The enum is exhaustive: bytes that do not form an element are an [`ElementError`](crate::ElementError).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Element {
    /// A field changed (0x40 to 0x5f, then the field).
    ///
    /// If one piece flickers between the same fields, the board overwrites its last change.
    PieceChange {
        /// New contents of the field; `None` if it became empty.
        contents: Contents,
        /// The changed field.
        field: Field,
        /// Whether the change came less than about 250 ms after the previous change.
        quick: bool,
    },
    /// The time of the side that a press of the lever stopped (0x60 to 0x69, 0x70 to 0x79).
    ///
    /// May be missing if the lever is pressed several times in quick succession. Start times are not recorded.
    ClockTime {
        /// Whether this is the time of the left side, as seen from the front of the clock; otherwise of the right.
        left: bool,
        /// Hours, 0 to 9.
        hours: u8,
        /// Minutes, 0 to 59.
        minutes: u8,
        /// Seconds, 0 to 59.
        seconds: u8,
    },
    /// The board powered up (0x6a). Its pieces follow as changes, in any order.
    PowerUp,
    /// The end of the record (0x6b).
    End,
    /// Sixteen pieces stand on the rows of the a, b, g and h files, not in a normal start position (0x6c).
    ///
    /// Observed with start positions of Chess960.
    FourRowsFilled,
    /// The board is empty (0x6d).
    EmptyBoard,
    /// A host read the memory (0x6e).
    Downloaded,
    /// The start position with the connector on White's left (0x6f).
    StartPosition,
    /// The start position with the connector on White's right (0x7a).
    StartPositionTurned,
    /// A start tag, written at a host's request (0x7b). All pieces follow as changes.
    StartTag,
    /// The watchdog restarted the board (0x7c). A power-up follows.
    Watchdog,
    /// Padding (0x7f or 0x00; encoded as 0x7f).
    Nothing,
}

impl Element {
    /// Appends the encoded element to `out`.
    ///
    /// Encoding clamps a time above its range to the maximum.
    ///
    /// ```
    /// use kiebitz_protocol::{Element, eeprom};
    ///
    /// let time = Element::ClockTime { left: true, hours: 1, minutes: 29, seconds: 58 };
    /// let mut bytes = Vec::new();
    /// time.encode(&mut bytes);
    /// assert_eq!(bytes, [0x71, 0x29, 0x58]);
    /// assert_eq!(eeprom::elements(&bytes).next(), Some(Ok(time)));
    /// ```
    pub fn encode(&self, out: &mut Vec<u8>) {
        match *self {
            Self::PieceChange {
                contents,
                field,
                quick,
            } => {
                let quick = if quick { QUICK } else { 0 };
                out.extend([PIECE_CHANGE | quick | dump::code_of(contents), field.number()]);
            }
            Self::ClockTime {
                left,
                hours,
                minutes,
                seconds,
            } => {
                let side = if left { LEFT } else { 0 };
                out.extend([
                    CLOCK_TIME | side | bcd::digit(hours),
                    bcd::from_sixtieths(minutes),
                    bcd::from_sixtieths(seconds),
                ]);
            }
            Self::PowerUp => out.push(0x6a),
            Self::End => out.push(0x6b),
            Self::FourRowsFilled => out.push(0x6c),
            Self::EmptyBoard => out.push(0x6d),
            Self::Downloaded => out.push(0x6e),
            Self::StartPosition => out.push(0x6f),
            Self::StartPositionTurned => out.push(0x7a),
            Self::StartTag => out.push(0x7b),
            Self::Watchdog => out.push(0x7c),
            Self::Nothing => out.push(0x7f),
        }
    }

    /// Returns the one-byte element with this code, or `None` if there is no such element.
    pub(super) const fn single(byte: u8) -> Option<Self> {
        Some(match byte {
            0x6a => Self::PowerUp,
            0x6b => Self::End,
            0x6c => Self::FourRowsFilled,
            0x6d => Self::EmptyBoard,
            0x6e => Self::Downloaded,
            0x6f => Self::StartPosition,
            0x7a => Self::StartPositionTurned,
            0x7b => Self::StartTag,
            0x7c => Self::Watchdog,
            0x7f | 0x00 => Self::Nothing,
            _ => return None,
        })
    }
}

pub(super) const PIECE_CHANGE: u8 = 0x40;
pub(super) const QUICK: u8 = 0x10;
pub(super) const CLOCK_TIME: u8 = 0x60;
pub(super) const LEFT: u8 = 0x10;
