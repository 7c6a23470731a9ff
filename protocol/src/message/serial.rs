use core::fmt;

use super::error::MessageError;
use crate::address::BusAddress;

/// The serial number of a board, 5 characters (SERIALNR).
///
/// ```
/// use kiebitz_protocol::SerialNumber;
///
/// let serial = SerialNumber::new(*b"01025").unwrap();
/// assert_eq!(serial.as_str(), "01025");
/// assert_eq!(serial.bus_address().map(|address| address.number()), Some(1025));
/// ```
pub type SerialNumber = Serial<5>;

/// The long serial number of a board, 10 characters (LONG_SERIALNR).
///
/// ```
/// use kiebitz_protocol::{LongSerialNumber, Message};
///
/// let serial = LongSerialNumber::new(*b"3000012345").unwrap();
/// let mut bytes = Vec::new();
/// Message::LongSerialNumber(serial).encode(&mut bytes);
/// assert_eq!(bytes, *b"\xa2\x00\x0d3000012345");
/// ```
pub type LongSerialNumber = Serial<10>;

/// A serial number of `N` printable ASCII characters.
///
/// Serial numbers are documented as ASCII digits. Other printable characters are accepted, so that a board with
/// an unusual serial number works.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Serial<const N: usize>([u8; N]);

impl<const N: usize> Serial<N> {
    /// Returns the serial number with these characters, or `None` if one of them is not printable ASCII.
    pub fn new(characters: [u8; N]) -> Option<Self> {
        Self::from_wire(characters).ok()
    }

    /// Returns the serial number as a string.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.0).unwrap_or_default()
    }

    pub(crate) fn from_wire(characters: [u8; N]) -> Result<Self, MessageError> {
        match characters.iter().find(|byte| !(b' '..=b'~').contains(byte)) {
            Some(&byte) => Err(MessageError::SerialNumber { byte }),
            None => Ok(Self(characters)),
        }
    }

    pub(crate) const fn to_wire(self) -> [u8; N] {
        self.0
    }
}

impl SerialNumber {
    /// Returns the board's address on a bus, which equals its serial number, or `None` if the serial number is
    /// not a number up to 16,383.
    ///
    /// Confirm the address with a ping.
    pub fn bus_address(&self) -> Option<BusAddress> {
        self.as_str().parse().ok().and_then(BusAddress::new)
    }
}

impl<const N: usize> fmt::Display for Serial<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl<const N: usize> fmt::Debug for Serial<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Serial").field(&self.as_str()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_not_a_serial_number() {
        assert_eq!(
            Serial::from_wire(*b"12\x0045"),
            Err(MessageError::SerialNumber { byte: 0 })
        );
        assert_eq!(SerialNumber::new(*b"1234\x7f"), None);
        assert!(LongSerialNumber::new(*b"3 00012345").is_some());
    }

    #[test]
    fn a_serial_number_beyond_fourteen_bits_or_not_numeric_has_no_bus_address() {
        assert_eq!(
            SerialNumber::new(*b"16384").and_then(|serial| serial.bus_address()),
            None
        );
        assert_eq!(
            SerialNumber::new(*b"A0001").and_then(|serial| serial.bus_address()),
            None
        );
    }
}
