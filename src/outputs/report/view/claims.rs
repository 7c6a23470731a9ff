//! Rendering of claims of a draw.

use kiebitz_game::events::ClaimReason;

use super::{GameRenderer, clock};
use crate::outputs::report::claims::{ClaimSheet, Countdown, Occurrence, Offer, Repeated};
use crate::outputs::report::position::{fen_before, is_en_passant};
use crate::outputs::report::words::fill;

impl GameRenderer<'_> {
    pub(in crate::outputs::report) fn claim_title(self, sheet: &ClaimSheet) -> String {
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

    /// Result of the count. Whether the claim is correct remains the arbiter's decision.
    pub(in crate::outputs::report) fn verdict(self, sheet: &ClaimSheet) -> String {
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

    pub(in crate::outputs::report) fn offers(self, sheet: &ClaimSheet) -> Vec<String> {
        sheet.offers.iter().map(|offer| self.offer(offer)).collect()
    }

    fn offer(self, offer: &Offer) -> String {
        let words = self.view.words;
        let intended = offer.intended.as_ref().map(|san| {
            let before = fen_before(&self.game.record, offer.ply.saturating_add(1));
            let en_passant = is_en_passant(san, before);
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

    pub(in crate::outputs::report) fn occurrence_heads(self) -> [&'static str; 7] {
        let words = self.view.words;
        [
            words.after,
            words.time,
            words.white_clock,
            words.black_clock,
            words.castling,
            words.en_passant,
            words.seen,
        ]
    }

    pub(in crate::outputs::report) fn occurrences(self, sheet: &ClaimSheet) -> Vec<[String; 7]> {
        sheet
            .occurrences
            .iter()
            .map(|entry| self.occurrence(entry))
            .collect()
    }

    fn occurrence(self, entry: &Occurrence) -> [String; 7] {
        let words = self.view.words;
        let source = match (entry.inferred, entry.order_certain) {
            (false, _) => words.watched,
            (true, true) => words.inferred,
            (true, false) => words.order_uncertain,
        };
        let shown = |of: fn(&kiebitz_game::events::Clock) -> u64| {
            entry
                .clock
                .as_ref()
                .map_or_else(|| "-".to_owned(), |shown| clock(of(shown)))
        };
        [
            self.name(entry.ply),
            self.view.time(entry.at),
            shown(|shown| shown.white_ms),
            shown(|shown| shown.black_ms),
            words.or_none(&entry.castling).to_owned(),
            entry.en_passant.clone().unwrap_or_else(|| words.none.to_owned()),
            source.to_owned(),
        ]
    }

    pub(in crate::outputs::report) fn near(self, sheet: &ClaimSheet) -> Vec<String> {
        let near = sheet.near.iter().map(|near| {
            let differences = near
                .differences
                .iter()
                .map(|difference| self.view.words.difference(difference));
            let differences: Vec<String> = differences.collect();
            format!("{}: {}", self.name(near.ply), differences.join("; "))
        });
        near.collect()
    }

    pub(in crate::outputs::report) fn stood_after(self, repeated: &Repeated) -> String {
        let (n, moves) = (repeated.plies.len().to_string(), self.names(&repeated.plies));
        fill(self.view.words.stood_after, &[("n", &n), ("moves", &moves)])
    }

    /// The last capture or pawn move, and the number of half-moves since.
    pub(in crate::outputs::report) fn countdown(self, countdown: Countdown) -> String {
        let words = self.view.words;
        let last = words.irreversible(countdown.last);
        let last = fill(last, &[("move", &self.name(countdown.last_ply))]);
        let since = fill(words.half_moves, &[("n", &countdown.half_moves.to_string())]);
        format!("{last} {since}")
    }
}
