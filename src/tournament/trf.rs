//! FIDE's report, TRF16 and TRF26: players with what is known of them, pairings round by round, and no tables.
//!
//! What is not about players, pairings, teams, dates or time controls is passed over, and so are codes that are not known.

mod columns;
mod header;
mod pairings;

use std::collections::BTreeMap;

use kiebitz_game::events::PlayerFacts;

use super::doubt::{DoubtKind, Doubts, FileError};
use super::{Player, ReadError, Tournament, names, values};
use columns::{Cell, TrfLineError};
use header::TrfHeader;

/// Whether a text is a report: a line of it has the code of a player, or of the event's name.
pub(super) fn is_report(text: &str) -> bool {
    let mut lines = text.lines().take(LOOKED_AT);
    lines.any(|line| line.starts_with("001 ") || line.starts_with("012 "))
}

/// Reads a report.
pub(super) fn read(text: &str, doubts: &mut Doubts) -> Result<Tournament, ReadError> {
    let place = doubts.place(1, 1);
    let mut header = TrfHeader::default();
    let mut entries = Entries::default();
    for (number, line) in (1..).zip(text.lines()) {
        match line.get(..3) {
            Some("001") if line.contains('|') => return Err(FileError::Divided.at(&place.file, number, 1)),
            Some("001") => entries.player(number, line, doubts),
            Some(code) => header.line(code, line, number, doubts),
            None => {}
        }
    }
    if entries.list.is_empty() {
        return Err(FileError::Nothing("player (a line with 001)").at(&place.file, 1, 1));
    }
    header.put_teams(&mut entries);
    let mut tournament = Tournament {
        name: header.name.clone(),
        site: header.city.clone(),
        federation: header.federation.clone(),
        time_control: header.time_control(),
        players: entries.list.iter().map(|entry| entry.player.clone()).collect(),
        rounds: pairings::rounds(&entries, &header.byes, doubts),
    };
    header.put_dates(&mut tournament.rounds);
    Ok(tournament)
}

/// The players of a report.
#[derive(Debug, Default)]
struct Entries {
    list: Vec<PlayerEntry>,
    /// The places in the list by the players' numbers.
    by_number: BTreeMap<u32, usize>,
}

#[derive(Debug)]
struct PlayerEntry {
    number: u32,
    player: Player,
    /// Its rounds, from the first.
    rounds: Vec<Option<Cell>>,
}

impl Entries {
    fn get(&self, number: u32) -> Option<&PlayerEntry> {
        self.list.get(*self.by_number.get(&number)?)
    }

    fn get_mut(&mut self, number: u32) -> Option<&mut PlayerEntry> {
        self.list.get_mut(*self.by_number.get(&number)?)
    }

    fn player(&mut self, number: usize, text: &str, doubts: &mut Doubts) {
        let line = match columns::line(text) {
            Ok(line) => line,
            Err(TrfLineError::Number) => {
                let why =
                    "this player has no number in columns 5 to 8, and is left out: export the report again";
                return doubts.lost(DoubtKind::Unclear, (number, 5), why);
            }
            Err(TrfLineError::Columns) => {
                let why = "rating, federation and FIDE id are not in columns 49 to 68 of this line: the player is left \
                           out; export the report again";
                return doubts.lost(DoubtKind::Unclear, (number, 49), why);
            }
        };
        if !line.rounds_fit {
            let why =
                "the rounds of this player are not in columns of ten from column 92 on, and are left out";
            doubts.lost(DoubtKind::Unclear, (number, columns::FIRST_ROUND), why);
        }
        if names::is_nobody(&line.name) {
            let why = "this player has no name in columns 15 to 47, and is left out";
            return doubts.lost(DoubtKind::Unclear, (number, 15), why);
        }
        if self.by_number.contains_key(&line.number) {
            let why = format!("a second player has the number {}, and is left out", line.number);
            return doubts.lost(DoubtKind::Contradiction, (number, 5), why);
        }
        let facts = facts(&line, number, doubts);
        let (name, title) = names::without_title(&line.name);
        let title = values::title(&line.title).or_else(|| title.and_then(values::title));
        self.by_number.insert(line.number, self.list.len());
        self.list.push(PlayerEntry {
            number: line.number,
            player: Player {
                name: name.to_owned(),
                facts: PlayerFacts { title, ..facts },
                place: doubts.place(number, 15),
            },
            rounds: line.rounds,
        });
    }
}

/// What is known of a player, but for title and team.
fn facts(line: &columns::TrfLine, number: usize, doubts: &mut Doubts) -> PlayerFacts {
    let fide_id = match values::fide_id(&line.id) {
        Ok(Some((id, doubt))) => {
            if let Some(odd) = doubt {
                doubts.note(DoubtKind::FideId, (number, line.id_column), odd.to_string());
            }
            Some(id)
        }
        Ok(None) => None,
        Err(odd) => {
            doubts.lost(DoubtKind::FideId, (number, line.id_column), odd.to_string());
            None
        }
    };
    PlayerFacts {
        fide_id,
        title: None,
        rating: values::rating(&line.rating).ok().flatten(),
        federation: values::known(&line.federation).map(str::to_owned),
        team: None,
    }
}

/// In lines.
const LOOKED_AT: usize = 100;

#[cfg(test)]
mod tests;
