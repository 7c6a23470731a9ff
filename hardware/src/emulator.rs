//! A board and its clock that exist in memory only, for tests and demonstrations.
//!
//! An [`EmulatedBoard`] has 64 fields on which something stands, a scan that samples them one after another, a
//! memory, and a line of 9600 baud; an [`EmulatedClock`] may be plugged in. It speaks the protocol of a single board
//! and of a bus, on which an [`EmulatedBus`] joins many, and has faults on demand. What is random is drawn from seeds,
//! so that the same happens in every run.
//!
//! It knows no rule of chess: what is played on it is up to a [`Player`] with its [`hand`]s, or to the
//! caller. It opens nothing and reads no clock: bytes and time go
//! in, bytes with their times come out.
//!
//! ```
//! use core::time::Duration;
//! use kiebitz_hardware::Timestamp;
//! use kiebitz_hardware::emulator::{BoardSettings, EmulatedBoard};
//! use kiebitz_protocol::{Command, Field, Piece};
//!
//! let start = Timestamp::from_micros(1_789_000_000_000_000);
//! let mut board = EmulatedBoard::new(start, BoardSettings::default());
//! let mut command = Vec::new();
//! Command::UpdateBoard.encode(&mut command);
//! board.handle_bytes(start, &command);
//!
//! let e4 = Field::new(36).unwrap();
//! board.set(start + Duration::from_millis(500), e4, Some(Piece::WhitePawn));
//! let mut sent = Vec::new();
//! while let Some(at) = board.poll_deadline() {
//!     board.advance(at);
//!     while let Some((at, bytes)) = board.poll_transmit(at) {
//!         assert!(at >= start + Duration::from_millis(500), "nothing is seen before it is there");
//!         sent.extend(bytes);
//!     }
//! }
//! assert_eq!(sent, [0x8e, 0x00, 0x05, 36, 1]);
//! ```

mod board;
mod bus;
mod clock;
pub mod hand;
mod line;
mod memory;
mod player;
mod scan;

pub use board::{BoardSettings, EmulatedBoard};
pub use bus::{AttachError, EmulatedBus, EmulatedBusSettings};
pub use clock::{ClockSide, EmulatedClock};
pub use player::Player;
