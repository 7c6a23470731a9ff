//! The board's reports about its clock (BWTIME): times, acknowledgements, or the absence of a clock.

mod absent;
mod ack;
mod data;
mod report;
mod times;

pub use absent::ClockAbsent;
pub use ack::{Button, ClockAck, ClockAckKind};
pub use report::ClockReport;
pub use times::{ClockTimeError, ClockTimes, SideTime};
