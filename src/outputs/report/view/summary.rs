//! The start of a game's report: players, result, and the most important points. Fits on a phone's screen.

use kiebitz_game::events::Recovery;
use kiebitz_game::position::Variant;

use super::GameRenderer;
use crate::outputs::report::model::{Note, Open};
use crate::outputs::report::words::{fill, label};

pub(in crate::outputs::report) struct SummaryList {
    pub(in crate::outputs::report) heading: &'static str,
    pub(in crate::outputs::report) points: Vec<Point>,
    /// Text if there are no points.
    pub(in crate::outputs::report) none: &'static str,
    /// Text with the number of points that were left out, if any.
    pub(in crate::outputs::report) more: Option<String>,
}

pub(in crate::outputs::report) struct Point {
    pub(in crate::outputs::report) text: String,
    /// Number of the incident to which the line links.
    pub(in crate::outputs::report) incident: Option<u64>,
}

const STANDARD: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
/// Maximum number of points in each list, so that the summary fits on a phone's screen.
const MAX_POINTS: MaxPoints = MaxPoints {
    violations: 4,
    open: 3,
    over: 3,
    gaps: 2,
};

struct MaxPoints {
    violations: usize,
    open: usize,
    over: usize,
    gaps: usize,
}

/// Capitalises a word, as in a heading.
fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}

impl GameRenderer<'_> {
    /// Returns the colours and names of the players; `None` for a missing name, which gets a blank.
    pub(in crate::outputs::report) fn named_players(self) -> [(&'static str, Option<String>); 2] {
        let players = self.game.record.players.as_ref();
        let words = self.view.words;
        [
            (words.white, players.and_then(|players| players.white.clone())),
            (words.black, players.and_then(|players| players.black.clone())),
        ]
    }

    /// Returns the round and table of the game, or else its id.
    pub(in crate::outputs::report) fn heading(self) -> String {
        let words = self.view.words;
        let (round, table) = self.round_and_table();
        let round = round.map(|round| format!("{} {round}", capitalized(words.round)));
        let table = table.map(|table| format!("{} {table}", words.table));
        let place: Vec<String> = round.into_iter().chain(table).collect();
        if place.is_empty() {
            return format!("{} {}", words.game, self.game.record.game);
        }
        place.join(" · ")
    }

    fn round_and_table(self) -> (Option<u32>, Option<u32>) {
        let record = &self.game.record;
        let players = record.players.as_ref();
        let round = players.and_then(|players| players.round).or(record.round);
        (round, players.and_then(|players| players.table))
    }

    /// Returns the place, time and rules of the game, one line for each.
    pub(in crate::outputs::report) fn circumstances(self) -> Vec<String> {
        let (record, words) = (&self.game.record, self.view.words);
        let place = [
            record.event.clone(),
            record.site.clone(),
            Some(format!("{}: {}", words.board, record.board)),
            Some(format!("{}: {}", words.game, record.game)),
        ];
        let laws = record.laws.map(|laws| self.view.edition(laws));
        let mode = record
            .mode
            .map(|mode| label(words.modes, mode.as_str()).to_owned());
        let control = self.time_control().unwrap_or_else(|| words.not_given.to_owned());
        let rules = [laws, mode, Some(format!("{}: {control}", words.time_control))];
        let joined = |parts: &[Option<String>]| {
            let parts: Vec<&str> = parts.iter().flatten().map(String::as_str).collect();
            parts.join(" · ")
        };
        let mut lines = vec![joined(&place), self.played_at(), joined(&rules)];
        if record.start_fen != STANDARD {
            let variant = if record.variant == Variant::Chess960 {
                "Chess960: "
            } else {
                ""
            };
            lines.push(format!("{}: {variant}{}", words.start, record.start_fen));
        }
        lines.extend(
            self.game
                .continues
                .as_ref()
                .map(|game| fill(words.continues, &[("game", game)])),
        );
        lines
    }

    /// Returns the labels and values at the end of the report. Each is followed by a blank to write on.
    pub(in crate::outputs::report) fn signatures(self) -> Vec<(&'static str, Option<String>)> {
        let words = self.view.words;
        let result = self.outcome().0.filter(|_| self.game.record.confirmed);
        vec![
            (words.result, result.map(str::to_owned)),
            (words.decision, None),
            (words.white, None),
            (words.black, None),
            (words.signed_arbiter, None),
            (words.signed_at, None),
        ]
    }

    /// Returns the time control as typed, else in PGN notation.
    pub(in crate::outputs::report) fn time_control(self) -> Option<String> {
        let record = &self.game.record;
        let typed = record.time_control_typed.as_ref();
        typed.or(record.time_control.as_ref()).cloned()
    }

    /// Returns the lists of violations, open matters, other advice, and gaps.
    pub(in crate::outputs::report) fn points(self) -> Vec<SummaryList> {
        let (summary, words) = (&self.game.summary, self.view.words);
        let incidents = |numbers: &[u64]| -> Vec<Point> {
            numbers
                .iter()
                .filter_map(|number| self.incident_point(*number))
                .collect()
        };
        let mut lists = vec![self.list(
            words.violations,
            incidents(&summary.violations),
            words.no_violations,
            MAX_POINTS.violations,
        )];
        let open = summary.open.iter().filter_map(|open| self.open_point(*open));
        lists.push(self.list(words.open, open.collect(), words.nothing_open, MAX_POINTS.open));
        // Open incidents are already in the list of open matters.
        let is_open = |number: &u64| summary.open.contains(&Open::Incident { incident: *number });
        let over: Vec<u64> = summary
            .advice
            .iter()
            .copied()
            .filter(|number| !is_open(number))
            .collect();
        if !over.is_empty() {
            lists.push(self.list(words.other_incidents, incidents(&over), "", MAX_POINTS.over));
        }
        lists.push(self.list(words.gaps, self.gaps(), words.no_gaps, MAX_POINTS.gaps));
        lists
    }

    fn list(
        self,
        heading: &'static str,
        mut points: Vec<Point>,
        none: &'static str,
        max: usize,
    ) -> SummaryList {
        let all = points.len();
        // A line "and 1 more" would take as much room as the point that it replaces.
        points.truncate(if all == max + 1 { all } else { max });
        let left_out = all - points.len();
        let more = fill(self.view.words.and_more, &[("n", &left_out.to_string())]);
        SummaryList {
            heading,
            points,
            none,
            more: (left_out > 0).then_some(more),
        }
    }

    fn incident_point(self, number: u64) -> Option<Point> {
        let entry = self
            .game
            .incidents
            .iter()
            .find(|entry| entry.incident.incident == number)?;
        let ended = match entry.closed.last() {
            Some(closing) => label(self.view.words.closings, closing.reason.as_str()),
            None => self.view.words.is_open,
        };
        Some(Point {
            text: format!("{} ({ended})", self.view.incident_title(Some(self), entry)),
            incident: Some(number),
        })
    }

    fn open_point(self, open: Open) -> Option<Point> {
        let words = self.view.words;
        let point = |text: &str| {
            Some(Point {
                text: text.to_owned(),
                incident: None,
            })
        };
        match open {
            // A violation is already in the first list, with the note that it is open.
            Open::Incident { incident } if self.game.summary.violations.contains(&incident) => None,
            Open::Incident { incident } => self.incident_point(incident),
            Open::Result => point(words.open_result),
            Open::Confirmation => point(words.open_confirmation),
            Open::LastMove => point(words.unsettled),
        }
    }

    /// Returns the points for the gaps, those with missing moves first.
    fn gaps(self) -> Vec<Point> {
        let words = self.view.words;
        let gaps = self.game.notes.iter().filter_map(|note| match note {
            Note::Gap {
                by,
                from,
                to,
                after_ply,
                ..
            } => Some((*by, *from, *to, *after_ply)),
            _ => None,
        });
        let mut gaps: Vec<_> = gaps.collect();
        gaps.sort_by_key(|(by, ..)| *by != Recovery::Undecidable);
        let line = |(by, from, to, after): (Recovery, _, kiebitz_hardware::Timestamp, u32)| {
            let how = match by {
                Recovery::Memory => words.gap_read,
                Recovery::Inferred => words.gap_worked_out,
                Recovery::Undecidable => words.gap_missing,
            };
            let values = [
                ("from", self.view.time(from)),
                ("to", self.view.time(to)),
                ("move", self.name(after)),
            ];
            let values: Vec<(&str, &str)> = values
                .iter()
                .map(|(name, value)| (*name, value.as_str()))
                .collect();
            Point {
                text: format!("{}: {how}", fill(words.gap_at, &values)),
                incident: None,
            }
        };
        gaps.into_iter().map(line).collect()
    }
}
