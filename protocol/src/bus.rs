//! Many boards on one line: commands with an address, answers, checksums.
//!
//! Boards answer only when addressed. The bus is the mode in which boards power up; any
//! single-board command switches every board on the line to single mode, and the first bus
//! command after that only switches back. So send a ping first on a port not known, and nothing
//! but bus commands on one that is.
//!
//! The ids 0x83 to 0x89 mean other things here than in single-board mode: which mode a port is in
//! has to be known to choose the decoder.

mod answer;
mod checksum;
mod command;

pub use answer::{BusAnswer, BusAnswerError, BusData};
pub use command::{BusCommand, BusCommandError, BusCommandKind};
