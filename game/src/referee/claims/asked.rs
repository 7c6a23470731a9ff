//! Assesses a player's claim from the record of the game. Matters of opinion are left to the arbiter.

use std::collections::BTreeMap;

use shakmaty::san::San;
use shakmaty::uci::UciMove;
use shakmaty::{ByColor, Chess, Color, Move, Position, Role};

use super::{FIFTY_MOVES, THREEFOLD};
use crate::command::PlayersClaim;
use crate::laws::{Bonus, ClaimFault, ClaimKind, DrawClaim, Known, Situation, TwoMinuteClaim};
use crate::referee::history::History;
use crate::referee::{LineEntry, Referee};

/// Number of the opponent's last moves that are checked for attempts to win.
const WINDOW: usize = 50;
/// Number of a player's last moves over which the average time per move is taken.
const PACE_MOVES: usize = 10;

impl Referee {
    /// Returns the claimant and the evidence of the record for a claim; `None` if no game is in progress.
    pub(in crate::referee) fn assess_claim(&self, claim: &PlayersClaim) -> Option<(Color, Situation)> {
        let history = self.history()?;
        let turn = history.last().turn();
        let claimant = claim.color.unwrap_or(turn);
        let situation = match claim.kind {
            ClaimKind::Threefold | ClaimKind::FiftyMoves => {
                Situation::DrawClaimed(Box::new(self.draw_claim(&history, claim, claimant)))
            }
            ClaimKind::Quickplay | ClaimKind::Increment => {
                let asks_increment = claim.kind == ClaimKind::Increment;
                Situation::TwoMinuteClaimed(Box::new(self.two_minute_claim(
                    &history,
                    asks_increment,
                    claimant,
                )))
            }
        };
        Some((claimant, situation))
    }

    fn draw_claim(&self, history: &History<'_>, claim: &PlayersClaim, claimant: Color) -> DrawClaim {
        let fifty_moves = claim.kind == ClaimKind::FiftyMoves;
        let current = history.last().position();
        let played = claim
            .intended
            .as_deref()
            .zip(current)
            .map(|(text, current)| legal(current, text));
        let intended = match (played, &claim.intended) {
            (Some(Some(m)), _) => Some(history.last().san(m)),
            (_, given) => given.clone(),
        };
        let after = match (current, played) {
            (Some(current), Some(Some(m))) => current.clone().play(m).ok(),
            (current, None) => current.cloned(),
            (None, Some(Some(_))) | (_, Some(None)) => None,
        };
        let occurrences = after
            .as_ref()
            .map_or_else(Vec::new, |after| history.occurrences(after));
        let ahead = u32::from(claim.intended.is_some());
        let quiet = history.quiet();
        let (count, right, list) = if fifty_moves {
            let zeroing = matches!(played, Some(Some(m)) if m.is_zeroing());
            let last = u32::try_from(history.plies().len())
                .unwrap_or(u32::MAX)
                .saturating_sub(quiet);
            let list = history.name(last).unwrap_or_default();
            (quiet, quiet + ahead >= FIFTY_MOVES && !zeroing, list)
        } else {
            let count = u32::try_from(occurrences.len()).unwrap_or(u32::MAX);
            let names: Vec<String> = occurrences.iter().filter_map(|ply| history.name(*ply)).collect();
            (
                count,
                occurrences.len() + usize::from(ahead > 0) >= THREEFOLD,
                names.join(", "),
            )
        };
        let fault = match played {
            _ if claimant != history.last().turn() => Some(ClaimFault::NotOnMove),
            Some(None) => Some(ClaimFault::IllegalMove),
            _ if !right => Some(ClaimFault::Count),
            _ => None,
        };
        DrawClaim {
            fifty_moves,
            intended,
            fault,
            count,
            from_start: !fifty_moves && occurrences.contains(&0),
            list,
            times: self.watch.face().map(|face| face.times_ms()),
        }
    }

    fn two_minute_claim(
        &self,
        history: &History<'_>,
        asks_increment: bool,
        claimant: Color,
    ) -> TwoMinuteClaim {
        let control = self.regulations.time_control.as_ref();
        let made = self.moves_made(claimant);
        let increment = control.map(|control| control.bonus(made.saturating_add(1)) != Bonus::None);
        let last_period = control.map(|control| control.is_last(control.standing(made).period));
        let plies = history.plies();
        let recent = plies
            .get(plies.len().saturating_sub(2 * WINDOW)..)
            .unwrap_or_default();
        let opponents: Vec<&LineEntry> = recent
            .iter()
            .filter(|entry| entry.ply.color != claimant)
            .collect();
        let number = |counts: &dyn Fn(&LineEntry) -> bool| {
            let counted = opponents.iter().filter(|entry| counts(entry)).count();
            u32::try_from(counted).unwrap_or(u32::MAX)
        };
        let last = |is: fn(&LineEntry) -> bool| {
            let last = plies.iter().rev().find(|entry| is(entry))?;
            history.name(last.ply.number)
        };
        let pace = |color: Color| {
            let own = recent.iter().rev().filter(|entry| entry.ply.color == color);
            let times: Vec<u64> = own
                .filter_map(|entry| entry.completed?.2)
                .take(PACE_MOVES)
                .collect();
            let count = u64::try_from(times.len()).ok().filter(|count| *count > 0)?;
            times.iter().sum::<u64>().checked_div(count)
        };
        TwoMinuteClaim {
            asks_increment,
            on_move: claimant == history.last().turn(),
            left: self.watch.face().map(|face| face.times_ms()),
            increment: Known::from(increment),
            last_period: Known::from(last_period),
            announced: Known::from(self.regulations.quickplay_finish),
            window: u32::try_from(opponents.len()).unwrap_or(u32::MAX),
            captures: number(&takes),
            pawn_moves: number(&moves_pawn),
            checks: number(&checks),
            last_capture: last(takes),
            last_pawn: last(moves_pawn),
            stood: history.occurrence_count(history.last().position()),
            most: history.most_frequent(),
            pace_ms: ByColor::new_with(pace),
            moves: history.movetext(recent),
        }
    }
}

fn takes(entry: &LineEntry) -> bool {
    match entry.ply.played {
        Some(played) => played.is_capture(),
        None => entry.ply.captured.is_some(),
    }
}

fn moves_pawn(entry: &LineEntry) -> bool {
    entry.ply.played.is_some_and(|played| played.role() == Role::Pawn)
}

fn checks(entry: &LineEntry) -> bool {
    entry.ply.after.position().is_some_and(Position::is_check)
}

/// Parses a legal move in SAN or UCI.
fn legal(position: &Chess, text: &str) -> Option<Move> {
    let by_uci = || text.parse::<UciMove>().ok()?.to_move(position).ok();
    let by_san = || {
        let san = San::from_ascii(text.trim_end_matches(['+', '#']).as_bytes()).ok()?;
        san.to_move(position).ok()
    };
    by_uci().or_else(by_san)
}

impl History<'_> {
    /// Name of a ply as on score sheets, as in "23... Kg8"; `None` for the start position.
    fn name(&self, ply: u32) -> Option<String> {
        let entry = self.plies().iter().find(|entry| entry.ply.number == ply)?;
        let san = entry.ply.san.clone();
        let written = san.or_else(|| entry.ply.uci.map(|uci| uci.to_string()))?;
        let dots = entry.ply.color.fold_wb(".", "...");
        Some(format!("{}{dots} {written}", self.number(ply)))
    }

    /// Number of the move that a ply belongs to.
    fn number(&self, ply: u32) -> u32 {
        let start = self.start().position();
        let first = start.map_or(1, |start| start.fullmoves().get());
        let black_began = start.is_some_and(|start| start.turn() == Color::Black);
        let half = ply.saturating_sub(1).saturating_add(u32::from(black_began));
        first.saturating_add(half / 2)
    }

    fn occurrence_count(&self, position: Option<&Chess>) -> u32 {
        let count = position.map_or(0, |position| self.occurrences(position).len());
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// Number of occurrences of the most frequent position since the last capture or pawn move.
    fn most_frequent(&self) -> u32 {
        let quiet = usize::try_from(self.quiet()).unwrap_or(usize::MAX);
        let mut counted: BTreeMap<String, u32> = BTreeMap::new();
        // The position after that capture or pawn move counts as well.
        for entry in self.plies().iter().rev().take(quiet.saturating_add(1)) {
            // Placement, side to move, castling and en passant: a superset of the criteria for equal positions.
            let fen = entry.ply.after.fen();
            let key: Vec<&str> = fen.split(' ').take(4).collect();
            *counted.entry(key.join(" ")).or_default() += 1;
        }
        counted.into_values().max().unwrap_or(0)
    }

    /// Numbered moves, as in "58. Kf3 Kg7 59. Kf2".
    fn movetext(&self, entries: &[LineEntry]) -> String {
        let mut words: Vec<String> = Vec::new();
        for entry in entries {
            let Some(name) = self.name(entry.ply.number) else {
                continue;
            };
            let numbered = words.is_empty() || entry.ply.color == Color::White;
            let bare = name.split_once(' ').map_or("", |(_, bare)| bare).to_owned();
            words.push(if numbered { name } else { bare });
        }
        words.join(" ")
    }
}

#[cfg(test)]
mod tests;
