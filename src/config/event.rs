//! The rules of play: the keys of `[event]`, and the overrides in `[[board]]`.

use core::fmt::{self, Display};
use core::str::FromStr;
use std::path::PathBuf;

use kiebitz_game::command::marks;
use kiebitz_game::laws::{
    DefaultTime, DrawnStart, Edition, IllegalMoveReport, Language, Mode, OpenPoints, Penalties1997,
    Regulations, ReversedLimit, Rounds, Rules, TimeControl,
};
use kiebitz_hardware::Timestamp;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::value::Datetime;

use crate::settings::TextValue;
use crate::tournament::TieBreak;

/// Rules of play, as far as the file sets them. Missing values are inherited from the event, or are defaults.
#[derive(Debug, Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RulesTable {
    #[serde(deserialize_with = "from_text")]
    pub(crate) laws: Option<Edition>,
    #[serde(deserialize_with = "from_text")]
    pub(crate) mode: Option<Mode>,
    pub(crate) supervised: Option<bool>,
    #[serde(deserialize_with = "from_text")]
    pub(crate) time_control: Option<TimeControl>,
    #[serde(deserialize_with = "from_text")]
    pub(crate) start: Option<DrawnStart>,
    #[serde(deserialize_with = "from_text")]
    pub(crate) language: Option<Language>,
    #[serde(deserialize_with = "rounds")]
    pub(crate) rounds: Option<Rounds>,
    #[serde(deserialize_with = "from_text")]
    pub(crate) default_time: Option<DefaultTime>,
    #[serde(deserialize_with = "move_number")]
    pub(crate) no_draw_before_move: Option<u32>,
    pub(crate) quickplay_finish: Option<bool>,
    #[serde(deserialize_with = "one_line")]
    pub(crate) name: Option<String>,
    #[serde(deserialize_with = "one_line")]
    pub(crate) site: Option<String>,
    #[serde(deserialize_with = "crate::settings::paths")]
    pub(crate) pairings: Vec<PathBuf>,
    #[serde(deserialize_with = "tie_breaks")]
    pub(crate) tie_breaks: Option<Vec<TieBreak>>,
    #[serde(deserialize_with = "one_line")]
    pub(crate) hall: Option<String>,
    pub(crate) points: OpenPointsTable,
}

/// Points that the Laws leave open.
#[derive(Debug, Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct OpenPointsTable {
    #[serde(deserialize_with = "one_or_two")]
    blitz_2023_minutes: Option<u8>,
    penalties_1997: Option<Penalties1997>,
    illegal_move_told: Option<IllegalMoveReport>,
    standing_move_counts: Option<bool>,
    reversed_limit: Option<ReversedLimit>,
    reinstated_counts: Option<bool>,
}

impl RulesTable {
    /// Returns the complete regulations, with missing values from the event's.
    ///
    /// A time control without a mode of play determines the mode.
    pub(crate) fn regulations(self, event: &Regulations) -> Regulations {
        let Rules {
            edition,
            mode,
            supervised,
            points,
        } = event.rules;
        let edition = self.laws.unwrap_or(edition);
        let own_mode = self.time_control.as_ref().map(|control| control.mode(edition));
        Regulations {
            rules: Rules {
                edition,
                mode: self.mode.or(own_mode).unwrap_or(mode),
                supervised: self.supervised.unwrap_or(supervised),
                points: self.points.over(points),
            },
            mode_is_named: self.mode.is_some() || (own_mode.is_none() && event.mode_is_named),
            time_control: self.time_control.or_else(|| event.time_control.clone()),
            drawn_start: self.start.or_else(|| event.drawn_start.clone()),
            rounds: self.rounds.unwrap_or_else(|| event.rounds.clone()),
            default_time: self.default_time.or(event.default_time),
            no_draw_before_move: self.no_draw_before_move.or(event.no_draw_before_move),
            quickplay_finish: self.quickplay_finish.or(event.quickplay_finish),
            event: self.name.or_else(|| event.event.clone()),
            site: self.site.or_else(|| event.site.clone()),
            language: self.language.unwrap_or(event.language),
        }
    }
}

impl OpenPointsTable {
    fn over(self, event: OpenPoints) -> OpenPoints {
        OpenPoints {
            blitz_2023_minutes: self.blitz_2023_minutes.unwrap_or(event.blitz_2023_minutes),
            penalties_1997: self.penalties_1997.unwrap_or(event.penalties_1997),
            illegal_move_told: self.illegal_move_told.unwrap_or(event.illegal_move_told),
            standing_move_counts: self.standing_move_counts.unwrap_or(event.standing_move_counts),
            reversed_limit: self.reversed_limit.unwrap_or(event.reversed_limit),
            reinstated_counts: self.reinstated_counts.unwrap_or(event.reinstated_counts),
        }
    }
}

fn one_or_two<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u8>, D::Error> {
    let minutes = u32::deserialize(deserializer)?;
    match minutes {
        1 => Ok(Some(1)),
        2 => Ok(Some(2)),
        _ => Err(D::Error::custom("expected 1 or 2")),
    }
}

/// Deserialises the number of a move, from 2 to 999, more than any game has.
pub(super) fn move_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    match u32::deserialize(deserializer)? {
        number @ 2..=999 => Ok(Some(number)),
        _ => Err(D::Error::custom("expected the number of a move, 2 to 999")),
    }
}

/// Deserialises a value that is parsed from a string.
pub(super) fn from_text<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    TextValue::deserialize(deserializer).map(|value| Some(value.0))
}

/// Deserialises the names of tie-breaks, each at most once.
fn tie_breaks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<TieBreak>>, D::Error> {
    let mut chosen = Vec::new();
    for TextValue(tie_break) in Vec::<TextValue<TieBreak>>::deserialize(deserializer)? {
        if chosen.contains(&tie_break) {
            return Err(D::Error::custom(format!("\"{tie_break}\" is listed twice")));
        }
        chosen.push(tie_break);
    }
    Ok(Some(chosen))
}

/// Deserialises a name, without characters that would change the text around it.
pub(super) fn one_line<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let mut text = String::deserialize(deserializer)?;
    marks::remove(&mut text);
    if text.trim().is_empty() || text.contains(char::is_control) {
        return Err(D::Error::custom("expected text on one line"));
    }
    Ok(Some(text.trim().to_owned()))
}

/// Deserialises the beginnings of the rounds, in ascending order.
pub(super) fn rounds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Rounds>, D::Error> {
    deserializer.deserialize_seq(PlanVisitor).map(Some)
}

struct PlanVisitor;

impl<'de> Visitor<'de> for PlanVisitor {
    type Value = Rounds;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("times in brackets")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Rounds, A::Error> {
        let mut times = Vec::new();
        while let Some(time) = list.next_element_seed(After(times.last().copied()))? {
            times.push(time);
        }
        Ok(Rounds::planned(times))
    }
}

/// Reads the beginning of a round, which must be after that of the previous round.
struct After(Option<Timestamp>);

impl After {
    fn read<E: Error>(&self, text: &str) -> Result<Timestamp, E> {
        let time: jiff::Timestamp = text.parse().map_err(|_| {
            E::custom(format!(
                "{text:?} is not the start of a round; expected date, time and offset from UTC, as in \
                 2026-11-21T14:00:00+01:00"
            ))
        })?;
        let time = Timestamp::from_micros(time.as_microsecond());
        match self.0 {
            Some(before) if time <= before => Err(E::custom("this round must begin after the one before it")),
            _ => Ok(time),
        }
    }
}

impl<'de> DeserializeSeed<'de> for After {
    type Value = Timestamp;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Timestamp, D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// Accepts TOML's own type for times as well as strings.
impl<'de> Visitor<'de> for After {
    type Value = Timestamp;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Timestamp, E> {
        self.read(text)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Timestamp, A::Error> {
        let time = Datetime::deserialize(MapAccessDeserializer::new(map))?;
        self.read(&time.to_string())
    }
}
