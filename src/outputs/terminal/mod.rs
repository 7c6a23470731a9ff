//! Drawing a game in a terminal: the board as its sensors see it, the clocks, the moves.
//!
//! [`draw`] makes [`StyledLine`]s of a [`Scene`]; [`Screen`] shows one frame after the other in place. Any terminal of the last
//! thirty years will do; colours are 256-colour codes and are left out where they are not wanted.

mod board;
mod line;
mod screen;
mod side;

use std::io::IsTerminal;

use kiebitz_game::clock::Clock;
use kiebitz_game::events::record::GameRecord;
use shakmaty::{Bitboard, Board};

pub use line::StyledLine;
pub use screen::Screen;

/// What is to be seen.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'s> {
    /// What stands on the board.
    pub placement: &'s Board,
    /// The squares of the last move.
    pub last_move: Bitboard,
    /// Squares that show something else than the game.
    pub differs: Bitboard,
    /// What the clock shows.
    pub clock: Option<Clock>,
    /// The game so far; `None` before it begins.
    pub game: Option<&'s GameRecord>,
}

/// How it is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pen {
    /// In colours.
    pub colors: bool,
    /// Pieces as letters.
    pub ascii: bool,
}

/// Draws the scene in ten lines of at most 62 columns.
#[must_use]
pub fn draw(scene: &Scene<'_>, pen: Pen) -> Vec<StyledLine> {
    let board = board::lines(scene, pen);
    let side = side::lines(scene, pen);
    board
        .into_iter()
        .zip(side)
        .map(|(board, side)| board.and("   ").followed_by(side).trimmed())
        .collect()
}

/// What the marks on the board mean, in one line.
#[must_use]
pub fn legend(pen: Pen) -> StyledLine {
    board::legend(pen)
}

/// Whether stdout is a terminal that can show frames in place.
#[must_use]
pub fn can_redraw() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Whether colours are wanted there: not where NO_COLOR is set (no-color.org).
#[must_use]
pub fn wants_colors() -> bool {
    can_redraw() && std::env::var_os("NO_COLOR").is_none_or(|no| no.is_empty())
}
