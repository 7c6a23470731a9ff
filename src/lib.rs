//! The modules of the `kiebitz` program.
//!
//! [`daemon`] and [`replay`] drive a [`Hall`](kiebitz_game::hall::Hall), [`journal`] stores its events, and [`outputs`]
//! has a folder for each output. [`cli`] and [`config`] parse the command line and the configuration file.

pub mod cli;
mod clock;
pub mod config;
#[cfg(target_os = "linux")]
pub mod daemon;
mod exit;
mod folder;
#[cfg(target_os = "linux")]
mod hub;
pub mod journal;
mod kept;
mod limits;
pub mod outputs;
#[cfg(target_os = "linux")]
mod port;
pub mod progress;
pub mod replay;
pub mod restart;
mod secret_file;
mod settings;
mod shown;
pub mod system_time;
mod text_file;
pub mod tools;
pub mod tournament;

pub use exit::Exit;
