//! One connection to the broker, from CONNECT to its end.
//!
//! rumqttc can reconnect by itself, but what it then keeps and sends again it decides by itself too: acknowledged or
//! not, its queue is cleared when the broker has no session, and mixed with new messages when it has one. So every
//! connection gets a client of its own, and the queue alone knows what has arrived.

use std::collections::{HashMap, VecDeque};

use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::ConnectProperties;
use rumqttc::v5::mqttbytes::v5::{
    ConnAck, LastWill, LastWillProperties, Packet, PubAckReason, PublishProperties, SubscribeReasonCode,
};
use rumqttc::v5::{AsyncClient, Event, EventLoop, MqttOptions};
use rumqttc::{Outgoing, Transport};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::config::MqttConfig;
use super::inlet::{self, Received};
use super::lost::LostReason;
use super::message::{Delivery, MediaType, Message};
use super::queue::Ticket;
use super::topics::Prefix;

/// A connection that is being made, or stands.
#[derive(Debug)]
pub(crate) struct Link {
    client: AsyncClient,
    events: mpsc::Receiver<Result<Event, LostReason>>,
    /// Polls rumqttc in a task of its own: its `poll` may lose a message when it is dropped half way.
    poller: JoinHandle<()>,
    /// Handed to rumqttc and not yet given a packet id; it keeps the order.
    unnumbered: VecDeque<Ticket>,
    /// By packet id.
    under_way: HashMap<u16, Ticket>,
    prefix: Prefix,
}

/// What happens on a connection.
#[derive(Debug)]
pub(crate) enum LinkEvent {
    /// The broker accepted the connection.
    Connected(Limits),
    /// The broker has a message.
    Acknowledged(Ticket),
    /// The broker refuses a message.
    Refused(Ticket, PubAckReason),
    /// Somebody sent a command.
    Commanded(Box<Received>),
    /// The broker does not let kiebitz have commands.
    Unheard(SubscribeReasonCode),
    /// DISCONNECT is sent: an orderly end.
    Closed,
    /// The connection could not be made, or is lost.
    Lost(LostReason),
}

/// What the broker allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The most messages that may be unacknowledged.
    pub(crate) window: usize,
    /// The most bytes that a packet may have.
    pub(crate) packet_bytes: usize,
}

/// The most messages that are sent ahead of their acknowledgements.
pub(crate) const MAX_WINDOW: u16 = 64;
/// The most bytes of a packet: a whole game as JSON has some 100 kB, and nothing is larger.
const MAX_PACKET_BYTES: u32 = 1 << 20;
/// How long connecting may take, in seconds.
const CONNECT_TIMEOUT_S: u64 = 5;

impl Link {
    /// Begins to connect; `will` is what the broker publishes when the connection is lost.
    pub(crate) fn open(config: &MqttConfig, will: &Message) -> Self {
        let room = usize::from(MAX_WINDOW) + 2;
        let (client, event_loop) = AsyncClient::new(options(config, will), room);
        let (sender, events) = mpsc::channel(room);
        let poller = tokio::spawn(poll(event_loop, config.clone(), sender));
        Self {
            client,
            events,
            poller,
            unnumbered: VecDeque::new(),
            under_way: HashMap::new(),
            prefix: config.prefix.clone(),
        }
    }

    /// Sends a message. Returns false when the client does not take it: the connection is lost, or about to be.
    #[must_use]
    pub(crate) fn publish(&mut self, ticket: Ticket, message: &Message) -> bool {
        let properties = PublishProperties {
            payload_format_indicator: Some(UTF_8),
            content_type: Some(message.media_type.as_str().to_owned()),
            user_properties: message.kept.then(Vec::new).unwrap_or_else(not_kept),
            correlation_data: match &message.delivery {
                Delivery::Answer { correlation } => correlation.clone(),
                Delivery::Event { .. } | Delivery::Retained => None,
            },
            ..PublishProperties::default()
        };
        let (topic, payload) = (&*message.topic, message.payload.clone());
        let retain = message.is_retained();
        let taken = self
            .client
            .try_publish_with_properties(topic, QoS::AtLeastOnce, retain, payload, properties)
            .is_ok();
        if taken {
            self.unnumbered.push_back(ticket);
        }
        taken
    }

    /// Asks the broker for commands. What it cannot be asked for now is lost with the connection.
    pub(crate) fn listen(&self) {
        let _ = self.client.try_subscribe_many(inlet::filters(&self.prefix));
    }

    /// Sends DISCONNECT, which keeps the broker from publishing the last will.
    pub(crate) fn disconnect(&self) {
        // A client that does not take it has lost the connection and reports that.
        let _ = self.client.try_disconnect();
    }

    /// What happens next. May be dropped and called again.
    pub(crate) async fn event(&mut self) -> LinkEvent {
        loop {
            let event = match self.events.recv().await {
                Some(Ok(event)) => event,
                Some(Err(reason)) => return LinkEvent::Lost(reason),
                None => return LinkEvent::Lost(LostReason::Stopped),
            };
            match event {
                Event::Incoming(Packet::ConnAck(ack)) => return LinkEvent::Connected(Limits::from(&ack)),
                Event::Outgoing(Outgoing::Publish(id)) => {
                    if let Some(ticket) = self.unnumbered.pop_front() {
                        self.under_way.insert(id, ticket);
                    }
                }
                Event::Incoming(Packet::PubAck(ack)) => {
                    let Some(ticket) = self.under_way.remove(&ack.pkid) else {
                        continue;
                    };
                    return match ack.reason {
                        PubAckReason::Success | PubAckReason::NoMatchingSubscribers => {
                            LinkEvent::Acknowledged(ticket)
                        }
                        reason => LinkEvent::Refused(ticket, reason),
                    };
                }
                Event::Incoming(Packet::Publish(publish)) => {
                    if let Some(received) = Received::read(&self.prefix, &publish) {
                        return LinkEvent::Commanded(Box::new(received));
                    }
                }
                Event::Incoming(Packet::SubAck(ack)) => {
                    let granted =
                        |code: &SubscribeReasonCode| matches!(code, SubscribeReasonCode::Success(_));
                    if let Some(refused) = ack.return_codes.into_iter().find(|code| !granted(code)) {
                        return LinkEvent::Unheard(refused);
                    }
                }
                Event::Outgoing(Outgoing::Disconnect) => return LinkEvent::Closed,
                _ => {}
            }
        }
    }
}

/// An event that is published before the journal has it says so in this user property.
fn not_kept() -> Vec<(String, String)> {
    vec![("kept".to_owned(), "false".to_owned())]
}

impl Drop for Link {
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
        }
    }
}

fn options(config: &MqttConfig, will: &Message) -> MqttOptions {
    let mut options = MqttOptions::new(config.client_id(), &config.host, config.port);
    options.set_keep_alive(config.keep_alive);
    options.set_clean_start(true);
    options.set_connection_timeout(CONNECT_TIMEOUT_S);
    options.set_outgoing_inflight_upper_limit(MAX_WINDOW);
    let mut properties = ConnectProperties::new();
    properties.max_packet_size = Some(MAX_PACKET_BYTES);
    options.set_connect_properties(properties);
    // Moves are small and must not wait for company.
    let mut network = options.network_options();
    network.set_tcp_nodelay(true);
    options.set_network_options(network);
    let properties = LastWillProperties {
        delay_interval: None,
        payload_format_indicator: Some(UTF_8),
        message_expiry_interval: None,
        content_type: Some(MediaType::Json.as_str().to_owned()),
        response_topic: None,
        correlation_data: None,
        user_properties: Vec::new(),
    };
    let payload = will.payload.to_vec();
    options.set_last_will(LastWill::new(
        &*will.topic,
        payload,
        QoS::AtLeastOnce,
        true,
        Some(properties),
    ));
    options
}

async fn poll(
    mut event_loop: EventLoop,
    config: MqttConfig,
    events: mpsc::Sender<Result<Event, LostReason>>,
) {
    if let Err(reason) = unlock(&mut event_loop.options, &config).await {
        // Nobody waits for it when the link is dropped.
        let _ = events.send(Err(reason)).await;
        return;
    }
    let mut stands = false;
    loop {
        let event = event_loop.poll().await;
        stands |= matches!(event, Ok(Event::Incoming(Packet::ConnAck(_))));
        let event = event.map_err(|error| LostReason::of(error, &config, stands));
        let ends = matches!(event, Err(_) | Ok(Event::Outgoing(Outgoing::Disconnect)));
        if events.send(event).await.is_err() || ends {
            return;
        }
    }
}

/// Sets what lets kiebitz in: password and certificates, from their files.
async fn unlock(options: &mut MqttOptions, config: &MqttConfig) -> Result<(), LostReason> {
    let (login, tls) = (config.login.clone(), config.tls.clone());
    // A disk may be slow.
    let read = tokio::task::spawn_blocking(move || {
        let login = login.map(|login| login.read()).transpose()?;
        let tls = tls.map(|tls| tls.client_config()).transpose()?;
        Ok::<_, LostReason>((login, tls))
    });
    let (login, tls) = read.await.map_err(|_| LostReason::Stopped)??;
    if let Some((user, password)) = login {
        options.set_credentials(user, password);
    }
    if let Some(tls) = tls {
        options.set_transport(Transport::tls_with_config(tls.into()));
    }
    Ok(())
}

/// The payload is text.
const UTF_8: u8 = 1;
