//! The `[livechess]` table.

use std::net::SocketAddr;

use serde::{Deserialize, Deserializer};

/// Settings of LiveChess's local interface.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LiveChessSettings {
    /// The address to listen on. The interface has no delay.
    #[serde(deserialize_with = "address")]
    pub listen: SocketAddr,
    /// The sites whose pages may connect, as browsers send them in `Origin`. Programs send no origin and may connect.
    #[serde(deserialize_with = "origins")]
    pub origins: Vec<String>,
    /// Whether clients may begin another game on a board.
    pub setup: bool,
}

impl LiveChessSettings {
    /// Whether the interface can be reached from other computers.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        !self.listen.ip().is_loopback()
    }
}

impl Default for LiveChessSettings {
    fn default() -> Self {
        let origins = ["https://lichess.org", "https://www.chess.com"];
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 1982)),
            origins: origins.map(str::to_owned).to_vec(),
            setup: false,
        }
    }
}

fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SocketAddr, D::Error> {
    let text = String::deserialize(deserializer)?;
    let address = text.parse().ok();
    let address = address.filter(|address: &SocketAddr| address.port() > 0);
    let wrong = "expected an address with a port, as in \"127.0.0.1:1982\" for this computer alone";
    address.ok_or_else(|| serde::de::Error::custom(wrong))
}

/// Normalises origins to the form that browsers send, since they are compared as strings.
fn origins<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let written = Vec::<String>::deserialize(deserializer)?;
    let read = written.iter().map(|text| {
        let text = text.trim_end_matches('/').to_ascii_lowercase();
        let host = text
            .strip_prefix("https://")
            .or_else(|| text.strip_prefix("http://"));
        let is_host = |host: &str| {
            let known = |c: char| c.is_ascii_alphanumeric() || ".-:[]".contains(c);
            !host.is_empty() && host.chars().all(known)
        };
        let wrong = "expected a site without a path, as in \"https://lichess.org\"";
        host.is_some_and(is_host)
            .then_some(text)
            .ok_or_else(|| serde::de::Error::custom(wrong))
    });
    read.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<LiveChessSettings, toml::de::Error> {
        toml::from_str(text)
    }

    #[test]
    fn by_default_only_this_computer_may_connect_and_setup_is_off() {
        let settings = read("").expect("settings");
        assert_eq!(settings, LiveChessSettings::default());
        assert!(!settings.is_open() && !settings.setup);
        assert_eq!(settings.listen.to_string(), "127.0.0.1:1982");
        let settings =
            read("listen = \"0.0.0.0:1982\"\norigins = [\"HTTPS://Club.example:8443/\"]\nsetup = true");
        let settings = settings.expect("settings");
        assert!(settings.is_open() && settings.setup);
        assert_eq!(settings.origins, ["https://club.example:8443"]);
    }

    #[test]
    fn invalid_addresses_and_sites_are_refused() {
        for text in [
            "listen = \"1982\"",
            "listen = \"127.0.0.1:0\"",
            "origins = [\"lichess.org\"]",
            "origins = [\"https://lichess.org/dgt\"]",
            "origins = [\"https://\"]",
            "origins = [\"*\"]",
            "origins = \"https://lichess.org\"",
            "delay = \"1 min\"",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
