//! Questions to the arbiter about a second game on a board whose game of the round is over.

use kiebitz_hardware::Timestamp;

use super::watch::News;
use super::{OpenGame, Referee};
use crate::events::pairing::{CountingGame, MIN_PLIES, leaves_open, place_of};
use crate::events::{GameResult, Players};

impl Referee {
    /// The game before the one that begins, if it counts for a pairing.
    pub(super) fn counting_before(&self) -> Option<CountingGame> {
        let before = self.game.as_ref().or(self.previous.as_ref())?;
        let verdict = before.verdict.as_ref().filter(|_| before.counts());
        CountingGame::of(
            &before.id.id,
            before.players.clone(),
            verdict.map(|verdict| verdict.result),
        )
    }

    /// Asks the arbiter which pairing the game counts for, once [`MIN_PLIES`] plies have been made. A game that was
    /// announced for another pairing than that of the last paired game needs no question.
    pub(super) fn ask_for_pairing(&mut self, now: Timestamp) {
        let (Some(first), Some(game)) = (&self.last_paired, &mut self.game) else {
            return;
        };
        if game.pairing_asked || game.plies() < MIN_PLIES {
            return;
        }
        game.pairing_asked = true;
        let (round, table) = place_of(Some(&first.players));
        let is_open = match place_of(game.players.as_ref()) {
            (None, _) | (_, None) => true,
            place => place == (round, table),
        };
        if let (Some(round), Some(table), true) = (round, table, is_open) {
            let news = News::SecondGame {
                round,
                table,
                first: first.game.clone(),
                second: game.id.id.clone(),
                has_result: first.has_result,
            };
            self.watch(now, news);
        }
    }

    /// Applies corrected players to the last paired game, so that a replayed game gets the corrected ones.
    pub(super) fn correct_last_paired(&mut self, game: &str, players: &Players) {
        if let Some(last) = self.last_paired.as_mut().filter(|last| last.game == game) {
            last.players.clone_from(players);
        }
    }

    /// Updates whether the last paired game has a result, after one was entered or withdrawn.
    pub(super) fn enter_result_of_last_paired(&mut self, game: &str, result: GameResult) {
        if let Some(last) = self.last_paired.as_mut().filter(|last| last.game == game) {
            last.has_result = result != GameResult::Unknown;
        }
    }

    /// Closes the questions about the last pairing when a game begins for another one.
    pub(super) fn close_questions_of_other_rounds(&mut self, now: Timestamp) {
        let place = place_of(self.game.as_ref().and_then(|game| game.players.as_ref()));
        let last = place_of(self.last_paired.as_ref().map(|last| &last.players));
        if matches!(place, (Some(_), Some(_))) && place != last {
            self.watch(now, News::NextRound);
        }
    }
}

impl OpenGame {
    fn plies(&self) -> u32 {
        u32::try_from(self.published.len()).unwrap_or(u32::MAX)
    }

    /// Whether the game is over and counts for its pairing.
    fn counts(&self) -> bool {
        let verdict = self.verdict.as_ref().filter(|_| self.ended);
        verdict.is_some_and(|verdict| !leaves_open(verdict.result, verdict.reason, self.plies()))
    }
}

#[cfg(test)]
mod tests;
