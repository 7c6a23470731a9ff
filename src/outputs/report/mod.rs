//! The arbiter's report: what happened at a board, game by game, to read, print and keep.
//!
//! [`Report`] is made from events alone and is what `--json` prints. [`html`](fn@html) and [`text`](fn@text) are drawn
//! from it and add nothing but words. Whatever in it came from outside, names and reasons above all, is untrusted text.
//!
//! A report is for the arbiter: it has incidents, claims and missing presses, which nobody else gets (E23 12.6).

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
    Note, Open, PlyNote, Report, SourceFile, Summary, TimeUsed, Withdrawn,
};
pub use position::Irreversible;
pub use text::text;
pub use view::Manner;

#[cfg(test)]
mod tests;
