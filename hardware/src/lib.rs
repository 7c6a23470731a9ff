//! Sessions with DGT-compatible chess boards, and captures of them.
//!
//! | what | does I/O | is |
//! | --- | --- | --- |
//! | [`Line`] | no | a line with any boards: a [`Probe`], then a [`Session`] or a [`BusLine`] |
//! | [`Session`] | no | one board: from its bytes to [`Observation`]s, and what it is asked |
//! | [`BusLine`] | no | the boards of a line in bus mode, asked in turn |
//! | [`capture`] | of its reader or writer | what went over lines, as standard pcapng files |
//! | [`recorder`] | yes | captures of all ports, all day, in a folder |
//! | `port` | yes | the serial ports of a Linux system; with the feature `port` |
//! | [`facts`] | no | what boards, clocks and their lines are like |
//! | `emulator` | no | boards in memory, and hands that play on them; with the feature `emulator` |
//!
//! A replay hands in the bytes of a capture in the same way as a live port does, and observes the same. Nothing but
//! the recorder and the ports needs a system, and nothing at all reads a clock: time is an argument.
//!
//! Errors, reports and observations are `#[non_exhaustive]`. Enums over closed facts, such as
//! [`LineMode`](capture::LineMode) and [`Place`], are exhaustive, so that the compiler lists what a new variant
//! touches; a new variant is a breaking version.
//!
//! The feature `serde` adds `Serialize` and `Deserialize` to observations and to what captures hold, and `arbitrary`
//! adds `Arbitrary` to the same types. Both are off by default, as are `emulator` and `port`. This crate is not affiliated with the
//! makers of the boards.
#![warn(missing_debug_implementations)]

mod bus;
pub mod capture;
#[cfg(feature = "emulator")]
pub mod emulator;
pub mod facts;
mod line;
mod observation;
#[cfg(all(feature = "port", target_os = "linux"))]
pub mod port;
mod probe;
pub mod recorder;
mod session;
mod time;
#[cfg(test)]
#[cfg(feature = "arbitrary")]
mod with_arbitrary;
#[cfg(feature = "serde")]
mod with_serde;

pub use bus::{BusFigures, BusLine, BusSettings};
pub use line::{Line, LineSettings, Place};
pub use observation::{Identity, Observation, Observed};
pub use probe::Probe;
pub use session::{Recall, Session, SessionSettings};
pub use time::Timestamp;

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
