//! A single connection to the broker, from CONNECT to its end.
//!
//! rumqttc can reconnect on its own, but then also decides which messages to send again: it clears its queue if the
//! broker has no session, and mixes the queue with new messages if the broker has one. Therefore every connection gets
//! a new client, and only the outbox tracks acknowledgements.

use std::collections::{HashMap, VecDeque};

use rumqttc::v5::mqttbytes::v5::ConnAck;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::client::{self, ClientEvent, Dialect, Loop, MqttClient, Session};
use super::inlet::Received;
use super::lost::LostReason;
use super::message::Message;
use super::queue::Ticket;
use super::settings::MqttConfig;

/// A connection that is being opened or has been accepted.
#[derive(Debug)]
pub(crate) struct BrokerLink {
    client: MqttClient,
    events: mpsc::Receiver<Result<ClientEvent, LostReason>>,
    /// Polls rumqttc in a separate task, because rumqttc's `poll` is not cancel safe and could lose a message.
    poller: JoinHandle<()>,
    /// Messages passed to rumqttc that have no packet id yet. rumqttc keeps their order.
    unnumbered: VecDeque<Ticket>,
    /// Messages with a packet id that are not acknowledged yet, by packet id.
    in_flight: HashMap<u16, Ticket>,
    topics: Vec<String>,
    missing: MissingFeatures,
}

#[derive(Debug)]
pub(crate) enum LinkEvent {
    Connected(Limits),
    Acknowledged(Ticket),
    /// The broker rejects a message, for the given reason.
    Refused(Ticket, String),
    CommandReceived(Box<Received>),
    /// The broker rejects the subscription to commands, for the given reason.
    SubscriptionRefused(String),
    /// The connection has ended because DISCONNECT was sent.
    Closed,
    Lost(LostReason),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Maximum number of unacknowledged messages.
    pub(crate) window: usize,
    /// Maximum packet size in bytes.
    pub(crate) packet_bytes: usize,
    pub(crate) missing: MissingFeatures,
}

/// Features of MQTT that a broker does not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MissingFeatures {
    /// Retained messages.
    pub(crate) retain: bool,
    /// Acknowledged messages, which have QoS 1.
    pub(crate) acknowledgements: bool,
}

impl MissingFeatures {
    /// Adds the features in `other`. Returns whether one of them is new.
    pub(crate) fn add(&mut self, other: Self) -> bool {
        let before = *self;
        self.retain |= other.retain;
        self.acknowledgements |= other.acknowledgements;
        *self != before
    }
}

/// Packet id of rumqttc for messages of QoS 0, which have none.
const UNACKNOWLEDGED: u16 = 0;
/// Maximum number of unacknowledged messages, even if the broker allows more.
pub(crate) const MAX_WINDOW: u16 = 64;

impl BrokerLink {
    /// Starts to connect. The broker publishes `will` if the connection is lost. The connection does not use features
    /// that are `missing`.
    pub(crate) fn open(
        dialect: Dialect,
        config: &MqttConfig,
        will: &Message,
        session: Session,
        missing: MissingFeatures,
    ) -> Self {
        let room = usize::from(MAX_WINDOW) + 2;
        let (client, event_loop) = client::of(dialect, config, will, session, missing, room);
        let (sender, events) = mpsc::channel(room);
        let poller = tokio::spawn(poll(event_loop, config.clone(), sender));
        Self {
            client,
            events,
            poller,
            unnumbered: VecDeque::new(),
            in_flight: HashMap::new(),
            topics: config.subscriptions(),
            missing,
        }
    }

    /// Sends a message. Returns false if the connection is lost or about to be lost.
    #[must_use]
    pub(crate) fn publish(&mut self, ticket: Ticket, message: &Message) -> bool {
        let queued = self.client.publish(message, self.missing);
        if queued {
            self.unnumbered.push_back(ticket);
        }
        queued
    }

    /// Subscribes to commands and to requests of hubs.
    pub(crate) fn listen(&self) {
        self.client.listen(self.topics.clone());
    }

    /// Sends DISCONNECT, so that the broker does not publish the last will.
    pub(crate) fn disconnect(&self) {
        self.client.disconnect();
    }

    /// Waits for the next event. Cancel safe.
    pub(crate) async fn event(&mut self) -> LinkEvent {
        loop {
            let event = match self.events.recv().await {
                Some(Ok(event)) => event,
                Some(Err(reason)) => return LinkEvent::Lost(reason),
                None => return LinkEvent::Lost(LostReason::Stopped),
            };
            match event {
                ClientEvent::Accepted(limits) => {
                    self.missing.add(limits.missing);
                    return LinkEvent::Connected(limits);
                }
                ClientEvent::Numbered(id) => match (id, self.unnumbered.pop_front()) {
                    // The broker does not acknowledge messages of QoS 0.
                    (UNACKNOWLEDGED, Some(ticket)) => return LinkEvent::Acknowledged(ticket),
                    (id, Some(ticket)) => drop(self.in_flight.insert(id, ticket)),
                    (_, None) => {}
                },
                ClientEvent::Acknowledged(id) => {
                    if let Some(ticket) = self.in_flight.remove(&id) {
                        return LinkEvent::Acknowledged(ticket);
                    }
                }
                ClientEvent::Refused(id, reason) => {
                    if let Some(ticket) = self.in_flight.remove(&id) {
                        return LinkEvent::Refused(ticket, reason);
                    }
                }
                ClientEvent::CommandReceived(received) => return LinkEvent::CommandReceived(received),
                ClientEvent::SubscriptionRefused(reason) => return LinkEvent::SubscriptionRefused(reason),
                ClientEvent::Disconnected => return LinkEvent::Closed,
            }
        }
    }
}

impl Drop for BrokerLink {
    fn drop(&mut self) {
        self.poller.abort();
    }
}

impl From<&ConnAck> for Limits {
    fn from(ack: &ConnAck) -> Self {
        let properties = ack.properties.as_ref();
        let window = properties
            .and_then(|p| p.receive_max)
            .unwrap_or(MAX_WINDOW)
            .clamp(1, MAX_WINDOW);
        let packet_bytes = properties.and_then(|p| p.max_packet_size).unwrap_or(u32::MAX);
        Self {
            window: window.into(),
            packet_bytes: usize::try_from(packet_bytes).unwrap_or(usize::MAX),
            missing: MissingFeatures {
                retain: properties.and_then(|p| p.retain_available) == Some(0),
                acknowledgements: properties.and_then(|p| p.max_qos) == Some(0),
            },
        }
    }
}

async fn poll(
    mut event_loop: Loop,
    config: MqttConfig,
    events: mpsc::Sender<Result<ClientEvent, LostReason>>,
) {
    match credentials(&config).await {
        Ok((login, tls)) => event_loop.set_credentials(login, tls),
        Err(reason) => {
            // Sending fails only if the link was dropped.
            let _ = events.send(Err(reason)).await;
            return;
        }
    }
    let mut accepted = false;
    loop {
        let event = event_loop.next(&config, accepted).await;
        accepted |= matches!(event, Ok(ClientEvent::Accepted(_)));
        let ends = matches!(event, Err(_) | Ok(ClientEvent::Disconnected));
        if event.is_err() {
            for earlier in event_loop.before_loss(&config) {
                if events.send(Ok(earlier)).await.is_err() {
                    return;
                }
            }
        }
        if events.send(event).await.is_err() || ends {
            return;
        }
    }
}

/// Reads the password and the certificates from their files, on a thread for blocking work.
pub(crate) async fn credentials(config: &MqttConfig) -> Result<Credentials, LostReason> {
    let (login, tls) = (config.login.clone(), config.tls.clone());
    let read = tokio::task::spawn_blocking(move || {
        let login = login.map(|login| login.read()).transpose()?;
        let tls = tls.map(|tls| tls.client_config()).transpose()?;
        Ok::<_, LostReason>((login, tls))
    });
    read.await.map_err(|_| LostReason::Stopped)?
}

pub(crate) type Credentials = (Option<(String, String)>, Option<rustls::ClientConfig>);
