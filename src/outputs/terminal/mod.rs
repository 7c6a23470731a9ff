//! Draws a game in a terminal: the board as its sensors see it, the clocks and the moves.
//!
//! [`draw`] turns a [`Scene`] into [`StyledLine`]s; [`Screen`] shows one frame after another in place. Works on any
//! terminal of the last thirty years; colours are 256-colour codes and can be left out.

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

/// The contents of a frame.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'s> {
    /// Placement that the sensors report.
    pub placement: &'s Board,
    /// The squares of the last move.
    pub last_move: Bitboard,
    /// Squares on which the placement differs from the game.
    pub differs: Bitboard,
    /// Display of the clock.
    pub clock: Option<Clock>,
    /// The game; `None` before it begins.
    pub game: Option<&'s GameRecord>,
}

/// Drawing options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pen {
    /// Whether to use colours.
    pub colors: bool,
    /// Whether to draw pieces as letters.
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

/// Explains the marks on the board, in one line.
#[must_use]
pub fn legend(pen: Pen) -> StyledLine {
    board::legend(pen)
}

/// Whether stdout is a terminal that can show frames in place.
#[must_use]
pub fn can_redraw() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Whether to use colours: stdout is such a terminal, and `NO_COLOR` is not set (no-color.org).
#[must_use]
pub fn wants_colors() -> bool {
    can_redraw() && std::env::var_os("NO_COLOR").is_none_or(|no| no.is_empty())
}
