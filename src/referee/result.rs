//! What the Laws make of a result: whether somebody can still mate, and how many moves are completed.

use shakmaty::{Chess, Color};

use super::{Referee, Running};
use crate::laws::{Rules, Topic};
use crate::mating::{self, Answer};

/// Whether a side can still mate is asked again and again of positions in play: so few nodes take two milliseconds at the
/// most, ten on a small computer. The same number everywhere gives the same answer everywhere.
pub(super) const IN_PLAY: u64 = 2_000;
/// Where a result depends on it, once or twice a game, it may take a tenth of a second.
pub(super) const FOR_A_RESULT: u64 = 100_000;

/// Whether `side` can mate by any sequence of legal moves; `None`: so many nodes do not tell.
pub(super) fn can_mate(position: &Chess, side: Color, nodes: u64) -> Option<bool> {
    mating::quick(position, side).or_else(|| match mating::can_mate(position, side, nodes).answer {
        Answer::Can { .. } => Some(true),
        Answer::Cannot { .. } => Some(false),
        Answer::Undetermined => None,
    })
}

/// A result as entered, and as the Laws have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entered {
    pub(super) result: &'static str,
    pub(super) note: Option<String>,
}

impl Referee {
    /// How many moves of the game a player has made (Art. 4.7), completed or not.
    pub(super) fn moves_made(&self, player: Color) -> u32 {
        self.count(|entry| entry.ply.color == player)
    }

    fn count(&self, counts: impl Fn(&super::Entry) -> bool) -> u32 {
        let published = self.game.iter().flat_map(|game| &game.published);
        u32::try_from(published.filter(|entry| counts(entry)).count()).unwrap_or(u32::MAX)
    }
}

impl Running {
    /// The last position that the Laws know: an illegal move is gone back behind (Art. 7.5.1).
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

    /// What the Laws make of a result that rests on a resignation, a flag or illegal moves: a draw where the winner could
    /// not have mated. Where that cannot be found out in time, the result stands as entered.
    pub(super) fn entered(&self, result: &'static str, reason: &str, rules: &Rules) -> Entered {
        let as_entered = Entered { result, note: None };
        let winner = match result {
            "1-0" => Color::White,
            "0-1" => Color::Black,
            _ => return as_entered,
        };
        let (spares, topic) = match reason {
            "resignation" => (rules.resignation_spares(), Topic::Resignation),
            "flag" => (true, Topic::Flag),
            "illegal_moves" => (rules.penalty_spares(), Topic::Penalty),
            _ => return as_entered,
        };
        let Some(position) = self.last_legal().filter(|_| spares) else {
            return as_entered;
        };
        let article = rules.article(topic);
        let name = winner.fold_wb("White", "Black");
        match can_mate(position, winner, FOR_A_RESULT) {
            Some(true) => as_entered,
            Some(false) => Entered {
                result: "1/2-1/2",
                note: Some(format!(
                    "a draw: {name} cannot mate by any sequence of legal moves (Art. {article})"
                )),
            },
            None => Entered {
                note: Some(format!(
                    "a draw instead if {name} cannot mate by any sequence of legal moves (Art. {article}): that was \
                     not found out"
                )),
                ..as_entered
            },
        }
    }
}

#[cfg(test)]
mod tests;
