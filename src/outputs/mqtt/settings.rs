//! Which broker, as whom, and under which topics.

mod table;

use core::fmt;
use core::time::Duration;
use std::path::{Path, PathBuf};

use super::client_id::{self, ClientRole};
use super::login::{self, BrokerLogin, Password};
use super::tls::{ClientFiles, Tls};
use super::topics::Prefix;
use super::url::{BrokerUrl, UrlError};
pub(crate) use table::{MqttTable, mqtt};

/// How to reach the broker.
///
/// ```
/// use kiebitz::outputs::mqtt::{MqttConfig, Prefix};
///
/// let config = MqttConfig::from_url("mqtt://club:secret@broker.example:1884")?.with_prefix(Prefix::replay());
/// assert_eq!(config.broker(), "broker.example:1884");
/// # Ok::<(), kiebitz::outputs::mqtt::UrlError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct MqttConfig {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// `None`: the connection is not encrypted.
    pub(crate) tls: Option<Tls>,
    /// `None`: nobody logs in.
    pub(crate) login: Option<BrokerLogin>,
    pub(crate) prefix: Prefix,
    pub(crate) daemon: String,
    pub(crate) keep_alive: Duration,
    pub(crate) public_delay: Duration,
    pub(crate) commands: bool,
    pub(crate) hub: bool,
    pub(crate) home_assistant: bool,
    client: ClientRole,
}

impl MqttConfig {
    /// The broker of a URL like `mqtt://user:password@host:1883`, or `mqtts://` for an encrypted connection. The port
    /// may be left out: it is 1883, or 8883 encrypted. User and password are percent-encoded where needed. The prefix is
    /// "kiebitz".
    ///
    /// # Errors
    ///
    /// [`UrlError`] says what is wrong with the URL.
    pub fn from_url(url: &str) -> Result<Self, UrlError> {
        let BrokerUrl {
            encrypted,
            host,
            port,
            user,
        } = BrokerUrl::parse(url)?;
        let login = |(user, password): (String, Option<String>)| BrokerLogin {
            user,
            password: password.map_or(Password::Credential, Password::Given),
        };
        Ok(Self {
            host,
            port,
            tls: encrypted.then(Tls::default),
            login: user.map(login),
            prefix: Prefix::live(),
            daemon: host_name(),
            keep_alive: KEEP_ALIVE,
            public_delay: Duration::ZERO,
            commands: false,
            hub: false,
            home_assistant: false,
            client: ClientRole::Daemon,
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

    /// The same with Home Assistant told what to show, or not. The default is not.
    #[must_use]
    pub fn with_home_assistant(mut self, told: bool) -> Self {
        self.home_assistant = told;
        self
    }

    /// The same with events sent once more where a hub asks for them, or not. The default is not.
    #[must_use]
    pub fn with_hub(mut self, heard: bool) -> Self {
        self.hub = heard;
        self
    }

    /// Whether events are sent once more where a hub asks for them.
    #[must_use]
    pub fn hears_hub(&self) -> bool {
        self.hub
    }

    /// What the broker is asked for.
    pub(crate) fn asked_for(&self) -> Vec<String> {
        let commands = self.commands.then(|| self.prefix.commands());
        let resend = self.hub.then(|| self.prefix.resend());
        commands.into_iter().flatten().chain(resend).collect()
    }

    /// Whether commands are taken from the broker.
    #[must_use]
    pub fn takes_commands(&self) -> bool {
        self.commands
    }

    /// The same with a user, whose password is in systemd's credential `mqtt-password`, if there is one.
    #[must_use]
    pub fn with_user(mut self, user: &str) -> Self {
        self.login = Some(BrokerLogin {
            user: user.to_owned(),
            password: Password::Credential,
        });
        self
    }

    /// The same with the user's password in the first line of a file. Without a user it changes nothing.
    #[must_use]
    pub fn with_password_file(mut self, path: &Path) -> Self {
        if let Some(login) = &mut self.login {
            login.password = Password::File(path.to_owned());
        }
        self
    }

    /// The same where the broker's certificate has to be of a CA in this PEM file; the default are those that the system
    /// trusts. It changes nothing of a connection that is not encrypted.
    #[must_use]
    pub fn with_ca_file(mut self, path: &Path) -> Self {
        if let Some(tls) = &mut self.tls {
            tls.ca_file = Some(path.to_owned());
        }
        self
    }

    /// The same with a certificate that is shown to the broker, and its key, in PEM files. It changes nothing of a
    /// connection that is not encrypted.
    #[must_use]
    pub fn with_client_certificate(mut self, certificate: &Path, key: &Path) -> Self {
        if let Some(tls) = &mut self.tls {
            tls.client = Some(ClientFiles {
                certificate: certificate.to_owned(),
                key: key.to_owned(),
            });
        }
        self
    }

    /// The same for a program that runs beside the daemon, as a replay does: neither takes the other's connection over.
    #[must_use]
    pub fn beside_the_daemon(mut self) -> Self {
        self.client = ClientRole::Process(std::process::id());
        self
    }

    /// Whether the connection is encrypted.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.tls.is_some()
    }

    /// The user who logs in; `None`: nobody does.
    #[must_use]
    pub fn user(&self) -> Option<&str> {
        self.login.as_ref().map(|login| &*login.user)
    }

    /// Whether the password was in the URL.
    #[must_use]
    pub fn has_password(&self) -> bool {
        let password = self.login.as_ref().map(|login| &login.password);
        matches!(password, Some(Password::Given(_)))
    }

    /// The files with a secret in them that everyone on this computer may read.
    pub(crate) fn exposed_files(&self) -> Vec<PathBuf> {
        let password = self.login.as_ref().and_then(BrokerLogin::password_file);
        let client = self.tls.as_ref().and_then(|tls| tls.client.as_ref());
        let files = password.into_iter().chain(client.map(|client| &*client.key));
        files
            .filter(|path| login::is_open_to_all(path))
            .map(Path::to_owned)
            .collect()
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

    /// What the broker knows this connection by.
    pub(crate) fn client_id(&self) -> String {
        client_id::of(&self.prefix, &self.daemon, self.client)
    }
}

/// Without the password.
impl fmt::Debug for MqttConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MqttConfig")
            .field("broker", &self.broker())
            .field("tls", &self.tls)
            .field("login", &self.login)
            .field("prefix", &self.prefix)
            .field("daemon", &self.daemon)
            .finish_non_exhaustive()
    }
}

pub(crate) fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() {
        "kiebitz".to_owned()
    } else {
        name.to_owned()
    }
}

/// A connection is given up after twice this time without a sign of the broker.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_is_shown() {
        let config = MqttConfig::from_url("mqtt://club:secret@localhost").expect("a URL");
        let shown = format!("{config:?}");
        assert!(shown.contains("club") && !shown.contains("secret"), "{shown}");
        assert!(config.has_password());
    }

    #[test]
    fn password_is_where_it_was_said_to_be() {
        let path = Path::new("/etc/kiebitz/password");
        let config = MqttConfig::from_url("mqtt://localhost").expect("a URL");
        assert_eq!(config.clone().with_password_file(path).login, None);
        let config = config.with_user("club").with_password_file(path);
        assert_eq!(config.user(), Some("club"));
        assert!(!config.has_password());
        assert_eq!(
            config.login.as_ref().and_then(BrokerLogin::password_file),
            Some(path)
        );
    }

    #[test]
    fn certificates_are_for_encrypted_connections() {
        let (path, key) = (
            Path::new("/etc/kiebitz/ca.pem"),
            Path::new("/etc/kiebitz/key.pem"),
        );
        let with = |url| {
            let config = MqttConfig::from_url(url).expect("a URL");
            config.with_ca_file(path).with_client_certificate(path, key)
        };
        assert_eq!(with("mqtt://localhost").tls, None);
        let tls = with("mqtts://localhost").tls.expect("it is encrypted");
        assert_eq!(tls.ca_file.as_deref(), Some(path));
        assert_eq!(tls.client.map(|client| client.key).as_deref(), Some(key));
    }
}
