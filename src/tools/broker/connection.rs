//! One client connection, from CONNECT to its end.

use core::time::Duration;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rumqttc::v5::mqttbytes::v5::{
    ConnAck, ConnAckProperties, Connect, ConnectReturnCode, Disconnect, DisconnectReasonCode, LastWill,
    Packet, PingResp, PubAck, Publish, PublishProperties, SubAck, UnsubAck, UnsubAckReason,
};
use rumqttc::v5::mqttbytes::{QoS, valid_topic};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::time::{Instant, timeout, timeout_at};

use super::exchange::{Attached, Exchange, Outgoing};
use super::wire::{self, MAX_PACKET_BYTES, PacketReader, PacketWriter, WireError};
use crate::limits::Place;

pub(super) type SharedExchange = Arc<Mutex<Exchange>>;

/// Timeout for a client to send CONNECT, and to read a packet that the broker sends.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(10);
/// Keep-alive timeout of a client that turns keep-alive off.
const NO_KEEP_ALIVE_TIMEOUT: Duration = Duration::from_secs(365 * 86_400);
/// Limit of unacknowledged messages for a client that does not set a lower one.
const WINDOW: u16 = 64;

struct Connection {
    exchange: SharedExchange,
    client: Attached,
    reader: PacketReader,
    writer: PacketWriter,
    /// Published if the connection ends without DISCONNECT.
    will: Option<LastWill>,
    /// Longest time between two packets of the client.
    keep_alive_timeout: Duration,
    window: usize,
    /// Packet ids of messages that the client has not acknowledged yet.
    unacknowledged: HashSet<u16>,
    last_id: u16,
}

enum AfterPacket {
    Go,
    Close(DisconnectReasonCode),
    /// The client has closed the connection.
    Ended,
}

/// Serves a client until its connection ends. Errors concern this client only.
pub(super) async fn serve(stream: TcpStream, place: Place, exchange: SharedExchange) {
    // Send small packets at once. If the option cannot be set, packets are merely delayed.
    let _ = stream.set_nodelay(true);
    let (mut reader, writer) = wire::split(stream);
    let deadline = Instant::now() + CLIENT_TIMEOUT;
    let first = tokio::select! {
        first = timeout_at(deadline, reader.next()) => first,
        () = place.ended() => return,
    };
    // From here on the client keeps its place.
    place.set_known();
    place.set_served(true);
    let accepted = match first {
        Ok(Ok(Some(packet))) => {
            timeout_at(deadline, Connection::accept(packet, reader, writer, exchange)).await
        }
        Ok(Ok(None)) => return,
        Ok(Err(error)) => Ok(Err(error)),
        Err(elapsed) => Err(elapsed),
    };
    let connection = match accepted {
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
    /// Answers CONNECT, the first packet. Returns `None` if the client is refused.
    async fn accept(
        packet: Packet,
        reader: PacketReader,
        write: OwnedWriteHalf,
        exchange: SharedExchange,
    ) -> Result<Option<Self>, WireError> {
        let (Packet::Connect(connect, will, _), Some(version)) = (packet, reader.version()) else {
            return Err(WireError::Unexpected);
        };
        let properties = connect.properties.as_ref();
        let largest = properties.and_then(|properties| properties.max_packet_size);
        let largest = largest.map_or(usize::MAX, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        let mut writer = PacketWriter::new(write, version, largest);
        // MQTT 5 lets the broker assign a client id. MQTT 3.1.1 does not, so a persistent session needs an id there.
        let has_no_id = connect.client_id.is_empty();
        if has_no_id && !connect.clean_start && version == wire::Version::Four {
            let refusal = connack(ConnectReturnCode::ClientIdentifierNotValid, None);
            writer.send(Packet::ConnAck(refusal)).await?;
            return Ok(None);
        }
        let window = properties.and_then(|properties| properties.receive_maximum);
        let keep_alive_timeout = keep_alive_timeout(&connect);
        let client = lock(&exchange).attach(connect.client_id);
        let assigned = has_no_id.then(|| client.id.clone());
        let mut connection = Self {
            exchange,
            client,
            reader,
            writer,
            will,
            keep_alive_timeout,
            window: usize::from(window.unwrap_or(WINDOW).clamp(1, WINDOW)),
            unacknowledged: HashSet::new(),
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
                // Ignore errors: the client may be gone already.
                let _ = timeout(CLIENT_TIMEOUT, self.writer.send(goodbye)).await;
            }
            Ok(None) => {}
            Err(error) => {
                let client = &self.client.id;
                tracing::debug!(%error, client, "the embedded broker has lost a client");
            }
        }
    }

    /// Removes the client from the exchange, and publishes its will if it still has one.
    fn detach(&mut self) {
        let mut exchange = lock(&self.exchange);
        exchange.detach(&self.client.id, self.client.connection);
        if let Some((topic, publish)) = self.will.take().and_then(published) {
            exchange.publish(&self.client.id, &topic, &publish);
        }
    }

    /// Reads and sends packets until the connection ends. Returns the reason if the broker ends it, `None` if the
    /// client does.
    async fn converse(&mut self) -> Result<Option<DisconnectReasonCode>, WireError> {
        let mut deadline = Instant::now() + self.keep_alive_timeout;
        loop {
            let next = tokio::select! {
                packet = timeout_at(deadline, self.reader.next()) => {
                    let Ok(packet) = packet else {
                        return Ok(Some(DisconnectReasonCode::KeepAliveTimeout));
                    };
                    let Some(packet) = packet? else {
                        return Ok(None);
                    };
                    deadline = Instant::now() + self.keep_alive_timeout;
                    self.answer(packet).await?
                }
                outgoing = self.client.queue.recv(), if self.unacknowledged.len() < self.window => match outgoing {
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
                self.unacknowledged.remove(&ack.pkid);
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
                    let removed = filters.map(|filter| exchange.unsubscribe(id, *connection, filter));
                    removed
                        .map(|existed| match existed {
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
            self.unacknowledged.insert(id);
        }
        Ok(())
    }

    /// Returns a free packet id. One always exists, because the window is smaller than the range of ids.
    fn unused_id(&mut self) -> u16 {
        loop {
            self.last_id = self.last_id.checked_add(1).unwrap_or(1);
            if !self.unacknowledged.contains(&self.last_id) {
                return self.last_id;
            }
        }
    }

    /// Sends a packet. Fails if the client does not read it in time.
    async fn send(&mut self, packet: Packet) -> Result<bool, WireError> {
        match timeout(CLIENT_TIMEOUT, self.writer.send(packet)).await {
            Ok(sent) => sent,
            Err(elapsed) => Err(std::io::Error::from(elapsed).into()),
        }
    }
}

/// Locks the exchange. A poisoned lock is usable, because no method of the exchange leaves it half modified.
fn lock(exchange: &SharedExchange) -> MutexGuard<'_, Exchange> {
    exchange.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the keep-alive timeout: one and a half times the client's keep-alive (MQTT 5, section 3.1.2.10).
fn keep_alive_timeout(connect: &Connect) -> Duration {
    match connect.keep_alive {
        0 => NO_KEEP_ALIVE_TIMEOUT,
        seconds => Duration::from_millis(1500) * u32::from(seconds),
    }
}

/// Validates the topic of a message and returns it as a string, with the message. Returns `None` if the topic is not
/// valid.
fn checked(mut publish: Publish) -> Option<(String, Publish)> {
    let topic = String::from_utf8(publish.topic.to_vec()).ok()?;
    let is_fine = !topic.is_empty() && valid_topic(&topic) && !topic.contains('\0');
    // These fields are valid for the publisher's connection only.
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

/// Builds a CONNACK that lists the limits of this broker.
fn connack(code: ConnectReturnCode, assigned_client_identifier: Option<String>) -> ConnAck {
    const NOT_AVAILABLE: Option<u8> = Some(0);
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
            subscription_identifiers_available: NOT_AVAILABLE,
            shared_subscription_available: NOT_AVAILABLE,
            server_keep_alive: None,
            response_information: None,
            server_reference: None,
            authentication_method: None,
            authentication_data: None,
        }),
    }
}
