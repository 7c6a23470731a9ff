//! Reads the lines of a report about the event, its teams and the dates of its rounds.

use std::collections::BTreeMap;

use super::super::doubt::{DoubtKind, Doubts};
use super::super::{ReadError, Round, UnplayedRound, values};
use super::Entries;
use super::columns::{FIRST_ROUND, WIDTH};

#[derive(Debug, Default)]
pub(super) struct TrfHeader {
    pub(super) name: Option<String>,
    pub(super) city: Option<String>,
    pub(super) federation: Option<String>,
    /// Time control in FIDE's encoding, which is that of PGN.
    encoded: Option<String>,
    /// Time control in words.
    allotted: Option<String>,
    begins: Option<String>,
    ends: Option<String>,
    /// Dates of the rounds as written, by round.
    days: BTreeMap<u32, String>,
    pub(super) teams: Vec<Team>,
    /// Index of the team of each player, by starting number.
    pub(super) team_of: BTreeMap<u32, usize>,
    pub(super) line_ups: Vec<LineUp>,
    /// Byes of players, or of teams if the event has teams with numbers.
    byes: Vec<ListedBye>,
}

#[derive(Debug)]
pub(super) struct Team {
    /// Number of the team; `None` with the old code 013.
    number: Option<u32>,
    name: String,
    /// Starting numbers of the players, in the order of the boards.
    pub(super) players: Vec<u32>,
}

/// Line-up of a team in a round that differs from the order of the team.
#[derive(Debug)]
pub(super) struct LineUp {
    round: u32,
    team: u32,
    /// Starting numbers in the order of the boards; 0 for an empty board.
    players: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct ListedBye {
    pub(super) round: u32,
    /// Number of the player, or of the team.
    pub(super) player: u32,
    pub(super) kind: UnplayedRound,
    pub(super) line: usize,
}

impl TrfHeader {
    /// Reads a line. Fails if the file has more entries than any real event.
    pub(super) fn line(
        &mut self,
        code: &str,
        line: &str,
        number: usize,
        doubts: &mut Doubts,
    ) -> Result<(), ReadError> {
        let value = line.get(3..).and_then(values::known).map(str::to_owned);
        let time_control = || line.get(3..).and_then(values::time_control).map(str::to_owned);
        match code {
            "012" => self.name = self.name.take().or(value),
            "022" => self.city = self.city.take().or(value),
            "032" => self.federation = self.federation.take().or(value),
            "042" => self.begins = value.as_deref().and_then(values::date),
            "052" => self.ends = value.as_deref().and_then(values::date),
            "122" => self.allotted = self.allotted.take().or_else(time_control),
            "222" => self.encoded = self.encoded.take().or_else(time_control),
            "132" => self.days(line),
            "013" => self.team(line, OLD_ROSTER, number, doubts)?,
            "310" => self.team(line, ROSTER, number, doubts)?,
            "240" => self.byes(line, number),
            "300" => {
                self.line_ups.extend(line_up(line));
                doubts.add_entries(1, number)?;
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn time_control(&self) -> Option<String> {
        self.encoded.clone().or_else(|| self.allotted.clone())
    }

    /// Reads the dates above the rounds. A date that is some columns off belongs to the nearest round.
    fn days(&mut self, line: &str) {
        for (column, word) in words(line) {
            let beyond = (column + WIDTH / 2).checked_sub(FIRST_ROUND);
            if let Some(round) = beyond.and_then(|beyond| u32::try_from(beyond / WIDTH + 1).ok()) {
                self.days.insert(round, word.to_owned());
            }
        }
    }

    /// Reads a team: the name from column `from` on, then the starting numbers of the players.
    fn team(&mut self, line: &str, from: usize, number: usize, doubts: &mut Doubts) -> Result<(), ReadError> {
        let name: String = line.chars().skip(from - 1).take(TEAM_NAME).collect();
        let name = name.trim();
        let players = match from {
            ROSTER => roster_columns(line).unwrap_or_else(|| roster_words(line)),
            _ => numbers_from(line, from + TEAM_NAME),
        };
        if name.is_empty() || players.is_empty() {
            let reason =
                "the name or the players of this team are not in their columns: the team is left out";
            doubts.note(DoubtKind::Unclear, (number, from), reason);
            return Ok(());
        }
        doubts.add_entries(players.len(), number)?;
        for player in &players {
            self.team_of.entry(*player).or_insert(self.teams.len());
        }
        let words = line.split_whitespace().nth(1);
        self.teams.push(Team {
            number: words
                .filter(|_| from == ROSTER)
                .and_then(|number| number.parse().ok()),
            name: name.to_owned(),
            players,
        });
        Ok(())
    }

    /// Reads byes such as "240 H 003  026  047", half a point in round 3. Absences without points ("Z") are ignored.
    fn byes(&mut self, line: &str, number: usize) {
        let mut words = line.split_whitespace().skip(1);
        let kind = match words.next() {
            Some("F" | "f") => UnplayedRound::FullPointBye,
            Some("H" | "h") => UnplayedRound::HalfPointBye,
            _ => return,
        };
        let Some(round) = words.next().and_then(|round| round.parse().ok()) else {
            return;
        };
        let players = words.filter_map(|word| word.parse().ok());
        self.byes.extend(players.map(|player| ListedBye {
            round,
            player,
            kind,
            line: number,
        }));
    }

    /// Returns the byes of players. Empty if the byes are those of teams: the points of their players are in the players'
    /// own lines.
    pub(super) fn byes_of_players(&self) -> &[ListedBye] {
        match self.teams.iter().any(|team| team.number.is_some()) {
            true => &[],
            false => &self.byes,
        }
    }

    pub(super) fn put_teams(&self, entries: &mut Entries) {
        for team in &self.teams {
            for number in &team.players {
                if let Some(entry) = entries.get_mut(*number) {
                    let name = || team.name.clone();
                    entry.player.facts.team.get_or_insert_with(name);
                }
            }
        }
    }

    /// Returns the line-up of a team in a round, if the report has one.
    pub(super) fn line_up(&self, round: u32, team: &Team) -> Option<&[u32]> {
        let mut line_ups = self.line_ups.iter();
        let found = line_ups.find(|line_up| line_up.round == round && Some(line_up.team) == team.number)?;
        Some(&found.players)
    }

    pub(super) fn put_dates(&self, rounds: &mut BTreeMap<u32, Round>) {
        for (number, round) in rounds {
            round.date = self.days.get(number).and_then(|text| self.day(text));
        }
    }

    /// Parses a date such as "26/11/23". Some programs swap year and day, so a date within the event is preferred.
    fn day(&self, text: &str) -> Option<String> {
        if let Some(day) = values::date(text) {
            return Some(day);
        }
        let parts: Vec<&str> = text.split(['/', '.', '-']).collect();
        let [first, month, last] = parts.as_slice() else {
            return None;
        };
        let readings = [(first, last), (last, first)];
        let days = readings.map(|(year, day)| values::day(&format!("20{year}"), month, day));
        let is_within = |day: &&String| {
            let begins = self.begins.as_ref().is_some_and(|begins| begins <= *day);
            begins && self.ends.as_ref().is_some_and(|ends| *day <= ends)
        };
        let mut found = days.iter().flatten();
        found.clone().find(is_within).or_else(|| found.next()).cloned()
    }
}

/// Reads the players of a team by their columns: from column 74 on, in cells of five characters. Returns `None` if the
/// line does not fit, even if its columns after the name are shifted left because the program counted bytes.
fn roster_columns(line: &str) -> Option<Vec<u32>> {
    let characters: Vec<char> = line.trim_end().chars().collect();
    let extra_bytes = line.len() - line.chars().count();
    [0, extra_bytes].into_iter().find_map(|shift| {
        let is_blank = |column: usize| {
            let index = column.checked_sub(shift + 1)?;
            Some(characters.get(index)?.is_whitespace())
        };
        // The columns between strength, points of the matches, points of the games, rank and players.
        let are_blank = [54, 61, 68, 72, 73]
            .iter()
            .all(|column| is_blank(*column) == Some(true));
        let cells = characters.get(ROSTER_PLAYERS.checked_sub(shift + 1)?..)?;
        let cells = cells
            .chunks(PLAYER_WIDTH)
            .map(|cell| cell.iter().collect::<String>());
        let numbers = cells.filter(|cell| !cell.trim().is_empty());
        let numbers: Option<Vec<u32>> = numbers.map(|cell| cell.trim().parse().ok()).collect();
        numbers.filter(|numbers| are_blank && !numbers.is_empty())
    })
}

/// Reads the players of a team whose columns do not fit. Points come first, then the rank, then the players.
fn roster_words(line: &str) -> Vec<u32> {
    let words: Vec<(usize, &str)> = words(line).collect();
    let points = words.iter().rposition(|(_, word)| word.contains('.'));
    match points {
        Some(points) => numbers(words.get(points + 2..).unwrap_or_default()),
        None => numbers_from(line, ROSTER_PLAYERS),
    }
}

/// Reads the numbers from a column on. If the program counted bytes, they are shifted left by the extra bytes of the
/// name.
fn numbers_from(line: &str, first: usize) -> Vec<u32> {
    let extra_bytes = line.len() - line.chars().count();
    let words: Vec<(usize, &str)> = words(line)
        .filter(|(column, _)| column + extra_bytes >= first)
        .collect();
    numbers(&words)
}

fn numbers(words: &[(usize, &str)]) -> Vec<u32> {
    words.iter().filter_map(|(_, word)| word.parse().ok()).collect()
}

/// Reads a line-up such as "300   1   1   2    2    1": round, team, opponent, and the players in the order of the
/// boards.
fn line_up(line: &str) -> Option<LineUp> {
    let words = line.split_whitespace().skip(1);
    let mut numbers = words.map(str::parse::<u32>);
    let (round, team) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    let _opponent = numbers.next()?.ok()?;
    let players = numbers.collect::<Result<_, _>>().ok()?;
    Some(LineUp { round, team, players })
}

/// Splits a line into words, each with its column, counted from 1.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    let words = line.split(char::is_whitespace).map(move |word| {
        let column = at + 1;
        at += word.chars().count() + 1;
        (column, word)
    });
    words.filter(|(_, word)| !word.is_empty())
}

/// Column at which a team's name begins, with the current code 310 and the old code 013.
const ROSTER: usize = 9;
const OLD_ROSTER: usize = 5;
/// Width of a team's name, in columns.
const TEAM_NAME: usize = 32;
/// Column at which the players of a team begin, with the code 310, and the width of each.
const ROSTER_PLAYERS: usize = 74;
const PLAYER_WIDTH: usize = 5;
