//! What stands beside the board: clocks, moves, result.

use anstyle::Style;
use shakmaty::Color;

use super::{Pen, Scene};
use crate::output::sheet;

/// As many lines as the board has: Black's clock above, White's below.
pub(super) fn lines(scene: &Scene<'_>, pen: Pen) -> Vec<String> {
    let mut lines = vec![String::new(), clock(scene, Color::Black, pen), String::new()];
    lines.extend(moves(scene, pen));
    lines.resize(8, String::new());
    lines.push(clock(scene, Color::White, pen));
    lines.push(String::new());
    lines
}

/// The player's clock; an arrow stands beside it while it runs.
fn clock(scene: &Scene<'_>, color: Color, pen: Pen) -> String {
    let name = color.fold_wb("White", "Black");
    let Some(face) = scene.clock else {
        return format!("  {name}  -:--:--");
    };
    let time = sheet::clock_text(color.fold_wb(face.white_ms, face.black_ms));
    if face.running == Some(color) {
        let arrow = if pen.ascii { '>' } else { '▶' };
        pen.paint(Style::new().bold(), &format!("{arrow} {name}  {time}"))
    } else {
        format!("  {name}  {time}")
    }
}

/// The last moves and, below them, the result.
fn moves(scene: &Scene<'_>, pen: Pen) -> Vec<String> {
    let Some(game) = scene.game else {
        return vec!["  waiting for the first move".to_owned()];
    };
    let mut rows = sheet::rows(game);
    let result = game
        .reason
        .map(|_| pen.paint(Style::new().bold(), &sheet::result_text(game)));
    let room = if result.is_some() { ROWS - 1 } else { ROWS };
    rows.drain(..rows.len().saturating_sub(room));
    rows.into_iter()
        .chain(result)
        .map(|line| format!("  {line}"))
        .collect()
}

const ROWS: usize = 5;
