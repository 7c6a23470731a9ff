//! The data of an event: players and pairings, round by round, from the files of pairing programs.
//!
//! The tournament is a lookup table only. Its data reach a game as commands, in the same way as input from people.
//!
//! `read.rs` detects the format of a file; `pgn.rs`, `engine.rs`, `trf.rs` and `csv.rs` read it; `merge.rs` combines
//! the files into one event. An unclear part of a file becomes a [`Doubt`] with its position, and the rest is still
//! read. `check.rs` reports, before a round, which data are missing.

mod byes;
mod changes;
mod check;
mod csv;
mod doubt;
mod engine;
mod fide_list;
pub(crate) mod files;
mod games;
pub(crate) mod halls;
mod merge;
mod names;
mod people;
mod pgn;
mod read;
pub mod seating;
mod table;
mod text;
pub(crate) mod tie_breaks;
mod trf;
mod values;
pub(crate) mod watch;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

pub(crate) use byes::Byes;
pub(crate) use changes::{Change, changes};
pub use check::{Check, Finding, Totals};
pub(crate) use check::{lost, report};
pub use doubt::{Doubt, DoubtKind, FileError, ReadError, Severity};
pub use fide_list::{FideEntry, FideList, ListError};
pub use halls::EventHall;
pub(crate) use names::key as name_key;
pub(crate) use read::{MAX_FILE_BYTES, read_with};
pub use read::{read, read_bytes, read_round};
pub(crate) use table::number_in;
pub use table::table_of;
pub use tie_breaks::{TieBreak, UnknownTieBreak};

use kiebitz_game::events::{Bye, GameResult, PlayerFacts, Players};

/// An event, combined from all its files.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tournament {
    /// Name of the event.
    pub name: Option<String>,
    /// Place of the event.
    pub site: Option<String>,
    /// Federation, in three letters.
    pub federation: Option<String>,
    /// Time control of all rounds without their own, as written in the file.
    pub time_control: Option<String>,
    /// Players from lists of players, whether paired or not.
    pub players: Vec<Player>,
    /// Rounds by number, counted from 1.
    pub rounds: BTreeMap<u32, Round>,
    /// Points that players have besides the results in [`rounds`](Self::rounds). Empty if no file has points.
    pub carried: Vec<CarriedPoints>,
    /// At a hub, its halls in the order of their numbers; else empty.
    pub halls: Vec<EventHall>,
    /// Comparison keys of the names.
    pub(crate) keys: NameKeys,
}

/// Comparison keys of names, by the names as written. They are computed once per event, because this takes
/// microseconds for each name. Events compare as equal regardless of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct NameKeys(OnceLock<HashMap<String, String>>);

impl PartialEq for NameKeys {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Points of a player that no pairing of the files accounts for, such as those of byes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CarriedPoints {
    /// The player.
    pub player: Player,
    /// Twice the points.
    pub half_points: u32,
}

/// One round.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Round {
    /// Date, such as "2026-11-23".
    pub date: Option<String>,
    /// Time control, as written in the file.
    pub time_control: Option<String>,
    /// Pairings in the order of the tables. Pairings without a table come last, in the order of the files.
    pub pairings: Vec<Pairing>,
}

/// Two players who meet in a round, or one player without an opponent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pairing {
    /// Table number, counted from 1.
    pub table: Option<u32>,
    /// Hall of the table, if the file names it.
    pub hall: Option<String>,
    /// Board in a match of teams, counted from 1, if it is the only match of the round.
    pub board: Option<u32>,
    /// White; `None` if Black has no opponent.
    pub white: Option<Player>,
    /// Black; `None` if White has no opponent.
    pub black: Option<Player>,
    /// Result, if the file has one. For a player without an opponent, the result that gives their side the points of
    /// the bye.
    pub result: Option<GameResult>,
    /// Reason why the pairing was not played; `None` if it was, or if the file does not say.
    pub unplayed: Option<UnplayedRound>,
    /// Position of the pairing in its file.
    pub place: FilePosition,
}

/// Reason why a player did not play in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnplayedRound {
    /// A player did not appear. If the pairing has only one player, that player gets a full point.
    Forfeit,
    /// A bye from the pairing program, because the number of players was odd: a full point.
    AllocatedBye,
    /// A bye with a full point.
    FullPointBye,
    /// A bye with half a point, at the player's request.
    HalfPointBye,
    /// A bye without points, at the player's request.
    ZeroPointBye,
}

impl UnplayedRound {
    /// Returns the points for a round without an opponent.
    #[must_use]
    pub const fn points(self) -> Bye {
        match self {
            Self::Forfeit | Self::AllocatedBye | Self::FullPointBye => Bye::Full,
            Self::HalfPointBye => Bye::Half,
            Self::ZeroPointBye => Bye::Zero,
        }
    }

    /// Returns twice the points for a round without an opponent.
    #[must_use]
    pub const fn half_points(self) -> u32 {
        self.points().half_points()
    }

    /// Returns the usual reason for these points.
    #[must_use]
    pub const fn of_points(points: Bye) -> Self {
        match points {
            Bye::Full => Self::AllocatedBye,
            Bye::Half => Self::HalfPointBye,
            Bye::Zero => Self::ZeroPointBye,
        }
    }
}

/// A player.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Player {
    /// Name as written in the file, usually "Last, First".
    pub name: String,
    /// FIDE id, title, rating, federation and team.
    pub facts: PlayerFacts,
    /// Position of the name in its file.
    pub place: FilePosition,
}

/// A position in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilePosition {
    /// Name of the file, shared by all positions in it.
    pub file: Arc<str>,
    /// Line number, counted from 1.
    pub line: usize,
    /// Column, in characters, counted from 1.
    pub column: usize,
}

impl Tournament {
    /// Returns the pairing of a table in a round.
    #[must_use]
    pub fn pairing(&self, round: u32, table: u32) -> Option<&Pairing> {
        let pairings = &self.rounds.get(&round)?.pairings;
        pairings.iter().find(|pairing| pairing.table == Some(table))
    }

    /// Returns the results from the files, as round, table and result.
    pub(crate) fn results(&self) -> impl Iterator<Item = (u32, u32, GameResult)> {
        self.rounds.iter().flat_map(|(round, data)| {
            let played = data.pairings.iter().filter(|pairing| pairing.is_played());
            played.filter_map(|pairing| Some((*round, pairing.table?, pairing.result?)))
        })
    }

    /// Iterates over all mentions of players: first from the lists, then from the pairings.
    pub fn everybody(&self) -> impl Iterator<Item = &Player> + Clone {
        let pairings = self.rounds.values().flat_map(|round| &round.pairings);
        let paired = pairings
            .flat_map(|pairing| [&pairing.white, &pairing.black])
            .flatten();
        self.players.iter().chain(paired)
    }

    /// Computes the comparison keys of all names, which otherwise happens on first use.
    pub(crate) fn fold_names(&self) -> &HashMap<String, String> {
        self.keys.0.get_or_init(|| {
            let mut keys = HashMap::new();
            for player in self.everybody() {
                if !keys.contains_key(&player.name) {
                    keys.insert(player.name.clone(), names::key(&player.name));
                }
            }
            keys
        })
    }

    /// Returns the comparison key of a name.
    pub(crate) fn key<'t>(&'t self, name: &str) -> Cow<'t, str> {
        let known = self.fold_names().get(name);
        known.map_or_else(|| names::key(name).into(), |key| key.as_str().into())
    }

    /// Returns the facts of the player with this name, regardless of its spelling. The facts are empty if several
    /// players have the name. Returns `None` if no player has it.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<PlayerFacts> {
        let key = self.key(name);
        let mut found = self.everybody().filter(|player| self.key(&player.name) == key);
        let first = found.next()?;
        let is_ambiguous = found.any(|other| other.facts.fide_id != first.facts.fide_id);
        Some(if is_ambiguous {
            PlayerFacts::default()
        } else {
            first.facts.clone()
        })
    }

    /// Returns the time control of a round, as written in the file.
    #[must_use]
    pub fn time_control(&self, round: u32) -> Option<&str> {
        let of_round = self
            .rounds
            .get(&round)
            .and_then(|round| round.time_control.as_deref());
        of_round.or(self.time_control.as_deref())
    }
}

/// Returns twice the points of White and of Black for a result; a win counts one point.
pub(crate) const fn half_points(result: GameResult) -> (u32, u32) {
    match result {
        GameResult::WhiteWins => (2, 0),
        GameResult::BlackWins => (0, 2),
        GameResult::Draw => (1, 1),
        GameResult::HalfForWhite => (1, 0),
        GameResult::HalfForBlack => (0, 1),
        GameResult::BothLose | GameResult::Unknown => (0, 0),
    }
}

/// Returns the result after the players have swapped colours.
const fn swapped(result: GameResult) -> GameResult {
    match result {
        GameResult::WhiteWins => GameResult::BlackWins,
        GameResult::BlackWins => GameResult::WhiteWins,
        GameResult::HalfForWhite => GameResult::HalfForBlack,
        GameResult::HalfForBlack => GameResult::HalfForWhite,
        GameResult::Draw | GameResult::BothLose | GameResult::Unknown => result,
    }
}

impl Pairing {
    /// Returns the pairing with White and Black swapped; the points of each player stay.
    fn with_colors_swapped(self) -> Self {
        Self {
            white: self.black,
            black: self.white,
            result: self.result.map(swapped),
            ..self
        }
    }

    /// Returns whether the pairing has two players, so that a game takes place.
    #[must_use]
    pub const fn is_played(&self) -> bool {
        self.white.is_some() && self.black.is_some()
    }

    /// Returns the players for the game's record.
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
