//! Emulated boards and clocks, for tests and demonstrations.
//!
//! An [`EmulatedBoard`] has 64 squares, a scan that samples them one after another, a memory, and a line of 9600 baud.
//! An [`EmulatedClock`] may be plugged in. The board supports single-board mode and bus mode; an [`EmulatedBus`]
//! connects many boards to one line. Faults can be injected. Random values come from seeds, so every run is the same.
//!
//! The emulator does not know the rules of chess: the moves come from the caller, or from a [`Player`] with its
//! [`hand`]s. It performs no I/O and never reads a clock: it takes bytes and times, and returns bytes with their times.
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
