//! One client, from CONNECT to the end of its connection.

use core::time::Duration;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rumqttc::v5::mqttbytes::v5::{
    ConnAck, ConnAckProperties, Connect, ConnectReturnCode, Disconnect, DisconnectReasonCode, LastWill,
    Packet, PingResp, PubAck, Publish, PublishProperties, SubAck, UnsubAck, UnsubAckReason,
};
use rumqttc::v5::mqttbytes::{QoS, valid_topic};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};

use super::exchange::{Attached, Exchange, Outgoing};
use super::wire::{self, MAX_PACKET_BYTES, PacketReader, PacketWriter, WireError};

/// The exchange, as all connections share it.
pub(super) type SharedExchange = Arc<Mutex<Exchange>>;

/// Time for a client to send CONNECT, and to read a packet that is sent to it.
const PATIENCE: Duration = Duration::from_secs(10);
/// Deadline of a client that wants no keep-alive.
const UNLIMITED: Duration = Duration::from_secs(365 * 86_400);
/// Unacknowledged messages on their way to a client, unless it allows fewer.
const WINDOW: u16 = 64;

/// A client that is served.
struct Connection {
    exchange: SharedExchange,
    client: Attached,
    reader: PacketReader,
    writer: PacketWriter,
    /// Published if the connection ends without DISCONNECT.
    will: Option<LastWill>,
    /// Between two packets of the client.
    patience: Duration,
    window: usize,
    /// Packet ids of the messages that the client has not acknowledged.
    under_way: HashSet<u16>,
    last_id: u16,
}

/// How a connection goes on after a packet.
enum AfterPacket {
    Go,
    /// The broker ends it, for this reason.
    Close(DisconnectReasonCode),
    /// The client has ended it.
    Ended,
}

/// Serves a client until its connection ends. What goes wrong with one concerns nobody else.
pub(super) async fn serve(stream: TcpStream, exchange: SharedExchange) {
    // Moves are small and must not wait for company. Without this they come later, no more.
    let _ = stream.set_nodelay(true);
    let connection = match timeout(PATIENCE, Connection::accept(stream, exchange)).await {
        Ok(Ok(Some(connection))) => connection,
        Ok(Ok(None)) | Err(_) => return,
        Ok(Err(error)) => {
            tracing::debug!(%error, "the embedded broker refuses a client");
            return;
        }
    };
    connection.run().await;
}

impl Connection {
    /// Answers CONNECT; `None` if it is refused, or never comes.
    async fn accept(stream: TcpStream, exchange: SharedExchange) -> Result<Option<Self>, WireError> {
        let (mut reader, write) = wire::split(stream);
        let Some(packet) = reader.next().await? else {
            return Ok(None);
        };
        let (Packet::Connect(connect, will, _), Some(version)) = (packet, reader.version()) else {
            return Err(WireError::Unexpected);
        };
        let properties = connect.properties.as_ref();
        let largest = properties.and_then(|properties| properties.max_packet_size);
        let largest = largest.map_or(usize::MAX, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        let mut writer = PacketWriter::new(write, version, largest);
        // Only MQTT 5 has ids from the broker; in 3.1.1 a session without an id cannot be kept.
        let is_nameless = connect.client_id.is_empty();
        if is_nameless && !connect.clean_start && version == wire::Version::Four {
            let refusal = connack(ConnectReturnCode::ClientIdentifierNotValid, None);
            writer.send(Packet::ConnAck(refusal)).await?;
            return Ok(None);
        }
        let window = properties.and_then(|properties| properties.receive_maximum);
        let patience = patience(&connect);
        let client = lock(&exchange).attach(connect.client_id);
        let assigned = is_nameless.then(|| client.id.clone());
        let mut connection = Self {
            exchange,
            client,
            reader,
            writer,
            will,
            patience,
            window: usize::from(window.unwrap_or(WINDOW).clamp(1, WINDOW)),
            under_way: HashSet::new(),
            last_id: 0,
        };
        let accepted = connack(ConnectReturnCode::Success, assigned);
        if let Err(error) = connection.writer.send(Packet::ConnAck(accepted)).await {
            connection.detach();
            return Err(error);
        }
        Ok(Some(connection))
    }

    async fn run(mut self) {
        let end = self.converse().await;
        self.detach();
        match end {
            Ok(Some(reason)) => {
                let goodbye = Packet::Disconnect(Disconnect::new(reason));
                // A client that is gone misses nothing.
                let _ = timeout(PATIENCE, self.writer.send(goodbye)).await;
            }
            Ok(None) => {}
            Err(error) => {
                let client = &self.client.id;
                tracing::debug!(%error, client, "the embedded broker has lost a client");
            }
        }
    }

    /// Gives the client's place up, and publishes its will if it left one.
    fn detach(&mut self) {
        let mut exchange = lock(&self.exchange);
        exchange.detach(&self.client.id, self.client.connection);
        if let Some((topic, publish)) = self.will.take().and_then(published) {
            exchange.publish(&self.client.id, &topic, &publish);
        }
    }

    /// Reads and sends until the connection ends: for a reason of the broker's, or without one.
    async fn converse(&mut self) -> Result<Option<DisconnectReasonCode>, WireError> {
        let mut deadline = Instant::now() + self.patience;
        loop {
            let next = tokio::select! {
                packet = timeout_at(deadline, self.reader.next()) => {
                    let Ok(packet) = packet else {
                        return Ok(Some(DisconnectReasonCode::KeepAliveTimeout));
                    };
                    let Some(packet) = packet? else {
                        return Ok(None);
                    };
                    deadline = Instant::now() + self.patience;
                    self.answer(packet).await?
                }
                outgoing = self.client.queue.recv(), if self.under_way.len() < self.window => match outgoing {
                    Some(Outgoing::Publish(publish)) => {
                        self.forward(*publish).await?;
                        AfterPacket::Go
                    }
                    Some(Outgoing::Close(reason)) => AfterPacket::Close(reason),
                    None => AfterPacket::Close(DisconnectReasonCode::QuotaExceeded),
                },
            };
            match next {
                AfterPacket::Go => {}
                AfterPacket::Close(reason) => return Ok(Some(reason)),
                AfterPacket::Ended => return Ok(None),
            }
        }
    }

    async fn answer(&mut self, packet: Packet) -> Result<AfterPacket, WireError> {
        match packet {
            Packet::Publish(publish) => {
                let (id, qos) = (publish.pkid, publish.qos);
                if qos == QoS::ExactlyOnce {
                    return Ok(AfterPacket::Close(DisconnectReasonCode::QoSNotSupported));
                }
                let Some((topic, publish)) = checked(publish) else {
                    return Ok(AfterPacket::Close(DisconnectReasonCode::TopicNameInvalid));
                };
                lock(&self.exchange).publish(&self.client.id, &topic, &publish);
                if qos == QoS::AtLeastOnce {
                    self.send(Packet::PubAck(PubAck::new(id, None))).await?;
                }
            }
            Packet::PubAck(ack) => {
                self.under_way.remove(&ack.pkid);
            }
            Packet::Subscribe(subscribe) => {
                let Attached { id, connection, .. } = &self.client;
                let return_codes = {
                    let mut exchange = lock(&self.exchange);
                    let filters = subscribe.filters.into_iter();
                    filters
                        .map(|filter| exchange.subscribe(id, *connection, filter))
                        .collect()
                };
                let ack = SubAck {
                    pkid: subscribe.pkid,
                    return_codes,
                    properties: None,
                };
                self.send(Packet::SubAck(ack)).await?;
            }
            Packet::Unsubscribe(unsubscribe) => {
                let Attached { id, connection, .. } = &self.client;
                let reasons = {
                    let mut exchange = lock(&self.exchange);
                    let filters = unsubscribe.filters.iter();
                    let gone = filters.map(|filter| exchange.unsubscribe(id, *connection, filter));
                    gone.map(|there_was_one| match there_was_one {
                        true => UnsubAckReason::Success,
                        false => UnsubAckReason::NoSubscriptionExisted,
                    })
                    .collect()
                };
                let ack = UnsubAck {
                    pkid: unsubscribe.pkid,
                    reasons,
                    properties: None,
                };
                self.send(Packet::UnsubAck(ack)).await?;
            }
            Packet::PingReq(_) => self.send(Packet::PingResp(PingResp)).await.map(drop)?,
            Packet::Disconnect(disconnect) => {
                if disconnect.reason_code == DisconnectReasonCode::NormalDisconnection {
                    self.will = None;
                }
                return Ok(AfterPacket::Ended);
            }
            _ => return Ok(AfterPacket::Close(DisconnectReasonCode::ProtocolError)),
        }
        Ok(AfterPacket::Go)
    }

    async fn forward(&mut self, mut publish: Publish) -> Result<(), WireError> {
        let id = match publish.qos {
            QoS::AtMostOnce => 0,
            QoS::AtLeastOnce | QoS::ExactlyOnce => self.unused_id(),
        };
        publish.pkid = id;
        let is_sent = self.send(Packet::Publish(publish)).await?;
        if is_sent && id != 0 {
            self.under_way.insert(id);
        }
        Ok(())
    }

    /// There is one: the window is smaller than the range.
    fn unused_id(&mut self) -> u16 {
        loop {
            self.last_id = self.last_id.checked_add(1).unwrap_or(1);
            if !self.under_way.contains(&self.last_id) {
                return self.last_id;
            }
        }
    }

    /// Sends a packet, to a client that reads.
    async fn send(&mut self, packet: Packet) -> Result<bool, WireError> {
        match timeout(PATIENCE, self.writer.send(packet)).await {
            Ok(sent) => sent,
            Err(elapsed) => Err(std::io::Error::from(elapsed).into()),
        }
    }
}

/// A panic in another connection leaves the exchange usable: each of its methods changes one thing.
fn lock(exchange: &SharedExchange) -> MutexGuard<'_, Exchange> {
    exchange.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One and a half times the keep-alive, as the standard says.
fn patience(connect: &Connect) -> Duration {
    match connect.keep_alive {
        0 => UNLIMITED,
        seconds => Duration::from_millis(1500) * u32::from(seconds),
    }
}

/// A message with its topic as text; `None` if that is not one.
fn checked(mut publish: Publish) -> Option<(String, Publish)> {
    let topic = String::from_utf8(publish.topic.to_vec()).ok()?;
    let is_fine = !topic.is_empty() && valid_topic(&topic) && !topic.contains('\0');
    // Of one connection alone.
    publish.dup = false;
    if let Some(properties) = &mut publish.properties {
        properties.topic_alias = None;
        properties.subscription_identifiers.clear();
    }
    is_fine.then_some((topic, publish))
}

fn published(will: LastWill) -> Option<(String, Publish)> {
    let properties = will.properties.map(|properties| PublishProperties {
        payload_format_indicator: properties.payload_format_indicator,
        message_expiry_interval: properties.message_expiry_interval,
        content_type: properties.content_type,
        response_topic: properties.response_topic,
        correlation_data: properties.correlation_data,
        user_properties: properties.user_properties,
        ..PublishProperties::default()
    });
    checked(Publish {
        topic: will.topic,
        qos: will.qos,
        retain: will.retain,
        payload: will.message,
        properties,
        ..Publish::default()
    })
}

/// Says what this broker can do.
fn connack(code: ConnectReturnCode, assigned_client_identifier: Option<String>) -> ConnAck {
    const NO: Option<u8> = Some(0);
    ConnAck {
        session_present: false,
        code,
        properties: Some(ConnAckProperties {
            session_expiry_interval: Some(0),
            receive_max: None,
            max_qos: Some(QoS::AtLeastOnce as u8),
            retain_available: None,
            max_packet_size: Some(MAX_PACKET_BYTES),
            assigned_client_identifier,
            topic_alias_max: None,
            reason_string: None,
            user_properties: Vec::new(),
            wildcard_subscription_available: None,
            subscription_identifiers_available: NO,
            shared_subscription_available: NO,
            server_keep_alive: None,
            response_information: None,
            server_reference: None,
            authentication_method: None,
            authentication_data: None,
        }),
    }
}
