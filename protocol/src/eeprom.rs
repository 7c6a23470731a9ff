//! The board's memory: a sequence of changes without times of day (EE_MOVES and bus changes).

mod element;
mod elements;

pub use element::Element;
pub(crate) use elements::is_closed;
pub use elements::{ElementError, ElementErrorKind, Elements, elements};
