use alloc::vec::Vec;

use super::checksum;
use crate::address::BusAddress;
use crate::counters::{Counted, Counters};
use crate::framing::{self, Extent, Framing};
use crate::rejected::Rejected;

/// A command to a board on a bus.
///
/// A board answers within milliseconds, or up to 20 ms while it writes its memory. Use a timeout of 80 ms.
/// A board's input buffer holds one command.
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
    /// Kind of the command.
    pub kind: BusCommandKind,
    /// Address of the board.
    pub address: BusAddress,
}

/// The kind of a bus command.
///
/// The enum is exhaustive, so that an emulator's `match` has to handle every kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[repr(u8)]
pub enum BusCommandKind {
    /// Send the clock's report (0x81).
    Clock = 0x81,
    /// Send all fields (0x82).
    Board = 0x82,
    /// Send the changes since the last request (0x83).
    Changes = 0x83,
    /// Send the last changes again (0x84). Use it after an answer with a wrong checksum.
    RepeatChanges = 0x84,
    /// Write a start tag and all pieces to the board's memory (0x85). Answered after about 70 ms.
    ///
    /// Send it only when a game starts.
    SetStart = 0x85,
    /// Send the board's memory from the start tag on (0x86).
    FromStart = 0x86,
    /// Answer the ping (0x87). A ping to address 0 is answered by every board, after a random delay of up to 1.1 s.
    Ping = 0x87,
    /// Leave bus mode (0x88). Never send it to boards in play.
    EndBusMode = 0x88,
    /// Restart (0x89). Takes several seconds. Never send it to boards in play.
    Reset = 0x89,
    /// Ignore the next ping to address 0 (0x8a). The board answers this command as it answers a ping.
    IgnoreNextPing = 0x8a,
    /// Send the version (0x8b).
    Version = 0x8b,
    /// Send changes, clock and board as three answers (0x8d).
    ChangesClockBoard = 0x8d,
}

impl BusCommandKind {
    /// All kinds, ordered by id.
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

    /// Returns the id, with bit 7 set.
    pub const fn id(self) -> u8 {
        self as u8
    }

    /// Returns the kind with this id, or `None` if the id is undocumented.
    pub fn from_id(id: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.id() == id)
    }
}

impl BusCommand {
    /// The length of every bus command in bytes.
    pub const LENGTH: usize = 4;

    /// Returns the encoded command.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::LENGTH] {
        let [high, low] = self.address.to_wire();
        let head = [self.kind.id(), high, low];
        [head[0], high, low, checksum::of(&head)]
    }

    /// Appends the encoded command to `out`.
    pub fn encode_to(&self, out: &mut Vec<u8>) {
        out.extend(self.encode());
    }

    /// Decodes one command.
    ///
    /// # Errors
    ///
    /// Returns a [`BusCommandError`] if the id is unknown, the checksum is wrong, or an address byte has bit 7
    /// set.
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
    /// The id is undocumented. The checksum is valid.
    #[error("bus command {id:#04x} is not known")]
    UnknownId {
        /// The id.
        id: u8,
    },
    /// The checksum is wrong, or an address byte has bit 7 set.
    #[error("bus command {id:#04x} has checksum {found:#04x} instead of {expected:#04x}")]
    Checksum {
        /// The id.
        id: u8,
        /// Checksum of the received bytes.
        expected: u8,
        /// The received checksum.
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
    fn the_documented_example_command_is_decoded() {
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
    fn a_flipped_bit_is_detected() {
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
