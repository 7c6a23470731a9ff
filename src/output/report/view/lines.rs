//! Whole lines that both forms of a report show.

use shakmaty::san::SanPlus;

use super::{GameView, View, clock, own_clock};
use crate::events::{ClaimReason, GameResult, Incident};
use crate::laws;
use crate::laws::{Edition, IncidentKind, Severity};
use crate::output::report::claims::{ClaimSheet, Countdown, Occurrence, Offer, Repeated};
use crate::output::report::model::{
    Adjournment, Amendment, Closing, Correction, IncidentReport, Note, Source,
};
use crate::output::report::position::fen_before;
use crate::output::report::words::{fill, say};
use crate::tracker::Variant;
use shakmaty::Color;

/// The start position of chess.
const STANDARD: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

impl View<'_> {
    /// "#3 Illegal move: White, move 12".
    pub(in crate::output::report) fn incident_title(
        self,
        game: Option<GameView<'_>>,
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
        let whose = if parts.is_empty() { "" } else { ": " };
        format!("#{} {title}{whose}{}", incident.incident, parts.join(", "))
    }

    /// What the diagram of an incident shows.
    pub(in crate::output::report) fn diagram_caption(self, entry: &IncidentReport) -> &'static str {
        if entry.incident.kind == IncidentKind::WrongStartPosition {
            self.words.set_up
        } else {
            self.words.diagram
        }
    }

    pub(in crate::output::report) fn severity(self, severity: Severity) -> &'static str {
        laws::word(self.manner.language, "severity", severity.as_str())
    }

    /// Severity, article and edition.
    pub(in crate::output::report) fn incident_rule(self, entry: &IncidentReport) -> String {
        let severity = self.severity(entry.incident.severity);
        let articles = self.articles(&entry.incident.article, entry.incident.edition);
        if articles.is_empty() {
            severity.to_owned()
        } else {
            format!("{severity}; {articles}")
        }
    }

    pub(in crate::output::report) fn articles(self, article: &str, edition: Edition) -> String {
        if article.is_empty() {
            return self.edition(edition);
        }
        let edition = self.edition(edition);
        fill(
            self.words.articles,
            &[("article", article), ("edition", &edition)],
        )
    }

    /// When it was opened, changed and closed.
    pub(in crate::output::report) fn incident_course(self, entry: &IncidentReport) -> Vec<String> {
        let words = self.words;
        let mut course = vec![format!("{}: {}", words.opened, self.time(entry.opened))];
        course.extend(entry.steps.iter().map(|step| {
            let severity = self.severity(step.severity);
            format!("{}: {}, {severity}", words.updated, self.time(step.ts))
        }));
        course.extend(entry.closed.iter().map(|closing| self.closing(closing)));
        if entry.closed.is_empty() {
            course.push(words.still_open.to_owned());
        }
        course
    }

    fn closing(self, closing: &Closing) -> String {
        let words = self.words;
        let mut text = format!(
            "{}: {}, {} ({})",
            words.closed,
            self.time(closing.ts),
            say(words.closings, closing.reason.as_str()),
            say(words.closers, closing.by.as_str()),
        );
        if let Some(counts) = closing.counts {
            text.push_str("; ");
            text.push_str(if counts { words.counts } else { words.counts_not });
        }
        if let Some(decision) = &closing.decision {
            text.push_str(": ");
            text.push_str(decision);
        }
        text
    }

    /// The advice in this report's language and letters; in the event's own words where no catalogue has its case.
    pub(in crate::output::report) fn advice(
        self,
        game: Option<GameView<'_>>,
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
        let text = laws::text(self.manner.language, &incident.case, &values);
        if text.is_empty() {
            incident.advice.clone()
        } else {
            text
        }
    }

    /// Where the evidence is: packets of the capture, else port and times.
    pub(in crate::output::report) fn incident_places(
        self,
        source: Option<&Source>,
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
                    ("file", &source.file),
                    ("packets", &packets),
                    ("offset", &offset),
                    ("filter", &filter),
                ],
            ));
        }
        lines
    }

    /// Who gave a command.
    pub(in crate::output::report) fn person(self, by: &str) -> String {
        say(self.words.people, by).to_owned()
    }

    /// What a command said beside its name.
    fn told(self, arguments: &serde_json::Value) -> Vec<String> {
        let known = self.words.arguments;
        let plain = |value: &serde_json::Value| match value {
            serde_json::Value::String(text) => text.clone(),
            other => say(known, &other.to_string()).to_owned(),
        };
        let place = |name: &str| known.iter().position(|(word, _)| *word == name);
        let mut fields: Vec<_> = arguments.as_object().into_iter().flatten().collect();
        fields.sort_by_key(|(name, _)| place(name));
        let told = fields.into_iter().map(|(name, value)| {
            let value = match (name.as_str(), value) {
                ("reason", serde_json::Value::String(reason)) => say(self.words.endings, reason).to_owned(),
                (_, serde_json::Value::Array(list)) => list.iter().map(plain).collect::<Vec<_>>().join(" "),
                (_, value) => plain(value),
            };
            format!("{}: {value}", say(known, name))
        });
        told.collect()
    }

    /// What a person asked for or changed, one line for each thing.
    pub(in crate::output::report) fn amendment(self, amendment: &Amendment) -> Vec<String> {
        let words = self.words;
        match amendment {
            Amendment::Command {
                action,
                arguments,
                error,
                ..
            } => {
                let mut lines = vec![fill(
                    words.command,
                    &[("action", say(words.actions, action.as_str()))],
                )];
                lines.extend(self.told(arguments));
                lines.extend(
                    error
                        .as_ref()
                        .map(|error| fill(words.refused, &[("error", error)])),
                );
                lines
            }
            Amendment::Game {
                result,
                reason,
                players,
                time_control,
                moves,
                position,
                note,
                ..
            } => {
                let mut lines: Vec<String> = Vec::new();
                lines.extend(result.map(|result| {
                    if result == GameResult::Unknown && reason.is_none() {
                        return words.goes_on.to_owned();
                    }
                    let why = reason.map(|reason| format!(": {}", say(words.endings, reason.as_str())));
                    fill(words.changed_result, &[("result", result.as_str())]) + &why.unwrap_or_default()
                }));
                lines.extend(players.as_ref().map(|players| {
                    let (white, black) = self.players(Some(players));
                    fill(words.changed_players, &[("white", &white), ("black", &black)])
                }));
                let told = [
                    (words.changed_time_control, "control", time_control.clone()),
                    (
                        words.changed_moves,
                        "n",
                        moves.as_ref().map(|moves| moves.len().to_string()),
                    ),
                    (words.changed_position, "fen", position.clone()),
                    (words.changed_note, "note", note.clone()),
                ];
                lines.extend(
                    told.into_iter()
                        .filter_map(|(template, name, value)| Some(fill(template, &[(name, &value?)]))),
                );
                lines
            }
        }
    }
}

/// Values of advice that hold moves in English SAN, one or several.
const MOVES: [&str; 2] = ["played", "moves"];

impl GameView<'_> {
    /// The head of a score sheet, label and value; an empty value is for a person to fill in.
    pub(in crate::output::report) fn head(self) -> Vec<(&'static str, String)> {
        let (record, words) = (&self.game.record, self.view.words);
        let (white, black) = self.view.players(record.players.as_ref());
        let untold = || words.untold.to_owned();
        let mut head = vec![
            (words.event, record.event.clone().unwrap_or_default()),
            (words.white, white),
            (words.black, black),
            (words.board, record.board.clone()),
            (words.played, self.played_at()),
            (
                words.laws,
                record.laws.map_or_else(untold, |laws| self.view.edition(laws)),
            ),
            (
                words.mode,
                record
                    .mode
                    .map_or_else(untold, |mode| say(words.modes, mode.as_str()).to_owned()),
            ),
            (
                words.time_control,
                record.time_control.clone().unwrap_or_else(untold),
            ),
        ];
        if let Some(site) = &record.site {
            head.insert(1, (words.site, site.clone()));
        }
        if record.start_fen != STANDARD {
            let variant = if record.variant == Variant::Chess960 {
                "Chess960: "
            } else {
                ""
            };
            head.push((words.start, format!("{variant}{}", record.start_fen)));
        }
        head.push((words.result, self.result()));
        head
    }

    /// Moves in English SAN, with commas between them, in the letters of this report. What is no move stays.
    fn localised(self, moves: &str, incident: &Incident) -> String {
        let before = incident.evidence.fen.as_deref();
        let before =
            before.unwrap_or_else(|| fen_before(&self.game.record, incident.ply.unwrap_or_default()));
        let moves = moves.split(", ").map(|text| match text.parse::<SanPlus>() {
            Ok(san) => self
                .notation
                .san(&san, crate::output::report::position::is_en_passant(text, before)),
            Err(_) => text.to_owned(),
        });
        moves.collect::<Vec<_>>().join(", ")
    }

    pub(in crate::output::report) fn claim_title(self, sheet: &ClaimSheet) -> String {
        let words = self.view.words;
        let title = match sheet.reason {
            ClaimReason::Threefold => words.threefold,
            ClaimReason::FiftyMoves => words.fifty,
        };
        match (&sheet.article, sheet.edition) {
            (Some(article), Some(edition)) => {
                format!("{title} ({})", self.view.articles(article, edition))
            }
            _ => title.to_owned(),
        }
    }

    /// What the record shows, without a verdict.
    pub(in crate::output::report) fn verdict(self, sheet: &ClaimSheet) -> String {
        let words = self.view.words;
        if sheet.reason != ClaimReason::Threefold {
            let half = sheet.countdown.half_moves;
            let values = [("half", half.to_string()), ("n", (half / 2).to_string())];
            let [half, n] = &values;
            return fill(words.shows_moves, &[(half.0, &half.1), (n.0, &n.1)]);
        }
        let count = sheet.occurrences.len().to_string();
        let last = sheet.offers.last();
        let template = match last.filter(|offer| offer.intended.is_some()) {
            Some(offer) if sheet.occurrences.iter().all(|at| at.ply <= offer.ply) => words.shows_intended,
            _ => words.shows_times,
        };
        fill(template, &[("n", &count)])
    }

    pub(in crate::output::report) fn offers(self, sheet: &ClaimSheet) -> Vec<String> {
        sheet.offers.iter().map(|offer| self.offer(offer)).collect()
    }

    fn offer(self, offer: &Offer) -> String {
        let words = self.view.words;
        let intended = offer.intended.as_ref().map(|san| {
            let before = fen_before(&self.game.record, offer.ply.saturating_add(1));
            let en_passant = crate::output::report::position::is_en_passant(san, before);
            self.numbered(
                offer.ply.saturating_add(1),
                &self.text(Some(san), None, en_passant),
            )
        });
        let template = if intended.is_some() {
            words.claimable_with
        } else {
            words.claimable
        };
        fill(
            template,
            &[
                ("color", words.color(offer.color)),
                ("move", &self.name(offer.ply)),
                ("time", &self.view.time(offer.ts)),
                ("intended", &intended.unwrap_or_default()),
            ],
        )
    }

    /// Headings of the table of occurrences.
    pub(in crate::output::report) fn occurrence_heads(self) -> [&'static str; 7] {
        let words = self.view.words;
        [
            words.after,
            words.time,
            words.white_s,
            words.black_s,
            words.castling,
            words.en_passant,
            words.seen,
        ]
    }

    pub(in crate::output::report) fn occurrences(self, sheet: &ClaimSheet) -> Vec<[String; 7]> {
        sheet.occurrences.iter().map(|at| self.occurrence(at)).collect()
    }

    fn occurrence(self, at: &Occurrence) -> [String; 7] {
        let words = self.view.words;
        let known = match (at.inferred, at.order_certain) {
            (false, _) => words.watched,
            (true, true) => words.inferred,
            (true, false) => words.order_uncertain,
        };
        let shown = |of: fn(&crate::events::Clock) -> u64| {
            at.clock
                .as_ref()
                .map_or_else(|| "-".to_owned(), |shown| clock(of(shown)))
        };
        [
            self.name(at.ply),
            self.view.time(at.at),
            shown(|shown| shown.white_ms),
            shown(|shown| shown.black_ms),
            words.or_none(&at.castling).to_owned(),
            at.en_passant.clone().unwrap_or_else(|| words.none.to_owned()),
            known.to_owned(),
        ]
    }

    pub(in crate::output::report) fn near(self, sheet: &ClaimSheet) -> Vec<String> {
        let near = sheet.near.iter().map(|near| {
            let differences = near
                .differences
                .iter()
                .map(|what| self.view.words.difference(what));
            let differences: Vec<String> = differences.collect();
            format!("{}: {}", self.name(near.ply), differences.join("; "))
        });
        near.collect()
    }

    pub(in crate::output::report) fn stood_after(self, repeated: &Repeated) -> String {
        let (n, moves) = (repeated.plies.len().to_string(), self.names(&repeated.plies));
        fill(self.view.words.stood_after, &[("n", &n), ("moves", &moves)])
    }

    /// The last capture or pawn move, and how many half-moves ago it was.
    pub(in crate::output::report) fn countdown(self, countdown: Countdown) -> String {
        let words = self.view.words;
        let last = words.irreversible(countdown.last);
        let last = fill(last, &[("move", &self.name(countdown.last_ply))]);
        let since = fill(words.half_moves, &[("n", &countdown.half_moves.to_string())]);
        format!("{last} {since}")
    }

    pub(in crate::output::report) fn all_withdrawn(self, correction: &Correction) -> String {
        let withdrawn = correction.withdrawn.iter().map(|entry| self.withdrawn(entry));
        withdrawn.collect::<Vec<_>>().join(", ")
    }

    /// When, after which move, and what happened.
    pub(in crate::output::report) fn note(self, note: &Note) -> [String; 3] {
        let (Note::Gap { after_ply, .. }
        | Note::BoardDisconnected { after_ply, .. }
        | Note::BoardConnected { after_ply, .. }
        | Note::ClockDisconnected { after_ply, .. }
        | Note::ClockConnected { after_ply, .. }
        | Note::ClockBatteryLow { after_ply, .. }) = note;
        let time = match note {
            Note::Gap { from, to, .. } => {
                format!("{} - {}", self.view.time(*from), self.view.time(*to))
            }
            other => self.view.time(other.ts()),
        };
        let after = format!("{} {}", self.view.words.after, self.name(*after_ply));
        [time, after, self.view.words.note(note)]
    }

    /// What the envelope must say, label and value; an empty value is for a person to fill in.
    pub(in crate::output::report) fn envelope(self, adjournment: &Adjournment) -> Vec<(String, String)> {
        let (record, words, view) = (&self.game.record, self.view.words, self.view);
        let (white, black) = view.players(record.players.as_ref());
        let color = words.color(adjournment.color);
        let number = format!("{} ({color})", adjournment.move_number);
        let mut envelope = vec![
            (words.white.to_owned(), white),
            (words.black.to_owned(), black),
            (words.adjourned_position.to_owned(), adjournment.fen.clone()),
            (words.seals.to_owned(), color.to_owned()),
            (words.sealed_number.to_owned(), number),
        ];
        for (player, used) in [
            (words.white, &adjournment.white),
            (words.black, &adjournment.black),
        ] {
            envelope.push((format!("{}, {player}", words.time_used), view.time_used(used)));
            let left = used.left_ms.map_or_else(|| words.untold.to_owned(), clock);
            envelope.push((format!("{}, {player}", words.time_left), left));
        }
        let control = adjournment.time_control.clone();
        envelope.extend([
            (
                words.time_control.to_owned(),
                control.unwrap_or_else(|| words.untold.to_owned()),
            ),
            (words.start.to_owned(), adjournment.start_fen.clone()),
            (
                words.occurrences.to_owned(),
                self.countdown(self.game.claims.countdown),
            ),
            (words.repeated.to_owned(), self.repeated()),
            (words.draw_offer.to_owned(), String::new()),
            (words.resumption.to_owned(), String::new()),
            (words.checked_by.to_owned(), String::new()),
        ]);
        envelope
    }

    fn repeated(self) -> String {
        let repeated = &self.game.claims.repeated;
        if repeated.is_empty() {
            return self.view.words.never_repeated.to_owned();
        }
        let repeated = repeated.iter().map(|repeated| self.stood_after(repeated));
        repeated.collect::<Vec<_>>().join("; ")
    }

    /// First and last time that a player's clock showed after moves.
    pub(in crate::output::report) fn ends_of_clock(self, color: Color) -> Option<(u64, u64)> {
        let own = self.game.record.moves.iter().filter(|entry| entry.color == color);
        let mut shown = own.filter_map(own_clock);
        let first = shown.next()?;
        Some((first, shown.next_back().unwrap_or(first)))
    }
}
