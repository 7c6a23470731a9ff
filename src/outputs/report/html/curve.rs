//! Chart of both clocks over the game.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::outputs::report::view::{GameRenderer, clock};
use crate::outputs::report::words::fill;
use shakmaty::Color;

/// Renders the clocks after each move and marks incidents. Empty if there are fewer than two clock readings.
pub(super) fn clocks(game: GameRenderer<'_>) -> Markup {
    let Some(chart) = Chart::of(game) else {
        return html! {};
    };
    let words = game.view.words;
    html! {
        section class="part" {
            h3 { (words.curve) }
            figure class="curve" {
                (chart.markup(game, "wide"))
                // The wide chart scaled down to a phone would be illegible.
                (chart.resized(PHONE).markup(game, "narrow"))
                figcaption {
                    svg class="key" viewBox="0 0 34 10" aria-hidden="true" {
                        line x1="1" y1="5" x2="33" y2="5" stroke="#1565b0" stroke-width="2" {}
                        circle cx="17" cy="5" r="3.4" fill="#fff" stroke="#1565b0" stroke-width="1.6" {}
                    }
                    " " (words.white) " \u{2003} "
                    svg class="key" viewBox="0 0 34 10" aria-hidden="true" {
                        line x1="1" y1="5" x2="33" y2="5" stroke="#111" stroke-width="2.4" {}
                    }
                    " " (words.black)
                }
            }
        }
    }
}

fn description(game: GameRenderer<'_>) -> String {
    let text = |ms: Option<u64>| ms.map_or_else(|| "?".to_owned(), clock);
    let end = |ends: Option<(u64, u64)>| (text(ends.map(|ends| ends.0)), text(ends.map(|ends| ends.1)));
    let (white, black) = (
        end(game.ends_of_clock(Color::White)),
        end(game.ends_of_clock(Color::Black)),
    );
    fill(
        game.view.words.curve_text,
        &[
            ("white_first", &white.0),
            ("white_last", &white.1),
            ("black_first", &black.0),
            ("black_last", &black.1),
        ],
    )
}

/// Size of a chart, in units of its view box.
#[derive(Clone, Copy)]
struct Size {
    width: u64,
    height: u64,
    /// Maximum count of move numbers below the chart.
    numbers: u32,
}

const PAGE: Size = Size {
    width: 720,
    height: 190,
    numbers: 12,
};
const PHONE: Size = Size {
    width: 360,
    height: 220,
    numbers: 7,
};
const LEFT: u64 = 58;
const RIGHT: u64 = 12;
const TOP: u64 = 22;
const BOTTOM: u64 = 26;

/// Data and axes of a chart.
#[derive(Clone)]
struct Chart {
    size: Size,
    /// Both clocks by ply; `None` without a reading, which interrupts the lines.
    readings: Vec<(u32, Option<(u64, u64)>)>,
    plies: u32,
    /// Times at the lower and upper edge and distance between grid lines, in milliseconds.
    bottom_ms: u64,
    top_ms: u64,
    step_ms: u64,
}

impl Chart {
    fn of(game: GameRenderer<'_>) -> Option<Self> {
        let readings: Vec<_> = game
            .game
            .record
            .moves
            .iter()
            .map(|entry| {
                (
                    entry.ply,
                    entry.clock.map(|clock| (clock.white_ms, clock.black_ms)),
                )
            })
            .collect();
        let plies = readings.last()?.0;
        let seen = readings.iter().filter_map(|(_, reading)| *reading);
        let longest = seen.clone().map(|(white, black)| white.max(black)).max()?;
        let shortest = seen.clone().map(|(white, black)| white.min(black)).min()?;
        if seen.count() < 2 {
            return None;
        }
        // If both players always have more than half of the longest time left, the axis starts at the shortest time, so
        // that the differences are visible.
        let floor = if shortest > longest / 2 { shortest } else { 0 };
        let fits = |step: &&u64| (longest - floor).div_ceil(**step) < MAX_LINES;
        let last = STEPS.last().copied().unwrap_or(1);
        let step_ms = STEPS
            .iter()
            .find(fits)
            .copied()
            .unwrap_or(last)
            .max((longest - floor) / MAX_LINES);
        let bottom_ms = floor / step_ms * step_ms;
        let lines = (longest - bottom_ms).div_ceil(step_ms).max(1);
        Some(Self {
            size: PAGE,
            readings,
            plies,
            bottom_ms,
            top_ms: bottom_ms.saturating_add(lines.saturating_mul(step_ms)),
            step_ms,
        })
    }

    fn resized(&self, size: Size) -> Self {
        Self { size, ..self.clone() }
    }

    fn markup(&self, game: GameRenderer<'_>, class: &str) -> Markup {
        let words = game.view.words;
        html! {
            svg class=(class) viewBox=(format!("0 0 {} {}", self.size.width, self.size.height)) role="img" {
                title { (words.curve) }
                desc { (description(game)) }
                (self.grid(game))
                (self.incidents(game))
                (self.line(Color::White, "#1565b0"))
                (self.line(Color::Black, "#111"))
            }
        }
    }

    /// Vertical position of the lower edge of the curves.
    fn foot(&self) -> u64 {
        self.size.height - BOTTOM
    }

    fn x(&self, ply: u32) -> u64 {
        let width = self.size.width - LEFT - RIGHT;
        LEFT + u64::from(ply.min(self.plies)) * width / u64::from(self.plies.max(1))
    }

    /// Vertical position of a time, to a tenth of a unit, so that a slow change does not appear as steps.
    fn y(&self, ms: u64) -> String {
        let height = u128::from(self.foot() - TOP) * 10;
        let span = u128::from(self.top_ms - self.bottom_ms).max(1);
        let up = u128::from(ms.min(self.top_ms).saturating_sub(self.bottom_ms)) * height / span;
        let down = u128::from(self.foot()) * 10 - up;
        format!("{}.{}", down / 10, down % 10)
    }

    fn grid(&self, game: GameRenderer<'_>) -> Markup {
        let lines = (self.top_ms - self.bottom_ms) / self.step_ms.max(1);
        let every = MOVES
            .into_iter()
            .find(|every| self.plies / (2 * every) <= self.size.numbers)
            .unwrap_or(100);
        let moves = self.readings.iter().filter_map(|(ply, _)| {
            let ply = *ply;
            let (number, color) = game.numbering.number(ply);
            (color.is_white() && number % every == 0).then_some((ply, number))
        });
        html! {
            @for line in 0..=lines {
                @let ms = self.bottom_ms.saturating_add(line.saturating_mul(self.step_ms));
                line class="grid" x1=(LEFT) x2=(self.size.width - RIGHT) y1=(self.y(ms)) y2=(self.y(ms)) {}
                text class="left" x=(LEFT - 6) y=(self.y(ms)) dy="4" { (clock(ms)) }
            }
            @for (ply, number) in moves {
                line class="grid" x1=(self.x(ply)) x2=(self.x(ply)) y1=(self.foot()) y2=(self.foot() + 4) {}
                text class="under" x=(self.x(ply)) y=(self.size.height - 8) { (number) }
            }
        }
    }

    fn line(&self, color: Color, stroke: &str) -> Markup {
        let points = self.readings.iter().map(|(ply, reading)| {
            let (white, black) = (*reading)?;
            let ms = color.fold_wb(white, black);
            Some((self.x(*ply), self.y(ms)))
        });
        let points: Vec<Option<(u64, String)>> = points.collect();
        let mut path = String::new();
        let mut pen = 'M';
        for point in &points {
            match point {
                Some((x, y)) => path.push_str(&format!("{pen}{x} {y} ")),
                None => pen = 'M',
            }
            pen = if point.is_some() { 'L' } else { pen };
        }
        let has_room = u64::from(self.plies) * MIN_BETWEEN_DOTS <= self.size.width;
        let dots = color == Color::White && has_room;
        html! {
            path fill="none" stroke=(stroke) stroke-width="2" d=(path.trim_end()) {}
            @if dots {
                @for (x, y) in points.iter().flatten() {
                    circle cx=(x) cy=(y) r="2.4" fill="#fff" stroke=(stroke) stroke-width="1.4" {}
                }
            }
        }
    }

    fn incidents(&self, game: GameRenderer<'_>) -> Markup {
        let mut marks: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        for entry in game.cards() {
            if let Some(ply) = entry.incident.ply {
                let number = format!("#{}", entry.incident.incident);
                marks.entry(self.x(ply)).or_default().push(number);
            }
        }
        let mut labels: Vec<(u64, String, bool)> = Vec::new();
        for (x, numbers) in marks {
            let close = labels.last().is_some_and(|(last, ..)| x - last < LABEL);
            let raised = labels.last().is_none_or(|(.., raised)| !(close && *raised));
            labels.push((x, numbers.join(" "), raised));
        }
        html! {
            @for (x, numbers, raised) in labels {
                line class="incident" x1=(x) x2=(x) y1=(TOP - 6) y2=(self.foot()) {}
                text class="number" x=(x.min(self.size.width - LABEL / 2)) y=(if raised { TOP - 9 } else { TOP + 5 }) { (numbers) }
            }
        }
    }
}

/// Width of a label. A label that is closer than this to a raised one is placed lower.
const LABEL: u64 = 40;
/// Maximum count of grid lines above the lowest.
const MAX_LINES: u64 = 6;
/// Possible distances of grid lines, from five seconds to six hours, in milliseconds.
const STEPS: [u64; 14] = [
    5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000, 1_200_000, 1_800_000,
    3_600_000, 7_200_000, 21_600_000,
];
/// Possible distances of move numbers below the chart.
const MOVES: [u32; 6] = [1, 2, 5, 10, 20, 50];
/// Minimum width of a ply at which the line has dots.
const MIN_BETWEEN_DOTS: u64 = 4;
