use core::fmt;

use crate::septets;

/// The 14-bit address of a board on a bus (BUSADRES), equal to its serial number.
///
/// ```
/// use kiebitz_protocol::{BusAddress, Message};
///
/// let address = BusAddress::new(1025).unwrap();
/// let mut bytes = Vec::new();
/// Message::BusAddress(address).encode(&mut bytes);
/// assert_eq!(bytes, [0x90, 0x00, 0x05, 0x08, 0x01]);
/// assert_eq!(BusAddress::new(16_384), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BusAddress(u16);

impl BusAddress {
    /// Broadcast address, used for pings.
    pub const ALL: Self = Self(0);

    /// Returns the address with this number, or `None` if the number is above 16,383.
    pub const fn new(number: u16) -> Option<Self> {
        if number <= septets::MAX {
            Some(Self(number))
        } else {
            None
        }
    }

    /// Returns the number, 0 to 16,383.
    pub const fn number(self) -> u16 {
        self.0
    }

    pub(crate) const fn from_wire([high, low]: [u8; 2]) -> Self {
        Self(septets::join(high, low))
    }

    pub(crate) const fn to_wire(self) -> [u8; 2] {
        septets::split(self.0)
    }
}

impl From<BusAddress> for u16 {
    fn from(address: BusAddress) -> Self {
        address.0
    }
}

/// Formats the address as a serial number, with five digits.
impl fmt::Display for BusAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:05}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn every_address_round_trips_as_two_seven_bit_bytes() {
        let addresses = (0..=u16::MAX).filter_map(BusAddress::new);
        assert_eq!(addresses.clone().count(), 1 << 14);
        assert!(
            addresses
                .clone()
                .all(|address| BusAddress::from_wire(address.to_wire()) == address)
        );
        assert!(
            addresses
                .map(BusAddress::to_wire)
                .all(|[high, low]| (high | low) < 0x80)
        );
    }

    #[test]
    fn an_address_is_displayed_as_the_serial_number() {
        assert_eq!(BusAddress(1025).to_string(), "01025");
    }
}
