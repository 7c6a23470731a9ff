//! Draws that a player may claim (Art. 9.2, 9.3). They are published for the arbiter, who does not tell the players.

use kiebitz_hardware::Timestamp;
use shakmaty::san::SanPlus;
use shakmaty::{Chess, Move, Position};

use super::history::History;
use super::{LineEntry, Referee};
use crate::events::{ClaimReason, EventKind};
use crate::laws::{Severity, Topic};

mod asked;

/// Number of occurrences of a position that allow a claim (Art. 9.2).
const THREEFOLD: usize = 3;
/// Plies without a pawn move or capture that allow a claim: 50 moves by each player (Art. 9.3).
const FIFTY_MOVES: u32 = 100;

/// A claim that the player to move may make.
#[derive(Debug, PartialEq, Eq)]
struct Claim {
    reason: ClaimReason,
    occurrences: Vec<u32>,
    /// In SAN, one or more moves of which the player may announce any.
    intended: Option<String>,
}

impl Claim {
    const fn topic(&self) -> Topic {
        match (self.reason, self.intended.is_some()) {
            (ClaimReason::Threefold, false) => Topic::Threefold,
            (ClaimReason::Threefold, true) => Topic::ThreefoldIntended,
            (ClaimReason::FiftyMoves, false) => Topic::FiftyMoves,
            (ClaimReason::FiftyMoves, true) => Topic::FiftyMovesIntended,
        }
    }
}

impl Referee {
    /// Publishes that the player to move may claim a draw by repetition after a settled ply.
    ///
    /// If only the reply settled the ply, the right has lapsed (Art. 9.4). The claim is published anyway, for the
    /// record.
    pub(super) fn offer_threefold(&mut self, now: Timestamp, ply: u32) {
        let Some(history) = self.history().map(|history| history.up_to(ply)) else {
            return;
        };
        if !history.may_repeat() {
            return;
        }
        let claims = history.last().position().map(|here| threefold(&history, here));
        for claim in claims.into_iter().flatten() {
            self.offer(now, ply, claim);
        }
    }

    /// Publishes that a player may claim a draw by 50 moves, which each player must have completed (Art. 9.3.2). If no
    /// press was observed, a reply shows that the move was completed. Published once for each player while the claim
    /// lasts.
    pub(super) fn offer_fifty(&mut self, now: Timestamp) {
        let Some(game) = self.game.as_ref().filter(|game| !game.ended) else {
            return;
        };
        let last = u32::try_from(game.published.len()).unwrap_or(u32::MAX);
        for ply in last.saturating_sub(1).max(1)..=last {
            self.offer_fifty_after(now, ply, ply < last);
        }
    }

    fn offer_fifty_after(&mut self, now: Timestamp, ply: u32, answered: bool) {
        let Some(history) = self.history().map(|history| history.up_to(ply)) else {
            return;
        };
        let Some(entry) = history.last_entry().filter(|entry| entry.settled.is_some()) else {
            return;
        };
        let quiet = history.quiet();
        let due = entry.completed.is_some() || answered;
        let Some(position) = history.last().position().filter(|_| quiet + 1 >= FIFTY_MOVES) else {
            return;
        };
        let since = vec![ply.saturating_sub(quiet)];
        let claim = if quiet < FIFTY_MOVES {
            let moves = position.legal_moves();
            let moves: Vec<Move> = moves.iter().copied().filter(|m| !m.is_zeroing()).collect();
            (!entry.offered.intended_fifty && !moves.is_empty()).then(|| Claim {
                reason: ClaimReason::FiftyMoves,
                occurrences: since,
                intended: Some(san_list(position, &moves)),
            })
        } else {
            (due && !history.fifty_was_offered()).then_some(Claim {
                reason: ClaimReason::FiftyMoves,
                occurrences: since,
                intended: None,
            })
        };
        let Some(claim) = claim else { return };
        let intended = claim.intended.is_some();
        self.note_offer(ply, |offered| {
            if intended {
                offered.intended_fifty = true;
            } else {
                offered.fifty = true;
            }
        });
        self.offer(now, ply, claim);
    }

    fn note_offer(&mut self, ply: u32, note: impl Fn(&mut Offered)) {
        let published = self.game.as_mut().map(|game| &mut game.published);
        if let Some(entry) = published.and_then(|published| published.get_mut(super::index(ply))) {
            note(&mut entry.offered);
        }
    }

    fn offer(&mut self, now: Timestamp, ply: u32, claim: Claim) {
        let Some(history) = self.history().map(|history| history.up_to(ply)) else {
            return;
        };
        let rules = &self.regulations.rules;
        let event = EventKind::ClaimAvailable {
            color: history.last().turn(),
            ply,
            reason: claim.reason,
            article: rules.article(claim.topic()).to_owned(),
            occurrences: claim.occurrences,
            intended: claim.intended,
            severity: Severity::Info,
            edition: rules.edition,
        };
        self.publish(now, event);
        if let Some(game) = &mut self.game {
            game.claim_after = Some(ply);
        }
    }
}

/// Claims by the 50-move rule that were published after a ply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Offered {
    fifty: bool,
    intended_fifty: bool,
}

impl History<'_> {
    /// Whether a claim by 50 moves was published for the player to move since the last pawn move or capture.
    fn fifty_was_offered(&self) -> bool {
        let quiet = usize::try_from(self.quiet()).unwrap_or(usize::MAX);
        let own = self.plies().iter().rev().step_by(2).take(quiet.div_ceil(2));
        own.into_iter().any(|entry| entry.offered.fifty)
    }

    fn last_entry(&self) -> Option<&LineEntry> {
        self.plies().last()
    }
}

/// Claims by repetition of the player to move: for the position on the board, and for each move that could be
/// announced.
fn threefold(history: &History<'_>, here: &Chess) -> Vec<Claim> {
    let repetitions = history.occurrences(here);
    let mut claims = Vec::new();
    if repetitions.len() >= THREEFOLD {
        claims.push(Claim {
            reason: ClaimReason::Threefold,
            occurrences: repetitions,
            intended: None,
        });
    }
    for m in here.legal_moves().iter().filter(|m| !m.is_zeroing()) {
        let mut next = here.clone();
        next.play_unchecked(*m);
        let repetitions = history.occurrences(&next);
        if repetitions.len() + 1 >= THREEFOLD {
            claims.push(Claim {
                reason: ClaimReason::Threefold,
                occurrences: repetitions,
                intended: Some(san_list(here, &[*m])),
            });
        }
    }
    claims
}

fn san_list(position: &Chess, moves: &[Move]) -> String {
    let san_list = moves
        .iter()
        .map(|m| SanPlus::from_move(position.clone(), *m).to_string());
    san_list.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
