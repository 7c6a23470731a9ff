//! rumqttc's clients for MQTT 5 and 3.1.1 behind one face: brokers that lack 5 get all topics too, but nothing of what 5
//! has beside a message: no types of contents, no user properties, no topics for answers.

use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5 as five;
use rumqttc::v5::{self, Event};
use rumqttc::{self as four, Outgoing, Transport};

use super::inlet::{self, Received};
use super::link::{Limits, MAX_WINDOW};
use super::lost::LostReason;
use super::message::{Delivery, MediaType, Message};
use super::settings::MqttConfig;
use super::topics::Prefix;
use super::url::without_brackets;

/// Which MQTT is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// 5.
    Five,
    /// 3.1.1.
    Four,
}

/// Takes what is to be sent.
#[derive(Debug)]
pub(super) enum MqttClient {
    Five(v5::AsyncClient),
    Four(four::AsyncClient),
}

/// Makes a connection, and keeps it.
pub(super) enum Loop {
    Five(Box<v5::EventLoop>),
    Four(Box<four::EventLoop>),
}

/// What happens on a connection.
#[derive(Debug)]
pub(super) enum Happened {
    Accepted(Limits),
    /// The next message that was taken is sent under this packet id.
    Numbered(u16),
    Acknowledged(u16),
    /// The broker refuses a message, and says why.
    Refused(u16, String),
    Commanded(Box<Received>),
    /// The broker does not let kiebitz have commands, and says why.
    Unheard(String),
    Disconnected,
}

/// The most bytes of a packet: a whole game as JSON has some 100 kB, and nothing is larger.
const MAX_PACKET_BYTES: u32 = 1 << 20;
/// How long connecting may take, in seconds.
const CONNECT_TIMEOUT_S: u64 = 5;
/// The payload is text.
const UTF_8: u8 = 1;

/// A client, and what works for it. `room` is for messages that wait to be sent.
pub(super) fn of(dialect: Dialect, config: &MqttConfig, will: &Message, room: usize) -> (MqttClient, Loop) {
    match dialect {
        Dialect::Five => {
            let (client, events) = v5::AsyncClient::new(options(config, will), room);
            (MqttClient::Five(client), Loop::Five(Box::new(events)))
        }
        Dialect::Four => {
            let (client, mut events) = four::AsyncClient::new(old_options(config, will), room);
            events
                .network_options
                .set_connection_timeout(CONNECT_TIMEOUT_S)
                .set_tcp_nodelay(true);
            (MqttClient::Four(client), Loop::Four(Box::new(events)))
        }
    }
}

impl MqttClient {
    /// Whether it takes a message; if not, the connection is lost, or about to be.
    pub(super) fn publish(&self, message: &Message) -> bool {
        let (topic, payload, retain) = (&*message.topic, message.payload.clone(), message.is_retained());
        match self {
            Self::Five(client) => {
                let properties = properties(message);
                let taken =
                    client.try_publish_with_properties(topic, QoS::AtLeastOnce, retain, payload, properties);
                taken.is_ok()
            }
            Self::Four(client) => client
                .try_publish(topic, four::QoS::AtLeastOnce, retain, payload)
                .is_ok(),
        }
    }

    /// Asks the broker for these topics. What it cannot be asked for now is lost with the connection.
    pub(super) fn listen(&self, topics: Vec<String>) {
        match self {
            Self::Five(client) => drop(client.try_subscribe_many(inlet::filters(topics))),
            Self::Four(client) => {
                let filter = |topic| four::SubscribeFilter::new(topic, four::QoS::AtLeastOnce);
                drop(client.try_subscribe_many(topics.into_iter().map(filter)));
            }
        }
    }

    /// Sends DISCONNECT. A client that does not take it has lost the connection and reports that.
    pub(super) fn disconnect(&self) {
        match self {
            Self::Five(client) => drop(client.try_disconnect()),
            Self::Four(client) => drop(client.try_disconnect()),
        }
    }
}

impl Loop {
    /// Sets what lets kiebitz in.
    pub(super) fn unlock(&mut self, login: Option<(String, String)>, tls: Option<rustls::ClientConfig>) {
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

    /// What happens next that matters. `stands`: the broker has accepted the connection.
    pub(super) async fn next(&mut self, config: &MqttConfig, stands: bool) -> Result<Happened, LostReason> {
        loop {
            let happened = match self {
                Self::Five(events) => {
                    let event = events.poll().await;
                    happened(
                        &config.prefix,
                        event.map_err(|error| LostReason::of(error, config, stands))?,
                    )
                }
                Self::Four(events) => {
                    let event = events.poll().await;
                    let event = event.map_err(|error| LostReason::of_old(error, config, stands))?;
                    happened_of_old(&config.prefix, event)
                }
            };
            if let Some(happened) = happened {
                return Ok(happened);
            }
        }
    }

    /// What had happened before the connection was lost: a broker that refuses a message may hang up in the same moment, and
    /// then the loss is told first.
    pub(super) fn before_loss(&mut self, config: &MqttConfig) -> Vec<Happened> {
        let prefix = &config.prefix;
        match self {
            Self::Five(events) => {
                let left = events.state.events.drain(..);
                left.filter_map(|event| happened(prefix, event)).collect()
            }
            Self::Four(events) => {
                let left = events.state.events.drain(..);
                left.filter_map(|event| happened_of_old(prefix, event)).collect()
            }
        }
    }
}

fn happened(prefix: &Prefix, event: Event) -> Option<Happened> {
    Some(match event {
        Event::Incoming(five::Packet::ConnAck(ack)) => Happened::Accepted(Limits::from(&ack)),
        Event::Incoming(five::Packet::PubAck(ack)) => match ack.reason {
            five::PubAckReason::Success | five::PubAckReason::NoMatchingSubscribers => {
                Happened::Acknowledged(ack.pkid)
            }
            reason => Happened::Refused(ack.pkid, format!("{reason:?}")),
        },
        Event::Incoming(five::Packet::Publish(publish)) => {
            Happened::Commanded(Box::new(Received::read(prefix, &publish)?))
        }
        Event::Incoming(five::Packet::SubAck(ack)) => {
            let granted =
                |code: &five::SubscribeReasonCode| matches!(code, five::SubscribeReasonCode::Success(_));
            let refused = ack.return_codes.into_iter().find(|code| !granted(code))?;
            Happened::Unheard(format!("{refused:?}"))
        }
        Event::Outgoing(outgoing) => of_outgoing(&outgoing)?,
        Event::Incoming(_) => return None,
    })
}

fn happened_of_old(prefix: &Prefix, event: four::Event) -> Option<Happened> {
    Some(match event {
        four::Event::Incoming(four::Packet::ConnAck(_)) => Happened::Accepted(Limits {
            window: MAX_WINDOW.into(),
            packet_bytes: usize::MAX,
        }),
        four::Event::Incoming(four::Packet::PubAck(ack)) => Happened::Acknowledged(ack.pkid),
        four::Event::Incoming(four::Packet::Publish(publish)) => {
            let received = Received::read_old(prefix, &publish.topic, publish.payload, publish.retain)?;
            Happened::Commanded(Box::new(received))
        }
        four::Event::Incoming(four::Packet::SubAck(ack)) => {
            let refused = ack.return_codes.contains(&four::SubscribeReasonCode::Failure);
            return refused.then(|| Happened::Unheard("no reason given".to_owned()));
        }
        four::Event::Outgoing(outgoing) => of_outgoing(&outgoing)?,
        four::Event::Incoming(_) => return None,
    })
}

fn of_outgoing(outgoing: &Outgoing) -> Option<Happened> {
    match outgoing {
        Outgoing::Publish(id) => Some(Happened::Numbered(*id)),
        Outgoing::Disconnect => Some(Happened::Disconnected),
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

/// An event that is published before the journal has it says so in this user property.
fn not_kept() -> Vec<(String, String)> {
    vec![("kept".to_owned(), "false".to_owned())]
}

/// What rumqttc is told as the host. It adds colon and port to it to get there; what a certificate has to be for is the
/// host alone, and there an IPv6 address has no brackets. It is found without them, too: the port is what follows the
/// last colon.
fn host(config: &MqttConfig) -> &str {
    match config.is_encrypted() {
        true => without_brackets(&config.host),
        false => &config.host,
    }
}

fn options(config: &MqttConfig, will: &Message) -> v5::MqttOptions {
    let mut options = v5::MqttOptions::new(config.client_id(), host(config), config.port);
    options.set_keep_alive(config.keep_alive);
    options.set_clean_start(true);
    options.set_connection_timeout(CONNECT_TIMEOUT_S);
    options.set_outgoing_inflight_upper_limit(MAX_WINDOW);
    let mut properties = five::ConnectProperties::new();
    properties.max_packet_size = Some(MAX_PACKET_BYTES);
    options.set_connect_properties(properties);
    // Moves are small and must not wait for company.
    let mut network = options.network_options();
    network.set_tcp_nodelay(true);
    options.set_network_options(network);
    let properties = five::LastWillProperties {
        delay_interval: None,
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
        QoS::AtLeastOnce,
        true,
        Some(properties),
    ));
    options
}

fn old_options(config: &MqttConfig, will: &Message) -> four::MqttOptions {
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
        four::QoS::AtLeastOnce,
        true,
    ));
    options
}
