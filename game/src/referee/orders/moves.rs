//! Moves of a game corrected by the arbiter.

use kiebitz_hardware::Timestamp;
use shakmaty::san::San;

use crate::command::{CorrectMoves, Refusal, StandingDecision};
use crate::events::{Evidence, Ply};
use crate::position::State;
use crate::referee::OpenGame;
use crate::referee::words::index;

#[derive(Debug)]
pub(super) struct CorrectedMoves {
    /// Number of published moves that stay.
    pub(super) stay: usize,
    /// Entered moves after the ones that stay.
    pub(super) entered: Vec<Ply>,
    /// The position, if the arbiter gave one instead of moves.
    pub(super) position: Option<State>,
}

impl OpenGame {
    /// The positions of the game: its start, then one for each ply.
    pub(super) fn line(&self) -> Vec<State> {
        let played = self.published.iter().map(|entry| &entry.ply.after);
        let mut states: Vec<State> = core::iter::once(&self.start).chain(played).cloned().collect();
        for placed in &self.placed {
            let at = usize::try_from(placed.ply).ok();
            if let Some(state) = at.and_then(|at| states.get_mut(at)) {
                state.clone_from(&placed.state);
            }
        }
        states
    }

    /// The positions of the game with corrected moves.
    pub(super) fn states(&self, moves: &CorrectedMoves) -> Vec<State> {
        let mut states = self.line();
        states.truncate(moves.stay + 1);
        states.extend(moves.entered.iter().map(|ply| ply.after.clone()));
        states
    }

    /// Determines the moves that stay and the new ones.
    pub(super) fn corrected(
        &self,
        now: Timestamp,
        correct: &CorrectMoves,
    ) -> Result<CorrectedMoves, Refusal> {
        let from = index(correct.from);
        let plies = self.published.len();
        if from > plies || correct.from == 0 {
            return Err(Refusal::PlyTooLate {
                plies,
                from: correct.from,
            });
        }
        let line = self.line();
        let mut stay = from;
        let mut entered: Vec<Ply> = Vec::new();
        for text in &correct.moves {
            let before = entered
                .last()
                .map(|ply: &Ply| &ply.after)
                .or_else(|| line.get(stay));
            let Some(before) = before else { break };
            let published = self.published.get(stay).filter(|_| entered.is_empty());
            if published.is_some_and(|entry| is_named(&entry.ply, text)) {
                stay += 1;
                continue;
            }
            let number = u32::try_from(stay + entered.len() + 1).unwrap_or(u32::MAX);
            entered.push(ply(now, number, before, text)?);
        }
        if entered.is_empty() && stay == plies {
            return Err(Refusal::SameMoves);
        }
        Ok(CorrectedMoves {
            stay,
            entered,
            position: None,
        })
    }
}

impl OpenGame {
    /// Refuses to withdraw moves that another arbiter has entered, unless `replace` is set.
    pub(super) fn check_entered(
        &self,
        moves: &CorrectedMoves,
        by: &str,
        replace: bool,
    ) -> Result<(), Refusal> {
        let before = self.published.iter().skip(moves.stay);
        let after = moves.entered.iter().map(Some).chain(core::iter::repeat(None));
        for (entry, ply) in before.zip(after) {
            let is_same = ply.is_some_and(|ply| ply.uci == entry.ply.uci);
            let decided = entry.entered.as_ref().filter(|_| !is_same);
            let text = entry.ply.san.clone().unwrap_or_default();
            if let Some(standing) = StandingDecision::against(decided, by, replace, text) {
                return Err(Refusal::MoveEntered {
                    ply: entry.ply.number,
                    standing,
                });
            }
        }
        Ok(())
    }
}

/// Whether `text` is the UCI or SAN of a ply.
fn is_named(ply: &Ply, text: &str) -> bool {
    let bare = |san: &str| san.trim_end_matches(['+', '#']).to_owned();
    uci(ply).is_some_and(|uci| uci == text) || ply.san.as_deref().is_some_and(|san| bare(san) == bare(text))
}

pub(super) fn uci(ply: &Ply) -> Option<String> {
    ply.uci.map(|uci| uci.to_string())
}

/// Parses a move entered by the arbiter, in SAN or UCI.
fn ply(now: Timestamp, number: u32, before: &State, text: &str) -> Result<Ply, Refusal> {
    let by_uci = || before.move_of_uci(&text.parse().ok()?);
    let by_san = || before.move_of_san(&San::from_ascii(text.trim_end_matches(['+', '#']).as_bytes()).ok()?);
    let Some(played) = by_uci().or_else(by_san) else {
        return Err(Refusal::InvalidMove {
            given: text.to_owned(),
            ply: number,
            fen: before.fen(),
        });
    };
    Ok(Ply {
        number,
        color: before.turn(),
        played: Some(played),
        uci: Some(before.uci(played)),
        san: Some(before.san(played)),
        after: before.after(played),
        captured: played.capture(),
        lifted_at: now,
        stood_at: now,
        inferred: false,
        recovered: false,
        any_order: false,
        clock: None,
        evidence: Evidence::default(),
    })
}
