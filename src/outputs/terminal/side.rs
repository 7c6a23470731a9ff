//! Draws the clocks, moves and result beside the board.

use anstyle::Style;
use shakmaty::Color;

use super::{Pen, Scene, StyledLine};
use crate::outputs::sheet;

/// Draws ten lines, as many as the board has: Black's clock above, White's below.
pub(super) fn lines(scene: &Scene<'_>, pen: Pen) -> Vec<StyledLine> {
    let mut lines = vec![
        StyledLine::default(),
        clock(scene, Color::Black, pen),
        StyledLine::default(),
    ];
    lines.extend(moves(scene, pen));
    lines.resize(8, StyledLine::default());
    lines.push(clock(scene, Color::White, pen));
    lines.push(StyledLine::default());
    lines
}

/// A player's clock, with an arrow beside it while it runs.
fn clock(scene: &Scene<'_>, color: Color, pen: Pen) -> StyledLine {
    let name = color.fold_wb("White", "Black");
    let Some(face) = scene.clock else {
        return format!("  {name}  -:--:--").into();
    };
    let time = sheet::clock_text(color.fold_wb(face.white_ms, face.black_ms));
    if face.running == Some(color) {
        let arrow = if pen.ascii { '>' } else { '▶' };
        pen.bold(format!("{arrow} {name}  {time}"))
    } else {
        format!("  {name}  {time}").into()
    }
}

/// The last moves, followed by the result.
fn moves(scene: &Scene<'_>, pen: Pen) -> Vec<StyledLine> {
    let Some(game) = scene.game else {
        return vec!["  waiting for the first move".into()];
    };
    let mut rows = sheet::rows(game);
    let result = game.reason.map(|_| pen.bold(sheet::result_text(game)));
    let room = if result.is_some() { ROWS - 1 } else { ROWS };
    rows.drain(..rows.len().saturating_sub(room));
    let rows = rows.into_iter().map(StyledLine::from);
    rows.chain(result)
        .map(|line| StyledLine::from("  ").followed_by(line))
        .collect()
}

const ROWS: usize = 5;

impl Pen {
    fn bold(self, text: String) -> StyledLine {
        let style = if self.colors {
            Style::new().bold()
        } else {
            Style::new()
        };
        StyledLine::default().and_styled(style, text)
    }
}
