//! One entry of the board's memory.

use alloc::vec::Vec;

use crate::bcd;
use crate::dump::{self, Contents};
use crate::field::Field;

/// One entry of the board's memory (EE_MOVES).
///
/// Only a board that kept its power has recorded what happened while no host listened.
///
/// Exhaustive: a byte that begins no element is an [`ElementError`](crate::ElementError).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Element {
    /// A field changed (0x40 to 0x5f, then the field).
    ///
    /// When one piece flickers between the same fields, the board overwrites the last change.
    PieceChange {
        /// The field's new contents, `None` when it was emptied.
        contents: Contents,
        /// The field.
        field: Field,
        /// Less than about 250 ms after the change before it.
        quick: bool,
    },
    /// The time of the side that the lever stopped (0x60 to 0x69, 0x70 to 0x79).
    ///
    /// May be missing when presses follow each other fast. Start times are not recorded.
    ClockTime {
        /// The side on the left as seen from the front of the clock; otherwise the right.
        left: bool,
        /// Hours, 0 to 9.
        hours: u8,
        /// Minutes, 0 to 59.
        minutes: u8,
        /// Seconds, 0 to 59.
        seconds: u8,
    },
    /// The board powered up (0x6a); the pieces found follow as changes, in any order.
    PowerUp,
    /// The end of the record (0x6b).
    End,
    /// Sixteen pieces stand on the rows of the a, b, g and h files, in no normal start position (0x6c).
    ///
    /// Seen with start positions of Chess960.
    FourRowsFilled,
    /// The board is empty (0x6d).
    EmptyBoard,
    /// A host read the memory (0x6e).
    Downloaded,
    /// The start position with the connector on White's left (0x6f).
    StartPosition,
    /// The start position with the board turned (0x7a).
    StartPositionTurned,
    /// A start tag, written at a host's request (0x7b); all pieces follow as changes.
    StartTag,
    /// The board's watchdog restarted it (0x7c); a power-up follows.
    Watchdog,
    /// Padding (0x7f or 0x00, written as 0x7f).
    Nothing,
}

impl Element {
    /// Appends the element as it is recorded in the board's memory.
    ///
    /// A time above its range is written as the highest possible.
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

    /// Returns the element that is this one byte, `None` if there is none.
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
