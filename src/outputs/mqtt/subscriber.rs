//! Listens to a broker and sends it single messages: for what is not published as the daemon publishes.

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

/// A connection that is made again whenever it is lost.
#[derive(Debug)]
pub(crate) struct Subscriber {
    heard: mpsc::Receiver<Heard>,
    asks: mpsc::Sender<OutgoingMessage>,
}

/// A message to be sent.
#[derive(Debug)]
struct OutgoingMessage {
    topic: String,
    text: String,
    /// `None`: it may come at any time.
    expires: Option<Instant>,
}

/// What happens on it.
#[derive(Debug)]
pub(crate) enum Heard {
    /// It stands, and what is retained comes next. Something may have been missed.
    Connected,
    /// It is lost, and made again.
    Lost(LostReason),
    /// A message.
    Message {
        /// Its topic.
        topic: String,
        /// Its content.
        payload: Bytes,
        /// The broker had it already, perhaps for long.
        retained: bool,
    },
}

/// So many messages wait to be read; the broker waits as well then.
const ROOM: usize = 1024;
/// So many wait to be sent. More are dropped, and asked for again.
const ASKS: usize = 1024;
const MAX_PACKET_BYTES: u32 = 4 << 20;
const KEEP_ALIVE: Duration = Duration::from_secs(15);
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

impl Subscriber {
    /// Begins to listen to these topics, in a task that ends with this. `name` tells it from others of this program.
    /// Needs a tokio runtime around it.
    pub(crate) fn start(config: MqttConfig, name: &str, topics: Vec<String>) -> Self {
        let (sender, heard) = mpsc::channel(ROOM);
        let (asks, asked) = mpsc::channel(ASKS);
        let id = client_id::of(&config.prefix, name, ClientRole::Process(std::process::id()));
        tokio::spawn(listen(config, id, topics, sender, asked));
        Self { heard, asks }
    }

    /// What happens next. May be dropped and called again.
    pub(crate) async fn next(&mut self) -> Heard {
        match self.heard.recv().await {
            Some(heard) => heard,
            // The task ends with this alone.
            None => core::future::pending().await,
        }
    }

    /// Sends a message. One for which there is no room is dropped.
    pub(crate) fn ask(&self, topic: String, text: String) {
        let _ = self.asks.try_send(OutgoingMessage {
            topic,
            text,
            expires: None,
        });
    }

    /// The same with a message that is worth nothing after that time: it is not sent any more then, nor handed on by a
    /// broker that speaks MQTT 5. Returns whether there was room for it.
    pub(crate) fn ask_within(&self, topic: String, text: String, within: Duration) -> bool {
        let expires = Some(Instant::now() + within);
        self.asks
            .try_send(OutgoingMessage { topic, text, expires })
            .is_ok()
    }
}

/// Connects again and again, until nobody listens.
async fn listen(
    config: MqttConfig,
    id: String,
    topics: Vec<String>,
    heard: mpsc::Sender<Heard>,
    mut asked: mpsc::Receiver<OutgoingMessage>,
) {
    let mut pause = FIRST_PAUSE;
    while !heard.is_closed() {
        let (stood, reason) = connection(&config, &id, &topics, &heard, &mut asked).await;
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

/// One connection to its end: whether it stood, and why it ended; no reason: nobody listens any more.
async fn connection(
    config: &MqttConfig,
    id: &str,
    topics: &[String],
    heard: &mpsc::Sender<Heard>,
    asked: &mut mpsc::Receiver<OutgoingMessage>,
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
    let mut stands = false;
    loop {
        let event = tokio::select! {
            event = events.poll() => event,
            Some(ask) = asked.recv(), if stands => {
                send(&client, ask);
                continue;
            }
        };
        let said = match event {
            Ok(Event::Incoming(Packet::ConnAck(_))) => {
                stands = true;
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
            Err(error) => return (stands, Some(LostReason::of(error, config, stands))),
        };
        if heard.send(said).await.is_err() {
            return (stands, None);
        }
    }
}

/// Sends a message. What does not get away is asked for again.
fn send(client: &AsyncClient, ask: OutgoingMessage) {
    let OutgoingMessage { topic, text, expires } = ask;
    let Some(expires) = expires else {
        let _ = client.try_publish(topic, QoS::AtLeastOnce, false, text);
        return;
    };
    // Brokers count whole seconds. One more is better than none.
    let left = expires.saturating_duration_since(Instant::now());
    if let Ok(seconds @ 1..) = u32::try_from(left.as_millis().div_ceil(1000)) {
        let properties = PublishProperties {
            message_expiry_interval: Some(seconds),
            ..PublishProperties::default()
        };
        let _ = client.try_publish_with_properties(topic, QoS::AtLeastOnce, false, text, properties);
    }
}
