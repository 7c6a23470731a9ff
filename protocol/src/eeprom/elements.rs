use core::iter::FusedIterator;

use super::element::{Element, LEFT, QUICK};
use crate::bcd;
use crate::field::Field;
use crate::piece::Piece;

/// Decodes the data of [`Message::EeMoves`](crate::Message::EeMoves) or of a bus answer with changes.
///
/// The oldest element comes first. The memory is a ring buffer, so the first byte of the oldest element may be
/// overwritten and its rest reported as an error. After an error, decoding resumes at the next byte that can
/// begin an element. The iterator yields [`Element::End`] like any other element; nothing should follow it.
///
/// ```
/// use kiebitz_protocol::{Element, Field, Piece, eeprom};
///
/// let e4 = Field::new(36).unwrap();
/// // The operand of an overwritten change, a pawn on e4, the end.
/// let read: Vec<_> = eeprom::elements(&[0x3c, 0x41, 0x24, 0x6b]).collect();
/// assert_eq!(read[0].unwrap_err().dropped, 1);
/// let change = Element::PieceChange { contents: Some(Piece::WhitePawn), field: e4, quick: false };
/// assert_eq!(read[1..], [Ok(change), Ok(Element::End)]);
/// ```
pub fn elements(data: &[u8]) -> Elements<'_> {
    Elements {
        rest: data,
        offset: 0,
    }
}

/// Returns whether a memory dump ends with [`Element::End`], followed by nothing but padding.
pub(crate) fn is_closed(data: &[u8]) -> bool {
    let last = elements(data)
        .filter(|element| *element != Ok(Element::Nothing))
        .last();
    last == Some(Ok(Element::End))
}

/// Iterator over the elements of a board's memory, returned by [`elements`].
#[derive(Debug, Clone)]
#[must_use = "iterators are lazy"]
pub struct Elements<'a> {
    rest: &'a [u8],
    offset: usize,
}

impl Elements<'_> {
    fn advance(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
        self.offset += bytes;
    }
}

impl Iterator for Elements<'_> {
    type Item = Result<Element, ElementError>;

    fn next(&mut self) -> Option<Self::Item> {
        let tag = *self.rest.first()?;
        Some(match first_element(tag, self.rest) {
            Ok((element, length)) => {
                self.advance(length);
                Ok(element)
            }
            Err((kind, consumed)) => {
                let dropped = consumed
                    + self
                        .rest
                        .iter()
                        .skip(consumed)
                        .take_while(|&&byte| !begins_element(byte))
                        .count();
                let error = ElementError {
                    kind,
                    offset: self.offset,
                    dropped,
                };
                self.advance(dropped);
                Err(error)
            }
        })
    }
}

impl FusedIterator for Elements<'_> {}

/// Dropped bytes of the board's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[error("{kind} (at offset {offset}, bytes dropped: {dropped})")]
#[non_exhaustive]
pub struct ElementError {
    /// Reason for the drop.
    pub kind: ElementErrorKind,
    /// Offset of the first dropped byte from the start of the data.
    pub offset: usize,
    /// Number of dropped bytes, at least 1.
    pub dropped: usize,
}

/// Why bytes of the board's memory are not an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum ElementErrorKind {
    /// No element begins with this byte.
    #[error("element {tag:#04x} is not known")]
    UnknownTag {
        /// The byte.
        tag: u8,
    },
    /// A piece change names a field above 63.
    #[error("piece change on wrong field {byte:#04x}")]
    FieldNumber {
        /// The byte found in place of a field number.
        byte: u8,
    },
    /// The minutes or seconds of a clock time are not a BCD number up to 59.
    #[error("clock time has wrong minutes or seconds {byte:#04x}")]
    ClockTime {
        /// The byte found in place of the minutes or seconds.
        byte: u8,
    },
    /// The data ends inside the element.
    #[error("element {tag:#04x} cut off by the end of the data")]
    CutOff {
        /// First byte of the element.
        tag: u8,
    },
}

/// Decodes the element at the start of `bytes` and returns it with its length in bytes.
///
/// # Errors
///
/// Returns the reason, and the number of bytes that cannot begin the next element.
fn first_element(tag: u8, bytes: &[u8]) -> Result<(Element, usize), (ElementErrorKind, usize)> {
    let operand = |at: usize| {
        bytes
            .get(at)
            .copied()
            .ok_or((ElementErrorKind::CutOff { tag }, at))
    };
    let sixtieths = |at: usize| {
        let byte = operand(at)?;
        bcd::sixtieths(byte).ok_or((ElementErrorKind::ClockTime { byte }, at))
    };
    match tag {
        0x40..=0x5f => {
            let byte = operand(1)?;
            let field = Field::new(byte).ok_or((ElementErrorKind::FieldNumber { byte }, 1))?;
            let contents = Piece::from_low_bits(tag);
            Ok((
                Element::PieceChange {
                    contents,
                    field,
                    quick: tag & QUICK != 0,
                },
                2,
            ))
        }
        0x60..=0x69 | 0x70..=0x79 => {
            let (minutes, seconds) = (sixtieths(1)?, sixtieths(2)?);
            Ok((
                Element::ClockTime {
                    left: tag & LEFT != 0,
                    hours: tag & 0x0f,
                    minutes,
                    seconds,
                },
                3,
            ))
        }
        _ => Element::single(tag)
            .map(|element| (element, 1))
            .ok_or((ElementErrorKind::UnknownTag { tag }, 1)),
    }
}

/// Returns whether decoding can resume at this byte after an error.
///
/// A 0x00 is skipped: it can be padding, but after an error it is more often the operand of a lost element.
const fn begins_element(byte: u8) -> bool {
    matches!(byte, 0x40..=0x7c | 0x7f)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn read(data: &[u8]) -> Vec<Result<Element, (ElementErrorKind, usize, usize)>> {
        elements(data)
            .map(|element| element.map_err(|e| (e.kind, e.offset, e.dropped)))
            .collect()
    }

    #[test]
    fn a_power_up_with_its_pieces_is_decoded() {
        let change = |code, field, quick| Element::PieceChange {
            contents: Piece::from_low_bits(code),
            field: Field::from_low_bits(field),
            quick,
        };
        let data = [0x7f, 0x7f, 0x7f, 0x6a, 0x48, 0x00, 0x52, 0x3f, 0x6b];
        let expected = [
            Element::Nothing,
            Element::Nothing,
            Element::Nothing,
            Element::PowerUp,
            change(8, 0, false),
            change(2, 63, true),
            Element::End,
        ];
        assert_eq!(read(&data), expected.map(Ok));
    }

    #[test]
    fn times_of_both_sides_are_decoded() {
        let time = |left, hours, minutes, seconds| {
            Ok(Element::ClockTime {
                left,
                hours,
                minutes,
                seconds,
            })
        };
        assert_eq!(
            read(&[0x60, 0x05, 0x00, 0x79, 0x59, 0x59]),
            [time(false, 0, 5, 0), time(true, 9, 59, 59)]
        );
    }

    #[test]
    fn decoding_resumes_at_an_invalid_operand_that_begins_an_element() {
        let unknown = |byte| Err((ElementErrorKind::FieldNumber { byte }, 0, 1));
        assert_eq!(read(&[0x41, 0x6f]), [unknown(0x6f), Ok(Element::StartPosition)]);
        let time = Err((ElementErrorKind::ClockTime { byte: 0x6e }, 0, 2));
        assert_eq!(read(&[0x65, 0x10, 0x6e]), [time, Ok(Element::Downloaded)]);
    }

    #[test]
    fn bytes_that_cannot_begin_an_element_are_dropped_with_the_error() {
        let error = Err((ElementErrorKind::ClockTime { byte: 0x3f }, 0, 4));
        assert_eq!(
            read(&[0x65, 0x3f, 0x20, 0x00, 0x6d]),
            [error, Ok(Element::EmptyBoard)]
        );
        let error = Err((ElementErrorKind::UnknownTag { tag: 0x7d }, 0, 3));
        assert_eq!(read(&[0x7d, 0x7e, 0x80, 0x7c]), [error, Ok(Element::Watchdog)]);
    }

    #[test]
    fn an_element_cut_off_by_the_end_is_an_error() {
        for (data, tag) in [(&[0x41][..], 0x41), (&[0x70], 0x70), (&[0x70, 0x59], 0x70)] {
            assert_eq!(
                read(data),
                [Err((ElementErrorKind::CutOff { tag }, 0, data.len()))]
            );
        }
    }
}
