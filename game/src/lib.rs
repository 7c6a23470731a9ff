//! Games of chess from the observations of electronic boards: bytes in, events out.
//!
//! A [`Hall`](hall::Hall) has all boards. It takes the bytes of their lines with the times at which they arrived, and an
//! arbiter's [commands](command); it gives [events], and the bytes that are to be written to the boards. It never reads
//! a clock: [`Hall::poll_deadline`](hall::Hall::poll_deadline) says when to call
//! [`Hall::advance`](hall::Hall::advance) if nothing arrives before.
//!
//! Inside, observations pass `tracker` (the most credible line of play), `acts` (what hands did besides the moves) and
//! `referee` (the Laws: [`laws`]). [`position`] and [`clock`] are what all of them are built on.

#[doc(hidden)]
#[macro_use]
pub mod vocabulary;

mod acts;
pub mod clock;
pub mod command;
pub mod events;
pub mod hall;
pub mod laws;
pub mod model;
pub mod position;
pub mod referee;
pub mod tracker;

pub use vocabulary::UnknownWord;
