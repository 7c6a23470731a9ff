//! Sessions with DGT-compatible chess boards, and captures of the traffic.
//!
//! | item | does I/O | purpose |
//! | --- | --- | --- |
//! | [`Line`] | no | a line of any kind: a [`Probe`], then a [`Session`] or a [`BusLine`] |
//! | [`Session`] | no | one board: decodes its bytes to [`Observation`]s, and queries it |
//! | [`BusLine`] | no | the boards of a line in bus mode, polled in turn |
//! | [`capture`] | only through the given reader or writer | the traffic of lines, as standard pcapng files |
//! | [`recorder`] | yes | captures of all ports, one per day, in a folder |
//! | `port` | yes | the serial ports of a Linux system; needs the feature `port` |
//! | [`facts`] | no | figures of boards, clocks and lines |
//! | `emulator` | no | emulated boards, and hands that play on them; needs the feature `emulator` |
//!
//! A replay handles the bytes of a capture in the same way as live bytes, and makes the same observations. Only the
//! recorder and the ports depend on the operating system. No part of the crate reads the time; time is an argument.
//!
//! Errors, reports and observations are `#[non_exhaustive]`. Enums with a fixed set of values, such as
//! [`LineMode`](capture::LineMode) and [`Place`], are exhaustive: the compiler then lists every `match` that a new
//! variant affects. A new variant is a breaking change.
//!
//! The feature `serde` adds `Serialize` and `Deserialize` to observations and to the contents of captures; `arbitrary`
//! adds `Arbitrary` to the same types. Both are off by default, as are `emulator` and `port`. This crate is not
//! affiliated with the makers of the boards.
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
pub use session::{Session, SessionSettings};
pub use time::Timestamp;

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
