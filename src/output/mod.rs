//! What is made of the events: topics, files, pages and text for people. Each is a projection that can be thrown away and
//! made again; none knows another, but those that use the same notation, move numbers or line breaks.

pub(crate) mod advice;
pub(crate) mod alarms;
pub(crate) mod broadcast;
mod clock;
mod delayed;
pub(crate) mod desk;
pub(crate) mod livechess;
pub mod mqtt;
pub mod notation;
mod numbering;
pub mod pgn;
pub mod report;
pub mod reports;
pub mod sheet;
pub(crate) mod sight;
pub(crate) mod status;
pub mod terminal;
pub(crate) mod wrap;
