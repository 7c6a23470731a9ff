//! Results according to the Laws: whether a side can still mate, and the number of moves made.

use std::collections::BTreeMap;

use kiebitz_hardware::Timestamp;
use shakmaty::{Chess, Color};

use super::watch::News;
use super::{OpenGame, Referee};
use crate::events::{EndReason, GameResult, color};
use crate::laws::mating::{self, MatingAnswer, Reason};
use crate::laws::{Regulations, Rules, Topic, answer};

/// Node limit of mate searches during play, which are frequent: at most two milliseconds, ten on a small computer. A
/// fixed number gives the same answer on every computer.
pub(super) const MAX_NODES_IN_PLAY: u64 = 2_000;
/// Node limit of a mate search that decides a result, once or twice a game: a tenth of a second.
pub(super) const MAX_NODES_FOR_RESULT: u64 = 100_000;

/// Whether `side` can mate by any sequence of legal moves; `None` if `nodes` do not suffice to find out.
pub(super) fn can_mate(position: &Chess, side: Color, nodes: u64) -> Option<bool> {
    mating::quick(position, side).or_else(|| match mating::can_mate(position, side, nodes).answer {
        MatingAnswer::Can { .. } => Some(true),
        MatingAnswer::Cannot { .. } => Some(false),
        MatingAnswer::Undetermined => None,
    })
}

/// Whether `side` may win on time or by the opponent's illegal move: it can mate (Art. 6.9, 7.5.5), or it has mating
/// material if the Laws require that (1997: C.4). `None` if `nodes` do not suffice to find out.
pub(super) fn may_win(position: &Chess, side: Color, rules: &Rules, nodes: u64) -> Option<bool> {
    if rules.needs_mating_material() {
        return mating::has_mating_material(position, side, nodes);
    }
    can_mate(position, side, nodes)
}

/// A result according to the Laws, with a note if it differs from the entered one or is doubtful.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AdjustedResult {
    pub(super) result: GameResult,
    pub(super) note: Option<String>,
}

impl Referee {
    /// Number of moves that a player has made in the game (Art. 4.7), completed or not.
    pub(super) fn moves_made(&self, player: Color) -> u32 {
        self.count(|entry| entry.ply.color == player)
    }

    /// Reports a draw shown on the board before the regulations allow players to agree to one (2023: Art. 9.1.1).
    pub(super) fn report_early_draw(&mut self, now: Timestamp) {
        let limit = self.regulations.no_draw_before_move;
        let shown = self.game.as_ref().zip(limit).filter(|(game, _)| {
            let verdict = game.verdict.as_ref();
            verdict.is_some_and(|verdict| verdict.result == GameResult::Draw)
        });
        let early = shown.and_then(|(game, limit)| Some((game.made_before(limit)?, limit)));
        if let Some((made, limit)) = early {
            // Open incidents are closed with the game first.
            self.watch(now, News::Game);
            self.watch(now, News::EarlyDraw { made, limit });
        }
    }

    fn count(&self, counts: impl Fn(&super::LineEntry) -> bool) -> u32 {
        let published = self.game.iter().flat_map(|game| &game.published);
        u32::try_from(published.filter(|entry| counts(entry)).count()).unwrap_or(u32::MAX)
    }
}

impl OpenGame {
    /// Number of moves that both players have made, if it is below `limit`.
    pub(super) fn made_before(&self, limit: u32) -> Option<u32> {
        let made = |color| {
            let own = self.published.iter().filter(|entry| entry.ply.color == color);
            u32::try_from(own.count()).unwrap_or(u32::MAX)
        };
        let made = made(Color::White).min(made(Color::Black));
        (made < limit).then_some(made)
    }

    /// Last legal position: illegal moves are undone first (Art. 7.5.1).
    pub(super) fn last_legal(&self) -> Option<&Chess> {
        let last = self.published.last().map_or(0, |last| last.ply.number);
        let placed = self.placed.last().filter(|placed| placed.ply == last);
        let placed = placed.and_then(|placed| placed.state.position());
        let played = self
            .published
            .iter()
            .rev()
            .filter(|entry| entry.ply.played.is_some());
        let mut played = played.filter_map(|entry| entry.ply.after.position());
        placed.or_else(|| played.next()).or_else(|| self.start.position())
    }

    /// Whether the last completed move of a player was illegal. Such a move cannot win on time.
    fn last_move_was_illegal(&self, player: Color) -> bool {
        let mut plies = self.published.iter().rev();
        let last = plies.find(|entry| entry.ply.color == player && entry.completed.is_some());
        last.is_some_and(|entry| entry.ply.played.is_none())
    }

    /// Adjusts an entered result that rests on a resignation, a flag or illegal moves: a draw if the winner could not
    /// have mated. If the search limit does not suffice to find out, the result stands as entered.
    pub(super) fn entered(
        &self,
        result: GameResult,
        reason: EndReason,
        regulations: &Regulations,
    ) -> AdjustedResult {
        let as_entered = AdjustedResult { result, note: None };
        let rules = &regulations.rules;
        let Some(winner) = result.winner() else {
            return as_entered;
        };
        let (spares, topic) = match reason {
            EndReason::Resignation => (rules.resignation_spares(), Topic::Resignation),
            EndReason::Flag => (true, Topic::Flag),
            EndReason::IllegalMoves => (
                rules.penalty_spares() || rules.needs_mating_material(),
                Topic::Penalty,
            ),
            EndReason::Checkmate
            | EndReason::Stalemate
            | EndReason::DeadPosition
            | EndReason::Fivefold
            | EndReason::SeventyFiveMoves
            | EndReason::Kings
            | EndReason::ResultPiece
            | EndReason::Reset
            | EndReason::Gap
            | EndReason::Agreement
            | EndReason::Claim
            | EndReason::Quickplay
            | EndReason::Default
            | EndReason::Conduct
            | EndReason::Arbiter
            | EndReason::Void
            | EndReason::Adjourned => return as_entered,
        };
        let Some(position) = self.last_legal().filter(|_| spares) else {
            return as_entered;
        };
        let last_illegal = reason == EndReason::Flag && self.last_move_was_illegal(winner);
        let illegal = Doubt {
            answer: "illegal_last",
            certain: false,
            why: None,
        };
        let doubt = match doubt(position, winner, rules) {
            None if last_illegal => Some(illegal),
            doubt => doubt,
        };
        let Some(doubt) = doubt else {
            return as_entered;
        };
        let mut values = BTreeMap::from([
            ("color".to_owned(), color::as_str(winner).into()),
            ("article".to_owned(), rules.article(topic).into()),
        ]);
        if let Some(why) = doubt.why {
            values.insert("why".to_owned(), why.name().into());
        }
        AdjustedResult {
            result: if doubt.certain { GameResult::Draw } else { result },
            note: Some(answer(regulations.language, doubt.answer, &values)),
        }
    }
}

/// Doubt about an entered win.
struct Doubt {
    answer: &'static str,
    certain: bool,
    why: Option<Reason>,
}

/// Checks whether the winner could have mated. Returns a doubt if not, or if the search limit does not suffice to find
/// out.
fn doubt(position: &Chess, winner: Color, rules: &Rules) -> Option<Doubt> {
    let doubt = |answer, certain, why| Some(Doubt { answer, certain, why });
    if rules.needs_mating_material() {
        return match mating::has_mating_material(position, winner, MAX_NODES_FOR_RESULT) {
            Some(true) => None,
            Some(false) => doubt("no_material", true, None),
            None => doubt("unknown_material", false, None),
        };
    }
    match mating::can_mate(position, winner, MAX_NODES_FOR_RESULT).answer {
        MatingAnswer::Can { .. } => None,
        MatingAnswer::Cannot { why } => doubt("no_mate", true, Some(why)),
        MatingAnswer::Undetermined => doubt("unknown_mate", false, None),
    }
}

#[cfg(test)]
mod tests;
