//! LiveChess: serves the boards through the local interface of DGT's LiveChess program.

#[cfg(target_os = "linux")]
mod door;
mod projection;
mod settings;
#[cfg(target_os = "linux")]
pub(in crate::outputs) mod task;

pub use settings::LiveChessSettings;
