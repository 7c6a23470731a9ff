//! Which broker, as whom, and under which topics.

use core::fmt;
use core::time::Duration;

use super::topics::Prefix;

/// How to reach the broker.
///
/// ```
/// use kiebitz::output::mqtt::{MqttConfig, Prefix};
///
/// let config = MqttConfig::from_url("mqtt://club:secret@broker.example:1884")?.with_prefix(Prefix::replay());
/// assert_eq!(config.broker(), "broker.example:1884");
/// # Ok::<(), kiebitz::output::mqtt::UrlError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct MqttConfig {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) credentials: Option<(String, String)>,
    pub(crate) prefix: Prefix,
    pub(crate) daemon: String,
    pub(crate) keep_alive: Duration,
    pub(crate) public_delay: Duration,
    pub(crate) commands: bool,
}

/// What is wrong with a broker's URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UrlError {
    /// It does not say how to talk to the broker.
    #[error("the broker's URL must begin with mqtt://, as in mqtt://localhost:1883")]
    NoScheme,
    /// It asks for something that kiebitz does not speak.
    #[error("a broker's URL begins with mqtt://, not {scheme}://")]
    Scheme {
        /// What it asks for.
        scheme: String,
    },
    /// It asks for an encrypted connection.
    #[error("{scheme}:// is an encrypted connection, which this build of kiebitz cannot make; use mqtt://")]
    NoTls {
        /// What it asks for.
        scheme: String,
    },
    /// It names no broker.
    #[error("the broker's URL names no host; it looks like mqtt://localhost:1883")]
    NoHost,
    /// Its port is no number from 1 to 65535.
    #[error("the broker's port must be a number from 1 to 65535, not {port:?}")]
    Port {
        /// What stands there.
        port: String,
    },
    /// Something follows the port.
    #[error(
        "the broker's URL ends with the port; {rest:?} does not belong there (the prefix is an option of its own)"
    )]
    Rest {
        /// What follows it.
        rest: String,
    },
    /// User or password have a broken percent code, or are no text.
    #[error("user and password in the broker's URL must be percent-encoded UTF-8")]
    Encoding,
}

impl MqttConfig {
    /// The broker of a URL like `mqtt://user:password@host:1883`; port 1883 may be left out, user and password are
    /// percent-encoded where needed. The prefix is "kiebitz".
    ///
    /// # Errors
    ///
    /// [`UrlError`] says what is wrong with the URL.
    pub fn from_url(url: &str) -> Result<Self, UrlError> {
        let (scheme, rest) = url.split_once("://").ok_or(UrlError::NoScheme)?;
        match scheme {
            "mqtt" | "tcp" => {}
            "mqtts" | "ssl" | "tls" => {
                return Err(UrlError::NoTls {
                    scheme: scheme.to_owned(),
                });
            }
            _ => {
                return Err(UrlError::Scheme {
                    scheme: scheme.to_owned(),
                });
            }
        }
        let (authority, after) = match rest.find(['/', '?', '#']) {
            Some(end) => rest.split_at(end),
            None => (rest, ""),
        };
        if !matches!(after, "" | "/") {
            return Err(UrlError::Rest {
                rest: after.to_owned(),
            });
        }
        let (user, address) = authority
            .rsplit_once('@')
            .map_or((None, authority), |(u, a)| (Some(u), a));
        let (host, port) = split_port(address);
        if host.is_empty() || host == "[]" {
            return Err(UrlError::NoHost);
        }
        let port = match port {
            None => PORT,
            Some(port) => port
                .parse()
                .ok()
                .filter(|number: &u16| *number > 0)
                .ok_or_else(|| UrlError::Port {
                    port: port.to_owned(),
                })?,
        };
        Ok(Self {
            host: host.to_owned(),
            port,
            credentials: user.map(credentials).transpose()?,
            prefix: Prefix::live(),
            daemon: host_name(),
            keep_alive: KEEP_ALIVE,
            public_delay: Duration::ZERO,
            commands: false,
        })
    }

    /// The same with all topics under `prefix`.
    #[must_use]
    pub fn with_prefix(mut self, prefix: Prefix) -> Self {
        self.prefix = prefix;
        self
    }

    /// The same under the name of another host: the level of the daemon's state topic. The default is this
    /// machine's host name.
    #[must_use]
    pub fn with_daemon(mut self, host: &str) -> Self {
        host.clone_into(&mut self.daemon);
        self
    }

    /// The same with a delay of everything in the topics for spectators. The default is no delay.
    #[must_use]
    pub fn with_public_delay(mut self, delay: Duration) -> Self {
        self.public_delay = delay;
        self
    }

    /// The same with commands taken from the broker, or not. The default is not: whoever may write to a broker without
    /// an access list could change any game.
    #[must_use]
    pub fn with_commands(mut self, taken: bool) -> Self {
        self.commands = taken;
        self
    }

    /// Whether commands are taken from the broker.
    #[must_use]
    pub fn takes_commands(&self) -> bool {
        self.commands
    }

    /// Host and port.
    #[must_use]
    pub fn broker(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// What all topics begin with.
    #[must_use]
    pub fn prefix(&self) -> &Prefix {
        &self.prefix
    }

    /// The host's name in the daemon's state topic.
    #[must_use]
    pub fn daemon(&self) -> &str {
        &self.daemon
    }

    /// The delay after which spectators get everything.
    #[must_use]
    pub fn public_delay(&self) -> Duration {
        self.public_delay
    }

    /// The client id, made of prefix and host: a broker throws out the older of two clients of the same id, and
    /// with it the last will of a connection that it believed alive.
    pub(crate) fn client_id(&self) -> String {
        format!("{}/{}", self.prefix, self.daemon).replace('/', "-")
    }
}

/// Without the password.
impl fmt::Debug for MqttConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MqttConfig")
            .field("broker", &self.broker())
            .field("user", &self.credentials.as_ref().map(|(user, _)| user))
            .field("prefix", &self.prefix)
            .field("daemon", &self.daemon)
            .finish_non_exhaustive()
    }
}

/// Host and port of an address; an IPv6 address stands in brackets and keeps them.
fn split_port(address: &str) -> (&str, Option<&str>) {
    let after_host = address.rfind(']').map_or(0, |bracket| bracket + 1);
    match address[after_host..].find(':') {
        Some(colon) => {
            let (host, port) = address.split_at(after_host + colon);
            (host, Some(&port[1..]))
        }
        None => (address, None),
    }
}

fn credentials(user: &str) -> Result<(String, String), UrlError> {
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    Ok((decoded(user)?, decoded(password)?))
}

fn decoded(text: &str) -> Result<String, UrlError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut parts = text.split('%');
    bytes.extend(parts.next().unwrap_or_default().bytes());
    for part in parts {
        let code = part
            .get(..2)
            .filter(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let byte = code
            .and_then(|code| u8::from_str_radix(code, 16).ok())
            .ok_or(UrlError::Encoding)?;
        bytes.push(byte);
        bytes.extend(part[2..].bytes());
    }
    String::from_utf8(bytes).map_err(|_| UrlError::Encoding)
}

fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() {
        "kiebitz".to_owned()
    } else {
        name.to_owned()
    }
}

const PORT: u16 = 1883;
/// A connection is given up after twice this time without a sign of the broker.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_has_everything_that_is_needed() {
        let config =
            MqttConfig::from_url("mqtt://k%C3%B6nig:p%40ss:word@broker.example:2883/").expect("a URL");
        assert_eq!(config.broker(), "broker.example:2883");
        assert_eq!(
            config.credentials,
            Some(("könig".to_owned(), "p@ss:word".to_owned()))
        );
        assert!(!format!("{config:?}").contains("word"), "{config:?}");
    }

    #[test]
    fn port_may_be_left_out() {
        assert_eq!(
            MqttConfig::from_url("mqtt://localhost").expect("a URL").broker(),
            "localhost:1883"
        );
        assert_eq!(
            MqttConfig::from_url("mqtt://[::1]").expect("a URL").broker(),
            "[::1]:1883"
        );
        assert_eq!(
            MqttConfig::from_url("mqtt://[::1]:1884").expect("a URL").broker(),
            "[::1]:1884"
        );
    }

    #[test]
    fn wrong_urls_are_refused_with_what_is_wrong() {
        let error = |url| MqttConfig::from_url(url).expect_err(url);
        assert_eq!(error("localhost:1883"), UrlError::NoScheme);
        assert_eq!(
            error("http://localhost"),
            UrlError::Scheme {
                scheme: "http".to_owned()
            }
        );
        assert_eq!(
            error("mqtts://localhost"),
            UrlError::NoTls {
                scheme: "mqtts".to_owned()
            }
        );
        for url in ["mqtt://", "mqtt://:1883", "mqtt://user@", "mqtt://[]:1"] {
            assert_eq!(error(url), UrlError::NoHost);
        }
        for url in [
            "mqtt://host:",
            "mqtt://host:0",
            "mqtt://host:65536",
            "mqtt://host:abc",
        ] {
            assert!(matches!(error(url), UrlError::Port { .. }), "{url}");
        }
        assert_eq!(
            error("mqtt://host/kiebitz"),
            UrlError::Rest {
                rest: "/kiebitz".to_owned()
            }
        );
        for url in [
            "mqtt://a%2@host",
            "mqtt://a%+1@host",
            "mqtt://a%ff@host",
            "mqtt://a%é@host",
        ] {
            assert_eq!(error(url), UrlError::Encoding);
        }
    }

    #[test]
    fn client_id_stays_the_same() {
        let config = MqttConfig::from_url("mqtt://localhost")
            .expect("a URL")
            .with_daemon("pi");
        assert_eq!(config.client_id(), "kiebitz-pi");
        assert_eq!(
            config.with_prefix(Prefix::replay()).client_id(),
            "kiebitz-replay-pi"
        );
    }
}
