//! Effect of `set_players` on the names of the players and the known facts about them.

use serde::{Deserialize, Deserializer, Serialize};
use shakmaty::{ByColor, Color};

use super::SetPlayers;
use crate::events::{PlayerFacts, Players};

/// A field of a command that changes a known value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Change<T> {
    /// The field is omitted: the known value stays.
    #[default]
    Kept,
    /// The field is given; `None` for null, which clears the known value.
    Set(Option<T>),
}

impl<T: Clone> Change<T> {
    fn over(&self, before: Option<T>) -> Option<T> {
        match self {
            Self::Kept => before,
            Self::Set(value) => value.clone(),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Change<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::<T>::deserialize(deserializer).map(Self::Set)
    }
}

/// Arguments `white_player` and `black_player` of `set_players`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FactsChange {
    /// The FIDE id.
    pub fide_id: Change<u32>,
    /// The title.
    pub title: Change<String>,
    /// The rating.
    pub rating: Change<u16>,
    /// The federation.
    pub federation: Change<String>,
    /// The team.
    pub team: Change<String>,
}

impl FactsChange {
    fn over(&self, before: PlayerFacts) -> PlayerFacts {
        PlayerFacts {
            fide_id: self.fide_id.over(before.fide_id),
            title: self.title.over(before.title),
            rating: self.rating.over(before.rating),
            federation: self.federation.over(before.federation),
            team: self.team.over(before.team),
        }
    }
}

/// Facts that the pairing files have about the named players; `None` if they do not have the name. The daemon adds them
/// to `set_players`, because a replay must not depend on the files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Paired {
    /// The player with White's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub white: Option<PlayerFacts>,
    /// The player with Black's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub black: Option<PlayerFacts>,
}

/// Whether the player in the pairing files is not the known one. The same FIDE id means the same person.
fn is_other(paired: &PlayerFacts, known: Option<&PlayerFacts>) -> bool {
    let known = known.and_then(|known| known.fide_id);
    known.is_none() || paired.fide_id != known
}

impl Paired {
    /// Name of this field in the command.
    pub const FIELD: &str = "paired";
}

/// The person denoted by a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Person {
    /// The player who had this name before, on the given side.
    Same(Color),
    /// The player on the same side, whose name is corrected.
    Corrected,
    /// Another player of the pairing files.
    Paired,
    /// A person without known facts.
    Unknown,
}

impl SetPlayers {
    /// The players after this command; `before` are the players until now.
    #[must_use]
    pub fn players(&self, before: Option<&Players>) -> Players {
        let no_players = Players::default();
        let before = before.unwrap_or(&no_players);
        let ByColor { white, black } = self.names(before);
        Players {
            white,
            black,
            white_player: self.facts(Color::White, before),
            black_player: self.facts(Color::Black, before),
            round: self.round.or(before.round),
            table: self.table.or(before.table),
        }
    }

    /// The side and previous name of a player whose new name counts as a correction: the command does not mention the
    /// known facts, and they stay.
    pub(crate) fn corrected<'b>(&self, before: &'b Players) -> Option<(Color, &'b str)> {
        let is_kept = |color: &Color| {
            *self.change(*color) == Change::Kept
                && before.facts(*color).is_some()
                && self.person(*color, before) == Person::Corrected
        };
        let color = Color::ALL.into_iter().find(is_kept)?;
        Some((color, before.name(color)?))
    }

    fn names(&self, before: &Players) -> ByColor<Option<String>> {
        ByColor {
            white: self.white.over(before.white.clone()),
            black: self.black.over(before.black.clone()),
        }
    }

    const fn change(&self, color: Color) -> &Change<Box<FactsChange>> {
        match color {
            Color::White => &self.white_player,
            Color::Black => &self.black_player,
        }
    }

    fn paired(&self, color: Color) -> Option<&PlayerFacts> {
        match color {
            Color::White => self.paired.white.as_ref(),
            Color::Black => self.paired.black.as_ref(),
        }
    }

    fn person(&self, color: Color, before: &Players) -> Person {
        let names = self.names(before);
        let (name, other) = (names[color].as_deref(), names[!color].as_deref());
        let (same_side, other_side) = (before.name(color), before.name(!color));
        let is_elsewhere = |now: Option<u32>, before: Option<u32>| {
            now.zip(before).is_some_and(|(now, before)| now != before)
        };
        if name == same_side {
            Person::Same(color)
        } else if name.is_none() {
            Person::Unknown
        } else if name == other_side && other != other_side {
            Person::Same(!color)
        } else if self
            .paired(color)
            .is_some_and(|paired| is_other(paired, before.facts(color)))
        {
            Person::Paired
        } else if is_elsewhere(self.round, before.round)
            || is_elsewhere(self.table, before.table)
            || other.is_some() && other == same_side
        {
            Person::Unknown
        } else {
            Person::Corrected
        }
    }

    fn facts(&self, color: Color, before: &Players) -> Option<Box<PlayerFacts>> {
        let known = match self.person(color, before) {
            Person::Same(side) => before.facts(side),
            Person::Corrected => before.facts(color),
            Person::Paired => self.paired(color),
            Person::Unknown => None,
        };
        let known = known.cloned().unwrap_or_default();
        let facts = match self.change(color) {
            Change::Kept => known,
            Change::Set(None) => PlayerFacts::default(),
            Change::Set(Some(change)) => change.over(known),
        };
        (facts != PlayerFacts::default()).then(|| Box::new(facts))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn adler() -> Players {
        serde_json::from_value(json!({
            "white": "Adler, Jonas", "black": "Becker, Anna", "round": 3, "table": 1,
            "white_player": {"fide_id": 4600001, "title": "FM", "rating": 2301, "federation": "GER", "team": "SK Nord"},
            "black_player": {"rating": 2200},
        }))
        .expect("players")
    }

    fn after(set: Value) -> Value {
        let set: SetPlayers = serde_json::from_value(set).expect("a command");
        serde_json::to_value(set.players(Some(&adler()))).expect("JSON")
    }

    #[test]
    fn omitted_fields_keep_their_values() {
        let named = after(json!({"white": "Adler, Jonas-Paul"}));
        let mut expected = serde_json::to_value(adler()).expect("JSON");
        expected["white"] = json!("Adler, Jonas-Paul");
        assert_eq!(named, expected, "a corrected name keeps the person");
        expected["white"] = json!("Adler, Jonas");
        expected["table"] = json!(2);
        assert_eq!(after(json!({"table": 2})), expected);
        expected["table"] = json!(1);
        expected["white_player"]["title"] = json!("IM");
        assert_eq!(after(json!({"white_player": {"title": "IM"}})), expected);
        let cleared = after(json!({"white_player": {"title": null, "team": null}}))["white_player"].clone();
        assert_eq!(
            cleared,
            json!({"fide_id": 4600001, "rating": 2301, "federation": "GER"})
        );
    }

    #[test]
    fn another_player_does_not_inherit_the_previous_players_facts() {
        let facts_after = |set: Value| {
            (
                after(set.clone())["white_player"].clone(),
                after(set)["black_player"].clone(),
            )
        };
        let (first, second) = (adler().white_player, adler().black_player);
        let facts = |facts: &Option<Box<PlayerFacts>>| json!(facts);
        assert_eq!(
            facts_after(json!({"white": "Becker, Anna", "black": "Adler, Jonas"})),
            (facts(&second), facts(&first)),
            "each keeps what is known of them when the sides are exchanged"
        );
        assert_eq!(
            facts_after(json!({"white": "Becker, Anna", "black": "Clark, Max"})),
            (facts(&second), Value::Null),
            "the former player of Black now has White"
        );
        assert_eq!(
            facts_after(json!({"white": "Clark, Max", "white_player": null})).0,
            Value::Null
        );
        assert_eq!(facts_after(json!({"white": null})).0, Value::Null);
        assert_eq!(
            facts_after(json!({"white": "Clark, Max", "round": 4})).0,
            Value::Null,
            "another pairing"
        );
        let paired = json!({"white": "Clark, Max", "paired": {"white": {"rating": 1900}}});
        assert_eq!(
            facts_after(paired).0,
            json!({"rating": 1900}),
            "another player of the pairing file"
        );
        let paired = json!({"white": "Clark, Max", "paired": {"white": {}}});
        assert_eq!(facts_after(paired).0, Value::Null);
        let paired = json!({"white": "Adler, Jonas-Paul", "paired": {"white": {"fide_id": 4600001}}});
        assert_eq!(
            facts_after(paired).0,
            facts(&first),
            "the same FIDE id is the same person"
        );
        let paired = json!({"white": "Adler, Jonas", "paired": {"white": {"rating": 1900}}});
        assert_eq!(
            facts_after(paired).0,
            facts(&first),
            "the same name is the same person"
        );
    }
}
