//! Wraps rumqttc's clients for MQTT 5 and 3.1.1 in one interface. Brokers that support only 3.1.1 get all topics, but
//! without content types, user properties and response topics.

use core::fmt;
use core::str::FromStr;

use bytes::Bytes;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5 as five;
use rumqttc::v5::{self, Event};
use rumqttc::{self as four, Outgoing, Transport};

use super::inlet::{self, Received};
use super::link::{Limits, MAX_WINDOW, MissingFeatures};
use super::lost::LostReason;
use super::message::{Delivery, MediaType, Message};
use super::settings::MqttConfig;
use super::topics::Prefix;
use super::url::without_brackets;

/// A version of MQTT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Five,
    /// MQTT 3.1.1, whose protocol level is 4.
    Four,
}

impl FromStr for Dialect {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "5" => Ok(Self::Five),
            "3.1.1" => Ok(Self::Four),
            _ => Err("expected \"5\" or \"3.1.1\""),
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Five => "5",
            Self::Four => "3.1.1",
        })
    }
}

#[derive(Debug)]
pub(super) enum MqttClient {
    Five(v5::AsyncClient),
    Four(four::AsyncClient),
}

/// rumqttc's event loop, which opens the connection and drives it.
pub(super) enum Loop {
    Five(Box<v5::EventLoop>),
    Four(Box<four::EventLoop>),
}

#[derive(Debug)]
pub(super) enum ClientEvent {
    Accepted(Limits),
    /// rumqttc has assigned this packet id to the next message of its queue.
    Numbered(u16),
    Acknowledged(u16),
    /// The broker rejects the message with this packet id, for the given reason.
    Refused(u16, String),
    CommandReceived(Box<Received>),
    /// The broker rejects the subscription to commands, for the given reason.
    SubscriptionRefused(String),
    Disconnected,
}

/// Maximum packet size in bytes. The largest payload is a whole game as JSON, about 100 kB.
const MAX_PACKET_BYTES: u32 = 1 << 20;
const CONNECT_TIMEOUT_S: u64 = 5;
/// Payload format indicator of MQTT 5 for UTF-8 text.
const UTF_8: u8 = 1;

/// Whether a connection continues the session of the previous one. MQTT 5 only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Session {
    /// The broker discards the previous session, and publishes the last will if it is still delayed.
    Fresh,
    /// The broker continues the previous session, and drops the delayed last will.
    Resumed,
}

/// Creates a client with a last will, and its event loop. The last will uses no `missing` features. `room` is the
/// capacity of the queue of outgoing messages.
pub(super) fn of(
    dialect: Dialect,
    config: &MqttConfig,
    will: &Message,
    session: Session,
    missing: MissingFeatures,
    room: usize,
) -> (MqttClient, Loop) {
    match dialect {
        Dialect::Five => five(options(config, will, session, missing), room),
        Dialect::Four => four(old_options(config, will, missing), room),
    }
}

/// Creates a client without a last will, which receives the messages of other programs, and its event loop.
/// `packet_bytes` is the maximum packet size.
pub(super) fn for_subscriber(
    dialect: Dialect,
    config: &MqttConfig,
    id: &str,
    packet_bytes: u32,
    room: usize,
) -> (MqttClient, Loop) {
    match dialect {
        Dialect::Five => {
            let mut options = v5::MqttOptions::new(id, host(config), config.port);
            options.set_keep_alive(config.keep_alive);
            let mut properties = five::ConnectProperties::new();
            properties.max_packet_size = Some(packet_bytes);
            options.set_connect_properties(properties);
            // By default, the client reserves 14 MB for messages that are not acknowledged.
            options.set_outgoing_inflight_upper_limit(MAX_WINDOW);
            five(options, room)
        }
        Dialect::Four => {
            let mut options = four::MqttOptions::new(id, host(config), config.port);
            let largest = usize::try_from(packet_bytes).unwrap_or(usize::MAX);
            options
                .set_keep_alive(config.keep_alive)
                .set_clean_session(true)
                .set_max_packet_size(largest, largest);
            four(options, room)
        }
    }
}

fn five(options: v5::MqttOptions, room: usize) -> (MqttClient, Loop) {
    let (client, events) = v5::AsyncClient::new(options, room);
    (MqttClient::Five(client), Loop::Five(Box::new(events)))
}

fn four(options: four::MqttOptions, room: usize) -> (MqttClient, Loop) {
    let (client, mut events) = four::AsyncClient::new(options, room);
    events
        .network_options
        .set_connection_timeout(CONNECT_TIMEOUT_S)
        .set_tcp_nodelay(true);
    (MqttClient::Four(client), Loop::Four(Box::new(events)))
}

impl MqttClient {
    /// Queues a message. Returns false if the connection is lost or about to be lost.
    pub(super) fn publish(&self, message: &Message, missing: MissingFeatures) -> bool {
        let (topic, payload) = (&*message.topic, message.payload.clone());
        let retain = message.is_retained() && !missing.retain;
        match self {
            Self::Five(client) => {
                let (qos, properties) = (qos(missing), properties(message));
                client
                    .try_publish_with_properties(topic, qos, retain, payload, properties)
                    .is_ok()
            }
            Self::Four(client) => client
                .try_publish(topic, old_qos(missing), retain, payload)
                .is_ok(),
        }
    }

    /// Queues a message that is not retained and, with MQTT 5, expires after `expires_s` seconds. Ignores a failure,
    /// since the connection is then about to be lost.
    pub(super) fn send(&self, topic: String, text: String, expires_s: Option<u32>) {
        match self {
            Self::Five(client) => {
                let properties = five::PublishProperties {
                    message_expiry_interval: expires_s,
                    ..five::PublishProperties::default()
                };
                drop(client.try_publish_with_properties(topic, QoS::AtLeastOnce, false, text, properties));
            }
            Self::Four(client) => drop(client.try_publish(topic, four::QoS::AtLeastOnce, false, text)),
        }
    }

    /// Subscribes to the topics of commands. If the queue is full, the connection is about to be lost, and the next
    /// connection subscribes again.
    pub(super) fn listen(&self, topics: Vec<String>) {
        match self {
            Self::Five(client) => drop(client.try_subscribe_many(inlet::filters(topics))),
            Self::Four(_) => self.subscribe(topics),
        }
    }

    /// Subscribes to topics of other programs. A full queue has the same meaning as for [`listen`](Self::listen).
    pub(super) fn subscribe(&self, topics: Vec<String>) {
        match self {
            Self::Five(client) => {
                let filter = |topic| five::Filter::new(topic, QoS::AtLeastOnce);
                drop(client.try_subscribe_many(topics.into_iter().map(filter)));
            }
            Self::Four(client) => {
                let filter = |topic| four::SubscribeFilter::new(topic, four::QoS::AtLeastOnce);
                drop(client.try_subscribe_many(topics.into_iter().map(filter)));
            }
        }
    }

    /// Sends DISCONNECT. A failure means that the connection is lost, which the event loop reports.
    pub(super) fn disconnect(&self) {
        match self {
            Self::Five(client) => drop(client.try_disconnect()),
            Self::Four(client) => drop(client.try_disconnect()),
        }
    }
}

impl Loop {
    pub(super) fn set_credentials(
        &mut self,
        login: Option<(String, String)>,
        tls: Option<rustls::ClientConfig>,
    ) {
        let transport = tls.map(|tls| Transport::tls_with_config(tls.into()));
        match self {
            Self::Five(events) => {
                if let Some((user, password)) = login {
                    events.options.set_credentials(user, password);
                }
                if let Some(transport) = transport {
                    events.options.set_transport(transport);
                }
            }
            Self::Four(events) => {
                if let Some((user, password)) = login {
                    events.mqtt_options.set_credentials(user, password);
                }
                if let Some(transport) = transport {
                    events.mqtt_options.set_transport(transport);
                }
            }
        }
    }

    /// Waits for the next relevant event. `accepted` is whether the broker has accepted the connection.
    pub(super) async fn next(
        &mut self,
        config: &MqttConfig,
        accepted: bool,
    ) -> Result<ClientEvent, LostReason> {
        loop {
            let client_event = match self {
                Self::Five(events) => {
                    let event = events.poll().await;
                    client_event(
                        &config.prefix,
                        event.map_err(|error| LostReason::of(error, config, accepted))?,
                    )
                }
                Self::Four(events) => {
                    let event = events.poll().await;
                    let event = event.map_err(|error| LostReason::of_v4(error, config, accepted))?;
                    client_event_v4(&config.prefix, event)
                }
            };
            if let Some(client_event) = client_event {
                return Ok(client_event);
            }
        }
    }

    /// Waits until the broker accepts the connection (`None`), or for the next message: topic, payload, and whether the
    /// broker had retained it.
    pub(super) async fn next_message(
        &mut self,
        config: &MqttConfig,
        accepted: bool,
    ) -> Result<Option<(String, Bytes, bool)>, LostReason> {
        loop {
            match self {
                Self::Five(events) => {
                    let event = events.poll().await;
                    match event.map_err(|error| LostReason::of(error, config, accepted))? {
                        Event::Incoming(five::Packet::ConnAck(_)) => return Ok(None),
                        Event::Incoming(five::Packet::Publish(publish)) => {
                            let topic = String::from_utf8_lossy(&publish.topic).into_owned();
                            return Ok(Some((topic, publish.payload, publish.retain)));
                        }
                        _ => {}
                    }
                }
                Self::Four(events) => {
                    let event = events.poll().await;
                    match event.map_err(|error| LostReason::of_v4(error, config, accepted))? {
                        four::Event::Incoming(four::Packet::ConnAck(_)) => return Ok(None),
                        four::Event::Incoming(four::Packet::Publish(publish)) => {
                            return Ok(Some((publish.topic, publish.payload, publish.retain)));
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    /// Removes the events that arrived before the connection was lost. A broker that rejects a message may close the
    /// connection immediately, and rumqttc then reports the loss first.
    pub(super) fn before_loss(&mut self, config: &MqttConfig) -> Vec<ClientEvent> {
        let prefix = &config.prefix;
        match self {
            Self::Five(events) => {
                let remaining = events.state.events.drain(..);
                remaining
                    .filter_map(|event| client_event(prefix, event))
                    .collect()
            }
            Self::Four(events) => {
                let remaining = events.state.events.drain(..);
                remaining
                    .filter_map(|event| client_event_v4(prefix, event))
                    .collect()
            }
        }
    }
}

fn client_event(prefix: &Prefix, event: Event) -> Option<ClientEvent> {
    Some(match event {
        Event::Incoming(five::Packet::ConnAck(ack)) => ClientEvent::Accepted(Limits::from(&ack)),
        Event::Incoming(five::Packet::PubAck(ack)) => match ack.reason {
            five::PubAckReason::Success | five::PubAckReason::NoMatchingSubscribers => {
                ClientEvent::Acknowledged(ack.pkid)
            }
            reason => ClientEvent::Refused(ack.pkid, format!("{reason:?}")),
        },
        Event::Incoming(five::Packet::Publish(publish)) => {
            ClientEvent::CommandReceived(Box::new(Received::read(prefix, &publish)?))
        }
        Event::Incoming(five::Packet::SubAck(ack)) => {
            let granted =
                |code: &five::SubscribeReasonCode| matches!(code, five::SubscribeReasonCode::Success(_));
            let refused = ack.return_codes.into_iter().find(|code| !granted(code))?;
            ClientEvent::SubscriptionRefused(format!("{refused:?}"))
        }
        Event::Outgoing(outgoing) => outgoing_event(&outgoing)?,
        Event::Incoming(_) => return None,
    })
}

fn client_event_v4(prefix: &Prefix, event: four::Event) -> Option<ClientEvent> {
    Some(match event {
        four::Event::Incoming(four::Packet::ConnAck(_)) => ClientEvent::Accepted(Limits {
            window: MAX_WINDOW.into(),
            // rumqttc enforces its own limit, since MQTT 3.1.1 has no way to announce one.
            packet_bytes: MAX_PACKET_BYTES as usize,
            missing: MissingFeatures::default(),
        }),
        four::Event::Incoming(four::Packet::PubAck(ack)) => ClientEvent::Acknowledged(ack.pkid),
        four::Event::Incoming(four::Packet::Publish(publish)) => {
            let received = Received::read_old(prefix, &publish.topic, publish.payload, publish.retain)?;
            ClientEvent::CommandReceived(Box::new(received))
        }
        four::Event::Incoming(four::Packet::SubAck(ack)) => {
            let refused = ack.return_codes.contains(&four::SubscribeReasonCode::Failure);
            return refused.then(|| ClientEvent::SubscriptionRefused("no reason given".to_owned()));
        }
        four::Event::Outgoing(outgoing) => outgoing_event(&outgoing)?,
        four::Event::Incoming(_) => return None,
    })
}

fn outgoing_event(outgoing: &Outgoing) -> Option<ClientEvent> {
    match outgoing {
        Outgoing::Publish(id) => Some(ClientEvent::Numbered(*id)),
        Outgoing::Disconnect => Some(ClientEvent::Disconnected),
        _ => None,
    }
}

fn properties(message: &Message) -> five::PublishProperties {
    five::PublishProperties {
        payload_format_indicator: Some(UTF_8),
        content_type: Some(message.media_type.as_str().to_owned()),
        user_properties: message.kept.then(Vec::new).unwrap_or_else(not_kept),
        correlation_data: match &message.delivery {
            Delivery::Answer { correlation } => correlation.clone(),
            Delivery::Event { .. } | Delivery::Retained => None,
        },
        ..five::PublishProperties::default()
    }
}

/// User properties of a message that is published before the journal has stored its event.
fn not_kept() -> Vec<(String, String)> {
    vec![("kept".to_owned(), "false".to_owned())]
}

/// The host name for rumqttc, which appends `:port` to connect, but checks certificates against the name alone. An IPv6
/// address must therefore have no brackets if the connection is encrypted. rumqttc still finds the port, after the last
/// colon.
fn host(config: &MqttConfig) -> &str {
    match config.is_encrypted() {
        true => without_brackets(&config.host),
        false => &config.host,
    }
}

/// The quality of service of published messages.
const fn qos(missing: MissingFeatures) -> QoS {
    match missing.acknowledgements {
        true => QoS::AtMostOnce,
        false => QoS::AtLeastOnce,
    }
}

const fn old_qos(missing: MissingFeatures) -> four::QoS {
    match missing.acknowledgements {
        true => four::QoS::AtMostOnce,
        false => four::QoS::AtLeastOnce,
    }
}

fn options(
    config: &MqttConfig,
    will: &Message,
    session: Session,
    missing: MissingFeatures,
) -> v5::MqttOptions {
    let mut options = v5::MqttOptions::new(config.client_id(), host(config), config.port);
    options.set_keep_alive(config.keep_alive);
    options.set_clean_start(session == Session::Fresh);
    options.set_connection_timeout(CONNECT_TIMEOUT_S);
    options.set_outgoing_inflight_upper_limit(MAX_WINDOW);
    let mut properties = five::ConnectProperties::new();
    properties.max_packet_size = Some(MAX_PACKET_BYTES);
    let delay_s = u32::try_from(config.will_delay.as_secs()).unwrap_or(u32::MAX);
    // A session that ends earlier would also end the delay of the last will.
    properties.session_expiry_interval = Some(delay_s);
    options.set_connect_properties(properties);
    // Disable Nagle's algorithm, so that each move is sent at once.
    let mut network = options.network_options();
    network.set_tcp_nodelay(true);
    options.set_network_options(network);
    let properties = five::LastWillProperties {
        delay_interval: Some(delay_s),
        payload_format_indicator: Some(UTF_8),
        message_expiry_interval: None,
        content_type: Some(MediaType::Json.as_str().to_owned()),
        response_topic: None,
        correlation_data: None,
        user_properties: Vec::new(),
    };
    let payload = will.payload.to_vec();
    options.set_last_will(five::LastWill::new(
        &*will.topic,
        payload,
        qos(missing),
        !missing.retain,
        Some(properties),
    ));
    options
}

fn old_options(config: &MqttConfig, will: &Message, missing: MissingFeatures) -> four::MqttOptions {
    let mut options = four::MqttOptions::new(config.client_id(), host(config), config.port);
    let largest = MAX_PACKET_BYTES as usize;
    options
        .set_keep_alive(config.keep_alive)
        .set_clean_session(true)
        .set_inflight(MAX_WINDOW)
        .set_max_packet_size(largest, largest);
    let payload = will.payload.to_vec();
    options.set_last_will(four::LastWill::new(
        &*will.topic,
        payload,
        old_qos(missing),
        !missing.retain,
    ));
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The client reserves memory for as many messages that are not acknowledged, 14 MB by default.
    #[test]
    fn a_subscriber_reserves_little_memory() {
        let config = MqttConfig::from_url("mqtt://localhost").expect("a URL");
        let (_, events) = for_subscriber(Dialect::Five, &config, "id", 1000, 1);
        let Loop::Five(events) = events else {
            panic!("it speaks MQTT 5")
        };
        let limit = events.options.get_outgoing_inflight_upper_limit();
        assert_eq!(limit, Some(MAX_WINDOW));
    }

    #[test]
    fn the_limit_of_mqtt_3_is_that_of_rumqttc() {
        let ack = four::ConnAck::new(four::ConnectReturnCode::Success, false);
        let event = four::Event::Incoming(four::Packet::ConnAck(ack));
        let Some(ClientEvent::Accepted(limits)) = client_event_v4(&Prefix::live(), event) else {
            panic!("the connection is accepted");
        };
        let config = MqttConfig::from_url("mqtt://localhost").expect("a URL");
        let will = Message::text(&"state".into(), String::new());
        assert_eq!(
            limits.packet_bytes,
            old_options(&config, &will, MissingFeatures::default()).max_packet_size()
        );
    }
}
