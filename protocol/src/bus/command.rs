//! What a host sends to a board on a bus.

use alloc::vec::Vec;

use super::checksum;
use crate::address::BusAddress;
use crate::counters::{Counted, Counters};
use crate::framing::{self, Extent, Framing};
use crate::rejected::Rejected;

/// One command to a board on a bus.
///
/// The answer takes milliseconds, up to 20 ms while the board writes its memory; give up after
/// 80 ms. A board's input buffer holds one command.
///
/// ```
/// use kiebitz_protocol::{BusAddress, BusCommand, BusCommandKind};
///
/// let address = BusAddress::new(1025).unwrap();
/// let command = BusCommand { kind: BusCommandKind::Changes, address };
/// assert_eq!(command.encode(), [0x83, 0x08, 0x01, 0x0c]);
/// assert_eq!(BusCommand::decode([0x83, 0x08, 0x01, 0x0c]), Ok(command));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct BusCommand {
    /// What the board is to do.
    pub kind: BusCommandKind,
    /// Which board is to do it.
    pub address: BusAddress,
}

/// What a board on a bus is to do.
///
/// Exhaustive, so that an emulator's `match` has to answer all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[repr(u8)]
pub enum BusCommandKind {
    /// Send the clock (0x81).
    Clock = 0x81,
    /// Send all fields (0x82).
    Board = 0x82,
    /// Send what changed since the last request (0x83).
    Changes = 0x83,
    /// Send the last changes again (0x84), after a wrong checksum.
    RepeatChanges = 0x84,
    /// Write a start tag and all pieces to the board's memory (0x85). Answered after about 70 ms.
    ///
    /// Send it only when a game starts.
    SetStart = 0x85,
    /// Send everything from the start tag (0x86).
    FromStart = 0x86,
    /// Answer (0x87). To address 0 every board answers at a random moment within 1.1 s.
    Ping = 0x87,
    /// Leave bus mode (0x88). Never send it to boards in play.
    EndBusMode = 0x88,
    /// Restart, which takes seconds (0x89). Never send it to boards in play.
    Reset = 0x89,
    /// Do not answer the next ping to address 0 (0x8a). Answered with a ping.
    IgnoreNextPing = 0x8a,
    /// Send the version (0x8b).
    Version = 0x8b,
    /// Send changes, clock and board, one answer after the other (0x8d).
    ChangesClockBoard = 0x8d,
}

impl BusCommandKind {
    /// All kinds in the order of their ids.
    pub const ALL: [Self; 12] = [
        Self::Clock,
        Self::Board,
        Self::Changes,
        Self::RepeatChanges,
        Self::SetStart,
        Self::FromStart,
        Self::Ping,
        Self::EndBusMode,
        Self::Reset,
        Self::IgnoreNextPing,
        Self::Version,
        Self::ChangesClockBoard,
    ];

    /// Returns the id, bit 7 set.
    pub const fn id(self) -> u8 {
        self as u8
    }

    /// Returns the kind with this id, `None` for an undocumented id.
    pub fn from_id(id: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.id() == id)
    }
}

impl BusCommand {
    /// The length of every bus command in bytes.
    pub const LENGTH: usize = 4;

    /// Returns the command as it is sent.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::LENGTH] {
        let [high, low] = self.address.to_wire();
        let head = [self.kind.id(), high, low];
        [head[0], high, low, checksum::of(&head)]
    }

    /// Appends the command as it is sent.
    pub fn encode_to(&self, out: &mut Vec<u8>) {
        out.extend(self.encode());
    }

    /// Reads one command.
    ///
    /// # Errors
    ///
    /// [`BusCommandError`] for an unknown id, a wrong checksum or an address with bit 7.
    pub fn decode(wire: [u8; Self::LENGTH]) -> Result<Self, BusCommandError> {
        let [id, high, low, found] = wire;
        let expected = checksum::of(&wire[..3]);
        if found != expected || (high | low) & 0x80 != 0 {
            return Err(BusCommandError::Checksum { id, expected, found });
        }
        let kind = BusCommandKind::from_id(id).ok_or(BusCommandError::UnknownId { id })?;
        Ok(Self {
            kind,
            address: BusAddress::from_wire([high, low]),
        })
    }
}

impl Framing for BusCommand {
    type Unit<'a> = Self;
    type Error = BusCommandError;

    fn scan(bytes: &[u8]) -> Result<Extent, Rejected<BusCommandError>> {
        match *bytes {
            [id, ..] if id >= 0x80 => framing::scan_marked(bytes, Self::LENGTH, None),
            _ => Err(Rejected::skipped(framing::low_run(bytes))),
        }
    }

    fn read(unit: &[u8]) -> Result<Self, BusCommandError> {
        let id = unit.first().copied().unwrap_or_default();
        let wire = unit.try_into().map_err(|_| BusCommandError::UnknownId { id })?;
        Self::decode(wire)
    }
}

/// Why four bytes are not a bus command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum BusCommandError {
    /// The id is undocumented; the checksum is right.
    #[error("bus command {id:#04x} is not known")]
    UnknownId {
        /// The id.
        id: u8,
    },
    /// The checksum is wrong, or the address has bit 7.
    #[error("bus command {id:#04x} has checksum {found:#04x} instead of {expected:#04x}")]
    Checksum {
        /// The id.
        id: u8,
        /// The sum of the bytes before it.
        expected: u8,
        /// The byte that was sent.
        found: u8,
    },
}

impl Counted for BusCommandError {
    fn counter<'c>(&self, counters: &'c mut Counters) -> &'c mut u64 {
        match self {
            Self::UnknownId { .. } => &mut counters.unknown_command,
            Self::Checksum { .. } => &mut counters.wrong_checksum,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_of_the_description_is_found() {
        let wire = [0x81, 0x10, 0x06, 0x17];
        let command = BusCommand::decode(wire).unwrap();
        assert_eq!(command.kind, BusCommandKind::Clock);
        assert_eq!(command.encode(), wire);
    }

    #[test]
    fn every_kind_is_found_by_its_id() {
        assert!(
            BusCommandKind::ALL
                .iter()
                .all(|kind| BusCommandKind::from_id(kind.id()) == Some(*kind))
        );
        assert_eq!((0..=255).filter_map(BusCommandKind::from_id).count(), 12);
    }

    #[test]
    fn a_flipped_bit_is_found() {
        let wire = BusCommand {
            kind: BusCommandKind::Ping,
            address: BusAddress::ALL,
        }
        .encode();
        for bit in 0..32 {
            let mut flipped = wire;
            flipped[bit / 8] ^= 1 << (bit % 8);
            // The sum has seven bits, so it does not cover bit 7 of the id.
            if bit != 7 {
                assert!(BusCommand::decode(flipped).is_err(), "bit {bit}");
            }
        }
    }
}
