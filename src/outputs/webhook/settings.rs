//! The `[[webhook]]` tables.

use core::time::Duration;
use std::path::PathBuf;

use serde::{Deserialize, Deserializer};
use toml::Spanned;

use crate::settings::{Name, SpannedError, delay, named, path, required_name, without_login};

/// An address that receives rounds or events.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    /// The name in the log and on the status page, since the URL itself may be a secret.
    #[serde(deserialize_with = "required_name")]
    pub name: Name,
    /// The URL. `{round}` in it stands for the number of the round.
    #[serde(deserialize_with = "url")]
    pub url: String,
    /// The content to send.
    #[serde(default)]
    pub send: WebhookContent,
    /// A file with a bearer token in its first line; `None` if the address requires no token.
    #[serde(default, deserialize_with = "path")]
    pub token_file: Option<PathBuf>,
    /// Delay of the content, at most two hours; `None` for the common delay of the broadcast.
    #[serde(default, deserialize_with = "delay")]
    pub delay: Option<Duration>,
}

/// Content that a webhook receives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WebhookContent {
    /// A round as PGN, whenever it changes.
    #[default]
    Pgn,
    /// All events, as on the `events` topics. They include incidents.
    Events,
}

/// Checks the names of the configured webhooks.
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
    fn a_webhook_has_an_address_and_a_kind_of_content() {
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
