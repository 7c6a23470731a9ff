//! Finds the board of each game in a match of teams. Reports have no table numbers, but if a round has a single match,
//! the boards of the match are its tables.

use std::collections::BTreeMap;

use super::super::Pairing;
use super::Entries;
use super::header::{Team, TrfHeader};

/// Boards of the players of a match.
#[derive(Debug)]
pub(super) struct MatchBoards {
    /// Board by the line of the player in the report.
    boards: BTreeMap<usize, u32>,
}

/// Returns the boards of the only match of a round. Returns `None` if the round has no match or several matches, or if a
/// game is not one between two teams.
pub(super) fn boards(round: u32, index: usize, entries: &Entries, header: &TrfHeader) -> Option<MatchBoards> {
    let team_of = |number: u32| header.team_of.get(&number).copied();
    let mut teams = None;
    for entry in &entries.list {
        let cell = entry.rounds.get(index).copied().flatten();
        let Some(cell) = cell.filter(|cell| entries.get(cell.opponent).is_some()) else {
            continue;
        };
        let (own, other) = (team_of(entry.number)?, team_of(cell.opponent)?);
        let pair = (own.min(other), own.max(other));
        if own == other || *teams.get_or_insert(pair) != pair {
            return None;
        }
    }
    let (one, other) = teams?;
    let teams = [header.teams.get(one)?, header.teams.get(other)?];
    let mut boards = BTreeMap::new();
    for team in teams {
        let line_up = line_up(round, index, team, entries, header);
        for (board, number) in (1..).zip(line_up) {
            if let Some(entry) = entries.get(number) {
                boards.insert(entry.player.place.line, board);
            }
        }
    }
    Some(MatchBoards { boards })
}

/// Returns the players of a team in a round in the order of the boards: from the line-up, or else those of the team who
/// play in the round.
fn line_up(round: u32, index: usize, team: &Team, entries: &Entries, header: &TrfHeader) -> Vec<u32> {
    if let Some(line_up) = header.line_up(round, team) {
        return line_up.to_vec();
    }
    let plays = |number: &&u32| {
        let cell = entries
            .get(**number)
            .and_then(|entry| entry.rounds.get(index).copied().flatten());
        cell.is_some_and(|cell| cell.opponent != 0 || cell.result == '+')
    };
    team.players.iter().filter(plays).copied().collect()
}

impl MatchBoards {
    /// Returns the board of a pairing, if both players have the same.
    pub(super) fn of(&self, pairing: &Pairing) -> Option<u32> {
        let players = [&pairing.white, &pairing.black].into_iter().flatten();
        let mut boards = players.map(|player| self.boards.get(&player.place.line).copied());
        let board = boards.next()??;
        boards.all(|other| other == Some(board)).then_some(board)
    }
}
