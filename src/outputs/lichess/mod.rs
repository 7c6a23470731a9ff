//! Lichess: the rounds of the broadcast, sent to a broadcast there.

mod client;
pub(in crate::outputs) mod task;
