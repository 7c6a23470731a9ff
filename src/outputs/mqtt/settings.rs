//! Settings of the connection to the broker: address, login, encryption and topics.

mod table;

use core::fmt;
use core::time::Duration;
use std::path::{Path, PathBuf};

use super::client::Dialect;
use super::client_id::{self, ClientRole};
use super::login::{BrokerLogin, Password};
use super::tls::{ClientFiles, Tls};
use super::topics::Prefix;
use super::url::{BrokerUrl, UrlError};
use crate::secret_file::is_open_to_all;
pub(crate) use table::{MqttTable, mqtt};

/// Settings of the connection to the broker.
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
    /// `None` for an unencrypted connection.
    pub(crate) tls: Option<Tls>,
    /// `None` to connect without a login.
    pub(crate) login: Option<BrokerLogin>,
    pub(crate) prefix: Prefix,
    pub(crate) daemon: String,
    pub(crate) keep_alive: Duration,
    /// Delay of the last will, with MQTT 5.
    pub(crate) will_delay: Duration,
    pub(crate) public_delay: Duration,
    pub(crate) commands: bool,
    pub(crate) hub: bool,
    pub(crate) home_assistant: bool,
    /// Version of MQTT; `None` to detect which one the broker supports.
    pub(crate) protocol: Option<Dialect>,
    client: ClientRole,
}

impl MqttConfig {
    /// Parses the broker's URL, like `mqtt://user:password@host:1883`, or `mqtts://` for an encrypted connection. The
    /// default port is 1883, or 8883 if encrypted. User and password must be percent-encoded. The prefix is "kiebitz".
    ///
    /// # Errors
    ///
    /// Fails with [`UrlError`] if the URL is invalid.
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
            will_delay: WILL_DELAY,
            public_delay: Duration::ZERO,
            commands: false,
            hub: false,
            home_assistant: false,
            protocol: None,
            client: ClientRole::Daemon,
        })
    }

    /// Sets the prefix of all topics.
    #[must_use]
    pub fn with_prefix(mut self, prefix: Prefix) -> Self {
        self.prefix = prefix;
        self
    }

    /// Sets the host name in the daemon's topics. The default is the host name of this computer.
    #[must_use]
    pub fn with_daemon(mut self, host: &str) -> Self {
        host.clone_into(&mut self.daemon);
        self
    }

    /// Sets the delay of all topics for spectators. The default is no delay.
    #[must_use]
    pub fn with_public_delay(mut self, delay: Duration) -> Self {
        self.public_delay = delay;
        self
    }

    /// Sets whether commands are accepted from the broker. The default is false: on a broker without an access list,
    /// anybody could change any game.
    #[must_use]
    pub fn with_commands(mut self, enabled: bool) -> Self {
        self.commands = enabled;
        self
    }

    /// Sets the version of MQTT. By default, kiebitz detects which one the broker supports.
    #[must_use]
    pub(crate) fn with_protocol(mut self, protocol: Option<Dialect>) -> Self {
        self.protocol = protocol;
        self
    }

    /// Sets the delay of the last will, in whole seconds. A broker with MQTT 5 does not publish the last will if the
    /// connection is restored within this delay. The default is five seconds.
    #[must_use]
    pub fn with_will_delay(mut self, delay: Duration) -> Self {
        self.will_delay = delay;
        self
    }

    /// Sets whether discovery messages for Home Assistant are published. The default is false.
    #[must_use]
    pub fn with_home_assistant(mut self, enabled: bool) -> Self {
        self.home_assistant = enabled;
        self
    }

    /// Sets whether events are sent again if a hub requests them. The default is false.
    #[must_use]
    pub fn with_hub(mut self, enabled: bool) -> Self {
        self.hub = enabled;
        self
    }

    /// Whether events are sent again if a hub requests them.
    #[must_use]
    pub fn resends_to_hub(&self) -> bool {
        self.hub
    }

    /// Topics to which the connection subscribes.
    pub(crate) fn subscriptions(&self) -> Vec<String> {
        let commands = self.commands.then(|| self.prefix.commands());
        let resend = self.hub.then(|| self.prefix.resend());
        commands.into_iter().flatten().chain(resend).collect()
    }

    /// Whether commands are accepted from the broker.
    #[must_use]
    pub fn takes_commands(&self) -> bool {
        self.commands
    }

    /// Sets the user. The password is read from systemd's credential `mqtt-password`, if that exists.
    #[must_use]
    pub fn with_user(mut self, user: &str) -> Self {
        self.login = Some(BrokerLogin {
            user: user.to_owned(),
            password: Password::Credential,
        });
        self
    }

    /// Sets the file with the user's password in its first line. Does nothing without a user.
    #[must_use]
    pub fn with_password_file(mut self, path: &Path) -> Self {
        if let Some(login) = &mut self.login {
            login.password = Password::File(path.to_owned());
        }
        self
    }

    /// Sets a PEM file with the CAs that may sign the broker's certificate. The default is the system's trusted CAs.
    /// Does nothing for an unencrypted connection.
    #[must_use]
    pub fn with_ca_file(mut self, path: &Path) -> Self {
        if let Some(tls) = &mut self.tls {
            tls.ca_file = Some(path.to_owned());
        }
        self
    }

    /// Sets the PEM files with the client certificate and its key. Does nothing for an unencrypted connection.
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

    /// Derives the client id from this process, for a program that runs in addition to the daemon, such as a replay.
    /// Otherwise the broker would end the daemon's connection.
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

    /// The user to log in as; `None` to connect without a login.
    #[must_use]
    pub fn user(&self) -> Option<&str> {
        self.login.as_ref().map(|login| &*login.user)
    }

    /// Whether the URL contains the password.
    #[must_use]
    pub fn has_password(&self) -> bool {
        let password = self.login.as_ref().map(|login| &login.password);
        matches!(password, Some(Password::Given(_)))
    }

    /// Files that contain secrets, but can be read by every user of this computer.
    pub(crate) fn exposed_files(&self) -> Vec<PathBuf> {
        let password = self.login.as_ref().and_then(BrokerLogin::password_file);
        let client = self.tls.as_ref().and_then(|tls| tls.client.as_ref());
        let files = password.into_iter().chain(client.map(|client| &*client.key));
        files
            .filter(|path| is_open_to_all(path))
            .map(Path::to_owned)
            .collect()
    }

    /// Host and port, as `host:port`.
    #[must_use]
    pub fn broker(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// The prefix of all topics.
    #[must_use]
    pub fn prefix(&self) -> &Prefix {
        &self.prefix
    }

    /// The host name in the daemon's topics.
    #[must_use]
    pub fn daemon(&self) -> &str {
        &self.daemon
    }

    /// The delay of all topics for spectators.
    #[must_use]
    pub fn public_delay(&self) -> Duration {
        self.public_delay
    }

    pub(crate) fn client_id(&self) -> String {
        client_id::of(&self.prefix, &self.daemon, self.client)
    }
}

/// Omits the password.
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

/// Interval between keep-alive pings. After twice this time without an answer, the connection counts as lost.
const KEEP_ALIVE: Duration = Duration::from_secs(10);
const WILL_DELAY: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_has_no_password() {
        let config = MqttConfig::from_url("mqtt://club:secret@localhost").expect("a URL");
        let shown = format!("{config:?}");
        assert!(shown.contains("club") && !shown.contains("secret"), "{shown}");
        assert!(config.has_password());
    }

    #[test]
    fn a_password_file_needs_a_user() {
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
