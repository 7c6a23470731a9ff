//! Games of chess from the observations of electronic boards: bytes in, events out.
//!
//! A [`Hall`](hall::Hall) owns all boards. Its input is the bytes of their serial lines, with their arrival times, and an
//! arbiter's [commands](command). Its output is [events], and bytes to be written to the boards. It never reads a clock:
//! [`Hall::poll_deadline`](hall::Hall::poll_deadline) returns the time at which to call
//! [`Hall::advance`](hall::Hall::advance) if no input arrives before.
//!
//! In this example, White plays e4 on an emulated board:
//!
//! ```
//! use core::time::Duration;
//!
//! use kiebitz_game::events::EventKind;
//! use kiebitz_game::hall::{Hall, Names, Roster};
//! use kiebitz_hardware::capture::LineMode;
//! use kiebitz_hardware::emulator::{BoardSettings, EmulatedBoard};
//! use kiebitz_hardware::{LineSettings, Timestamp};
//! use kiebitz_protocol::{Field, Piece};
//!
//! let mut now = Timestamp::from_micros(1_789_000_000_000_000);
//! let mut board = EmulatedBoard::new(now, BoardSettings::default());
//! for (number, letter) in (0..64).zip("rnbqkbnrpppppppp................................PPPPPPPPRNBQKBNR".chars()) {
//!     let code = "PRNBKQprnbkq".find(letter).map(|at| at as u8 + 1);
//!     let piece = code.and_then(|code| Piece::from_code(code).flatten());
//!     board.set(now, Field::new(number).unwrap(), piece);
//! }
//!
//! let mut hall = Hall::new("live", Names::Configured(Roster::default()));
//! let line = hall.keep("/dev/ttyUSB0", LineSettings::of(LineMode::Single));
//! hall.open(now, line);
//! let mut moves = Vec::new();
//! for millisecond in 0..20_000 {
//!     match millisecond {
//!         10_000 => board.set(now, Field::new(52).unwrap(), None),
//!         10_400 => board.set(now, Field::new(36).unwrap(), Piece::from_code(1).flatten()),
//!         _ => {}
//!     }
//!     hall.advance(now);
//!     while let Some((line, bytes)) = hall.poll_write(now) {
//!         board.handle_bytes(now, &bytes);
//!         hall.sent(now, line, &bytes);
//!     }
//!     while let Some((_, bytes)) = board.poll_transmit(now) {
//!         hall.receive(now, line, &bytes);
//!     }
//!     for explained in hall.take_events() {
//!         if let EventKind::MoveMade(played) = explained.event.kind {
//!             moves.push(played.san.unwrap_or_default());
//!         }
//!     }
//!     now = now + Duration::from_millis(1);
//! }
//! assert_eq!(moves, ["e4"]);
//! ```
//!
//! Inside, observations pass through `tracker` (the most credible line of play), `acts` (actions of hands other than
//! moves) and `referee` (the Laws: [`laws`]). All of them use [`position`] and [`clock`].

#[doc(hidden)]
#[macro_use]
pub mod vocabulary;

mod acts;
pub mod clock;
pub mod command;
pub mod events;
pub mod hall;
pub mod laws;
pub mod model;
pub mod position;
mod referee;
mod tracker;

pub use vocabulary::UnknownWord;
