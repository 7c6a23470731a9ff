//! The tables `[[webhook]]`: addresses that are told what happens.

use core::time::Duration;
use std::path::PathBuf;

use serde::{Deserialize, Deserializer};
use toml::Spanned;

use crate::settings::{Name, SpannedError, delay, named, path, required_name, without_login};

/// An address that is told what happens.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    /// What it is called in the log and on the status page: the address itself may be a secret.
    #[serde(deserialize_with = "required_name")]
    pub name: Name,
    /// The address; `{round}` in it stands for the number of the round.
    #[serde(deserialize_with = "url")]
    pub url: String,
    /// What it is told.
    #[serde(default)]
    pub send: WebhookContent,
    /// The file with a token in its first line, which is sent as bearer token; `None`: it wants none.
    #[serde(default, deserialize_with = "path")]
    pub token_file: Option<PathBuf>,
    /// How much later than it happened, at most two hours; `None`: the usual delay of the broadcast.
    #[serde(default, deserialize_with = "delay")]
    pub delay: Option<Duration>,
}

/// What a webhook is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WebhookContent {
    /// A round as PGN, whenever something in it has changed.
    #[default]
    Pgn,
    /// All events, as they are in the topics `events`: incidents are among them.
    Events,
}

/// The webhooks of a configuration's text.
pub(crate) fn webhooks(text: &str, tables: Vec<Spanned<Webhook>>) -> Result<Vec<Webhook>, SpannedError> {
    named(text, tables, |webhook| &webhook.name)
}

fn url<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    without_login(&text).map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(rest: &str) -> Result<Webhook, toml::de::Error> {
        toml::from_str(&format!("name = \"club\"\n{rest}"))
    }

    #[test]
    fn a_webhook_is_an_address_and_what_it_is_told() {
        let webhook = read("url = \"https://club.example/chess/{round}\"").expect("a webhook");
        assert_eq!(webhook.send, WebhookContent::Pgn);
        assert_eq!(webhook.url, "https://club.example/chess/{round}");
        let webhook =
            read("url = \"http://10.0.0.7:8000/\"\nsend = \"events\"\ndelay = \"0 s\"\ntoken_file = \"/t\"");
        let webhook = webhook.expect("a webhook");
        assert_eq!(
            (webhook.send, webhook.delay),
            (WebhookContent::Events, Some(Duration::ZERO))
        );
        for wrong in [
            "",
            "url = \"club.example\"",
            "url = \"ftp://club.example/\"",
            "url = \"https://me:secret@club.example/\"",
            "url = \"https://club.example/\"\nsend = \"moves\"",
            "url = \"https://club.example/\"\ntoken_file = \"token\"",
            "url = \"https://club.example/\"\ndelay = \"3 h\"",
            "url = \"https://club.example/\"\ntoken = \"secret\"",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
