//! Rendering of the envelope of an adjourned game.

use kiebitz_game::events::EndReason;
use shakmaty::Color;

use super::{GameRenderer, clock, own_clock};
use crate::outputs::report::model::Adjournment;

impl<'a> GameRenderer<'a> {
    /// Labels and values for the envelope. Empty values are filled in by hand.
    pub(in crate::outputs::report) fn envelope(self, adjournment: &Adjournment) -> Vec<(String, String)> {
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
        let control = self.time_control().or_else(|| adjournment.time_control.clone());
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

    /// Data for the envelope; `None` if it does not belong in the report.
    pub(in crate::outputs::report) fn adjournment(self) -> Option<&'a Adjournment> {
        let adjourned = self.game.record.reason == Some(EndReason::Adjourned);
        let wanted = self.view.manner.adjournment || adjourned;
        self.game.adjournment.as_ref().filter(|_| wanted)
    }

    fn repeated(self) -> String {
        if self.game.claims.repeated.is_empty() {
            return self.view.words.never_repeated.to_owned();
        }
        self.all_repeated()
    }

    pub(in crate::outputs::report) fn all_repeated(self) -> String {
        let repeated = &self.game.claims.repeated;
        let repeated = repeated.iter().map(|repeated| self.stood_after(repeated));
        repeated.collect::<Vec<_>>().join("; ")
    }

    /// First and last reading of a player's clock after their own moves, in milliseconds.
    pub(in crate::outputs::report) fn ends_of_clock(self, color: Color) -> Option<(u64, u64)> {
        let own = self.game.record.moves.iter().filter(|entry| entry.color == color);
        let mut shown = own.filter_map(own_clock);
        let first = shown.next()?;
        Some((first, shown.next_back().unwrap_or(first)))
    }
}
