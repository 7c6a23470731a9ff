//! The event's data: who plays whom at which table, round by round, as the files of pairing programs say it.
//!
//! It is a table that others look things up in. What it says of a game gets into that game as a command, like everything
//! that people say.
//!
//! `read.rs` finds out which format a file has; `pgn.rs`, `trf.rs` and `csv.rs` read it; `merge.rs` makes one event of all
//! of them. What is not clear is a [`Doubt`] with its place, and the rest is read. `check.rs` says before a round what will
//! be missed.

mod check;
mod csv;
mod doubt;
mod fide_list;
pub(crate) mod files;
mod games;
mod merge;
mod names;
mod people;
mod pgn;
mod read;
pub mod seating;
mod table;
mod text;
mod trf;
mod values;
pub(crate) mod watch;

use std::collections::BTreeMap;

pub use check::{Check, Finding, Totals};
pub(crate) use check::{lost, report};
pub use doubt::{Doubt, DoubtKind, FileError, ReadError, Severity};
pub use fide_list::{FideEntry, FideList, ListError};
pub(crate) use read::read_with;
pub use read::{read, read_bytes, read_round};
pub(crate) use table::number_in;
pub use table::table_of;

use kiebitz_game::events::{GameResult, PlayerFacts, Players};

/// An event: what all its files together say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tournament {
    /// Its name.
    pub name: Option<String>,
    /// Where it takes place.
    pub site: Option<String>,
    /// The federation, in three letters.
    pub federation: Option<String>,
    /// The time control of all rounds that have none of their own, as it was written.
    pub time_control: Option<String>,
    /// The players that a list names, whether or not they are paired.
    pub players: Vec<Player>,
    /// The rounds, by their numbers from 1.
    pub rounds: BTreeMap<u32, Round>,
}

/// One round.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Round {
    /// Its day, as in "2026-11-23".
    pub date: Option<String>,
    /// Its time control, as it was written.
    pub time_control: Option<String>,
    /// Its pairings in the order of the tables; those without a table come last, in the order of the files.
    pub pairings: Vec<Pairing>,
}

/// Two players who are to play each other, or one who has nobody to play.
#[derive(Debug, Clone, PartialEq)]
pub struct Pairing {
    /// The table, from 1.
    pub table: Option<u32>,
    /// White; `None`: nobody.
    pub white: Option<Player>,
    /// Black; `None`: nobody.
    pub black: Option<Player>,
    /// How it ended, where the file says so.
    pub result: Option<GameResult>,
    /// Where it was read.
    pub place: FilePosition,
}

/// A player.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Player {
    /// The name as it was written, mostly "Last, First".
    pub name: String,
    /// What else is known.
    pub facts: PlayerFacts,
    /// Where the name was read.
    pub place: FilePosition,
}

/// A place in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilePosition {
    /// The file's name.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The character in it, from 1.
    pub column: usize,
}

impl Tournament {
    /// The pairing of a table in a round.
    #[must_use]
    pub fn pairing(&self, round: u32, table: u32) -> Option<&Pairing> {
        let pairings = &self.rounds.get(&round)?.pairings;
        pairings.iter().find(|pairing| pairing.table == Some(table))
    }

    /// The results that the files have, with round and table.
    pub(crate) fn results(&self) -> impl Iterator<Item = (u32, u32, GameResult)> {
        self.rounds.iter().flat_map(|(round, of_round)| {
            let played = of_round.pairings.iter().filter(|pairing| pairing.is_played());
            played.filter_map(|pairing| Some((*round, pairing.table?, pairing.result?)))
        })
    }

    /// Everybody, at each place where they stand: first as listed, then as paired.
    pub fn everybody(&self) -> impl Iterator<Item = &Player> + Clone {
        let pairings = self.rounds.values().flat_map(|round| &round.pairings);
        let paired = pairings
            .flat_map(|pairing| [&pairing.white, &pairing.black])
            .flatten();
        self.players.iter().chain(paired)
    }

    /// What is known of the player of that name, however it is spelled; nothing if several players have it. `None` if nobody
    /// has it.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<PlayerFacts> {
        let key = names::key(name);
        let mut found = self.everybody().filter(|player| names::key(&player.name) == key);
        let first = found.next()?;
        let is_ambiguous = found.any(|other| other.facts.fide_id != first.facts.fide_id);
        Some(if is_ambiguous {
            PlayerFacts::default()
        } else {
            first.facts.clone()
        })
    }

    /// The time control of a round, as it was written.
    #[must_use]
    pub fn time_control(&self, round: u32) -> Option<&str> {
        let own = self
            .rounds
            .get(&round)
            .and_then(|round| round.time_control.as_deref());
        own.or(self.time_control.as_deref())
    }
}

impl Pairing {
    /// Whether two players play, so that there is a game.
    #[must_use]
    pub const fn is_played(&self) -> bool {
        self.white.is_some() && self.black.is_some()
    }

    /// Who plays, for the game's record.
    #[must_use]
    pub fn players(&self, round: u32) -> Players {
        let name = |player: &Option<Player>| player.as_ref().map(|player| player.name.clone());
        let facts = |player: &Option<Player>| {
            let facts = player.as_ref().map(|player| &player.facts);
            let facts = facts.filter(|facts| **facts != PlayerFacts::default());
            facts.cloned().map(Box::new)
        };
        Players {
            white: name(&self.white),
            black: name(&self.black),
            white_player: facts(&self.white),
            black_player: facts(&self.black),
            round: Some(round),
            table: self.table,
        }
    }
}
