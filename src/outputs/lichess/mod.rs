//! Lichess: pushes the rounds of the event to a broadcast on Lichess.

#[cfg(target_os = "linux")]
mod client;
#[cfg(target_os = "linux")]
mod form;
mod settings;
#[cfg(target_os = "linux")]
pub(in crate::outputs) mod task;

pub use settings::Lichess;
