//! Positions that end the game by themselves.

use kiebitz_hardware::Timestamp;
use shakmaty::zobrist::Zobrist64;
use shakmaty::{Chess, EnPassantMode, KnownOutcome, Position};

use super::{Entry, Referee};
use crate::event::EventKind;

/// 75 moves by each player without a pawn move or capture (Laws since 2014, Art. 9.6.2).
const SEVENTY_FIVE_MOVES: u32 = 150;
/// The same position for the fifth time (Laws since 2014, Art. 9.6.1).
const FIVEFOLD: usize = 5;

impl Referee {
    /// Ends the game if the last ply published is certain and leaves nothing to play.
    pub(super) fn look_for_end(&mut self, now: Timestamp) {
        let Some(game) = self.game.as_ref().filter(|game| !game.ended) else {
            return;
        };
        let Some(last) = game.published.last().filter(|last| last.settled.is_some()) else {
            return;
        };
        // An irregular move ends nothing (Art. 5.1.1: the move must be in accord with Article 3).
        if last.ply.played.is_none() {
            return;
        }
        let Some(position) = last.ply.after.position() else {
            return;
        };
        let start = self.start.as_ref().and_then(|start| start.state.position());
        let Some((outcome, reason)) = verdict(position, start, &game.published) else {
            return;
        };
        let ply = last.ply.number;
        if last.completed.is_none() {
            let clock = last.ply.clock.map(super::clock_of);
            let completed = EventKind::MoveCompleted {
                ply,
                by: "game_end",
                clock,
                elapsed_ms: None,
            };
            self.say(now, None, completed, None);
        }
        self.end(now, outcome.to_string(), reason, "laws", true);
    }
}

/// Checkmate and stalemate come before what is counted (Art. 9.6.2).
fn verdict(
    position: &Chess,
    start: Option<&Chess>,
    published: &[Entry],
) -> Option<(KnownOutcome, &'static str)> {
    if position.is_checkmate() {
        return Some((
            KnownOutcome::Decisive {
                winner: !position.turn(),
            },
            "checkmate",
        ));
    }
    if position.is_stalemate() {
        return Some((KnownOutcome::Draw, "stalemate"));
    }
    if position.is_insufficient_material() {
        return Some((KnownOutcome::Draw, "dead_position"));
    }
    let key = |position: &Chess| position.zobrist_hash::<Zobrist64>(EnPassantMode::Legal);
    let here = key(position);
    let occurrences = start
        .into_iter()
        .chain(published.iter().filter_map(|entry| entry.ply.after.position()))
        .filter(|earlier| key(earlier) == here)
        .count();
    if occurrences >= FIVEFOLD {
        return Some((KnownOutcome::Draw, "fivefold"));
    }
    (position.halfmoves() >= SEVENTY_FIVE_MOVES).then_some((KnownOutcome::Draw, "seventy_five_moves"))
}
