//! Merges several files into one event.

use std::collections::{BTreeMap, BTreeSet};

use super::doubt::{Capped, Doubt, DoubtKind, Severity};
use super::people::People;
use super::read::ParsedFile;
use super::{CarriedPoints, FilePosition, Pairing, Player, Round, Tournament};

/// Merges files into one event. Files take precedence by format and then by their order; later files add missing data,
/// and contradictions are reported.
///
/// If pairings of a player contradict each other, the first one counts: a later pairing is left out if it comes from
/// another file, and kept if it comes from the same file. A pairing whose table is already taken is left without a
/// table.
pub(super) fn merge(mut files: Vec<ParsedFile>) -> (Tournament, Vec<Doubt>) {
    files.sort_by_key(|file| file.format);
    let mut doubts = Capped::default();
    for file in &mut files {
        doubts.extend(core::mem::take(&mut file.doubts));
    }
    let people = People::of(
        files.iter().flat_map(|file| file.tournament.everybody()),
        &mut doubts,
    );
    let mut tournament = Tournament::default();
    let mut rounds: BTreeMap<u32, MergedRound> = BTreeMap::new();
    let mut listed = BTreeSet::new();
    for file in files {
        let Tournament {
            name,
            site,
            federation,
            time_control,
            players,
            rounds: file_rounds,
            carried,
            halls: _,
            keys: _,
        } = file.tournament;
        tournament.name = tournament.name.or(name);
        tournament.site = tournament.site.or(site);
        tournament.federation = tournament.federation.or(federation);
        tournament.time_control = tournament.time_control.or(time_control);
        for player in players {
            let index = people.index(&player);
            if index.is_none_or(|index| listed.insert(index)) {
                tournament
                    .players
                    .extend(index.and_then(|index| people.known(index, &player.place)));
            }
        }
        // Points of different dates must not be mixed.
        if tournament.carried.is_empty() {
            tournament.carried = carried;
            for CarriedPoints { player, .. } in &mut tournament.carried {
                let known = people
                    .index(player)
                    .and_then(|index| people.known(index, &player.place));
                *player = known.unwrap_or_else(|| player.clone());
            }
        }
        for (number, round) in file_rounds {
            let merged = rounds.entry(number).or_insert_with(|| MergedRound::new(number));
            merged.date = merged.date.take().or(round.date);
            merged.time_control = merged.time_control.take().or(round.time_control);
            for pairing in round.pairings {
                merged.add(pairing, &people, &mut doubts);
            }
        }
    }
    tournament.rounds = rounds
        .into_iter()
        .map(|(number, round)| (number, round.finish(&people)))
        .collect();
    (tournament, doubts.finish())
}

#[derive(Debug)]
struct MergedRound {
    number: u32,
    date: Option<String>,
    time_control: Option<String>,
    pairings: Vec<Pairing>,
    /// Index of the first pairing of each person.
    first_pairing: BTreeMap<usize, usize>,
    /// Index of the pairing at each table, by hall in lower case.
    tables: BTreeMap<(Option<String>, u32), usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pair {
    white: Option<usize>,
    black: Option<usize>,
}

impl Pair {
    fn of(pairing: &Pairing, people: &People) -> Self {
        let index = |player: &Option<Player>| player.as_ref().and_then(|player| people.index(player));
        Self {
            white: index(&pairing.white),
            black: index(&pairing.black),
        }
    }

    const fn swapped(self) -> Self {
        Self {
            white: self.black,
            black: self.white,
        }
    }
}

impl MergedRound {
    const fn new(number: u32) -> Self {
        Self {
            number,
            date: None,
            time_control: None,
            pairings: Vec::new(),
            first_pairing: BTreeMap::new(),
            tables: BTreeMap::new(),
        }
    }

    fn add(&mut self, pairing: Pairing, people: &People, doubts: &mut Capped<Doubt>) {
        let mut report = |severity, about, place: &FilePosition, text| {
            doubts.push(Doubt::new(severity, about, place.clone(), text))
        };
        let pair = Pair::of(&pairing, people);
        let round = self.number;
        if pair.white.is_some() && pair.white == pair.black {
            let text = format!(
                "{} are the same player: this pairing of round {round} is left out",
                names_of(&pairing)
            );
            report(Severity::Lost, DoubtKind::Twice, &pairing.place, text);
            return;
        }
        let found = [pair.white, pair.black]
            .into_iter()
            .flatten()
            .find_map(|person| self.first_pairing.get(&person).copied());
        let earlier = found.and_then(|index| Some((index, self.pairings.get(index)?)));
        let Some((index, earlier)) = earlier else {
            return self.insert(pairing, pair, doubts);
        };
        let before = Pair::of(earlier, people);
        let (is_same, is_turned) = (before == pair, before == pair.swapped());
        let same_file = earlier.place.file == pairing.place.file;
        let place = earlier.place.clone();
        if is_same || is_turned {
            if is_turned && pairing.is_played() {
                let text = format!(
                    "{} have the opposite colours in round {round} at {place}, which are used",
                    names_of(&pairing)
                );
                report(Severity::Lost, DoubtKind::Contradiction, &pairing.place, text);
            } else if same_file {
                let text = format!(
                    "{}: this pairing of round {round} is already at {place}, and counts once",
                    names_of(&pairing)
                );
                report(Severity::Note, DoubtKind::Twice, &pairing.place, text);
            }
            return self.complete(index, pairing, doubts);
        }
        let text = match same_file {
            true => format!(
                "{} are also in another pairing of round {round}, at {place}: correct one of them",
                names_of(&pairing)
            ),
            false => format!(
                "{}: one of these players has another opponent in round {round} at {place}, which is used; this \
                 pairing is left out",
                names_of(&pairing)
            ),
        };
        report(Severity::Lost, DoubtKind::Twice, &pairing.place, text);
        if same_file {
            self.insert(pairing, pair, doubts);
        }
    }

    fn insert(&mut self, mut pairing: Pairing, pair: Pair, doubts: &mut Capped<Doubt>) {
        let index = self.pairings.len();
        for person in [pair.white, pair.black].into_iter().flatten() {
            self.first_pairing.entry(person).or_insert(index);
        }
        pairing.table = self.table(pairing.table, index, &pairing, doubts);
        self.pairings.push(pairing);
    }

    /// Reserves the table for a pairing. Returns `None` and reports a doubt if the table is taken.
    fn table(
        &mut self,
        table: Option<u32>,
        index: usize,
        pairing: &Pairing,
        doubts: &mut Capped<Doubt>,
    ) -> Option<u32> {
        let table = table?;
        let hall = pairing.hall.as_ref().map(|hall| hall.to_lowercase());
        let taken = self
            .tables
            .get(&(hall.clone(), table))
            .and_then(|index| self.pairings.get(*index));
        if let Some(other) = taken {
            let text = format!(
                "table {table} of round {} belongs to {} at {}, and to {} here: correct one of them",
                self.number,
                names_of(other),
                other.place,
                names_of(pairing)
            );
            doubts.push(Doubt::new(
                Severity::Lost,
                DoubtKind::Table,
                pairing.place.clone(),
                text,
            ));
            return None;
        }
        self.tables.insert((hall, table), index);
        Some(table)
    }

    /// Adds data about a pairing from another position.
    fn complete(&mut self, index: usize, more: Pairing, doubts: &mut Capped<Doubt>) {
        let Some(known) = self.pairings.get(index) else {
            return;
        };
        let mut table = known.table;
        match (known.table, more.table) {
            (Some(one), Some(other)) if one != other => {
                let text = format!(
                    "{} play at table {other} here, but at table {one} at {}, which is used",
                    names_of(&more),
                    known.place
                );
                doubts.push(Doubt::new(
                    Severity::Lost,
                    DoubtKind::Table,
                    more.place.clone(),
                    text,
                ));
            }
            (None, Some(_)) => table = self.table(more.table, index, &more, doubts),
            _ => {}
        }
        if let Some(known) = self.pairings.get_mut(index) {
            known.table = table;
            known.hall = known.hall.take().or(more.hall);
            known.board = known.board.or(more.board);
            known.result = known.result.or(more.result);
            known.unplayed = known.unplayed.or(more.unplayed);
        }
    }

    fn finish(self, people: &People) -> Round {
        let mut pairings = self.pairings;
        for pairing in &mut pairings {
            for player in [&mut pairing.white, &mut pairing.black].into_iter().flatten() {
                if let Some(known) = people
                    .index(player)
                    .and_then(|index| people.known(index, &player.place))
                {
                    *player = known;
                }
            }
        }
        // Reports have no tables. In a round with a single match, the boards of the match are the tables. A single game
        // gets table 1, unless a bye has it.
        if pairings.iter().all(|pairing| pairing.table.is_none()) {
            pairings
                .iter_mut()
                .for_each(|pairing| pairing.table = pairing.board);
        }
        let is_free = !self.tables.keys().any(|(_, table)| *table == 1);
        let mut played = pairings.iter_mut().filter(|pairing| pairing.is_played());
        if let (Some(only), None) = (played.next(), played.next())
            && is_free
        {
            only.table.get_or_insert(1);
        }
        pairings.sort_by_key(|pairing| (pairing.table.is_none(), pairing.table));
        Round {
            date: self.date,
            time_control: self.time_control,
            pairings,
        }
    }
}

/// Joins the names of a pairing's players with "and".
fn names_of(pairing: &Pairing) -> String {
    let names = [&pairing.white, &pairing.black].into_iter().flatten();
    let names: Vec<&str> = names.map(|player| player.name.as_str()).collect();
    names.join(" and ")
}

#[cfg(test)]
mod tests;
