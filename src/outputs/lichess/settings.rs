//! The `[lichess]` table.

use core::time::Duration;
use std::path::PathBuf;

use serde::{Deserialize, Deserializer};

use crate::settings::{delay, path};

/// Settings of the broadcast on Lichess.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lichess {
    /// A file with the token in its first line; `None` for systemd's credential `lichess-token`.
    #[serde(default, deserialize_with = "path")]
    pub token_file: Option<PathBuf>,
    /// The id of the broadcast, eight characters; `None` to create a broadcast.
    #[serde(default, deserialize_with = "id")]
    pub broadcast: Option<String>,
    /// Delay of the moves, at most two hours; `None` for the common delay of the broadcast. Lichess can add its own.
    #[serde(default, deserialize_with = "delay")]
    pub delay: Option<Duration>,
    /// The URL of the server.
    #[serde(default = "lichess")]
    pub server: String,
}

/// Reads the id of a broadcast: eight letters and digits, the last part of its address.
fn id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    // Accept the complete URL too.
    let id = text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let is_id = id.len() == 8 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let wrong =
        "expected the id of a broadcast, the last eight characters of its address, as in \"QYiOYnl1\"";
    is_id
        .then(|| Some(id.to_owned()))
        .ok_or_else(|| serde::de::Error::custom(wrong))
}

fn lichess() -> String {
    "https://lichess.org".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broadcast_is_named_by_its_id_or_its_address() {
        let read = |value: &str| toml::from_str::<Lichess>(&format!("broadcast = \"{value}\""));
        for value in ["QYiOYnl1", "https://lichess.org/broadcast/open-2026/QYiOYnl1"] {
            let read = read(value).expect("an id");
            assert_eq!(read.broadcast.as_deref(), Some("QYiOYnl1"));
            assert_eq!(read.server, "https://lichess.org");
        }
        assert!(read("open-2026").is_err());
    }
}
