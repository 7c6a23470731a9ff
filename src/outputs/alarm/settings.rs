//! Configuration tables `[[alarm]]`.

use std::path::{Path, PathBuf};

use reqwest::Url;
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::projection::AlarmKind;
use crate::settings::{Name, SpannedError, named, path, required_name, url_of, without_login};

/// An alarm recipient.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "AlarmTable")]
pub struct AlarmSettings {
    /// Name in the log and on the status page. The address is not shown, as it may be a secret.
    pub name: Name,
    /// Channel and address of the recipient.
    pub to: AlarmTo,
    /// Kinds of alarms to send; empty for all.
    pub kinds: Vec<AlarmKind>,
}

/// Channel over which alarms are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AlarmTo {
    /// By an [ntfy](https://ntfy.sh) server, which notifies phones.
    Ntfy {
        /// Address of the server.
        server: String,
        /// Topic to which phones have subscribed.
        topic: String,
        /// File with a bearer token in its first line; `None` if the server needs none.
        token_file: Option<PathBuf>,
    },
    /// By HTTP POST, as JSON.
    Webhook {
        /// Address to post to.
        url: String,
        /// File with a bearer token in its first line; `None` if the server needs none.
        token_file: Option<PathBuf>,
    },
    /// To a lamp, over the broker of `[mqtt]`.
    Lamp {
        /// Topic of the lamp. With `{board}` or `{table}` in it, each board or table has a lamp of its own.
        topic: String,
        /// Payload that switches the lamp on.
        on: String,
        /// Payload that switches the lamp off.
        off: String,
    },
}

impl AlarmTo {
    /// File with the token, if there is one.
    #[must_use]
    pub fn token_file(&self) -> Option<&Path> {
        match self {
            Self::Ntfy { token_file, .. } | Self::Webhook { token_file, .. } => token_file.as_deref(),
            Self::Lamp { .. } => None,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AlarmTable {
    #[serde(deserialize_with = "required_name")]
    name: Name,
    send: AlarmService,
    url: Option<String>,
    #[serde(default, deserialize_with = "path")]
    token_file: Option<PathBuf>,
    topic: Option<String>,
    on: Option<String>,
    off: Option<String>,
    #[serde(default, deserialize_with = "kinds")]
    kinds: Vec<AlarmKind>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AlarmService {
    Ntfy,
    Webhook,
    Mqtt,
}

fn kinds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<AlarmKind>, D::Error> {
    let kinds = Vec::<AlarmKind>::deserialize(deserializer)?;
    if kinds.is_empty() {
        let wrong =
            "`kinds` is empty, so there would never be an alarm: leave it out for alarms of all kinds";
        return Err(serde::de::Error::custom(wrong));
    }
    Ok(kinds)
}

impl TryFrom<AlarmTable> for AlarmSettings {
    type Error = &'static str;

    fn try_from(table: AlarmTable) -> Result<Self, Self::Error> {
        let has_lamp_keys = table.topic.is_some() || table.on.is_some() || table.off.is_some();
        let has_address_keys = table.url.is_some() || table.token_file.is_some();
        if table.send == AlarmService::Mqtt && has_address_keys {
            return Err("`url` and `token_file` are only for \"ntfy\" and \"webhook\": a lamp has a `topic`");
        }
        if table.send != AlarmService::Mqtt && has_lamp_keys {
            return Err(
                "`topic`, `on` and `off` are only for \"mqtt\": \"ntfy\" and \"webhook\" have a `url`",
            );
        }
        let url = || without_login(&table.url.unwrap_or_default());
        let to = match table.send {
            AlarmService::Ntfy => {
                let (server, topic) = ntfy(&url()?).ok_or(
                    "expected a topic of an ntfy server, as in \"https://ntfy.sh/a-name-that-nobody-guesses\"",
                )?;
                AlarmTo::Ntfy {
                    server,
                    topic,
                    token_file: table.token_file,
                }
            }
            AlarmService::Webhook => AlarmTo::Webhook {
                url: url()?,
                token_file: table.token_file,
            },
            AlarmService::Mqtt => AlarmTo::Lamp {
                topic: table.topic.filter(|topic| is_topic(topic)).ok_or(
                    "a lamp needs a `topic` without + and #, as in \"zigbee2mqtt/lamp-{table}/set\"",
                )?,
                on: table.on.unwrap_or_else(|| "ON".to_owned()),
                off: table.off.unwrap_or_else(|| "OFF".to_owned()),
            },
        };
        Ok(Self {
            name: table.name,
            to,
            kinds: table.kinds,
        })
    }
}

/// Checks the alarm tables. Fails for a lamp if there is no broker.
pub(crate) fn alarms(
    text: &str,
    tables: Vec<Spanned<AlarmSettings>>,
    has_broker: bool,
) -> Result<Vec<AlarmSettings>, SpannedError> {
    let is_lamp = |table: &&Spanned<AlarmSettings>| matches!(table.as_ref().to, AlarmTo::Lamp { .. });
    if let Some(lamp) = tables.iter().find(is_lamp).filter(|_| !has_broker) {
        let why = "a lamp is switched over the broker under [mqtt]: add that table";
        return Err(SpannedError::new(lamp.span(), why));
    }
    named(text, tables, |alarm| &alarm.name)
}

/// Splits the address of an ntfy topic into server and topic.
fn ntfy(url: &str) -> Option<(String, String)> {
    let mut url: Url = url_of(url)?;
    let topic = url.path().trim_matches('/').to_owned();
    let is_valid = !topic.is_empty()
        && topic
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    if !is_valid || url.query().is_some() {
        return None;
    }
    url.set_path("/");
    Some((url.into(), topic))
}

/// Whether the text is a valid topic name for publishing (MQTT 5, section 4.7).
fn is_topic(topic: &str) -> bool {
    !topic.is_empty()
        && topic.len() <= 1000
        && !topic.starts_with('$')
        && !topic.contains(|c: char| c.is_control() || matches!(c, '+' | '#'))
}

#[cfg(test)]
mod tests {
    use kiebitz_game::laws::IncidentKind;

    use super::*;

    fn read(rest: &str) -> Result<AlarmSettings, toml::de::Error> {
        toml::from_str(&format!("name = \"phone\"\n{rest}"))
    }

    #[test]
    fn an_alarm_goes_to_a_phone_an_address_or_a_lamp() {
        let phone = read("send = \"ntfy\"\nurl = \"https://ntfy.sh/open-2026_x\"").expect("an alarm");
        let AlarmTo::Ntfy { server, topic, .. } = phone.to else {
            panic!("{phone:?}")
        };
        assert_eq!((&*server, &*topic), ("https://ntfy.sh/", "open-2026_x"));
        assert!(phone.kinds.is_empty());
        let kinds = "kinds = [\"illegal_move\", \"draw\", \"output\"]";
        let address = read(&format!(
            "send = \"webhook\"\nurl = \"http://10.0.0.7/alarm\"\n{kinds}"
        ));
        assert_eq!(
            address.expect("an alarm").kinds,
            [
                AlarmKind::Incident(IncidentKind::IllegalMove),
                AlarmKind::Draw,
                AlarmKind::Output
            ]
        );
        let lamp = read("send = \"mqtt\"\ntopic = \"cmnd/lamp-{table}/POWER\"").expect("an alarm");
        let AlarmTo::Lamp { on, off, .. } = lamp.to else {
            panic!("{lamp:?}")
        };
        assert_eq!((&*on, &*off), ("ON", "OFF"));
        for wrong in [
            "",
            "send = \"ntfy\"",
            "send = \"ntfy\"\nurl = \"https://ntfy.sh/\"",
            "send = \"ntfy\"\nurl = \"https://ntfy.sh/a/b\"",
            "send = \"ntfy\"\nurl = \"https://me:secret@ntfy.sh/a\"",
            "send = \"ntfy\"\nurl = \"https://ntfy.sh/a\"\ntopic = \"a\"",
            "send = \"webhook\"\nurl = \"ftp://club.example/\"",
            "send = \"mqtt\"",
            "send = \"mqtt\"\ntopic = \"a/+\"",
            "send = \"mqtt\"\ntopic = \"a\"\nurl = \"https://ntfy.sh/a\"",
            "send = \"bell\"\nurl = \"https://ntfy.sh/a\"",
            "send = \"webhook\"\nurl = \"http://a/\"\nkinds = []",
            "send = \"webhook\"\nurl = \"http://a/\"\nkinds = [\"earthquake\"]",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
