//! Maps the columns of a CSV file to their meanings, by the names in the header.

use std::collections::BTreeMap;

use super::super::names;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Column {
    Round,
    Table,
    Hall,
    Result,
    Date,
    TimeControl,
    Event,
    Site,
    /// A fact about the player of a side, or about a player in a list.
    Of(Side, Fact),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Side {
    White,
    Black,
    /// A player in a list, without a side.
    Listed,
}

impl Column {
    fn is_of(self, side: Side) -> bool {
        matches!(self, Self::Of(of, _) if of == side)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fact {
    Name,
    First,
    Last,
    FideId,
    Title,
    Rating,
    Federation,
    Team,
}

/// Returns the indexes of the known columns. Fails with the index of a column that has the same meaning as an earlier
/// one.
pub(super) fn columns<'h>(names: impl Iterator<Item = &'h str>) -> Result<BTreeMap<Column, usize>, usize> {
    let names: Vec<String> = names.map(normalized).collect();
    let mut columns = BTreeMap::new();
    let has = |side| {
        names
            .iter()
            .any(|name| side_column(name).is_some_and(|found| found.is_of(side)))
    };
    let has_both_sides = has(Side::White) && has(Side::Black);
    for (place, name) in names.iter().enumerate() {
        // In a ranking, "w" is the number of wins.
        let side_column = || side_column(name).filter(|_| has_both_sides || name.chars().count() > 1);
        let Some(column) = event_column(name).or_else(side_column) else {
            continue;
        };
        if columns.insert(column, place).is_some() {
            return Err(place);
        }
    }
    assign_two_names(&names, &mut columns);
    let place_of = |side| columns.get(&Column::Of(side, Fact::Name)).copied();
    let (white, black) = (place_of(Side::White), place_of(Side::Black));
    let result = columns.get(&Column::Result).copied();
    // A column without a side belongs to the player to its left: White's columns end at a result between the two names,
    // or else at Black's name.
    let boundary = result
        .filter(|result| white < Some(*result) && Some(*result) < black)
        .or(black);
    for (place, name) in names.iter().enumerate() {
        let side = match (white, boundary) {
            (Some(white), Some(boundary)) if place > white && place < boundary => Side::White,
            (Some(_), Some(boundary)) if place > boundary => Side::Black,
            (None, None) => Side::Listed,
            _ => continue,
        };
        if let Some(fact) = fact(name) {
            columns.entry(Column::Of(side, fact)).or_insert(place);
        }
    }
    // A nameless column before a name has the title.
    for side in [Side::White, Side::Black, Side::Listed] {
        let name = columns.get(&Column::Of(side, Fact::Name)).copied();
        let before = name.and_then(|name| name.checked_sub(1));
        if let Some(place) = before.filter(|place| names.get(*place).is_some_and(String::is_empty)) {
            columns.entry(Column::Of(side, Fact::Title)).or_insert(place);
        }
    }
    Ok(columns)
}

/// A line that opens a match of teams, as in "Bo.;2;Rooks;Rtg;-;5;Knights;Rtg;3 : 1" of chess-results.com. The lines
/// below it have a pairing each: the left player is of the first team, and has White on odd boards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TeamMatch {
    /// Columns of the lines below. White stands for the left side, and Black for the right one.
    pub(super) columns: BTreeMap<Column, usize>,
    /// Names of the left and of the right team.
    pub(super) teams: [String; 2],
}

/// Parses a line that opens a match of teams. Returns `None` for any other line.
pub(super) fn team_match<'h>(fields: impl Iterator<Item = &'h str>) -> Option<TeamMatch> {
    let mut fields: Vec<&str> = fields.map(str::trim).collect();
    let table = event_column(&normalized(fields.first()?)).filter(|column| *column == Column::Table)?;
    while fields.last().is_some_and(|field| field.is_empty()) {
        fields.pop();
    }
    let middle = fields.iter().position(|field| matches!(*field, "-" | "–"))?;
    let mut columns = BTreeMap::from([(table, 0)]);
    let is_column =
        |name: &str| fact(name).is_some() || event_column(name).is_some() || side_column(name).is_some();
    let is_name = |text: &str| text.chars().any(char::is_alphabetic) && !is_column(&normalized(text));
    let mut teams = Vec::new();
    for (side, range) in [(Side::White, 1..middle), (Side::Black, middle + 1..fields.len())] {
        let place = range
            .clone()
            .find(|place| fields.get(*place).is_some_and(|text| is_name(text)))?;
        teams.push((*fields.get(place)?).to_owned());
        columns.insert(Column::Of(side, Fact::Name), place);
        // Above the titles is the number of the team.
        if place > range.start {
            columns.insert(Column::Of(side, Fact::Title), place - 1);
        }
        for place in place + 1..range.end {
            let text = fields.get(place).copied().unwrap_or_default();
            if let Some(fact) = fact(&normalized(text)) {
                columns.entry(Column::Of(side, fact)).or_insert(place);
            }
        }
    }
    // The points of the match, which may be missing, are above the results.
    let last = fields.len() - 1;
    let is_of_player = columns.values().any(|place| *place == last);
    columns.insert(Column::Result, if is_of_player { last + 1 } else { last });
    let teams = teams.try_into().ok()?;
    Some(TeamMatch { columns, teams })
}

/// Assigns two plain name columns to White and Black.
fn assign_two_names(names: &[String], columns: &mut BTreeMap<Column, usize>) {
    let plain = (0..)
        .zip(names)
        .filter(|(_, name)| fact(name) == Some(Fact::Name));
    let plain: Vec<usize> = plain.map(|(place, _)| place).collect();
    if let [white, black] = plain.as_slice()
        && !columns.keys().any(|column| matches!(column, Column::Of(..)))
    {
        columns.insert(Column::Of(Side::White, Fact::Name), *white);
        columns.insert(Column::Of(Side::Black, Fact::Name), *black);
    }
}

/// Normalises a column name: lower case, letters and digits only, without accents.
fn normalized(name: &str) -> String {
    let folded = names::folded(name);
    folded.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Returns whether a word is the name of the column of rounds.
pub(super) fn is_round(word: &str) -> bool {
    event_column(word) == Some(Column::Round)
}

fn event_column(name: &str) -> Option<Column> {
    Some(match name {
        "round" | "runde" | "rd" | "rnd" | "rde" | "ronde" | "ronda" | "turno" | "roundno"
        | "roundnumber" => Column::Round,
        "board" | "table" | "tisch" | "brett" | "bo" | "br" | "bd" | "brd" | "tbl" | "boardno"
        | "boardnumber" | "boardnr" | "tableno" | "tablenumber" | "tablenr" | "tischnr" | "brettnr"
        | "tischnummer" | "brettnummer" | "mesa" | "tablero" | "echiquier" | "bord" | "scacchiera" => {
            Column::Table
        }
        "hall" | "saal" | "spielsaal" => Column::Hall,
        "result" | "ergebnis" | "res" | "erg" | "resultat" | "resultado" | "risultato" | "uitslag" => {
            Column::Result
        }
        "date" | "datum" | "fecha" => Column::Date,
        "timecontrol" | "tc" | "bedenkzeit" => Column::TimeControl,
        "event" | "tournament" | "turnier" => Column::Event,
        "site" | "location" | "city" | "ort" => Column::Site,
        _ => return None,
    })
}

/// Parses a column name that combines a side and a fact, such as "whitefideid".
fn side_column(name: &str) -> Option<Column> {
    let sides = SIDES
        .iter()
        .flat_map(|(side, words)| words.iter().map(move |word| (*side, *word)));
    for (side, word) in sides {
        let before = name.strip_prefix(word);
        // As a suffix, a single letter would match plurals.
        let after = name
            .strip_suffix(word)
            .filter(|rest| word.len() > 1 && !rest.is_empty());
        let rests = [before, after].into_iter().flatten();
        let fact = rests.into_iter().find_map(|rest| match rest {
            "" => Some(Fact::Name),
            rest => fact(rest),
        });
        if let Some(fact) = fact {
            return Some(Column::Of(side, fact));
        }
    }
    None
}

fn fact(name: &str) -> Option<Fact> {
    Some(match name {
        "name" | "player" | "spieler" | "playername" | "spielername" | "fullname" | "nom" | "nombre"
        | "nome" | "naam" | "navn" | "namn" | "jmeno" | "meno" | "nev" => Fact::Name,
        "first" | "firstname" | "vorname" | "fname" | "givenname" | "forename" => Fact::First,
        "last" | "lastname" | "nachname" | "lname" | "surname" | "familyname" => Fact::Last,
        "fideid" | "fide" | "fidenr" | "fideno" | "fidecode" | "fidenumber" | "id" | "fidnr" | "idfide"
        | "fidenumm" | "fideidno" | "fidenummer" => Fact::FideId,
        "title" | "titel" | "tit" | "titre" | "titulo" | "titolo" | "fidetitle" => Fact::Title,
        "elo" | "rating" | "rtg" | "elofide" | "fideelo" | "fiderating" | "rtgi" | "eloint" | "elointl"
        | "eloi" => Fact::Rating,
        "fed" | "federation" | "country" | "land" | "nation" | "verband" | "foderation" => Fact::Federation,
        "team" | "mannschaft" | "teamname" | "equipe" | "squadra" | "equipo" => Fact::Team,
        _ => return None,
    })
}

/// Words for the sides, normalised. Longer words come first, because a shorter one may be their beginning.
const SIDES: &[(Side, &[&str])] = &[
    (
        Side::White,
        &[
            "whiteplayer",
            "white",
            "weiss",
            "blancs",
            "blancas",
            "blanc",
            "bianco",
            "wit",
            "w",
        ],
    ),
    (
        Side::Black,
        &[
            "blackplayer",
            "black",
            "schwarz",
            "noirs",
            "negras",
            "noir",
            "nero",
            "zwart",
            "b",
            "s",
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn places(header: &str) -> BTreeMap<Column, usize> {
        columns(header.split(',')).expect("no column twice")
    }

    #[test]
    fn a_match_of_teams_is_opened_by_its_line() {
        let opened = |line: &str| team_match(line.split(';'));
        let team_match = opened("Br.;2;SK Rooks 1;FED;Elo;-;5;Knights;FED;Elo;2½:1½").expect("a match");
        assert_eq!(team_match.teams, ["SK Rooks 1", "Knights"]);
        let place = |column| team_match.columns.get(&column).copied();
        for (column, expected) in [
            (Column::Table, 0),
            (Column::Of(Side::White, Fact::Title), 1),
            (Column::Of(Side::White, Fact::Name), 2),
            (Column::Of(Side::White, Fact::Rating), 4),
            (Column::Of(Side::Black, Fact::Name), 7),
            (Column::Of(Side::Black, Fact::Rating), 9),
            (Column::Result, 10),
        ] {
            assert_eq!(place(column), Some(expected), "{column:?}");
        }
        let unplayed = opened("Bo.;2;Rooks;Rtg;-;5;Knights;Rtg;;").expect("a match");
        assert_eq!(unplayed.columns.get(&Column::Result), Some(&8));
        for other in [
            "1.1;;Cohn, Eva;1608;-;;Dorn, Max;1946;0 - 1",
            "No.;Team;Team;Res.;:;Res.",
            "Bo.;White;Result;Black",
            "Br.;Weiß;-;Schwarz",
            "Bo.;-;",
            "Bo.;1;;Rtg;-;2;;Rtg",
            "-",
            "",
        ] {
            assert_eq!(opened(other), None, "{other}");
        }
    }

    #[test]
    fn columns_have_names_in_any_order_case_and_language() {
        let player = |side, fact| Column::Of(side, fact);
        let english =
            places("Round,BOARD,White,White FIDE ID,white_elo,black,black_fideid,Black Title,Result");
        for (column, place) in [
            (Column::Round, 0),
            (Column::Table, 1),
            (player(Side::White, Fact::Name), 2),
            (player(Side::White, Fact::FideId), 3),
            (player(Side::White, Fact::Rating), 4),
            (player(Side::Black, Fact::Name), 5),
            (player(Side::Black, Fact::FideId), 6),
            (player(Side::Black, Fact::Title), 7),
            (Column::Result, 8),
        ] {
            assert_eq!(english.get(&column), Some(&place), "{column:?}");
        }
        let german = places("Tisch,Weiß,Elo,Ergebnis,Schwarz,Elo");
        assert_eq!(german.get(&player(Side::White, Fact::Rating)), Some(&2));
        assert_eq!(german.get(&player(Side::Black, Fact::Rating)), Some(&5));
        let list = places("No.,Name,FideID,FED,Rtg");
        assert_eq!(list.get(&player(Side::Listed, Fact::FideId)), Some(&2));
        assert_eq!(list.get(&Column::Table), None);
        let names = places("board,white_first,white_last,black_first,black_last");
        assert_eq!(names.get(&player(Side::White, Fact::Last)), Some(&2));
        let ranking = places("Rk.,SNo,,,Name,Typ,sex,FED,RtgI,Club/City,Pts.,TB1,Rp,n,w,we,w-we,K,rtg+/-");
        assert_eq!(ranking.get(&player(Side::Listed, Fact::Name)), Some(&4));
        assert_eq!(ranking.get(&player(Side::Listed, Fact::Rating)), Some(&8));
        assert_eq!(ranking.get(&player(Side::White, Fact::Name)), None);
        let short = places("Bo,W,Elo,Res,B,Elo");
        assert_eq!(short.get(&player(Side::White, Fact::Name)), Some(&1));
        assert_eq!(short.get(&player(Side::Black, Fact::Rating)), Some(&5));
        let results = places("Bo.,No.,,Name,Rtg,Pts.,Result,Pts.,,Name,Rtg,No.");
        assert_eq!(results.get(&player(Side::Black, Fact::Rating)), Some(&10));
        assert_eq!(results.get(&player(Side::White, Fact::Name)), Some(&3));
        assert_eq!(columns("board,white,Tisch,black".split(',')), Err(2));
    }
}
