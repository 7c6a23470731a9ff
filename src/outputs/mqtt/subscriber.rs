//! A connection for receiving and sending single messages, independent of the daemon's outbox.

use core::time::Duration;

use bytes::Bytes;
use rumqttc::Transport;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{ConnectProperties, Packet, PublishProperties};
use rumqttc::v5::{AsyncClient, Event, MqttOptions};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::client_id::{self, ClientRole};
use super::link;
use super::lost::LostReason;
use super::settings::MqttConfig;

/// A connection that is restored whenever it is lost.
#[derive(Debug)]
pub(crate) struct Subscriber {
    heard: mpsc::Receiver<Heard>,
    outgoing: mpsc::Sender<OutgoingMessage>,
}

#[derive(Debug)]
struct OutgoingMessage {
    topic: String,
    text: String,
    /// Time at which the message is dropped; `None` for never.
    expires: Option<Instant>,
}

#[derive(Debug)]
pub(crate) enum Heard {
    /// The broker has accepted the connection, and retained messages follow. Messages may have been missed.
    Connected,
    Lost(LostReason),
    Message {
        topic: String,
        payload: Bytes,
        /// The broker had retained the message, possibly for a long time.
        retained: bool,
    },
}

/// Capacity of the queue of received messages. The broker waits while it is full.
const ROOM: usize = 1024;
/// Capacity of the queue of outgoing messages. Further messages are dropped.
const MAX_OUTGOING: usize = 1024;
const MAX_PACKET_BYTES: u32 = 4 << 20;
const KEEP_ALIVE: Duration = Duration::from_secs(15);
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

impl Subscriber {
    /// Subscribes to `topics` in a task that ends when the subscriber is dropped. `name` is part of the client id and
    /// must be unique in this process. Must be called within a tokio runtime.
    pub(crate) fn start(config: MqttConfig, name: &str, topics: Vec<String>) -> Self {
        let (sender, heard) = mpsc::channel(ROOM);
        let (outgoing, to_send) = mpsc::channel(MAX_OUTGOING);
        let id = client_id::of(&config.prefix, name, ClientRole::Process(std::process::id()));
        tokio::spawn(listen(config, id, topics, sender, to_send));
        Self { heard, outgoing }
    }

    /// Waits for the next event. Cancel safe.
    pub(crate) async fn next(&mut self) -> Heard {
        match self.heard.recv().await {
            Some(heard) => heard,
            // The task ends only when the subscriber is dropped.
            None => core::future::pending().await,
        }
    }

    /// Sends a message. Drops it if the queue is full, so the caller must expect losses.
    pub(crate) fn ask(&self, topic: String, text: String) {
        let _ = self.outgoing.try_send(OutgoingMessage {
            topic,
            text,
            expires: None,
        });
    }

    /// Sends a message that expires after `within`. It is then neither sent nor, by a broker that supports MQTT 5,
    /// forwarded. Returns false if the queue is full.
    pub(crate) fn ask_within(&self, topic: String, text: String, within: Duration) -> bool {
        let expires = Some(Instant::now() + within);
        self.outgoing
            .try_send(OutgoingMessage { topic, text, expires })
            .is_ok()
    }
}

/// Connects, and reconnects after each loss, until the subscriber is dropped.
async fn listen(
    config: MqttConfig,
    id: String,
    topics: Vec<String>,
    heard: mpsc::Sender<Heard>,
    mut to_send: mpsc::Receiver<OutgoingMessage>,
) {
    let mut pause = FIRST_PAUSE;
    while !heard.is_closed() {
        let (stood, reason) = connection(&config, &id, &topics, &heard, &mut to_send).await;
        pause = if stood {
            FIRST_PAUSE
        } else {
            (pause * 2).min(LONGEST_PAUSE)
        };
        if let Some(reason) = reason
            && heard.send(Heard::Lost(reason)).await.is_err()
        {
            return;
        }
        tokio::time::sleep(pause).await;
    }
}

/// Runs one connection to its end. Returns whether it was accepted, and why it ended; `None` if the subscriber was
/// dropped.
async fn connection(
    config: &MqttConfig,
    id: &str,
    topics: &[String],
    heard: &mpsc::Sender<Heard>,
    to_send: &mut mpsc::Receiver<OutgoingMessage>,
) -> (bool, Option<LostReason>) {
    let (login, tls) = match link::credentials(config).await {
        Ok(credentials) => credentials,
        Err(reason) => return (false, Some(reason)),
    };
    let mut options = MqttOptions::new(id, &config.host, config.port);
    options.set_keep_alive(KEEP_ALIVE);
    let mut properties = ConnectProperties::new();
    properties.max_packet_size = Some(MAX_PACKET_BYTES);
    options.set_connect_properties(properties);
    if let Some((user, password)) = login {
        options.set_credentials(user, password);
    }
    if let Some(tls) = tls {
        options.set_transport(Transport::tls_with_config(tls.into()));
    }
    let (client, mut events) = AsyncClient::new(options, ROOM);
    let mut accepted = false;
    loop {
        let event = tokio::select! {
            event = events.poll() => event,
            Some(ask) = to_send.recv(), if accepted => {
                send(&client, ask);
                continue;
            }
        };
        let incoming = match event {
            Ok(Event::Incoming(Packet::ConnAck(_))) => {
                accepted = true;
                let filters = topics
                    .iter()
                    .map(|topic| rumqttc::v5::mqttbytes::v5::Filter::new(topic, QoS::AtLeastOnce));
                if !topics.is_empty() {
                    let _ = client.try_subscribe_many(filters);
                }
                Heard::Connected
            }
            Ok(Event::Incoming(Packet::Publish(publish))) => Heard::Message {
                topic: String::from_utf8_lossy(&publish.topic).into_owned(),
                payload: publish.payload,
                retained: publish.retain,
            },
            Ok(_) => continue,
            Err(error) => return (accepted, Some(LostReason::of(error, config, accepted))),
        };
        if heard.send(incoming).await.is_err() {
            return (accepted, None);
        }
    }
}

/// Sends a message. Ignores failures, since the connection is then about to be lost.
fn send(client: &AsyncClient, message: OutgoingMessage) {
    let OutgoingMessage { topic, text, expires } = message;
    let Some(expires) = expires else {
        let _ = client.try_publish(topic, QoS::AtLeastOnce, false, text);
        return;
    };
    // MQTT counts whole seconds, so round up.
    let remaining = expires.saturating_duration_since(Instant::now());
    if let Ok(seconds @ 1..) = u32::try_from(remaining.as_millis().div_ceil(1000)) {
        let properties = PublishProperties {
            message_expiry_interval: Some(seconds),
            ..PublishProperties::default()
        };
        let _ = client.try_publish_with_properties(topic, QoS::AtLeastOnce, false, text, properties);
    }
}
