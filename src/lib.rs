//! The daemon's parts, from observations to events and to what is made of them.
//!
//! Bytes become observations in `kiebitz-protocol` and `kiebitz-hardware`. From there on the stations are [`hall`],
//! [`tracker`], `acts`, [`referee`] with [`laws`], [`events`], [`journal`] and [`output`]. The tracker rests on [`position`],
//! [`clock`], `memory` and [`model`]. [`daemon`], [`replay`] and [`tools`] drive them; [`cli`] and [`config`] say what to do.

mod acts;
pub mod cli;
pub mod clock;
pub mod config;
#[cfg(target_os = "linux")]
pub mod daemon;
pub mod events;
mod exit;
#[cfg(target_os = "linux")]
mod feeds;
pub mod hall;
#[cfg(target_os = "linux")]
mod host_header;
#[cfg(target_os = "linux")]
mod hub;
pub mod journal;
mod kept;
pub mod laws;
mod memory;
pub mod model;
pub mod output;
#[cfg(target_os = "linux")]
mod port;
pub mod position;
pub mod progress;
pub mod referee;
pub mod replay;
pub mod restart;
mod shown;
pub mod system_time;
mod text_file;
pub mod tools;
pub mod tournament;
pub mod tracker;
mod vocabulary;

pub use exit::Exit;
pub use vocabulary::UnknownWord;
