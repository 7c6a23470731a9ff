//! The head of a score sheet and the envelope of an adjourned game: labels, and values where they are known.

use shakmaty::Color;

use super::{GameRenderer, clock, own_clock};
use crate::output::report::model::Adjournment;
use crate::output::report::words::say;
use crate::tracker::Variant;

/// The start position of chess.
const STANDARD: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

impl GameRenderer<'_> {
    /// The head of a score sheet, label and value; an empty value is for a person to fill in.
    pub(in crate::output::report) fn head(self) -> Vec<(&'static str, String)> {
        let (record, words) = (&self.game.record, self.view.words);
        let (white, black) = self.view.players(record.players.as_ref());
        let not_given = || words.not_given.to_owned();
        let mut head = vec![
            (words.event, record.event.clone().unwrap_or_default()),
            (words.white, white),
            (words.black, black),
            (words.board, record.board.clone()),
            (words.played, self.played_at()),
            (
                words.laws,
                record.laws.map_or_else(not_given, |laws| self.view.edition(laws)),
            ),
            (
                words.mode,
                record
                    .mode
                    .map_or_else(not_given, |mode| say(words.modes, mode.as_str()).to_owned()),
            ),
            (
                words.time_control,
                record.time_control.clone().unwrap_or_else(not_given),
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
            let left = used.left_ms.map_or_else(|| words.not_given.to_owned(), clock);
            envelope.push((format!("{}, {player}", words.time_left), left));
        }
        let control = adjournment.time_control.clone();
        envelope.extend([
            (
                words.time_control.to_owned(),
                control.unwrap_or_else(|| words.not_given.to_owned()),
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
