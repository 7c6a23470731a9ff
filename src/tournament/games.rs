//! Groups the games of a PGN or CSV file into rounds, and assigns a table to each pairing.

mod knockout;

use std::collections::{BTreeMap, BTreeSet};

use super::doubt::{DoubtKind, Doubts, FileError};
use super::names;
use super::{Pairing, ReadError, Round};

/// A pairing with its numbers as written in a file.
#[derive(Debug)]
pub(super) struct ListedPairing {
    pub(super) round: Option<u32>,
    /// Numbers after the round number: the table, or the match and the board in it.
    pub(super) within: Vec<u32>,
    /// Board number in a field of its own.
    pub(super) board: Option<u32>,
    /// Boxed, because a pairing is large, and lists of thousands of them are moved and grow.
    pub(super) pairing: Box<Pairing>,
    pub(super) date: Option<String>,
    pub(super) time_control: Option<String>,
}

/// Source of the table numbers of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TableNumbering {
    /// The board number, or else the second number of the round.
    Own,
    /// The second number of the round, even if there is a board number.
    Second,
    /// Match and board in the match, both from the round, as in "3.2.1".
    Three,
    /// The match from the round, and the board in the match from the board number.
    MatchAndBoard,
    /// The match from the teams, and the board in the match from the board number, or else the second number of the
    /// round.
    Teams,
}

/// Groups the games of a file into rounds.
///
/// In a knock-out, each game of a round becomes a round of its own, see `knockout.rs`.
///
/// If no game has a round number, all games belong to the round `assumed`. If only some games lack a round number, they
/// are left out.
///
/// The table numbers come from the first of these sources that gives every game of a round a different number: the
/// board number (the tag Board), or else the second number of the round ("3.7"); the second number alone; match and
/// board in the match ("3.2.1", or "3.2" with Board "1"); the board in the match alone, if the games name their teams:
/// matches are then numbered by their first games in the file. In the last two cases the boards of the second match
/// follow those of the first. If a round has no such numbers at all, its games are numbered in the order of the file, without games
/// that lack an opponent.
///
/// # Errors
///
/// Fails if no game has a round number and a player has more than one game.
pub(super) fn rounds(
    mut games: Vec<ListedPairing>,
    assumed: u32,
    doubts: &mut Doubts,
) -> Result<BTreeMap<u32, Round>, ReadError> {
    if games.iter().all(|game| game.round.is_none()) {
        require_single_round(&games)?;
        if let Some(first) = games.first() {
            let place = (first.pairing.place.line, first.pairing.place.column);
            doubts.note(
                DoubtKind::Round,
                place,
                format!("the file gives no round number: it is read as round {assumed}"),
            );
        }
        for game in &mut games {
            game.round = Some(assumed);
        }
    }
    knockout::number(&mut games, doubts);
    let mut rounds: BTreeMap<u32, Vec<ListedPairing>> = BTreeMap::new();
    for game in games {
        let place = (game.pairing.place.line, game.pairing.place.column);
        match game.round {
            Some(round) => rounds.entry(round).or_default().push(game),
            None => doubts.lost(
                DoubtKind::Round,
                place,
                "this pairing has no round number, unlike others in the file: it is left out",
            ),
        }
    }
    Ok(rounds
        .into_iter()
        .map(|(number, games)| (number, round(number, games, doubts)))
        .collect())
}

/// Fails if a player has games against different opponents, which means that the file has several rounds.
fn require_single_round(games: &[ListedPairing]) -> Result<(), ReadError> {
    let mut playing = BTreeSet::new();
    let mut pairs = BTreeSet::new();
    for game in games {
        let (Some(white), Some(black)) = (&game.pairing.white, &game.pairing.black) else {
            continue;
        };
        let keys = [names::key(&white.name), names::key(&black.name)];
        // A repeated pairing is reported when files are merged.
        if pairs.contains(&keys) {
            continue;
        }
        for (player, key) in [white, black].into_iter().zip(&keys) {
            if !playing.insert(key.clone()) {
                let place = &player.place;
                return Err(FileError::NoRounds(player.name.clone()).at(
                    &place.file,
                    place.line,
                    place.column,
                ));
            }
        }
        pairs.insert(keys);
    }
    Ok(())
}

fn round(number: u32, mut games: Vec<ListedPairing>, doubts: &mut Doubts) -> Round {
    number_tables(number, &mut games, doubts);
    let first = |of: fn(&ListedPairing) -> Option<&String>| games.iter().find_map(of).cloned();
    let (date, time_control) = (
        first(|game| game.date.as_ref()),
        first(|game| game.time_control.as_ref()),
    );
    let other = games
        .iter()
        .find(|game| game.time_control.is_some() && game.time_control != time_control);
    if let Some(other) = other {
        let place = (other.pairing.place.line, other.pairing.place.column);
        let (one, two) = (time_control.as_deref(), other.time_control.as_deref());
        let text = format!(
            "round {number} has two time controls, {} and {}: the first counts for the whole round",
            one.unwrap_or_default(),
            two.unwrap_or_default()
        );
        doubts.note(DoubtKind::TimeControl, place, text);
    }
    Round {
        date,
        time_control,
        pairings: games.into_iter().map(|game| *game.pairing).collect(),
    }
}

fn number_tables(round: u32, games: &mut [ListedPairing], doubts: &mut Doubts) {
    let has_numbers = |game: &ListedPairing| game.board.is_some() || !game.within.is_empty();
    if !games.iter().any(has_numbers) {
        let played = games.iter_mut().filter(|game| game.pairing.is_played());
        for (table, game) in (1..).zip(played) {
            game.pairing.table = Some(table);
        }
        if let Some(first) = games.first() {
            let place = (first.pairing.place.line, first.pairing.place.column);
            let text = format!(
                "round {round} has no table numbers here: tables are numbered in the order of the file"
            );
            doubts.note(DoubtKind::Table, place, text);
        }
        return;
    }
    let matches = matches(games);
    // Boards per match: the highest board number that occurs.
    let highest_second = games.iter().filter_map(|game| game.within.get(1)).max();
    let highest_board = games.iter().filter_map(|game| game.board).max();
    let highest_of_match = games.iter().filter_map(board_of_match).max();
    let boards = |numbering| match numbering {
        TableNumbering::Three => highest_second.copied().unwrap_or(1),
        TableNumbering::Teams => highest_of_match.unwrap_or(1),
        _ => highest_board.unwrap_or(1),
    };
    let numberings = [
        TableNumbering::Own,
        TableNumbering::Second,
        TableNumbering::Three,
        TableNumbering::MatchAndBoard,
        TableNumbering::Teams,
    ];
    let fits = |numbering: &TableNumbering| {
        let mut tables = BTreeSet::new();
        let mut tables_of = games
            .iter()
            .zip(&matches)
            .filter(|(game, _)| has_numbers(game))
            .map(|(game, of_teams)| {
                let hall = &game.pairing.hall;
                (hall, table(game, *of_teams, *numbering, boards(*numbering)))
            });
        tables_of.all(|(hall, table)| table.is_some_and(|table| tables.insert((hall, table))))
    };
    let numbering = numberings.into_iter().find(fits).unwrap_or(TableNumbering::Own);
    let boards = boards(numbering);
    for (game, of_teams) in games.iter_mut().zip(matches) {
        game.pairing.table = table(game, of_teams, numbering, boards);
    }
    if !matches!(numbering, TableNumbering::Own | TableNumbering::Second)
        && let Some(first) = games.first()
    {
        let place = (first.pairing.place.line, first.pairing.place.column);
        let text = format!(
            "the tables of round {round} are numbered through all matches, {boards} boards each: the first of the second \
             match is table {}",
            boards.saturating_add(1)
        );
        doubts.note(DoubtKind::Table, place, text);
    }
}

/// Returns the number of the match of each game: matches are numbered by their first games. `None` for a game without
/// two teams.
fn matches(games: &[ListedPairing]) -> Vec<Option<u32>> {
    let mut numbers: BTreeMap<[&str; 2], u32> = BTreeMap::new();
    let of_games = games.iter().map(|game| {
        let mut teams = game.teams()?;
        teams.sort_unstable();
        let next = u32::try_from(numbers.len()).ok()?.checked_add(1)?;
        Some(*numbers.entry(teams).or_insert(next))
    });
    of_games.collect()
}

/// Returns the board in the match if the game has no number of the match.
fn board_of_match(game: &ListedPairing) -> Option<u32> {
    match (game.board, game.within.as_slice()) {
        (Some(board), _) => Some(board),
        (None, [board]) => Some(*board),
        _ => None,
    }
}

fn table(game: &ListedPairing, of_teams: Option<u32>, numbering: TableNumbering, boards: u32) -> Option<u32> {
    let in_match = |number: u32, board: u32| {
        let before = number.checked_sub(1)?.checked_mul(boards)?;
        before.checked_add(board)
    };
    match (numbering, game.within.as_slice(), game.board) {
        (TableNumbering::Own, _, Some(board)) => Some(board),
        (TableNumbering::Own | TableNumbering::Second, [table], _) => Some(*table),
        (TableNumbering::Three, [number, board], _) => in_match(*number, *board),
        (TableNumbering::MatchAndBoard, [number], Some(board)) => in_match(*number, board),
        (TableNumbering::Teams, ..) => in_match(of_teams?, board_of_match(game)?),
        _ => None,
    }
}

impl ListedPairing {
    /// Returns the teams of White and Black; `None` if one of them is not known.
    fn teams(&self) -> Option<[&str; 2]> {
        let (white, black) = (self.pairing.white.as_ref()?, self.pairing.black.as_ref()?);
        Some([white.facts.team.as_deref()?, black.facts.team.as_deref()?])
    }
}

#[cfg(test)]
mod tests;
