//! Tests whether the broker accepts messages, by publishing one on a separate connection.

use std::sync::Arc;

use tokio::sync::Mutex;

use super::client::{Dialect, Session};
use super::link::{BrokerLink, LinkEvent, MissingFeatures};
use super::lost::LostReason;
use super::message::Message;
use super::queue::Ticket;
use super::settings::MqttConfig;
#[cfg(target_os = "linux")]
use crate::outputs::shared::{reports::BROKER, trial::Trial};

enum TrialFailure {
    Lost(LostReason),
    Refused(String),
}

/// Allows one connection at a time: two connections with the same client id would end each other.
static TURN: Mutex<()> = Mutex::const_new(());

const TICKET: Ticket = 0;
const CONTENT: &str = "{\"test\":true}";

#[cfg(target_os = "linux")]
impl MqttConfig {
    pub(in crate::outputs) fn trial(&self) -> Trial {
        let config = self.clone();
        Trial::new(BROKER.to_owned(), move || {
            let config = config.clone();
            async move { try_out(&config).await.map(|()| String::new()) }
        })
    }
}

/// Publishes a test message to the daemon's own topic. Fails with a message for people.
async fn try_out(config: &MqttConfig) -> Result<(), String> {
    let topic = config.prefix.daemon_test(&config.daemon);
    let topic = topic.map_err(|error| error.to_string())?;
    publish_once(config, &topic, CONTENT.to_owned()).await
}

/// Publishes a message on a separate connection and waits until the broker has acknowledged it. There is no timeout;
/// the caller sets one.
///
/// # Errors
///
/// Fails with a message for people.
pub(in crate::outputs) async fn publish_once(
    config: &MqttConfig,
    topic: &str,
    content: String,
) -> Result<(), String> {
    let _turn = TURN.lock().await;
    // A separate client id keeps the broker from ending the daemon's connection.
    let config = config.clone().beside_the_daemon();
    let topic: Arc<str> = topic.into();
    let message = Message::response(&topic, content);
    let mut dialect = config.protocol.unwrap_or(Dialect::Five);
    let mut missing = MissingFeatures::default();
    let result = loop {
        match attempt(dialect, &config, &message, missing).await {
            Err(TrialFailure::Lost(reason))
                if config.protocol.is_none() && dialect == Dialect::Five && reason.may_lack_mqtt5() =>
            {
                dialect = Dialect::Four;
            }
            Err(TrialFailure::Lost(reason)) if missing.add(reason.missing_features()) => {}
            result => break result,
        }
    };
    result.map_err(|failure| match failure {
        TrialFailure::Lost(reason) => format!(
            "no connection to the MQTT broker at {}: {reason}",
            config.broker()
        ),
        TrialFailure::Refused(reason) => format!("the MQTT broker rejects a message to {topic}: {reason}"),
    })
}

async fn attempt(
    dialect: Dialect,
    config: &MqttConfig,
    message: &Message,
    missing: MissingFeatures,
) -> Result<(), TrialFailure> {
    let mut link = BrokerLink::open(dialect, config, message, Session::Fresh, missing);
    loop {
        match link.event().await {
            LinkEvent::Connected(_) => {
                if !link.publish(TICKET, message) {
                    return Err(TrialFailure::Lost(LostReason::Stopped));
                }
            }
            LinkEvent::Acknowledged(_) => link.disconnect(),
            LinkEvent::Refused(_, reason) => {
                link.disconnect();
                return Err(TrialFailure::Refused(reason));
            }
            LinkEvent::Closed => return Ok(()),
            LinkEvent::Lost(reason) => return Err(TrialFailure::Lost(reason)),
            LinkEvent::CommandReceived(_) | LinkEvent::SubscriptionRefused(_) => {}
        }
    }
}
