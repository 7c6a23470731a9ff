//! Sessions with DGT-compatible chess boards, and captures of them.
//!
//! A [`Session`] turns the bytes of a port into [`Observation`]s. [`capture`] writes and reads what went over a
//! port as standard pcapng files, so that a replay hands in the same bytes at the same door.

pub mod capture;
pub mod emulator;
mod observation;
mod probe;
mod session;
mod time;

pub use observation::{Identity, Observation, Observed};
pub use probe::Probe;
pub use session::{Session, SessionSettings};
pub use time::Timestamp;
