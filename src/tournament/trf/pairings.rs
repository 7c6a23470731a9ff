//! Builds pairings from the players' lines of a report. Each game occurs in the lines of both players.

use std::collections::{BTreeMap, BTreeSet};

use kiebitz_game::events::GameResult;
use shakmaty::Color;

use super::super::byes;
use super::super::doubt::{DoubtKind, Doubts};
use super::super::{Pairing, Round, UnplayedRound};
use super::columns::Cell;
use super::header::TrfHeader;
use super::line_ups;
use super::{Entries, PlayerEntry};

/// Returns the rounds. Their pairings are in the order in which the players are listed.
pub(super) fn rounds(entries: &Entries, header: &TrfHeader, doubts: &mut Doubts) -> BTreeMap<u32, Round> {
    let last = entries
        .list
        .iter()
        .map(|entry| entry.rounds.len())
        .max()
        .unwrap_or(0);
    let mut rounds: BTreeMap<u32, Round> = (1..)
        .zip(0..last)
        .map(|(number, index)| {
            let mut pairings = round(number, index, entries, doubts);
            if let Some(boards) = line_ups::boards(number, index, entries, header) {
                for pairing in pairings.iter_mut().filter(|pairing| pairing.is_played()) {
                    pairing.board = boards.of(pairing);
                }
            }
            (
                number,
                Round {
                    pairings,
                    ..Round::default()
                },
            )
        })
        .collect();
    for bye in header.byes_of_players() {
        let round = rounds.entry(bye.round).or_default();
        let Some(entry) = entries.get(bye.player) else {
            continue;
        };
        let is_paired = round.pairings.iter().any(|pairing| {
            let players = [&pairing.white, &pairing.black].into_iter().flatten();
            players.into_iter().any(|player| *player == entry.player)
        });
        if !is_paired {
            round
                .pairings
                .push(without_opponent(entry, Some(bye.kind), doubts, (bye.line, 1)));
        }
    }
    rounds.retain(|_, round| !round.pairings.is_empty());
    rounds
}

fn round(number: u32, index: usize, entries: &Entries, doubts: &mut Doubts) -> Vec<Pairing> {
    let mut pairings = Vec::new();
    let mut done = BTreeSet::new();
    for entry in &entries.list {
        let Some(cell) = cell(entry, index) else { continue };
        let place = (entry.player.place.line, cell.column);
        if cell.opponent == 0 {
            if let Some(kind) = bye(cell.result) {
                pairings.push(without_opponent(entry, Some(kind), doubts, place));
            }
            continue;
        }
        if entries.byes.contains(&cell.opponent) {
            pairings.push(without_opponent(entry, bye_of_result(cell.result), doubts, place));
            continue;
        }
        let pair = (entry.number.min(cell.opponent), entry.number.max(cell.opponent));
        if done.contains(&pair) {
            continue;
        }
        let Some(opponent) = entries
            .get(cell.opponent)
            .filter(|_| cell.opponent != entry.number)
        else {
            let text = format!(
                "the opponent of {} in round {number} has the number {}, which no other player has: this pairing is left \
                 out",
                entry.player.name, cell.opponent
            );
            doubts.lost(DoubtKind::Contradiction, place, text);
            continue;
        };
        // The lines of the players of an absent team have no pairing.
        let is_absent = self::cell(opponent, index).is_none_or(|cell| cell.opponent == 0);
        if cell.result == '+' && is_absent {
            pairings.push(without_opponent(
                entry,
                Some(UnplayedRound::Forfeit),
                doubts,
                place,
            ));
            continue;
        }
        let opponent_cell = self::cell(opponent, index).filter(|cell| cell.opponent == entry.number);
        let Some(opponent_cell) = opponent_cell else {
            let text = format!(
                "this line pairs {} with {} in round {number}, but the line of {} ({}) has another opponent: \
                 this pairing is left out",
                entry.player.name, opponent.player.name, opponent.player.name, opponent.player.place.line
            );
            doubts.lost(DoubtKind::Contradiction, place, text);
            continue;
        };
        done.insert(pair);
        pairings.extend(game(number, (entry, cell), (opponent, opponent_cell), doubts));
    }
    pairings
}

/// Builds the pairing of two players whose lines name each other.
fn game(
    number: u32,
    one: (&PlayerEntry, Cell),
    other: (&PlayerEntry, Cell),
    doubts: &mut Doubts,
) -> Option<Pairing> {
    let ((entry, cell), (opponent, opponent_cell)) = (one, other);
    let place = (entry.player.place.line, cell.column);
    if cell.color.is_some() && cell.color == opponent_cell.color {
        let text = format!(
            "{} and {} have the same colour in round {number}: the colour in this line is used",
            entry.player.name, opponent.player.name
        );
        doubts.lost(DoubtKind::Contradiction, place, text);
    }
    let color = cell.color.or_else(|| opponent_cell.color.map(|color| !color));
    let ((white, of_white), (black, of_black)) = match color {
        Some(Color::White) => (one, other),
        Some(Color::Black) => (other, one),
        None => {
            // A game that was decided without play has a result but may lack colours; its pairing is not needed.
            if cell.result == ' ' {
                let text = format!(
                    "{} has no colour in round {number}: this pairing is left out",
                    entry.player.name
                );
                doubts.lost(DoubtKind::Unclear, place, text);
            }
            return None;
        }
    };
    Some(Pairing {
        table: None,
        hall: None,
        board: None,
        white: Some(white.player.clone()),
        black: Some(black.player.clone()),
        result: result(of_white.result, of_black.result),
        unplayed: [of_white, of_black]
            .iter()
            .any(|cell| matches!(cell.result, '+' | '-'))
            .then_some(UnplayedRound::Forfeit),
        place: doubts.place(place.0, place.1),
    })
}

fn cell(entry: &PlayerEntry, index: usize) -> Option<Cell> {
    entry.rounds.get(index).copied().flatten()
}

fn without_opponent(
    entry: &PlayerEntry,
    unplayed: Option<UnplayedRound>,
    doubts: &Doubts,
    (line, column): (usize, usize),
) -> Pairing {
    Pairing {
        white: Some(entry.player.clone()),
        black: None,
        result: unplayed.map(|reason| byes::result_of(reason.points(), true)),
        unplayed,
        place: doubts.place(line, column),
        ..Pairing::default()
    }
}

/// Returns the kind of a round without an opponent; `None` for an absence.
const fn bye(result: char) -> Option<UnplayedRound> {
    match result {
        'U' => Some(UnplayedRound::AllocatedBye),
        'F' => Some(UnplayedRound::FullPointBye),
        'H' => Some(UnplayedRound::HalfPointBye),
        '+' => Some(UnplayedRound::Forfeit),
        _ => None,
    }
}

/// Returns the kind of a bye that is written as a game against nobody.
const fn bye_of_result(result: char) -> Option<UnplayedRound> {
    match result {
        '1' | '+' | 'W' | 'U' | 'F' => Some(UnplayedRound::AllocatedBye),
        '=' | 'D' | 'H' => Some(UnplayedRound::HalfPointBye),
        '0' | '-' | 'L' | 'Z' => Some(UnplayedRound::ZeroPointBye),
        _ => None,
    }
}

/// Returns the result from the entries of both players; `None` if the game has not been played.
fn result(white: char, black: char) -> Option<GameResult> {
    let half_points = |result: char| match result {
        '1' | '+' | 'W' => Some(2),
        '=' | 'D' => Some(1),
        '0' | '-' | 'L' => Some(0),
        _ => None,
    };
    let (white, black) = (half_points(white), half_points(black));
    // One line may not have the result yet.
    match (
        white.or_else(|| black.map(|half_points| 2 - half_points))?,
        black.or_else(|| white.map(|half_points| 2 - half_points))?,
    ) {
        (2, 0) => Some(GameResult::WhiteWins),
        (0, 2) => Some(GameResult::BlackWins),
        (1, 1) => Some(GameResult::Draw),
        (0, 0) => Some(GameResult::BothLose),
        (1, 0) => Some(GameResult::HalfForWhite),
        (0, 1) => Some(GameResult::HalfForBlack),
        _ => None,
    }
}
