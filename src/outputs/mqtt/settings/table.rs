//! The `[mqtt]` table: address, login and encryption.

use core::ops::Range;
use core::str::FromStr;
use core::time::Duration;
use std::path::PathBuf;

use serde::Deserialize;
use toml::Spanned;

use super::MqttConfig;
use crate::outputs::mqtt::client::Dialect;
use crate::outputs::mqtt::{Prefix, UrlError};
use crate::settings::{Absolute, Delay, Name, SpannedError, TextValue};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MqttTable {
    url: Spanned<TextValue<BrokerConfig>>,
    user: Option<Spanned<String>>,
    password_file: Option<Spanned<TextValue<Absolute>>>,
    ca_file: Option<Spanned<TextValue<Absolute>>>,
    client_certificate: Option<Spanned<TextValue<Absolute>>>,
    client_key: Option<Spanned<TextValue<Absolute>>>,
    protocol: Option<TextValue<Dialect>>,
    #[serde(default = "live")]
    prefix: TextValue<Prefix>,
    #[serde(default = "none")]
    public_delay: TextValue<Delay>,
    #[serde(default)]
    commands: bool,
    #[serde(default)]
    home_assistant: bool,
    #[serde(default)]
    hub: bool,
}

fn live() -> TextValue<Prefix> {
    TextValue(Prefix::live())
}

const fn none() -> TextValue<Delay> {
    TextValue(Delay(Duration::ZERO))
}

struct BrokerConfig(MqttConfig);

impl FromStr for BrokerConfig {
    type Err = UrlError;

    fn from_str(url: &str) -> Result<Self, UrlError> {
        MqttConfig::from_url(url).map(Self)
    }
}

struct PathValue {
    span: Range<usize>,
    path: PathBuf,
}

impl PathValue {
    fn of(path: Spanned<TextValue<Absolute>>) -> Self {
        let span = path.span();
        let path = path.into_inner().0.0;
        Self { span, path }
    }
}

/// Combines the table with the daemon's name, if configured.
pub(crate) fn mqtt(table: MqttTable, daemon: Option<&Name>) -> Result<MqttConfig, SpannedError> {
    let broker = table.url.into_inner().0.0;
    let broker = with_login(broker, table.user, table.password_file.map(PathValue::of))?;
    let broker = with_certificates(
        broker,
        table.ca_file.map(PathValue::of),
        table.client_certificate.map(PathValue::of),
        table.client_key.map(PathValue::of),
    )?;
    let broker = broker
        .with_prefix(table.prefix.0)
        .with_public_delay(table.public_delay.0.0)
        .with_protocol(table.protocol.map(|protocol| protocol.0))
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
    password_file: Option<PathValue>,
) -> Result<MqttConfig, SpannedError> {
    if let Some(user) = user {
        if user.get_ref().is_empty() {
            return Err(SpannedError::new(user.span(), "the user's name is empty"));
        }
        if broker.user().is_some() {
            return Err(SpannedError::new(
                user.span(),
                "`url` already contains a user: remove one of the two",
            ));
        }
        broker = broker.with_user(user.get_ref());
    }
    let Some(PathValue { span, path }) = password_file else {
        return Ok(broker);
    };
    if broker.has_password() {
        return Err(SpannedError::new(
            span,
            "`url` already contains a password: remove one of the two",
        ));
    }
    if broker.user().is_none() {
        return Err(SpannedError::new(
            span,
            "a password needs a user: `user` is missing",
        ));
    }
    Ok(broker.with_password_file(&path))
}

fn with_certificates(
    mut broker: MqttConfig,
    ca_file: Option<PathValue>,
    certificate: Option<PathValue>,
    key: Option<PathValue>,
) -> Result<MqttConfig, SpannedError> {
    let any = [&ca_file, &certificate, &key].into_iter().flatten().next();
    if let Some(PathValue { span, .. }) = any
        && !broker.is_encrypted()
    {
        let message = "certificates are only for encrypted connections: `url` must begin with mqtts://";
        return Err(SpannedError::new(span.clone(), message));
    }
    if let Some(PathValue { path, .. }) = ca_file {
        broker = broker.with_ca_file(&path);
    }
    match (certificate, key) {
        (Some(certificate), Some(key)) => Ok(broker.with_client_certificate(&certificate.path, &key.path)),
        (Some(PathValue { span, .. }), None) => Err(SpannedError::new(
            span,
            "a certificate needs its key: `client_key` is missing",
        )),
        (None, Some(PathValue { span, .. })) => Err(SpannedError::new(
            span,
            "a key needs its certificate: `client_certificate` is missing",
        )),
        (None, None) => Ok(broker),
    }
}
