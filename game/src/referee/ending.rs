//! Positions that end the game without a claim.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::{Chess, Color, KnownOutcome, Position};

use super::history::History;
use super::{LineEntry, Referee, Verdict};
use crate::events::{CompletedBy, CorrectionReason, DecidedBy, EndReason, EventKind, Ply};
use crate::laws::{Fivefold, Rules, SeventyFive};

/// Moves by each player without a pawn move or capture that end the game.
const SEVENTY_FIVE_MOVES: u32 = 75;
/// Number of occurrences of a position that end the game.
const FIVEFOLD: usize = 5;
/// Plies between two of five occurrences at consecutive alternate moves (2014, Art. 9.6a).
const ALTERNATE: u32 = 4;

/// Number of legal moves after a shown result that prove, without a clock, that play continues.
const MIN_PLIES_PLAYED_ON: usize = 3;
/// Maximum delay of the first of these moves. A later one may be analysis.
const PLAYED_ON_WITHIN: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ending {
    outcome: KnownOutcome,
    reason: EndReason,
    /// Whether the game ends when the ply is made. Otherwise it ends when a ply is completed.
    made: bool,
}

impl Ending {
    const fn made(outcome: KnownOutcome, reason: EndReason) -> Self {
        Self {
            outcome,
            reason,
            made: true,
        }
    }
}

impl Referee {
    /// Ends the game if a published ply is settled and leaves no play.
    ///
    /// Checkmate, stalemate, a dead position, fivefold repetition and 75 moves end the game when the ply is made (75
    /// moves in 2014: when it is completed). Later moves, flags and shown results change nothing.
    pub(super) fn check_for_end(&mut self, now: Timestamp, ply: u32) {
        if self.is_settled(ply) && !self.end_by_laws(now, ply) {
            self.check_for_dead_position(now, ply);
        }
    }

    /// Ends the game if the completion of a ply does, as 75 moves do in 2014. The last ply must be settled.
    pub(super) fn check_for_end_by_completion(&mut self, now: Timestamp) {
        if let Some(last) = self.last_ply().filter(|last| self.is_settled(*last)) {
            self.end_by_laws(now, last);
        }
    }

    fn is_settled(&self, ply: u32) -> bool {
        let history = self.history().map(|history| history.up_to(ply));
        history.is_some_and(|history| history.plies().last().is_some_and(|last| last.settled.is_some()))
    }

    /// Called when the pieces are set up again or a result is shown. Ends the game by the Laws if the record shows that
    /// it was already over. No move can follow, so the last ply need not be settled.
    pub(super) fn end_by_laws_first(&mut self, now: Timestamp) {
        self.search_before_the_end(now, u32::MAX);
        if let Some(last) = self.last_ply() {
            self.end_by_laws(now, last);
        }
    }

    /// Ends the game if a published ply leaves no play. Returns whether it does.
    fn end_by_laws(&mut self, now: Timestamp, ply: u32) -> bool {
        let Some(ending) = self
            .history()
            .and_then(|history| verdict(&history.up_to(ply), &self.regulations.rules))
        else {
            return false;
        };
        self.search_before_the_end(now, ply.saturating_sub(1));
        let verdict = Verdict::laws(ending.outcome, ending.reason, true);
        if self.game().is_none() {
            // The game was over before this ply.
        } else if ending.made {
            self.end_with(now, ply, verdict);
        } else {
            self.end(now, None, verdict);
        }
        true
    }

    /// Ends the game with the making of a ply and withdraws later plies.
    pub(super) fn end_with(&mut self, now: Timestamp, ply: u32, verdict: Verdict) {
        let Some(last) = self
            .history()
            .and_then(|history| history.up_to(ply).plies().last())
        else {
            return;
        };
        let stood_at = last.ply.stood_at;
        let clock = last.ply.clock;
        let uncompleted = last.completed.is_none();
        self.withdraw_after(now, ply);
        if uncompleted {
            let by = CompletedBy::GameEnd;
            let completed = EventKind::MoveCompleted {
                ply,
                by,
                clock,
                elapsed_ms: None,
            };
            self.note_completed(ply, by, clock);
            self.publish(now, completed);
        }
        self.end(now, Some(stood_at).filter(|at| *at != now), verdict);
    }

    /// Reopens a game that the Laws ended if its last ply turns out not to have been played, because the piece moved on
    /// in the same motion. A ply without a press ends the game once the piece has rested, but the piece may still be in
    /// the player's hand.
    pub(super) fn check_last_ply(&mut self, now: Timestamp, ply: &Ply) {
        let Some(game) = self.game.as_ref().filter(|game| game.ended) else {
            return;
        };
        let model = self.watch.model();
        let rested = model.doubt + model.rest;
        let goes_on = game.published.last().is_some_and(|entry| {
            let last = &entry.ply;
            ply.number == last.number
                && ply.played.is_some()
                && ply.lifted_at == last.lifted_at
                && ply.stood_at <= last.stood_at + rested
                && !entry.is_pressed()
        });
        let ended = game
            .verdict
            .as_ref()
            .filter(|verdict| goes_on && verdict.by == DecidedBy::Laws);
        if let Some((result, reason)) = ended.map(|ended| (ended.result, ended.reason)) {
            self.publish(now, EventKind::GameResumed { result, reason });
            self.reopen();
        }
    }

    /// Reopens the game if play continues after a result shown on the board: a square was misread, or the players had
    /// not agreed. The plies played since then belong to the game.
    pub(super) fn check_for_play(&mut self, now: Timestamp) {
        let Some(game) = self.game.as_ref().filter(|game| game.is_shown()) else {
            return;
        };
        let (Some(shown_at), Some(verdict)) = (game.shown_at, game.verdict.clone()) else {
            return;
        };
        // Pieces put up after the game can look like another line of play.
        let same = |(old, new): (&LineEntry, &LineEntry)| old.ply.after.board() == new.ply.after.board();
        let kept = game.published.iter().zip(&self.line).all(same);
        let since = self.line.get(game.published.len()..).unwrap_or_default();
        let legal = |entry: &LineEntry| entry.ply.played.is_some() && entry.ply.lifted_at > shown_at;
        let goes_on = if self.clock.connected {
            self.clock.running && since.iter().any(|entry| legal(entry) && entry.is_pressed())
        } else {
            let in_time = |first: &LineEntry| first.ply.lifted_at <= shown_at + PLAYED_ON_WITHIN;
            let soon = since.first().is_some_and(in_time);
            soon && since.len() >= MIN_PLIES_PLAYED_ON && since.iter().all(legal)
        };
        if kept && goes_on {
            let (result, reason) = (verdict.result, verdict.reason);
            self.publish(now, EventKind::GameResumed { result, reason });
            self.reopen();
            self.follow(now, CorrectionReason::Recovered);
        }
    }

    pub(super) fn reopen(&mut self) {
        if let Some(game) = &mut self.game {
            game.ended = false;
            game.verdict = None;
            game.shown_at = None;
        }
    }

    fn withdraw_after(&mut self, now: Timestamp, ply: u32) {
        let Some(game) = &mut self.game else { return };
        let kept = super::index(ply) + 1;
        if game.published.len() > kept {
            game.keep(kept);
            let (ply, reason) = (ply + 1, CorrectionReason::AfterEnd);
            self.publish(now, EventKind::MoveRetracted { ply, reason });
        }
    }
}

/// End of the game by its last ply. Checkmate and stalemate take precedence over repetition and 75 moves (Art. 9.6.2).
fn verdict(history: &History<'_>, rules: &Rules) -> Option<Ending> {
    let last = history.plies().last()?;
    // An irregular move does not end the game (Art. 5.1.1: the move must be in accord with Article 3). A legal move
    // does, even after an illegal move that stands.
    last.ply.played?;
    let state = history.last();
    let immobile = state.legal_moves().is_empty();
    if immobile && state.in_check() {
        let winner = !state.turn();
        return Some(Ending::made(
            KnownOutcome::Decisive { winner },
            EndReason::Checkmate,
        ));
    }
    if immobile && state.board().king_of(state.turn()).is_some() {
        return Some(Ending::made(KnownOutcome::Draw, EndReason::Stalemate));
    }
    let position = state.position()?;
    if position.is_insufficient_material() {
        return Some(Ending::made(KnownOutcome::Draw, EndReason::DeadPosition));
    }
    if fivefold(history, position, rules) {
        return Some(Ending::made(KnownOutcome::Draw, EndReason::Fivefold));
    }
    seventy_five(history, rules)
}

fn fivefold(history: &History<'_>, position: &Chess, rules: &Rules) -> bool {
    let Some(rule) = rules.fivefold() else {
        return false;
    };
    if !history.may_repeat() {
        return false;
    }
    let occurrences = history.occurrences(position);
    match rule {
        Fivefold::AnyOrder => occurrences.len() >= FIVEFOLD,
        Fivefold::Consecutive => {
            let last = history.plies().last().map_or(0, |last| last.ply.number);
            (0..FIVEFOLD as u32)
                .map(|nth| last.checked_sub(nth * ALTERNATE))
                .all(|ply| ply.is_some_and(|ply| occurrences.contains(&ply)))
        }
    }
}

fn seventy_five(history: &History<'_>, rules: &Rules) -> Option<Ending> {
    let rule = rules.seventy_five()?;
    let made = history.quiet();
    let ending = Ending::made(KnownOutcome::Draw, EndReason::SeventyFiveMoves);
    match rule {
        SeventyFive::Made => (made >= 2 * SEVENTY_FIVE_MOVES).then_some(ending),
        SeventyFive::Completed => {
            let last = history.plies().last()?.ply.color;
            let waiting = |color: Color| {
                let quiet = history
                    .plies()
                    .iter()
                    .rev()
                    .take(usize::try_from(made).unwrap_or(usize::MAX));
                let waiting = quiet.filter(|entry| entry.ply.color == color && entry.completed.is_none());
                u32::try_from(waiting.count()).unwrap_or(u32::MAX)
            };
            let completed = [
                made.div_ceil(2).saturating_sub(waiting(last)),
                (made / 2).saturating_sub(waiting(!last)),
            ];
            let all = completed
                .into_iter()
                .all(|completed| completed >= SEVENTY_FIVE_MOVES);
            all.then_some(Ending {
                made: false,
                ..ending
            })
        }
    }
}

impl Verdict {
    pub(super) fn laws(outcome: KnownOutcome, reason: EndReason, confirmed: bool) -> Self {
        Self {
            result: outcome.into(),
            reason,
            by: DecidedBy::Laws,
            confirmed,
            decided: None,
        }
    }
}

#[cfg(test)]
mod tests;
