//! LiveChess: the boards as programs on this computer know them from DGT's program.

#[cfg(target_os = "linux")]
mod door;
mod projection;
mod settings;
#[cfg(target_os = "linux")]
pub(in crate::outputs) mod task;

pub use settings::LiveChessSettings;
