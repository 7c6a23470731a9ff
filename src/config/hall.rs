//! The halls of a hub, `halls` under `[hub]`.

use core::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::event::one_line;
use crate::outputs::mqtt::Prefix;
use crate::settings::TextValue;
use crate::tournament::halls::{EventHall, is_same_hall};

/// A hall of `kiebitz hub`: a topic prefix, or a table with `prefix` and `name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HubHall {
    /// Topic prefix of the daemons in the hall.
    pub prefix: Prefix,
    /// Name of a hall whose tables are numbered from 1. If `None`, its tables are numbered across all halls.
    pub name: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HallTable {
    prefix: TextValue<Prefix>,
    #[serde(default, deserialize_with = "one_line")]
    name: Option<String>,
}

impl<'de> Deserialize<'de> for HubHall {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(HallVisitor)
    }
}

struct HallVisitor;

impl<'de> Visitor<'de> for HallVisitor {
    type Value = HubHall;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a topic prefix in quotes, or { prefix = \"south/kiebitz\", name = \"South\" }")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<HubHall, E> {
        let prefix = text.parse().map_err(E::custom)?;
        Ok(HubHall { prefix, name: None })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<HubHall, A::Error> {
        let HallTable { prefix, name } = HallTable::deserialize(MapAccessDeserializer::new(map))?;
        Ok(HubHall {
            prefix: prefix.0,
            name,
        })
    }
}

/// Deserialises the halls of a hub. Fails if two have the same prefix or the same name.
pub(super) fn halls<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<HubHall>, D::Error> {
    let halls = Vec::<HubHall>::deserialize(deserializer)?;
    for (at, hall) in (0..).zip(&halls) {
        let others = || halls.iter().skip(at + 1);
        if others().any(|other| other.prefix == hall.prefix) {
            return Err(D::Error::custom(format!("\"{}\" is listed twice", hall.prefix)));
        }
        let Some(name) = &hall.name else { continue };
        let mut names = others().filter_map(|other| other.name.as_deref());
        if names.any(|other| is_same_hall(other, name)) {
            return Err(D::Error::custom(format!("two halls have the name {name:?}")));
        }
    }
    if halls.iter().skip(MAX_NAMED).any(|hall| hall.name.is_some()) {
        return Err(D::Error::custom(format!(
            "only the first {MAX_NAMED} halls can have a name: list the others after them, without one"
        )));
    }
    Ok(halls)
}

/// Number of halls that can have a name.
const MAX_NAMED: usize = 9;

impl HubHall {
    /// Returns the hall as outputs know it.
    pub(crate) fn event_hall(&self) -> EventHall {
        EventHall {
            prefix: self.prefix.to_string(),
            name: self.name.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;

    fn halls(list: &str) -> Result<Vec<super::HubHall>, String> {
        let text = format!("[hub]\nhalls = {list}\n");
        let config = Config::parse("k.toml".as_ref(), &text);
        config
            .map(|config| config.halls)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_hall_is_a_prefix_with_or_without_a_name() {
        let read =
            halls(r#"["north/kiebitz", { prefix = "south/kiebitz", name = " South " }]"#).expect("halls");
        let read: Vec<_> = read
            .iter()
            .map(|hall| (hall.prefix.to_string(), hall.name.as_deref()))
            .collect();
        assert_eq!(
            read,
            [
                ("north/kiebitz".to_owned(), None),
                ("south/kiebitz".to_owned(), Some("South")),
            ]
        );
    }

    #[test]
    fn wrong_halls_are_refused() {
        let ten: Vec<String> = (0..10)
            .map(|nth| format!("{{ prefix = \"h{nth}/kiebitz\", name = \"{nth}\" }}"))
            .collect();
        let ten = format!("[{}]", ten.join(", "));
        for (list, message) in [
            (r#"["north/#"]"#, "north/#"),
            ("[7]", "a topic prefix in quotes"),
            (r#"[{ name = "South" }]"#, "prefix"),
            (r#"[{ prefix = "s", hall = "South" }]"#, "hall"),
            (r#"[{ prefix = "s", name = " " }]"#, "text on one line"),
            (
                r#"["s", { prefix = "s", name = "South" }]"#,
                "\"s\" is listed twice",
            ),
            (
                r#"[{ prefix = "s", name = "South" }, { prefix = "t", name = "SOUTH" }]"#,
                "two halls have the name",
            ),
            (&ten, "only the first 9 halls"),
        ] {
            let error = halls(list).expect_err(list);
            assert!(
                error.contains(message) && error.contains("k.toml:2"),
                "{list}: {error}"
            );
        }
    }
}
