//! The Laws of Chess for situations at a board, as data by edition and mode of play.
//!
//! [`Situation`] is the vocabulary between the referee and the Laws: an observation at the board, without judgement.
//! [`Rules`] are the rules at a board, and [`Rules::advise`] derives the consequences of a situation. The differences
//! between editions are in two tables: `articles.rs` has the article numbers and `table.rs` the rules, row by row. The
//! texts are in catalogues, one for each language.

mod advice;
mod articles;
mod catalogue;
mod claim;
mod clock_check;
mod edition;
mod examples;
pub mod mating;
mod points;
mod regulations;
mod reset;
mod resumable;
mod rounds;
mod rules;
mod situation;
mod table;
mod time_control;

pub use advice::{Advice, Severity};
pub use articles::Topic;
pub use catalogue::{
    END_REASON, END_REASON_SHORT, Language, UnknownLanguage, answer, text, title, word, words_of,
};
pub use claim::{ClaimFault, ClaimKind, ClaimRuling, DrawClaim, Known, TwoMinuteClaim};
pub use clock_check::ClockCheck;
pub use edition::{Edition, Mode, Play, UnknownEdition, UnknownMode};
pub use points::{IllegalMoveReport, OpenPoints, Penalties1997, ReversedLimit};
pub use regulations::{InvalidDrawnStart, Regulations};
pub use reset::{corrected, dial, rule_of_three};
pub use resumable::ResumableCase;
pub use rounds::{DefaultTime, InvalidDefaultTime, Rounds};
pub use rules::{Rules, TwoFlags};
pub use situation::{
    Broken, ClockReadings, DrawnStart, Fault, IncidentKind, Situation, Stage, Touch, TwoPieces, WhyStopped,
};
pub use table::{
    ClaimCost, Fivefold, FlagCall, IllegalPositionRemedy, Penalty, PressWithoutMove, Quickplay, SeventyFive,
};
pub use time_control::{Bonus, InvalidTimeControl, Period, Reached, TimeControl};

#[cfg(test)]
mod tests;
