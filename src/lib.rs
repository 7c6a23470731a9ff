//! The daemon's parts, from observations to events.

pub mod board;
pub mod event;
pub mod mqtt;
pub mod pgn;
mod presence;
pub mod record;
pub mod referee;
pub mod tracker;
pub mod replay;
