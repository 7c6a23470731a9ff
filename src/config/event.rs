//! What is played: the keys of `[event]`, and of `[[board]]` where a board differs.

use core::fmt::Display;
use core::str::FromStr;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::laws::{
    DrawnStart, Edition, Language, Mode, OpenPoints, Penalties1997, Regulations, ReversedLimit, Rules,
    TimeControl, Told,
};

/// What is said of what is played. What is left out holds as for the event, or by default.
#[derive(Debug, Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Played {
    #[serde(deserialize_with = "told")]
    pub(crate) laws: Option<Edition>,
    #[serde(deserialize_with = "told")]
    pub(crate) mode: Option<Mode>,
    pub(crate) supervised: Option<bool>,
    #[serde(deserialize_with = "told")]
    pub(crate) time_control: Option<TimeControl>,
    #[serde(deserialize_with = "told")]
    pub(crate) start: Option<DrawnStart>,
    #[serde(deserialize_with = "told")]
    pub(crate) language: Option<Language>,
    pub(crate) points: Points,
}

/// The points that the Laws leave open.
#[derive(Debug, Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Points {
    #[serde(deserialize_with = "one_or_two")]
    blitz_2023_minutes: Option<u8>,
    penalties_1997: Option<Penalties1997>,
    illegal_move_told: Option<Told>,
    standing_move_counts: Option<bool>,
    reversed_limit: Option<ReversedLimit>,
    reinstated_counts: Option<bool>,
}

impl Played {
    /// What applies, with what is not said here taken from the event's.
    ///
    /// A time control without a mode of play says which one it is.
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
            time_control: self.time_control.or_else(|| event.time_control.clone()),
            drawn_start: self.start.or_else(|| event.drawn_start.clone()),
            language: self.language.unwrap_or(event.language),
        }
    }
}

impl Points {
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
        _ => Err(D::Error::custom("it is 1 minute or 2")),
    }
}

/// A value that is written as text.
pub(super) fn told<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map(Some).map_err(D::Error::custom)
}
