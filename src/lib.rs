//! The daemon's parts, from observations to events.

pub mod announced;
pub mod board;
#[cfg(feature = "demo-broker")]
pub mod broker;
pub mod cli;
pub mod clock;
pub mod command;
pub mod config;
pub mod demo;
#[cfg(target_os = "linux")]
pub mod doctor;
#[cfg(unix)]
pub mod emulate;
pub mod event;
pub mod hall;
pub mod incidents;
pub mod journal;
pub mod laws;
pub mod mating;
pub mod mqtt;
pub mod notation;
pub mod pgn;
mod presence;
pub mod record;
#[cfg(target_os = "linux")]
pub mod recording;
pub mod referee;
pub mod replay;
pub mod report;
pub mod resume;
#[cfg(target_os = "linux")]
pub mod run;
pub mod sheet;
pub mod terminal;
pub mod tracker;
mod wrap;
