//! Halls of one event that number their tables independently.
//!
//! A hub shows the tables of all halls. A table of a hall with a name has the number of the hall, times 1000, added to
//! its own: table 7 of the second hall is 2007. All outputs therefore tell the tables of different halls apart by their
//! numbers, and pages show such a number with the name of the hall.

use std::collections::BTreeMap;

use kiebitz_game::events::pairing::{PairedGame, counting};
use serde::Serialize;

use super::Tournament;

/// A hall of an event with several halls, as a hub knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventHall {
    /// Topic prefix of the hall, with which the hub begins the names of its boards.
    pub prefix: String,
    /// Name of a hall with tables of its own; `None` if its tables are numbered across all halls.
    pub name: Option<String>,
}

/// A hall as sent to pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct HallView<'h> {
    /// Added to the numbers of the hall's tables.
    base: u32,
    name: &'h str,
    /// Whether all tables of the hall have `base` added. Otherwise only those at which another hall has played, too.
    named: bool,
}

/// Distance between the table numbers of two halls.
const HALL_TABLES: u32 = 1000;
/// Number of halls whose tables get numbers of four digits, the largest that kiebitz accepts.
const MAX_HALLS: u32 = 9;

/// Returns the number at the hub of a table in the hall with this position, counted from 1. `None` if the position or
/// the table is too high.
pub(crate) fn number_at_hub(position: u32, table: u32) -> Option<u32> {
    let fits = (1..=MAX_HALLS).contains(&position) && (1..HALL_TABLES).contains(&table);
    fits.then_some(position * HALL_TABLES + table)
}

/// Returns position and table for a number at the hub. `None` for a table that is numbered across all halls.
pub(crate) fn number_in_hall(number: u32) -> Option<(u32, u32)> {
    let (position, table) = (number / HALL_TABLES, number % HALL_TABLES);
    ((1..=MAX_HALLS).contains(&position) && table > 0).then_some((position, table))
}

/// Returns the name of a table at a hub with these halls: its own number after the name of its hall, or its number if
/// it is numbered across all halls.
pub(crate) fn table_name(halls: &[EventHall], number: u32) -> String {
    let named = number_in_hall(number).and_then(|(position, table)| {
        let at = usize::try_from(position).ok()?.checked_sub(1)?;
        let hall = halls.get(at).filter(|_| halls.len() > 1)?;
        Some(format!("{} {table}", hall.label()))
    });
    named.unwrap_or_else(|| number.to_string())
}

impl EventHall {
    /// Returns the name, or else the prefix without the last level `kiebitz`.
    fn label(&self) -> &str {
        let prefix = self.prefix.strip_suffix("/kiebitz").unwrap_or(&self.prefix);
        self.name.as_deref().unwrap_or(prefix)
    }
}

/// Returns whether two names of a hall are the same, regardless of case.
pub(crate) fn is_same_hall(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.trim().to_lowercase()
}

impl Tournament {
    /// Returns the pairings as a hub with these halls uses them: the tables of named halls have their numbers at the
    /// hub. A pairing in an unknown hall has no table. If no hall has a name, the pairings are those of a daemon without
    /// a hall.
    pub(crate) fn at_hub(mut self, halls: &[EventHall]) -> Self {
        if halls.iter().all(|hall| hall.name.is_none()) {
            let halls = halls.to_vec();
            return Self {
                halls,
                ..self.of_hall(None)
            };
        }
        for pairing in self.rounds.values_mut().flat_map(|round| &mut round.pairings) {
            if let Some(hall) = &pairing.hall {
                let is_own = |other: &EventHall| {
                    let name = other.name.as_deref();
                    name.is_some_and(|name| is_same_hall(name, hall))
                };
                let position = (1..).zip(halls).find(|(_, other)| is_own(other));
                let number = position.zip(pairing.table);
                pairing.table = number.and_then(|((position, _), table)| number_at_hub(position, table));
            }
        }
        self.sort_by_table();
        self.halls = halls.to_vec();
        self
    }

    /// Returns the pairings as the daemon of a hall uses them: only those of its own hall, and those that name no hall,
    /// have a table. A daemon that does not know its hall uses only tables that no other hall has in the round.
    pub(crate) fn of_hall(mut self, own: Option<&str>) -> Self {
        for round in self.rounds.values_mut() {
            let mut tables: BTreeMap<u32, usize> = BTreeMap::new();
            for table in round.pairings.iter().filter_map(|pairing| pairing.table) {
                *tables.entry(table).or_default() += 1;
            }
            for pairing in &mut round.pairings {
                let Some(hall) = &pairing.hall else { continue };
                let is_clear = match own {
                    Some(own) => is_same_hall(own, hall),
                    None => pairing.table.is_some_and(|table| tables.get(&table) == Some(&1)),
                };
                if !is_clear {
                    pairing.table = None;
                }
            }
        }
        self.sort_by_table();
        self
    }

    /// Returns whether a pairing of two players names its hall, but has no table here.
    pub(crate) fn lacks_hall(&self) -> bool {
        let mut pairings = self.rounds.values().flat_map(|round| &round.pairings);
        pairings.any(|pairing| pairing.hall.is_some() && pairing.table.is_none() && pairing.is_played())
    }

    fn sort_by_table(&mut self) {
        for round in self.rounds.values_mut() {
            round
                .pairings
                .sort_by_key(|pairing| (pairing.table.is_none(), pairing.table));
        }
    }

    /// Returns the halls for pages; empty unless a hub combines several halls.
    pub(crate) fn hall_views(&self) -> Vec<HallView<'_>> {
        let views = (1..).zip(&self.halls).map(|(position, hall)| HallView {
            base: HALL_TABLES.saturating_mul(position),
            name: hall.label(),
            named: hall.name.is_some(),
        });
        views.filter(|_| self.halls.len() > 1).collect()
    }

    /// Returns the name of a table, as in `South 7`, or its number if it has no hall.
    pub(crate) fn table_name(&self, number: u32) -> String {
        table_name(&self.halls, number)
    }

    /// Returns the position of a board's hall, counted from 1; `None` unless a hub combines several halls.
    fn hall_of(&self, board: &str) -> Option<u32> {
        let owns = |hall: &EventHall| {
            let rest = board.strip_prefix(&hall.prefix);
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        // The prefix of one hall may begin with that of another.
        let halls = (1..).zip(&self.halls).filter(|(_, hall)| owns(hall));
        let (position, _) = halls.max_by_key(|(_, hall)| hall.prefix.len())?;
        Some(position).filter(|_| self.halls.len() > 1)
    }

    /// Returns the table at which a board stands by its name, with the number at a hub if its hall has a name.
    pub(crate) fn table_of(&self, board: &str) -> Option<u32> {
        let table = super::table_of(board)?;
        let position = self.hall_of(board).filter(|position| {
            let hall = usize::try_from(*position)
                .ok()
                .and_then(|at| self.halls.get(at - 1));
            hall.is_some_and(|hall| hall.name.is_some())
        });
        match position {
            Some(position) => number_at_hub(position, table),
            None => Some(table),
        }
    }

    /// Returns whether a table of [`by_hall`](Self::by_hall) is that of a hall whose tables are numbered across all halls:
    /// another hall has played at the same table, and it is unknown which of the games is that of the pairing.
    pub(crate) fn is_contested(&self, table: u32) -> bool {
        let hall = number_in_hall(table).and_then(|(position, _)| {
            let at = usize::try_from(position).ok()?.checked_sub(1)?;
            self.halls.get(at).filter(|_| self.halls.len() > 1)
        });
        hall.is_some_and(|hall| hall.name.is_none())
    }

    /// Separates the games of a round at one table, if boards of several halls have played there: both halls call it by
    /// the same number. The hall of the game that counts keeps the table. The games of each other hall get a number of
    /// their own, if one of them has begun. `board` returns the board of a game.
    pub(crate) fn by_hall<'g, G: AsRef<PairedGame>>(
        &self,
        table: u32,
        games: Vec<&'g G>,
        board: impl Fn(&G) -> &str,
    ) -> Vec<(u32, Vec<&'g G>)> {
        let hall = |game: &G| self.hall_of(board(game));
        let Some(first) = counting(games.iter().copied()).and_then(hall) else {
            return vec![(table, games)];
        };
        let mut of_halls = vec![(table, Vec::new())];
        for game in &games {
            let other = hall(game).filter(|position| *position != first);
            let has_begun = |position| {
                let mut of_hall = games.iter().filter(|game| hall(game) == Some(position));
                of_hall.any(|game| (*game).as_ref().has_begun())
            };
            let number = other.filter(|position| has_begun(*position));
            let number = number.and_then(|position| number_at_hub(position, table));
            let number = number.unwrap_or(table);
            match of_halls.iter_mut().find(|(known, _)| *known == number) {
                Some((_, of_hall)) => of_hall.push(*game),
                None => of_halls.push((number, vec![*game])),
            }
        }
        of_halls
    }
}

#[cfg(test)]
mod tests {
    use super::super::read_bytes;
    use super::*;

    const TWO: &str = "round,hall,board,white,black\n1,North,1,Adler,Berg\n1,South,1,Clausen,Dorn\n\
                       1,south,2,Ebert,Fuchs\n1,West,1,Graf,Hahn\n1,,7,Ihle,Jahn\n";

    fn halls() -> [EventHall; 2] {
        ["North", "South"].map(|name| EventHall {
            prefix: format!("{}/kiebitz", name.to_lowercase()),
            name: Some(name.to_owned()),
        })
    }

    fn read() -> Tournament {
        let (tournament, doubts) = read_bytes("r.csv", TWO.as_bytes()).expect("pairings");
        assert!(doubts.is_empty(), "{doubts:?}");
        tournament
    }

    fn tables(tournament: &Tournament) -> Vec<(Option<u32>, &str)> {
        let pairings = tournament.rounds[&1].pairings.iter();
        pairings
            .map(|pairing| {
                let white = pairing.white.as_ref().map_or("", |player| &player.name);
                (pairing.table, white)
            })
            .collect()
    }

    #[test]
    fn a_hub_tells_equal_tables_of_named_halls_apart() {
        assert_eq!(
            tables(&read().at_hub(&halls())),
            [
                (Some(7), "Ihle"),
                (Some(1001), "Adler"),
                (Some(2001), "Clausen"),
                (Some(2002), "Ebert"),
                (None, "Graf"),
            ]
        );
    }

    #[test]
    fn a_daemon_has_the_tables_of_its_hall() {
        let unknown = read().of_hall(None);
        assert!(unknown.lacks_hall());
        assert_eq!(
            tables(&unknown),
            [
                (Some(2), "Ebert"),
                (Some(7), "Ihle"),
                (None, "Adler"),
                (None, "Clausen"),
                (None, "Graf"),
            ],
            "it does not know its hall, and three halls have a table 1"
        );
        assert_eq!(
            tables(&read().of_hall(Some("SOUTH"))),
            [
                (Some(1), "Clausen"),
                (Some(2), "Ebert"),
                (Some(7), "Ihle"),
                (None, "Adler"),
                (None, "Graf"),
            ]
        );
    }

    #[test]
    fn numbers_at_the_hub_lead_back_to_hall_and_table() {
        for (position, table) in [(1, 1), (2, 999), (9, 37)] {
            let number = number_at_hub(position, table).expect("a number");
            assert!(number <= 9999);
            assert_eq!(number_in_hall(number), Some((position, table)));
        }
        for (position, table) in [(0, 1), (10, 1), (1, 0), (1, 1000)] {
            assert_eq!(number_at_hub(position, table), None);
        }
        assert_eq!(number_in_hall(999), None);
        assert_eq!(number_in_hall(2000), None);
    }

    #[test]
    fn boards_of_named_halls_have_the_tables_of_their_halls() {
        let tournament = Tournament::default().at_hub(&halls());
        assert_eq!(tournament.table_of("south/kiebitz/board-3"), Some(2003));
        assert_eq!(tournament.table_of("east/kiebitz/board-3"), Some(3));
        assert_eq!(tournament.table_name(2003), "South 3");
        assert_eq!(tournament.table_name(3), "3");
        assert_eq!(tournament.table_name(3003), "3003", "there is no third hall");
        let one = Tournament::default().at_hub(&halls()[..1]);
        assert_eq!(one.table_name(1003), "1003", "the only hall");
        assert_eq!(one.table_of("north/kiebitz/board-3"), Some(3), "the only hall");
        assert!(one.hall_views().is_empty());
        let unnamed = halls().map(|hall| EventHall { name: None, ..hall });
        let tournament = Tournament::default().at_hub(&unnamed);
        assert_eq!(tournament.table_of("south/kiebitz/board-3"), Some(3));
        let view = serde_json::to_value(tournament.hall_views()).expect("JSON");
        assert_eq!(
            view[1],
            serde_json::json!({"base": 2000, "name": "south", "named": false})
        );
    }
}
