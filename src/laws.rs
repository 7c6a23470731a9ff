//! What the Laws of Chess say about what is seen at a board: by edition and mode of play, as data.
//!
//! [`Sight`] is the vocabulary between those who watch and those who know the Laws: what was seen, without judgement.
//! What applies at a board, and what follows from a sight under these rules, is in this module as well. The
//! words are in catalogues, one for each language.

mod sight;

pub use sight::{ClockTimes, DrawnStart, Fault, Sight, Stage, Touch};
