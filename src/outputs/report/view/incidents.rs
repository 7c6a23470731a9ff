//! Rendering of incidents.

use kiebitz_game::events::{ClosedBy, Incident, IncidentEnd};
use kiebitz_game::laws;
use kiebitz_game::laws::{Edition, IncidentKind, Severity};
use shakmaty::san::SanPlus;

use super::{GameRenderer, Renderer};
use crate::outputs::report::model::{Closing, IncidentReport, IncidentStep, SourceFile};
use crate::outputs::report::position::{fen_before, is_en_passant};
use crate::outputs::report::words::{fill, label};
use crate::outputs::shared::advice::{MOVES, advice};

impl Renderer<'_> {
    /// Title of an incident: "#3 Illegal move: White, move 12".
    pub(in crate::outputs::report) fn incident_title(
        self,
        game: Option<GameRenderer<'_>>,
        entry: &IncidentReport,
    ) -> String {
        let incident = &entry.incident;
        let title = laws::title(self.manner.language, incident.kind);
        let mut parts: Vec<String> = Vec::new();
        parts.extend(incident.color.map(|color| self.words.color(color).to_owned()));
        let place = game.map(|game| game.place(entry)).unwrap_or_default();
        parts.extend((!place.is_empty()).then_some(place));
        if game.is_none() {
            parts.push(format!("{} {}", self.words.board, entry.board));
        }
        let colon = if parts.is_empty() { "" } else { ": " };
        format!("#{} {title}{colon}{}", incident.incident, parts.join(", "))
    }

    pub(in crate::outputs::report) fn diagram_caption(self, entry: &IncidentReport) -> &'static str {
        if entry.incident.kind == IncidentKind::WrongStartPosition {
            self.words.set_up
        } else {
            self.words.diagram
        }
    }

    /// FEN of an incident's diagram; `None` if the position is not relevant. It is relevant for incidents with squares
    /// and after a flag fall, as it decides whether the opponent can mate (E23 6.9).
    pub(in crate::outputs::report) fn shown_position(self, entry: &IncidentReport) -> Option<&str> {
        let incident = &entry.incident;
        let by_squares = !incident.squares.is_empty() && incident.kind != IncidentKind::SensorFault;
        let is_relevant = by_squares || incident.kind == IncidentKind::FlagFall;
        incident.evidence.fen.as_deref().filter(|_| is_relevant)
    }

    pub(in crate::outputs::report) fn severity(self, severity: Severity) -> &'static str {
        laws::word(self.manner.language, "severity", severity.as_str())
    }

    /// Severity, article and edition.
    pub(in crate::outputs::report) fn incident_rule(self, entry: &IncidentReport) -> String {
        let severity = self.severity(entry.incident.severity);
        let articles = self.articles(&entry.incident.article, entry.incident.edition);
        if articles.is_empty() {
            severity.to_owned()
        } else {
            format!("{severity}; {articles}")
        }
    }

    pub(in crate::outputs::report) fn articles(self, article: &str, edition: Edition) -> String {
        if article.is_empty() {
            return self.edition(edition);
        }
        let edition = self.edition(edition);
        fill(
            self.words.articles,
            &[("article", article), ("edition", &edition)],
        )
    }

    /// Opening, updates and endings, one line for each.
    pub(in crate::outputs::report) fn incident_course(self, entry: &IncidentReport) -> Vec<String> {
        let words = self.words;
        let mut course = vec![format!("{}: {}", words.opened, self.time(entry.opened))];
        course.extend(self.steps(entry));
        course.extend(entry.closed.iter().map(|closing| self.closing(closing)));
        if entry.closed.is_empty() {
            course.push(words.still_open.to_owned());
        }
        course
    }

    /// Updates, one line for each; more than [`MAX_STEPS`] are counted in one line.
    fn steps(self, entry: &IncidentReport) -> Vec<String> {
        let words = self.words;
        let line = |step: &IncidentStep| {
            let severity = self.severity(step.severity);
            format!("{}: {}, {severity}", words.updated, self.time(step.ts))
        };
        match entry.steps.as_slice() {
            [_, .., last] if entry.steps.len() > MAX_STEPS => {
                let (n, time) = (entry.steps.len().to_string(), self.time(last.ts));
                let values = [("n", n.as_str()), ("time", time.as_str())];
                let severity = self.severity(last.severity);
                vec![format!("{}, {severity}", fill(words.updated_often, &values))]
            }
            steps => steps.iter().map(line).collect(),
        }
    }

    fn closing(self, closing: &Closing) -> String {
        let words = self.words;
        let mut text = format!(
            "{}: {}, {}",
            words.closed,
            self.time(closing.ts),
            label(words.closings, closing.reason.as_str()),
        );
        let by = match &closing.decided_by {
            Some(by) => Some(self.person(by)),
            // The source of the result is stated with the result, and need not be the Laws.
            None if closing.reason == IncidentEnd::GameOver => None,
            None => Some(label(words.closers, closing.by.as_str()).to_owned()),
        };
        if let Some(by) = by {
            text.extend([" (", &by, ")"]);
        }
        if let Some(counts) = closing.counts {
            text.push_str("; ");
            text.push_str(if counts { words.counts } else { words.counts_not });
        }
        if let Some(decision) = &closing.decision {
            text.push_str(": ");
            // A ruling on a claim is a word of the command vocabulary.
            text.push_str(label(words.arguments, decision));
        }
        text
    }

    /// Advice in the language and letters of the report. Falls back to the text of the event if no catalogue has its
    /// case.
    pub(in crate::outputs::report) fn advice(
        self,
        game: Option<GameRenderer<'_>>,
        entry: &IncidentReport,
    ) -> String {
        let incident = &entry.incident;
        let mut values = incident.evidence.values.clone();
        if let Some(game) = game {
            for name in MOVES {
                if let Some(serde_json::Value::String(moves)) = values.get_mut(name) {
                    *moves = game.localised(moves, incident);
                }
            }
        }
        let text = advice(self.manner.language, incident, &values);
        match values.get("moves").and_then(serde_json::Value::as_str) {
            Some(moves) if incident.kind == IncidentKind::TwoMinuteClaim && !moves.is_empty() => {
                let moves = fill(self.words.last_moves, &[("moves", moves)]);
                format!("{text} {moves}")
            }
            _ => text,
        }
    }

    /// Location of the evidence: port and times, and packets of the capture.
    pub(in crate::outputs::report) fn incident_places(
        self,
        source: Option<&SourceFile>,
        entry: &IncidentReport,
    ) -> Vec<String> {
        let words = self.words;
        let evidence = &entry.incident.evidence;
        let mut lines: Vec<String> = Vec::new();
        lines.extend(entry.port.as_ref().map(|port| {
            let times = [self.time_exactly(evidence.from), self.time_exactly(evidence.to)];
            let times = match &times {
                [from, to] if from == to => from.clone(),
                [from, to] => fill(words.until, &[("from", from), ("to", to)]),
            };
            fill(words.on_port, &[("port", port), ("times", &times)])
        }));
        if let Some((source, span)) = source.zip(entry.frames) {
            let (first, last) = (span.first.number.to_string(), span.last.number.to_string());
            let (packets, filter) = if first == last {
                (words.packet, format!("frame.number == {first}"))
            } else {
                (
                    words.packets,
                    format!("frame.number >= {first} && frame.number <= {last}"),
                )
            };
            let packets = fill(packets, &[("first", &first), ("last", &last)]);
            let offset = span.first.offset.to_string();
            lines.push(fill(
                words.in_capture,
                &[
                    ("file", source.name()),
                    ("packets", &packets),
                    ("offset", &offset),
                    ("filter", &filter),
                ],
            ));
        }
        lines
    }
}

/// Maximum number of updates that are listed one by one.
const MAX_STEPS: usize = 3;

impl IncidentReport {
    /// Whether the arbiter has decided on the incident.
    pub(in crate::outputs::report) fn is_decided(&self) -> bool {
        self.closed.iter().any(|closing| closing.by == ClosedBy::Arbiter)
    }

    /// Whether the report leaves a line for the decision: for undecided violations, and for open incidents except time
    /// trouble.
    pub(in crate::outputs::report) fn awaits_decision(&self) -> bool {
        let incident = &self.incident;
        let open = self.closed.is_empty() && incident.kind != IncidentKind::TimeTrouble;
        !self.is_decided() && (incident.severity == Severity::Violation || open)
    }
}

impl<'v> GameRenderer<'v> {
    /// Incidents shown as cards: violations, and advice that is open or has a diagram.
    pub(in crate::outputs::report) fn cards(self) -> impl Iterator<Item = &'v IncidentReport> {
        self.game
            .incidents
            .iter()
            .filter(move |entry| self.is_card(entry))
    }

    /// Incidents shown in one line each.
    pub(in crate::outputs::report) fn others(self) -> impl Iterator<Item = &'v IncidentReport> {
        self.game
            .incidents
            .iter()
            .filter(move |entry| !self.is_card(entry))
    }

    /// Heading of [`others`](Self::others). Without cards, these are all incidents.
    pub(in crate::outputs::report) fn others_heading(self) -> &'static str {
        let words = self.view.words;
        if self.cards().next().is_some() {
            words.other_incidents
        } else {
            words.incidents
        }
    }

    fn is_card(self, entry: &IncidentReport) -> bool {
        match entry.incident.severity {
            Severity::Violation => true,
            Severity::Advice => entry.closed.is_empty() || self.view.shown_position(entry).is_some(),
            Severity::Hint | Severity::Info => false,
        }
    }
}

impl GameRenderer<'_> {
    /// Translates moves in English SAN, separated by spaces or commas, to the notation of the report. Words that are
    /// not moves are left unchanged.
    fn localised(self, moves: &str, incident: &Incident) -> String {
        let before = incident.evidence.fen.as_deref();
        let before =
            before.unwrap_or_else(|| fen_before(&self.game.record, incident.ply.unwrap_or_default()));
        let translate = |text: &str| match text.parse::<SanPlus>() {
            Ok(san) => self.notation.san(&san, is_en_passant(text, before)),
            Err(_) => text.to_owned(),
        };
        let listed = moves.split(", ").map(|moves| {
            let moves: Vec<String> = moves.split(' ').map(translate).collect();
            moves.join(" ")
        });
        listed.collect::<Vec<_>>().join(", ")
    }
}
