//! Lichess: sends the rounds of the event to a Lichess broadcast.

#[cfg(target_os = "linux")]
mod client;
mod settings;
#[cfg(target_os = "linux")]
pub(in crate::outputs) mod task;

pub use settings::Lichess;
