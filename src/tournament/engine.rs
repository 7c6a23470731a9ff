//! Reads the pairings that an engine such as bbpPairings or JaVaFo writes: the number of pairings, then the starting
//! numbers of White and Black in each line, in the order of the tables. 0 in place of Black is a bye.
//!
//! The players are those of the FIDE report from which the engine made the pairings. The list has no round number: its
//! round is the one of the report that has these pairings, or else the next one.

use std::collections::{BTreeMap, BTreeSet};

use super::doubt::{DoubtKind, Doubts, FileError};
use super::read::{Format, ParsedFile};
use super::{Pairing, Player, ReadError, Round, Tournament, UnplayedRound};

/// A line of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EnginePair {
    white: u32,
    /// 0 if White has a bye.
    black: u32,
    line: usize,
}

/// Returns whether a text is a list of an engine: a number, then lines with two numbers each.
pub(super) fn is_list(text: &str) -> bool {
    let mut lines = text
        .lines()
        .map(numbers)
        .filter(|numbers| *numbers != Some(Vec::new()));
    let begins = matches!(lines.next(), Some(Some(count)) if count.len() == 1);
    begins && lines.all(|numbers| numbers.is_some_and(|numbers| numbers.len() == 2))
}

/// Reads a list. Fails if the number of pairings differs from its first line, for example because the file is still
/// being written.
pub(super) fn read(text: &str, doubts: &mut Doubts) -> Result<Vec<EnginePair>, ReadError> {
    let mut lines = (1..)
        .zip(text.lines().map(|line| numbers(line).unwrap_or_default()))
        .filter(|(_, numbers)| !numbers.is_empty());
    let (first, count) = lines.next().unwrap_or_default();
    let pairs: Vec<EnginePair> = lines
        .filter_map(|(line, numbers)| match numbers.as_slice() {
            [white, black] => Some(EnginePair {
                white: *white,
                black: *black,
                line,
            }),
            _ => None,
        })
        .collect();
    doubts.add_entries(pairs.len(), first)?;
    let expected = count.first().copied().unwrap_or_default();
    if usize::try_from(expected) != Ok(pairs.len()) || pairs.is_empty() {
        let found = pairs.len();
        return Err(FileError::Incomplete { expected, found }.at(&doubts.place(first, 1).file, first, 1));
    }
    Ok(pairs)
}

fn numbers(line: &str) -> Option<Vec<u32>> {
    line.split_whitespace().map(|word| word.parse().ok()).collect()
}

/// Finds the players and the rounds of all lists. Fails if there is no report.
pub(super) fn resolve(mut files: Vec<ParsedFile>) -> Result<Vec<ParsedFile>, ReadError> {
    let report = files.iter().find(|file| file.format == Format::Trf);
    let report = report.map(|file| (file.numbered.clone(), file.tournament.rounds.clone()));
    for file in files.iter_mut().filter(|file| file.format == Format::Engine) {
        let Some((players, rounds)) = &report else {
            return Err(FileError::NoReport.at(&file.name, 1, 1));
        };
        let mut doubts = Doubts::about(&file.name);
        let pairings = pairings(&file.pairs, players, &mut doubts);
        let number = round_of(&pairings, rounds);
        let line = file.pairs.first().map_or(1, |pair| pair.line);
        let text = format!("the list of pairings has no round: it is read as round {number} of the report");
        doubts.note(DoubtKind::Round, (line, 1), text);
        let round = Round {
            pairings,
            ..Round::default()
        };
        file.tournament = Tournament {
            rounds: BTreeMap::from([(number, round)]),
            ..Tournament::default()
        };
        file.doubts = doubts.finish();
    }
    Ok(files)
}

/// Returns the pairings, with tables in the order of the list.
fn pairings(pairs: &[EnginePair], players: &BTreeMap<u32, Player>, doubts: &mut Doubts) -> Vec<Pairing> {
    let mut pairings = Vec::new();
    for (table, pair) in (1..).zip(pairs) {
        let place = doubts.place(pair.line, 1);
        let mut player = |number: u32| {
            let known = players.get(&number).map(|player| Player {
                place: place.clone(),
                ..player.clone()
            });
            if known.is_none() {
                let text =
                    format!("the report has no player with the number {number}: this pairing is left out");
                doubts.lost(DoubtKind::Contradiction, (pair.line, 1), text);
            }
            known
        };
        let white = player(pair.white);
        let black = (pair.black != 0).then(|| player(pair.black));
        if white.is_none() || black == Some(None) {
            continue;
        }
        let black = black.flatten();
        pairings.push(Pairing {
            table: black.is_some().then_some(table),
            hall: None,
            unplayed: black.is_none().then_some(UnplayedRound::AllocatedBye),
            white,
            black,
            place,
            ..Pairing::default()
        });
    }
    pairings
}

/// Returns the last round of the report that has most of these pairings. If there is none, returns the round that is
/// being played, or else the one after the last.
fn round_of(pairings: &[Pairing], rounds: &BTreeMap<u32, Round>) -> u32 {
    let names = |pairing: &Pairing| {
        let name = |player: &Option<Player>| player.as_ref().map(|player| player.name.clone());
        (name(&pairing.white), name(&pairing.black))
    };
    let listed: BTreeSet<_> = pairings
        .iter()
        .filter(|pairing| pairing.is_played())
        .map(names)
        .collect();
    let has_most = |round: &Round| {
        let same = round.pairings.iter().map(names);
        2 * same.filter(|names| listed.contains(names)).count() > listed.len()
    };
    if let Some((number, _)) = rounds.iter().rfind(|(_, round)| has_most(round)) {
        return *number;
    }
    let is_paired = |round: &Round| round.pairings.iter().any(Pairing::is_played);
    let is_open = |round: &Round| {
        let mut played = round.pairings.iter().filter(|pairing| pairing.is_played());
        played.any(|pairing| pairing.result.is_none())
    };
    match rounds.iter().rfind(|(_, round)| is_paired(round)) {
        Some((number, round)) if is_open(round) => *number,
        Some((number, _)) => number.saturating_add(1),
        None => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{DoubtKind, read, read_bytes};

    const REPORT: &str = "012 Club Open\n\
        001    1 m    Adler, Jonas                      2310 GER     4600001             1.0    1     2 w 1\n\
        001    2 m    Berg, Ina                         2290 GER     4600002             0.0    2     1 b 0\n\
        001    3 m    Cohn, Eva                         2101 GER     4600003             1.0    3     4 b 1\n\
        001    4 m    Dorn, Max                         2055 GER     4600004             0.0    4     3 w 0\n\
        001    5 m    Ernst, Pia                        2000 GER     4600005             1.0    5  0000 - U\n";

    /// Reads the list with the report. Returns the pairings, as in "2.1 Adler, Jonas - Berg, Ina", and the doubts.
    fn pairings(list: &str, report: &str) -> (Vec<String>, Vec<(DoubtKind, String)>) {
        let folder = tempfile::tempdir().expect("a folder");
        let paths = ["pairings.txt", "report.trf"].map(|name| folder.path().join(name));
        for (path, text) in paths.iter().zip([list, report]) {
            std::fs::write(path, text).expect("room");
        }
        let (tournament, doubts) = read(&paths).expect("pairings");
        let mut found = Vec::new();
        for (number, round) in &tournament.rounds {
            for pairing in round.pairings.iter().filter(|pairing| pairing.table.is_some()) {
                let names = [&pairing.white, &pairing.black].map(|player| {
                    let player = player.as_ref().expect("a player");
                    assert!(player.facts.fide_id.is_some());
                    player.name.clone()
                });
                let table = pairing.table.unwrap_or_default();
                found.push(format!("{number}.{table} {}", names.join(" - ")));
            }
        }
        let doubts = doubts.into_iter().map(|doubt| (doubt.about, doubt.text));
        (found, doubts.collect())
    }

    #[test]
    fn a_list_is_the_next_round_of_the_report() {
        let (found, doubts) = pairings("3\n3 1\n5 2\n4 0\n", REPORT);
        assert_eq!(
            found,
            ["2.1 Cohn, Eva - Adler, Jonas", "2.2 Ernst, Pia - Berg, Ina"]
        );
        let note = "the list of pairings has no round: it is read as round 2 of the report";
        assert_eq!(doubts, [(DoubtKind::Round, note.to_owned())]);
        // Nothing has been played yet, and lines end with CR LF.
        let start = REPORT.replace("   2 w 1", "").replace("   1 b 0", "");
        let start = start
            .replace("   4 b 1", "")
            .replace("   3 w 0", "")
            .replace("0000 - U", "");
        let (found, _) = pairings("\r\n2\r\n1 3 \r\n2 4\r\n", &start);
        assert_eq!(
            found,
            ["1.1 Adler, Jonas - Cohn, Eva", "1.2 Berg, Ina - Dorn, Max"]
        );
    }

    /// The list of an earlier round stays in its folder, and gives the round its tables.
    #[test]
    fn a_list_of_a_round_in_the_report_stays_with_that_round() {
        let (found, _) = pairings("3\n4 3\n1 2\n5 0\n", REPORT);
        assert_eq!(
            found,
            ["1.1 Dorn, Max - Cohn, Eva", "1.2 Adler, Jonas - Berg, Ina"]
        );
    }

    #[test]
    fn unknown_numbers_and_incomplete_lists_are_reported() {
        let (found, doubts) = pairings("2\n3 1\n5 9\n", REPORT);
        assert_eq!(found, ["2.1 Cohn, Eva - Adler, Jonas"]);
        let text = "the report has no player with the number 9: this pairing is left out";
        assert_eq!(doubts[0], (DoubtKind::Contradiction, text.to_owned()));
        for (list, error) in [
            ("3\n3 1\n", "p:1:1: the list has 1 of 3 pairings"),
            ("4\n", "p:1:1: the list has 0 of 4 pairings"),
            (
                "\n1\n3 1\n",
                "p:1:1: this is a list of pairings by starting numbers",
            ),
            ("1 2\n3 4\n", "p:1:1: this is neither PGN"),
            ("1\n3 4 5\n", "p:1:1: this is neither PGN"),
            ("4294967296\n1 2\n", "p:1:1: this is neither PGN"),
        ] {
            let found = read_bytes("p", list.as_bytes()).expect_err("refused").to_string();
            assert!(found.starts_with(error), "{list:?}: {found}");
        }
    }
}
