//! The table `[desk]`: where arbiters work.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Deserializer};

use super::document::{Absolute, Text};

/// The arbiters' page.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Desk {
    /// Where it is served.
    #[serde(default = "usual", deserialize_with = "address")]
    pub listen: SocketAddr,
    /// The file with those who may log in, a line each; `kiebitz user` writes them.
    #[serde(deserialize_with = "users_file")]
    pub users_file: PathBuf,
}

impl Desk {
    /// Whether it can be reached from other computers.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        !self.listen.ip().is_loopback()
    }
}

fn usual() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 8038))
}

fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SocketAddr, D::Error> {
    let text = String::deserialize(deserializer)?;
    let address = text.parse().ok();
    let address = address.filter(|address: &SocketAddr| address.port() > 0);
    let wrong = "this must be an address with a port, as in \"127.0.0.1:8038\" for this computer alone";
    address.ok_or_else(|| serde::de::Error::custom(wrong))
}

fn users_file<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    Text::<Absolute>::deserialize(deserializer).map(|path| path.0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_an_address_it_is_for_this_computer() {
        let read = |text: &str| toml::from_str::<Desk>(text);
        let desk = read("users_file = \"/etc/kiebitz/desk-users\"").expect("a desk");
        assert_eq!(desk.listen.to_string(), "127.0.0.1:8038");
        assert!(!desk.is_open());
        let desk = read("users_file = \"/u\"\nlisten = \"0.0.0.0:8038\"").expect("a desk");
        assert!(desk.is_open());
        for wrong in ["", "users_file = \"u\"", "users_file = \"/u\"\nlisten = \"8038\""] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
