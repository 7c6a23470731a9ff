//! What the Laws of Chess say about what is seen at a board: by edition and mode of play, as data.
//!
//! [`Sight`] is the vocabulary between those who watch and those who know the Laws: what was seen, without judgement.
//! [`Rules`] is what applies at a board, and [`Rules::advise`] says what follows from a sight. What differs between
//! editions stands in two tables, `articles.rs` (where it is written) and `table.rs` (what it says), row by row. The words
//! are in catalogues, one for each language.

mod advice;
mod articles;
mod catalogue;
mod clock_check;
mod edition;
mod examples;
pub mod mating;
mod points;
mod regulations;
mod reset;
mod rounds;
mod rules;
mod sight;
mod table;
mod time_control;

pub use advice::{Advice, Severity};
pub use articles::Topic;
pub use catalogue::{Language, NoLanguage, answer, text, title, word};
pub use clock_check::ClockCheck;
pub use edition::{Edition, Mode, NoEdition, NoMode, Play};
pub use points::{OpenPoints, Penalties1997, ReversedLimit, Told};
pub use regulations::{NoDrawnStart, Regulations};
pub use reset::{corrected, dial, rule_of_three};
pub use rounds::{DefaultTime, NoDefaultTime, Rounds};
pub use rules::{Rules, TwoFlags};
pub use sight::{ClockTimes, DrawnStart, Fault, IncidentKind, Sight, Stage, Touch};
pub use table::{Fivefold, FlagCall, Penalty, Pressed, SeventyFive, Standing};
pub use time_control::{Bonus, NoTimeControl, Period, Reached, TimeControl};

#[cfg(test)]
mod tests;
