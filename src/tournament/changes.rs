//! Differences between two versions of an event, for people who replace a pairing file.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::{Pairing, Player, Round, Tournament};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Change {
    pub(crate) round: u32,
    #[serde(flatten)]
    pub(crate) what: ChangeKind,
}

/// Kind of a difference. `was` is the value before the change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum ChangeKind {
    RoundAdded {
        /// Number of pairings with two players.
        pairings: usize,
    },
    RoundRemoved {
        pairings: usize,
    },
    /// Time control as written in the file; `None` if the file has none.
    TimeControl {
        was: Option<String>,
        is: Option<String>,
    },
    /// The same players with colours exchanged.
    Colors {
        table: u32,
        white: String,
        black: String,
    },
    /// One player replaced another.
    Player {
        table: u32,
        was: Option<String>,
        is: Option<String>,
    },
    /// A pairing that was at another table.
    Moved {
        table: u32,
        was: u32,
        white: Option<String>,
        black: Option<String>,
    },
    /// Two other players at a table, or a table that had no pairing.
    Added {
        table: u32,
        white: Option<String>,
        black: Option<String>,
    },
    /// A table without a pairing.
    Removed {
        table: u32,
        white: Option<String>,
        black: Option<String>,
    },
}

/// Number of differences that are listed.
const LISTED: usize = 500;

/// Lists the differences in tables, players and time controls, by round and table: at most [`LISTED`], and the number of
/// others.
pub(crate) fn changes(before: &Tournament, after: &Tournament) -> (Vec<Change>, usize) {
    let numbers = before.rounds.keys().chain(after.rounds.keys());
    let mut numbers: Vec<u32> = numbers.copied().collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut found = Vec::new();
    for round in numbers {
        let kinds = match (before.rounds.get(&round), after.rounds.get(&round)) {
            (None, Some(added)) => vec![ChangeKind::RoundAdded {
                pairings: played(added),
            }],
            (Some(removed), None) => vec![ChangeKind::RoundRemoved {
                pairings: played(removed),
            }],
            (Some(old), Some(new)) => {
                let (was, is) = (before.time_control(round), after.time_control(round));
                let control = (was != is).then(|| ChangeKind::TimeControl {
                    was: was.map(str::to_owned),
                    is: is.map(str::to_owned),
                });
                let tables = Versions { before, after }.table_changes(old, new);
                control.into_iter().chain(tables).collect()
            }
            (None, None) => Vec::new(),
        };
        found.extend(kinds.into_iter().map(|what| Change { round, what }));
    }
    let others = found.len().saturating_sub(LISTED);
    found.truncate(LISTED);
    (found, others)
}

fn played(round: &Round) -> usize {
    round
        .pairings
        .iter()
        .filter(|pairing| pairing.is_played())
        .count()
}

/// The two versions that are compared.
#[derive(Clone, Copy)]
struct Versions<'t> {
    before: &'t Tournament,
    after: &'t Tournament,
}

/// What identifies a player in a comparison. Two entries denote the same player if their FIDE ids are equal or, if one
/// of them has none, their names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Identity<'t> {
    Nobody,
    Id(u32),
    /// Name of a player without a FIDE id.
    WithoutId(Cow<'t, str>),
    /// Name of any player.
    Name(Cow<'t, str>),
}

/// The tables of a round by the players of their pairings, so that a pairing is found without comparing it with all
/// others.
type TablesByPlayers<'t> = HashMap<(Identity<'t>, Identity<'t>), u32>;

impl<'t> Versions<'t> {
    fn table_changes(self, old: &'t Round, new: &'t Round) -> Vec<ChangeKind> {
        let (old, new) = (by_table(old), by_table(new));
        let (old_tables, new_tables) = (by_players(self.before, &old), by_players(self.after, &new));
        let mut tables: Vec<u32> = old.keys().chain(new.keys()).copied().collect();
        tables.sort_unstable();
        tables.dedup();
        let changed = tables.into_iter().filter_map(|table| {
            let (was, is) = (old.get(&table).copied(), new.get(&table).copied());
            match (was, is) {
                (Some(was), Some(is)) if self.is_same_pairing(was, is) => None,
                (Some(was), Some(is)) => Some(self.change_at_table(table, was, is, &old_tables)),
                (None, Some(is)) => Some(self.moved_or_added(table, is, &old_tables)),
                // A pairing that has moved is listed at its new table.
                (Some(was), None) if find(&new_tables, self.before, was).is_some() => None,
                (Some(was), None) => Some(ChangeKind::Removed {
                    table,
                    white: name(&was.white),
                    black: name(&was.black),
                }),
                (None, None) => None,
            }
        });
        changed.collect()
    }

    fn change_at_table(
        self,
        table: u32,
        was: &Pairing,
        is: &'t Pairing,
        old: &TablesByPlayers<'t>,
    ) -> ChangeKind {
        if let (Some(white), Some(black)) = (&is.white, &is.black)
            && self.is_same_player(was.black.as_ref(), Some(white))
            && self.is_same_player(was.white.as_ref(), Some(black))
        {
            return ChangeKind::Colors {
                table,
                white: white.name.clone(),
                black: black.name.clone(),
            };
        }
        let sides = [(&was.white, &is.white), (&was.black, &is.black)];
        let mut replaced = sides
            .iter()
            .filter(|(was, is)| !self.is_same_player(was.as_ref(), is.as_ref()));
        match (replaced.next(), replaced.next()) {
            (Some((was, is)), None) => ChangeKind::Player {
                table,
                was: name(was),
                is: name(is),
            },
            _ => self.moved_or_added(table, is, old),
        }
    }

    fn moved_or_added(self, table: u32, is: &'t Pairing, old: &TablesByPlayers<'t>) -> ChangeKind {
        let (white, black) = (name(&is.white), name(&is.black));
        match find(old, self.after, is) {
            Some(was) => ChangeKind::Moved {
                table,
                was,
                white,
                black,
            },
            None => ChangeKind::Added { table, white, black },
        }
    }

    fn is_same_pairing(self, was: &Pairing, is: &Pairing) -> bool {
        self.is_same_player(was.white.as_ref(), is.white.as_ref())
            && self.is_same_player(was.black.as_ref(), is.black.as_ref())
    }

    fn is_same_player(self, was: Option<&Player>, is: Option<&Player>) -> bool {
        match (was, is) {
            (None, None) => true,
            (Some(was), Some(is)) => match (was.facts.fide_id, is.facts.fide_id) {
                (Some(id), Some(other)) => id == other,
                _ => self.before.key(&was.name) == self.after.key(&is.name),
            },
            _ => false,
        }
    }
}

fn by_table(round: &Round) -> BTreeMap<u32, &Pairing> {
    let tables = round
        .pairings
        .iter()
        .filter_map(|pairing| Some((pairing.table?, pairing)));
    tables.collect()
}

/// Indexes the tables of a round. If two tables have the same players, the first one counts.
fn by_players<'t>(event: &'t Tournament, tables: &BTreeMap<u32, &'t Pairing>) -> TablesByPlayers<'t> {
    let mut by_players = HashMap::new();
    for (table, pairing) in tables {
        for players in pairs(pairing, |player| event.identities(player)) {
            by_players.entry(players).or_insert(*table);
        }
    }
    by_players
}

/// Returns the first table with the players of a pairing of another version, `event`.
fn find<'t>(tables: &TablesByPlayers<'t>, event: &'t Tournament, pairing: &'t Pairing) -> Option<u32> {
    let players = pairs(pairing, |player| event.matching(player));
    players.filter_map(|players| tables.get(&players).copied()).min()
}

/// Returns all pairs of an identity of White and one of Black.
fn pairs<'t>(
    pairing: &'t Pairing,
    identities: impl Fn(Option<&'t Player>) -> Vec<Identity<'t>>,
) -> impl Iterator<Item = (Identity<'t>, Identity<'t>)> {
    let (whites, blacks) = (
        identities(pairing.white.as_ref()),
        identities(pairing.black.as_ref()),
    );
    whites.into_iter().flat_map(move |white| {
        blacks
            .clone()
            .into_iter()
            .map(move |black| (white.clone(), black))
    })
}

impl Tournament {
    /// Returns the identities by which a player is found.
    fn identities<'t>(&'t self, player: Option<&'t Player>) -> Vec<Identity<'t>> {
        let Some(player) = player else {
            return vec![Identity::Nobody];
        };
        let key = self.key(&player.name);
        let own = match player.facts.fide_id {
            Some(id) => Identity::Id(id),
            None => Identity::WithoutId(key.clone()),
        };
        vec![own, Identity::Name(key)]
    }

    /// Returns the identities of entries that denote the same player.
    fn matching<'t>(&'t self, player: Option<&'t Player>) -> Vec<Identity<'t>> {
        let Some(player) = player else {
            return vec![Identity::Nobody];
        };
        let key = self.key(&player.name);
        match player.facts.fide_id {
            Some(id) => vec![Identity::Id(id), Identity::WithoutId(key)],
            None => vec![Identity::Name(key)],
        }
    }
}

fn name(player: &Option<Player>) -> Option<String> {
    player.as_ref().map(|player| player.name.clone())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::tournament::read_bytes;

    fn read(rows: &str) -> Tournament {
        let text = format!("round,board,white,black,time_control\n{rows}");
        let (tournament, _) = read_bytes("r.csv", text.as_bytes()).expect("pairings");
        tournament
    }

    fn listed(before: &str, after: &str) -> Value {
        let (listed, others) = changes(&read(before), &read(after));
        assert_eq!(others, 0);
        serde_json::to_value(listed).expect("JSON")
    }

    #[test]
    fn players_are_the_same_by_id_or_else_by_name() {
        let read = |rows: &str| {
            let text = format!("round,board,white,black,white_fide_id\n{rows}");
            read_bytes("r.csv", text.as_bytes()).expect("pairings").0
        };
        let before = read("1,1,Adler,Berg,4600001\n1,2,Clausen,Dorn,\n");
        for (after, kind, was) in [
            ("1,3,Adler,Berg,4600001\n", "moved", 1),
            ("1,3,Adler,Berg,\n", "moved", 1),
            ("1,3,Other,Berg,4600001\n", "moved", 1),
            ("1,3,CLAUSEN,Dorn,4600002\n", "moved", 2),
        ] {
            let (listed, _) = changes(&before, &read(after));
            let listed = serde_json::to_value(listed).expect("JSON");
            let at = listed
                .as_array()
                .and_then(|listed| listed.last())
                .expect("a change");
            assert_eq!((&at["kind"], &at["was"]), (&json!(kind), &json!(was)), "{after}");
        }
        let (listed, _) = changes(&before, &read("1,3,Adler,Berg,4600002\n"));
        let listed = serde_json::to_value(listed).expect("JSON");
        assert_eq!(listed[2]["kind"], "added", "another id is another player");
    }

    #[test]
    fn many_changes_are_counted() {
        let rows = |begin: &str| -> String {
            let row = |table| format!("1,{table},{begin} W{table},{begin} B{table},\n");
            (1..=LISTED + 7).map(row).collect()
        };
        let (listed, others) = changes(&read(&rows("x")), &read(&rows("y")));
        assert_eq!((listed.len(), others), (LISTED, 7));
    }

    #[test]
    fn changes_of_a_table_are_classified() {
        let before = "3,1,Adler,Berg,\n3,4,Dorn,Ebert,\n3,12,Xu,Zander,\n3,13,Falk,Graf,\n3,14,Hahn,Ihle,\n";
        assert_eq!(listed(before, before), json!([]));
        let after =
            "3,1,ADLER,berg,\n3,4,Ebert,Dorn,\n3,12,Young,Zander,\n3,14,Falk,Graf,\n3,15,Jahn,Kolb,\n";
        assert_eq!(
            listed(before, after),
            json!([
                {"round": 3, "kind": "colors", "table": 4, "white": "Ebert", "black": "Dorn"},
                {"round": 3, "kind": "player", "table": 12, "was": "Xu", "is": "Young"},
                {"round": 3, "kind": "moved", "table": 14, "was": 13, "white": "Falk", "black": "Graf"},
                {"round": 3, "kind": "added", "table": 15, "white": "Jahn", "black": "Kolb"},
            ])
        );
        assert_eq!(
            listed(
                before,
                "3,1,Adler,Berg,\n3,4,Dorn,Ebert,\n3,12,Xu,Zander,\n3,13,Falk,Graf,\n"
            ),
            json!([{"round": 3, "kind": "removed", "table": 14, "white": "Hahn", "black": "Ihle"}])
        );
    }

    #[test]
    fn rounds_and_time_controls_are_compared() {
        let (old, new) = (
            "3,1,Adler,Berg,90+30\n",
            "3,1,Adler,Berg,15+10\n4,1,Berg,Adler,\n",
        );
        let control = json!({"round": 3, "kind": "time_control", "was": "90+30", "is": "15+10"});
        let found = listed(old, new);
        assert_eq!(found[0], control, "{found}");
        assert_eq!(
            found[1],
            json!({"round": 4, "kind": "round_added", "pairings": 1})
        );
        let found = listed(new, "3,1,Adler,Berg,15+10\n");
        assert_eq!(
            found,
            json!([{"round": 4, "kind": "round_removed", "pairings": 1}])
        );
    }
}
