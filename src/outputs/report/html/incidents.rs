//! Incidents on the page: cards for the important ones, a list of the rest.

use maud::{Markup, html};

use super::{blank, diagram};
use crate::outputs::report::model::{IncidentReport, Report, SourceFile};
use crate::outputs::report::position::squares;
use crate::outputs::report::view::{GameRenderer, Renderer, Reported};
use crate::outputs::report::words::fill;

/// Link to an incident of a game.
pub(super) fn anchor(game: usize, incident: u64) -> String {
    format!("#{}", anchor_id(Some(game), incident))
}

fn anchor_id(game: Option<usize>, incident: u64) -> String {
    match game {
        Some(game) => format!("game-{game}-incident-{incident}"),
        None => format!("incident-{incident}"),
    }
}

/// Cards of the important incidents.
pub(super) fn cards(report: &Report, game: GameRenderer<'_>, number: usize) -> Markup {
    let words = game.view.words;
    let entries: Vec<&IncidentReport> = game.cards().collect();
    if entries.is_empty() && game.others().next().is_some() {
        return html! {};
    }
    html! {
        section class="part" {
            h3 { (words.incidents) }
            @if entries.is_empty() { p { (words.no_incidents) } }
            @for entry in entries { (card(report, game.view, Some((game, number)), entry)) }
        }
    }
}

/// List of the other incidents, one line for each.
pub(super) fn others(game: GameRenderer<'_>, number: usize) -> Markup {
    let entries: Vec<&IncidentReport> = game.others().collect();
    if entries.is_empty() {
        return html! {};
    }
    html! {
        section class="part" {
            h3 { (game.others_heading()) }
            ul class="others" {
                @for entry in entries {
                    li id=(anchor_id(Some(number), entry.incident.incident)) {
                        b { (game.view.incident_title(Some(game), entry)) } ". "
                        span class="aside" { (game.view.severity(entry.incident.severity)) "; " (game.view.incident_course(entry).join("; ")) ". " }
                        (game.view.advice(Some(game), entry))
                    }
                }
            }
        }
    }
}

pub(super) fn card(
    report: &Report,
    view: Renderer<'_>,
    game: Option<(GameRenderer<'_>, usize)>,
    entry: &IncidentReport,
) -> Markup {
    let words = view.words;
    let incident = &entry.incident;
    let figure = view.shown_position(entry);
    let figure = figure
        .and_then(|fen| diagram::figure(view, view.diagram_caption(entry), fen, squares(&incident.squares)));
    let game_view = game.map(|(game, _)| game);
    let id = match game {
        Some((_, number)) => anchor_id(Some(number), incident.incident),
        None => format!("{}-{}", entry.board, anchor_id(None, incident.incident)),
    };
    html! {
        article class=(format!("incident {}", incident.severity)) id=(id.replace(char::is_whitespace, "-")) {
            h4 { (view.incident_title(game_view, entry)) }
            div class="beside" {
                @if let Some(figure) = figure { (figure) }
                div class="facts" {
                    p class="rule" {
                        span class="severity" { (view.severity(incident.severity)) } " "
                        (view.articles(&incident.article, incident.edition))
                    }
                    p class="advice" { strong { (words.advice) ": " } (view.advice(game_view, entry)) }
                    ul class="course" { @for line in view.incident_course(entry) { li { (line) } } }
                    @if entry.awaits_decision() { p class="decision" { (words.decision) ": " (blank()) } }
                    @if let Some(shown) = incident.evidence.clock { p { (view.clock_sentence(shown)) } }
                    (evidence(view, report.source.as_ref(), entry))
                }
            }
        }
    }
}

/// The squares with their reported changes, and the packets of the capture.
fn evidence(view: Renderer<'_>, source: Option<&SourceFile>, entry: &IncidentReport) -> Markup {
    let words = view.words;
    let marked = &entry.incident.squares;
    html! {
        div class="evidence" {
            p {
                @if !marked.is_empty() { (fill(words.marked, &[("squares", &marked.join(", "))])) ". " }
                @if !entry.changes.is_empty() { (words.changes) ": " }
                @for (number, (change, reported)) in view.changes(entry).iter().enumerate() {
                    @if number > 0 { " · " }
                    (view.time_exactly(change.change.at)) " "
                    @match reported {
                        Reported::AtOnce(squares) => { (squares) }
                        Reported::One(piece) => { b { (change.change.square) } " " (piece) }
                    }
                    @if let Some(frame) = change.frame { " (" (words.frame) " " (frame.number) ")" }
                }
            }
            p { (view.incident_places(source, entry).join(" ")) }
        }
    }
}
