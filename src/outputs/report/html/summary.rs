//! The start of a game's report, and the lines for signatures at its end.

use maud::{Markup, html};

use super::{blank, incidents};
use crate::outputs::report::view::GameRenderer;

/// Players, result, and the points that an arbiter looks for first.
pub(super) fn summary(game: GameRenderer<'_>, number: usize) -> Markup {
    let words = game.view.words;
    let (result, explanation) = game.outcome();
    html! {
        section class="summary" aria-label=(words.summary) {
            p class="players" {
                @for (color, name) in game.named_players() {
                    span class="player" {
                        small { (color) } " "
                        @match name { Some(name) => { strong { (name) } } None => { (blank()) } }
                    }
                }
            }
            p class="result" {
                @if let Some(result) = result { b { (result) } " " }
                (explanation)
            }
            @for list in game.points() {
                dl class=(if list.points.is_empty() { "none" } else { "some" }) {
                    dt { (list.heading) }
                    dd {
                        @if list.points.is_empty() { (list.none) }
                        @for point in &list.points {
                            div {
                                @match point.incident {
                                    Some(incident) => { a href=(incidents::anchor(number, incident)) { (point.text) } }
                                    None => { (point.text) }
                                }
                            }
                        }
                        @if let Some(more) = &list.more { div { (more) } }
                    }
                }
            }
            p class="aside" { @for line in game.circumstances() { (line) br; } }
        }
    }
}

/// Lines for the arbiter's decision and for signatures.
pub(super) fn signatures(game: GameRenderer<'_>) -> Markup {
    let words = game.view.words;
    html! {
        section class="part signatures" {
            h3 { (words.signatures) }
            dl {
                @for (label, value) in game.signatures() {
                    div {
                        dt { (label) }
                        dd { @match value { Some(value) => { (value) " " } None => {} } (blank()) }
                    }
                }
            }
        }
    }
}
