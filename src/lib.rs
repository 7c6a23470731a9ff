//! The program's parts: from the events of [`kiebitz_game`] to all that is made of them.
//!
//! [`daemon`] and [`replay`] drive a [`Hall`](kiebitz_game::hall::Hall); [`journal`] keeps the events; [`output`] has
//! their projections, and `feeds` brings these to where people see them. [`cli`] and [`config`] say what is to be done.

pub mod cli;
pub mod config;
#[cfg(target_os = "linux")]
pub mod daemon;
mod exit;
#[cfg(target_os = "linux")]
mod feeds;
#[cfg(target_os = "linux")]
mod host_header;
#[cfg(target_os = "linux")]
mod hub;
pub mod journal;
mod kept;
pub mod output;
#[cfg(target_os = "linux")]
mod port;
pub mod progress;
pub mod replay;
pub mod restart;
mod shown;
pub mod system_time;
mod text_file;
pub mod tools;
pub mod tournament;

pub use exit::Exit;
