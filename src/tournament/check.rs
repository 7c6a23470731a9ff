//! Check of an event before a round: reports missing and contradictory data.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kiebitz_game::laws::TimeControl;
use serde::Serialize;
use serde_json::{Value, json};

use super::doubt::{Capped, DoubtKind, Problem, Severity, shortened};
use super::{Doubt, FideEntry, FideList, FilePosition, Pairing, Player, Round, Tournament, names, table_of};

/// Data to compare an event with.
#[derive(Debug, Clone, Copy, Default)]
pub struct Check<'c> {
    /// Names of the boards. If empty, boards are not checked.
    pub boards: &'c [String],
    /// FIDE rating list, reduced to the event's players.
    pub fide: Option<&'c FideList>,
    /// Round to check. If `None`, checks all rounds with games without a result, or else the last round.
    pub round: Option<u32>,
    /// Whether missing FIDE ids are only notes, as nothing is broadcast.
    pub ids_optional: bool,
}

/// A result of the check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Severity of the finding.
    pub severity: Severity,
    /// Kind of the finding.
    pub about: DoubtKind,
    /// Position in a file; `None` if the finding does not belong to a file.
    pub place: Option<FilePosition>,
    /// A sentence with the next step.
    pub text: String,
    /// Number of problems that this finding represents: 1, unless it summarises further problems of its kind.
    pub count: usize,
}

/// Numbers of rounds, pairings and players.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Number of rounds.
    pub rounds: usize,
    /// Number of pairings with two players, in all rounds.
    pub pairings: usize,
    /// Number of different players.
    pub players: usize,
}

impl Finding {
    fn lost(about: DoubtKind, place: Option<&FilePosition>, text: impl Into<String>) -> Self {
        Self::new(Severity::Lost, about, place, text)
    }

    fn note(about: DoubtKind, place: Option<&FilePosition>, text: impl Into<String>) -> Self {
        Self::new(Severity::Note, about, place, text)
    }

    fn new(
        severity: Severity,
        about: DoubtKind,
        place: Option<&FilePosition>,
        text: impl Into<String>,
    ) -> Self {
        Self {
            severity,
            about,
            place: place.cloned(),
            text: shortened(text.into()),
            count: 1,
        }
    }
}

impl Problem for Finding {
    fn kind(&self) -> (Severity, DoubtKind) {
        (self.severity, self.about)
    }

    fn count(&self) -> usize {
        self.count
    }

    fn summarize(&mut self, count: usize, text: String) {
        self.count = count;
        self.text = text;
    }
}

impl From<Doubt> for Finding {
    fn from(doubt: Doubt) -> Self {
        Self {
            severity: doubt.severity,
            about: doubt.about,
            place: Some(doubt.place),
            text: doubt.text,
            count: doubt.count,
        }
    }
}

impl Totals {
    /// Counts rounds, pairings and players of an event.
    #[must_use]
    pub fn of(event: &Tournament) -> Self {
        let pairings = event.rounds.values().flat_map(|round| &round.pairings);
        Self {
            rounds: event.rounds.len(),
            pairings: pairings.filter(|pairing| pairing.is_played()).count(),
            players: event.everybody().map(player_key).collect::<BTreeSet<_>>().len(),
        }
    }
}

impl Check<'_> {
    /// Checks an event. Returns the findings, including the doubts from reading its files. Findings about missing data
    /// come first, then those for information only; each group is in the order of the files.
    #[must_use]
    pub fn findings(&self, event: &Tournament, doubts: Vec<Doubt>) -> Vec<Finding> {
        let mut found = Capped::default();
        found.extend(doubts.into_iter().map(Finding::from));
        let checked = self.rounds(event);
        if let Some(round) = self.round.filter(|_| checked.is_empty()) {
            let text = format!("the files have no round {round}: export its pairings");
            found.push(Finding::lost(DoubtKind::Round, None, text));
        } else if event.rounds.is_empty() {
            let text = "the files have players but no pairings: export the pairings of the round";
            found.push(Finding::lost(DoubtKind::Round, None, text));
        }
        for (number, round) in &checked {
            self::round(*number, round, &mut found);
            found.extend(time_control(*number, event.time_control(*number), round));
            boards(*number, round, self.boards, &mut found);
        }
        self.players(event, &checked, &mut found);
        let mut found = found.finish();
        let order = |finding: &Finding| {
            let place = finding.place.as_ref();
            let place = place.map(|place| (Arc::clone(&place.file), place.line, place.column));
            (finding.severity, place.is_none(), place)
        };
        found.sort_by_key(order);
        found
    }

    fn rounds<'e>(&self, event: &'e Tournament) -> Vec<(u32, &'e Round)> {
        let all = || event.rounds.iter().map(|(number, round)| (*number, round));
        if let Some(wanted) = self.round {
            return all().filter(|(number, _)| *number == wanted).collect();
        }
        let is_open = |pairing: &Pairing| pairing.is_played() && pairing.result.is_none();
        let open: Vec<(u32, &Round)> = all()
            .filter(|(_, round)| round.pairings.iter().any(is_open))
            .collect();
        match open.is_empty() {
            true => all().next_back().into_iter().collect(),
            false => open,
        }
    }

    /// Checks the players of these rounds, or all players of the event if these rounds have none.
    fn players(&self, event: &Tournament, rounds: &[(u32, &Round)], found: &mut Capped<Finding>) {
        let mut seen = BTreeSet::new();
        let pairings = rounds.iter().flat_map(|(_, round)| &round.pairings);
        let mut players: Vec<&Player> = pairings
            .flat_map(|pairing| [&pairing.white, &pairing.black])
            .flatten()
            .collect();
        if players.is_empty() {
            players = event.everybody().collect();
        }
        players.retain(|player| seen.insert(player_key(player)));
        let without_id = players
            .iter()
            .filter(|player| player.facts.fide_id.is_none())
            .count();
        // If all FIDE ids are missing, one finding is enough.
        let all_missing = without_id == players.len() && without_id > 1 && self.fide.is_none();
        if let Some(first) = players.first().filter(|_| all_missing) {
            let text = format!(
                "none of the {without_id} players has a FIDE id, which broadcasts need: export the pairings with \
                 ids, or add the FIDE report (TRF) or a list of players"
            );
            return found.push(self.no_id(&first.place, text));
        }
        found.extend(players.iter().flat_map(|player| self.player(player)));
    }

    fn no_id(&self, place: &FilePosition, text: String) -> Finding {
        let severity = if self.ids_optional {
            Severity::Note
        } else {
            Severity::Lost
        };
        Finding::new(severity, DoubtKind::NoFideId, Some(place), text)
    }

    fn player(&self, player: &Player) -> Vec<Finding> {
        match (player.facts.fide_id, self.fide) {
            (None, None) => {
                let text = format!("{} has no FIDE id: add it in the pairing program", player.name);
                vec![self.no_id(&player.place, text)]
            }
            (None, Some(list)) => vec![missing_id(player, list)],
            (Some(id), Some(list)) => match list.player(id) {
                Some(entry) => compare(player, entry),
                None => vec![unknown_id(player, id, list)],
            },
            (Some(_), None) => Vec::new(),
        }
    }
}

/// Returns the key by which players are distinguished: the FIDE id, or else the name.
fn player_key(player: &Player) -> (Option<u32>, String) {
    match player.facts.fide_id {
        Some(id) => (Some(id), String::new()),
        None => (None, names::key(&player.name)),
    }
}

/// Searches the FIDE list for a player without an id.
fn missing_id(player: &Player, list: &FideList) -> Finding {
    let found: Vec<&FideEntry> = list.named(&player.name).collect();
    let name = &player.name;
    let (about, text) = match found.as_slice() {
        [] => (
            DoubtKind::UnknownName,
            format!("{name} has no FIDE id, and the name is not in the FIDE list: ask the player"),
        ),
        [one] => (
            DoubtKind::NoFideId,
            format!(
                "{name} has no FIDE id; the FIDE list has one player of that name: {}",
                describe(one)
            ),
        ),
        several => {
            let several: Vec<String> = several.iter().take(LISTED).map(|entry| describe(entry)).collect();
            let text = format!(
                "{name} has no FIDE id; the FIDE list has several players of that name: {}",
                several.join("; ")
            );
            (DoubtKind::NoFideId, text)
        }
    };
    Finding::lost(about, Some(&player.place), text)
}

fn unknown_id(player: &Player, id: u32, list: &FideList) -> Finding {
    let name = &player.name;
    let text = match list.named(name).next() {
        Some(entry) => format!(
            "{name}: the FIDE list has no id {id}, but {}: correct the id",
            describe(entry)
        ),
        None => format!(
            "{name}: the FIDE list has neither the id {id} nor the name: correct the id, or use a newer list"
        ),
    };
    Finding::lost(DoubtKind::UnknownId, Some(&player.place), text)
}

/// Reports the differences between a player and the entry of the FIDE list.
fn compare(player: &Player, entry: &FideEntry) -> Vec<Finding> {
    let (name, place) = (&player.name, Some(&player.place));
    let mut found = Vec::new();
    if names::key(name) != names::key(&entry.name) {
        let id = entry.id;
        found.push(match names::share_a_word(name, &entry.name) {
            true => Finding::note(
                DoubtKind::OtherName,
                place,
                format!("{name}: the FIDE list spells {id} as {}", entry.name),
            ),
            false => Finding::lost(
                DoubtKind::OtherName,
                place,
                format!(
                    "{name} has the FIDE id {id} of {}: correct the id",
                    describe(entry)
                ),
            ),
        });
    }
    let facts = &player.facts;
    for (fact, here, there) in [
        ("title", &facts.title, &entry.title),
        ("federation", &facts.federation, &entry.federation),
    ] {
        if let (Some(here), Some(there)) = (here, there)
            && !here.eq_ignore_ascii_case(there)
        {
            let text = format!("{name} has the {fact} {here} here, and {there} in the FIDE list");
            found.push(Finding::note(DoubtKind::OtherFacts, place, text));
        }
    }
    found
}

fn describe(entry: &FideEntry) -> String {
    let mut words = vec![format!("{}, id {}", entry.name, entry.id)];
    words.extend(entry.federation.clone());
    words.extend(entry.rating.map(|rating| rating.to_string()));
    words.extend(entry.born.map(|year| format!("born in {year}")));
    words.join(", ")
}

/// Checks tables and byes of a round.
fn round(number: u32, round: &Round, found: &mut Capped<Finding>) {
    let is_untabled = |pairing: &&Pairing| pairing.is_played() && pairing.table.is_none();
    let untabled: Vec<&Pairing> = round.pairings.iter().filter(is_untabled).collect();
    let played = round
        .pairings
        .iter()
        .filter(|pairing| pairing.is_played())
        .count();
    match untabled.first() {
        Some(first) if untabled.len() == played && played > 1 => {
            let text = format!(
                "none of the {played} pairings of round {number} has a table, so no board gets a pairing: add \
                 the pairings as PGN or CSV, with the number of the board"
            );
            found.push(Finding::lost(DoubtKind::Table, Some(&first.place), text));
        }
        _ => found.extend(untabled.iter().map(|pairing| {
            let text = format!(
                "{}: this pairing of round {number} has no table, so no board gets it: add the number",
                names_of(pairing)
            );
            Finding::lost(DoubtKind::Table, Some(&pairing.place), text)
        })),
    }
    for pairing in round.pairings.iter().filter(|pairing| !pairing.is_played()) {
        let text = format!("{} has no opponent in round {number}", names_of(pairing));
        found.push(Finding::note(DoubtKind::Bye, Some(&pairing.place), text));
    }
}

fn time_control(number: u32, control: Option<&str>, round: &Round) -> Option<Finding> {
    let control = control?;
    if TimeControl::from_pgn(control).is_ok() {
        return None;
    }
    let error = control.parse::<TimeControl>().err()?;
    let place = round.pairings.first().map(|pairing| &pairing.place);
    let text =
        format!("round {number}: {error}; `time_control` under [event] in the configuration is used instead");
    Some(Finding::note(DoubtKind::TimeControl, place, text))
}

/// Finds boards without a pairing and pairings without a board.
fn boards(number: u32, round: &Round, boards: &[String], found: &mut Capped<Finding>) {
    let mut tables: BTreeMap<u32, &str> = BTreeMap::new();
    for board in boards {
        let Some(table) = table_of(board) else {
            let text = format!(
                "the name of the board {board} does not end with a number, so it has no table: choose a name \
                 such as board-7"
            );
            found.push(Finding::lost(DoubtKind::NoPairing, None, text));
            continue;
        };
        if let Some(other) = tables.insert(table, board) {
            let text = format!("the boards {other} and {board} are both table {table}: rename one of them");
            found.push(Finding::lost(DoubtKind::NoPairing, None, text));
        }
    }
    let paired: BTreeMap<u32, &Pairing> = round
        .pairings
        .iter()
        .filter(|pairing| pairing.is_played())
        .filter_map(|pairing| Some((pairing.table?, pairing)))
        .collect();
    let (Some(last_board), Some(last_table)) = (tables.keys().next_back(), paired.keys().next_back()) else {
        return;
    };
    for (table, board) in tables.iter().filter(|(table, _)| !paired.contains_key(table)) {
        found.push(match table < last_table {
            true => {
                let text = format!(
                    "{board} has no pairing in round {number}: check whether table {table} is missing in the files"
                );
                Finding::lost(DoubtKind::NoPairing, None, text)
            }
            false => Finding::note(
                DoubtKind::NoPairing,
                None,
                format!("{board} is not used in round {number}: the last table is {last_table}"),
            ),
        });
    }
    let boardless = || paired.iter().filter(|(table, _)| !tables.contains_key(table));
    for (table, pairing) in boardless().filter(|(table, _)| *table < last_board) {
        let text = format!(
            "{} play at table {table} in round {number}, which has no board: name a board board-{table}",
            names_of(pairing)
        );
        found.push(Finding::lost(DoubtKind::NoBoard, Some(&pairing.place), text));
    }
    let beyond = boardless().filter(|(table, _)| *table > last_board);
    if let Some((first, pairing)) = beyond.clone().next() {
        let text = format!(
            "the pairings of round {number} from table {first} on ({}) have no board: the last board is at \
             table {last_board}",
            beyond.count()
        );
        found.push(Finding::note(DoubtKind::NoBoard, Some(&pairing.place), text));
    }
}

/// Joins the names of a pairing's players with "and".
fn names_of(pairing: &Pairing) -> String {
    let names = [&pairing.white, &pairing.black].into_iter().flatten();
    let names: Vec<&str> = names.map(|player| player.name.as_str()).collect();
    names.join(" and ")
}

/// Counts the findings about missing data.
pub(crate) fn lost(findings: &[Finding]) -> usize {
    let lost = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Lost);
    lost.map(|finding| finding.count).sum()
}

pub(crate) fn report(findings: &[Finding], totals: Totals) -> Value {
    let listed: Vec<Value> = findings
        .iter()
        .map(|finding| {
            let place = finding.place.as_ref();
            json!({
                "severity": finding.severity,
                "kind": finding.about,
                "file": place.map(|place| &*place.file),
                "line": place.map(|place| place.line),
                "column": place.map(|place| place.column),
                "text": finding.text,
                "count": finding.count,
            })
        })
        .collect();
    json!({
        "rounds": totals.rounds,
        "pairings": totals.pairings,
        "players": totals.players,
        "lost": lost(findings),
        "findings": listed,
    })
}

/// Limit of FIDE entries that are listed for one name.
const LISTED: usize = 3;

#[cfg(test)]
mod tests;
