//! What is played: the keys of `[event]`, and of `[[board]]` where a board differs.

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::document::Text;
use crate::laws::{
    DrawnStart, Edition, Language, Mode, OpenPoints, Penalties1997, Regulations, ReversedLimit, Rules,
    TimeControl, Told,
};

/// What is said of what is played. What is left out holds as for the event, or by default.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Played {
    pub(super) laws: Option<Text<Edition>>,
    pub(super) mode: Option<Text<Mode>>,
    pub(super) supervised: Option<bool>,
    pub(super) time_control: Option<Text<TimeControl>>,
    pub(super) start: Option<Text<DrawnStart>>,
    pub(super) language: Option<Text<Language>>,
    pub(super) points: Points,
}

/// The points that the Laws leave open.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Points {
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
    pub(super) fn regulations(self, event: &Regulations) -> Regulations {
        let Rules {
            edition,
            mode,
            supervised,
            points,
        } = event.rules;
        let edition = self.laws.map_or(edition, |laws| laws.0);
        let own_mode = self.time_control.as_ref().map(|control| control.0.mode(edition));
        Regulations {
            rules: Rules {
                edition,
                mode: self.mode.map(|mode| mode.0).or(own_mode).unwrap_or(mode),
                supervised: self.supervised.unwrap_or(supervised),
                points: self.points.over(points),
            },
            time_control: self
                .time_control
                .map(|control| control.0)
                .or_else(|| event.time_control.clone()),
            drawn_start: self
                .start
                .map(|start| start.0)
                .or_else(|| event.drawn_start.clone()),
            language: self.language.map_or(event.language, |language| language.0),
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
