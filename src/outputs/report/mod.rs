//! The arbiter's report: the course of each game on a board, to read, print and keep.
//!
//! [`Report`] is built from events alone; `--json` prints it. [`html`](fn@html) and [`text`](fn@text) render it and add
//! nothing but words. Text from other sources, such as names and reasons, is untrusted.
//!
//! A report is for the arbiter alone: it has incidents, claims and missing presses, which nobody else may get (E23
//! 12.6).

mod adjournment;
mod claim_sheets;
mod claims;
mod collect;
mod frames;
mod html;
mod model;
mod position;
mod summary;
mod text;
mod view;
mod words;

pub use claims::{ClaimSheet, Claims, Countdown, Difference, Near, Occurrence, Offer, Repeated};
pub use frames::{Frame, FrameSpan, Frames};
pub use html::html;
pub use model::{
    Adjournment, Amendment, Closing, Correction, GameReport, IncidentReport, IncidentStep, LocatedChange,
    Note, Open, PlayerStanding, PlyNote, Report, SourceFile, Standings, Summary, TeamStanding, TimeUsed,
    Withdrawn,
};
pub use position::Irreversible;
pub use text::text;
pub use view::Manner;

#[cfg(test)]
mod tests;
