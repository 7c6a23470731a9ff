//! The wire protocol of DGT-compatible chess boards, in both directions.
//!
//! The crate decodes bytes to messages and encodes messages to bytes. It does not open ports, read the
//! time or know the rules of chess. A host decodes the board's messages and encodes commands; an emulator
//! does the reverse with the same types.
//!
//! | from | to | single board | bus |
//! | --- | --- | --- | --- |
//! | board | host | [`Message`], [`Decoder`] | [`BusAnswer`], [`BusDecoder`] |
//! | host | board | [`Command`], [`CommandDecoder`] | [`BusCommand`], [`BusCommandDecoder`] |
//!
//! All four decoders are type aliases of [`StreamDecoder`]. Messages and answers can contain the board's
//! memory; [`eeprom::elements`] reads it.
//!
//! ```
//! use kiebitz_protocol::{Decoder, Message, Piece};
//!
//! let mut decoder = Decoder::new();
//! let mut lines = Vec::new();
//! // A white pawn appears on field 36, which is e4 with the connector on White's left.
//! decoder.feed(&[0x8e, 0x00, 0x05, 0x24, 0x01], |decoded| {
//!     if let Ok(Message::FieldUpdate(update)) = decoded {
//!         lines.push((update.field.number(), update.contents));
//!     }
//! });
//! assert_eq!(lines, [(36, Some(Piece::WhitePawn))]);
//! ```
//!
//! No input can make this crate panic. Bytes that cannot be decoded are reported as [`Rejected`] with the
//! reason, and counted in [`Counters`].
//!
//! Enums such as [`Piece`], [`Message`] and [`Command`], whose values the wire format fixes, are exhaustive:
//! the compiler then lists every `match` that a new variant affects. A new variant is a breaking change.
//! Errors are `#[non_exhaustive]`.
//!
//! The feature `serde` adds `Serialize` and `Deserialize` to every value that owns its data, and
//! `arbitrary` adds `Arbitrary` to every value. Both are off by default.
//!
//! Boards that sense only whether a field is occupied are out of scope: their dumps do not identify pieces.
//! This crate is not affiliated with the makers of the boards.
#![no_std]
#![warn(missing_debug_implementations)]

extern crate alloc;
#[cfg(feature = "arbitrary")]
extern crate std;

pub mod bus;
pub mod eeprom;

mod address;
mod bcd;
mod clock;
mod clock_message;
mod command;
mod counters;
mod decoder;
mod dump;
mod field;
mod framing;
mod message;
mod piece;
mod rejected;
mod septets;
#[cfg(feature = "arbitrary")]
mod with_arbitrary;
#[cfg(feature = "serde")]
mod with_serde;

pub use address::BusAddress;
pub use bus::{BusAnswer, BusAnswerError, BusCommand, BusCommandError, BusCommandKind, BusData};
pub use clock::{
    Button, ClockAbsent, ClockAck, ClockAckKind, ClockReport, ClockTimeError, ClockTimes, SideTime,
};
pub use clock_message::{
    ClockMessage, ClockMessageError, ClockText, Icons, Segments, SetAndRun, SetTime, SideIcons,
};
pub use command::{Command, CommandError};
pub use counters::Counters;
pub use decoder::{
    BusCommandDecoder, BusDecoded, BusDecoder, CommandDecoder, Decoded, Decoder, StreamDecoder,
};
pub use dump::{Contents, Dump, START_POSITION};
pub use eeprom::{Element, ElementError, ElementErrorKind, Elements};
pub use field::Field;
pub use framing::Framing;
pub use message::{
    BatteryStatus, FieldUpdate, LongSerialNumber, Message, MessageError, Serial, SerialNumber,
};
pub use piece::{Color, Piece, PieceKind};
pub use rejected::{Rejected, RejectedKind};

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
