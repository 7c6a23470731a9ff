//! What is made of the events: topics, files, pages and text for people. One output is one folder.
//!
//! A folder has what of the output there is: `settings`, its table in the configuration; `projection`, what is made of the
//! events, without any input or output, so that it can be thrown away and made again; `task`, which brings that to where
//! people see it; its page or topics; and its tests. What several outputs need is in [`shared`]. `feeds` starts the tasks
//! and tells them what happens.

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
