//! The board's memory: what changed, in order, without times of day (EE_MOVES and bus changes).

mod element;
mod elements;

pub use element::Element;
pub(crate) use elements::is_closed;
pub use elements::{ElementError, ElementErrorKind, Elements, elements};
