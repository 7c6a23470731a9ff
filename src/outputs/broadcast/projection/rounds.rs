//! The rounds of the event: pairings combined with their games.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use kiebitz_game::events::pairing::{EnteredResult, TableResults, counting};
use kiebitz_game::events::{EndReason, GameResult, Players};
use kiebitz_hardware::Timestamp;

use super::game::ShownGame;
use crate::tournament::{Pairing, Tournament};

/// A table in a round: with a pairing, a game, or both.
#[derive(Debug, Clone, Copy)]
pub(in crate::outputs) struct Slot<'s> {
    pub(in crate::outputs) round: u32,
    pub(in crate::outputs) table: u32,
    pub(in crate::outputs) pairing: Option<&'s Pairing>,
    pub(in crate::outputs) game: Option<&'s ShownGame>,
    /// The result that an arbiter entered for a pairing without a game.
    pub(in crate::outputs) entered: Option<&'s EnteredResult>,
}

impl Slot<'_> {
    /// The players: from the game, in which an arbiter may have corrected them, or else from the pairing.
    pub(in crate::outputs) fn players(&self) -> Option<Players> {
        let of_game = self.game.and_then(|game| game.record.players.clone());
        of_game.or_else(|| self.pairing.map(|pairing| pairing.players(self.round)))
    }

    /// The result: from the game, or else as entered by an arbiter, or else from the pairing file.
    pub(in crate::outputs) fn result(&self) -> GameResult {
        let of_game = self.game.map(|game| game.record.result);
        of_game.or_else(|| self.decided()).unwrap_or(GameResult::Unknown)
    }

    /// The result entered by an arbiter or found in the pairing file, regardless of the game on the board.
    pub(in crate::outputs) fn decided(&self) -> Option<GameResult> {
        let entered = self.entered.map(|entered| entered.result);
        entered.or_else(|| self.pairing.and_then(|pairing| pairing.result))
    }

    /// The reason of the result. A table with a result but no game on a board was not played.
    pub(in crate::outputs) fn reason(&self) -> Option<EndReason> {
        match (self.game, self.entered) {
            (Some(game), _) => game.record.reason,
            (None, Some(entered)) => Some(entered.reason),
            (None, None) => Some(EndReason::Default),
        }
    }

    pub(in crate::outputs) fn is_live(&self) -> bool {
        self.game.is_some_and(|game| game.record.ended.is_none())
    }

    /// Whether the game is over, or the table has a result without a game.
    pub(in crate::outputs) fn is_over(&self) -> bool {
        let played = self.game.is_some_and(|game| game.record.ended.is_some());
        played || (self.game.is_none() && self.result() != GameResult::Unknown)
    }
}

/// All rounds with their tables in order.
///
/// A game belongs to the pairing of its round and table; of several games, [one counts](counting). At a hub, boards of
/// two halls may have played at the same table: then [each hall](Tournament::by_hall) has a slot. Without any
/// pairings, every board is a [table](free_tables). The round of its games then follows from the configured start times
/// of rounds, or else is round 1, which shows the last game of each board.
pub(in crate::outputs) fn rounds<'s>(
    tournament: &'s Tournament,
    games: impl IntoIterator<Item = &'s ShownGame>,
    entered: &'s TableResults,
) -> BTreeMap<u32, Vec<Slot<'s>>> {
    let mut slots: BTreeMap<(u32, u32), Slot<'s>> = BTreeMap::new();
    for (&round, of_round) in &tournament.rounds {
        for pairing in of_round.pairings.iter().filter(|pairing| pairing.is_played()) {
            if let Some(table) = pairing.table {
                slots.entry((round, table)).or_insert_with(|| Slot {
                    round,
                    table,
                    pairing: Some(pairing),
                    game: None,
                    entered: entered.get(round, table),
                });
            }
        }
    }
    let games: Vec<&ShownGame> = games.into_iter().collect();
    let free = tournament
        .rounds
        .is_empty()
        .then(|| free_tables(tournament, &games));
    let mut played: BTreeMap<(u32, u32), Vec<&ShownGame>> = BTreeMap::new();
    for game in games {
        let place = match (game.place(), &free) {
            ((Some(round), Some(table)), _) => (round, table),
            ((round, table), Some(free)) => {
                let Some(table) = table.or_else(|| free.get(&*game.record.board).copied()) else {
                    continue;
                };
                (round.unwrap_or(1), table)
            }
            ((_, _), None) => continue,
        };
        played.entry(place).or_default().push(game);
    }
    let of_halls = played.into_iter().flat_map(|((round, table), games)| {
        let of_halls = tournament
            .by_hall(table, games, |game| &game.record.board)
            .into_iter();
        of_halls.map(move |(table, games)| ((round, table), games))
    });
    for (place, games) in of_halls {
        let slot = slots.entry(place).or_insert_with(|| Slot {
            round: place.0,
            table: place.1,
            pairing: None,
            game: None,
            entered: entered.get(place.0, place.1),
        });
        let of_round = games.iter().all(|game| game.place().0.is_some());
        slot.game = if of_round { counting(games) } else { last(games) };
    }
    let mut rounds: BTreeMap<u32, Vec<Slot<'s>>> = BTreeMap::new();
    for ((round, _), slot) in slots {
        rounds.entry(round).or_default().push(slot);
    }
    rounds
}

/// The table numbers of boards without pairings: the number at the end of the name. Boards without a number, or with
/// one that another board has, get the following numbers in the order of their first games.
fn free_tables<'s>(tournament: &Tournament, games: &[&'s ShownGame]) -> BTreeMap<&'s str, u32> {
    let mut boards: BTreeMap<&str, Timestamp> = BTreeMap::new();
    for game in games {
        let first = boards.entry(&game.record.board).or_insert(game.record.started);
        *first = game.record.started.min(*first);
    }
    let mut tables: BTreeMap<u32, &str> = BTreeMap::new();
    let mut others = Vec::new();
    for (board, first) in boards {
        match tournament.table_of(board).map(|table| tables.entry(table)) {
            Some(Entry::Vacant(entry)) => {
                entry.insert(board);
            }
            Some(Entry::Occupied(_)) | None => others.push((first, board)),
        }
    }
    others.sort_unstable();
    let last = tables.keys().next_back().copied().unwrap_or_default();
    let numbered = tables.into_iter().map(|(table, board)| (board, table));
    let others = (last + 1..).zip(others).map(|(table, (_, board))| (board, table));
    numbered.chain(others).collect()
}

/// The last game, ignoring void games without a move unless there are no others.
fn last(mut games: Vec<&ShownGame>) -> Option<&ShownGame> {
    games.sort_by_key(|game| game.record.started);
    let is_nothing =
        |game: &ShownGame| game.record.reason == Some(EndReason::Void) && game.record.moves.is_empty();
    let played = games.iter().rfind(|game| !is_nothing(game));
    played.or_else(|| games.last()).copied()
}
