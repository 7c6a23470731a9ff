//! Reads FIDE's tournament report, TRF16 and TRF26: players with their facts, and pairings round by round. The report
//! has no tables, only the boards within a match of teams.
//!
//! Lines about anything but players, pairings, teams, dates and time controls are ignored, and so are unknown codes.

mod columns;
mod header;
mod line_ups;
mod pairings;

use std::collections::{BTreeMap, BTreeSet};

use kiebitz_game::events::{GameResult, PlayerFacts};

use super::doubt::{DoubtKind, Doubts, FileError};
use super::{CarriedPoints, Player, ReadError, Round, Tournament, half_points, names, values};
use columns::{Cell, TrfLineError};
use header::TrfHeader;

/// Returns whether a text is a report: one of its first lines has the code of a player (001) or of the event's name
/// (012).
pub(super) fn is_report(text: &str) -> bool {
    let mut lines = text.lines().take(SEARCHED_LINES);
    lines.any(|line| line.starts_with("001 ") || line.starts_with("012 "))
}

/// Reads a report. Also returns the players by their starting numbers.
pub(super) fn read(
    text: &str,
    doubts: &mut Doubts,
) -> Result<(Tournament, BTreeMap<u32, Player>), ReadError> {
    let place = doubts.place(1, 1);
    super::text::check_lines(text, &place.file)?;
    let mut header = TrfHeader::default();
    let mut entries = Entries::default();
    for (number, line) in (1..).zip(text.lines()) {
        match line.get(..3) {
            Some("001") if line.contains('|') => return Err(FileError::Divided.at(&place.file, number, 1)),
            Some("001") => {
                entries.player(number, line, doubts);
                let rounds = entries.list.last().map_or(0, |entry| entry.rounds.len());
                doubts.add_entries(1 + rounds / 2, number)?;
            }
            Some(code) => header.line(code, line, number, doubts)?,
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
        rounds: pairings::rounds(&entries, &header, doubts),
        ..Tournament::default()
    };
    tournament.carried = carried(&entries, &tournament.rounds);
    header.put_dates(&mut tournament.rounds);
    let numbered = entries.list.into_iter().map(|entry| (entry.number, entry.player));
    Ok((tournament, numbered.collect()))
}

/// Returns the points of the players without those from `rounds`. Empty if the points of a player do not fit the
/// rounds, as in events in which a win counts three points. The points may lack byes of the latest rounds, because a
/// report that is made at the pairing already lists these byes.
fn carried(entries: &Entries, rounds: &BTreeMap<u32, Round>) -> Vec<CarriedPoints> {
    // Players are identified by their line in the report.
    let mut earned: BTreeMap<usize, u32> = BTreeMap::new();
    let mut byes: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    for pairing in rounds.values().flat_map(|round| &round.pairings) {
        if let (Some(player), Some(bye)) = (pairing.alone(), pairing.bye()) {
            byes.entry(player.place.line).or_default().push(bye.half_points());
            continue;
        }
        let (white, black) = half_points(pairing.result.unwrap_or(GameResult::Unknown));
        for (player, points) in [(&pairing.white, white), (&pairing.black, black)] {
            if let Some(player) = player {
                *earned.entry(player.place.line).or_default() += points;
            }
        }
    }
    let mut carried = Vec::new();
    for entry in &entries.list {
        let Some(total) = entry.half_points else { continue };
        let in_rounds = earned.get(&entry.player.place.line).copied().unwrap_or_default();
        let has_room =
            usize::try_from(total).is_ok_and(|total| total <= 2 * entry.rounds.iter().flatten().count());
        let Some(mut rest) = total.checked_sub(in_rounds).filter(|_| has_room) else {
            return Vec::new();
        };
        for points in byes.get(&entry.player.place.line).into_iter().flatten() {
            rest = rest.checked_sub(*points).unwrap_or(rest);
        }
        carried.push(CarriedPoints {
            player: entry.player.clone(),
            half_points: rest,
        });
    }
    carried
}

#[derive(Debug, Default)]
struct Entries {
    list: Vec<PlayerEntry>,
    /// Indexes into the list by the players' numbers.
    by_number: BTreeMap<u32, usize>,
    /// Numbers of lines that stand for a missing opponent, such as "spielfrei".
    byes: BTreeSet<u32>,
}

#[derive(Debug)]
struct PlayerEntry {
    number: u32,
    player: Player,
    half_points: Option<u32>,
    /// Rounds of the player, from the first; `None` if the player is absent.
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
                let reason =
                    "this player has no number in columns 5 to 8, and is left out: export the report again";
                return doubts.lost(DoubtKind::Unclear, (number, 5), reason);
            }
            Err(TrfLineError::Columns) => {
                let reason = "rating, federation and FIDE id are not in columns 49 to 68 of this line: the player is left \
                           out; export the report again";
                return doubts.lost(DoubtKind::Unclear, (number, 49), reason);
            }
        };
        if !line.rounds_fit {
            let reason =
                "the rounds of this player are not in columns of ten from column 92 on, and are left out";
            doubts.lost(DoubtKind::Unclear, (number, columns::FIRST_ROUND), reason);
        }
        if self.by_number.contains_key(&line.number) || self.byes.contains(&line.number) {
            let reason = format!("a second player has the number {}, and is left out", line.number);
            return doubts.lost(DoubtKind::Contradiction, (number, 5), reason);
        }
        if names::is_nobody(&line.name) && line.name.contains(char::is_alphanumeric) {
            self.byes.insert(line.number);
            let reason = format!("{:?} means that the opponent has nobody to play", line.name);
            return doubts.note(DoubtKind::Bye, (number, 15), reason);
        }
        if names::is_nobody(&line.name) {
            let reason = "this player has no name in columns 15 to 47, and is left out";
            return doubts.lost(DoubtKind::Unclear, (number, 15), reason);
        }
        for (round, cell) in (1..).zip(&line.rounds) {
            let Some((cell, code)) = cell.and_then(|cell| Some((cell, cell.unknown?))) else {
                continue;
            };
            let text = format!(
                "\"{code}\" in round {round} of {} is not a result of a report, and is read as no result: the codes are 1, \
                 0, =, +, -, W, D, L, and F, H, U, Z for byes",
                line.name
            );
            doubts.note(DoubtKind::Value, (number, cell.column + columns::RESULT), text);
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
            half_points: line.half_points,
            rounds: line.rounds,
        });
    }
}

/// Returns the facts of a player, except title and team.
fn facts(line: &columns::TrfLine, number: usize, doubts: &mut Doubts) -> PlayerFacts {
    let fide_id = match values::fide_id(&line.id) {
        Ok(Some((id, doubt))) => {
            if let Some(problem) = doubt {
                doubts.note(DoubtKind::FideId, (number, line.id_column), problem.to_string());
            }
            Some(id)
        }
        Ok(None) => None,
        Err(problem) => {
            doubts.lost(DoubtKind::FideId, (number, line.id_column), problem.to_string());
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

/// Number of lines in which the code of a report is searched.
const SEARCHED_LINES: usize = 100;

#[cfg(test)]
mod tests;
