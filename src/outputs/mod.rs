//! Turns events into topics, files, pages and text. Each output has its own folder.
//!
//! An output has these parts: `settings` is its configuration table; `projection` computes the contents from the
//! events, without I/O, so that they can be computed again at any time; `task` delivers the contents; the remaining
//! files are its page or topics, and its tests. [`shared`] has the parts that several outputs use. `feeds` starts the
//! tasks and passes them events and other input.

pub(crate) mod alarm;
pub(crate) mod broadcast;
pub(crate) mod desk;
#[cfg(target_os = "linux")]
pub(crate) mod feeds;
pub(crate) mod lichess;
pub(crate) mod livechess;
pub mod mqtt;
pub mod pgn;
pub mod report;
pub mod shared;
pub mod sheet;
pub(crate) mod status;
pub mod terminal;
pub(crate) mod webhook;
