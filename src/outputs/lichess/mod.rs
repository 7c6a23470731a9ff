//! Lichess: the rounds of the broadcast, sent to a broadcast there.

#[cfg(target_os = "linux")]
mod client;
mod settings;
#[cfg(target_os = "linux")]
pub(in crate::outputs) mod task;

pub use settings::Lichess;
