//! Configuration table `[desk]`.

use core::str::FromStr;
use std::net::SocketAddr;
use std::path::PathBuf;

use axum::http::HeaderName;
use serde::{Deserialize, Deserializer};

use crate::outputs::shared::proxies::Proxies;
use crate::settings::{path, required_path};

/// Settings of the desk.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "DeskTable")]
pub struct DeskSettings {
    /// Address on which the desk is served.
    pub listen: SocketAddr,
    /// File with the users, one on each line, as printed by `kiebitz user`.
    pub users_file: PathBuf,
    /// Address under which browsers elsewhere reach the desk, with a slash at the end; `None` if it follows from
    /// `listen`.
    pub url: Option<String>,
    /// Header in which a proxy names the logged-in user; `None` if the desk asks for passwords itself.
    pub user_header: Option<String>,
    /// Addresses of proxies, whose headers about their clients are believed.
    pub proxies: Proxies,
    /// File with a secret that a proxy which names users sends with each request.
    pub proxy_secret_file: Option<PathBuf>,
    /// Names under which a proxy that names users may ask for the desk, besides those of its own computer.
    pub hosts: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeskTable {
    #[serde(default = "usual", deserialize_with = "address")]
    listen: SocketAddr,
    #[serde(deserialize_with = "required_path")]
    users_file: PathBuf,
    url: Option<String>,
    user_header: Option<String>,
    #[serde(default)]
    proxies: Proxies,
    #[serde(default, deserialize_with = "path")]
    proxy_secret_file: Option<PathBuf>,
    #[serde(default)]
    hosts: Vec<String>,
}

impl TryFrom<DeskTable> for DeskSettings {
    type Error = &'static str;

    fn try_from(table: DeskTable) -> Result<Self, Self::Error> {
        let DeskTable {
            listen,
            users_file,
            url,
            user_header,
            proxies,
            proxy_secret_file,
            hosts,
        } = table;
        let url = match url {
            Some(text) => Some(web_address(&text).ok_or(
                "`url` must be the address of the desk in a browser, as in \"https://north.example/\"",
            )?),
            None => None,
        };
        if let Some(header) = &user_header {
            if HeaderName::from_str(header).is_err() {
                return Err("`user_header` must be the name of a header, as in \"Remote-User\"");
            }
            if proxies.is_empty() && proxy_secret_file.is_none() {
                return Err(
                    "with `user_header`, set the proxy's address, as in `proxies = [\"127.0.0.1\"]`, or \
                     `proxy_secret_file`: others could bypass the proxy and claim any name",
                );
            }
        } else if proxy_secret_file.is_some() || !hosts.is_empty() {
            return Err(
                "`proxy_secret_file` and `hosts` are only for a proxy that names users in `user_header`",
            );
        }
        Ok(Self {
            listen,
            users_file,
            url,
            user_header,
            proxies,
            proxy_secret_file,
            hosts,
        })
    }
}

impl DeskSettings {
    /// Whether other computers can reach the desk.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        !self.listen.ip().is_loopback()
    }

    /// Returns the address to which a hub links. `host` is the name of this computer. `None` if other computers cannot
    /// reach the desk, or only at an unknown address.
    pub(crate) fn address(&self, host: &str) -> Option<String> {
        if self.url.is_some() {
            return self.url.clone();
        }
        let listen = self.listen;
        let port = listen.port();
        match listen.ip() {
            ip if ip.is_loopback() => None,
            ip if ip.is_unspecified() => web_address(&format!("http://{host}:{port}")),
            _ => Some(format!("http://{listen}/")),
        }
    }
}

/// Normalises the address of a desk, so that it ends with a slash. `None` if a browser could not open it as a page.
pub(crate) fn web_address(text: &str) -> Option<String> {
    let url: axum::http::Uri = text.parse().ok()?;
    let is_web = matches!(url.scheme_str(), Some("http" | "https"));
    let is_plain = url.query().is_none() && !text.contains(['#', '@', '\\', '"', '<', '>']);
    let has_host = url.host().is_some_and(|host| !host.is_empty());
    let slash = if text.ends_with('/') { "" } else { "/" };
    (is_web && is_plain && has_host).then(|| format!("{text}{slash}"))
}

fn usual() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 8038))
}

fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SocketAddr, D::Error> {
    let text = String::deserialize(deserializer)?;
    let address = text.parse().ok();
    let address = address.filter(|address: &SocketAddr| address.port() > 0);
    let wrong = "expected an address with a port, as in \"127.0.0.1:8038\" for this computer alone";
    address.ok_or_else(|| serde::de::Error::custom(wrong))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_desk_listens_on_the_loopback_interface_by_default() {
        let read = |text: &str| toml::from_str::<DeskSettings>(text);
        let desk = read("users_file = \"/etc/kiebitz/desk-users\"").expect("a desk");
        assert_eq!(desk.listen.to_string(), "127.0.0.1:8038");
        assert!(!desk.is_open());
        let desk = read("users_file = \"/u\"\nlisten = \"0.0.0.0:8038\"").expect("a desk");
        assert!(desk.is_open());
        for wrong in ["", "users_file = \"u\"", "users_file = \"/u\"\nlisten = \"8038\""] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn other_computers_get_an_address_that_they_can_open() {
        let address = |text: &str| {
            let settings: DeskSettings =
                toml::from_str(&format!("users_file = \"/u\"\n{text}")).expect("a desk");
            settings.address("north")
        };
        assert_eq!(address(""), None, "this computer alone");
        let open = "listen = \"0.0.0.0:8038\"";
        assert_eq!(address(open).as_deref(), Some("http://north:8038/"));
        let own = address("listen = \"192.0.2.7:80\"");
        assert_eq!(own.as_deref(), Some("http://192.0.2.7:80/"));
        let proxy = address("url = \"https://north.example/desk\"");
        assert_eq!(proxy.as_deref(), Some("https://north.example/desk/"));
        for wrong in [
            "",
            "north.example",
            "ftp://north.example",
            "javascript:alert(1)",
            "https://",
            "https://north.example/?a=b",
            "https://user@north.example/",
            "https://north.example/\\n",
        ] {
            let text = format!("users_file = \"/u\"\nurl = '{wrong}'");
            assert!(toml::from_str::<DeskSettings>(&text).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_proxy_that_names_users_needs_an_address_or_a_secret() {
        let read = |text: &str| toml::from_str::<DeskSettings>(&format!("users_file = \"/u\"\n{text}"));
        let by_address = "user_header = \"Remote-User\"\nproxies = [\"127.0.0.1\", \"::ffff:10.0.0.5\"]";
        let desk = read(by_address).expect("a desk");
        assert_eq!(desk.user_header.as_deref(), Some("Remote-User"));
        let proxies = ["127.0.0.1", "10.0.0.5"].map(|address| address.parse().expect("an address"));
        assert_eq!(desk.proxies, proxies.to_vec().into());
        assert!(read(&format!("{by_address}\nhosts = [\"desk.club.example\"]")).is_ok());
        assert!(read("user_header = \"Remote-User\"\nproxy_secret_file = \"/s\"").is_ok());
        assert!(read("proxies = [\"::1\"]").is_ok(), "a proxy that only encrypts");
        for wrong in [
            "user_header = \"\"\nproxies = [\"127.0.0.1\"]",
            "user_header = \"Remote User\"\nproxies = [\"127.0.0.1\"]",
            "user_header = \"Remote-User\"",
            "user_header = \"Remote-User\"\nproxies = []",
            "user_header = \"Remote-User\"\nproxies = [\"proxy.example\"]",
            "user_header = \"Remote-User\"\nproxy_secret_file = \"s\"",
            "proxy_secret_file = \"/s\"",
            "hosts = [\"desk.club.example\"]",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
