//! The report as a self-contained HTML page for screen, phone and A4 paper.
//!
//! The page has no script and loads nothing. maud escapes all values.

mod curve;
mod diagram;
mod incidents;
mod summary;

use kiebitz_game::events::record::MoveRecord;
use maud::{DOCTYPE, Markup, PreEscaped, html as page};
use shakmaty::Bitboard;

use super::claims::ClaimSheet;
use super::model::{Adjournment, Amendment, Report, Standings};
use super::view::{GameRenderer, Manner, PlyMark, Renderer, clock, own_clock, rows, took};
use super::words::{fill, label};

/// Renders the report as an HTML page.
#[must_use]
pub fn html(report: &Report, manner: &Manner) -> String {
    let view = Renderer::new(manner);
    let words = view.words;
    let title = match report.games.as_slice() {
        [game] => format!("{}: {}", words.title, view.game(game).heading()),
        _ => words.title.to_owned(),
    };
    let page = page! {
        (DOCTYPE)
        html lang=(manner.language.code()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="robots" content="noindex";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                (diagram::pieces())
                (page_header(view, report))
                main {
                    @for (number, game) in (1..).zip(&report.games) {
                        (game_section(report, view.game(game), number))
                    }
                    @if let Some(shown) = &report.standings { (standings(view, shown)) }
                    @if !report.outside.is_empty() {
                        section class="part" {
                            h2 { (words.outside) }
                            @for entry in &report.outside { (incidents::card(report, view, None, entry)) }
                        }
                    }
                }
            }
        }
    };
    page.into_string()
}

const STYLE: &str = include_str!("html/style.css");

fn page_header(view: Renderer<'_>, report: &Report) -> Markup {
    let words = view.words;
    page! {
        header {
            h1 { (words.title) }
            p class="confidential" { (words.confidential) }
            @if let Some(source) = &report.source {
                p class="source" { (fill(words.made_from, &[("file", source.name())])) }
                @if let Some(byte) = source.cut_at {
                    p { strong { (fill(words.cut_at, &[("byte", &byte.to_string())])) } }
                }
            }
            @if report.games.is_empty() { p { (words.no_games) } }
            @if report.games.len() > 1 {
                nav aria-label=(words.games) {
                    ul {
                        @for (number, game) in (1..).zip(&report.games) {
                            @let (white, black) = view.players(game.record.players.as_ref());
                            li {
                                a href=(format!("#game-{number}")) { (view.game(game).heading()) }
                                " " (white) " - " (black) " " (game.record.result)
                            }
                        }
                    }
                }
            }
        }
    }
}

fn game_section(report: &Report, game: GameRenderer<'_>, number: usize) -> Markup {
    let words = game.view.words;
    page! {
        section class="game" id=(format!("game-{number}")) {
            h2 { (game.heading()) }
            (summary::summary(game, number))
            section class="part" {
                h3 { (words.score) }
                (score(game, number))
            }
            (incidents::cards(report, game, number))
            (incidents::others(game, number))
            (claims(game))
            (corrections(game))
            (notes(game))
            (amendments(game))
            (curve::clocks(game))
            (summary::signatures(game))
            @if let Some(adjournment) = game.adjournment() { (envelope(game, adjournment)) }
        }
    }
}

/// Renders a blank line to write on.
fn blank() -> Markup {
    page! { span class="blank" {} }
}

/// Renders the score sheet in blocks, two side by side if the page is wide enough.
fn score(game: GameRenderer<'_>, number: usize) -> Markup {
    let words = game.view.words;
    let rows = rows(game);
    let legend = game.legend();
    page! {
        @if rows.is_empty() { p { (words.no_moves) } }
        div class="score" {
            @for block in rows.chunks(block_length(rows.len())) {
                table {
                    thead {
                        tr {
                            th scope="col" { (words.number) }
                            @for color in [words.white, words.black] {
                                th scope="col" { (color) }
                                th scope="col" class="n" { (words.clock) }
                                th scope="col" class="n" { (words.took) }
                            }
                        }
                    }
                    tbody {
                        @for (move_number, white, black) in block {
                            tr {
                                th scope="row" { (move_number) "." }
                                (cells(game, *white, number))
                                (cells(game, *black, number))
                            }
                        }
                    }
                }
            }
        }
        @if !legend.is_empty() {
            dl class="legend" aria-label=(words.marks) {
                @for (sign, meaning) in legend { div { dt { (sign) } dd { (meaning) } } }
            }
        }
    }
}

/// Number of rows in a block. A short game has one block; a longer one has pairs of equal length, each no longer than a
/// page.
fn block_length(rows: usize) -> usize {
    if rows <= MAX_ROWS_OF_ONE {
        return MAX_ROWS_OF_ONE;
    }
    let pairs = rows.div_ceil(2 * MAX_ROWS_OF_PAGE);
    rows.div_ceil(2 * pairs)
}

/// Maximum number of rows of a game with a single block.
const MAX_ROWS_OF_ONE: usize = 20;
/// Rows that fit on an A4 page below the summary of a game.
const MAX_ROWS_OF_PAGE: usize = 32;

fn cells(game: GameRenderer<'_>, entry: Option<&MoveRecord>, number: usize) -> Markup {
    let Some(entry) = entry else {
        return page! { td {} td {} td {} };
    };
    page! {
        td class=(if entry.legal { "move" } else { "move irregular" }) {
            (game.played(entry))
            @for mark in game.marks(entry) {
                @match mark {
                    PlyMark::Incident(incident) => {
                        " " a class="ref" href=(incidents::anchor(number, incident)) { "#" (incident) }
                    }
                    PlyMark::Irregular => {}
                    mark => { span class="mark" { (mark.sign()) } }
                }
            }
        }
        td class="n" { @if let Some(left) = own_clock(entry) { (clock(left)) } }
        td class="n" { @if let Some(ms) = entry.elapsed_ms { (took(ms)) } }
    }
}

fn claims(game: GameRenderer<'_>) -> Markup {
    let words = game.view.words;
    let claims = &game.game.claims;
    page! {
        section class="part" {
            h3 { (words.claims) }
            @if !claims.sheets.is_empty() { p class="aside" { (words.claims_are) } }
            @for sheet in &claims.sheets { (claim_sheet(game, sheet)) }
            p class="aside" {
                @if claims.repeated.is_empty() {
                    (words.never_repeated)
                } @else {
                    (words.repeated) ": " (game.all_repeated()) "."
                }
                " " (game.countdown(claims.countdown))
            }
        }
    }
}

fn claim_sheet(game: GameRenderer<'_>, sheet: &ClaimSheet) -> Markup {
    let words = game.view.words;
    let position = diagram::figure(game.view, words.position_claimed, &sheet.fen, Bitboard::EMPTY);
    page! {
        article class="claim" {
            h4 { (game.claim_title(sheet)) }
            div class="beside" {
                @if let Some(position) = position { (position) }
                div class="facts" {
                    p class="verdict" { strong { (game.verdict(sheet)) } }
                    ul { @for line in game.offers(sheet) { li { (line) } } }
                    p { (game.countdown(sheet.countdown)) }
                    p class="key" { (words.key) ": " code { (sheet.key) } }
                }
            }
            @if !sheet.occurrences.is_empty() {
                table class="list" {
                    thead { tr { @for name in game.occurrence_heads() { th scope="col" { (name) } } } }
                    tbody {
                        @for row in game.occurrences(sheet) { tr { @for cell in row.as_ref() { td { (cell) } } } }
                    }
                }
            }
            @if !sheet.near.is_empty() {
                p { (words.near) ":" }
                ul { @for near in game.near(sheet) { li { (near) } } }
            }
        }
    }
}

fn corrections(game: GameRenderer<'_>) -> Markup {
    let words = game.view.words;
    let heads = [words.time, words.withdrawn, words.instead, words.reason];
    let rows = game.game.corrections.iter().map(|correction| {
        let played = correction.played.as_ref().map(|played| game.withdrawn(played));
        [
            game.view.time(correction.ts),
            game.all_withdrawn(correction),
            played.unwrap_or_default(),
            label(words.withdrawals, correction.reason.as_str()).to_owned(),
        ]
    });
    list(words.corrections, heads, rows.collect())
}

fn notes(game: GameRenderer<'_>) -> Markup {
    let words = game.view.words;
    let rows = game.game.notes.iter().map(|note| game.note(note));
    list(
        words.notes,
        [words.time, words.after, words.event_heading],
        rows.collect(),
    )
}

fn amendments(game: GameRenderer<'_>) -> Markup {
    let words = game.view.words;
    let rows = game.game.amendments.iter().map(|amendment| {
        let (Amendment::Command { ts, by, .. } | Amendment::Game { ts, by, .. }) = amendment;
        let changes = game.view.amendment(amendment).join("; ");
        [game.view.time(*ts), game.view.person(by), changes]
    });
    list(
        words.amendments,
        [words.time, words.by_heading, words.event_heading],
        rows.collect(),
    )
}

/// Renders a part of the report that consists of a table; empty if there are no rows.
fn list<const COLUMNS: usize>(heading: &str, heads: [&str; COLUMNS], rows: Vec<[String; COLUMNS]>) -> Markup {
    if rows.is_empty() {
        return page! {};
    }
    page! {
        section class="part" {
            h3 { (heading) }
            (list_of(&heads, rows))
        }
    }
}

fn standings(view: Renderer<'_>, shown: &Standings) -> Markup {
    let words = view.words;
    page! {
        section class="part standings" {
            h2 { (words.standings) }
            p { (view.after_round(shown)) }
            (list_of(&view.team_heads(), view.team_rows(shown)))
            (list_of(&view.player_heads(shown), view.player_rows(shown)))
            p class="aside" { (view.about_ranking(shown)) }
        }
    }
}

fn list_of<R: AsRef<[String]>>(heads: &[&str], rows: Vec<R>) -> Markup {
    page! {
        @if !rows.is_empty() {
            table class="list" {
                thead { tr { @for head in heads { th scope="col" { (head) } } } }
                tbody { @for row in rows { tr { @for cell in row.as_ref() { td { (cell) } } } } }
            }
        }
    }
}

fn envelope(game: GameRenderer<'_>, adjournment: &Adjournment) -> Markup {
    let words = game.view.words;
    let position = words.adjourned_position;
    let position = diagram::figure(game.view, position, &adjournment.fen, Bitboard::EMPTY);
    page! {
        section class="part envelope" {
            h3 { (words.adjournment) }
            p class="aside" { (words.adjournment_use) }
            @if adjournment.unsettled { p { strong { (words.unsettled) } } }
            div class="beside" {
                @if let Some(position) = position { (position) }
                table class="head facts" {
                    tbody {
                        @for (label, value) in game.envelope(adjournment) {
                            tr {
                                th scope="row" { (label) }
                                td { @if value.is_empty() { (blank()) } @else { (value) } }
                            }
                        }
                    }
                }
            }
        }
    }
}
