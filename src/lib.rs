//! The program's parts: from the events of [`kiebitz_game`] to all that is made of them.
//!
//! [`daemon`] and [`replay`] drive a [`Hall`](kiebitz_game::hall::Hall); [`journal`] keeps the events; [`outputs`] has a
//! folder for each output: what it makes of the events, and how that gets to where people see it. [`cli`] and [`config`]
//! say what is to be done.

pub mod cli;
mod clock;
pub mod config;
#[cfg(target_os = "linux")]
pub mod daemon;
mod exit;
#[cfg(target_os = "linux")]
mod hub;
pub mod journal;
mod kept;
pub mod outputs;
#[cfg(target_os = "linux")]
mod port;
pub mod progress;
pub mod replay;
pub mod restart;
mod settings;
mod shown;
pub mod system_time;
mod text_file;
pub mod tools;
pub mod tournament;

pub use exit::Exit;
