//! The table `[mqtt]`: which broker, as whom, and how the connection is encrypted.

use core::ops::Range;
use core::str::FromStr;
use core::time::Duration;
use std::path::PathBuf;

use serde::Deserialize;
use toml::Spanned;

use super::MqttConfig;
use crate::outputs::mqtt::{Prefix, UrlError};
use crate::settings::{Absolute, Delay, Name, Text, Wrong};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MqttTable {
    url: Spanned<Text<Broker>>,
    user: Option<Spanned<String>>,
    password_file: Option<Spanned<Text<Absolute>>>,
    ca_file: Option<Spanned<Text<Absolute>>>,
    client_certificate: Option<Spanned<Text<Absolute>>>,
    client_key: Option<Spanned<Text<Absolute>>>,
    #[serde(default = "live")]
    prefix: Text<Prefix>,
    #[serde(default = "none")]
    public_delay: Text<Delay>,
    #[serde(default)]
    commands: bool,
    #[serde(default)]
    home_assistant: bool,
    #[serde(default)]
    hub: bool,
}

fn live() -> Text<Prefix> {
    Text(Prefix::live())
}

const fn none() -> Text<Delay> {
    Text(Delay(Duration::ZERO))
}

/// How to reach the broker.
struct Broker(MqttConfig);

impl FromStr for Broker {
    type Err = UrlError;

    fn from_str(url: &str) -> Result<Self, UrlError> {
        MqttConfig::from_url(url).map(Self)
    }
}

/// A path and where in the file it is written.
struct Place {
    span: Range<usize>,
    path: PathBuf,
}

impl Place {
    fn of(path: Spanned<Text<Absolute>>) -> Self {
        let span = path.span();
        let path = path.into_inner().0.0;
        Self { span, path }
    }
}

/// What the table says, and the name of the daemon if the configuration gives one.
pub(crate) fn mqtt(table: MqttTable, daemon: Option<&Name>) -> Result<MqttConfig, Wrong> {
    let broker = table.url.into_inner().0.0;
    let broker = with_login(broker, table.user, table.password_file.map(Place::of))?;
    let broker = with_certificates(
        broker,
        table.ca_file.map(Place::of),
        table.client_certificate.map(Place::of),
        table.client_key.map(Place::of),
    )?;
    let broker = broker
        .with_prefix(table.prefix.0)
        .with_public_delay(table.public_delay.0.0)
        .with_commands(table.commands)
        .with_hub(table.hub)
        .with_home_assistant(table.home_assistant);
    Ok(match daemon {
        Some(name) => broker.with_daemon(name.as_str()),
        None => broker,
    })
}

fn with_login(
    mut broker: MqttConfig,
    user: Option<Spanned<String>>,
    password_file: Option<Place>,
) -> Result<MqttConfig, Wrong> {
    if let Some(user) = user {
        if user.get_ref().is_empty() {
            return Err(Wrong::new(user.span(), "the user's name is empty"));
        }
        if broker.user().is_some() {
            return Err(Wrong::new(
                user.span(),
                "`url` already contains a user: remove one of the two",
            ));
        }
        broker = broker.with_user(user.get_ref());
    }
    let Some(Place { span, path }) = password_file else {
        return Ok(broker);
    };
    if broker.has_password() {
        return Err(Wrong::new(
            span,
            "`url` already contains a password: remove one of the two",
        ));
    }
    if broker.user().is_none() {
        return Err(Wrong::new(span, "a password needs a user: `user` is missing"));
    }
    Ok(broker.with_password_file(&path))
}

fn with_certificates(
    mut broker: MqttConfig,
    ca_file: Option<Place>,
    certificate: Option<Place>,
    key: Option<Place>,
) -> Result<MqttConfig, Wrong> {
    let any = [&ca_file, &certificate, &key].into_iter().flatten().next();
    if let Some(Place { span, .. }) = any
        && !broker.is_encrypted()
    {
        let message = "certificates are only for encrypted connections: `url` must begin with mqtts://";
        return Err(Wrong::new(span.clone(), message));
    }
    if let Some(Place { path, .. }) = ca_file {
        broker = broker.with_ca_file(&path);
    }
    match (certificate, key) {
        (Some(certificate), Some(key)) => Ok(broker.with_client_certificate(&certificate.path, &key.path)),
        (Some(Place { span, .. }), None) => Err(Wrong::new(
            span,
            "a certificate needs its key: `client_key` is missing",
        )),
        (None, Some(Place { span, .. })) => Err(Wrong::new(
            span,
            "a key needs its certificate: `client_certificate` is missing",
        )),
        (None, None) => Ok(broker),
    }
}
