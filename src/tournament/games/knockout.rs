//! Knock-outs, in which the players of a round meet several times: "1.2" is the second game of round 1.
//!
//! A round of kiebitz has one game for each pairing, with its own colours and time control. Each game of a knock-out's
//! round, also a game of the tie-break, therefore becomes a round: "1.1", "1.2" and "2.1" are rounds 1, 2 and 3.

use std::collections::{BTreeMap, BTreeSet};

use super::super::doubt::{DoubtKind, Doubts};
use super::super::{Pairing, names};
use super::ListedPairing;

/// Two players, regardless of their colours.
type Match = [String; 2];

/// Gives each game of a knock-out a round of its own. Does nothing if the games are not those of a knock-out. Games whose
/// round cannot be determined are reported and left out.
pub(super) fn number(games: &mut Vec<ListedPairing>, doubts: &mut Doubts) {
    let Some(position) = position_of_game(games) else {
        return;
    };
    let number = |game: &ListedPairing| Some((game.round?, *game.within.get(position)?));
    let mut highest: BTreeMap<u32, u32> = BTreeMap::new();
    for (round, game) in games.iter().filter_map(number) {
        let known = highest.entry(round).or_default();
        *known = game.max(*known);
    }
    let mut first_rounds: BTreeMap<u32, u32> = BTreeMap::new();
    let mut next = 1_u32;
    for (expected, (round, count)) in (1..).zip(&highest) {
        if *round != expected {
            break;
        }
        first_rounds.insert(*round, next);
        next = next.saturating_add(*count);
    }
    let mut matches: BTreeMap<(u32, Match), u32> = BTreeMap::new();
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    let mut reported = BTreeSet::new();
    let has_boards = games.iter().any(|game| game.board.is_some());
    games.retain_mut(|game| {
        let Some((round, number)) = number(game) else {
            return true;
        };
        let place = (game.pairing.place.line, game.pairing.place.column);
        let is_first = reported.insert(round);
        let Some(first) = first_rounds.get(&round) else {
            if is_first {
                let text = format!(
                    "the games of round {round} are left out: each game of a knock-out is a round of its own here, and \
                     the file lacks earlier rounds; export all rounds in one file"
                );
                doubts.lost(DoubtKind::Round, place, text);
            }
            return false;
        };
        if is_first {
            let last = first.saturating_add(highest.get(&round).map_or(0, |count| count.saturating_sub(1)));
            let text = match last == *first {
                true => format!("round {round} has one game for each pairing so far, which is read as round {first}"),
                false => format!("the games of round {round} are read as rounds {first} to {last}"),
            };
            doubts.note(DoubtKind::Round, place, text);
        }
        game.round = Some(first.saturating_add(number.saturating_sub(1)));
        game.within.remove(position);
        let table = game.within.pop();
        if has_boards {
            return true;
        }
        game.board = table.or_else(|| {
            let count = counts.entry(round).or_default();
            let table = matches.entry((round, players(&game.pairing)?)).or_insert_with(|| {
                *count += 1;
                *count
            });
            Some(*table)
        });
        true
    });
}

/// Returns the position of the game's number after the round number: 0 in "1.2", and 1 in "1.7.2" if 7 is the match.
/// Returns `None` unless the games are those of a knock-out.
fn position_of_game(games: &[ListedPairing]) -> Option<usize> {
    (0..2)
        .find(|position| is_knockout(games, *position))
        .or_else(|| is_session(games).then_some(0))
}

/// Returns whether players meet again in a round, and all games of each match are numbered from 1 at this position.
fn is_knockout(games: &[ListedPairing], position: usize) -> bool {
    let mut numbers: BTreeMap<(u32, Match, Vec<u32>), Vec<u32>> = BTreeMap::new();
    let mut matches = BTreeSet::new();
    for game in games {
        let Some(players) = players(&game.pairing) else {
            continue;
        };
        let (Some(round), Some(number)) = (game.round, game.within.get(position)) else {
            return false;
        };
        let mut others = game.within.clone();
        others.remove(position);
        matches.insert((round, players.clone()));
        numbers.entry((round, players, others)).or_default().push(*number);
    }
    let is_counted = |numbers: &Vec<u32>| {
        let numbers: BTreeSet<u32> = numbers.iter().copied().collect();
        (1..).zip(&numbers).all(|(expected, number)| expected == *number)
    };
    let is_one_table = numbers.len() == matches.len();
    let is_repeated = numbers.values().any(|numbers| numbers.len() > 1);
    let has_no_duplicate = numbers.values().all(|numbers| {
        let different: BTreeSet<&u32> = numbers.iter().collect();
        different.len() == numbers.len()
    });
    is_one_table && is_repeated && has_no_duplicate && numbers.values().all(is_counted)
}

/// Returns whether all games of each round have the same number and no board: only one game of each match is in the
/// file. Two games with the same number may be a mistake in the number of a table, and with teams the number is that of
/// the board in a match.
fn is_session(games: &[ListedPairing]) -> bool {
    let mut rounds: BTreeMap<u32, (BTreeSet<u32>, usize)> = BTreeMap::new();
    for game in games {
        let (Some(round), [number], None) = (game.round, game.within.as_slice(), game.board) else {
            return false;
        };
        if game.teams().is_some() {
            return false;
        }
        let (numbers, count) = rounds.entry(round).or_default();
        numbers.insert(*number);
        *count += 1;
    }
    !rounds.is_empty()
        && rounds
            .values()
            .all(|(numbers, count)| numbers.len() == 1 && *count > 2)
}

fn players(pairing: &Pairing) -> Option<Match> {
    let mut players = [
        names::key(&pairing.white.as_ref()?.name),
        names::key(&pairing.black.as_ref()?.name),
    ];
    players.sort();
    Some(players)
}
