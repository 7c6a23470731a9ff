//! Sessions with DGT-compatible chess boards, and captures of them.
//!
//! A [`Session`] turns the bytes of a port into [`Observation`]s. [`capture`] writes and reads what went over a
//! port as standard pcapng files, so that a replay hands in the same bytes at the same door; a
//! [`Recorder`](recorder::Recorder) does so all day. `port` finds and opens the ports of a Linux system.

mod bus;
pub mod capture;
#[cfg(feature = "emulator")]
pub mod emulator;
pub mod facts;
mod line;
mod observation;
#[cfg(target_os = "linux")]
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
