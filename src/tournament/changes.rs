//! Differences between two versions of an event, for people who replace a pairing file.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Pairing, Player, Round, Tournament, names};

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

/// Lists the differences in tables, players and time controls, by round and table.
pub(crate) fn changes(before: &Tournament, after: &Tournament) -> Vec<Change> {
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
                control.into_iter().chain(table_changes(old, new)).collect()
            }
            (None, None) => Vec::new(),
        };
        found.extend(kinds.into_iter().map(|what| Change { round, what }));
    }
    found
}

fn played(round: &Round) -> usize {
    round
        .pairings
        .iter()
        .filter(|pairing| pairing.is_played())
        .count()
}

fn table_changes(old: &Round, new: &Round) -> Vec<ChangeKind> {
    let (old, new) = (by_table(old), by_table(new));
    let (old_tables, new_tables) = (TableIndex::of(&old), TableIndex::of(&new));
    let mut tables: Vec<u32> = old.keys().chain(new.keys()).copied().collect();
    tables.sort_unstable();
    tables.dedup();
    let changed = tables.into_iter().filter_map(|table| {
        let (was, is) = (old.get(&table).copied(), new.get(&table).copied());
        match (was, is) {
            (Some(was), Some(is)) if is_same_pairing(was, is) => None,
            (Some(was), Some(is)) => Some(change_at_table(table, was, is, &old_tables)),
            (None, Some(is)) => Some(moved_or_added(table, is, &old_tables)),
            // A pairing that has moved is listed at its new table.
            (Some(was), None) if new_tables.table_of(was).is_some() => None,
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

fn by_table(round: &Round) -> BTreeMap<u32, &Pairing> {
    let tables = round
        .pairings
        .iter()
        .filter_map(|pairing| Some((pairing.table?, pairing)));
    tables.collect()
}

fn change_at_table(table: u32, was: &Pairing, is: &Pairing, old: &TableIndex) -> ChangeKind {
    if let (Some(white), Some(black)) = (&is.white, &is.black)
        && is_same_player(Some(white), was.black.as_ref())
        && is_same_player(Some(black), was.white.as_ref())
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
        .filter(|(was, is)| !is_same_player(was.as_ref(), is.as_ref()));
    match (replaced.next(), replaced.next()) {
        (Some((was, is)), None) => ChangeKind::Player {
            table,
            was: name(was),
            is: name(is),
        },
        _ => moved_or_added(table, is, old),
    }
}

fn moved_or_added(table: u32, is: &Pairing, old: &TableIndex) -> ChangeKind {
    let (white, black) = (name(&is.white), name(&is.black));
    match old.table_of(is) {
        Some(was) => ChangeKind::Moved {
            table,
            was,
            white,
            black,
        },
        None => ChangeKind::Added { table, white, black },
    }
}

/// One way in which an entry denotes a player. Two entries denote the same player if one of them
/// [is looked up](keys_to_look_up) by a key under which the other [is found](keys_to_find).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum PlayerKey {
    Nobody,
    FideId(u32),
    Name(String),
    /// The name of an entry without a FIDE id.
    NameWithoutId(String),
}

fn keys_to_find(player: Option<&Player>) -> Vec<PlayerKey> {
    let Some(player) = player else {
        return vec![PlayerKey::Nobody];
    };
    let name = names::key(&player.name);
    let first = match player.facts.fide_id {
        Some(id) => PlayerKey::FideId(id),
        None => PlayerKey::NameWithoutId(name.clone()),
    };
    vec![first, PlayerKey::Name(name)]
}

fn keys_to_look_up(player: Option<&Player>) -> Vec<PlayerKey> {
    let Some(player) = player else {
        return vec![PlayerKey::Nobody];
    };
    let name = names::key(&player.name);
    match player.facts.fide_id {
        Some(id) => vec![PlayerKey::FideId(id), PlayerKey::NameWithoutId(name)],
        None => vec![PlayerKey::Name(name)],
    }
}

/// The tables of a round by their players. Comparing every pairing with every other takes minutes with ten thousand.
struct TableIndex(BTreeMap<(PlayerKey, PlayerKey), u32>);

impl TableIndex {
    fn of(tables: &BTreeMap<u32, &Pairing>) -> Self {
        let mut index = BTreeMap::new();
        for (table, pairing) in tables {
            let blacks = keys_to_find(pairing.black.as_ref());
            for white in keys_to_find(pairing.white.as_ref()) {
                for black in &blacks {
                    index.entry((white.clone(), black.clone())).or_insert(*table);
                }
            }
        }
        Self(index)
    }

    /// Returns the first table with the players of a pairing.
    fn table_of(&self, pairing: &Pairing) -> Option<u32> {
        let blacks = keys_to_look_up(pairing.black.as_ref());
        let whites = keys_to_look_up(pairing.white.as_ref());
        let both = whites
            .iter()
            .flat_map(|white| blacks.iter().map(|black| (white.clone(), black.clone())));
        both.filter_map(|both| self.0.get(&both)).min().copied()
    }
}

fn is_same_pairing(one: &Pairing, other: &Pairing) -> bool {
    is_same_player(one.white.as_ref(), other.white.as_ref())
        && is_same_player(one.black.as_ref(), other.black.as_ref())
}

/// Whether two entries denote the same player: the same FIDE id or, if one of them has none, the same name.
fn is_same_player(one: Option<&Player>, other: Option<&Player>) -> bool {
    let found = keys_to_find(other);
    keys_to_look_up(one).iter().any(|key| found.contains(key))
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
        serde_json::to_value(changes(&read(before), &read(after))).expect("JSON")
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
    fn a_moved_pairing_is_recognised_by_ids_or_names() {
        let at = |table: u32, white_id: &str, white: &str, black_id: &str, black: &str| {
            let text = format!(
                "round,board,white_fide_id,white,black_fide_id,black\n3,{table},{white_id},{white},{black_id},{black}\n"
            );
            read_bytes("r.csv", text.as_bytes()).expect("pairings").0
        };
        let old = at(1, "4611111", "Adler", "", "Berg");
        for (new, is_same) in [
            (at(2, "4611111", "Adler-Neu", "4622222", "Berg"), true),
            (at(2, "", "ADLER", "", "berg"), true),
            (at(2, "4633333", "Adler", "", "Berg"), false),
            (at(2, "4611111", "Adler", "", "Zander"), false),
        ] {
            let found = serde_json::to_value(changes(&old, &new)).expect("JSON");
            let kinds: Vec<&Value> = found
                .as_array()
                .expect("a list")
                .iter()
                .map(|one| &one["kind"])
                .collect();
            let expected: &[&str] = if is_same {
                &["moved"]
            } else {
                &["removed", "added"]
            };
            assert_eq!(kinds, expected, "{found}");
        }
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
