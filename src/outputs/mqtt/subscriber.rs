//! A connection that receives and sends single messages, independent of the daemon's outbox.

use core::time::Duration;

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::client::{self, Dialect, MqttClient};
use super::client_id::{self, ClientRole};
use super::link;
use super::lost::LostReason;
use super::settings::MqttConfig;

/// Handle of a connection that is restored whenever it is lost.
#[derive(Debug)]
pub(crate) struct Subscriber {
    received: mpsc::Receiver<SubscriberEvent>,
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
pub(crate) enum SubscriberEvent {
    /// The broker has accepted the connection and will send retained messages. Earlier messages may have been missed.
    Connected,
    Lost(LostReason),
    Message {
        topic: String,
        payload: Bytes,
        /// Whether the broker had retained the message, possibly for a long time.
        retained: bool,
    },
}

/// Capacity of the queue of received messages. The broker waits while it is full.
const ROOM: usize = 1024;
/// Capacity of the queue of outgoing messages. Further messages are dropped.
const MAX_OUTGOING: usize = 1024;
const MAX_PACKET_BYTES: u32 = 4 << 20;
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);
/// Minimum duration of a connection that resets the pause. A shorter one may have been taken over by a client with the
/// same id, and the two must not take turns without a pause.
const STABLE: Duration = Duration::from_secs(5);

impl Subscriber {
    /// Subscribes to `topics` in a task that ends when the subscriber is dropped. `name` is part of the client id and
    /// must be unique in this process. Must be called within a tokio runtime.
    pub(crate) fn start(config: MqttConfig, name: &str, topics: Vec<String>) -> Self {
        let (sender, received) = mpsc::channel(ROOM);
        let (outgoing, to_send) = mpsc::channel(MAX_OUTGOING);
        let id = client_id::of(&config.prefix, name, ClientRole::Process(std::process::id()));
        tokio::spawn(listen(config, id, topics, sender, to_send));
        Self { received, outgoing }
    }

    /// Waits for the next event. Cancel safe.
    pub(crate) async fn next(&mut self) -> SubscriberEvent {
        match self.received.recv().await {
            Some(received) => received,
            // The task ends only when the subscriber is dropped.
            None => core::future::pending().await,
        }
    }

    /// Sends a message. Drops it if the queue is full, so the caller must expect losses.
    pub(crate) fn send(&self, topic: String, text: String) {
        let _ = self.outgoing.try_send(OutgoingMessage {
            topic,
            text,
            expires: None,
        });
    }

    /// Sends a message that expires after `within`. An expired message is dropped before it is sent, or by a broker
    /// that supports MQTT 5. Returns false if the queue is full.
    pub(crate) fn send_within(&self, topic: String, text: String, within: Duration) -> bool {
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
    sender: mpsc::Sender<SubscriberEvent>,
    mut outgoing: mpsc::Receiver<OutgoingMessage>,
) {
    let mut pause = FIRST_PAUSE;
    let mut dialect = config.protocol.unwrap_or(Dialect::Five);
    while !sender.is_closed() {
        let (accepted, reason) = connection(dialect, &config, &id, &topics, &sender, &mut outgoing).await;
        if let Some(other) = other_dialect(dialect, &config, reason.as_ref()) {
            dialect = other;
            if dialect == Dialect::Four {
                continue;
            }
        }
        pause = next_pause(
            pause,
            accepted.map(|accepted| accepted.elapsed()),
            reason.as_ref(),
        );
        if let Some(reason) = reason
            && sender.send(SubscriberEvent::Lost(reason)).await.is_err()
        {
            return;
        }
        tokio::time::sleep(pause).await;
    }
}

/// Returns the pause before the next attempt. `lasted` is the duration of the last connection; `None` if the broker did
/// not accept it.
fn next_pause(pause: Duration, lasted: Option<Duration>, reason: Option<&LostReason>) -> Duration {
    if reason.is_some_and(LostReason::must_wait) {
        LONGEST_PAUSE
    } else if lasted.is_some_and(|lasted| lasted >= STABLE) {
        FIRST_PAUSE
    } else {
        (pause * 2).min(LONGEST_PAUSE)
    }
}

/// Returns the version of MQTT for the next attempt if it differs: 3.1.1 if the broker possibly lacks MQTT 5, and after
/// that MQTT 5 again, since the broker may have been replaced or upgraded.
fn other_dialect(dialect: Dialect, config: &MqttConfig, reason: Option<&LostReason>) -> Option<Dialect> {
    match dialect {
        _ if config.protocol.is_some() => None,
        Dialect::Five => reason?.may_lack_mqtt5().then_some(Dialect::Four),
        Dialect::Four => Some(Dialect::Five),
    }
}

/// Runs one connection to its end. Returns the time at which the broker accepted it, and why it ended: `None` if the
/// subscriber was dropped.
async fn connection(
    dialect: Dialect,
    config: &MqttConfig,
    id: &str,
    topics: &[String],
    sender: &mpsc::Sender<SubscriberEvent>,
    outgoing: &mut mpsc::Receiver<OutgoingMessage>,
) -> (Option<Instant>, Option<LostReason>) {
    let (login, tls) = match link::credentials(config).await {
        Ok(credentials) => credentials,
        Err(reason) => return (None, Some(reason)),
    };
    let (client, mut events) = client::for_subscriber(dialect, config, id, MAX_PACKET_BYTES, ROOM);
    events.set_credentials(login, tls);
    let (accept, acceptance) = oneshot::channel();
    let receive = async {
        let (mut accept, mut accepted) = (Some(accept), None);
        loop {
            let incoming = match events.next_message(config, accepted.is_some()).await {
                Ok(None) => {
                    accepted = Some(Instant::now());
                    accept.take().map(|accept| accept.send(()));
                    if !topics.is_empty() {
                        client.subscribe(topics.to_vec());
                    }
                    SubscriberEvent::Connected
                }
                Ok(Some((topic, payload, retained))) => SubscriberEvent::Message {
                    topic,
                    payload,
                    retained,
                },
                Err(reason) => return (accepted, Some(reason)),
            };
            if sender.send(incoming).await.is_err() {
                return (accepted, None);
            }
        }
    };
    let send = async {
        if acceptance.await.is_ok() {
            while let Some(message) = outgoing.recv().await {
                send(&client, message);
            }
        }
        core::future::pending().await
    };
    // rumqttc's `poll` is not cancel safe, so it must not be restarted for each message to send.
    tokio::select! {
        ended = receive => ended,
        ended = send => ended,
    }
}

fn send(client: &MqttClient, message: OutgoingMessage) {
    let OutgoingMessage { topic, text, expires } = message;
    let Some(expires) = expires else {
        return client.send(topic, text, None);
    };
    // MQTT expects whole seconds: round up.
    let remaining = expires.saturating_duration_since(Instant::now());
    if let Ok(seconds @ 1..) = u32::try_from(remaining.as_millis().div_ceil(1000)) {
        client.send(topic, text, Some(seconds));
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;
    use tokio::net::TcpListener;

    use super::*;

    /// Returns the protocol levels of the first attempts to connect. The broker closes each connection after the first
    /// message, as brokers may do on an unsupported version.
    async fn levels<const N: usize>(protocol: Option<Dialect>) -> [u8; N] {
        let broker = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("mqtt://{}", broker.local_addr().expect("an address"));
        let config = MqttConfig::from_url(&url).expect("a URL").with_protocol(protocol);
        let _subscriber = Subscriber::start(config, "hub", vec!["kiebitz/#".to_owned()]);
        let mut levels = [0; N];
        for level in &mut levels {
            let (mut stream, _) = broker.accept().await.expect("a connection");
            // Packet type, length, and the name "MQTT" with its length; then the level.
            let mut begin = [0; 9];
            stream.read_exact(&mut begin).await.expect("a CONNECT");
            assert_eq!(&begin[4..8], b"MQTT");
            *level = begin[8];
        }
        levels
    }

    #[test]
    fn the_pause_grows_while_connections_are_lost_at_once() {
        let closed = Some(&LostReason::Closed);
        let mut pause = FIRST_PAUSE;
        for _ in 0..10 {
            let next = next_pause(pause, Some(Duration::from_millis(100)), closed);
            assert!(next > pause || next == LONGEST_PAUSE, "{next:?}");
            pause = next;
        }
        assert_eq!(pause, LONGEST_PAUSE);
        assert_eq!(next_pause(pause, Some(STABLE), closed), FIRST_PAUSE);
        let taken_over = LostReason::TakenOver {
            client_id: "kiebitz-hub".to_owned(),
        };
        assert_eq!(
            next_pause(FIRST_PAUSE, Some(STABLE), Some(&taken_over)),
            LONGEST_PAUSE
        );
    }

    #[tokio::test]
    async fn the_configured_version_is_used() {
        assert_eq!(levels(Some(Dialect::Four)).await, [4, 4]);
        assert_eq!(levels(Some(Dialect::Five)).await, [5, 5]);
    }

    #[tokio::test]
    async fn a_broker_that_closes_mqtt_5_is_tried_with_the_older_version_in_turn() {
        assert_eq!(levels(None).await, [5, 4, 5]);
    }
}
