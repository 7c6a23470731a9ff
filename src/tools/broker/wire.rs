//! Reads and writes MQTT packets on a TCP stream, in the client's version of MQTT.
//!
//! The codec is that of rumqttc, the client library of kiebitz. Internally, all packets are those of MQTT 5: a packet
//! of 3.1.1 is converted, without the properties that only MQTT 5 has.

use std::io;

use bytes::{Buf, Bytes, BytesMut};
use rumqttc as four;
use rumqttc::v5::mqttbytes::v5::{
    ConnAck, Connect, ConnectReturnCode, Disconnect, DisconnectReasonCode, Filter, LastWill, Packet, PingReq,
    PubAck, Publish, SubAck, Subscribe, SubscribeReasonCode, Unsubscribe,
};
use rumqttc::v5::mqttbytes::{Error as FiveError, QoS};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// MQTT 3.1.1.
    Four,
    /// MQTT 5.
    Five,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum WireError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("the first packet is not CONNECT of MQTT 5 or 3.1.1")]
    NotMqtt,
    #[error("malformed packet: {0}")]
    Malformed(#[from] FiveError),
    #[error("malformed packet: {0}")]
    MalformedFour(#[from] four::Error),
    #[error("a client does not send this packet")]
    Unexpected,
}

/// Largest packet that a client may send, in bytes. kiebitz sends at most 1 MiB.
pub(super) const MAX_PACKET_BYTES: u32 = 4 << 20;
const DISCONNECT: u8 = 0xE0;

#[derive(Debug)]
pub(super) struct PacketReader {
    stream: OwnedReadHalf,
    decoder: Decoder,
}

#[derive(Debug)]
pub(super) struct PacketWriter {
    stream: OwnedWriteHalf,
    version: Version,
    /// The largest packet that the client accepts, in bytes.
    largest: usize,
    buffer: BytesMut,
}

/// Splits a connection into a reader and the write half. [`PacketWriter::new`] needs the MQTT version, which the first
/// packet shows.
pub(super) fn split(stream: TcpStream) -> (PacketReader, OwnedWriteHalf) {
    let (read, write) = stream.into_split();
    let reader = PacketReader {
        stream: read,
        decoder: Decoder::default(),
    };
    (reader, write)
}

impl PacketReader {
    /// Returns the next packet; `None` at the end of the stream. Cancel safe.
    pub(super) async fn next(&mut self) -> Result<Option<Packet>, WireError> {
        loop {
            if let Some(packet) = self.decoder.next()? {
                return Ok(Some(packet));
            }
            if self.stream.read_buf(&mut self.decoder.buffer).await? == 0 {
                return Ok(None);
            }
        }
    }

    /// Returns the client's MQTT version; `None` until its first packet.
    pub(super) fn version(&self) -> Option<Version> {
        self.decoder.version
    }
}

impl PacketWriter {
    pub(super) fn new(stream: OwnedWriteHalf, version: Version, largest: usize) -> Self {
        Self {
            stream,
            version,
            largest,
            buffer: BytesMut::new(),
        }
    }

    /// Sends a packet. Returns `false` if the packet is skipped, because it exceeds the client's limit or does not
    /// exist in the client's MQTT version.
    pub(super) async fn send(&mut self, packet: Packet) -> Result<bool, WireError> {
        self.buffer.clear();
        match self.version {
            Version::Five => match &packet {
                // Without properties, rumqttc's codec leaves out the reason as well.
                Packet::Disconnect(disconnect) => {
                    let bytes = [DISCONNECT, 2, disconnect.reason_code as u8, 0];
                    self.buffer.extend_from_slice(&bytes);
                }
                packet => packet.write(&mut self.buffer, None).map(drop)?,
            },
            Version::Four => match to_four(packet) {
                Some(packet) => packet.write(&mut self.buffer, usize::MAX).map(drop)?,
                None => return Ok(false),
            },
        }
        let fits = self.buffer.len() <= self.largest;
        if fits {
            self.stream.write_all(&self.buffer).await?;
        }
        Ok(fits)
    }
}

/// A buffer of bytes that are not decoded yet.
#[derive(Debug, Default)]
struct Decoder {
    version: Option<Version>,
    buffer: BytesMut,
}

impl Decoder {
    /// Decodes the next packet and removes it from the buffer. Returns `None` until the packet is complete.
    fn next(&mut self) -> Result<Option<Packet>, WireError> {
        let Some(version) = self
            .version
            .map_or_else(|| version_of(&self.buffer), |known| Ok(Some(known)))?
        else {
            return Ok(None);
        };
        self.version = Some(version);
        let before = self.buffer.len();
        let packet = match version {
            Version::Five => match short_disconnect(&mut self.buffer) {
                Some(packet) => Ok(packet),
                None => Packet::read(&mut self.buffer, Some(MAX_PACKET_BYTES)).map_err(WireError::from),
            },
            Version::Four => four::Packet::read(&mut self.buffer, MAX_PACKET_BYTES as usize)
                .map_err(WireError::from)
                .and_then(from_four),
        };
        match packet {
            Ok(packet) => Ok(Some(packet)),
            // If the codec consumed bytes before this error, a length inside the packet is wrong.
            Err(
                WireError::Malformed(FiveError::InsufficientBytes(_))
                | WireError::MalformedFour(four::Error::InsufficientBytes(_)),
            ) if self.buffer.len() == before => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Reads the MQTT version from the bytes of CONNECT. Returns `None` if more bytes are needed.
fn version_of(bytes: &[u8]) -> Result<Option<Version>, WireError> {
    const CONNECT: u8 = 0x10;
    const NAME: &[u8] = b"\x00\x04MQTT";
    const LONGEST_LENGTH: usize = 4;
    let Some((&first, rest)) = bytes.split_first() else {
        return Ok(None);
    };
    if first != CONNECT {
        return Err(WireError::NotMqtt);
    }
    let Some(last) = rest.iter().position(|byte| byte & 0x80 == 0) else {
        return if rest.len() < LONGEST_LENGTH {
            Ok(None)
        } else {
            Err(WireError::NotMqtt)
        };
    };
    let rest = &rest[last + 1..];
    let named = rest.len().min(NAME.len());
    if rest[..named] != NAME[..named] {
        return Err(WireError::NotMqtt);
    }
    match rest.get(NAME.len()) {
        None => Ok(None),
        Some(4) => Ok(Some(Version::Four)),
        Some(5) => Ok(Some(Version::Five)),
        Some(_) => Err(WireError::NotMqtt),
    }
}

/// Decodes a DISCONNECT of MQTT 5 without properties or without a reason, which rumqttc's codec does not support.
fn short_disconnect(bytes: &mut BytesMut) -> Option<Packet> {
    let reason = match **bytes {
        [DISCONNECT, 0, ..] => 0,
        [DISCONNECT, 1, reason, ..] => reason,
        _ => return None,
    };
    bytes.advance(2 + usize::from(bytes[1]));
    let with_will = reason == DisconnectReasonCode::DisconnectWithWillMessage as u8;
    Some(Packet::Disconnect(Disconnect::new(if with_will {
        DisconnectReasonCode::DisconnectWithWillMessage
    } else {
        DisconnectReasonCode::NormalDisconnection
    })))
}

/// Converts a packet from a client of MQTT 3.1.1. Fails for a packet type that the broker does not expect from clients.
fn from_four(packet: four::Packet) -> Result<Packet, WireError> {
    Ok(match packet {
        four::Packet::Connect(connect) => {
            let will = connect.last_will.map(|will| LastWill {
                topic: Bytes::from(will.topic),
                message: will.message,
                qos: from_four_qos(will.qos),
                retain: will.retain,
                properties: None,
            });
            let connect = Connect {
                keep_alive: connect.keep_alive,
                client_id: connect.client_id,
                clean_start: connect.clean_session,
                properties: None,
            };
            Packet::Connect(connect, will, None)
        }
        four::Packet::Publish(publish) => Packet::Publish(Publish {
            dup: publish.dup,
            qos: from_four_qos(publish.qos),
            retain: publish.retain,
            topic: Bytes::from(publish.topic),
            pkid: publish.pkid,
            payload: publish.payload,
            properties: None,
        }),
        four::Packet::PubAck(ack) => Packet::PubAck(PubAck::new(ack.pkid, None)),
        four::Packet::Subscribe(subscribe) => {
            let filters = subscribe.filters.into_iter();
            Packet::Subscribe(Subscribe {
                pkid: subscribe.pkid,
                filters: filters
                    .map(|filter| Filter::new(filter.path, from_four_qos(filter.qos)))
                    .collect(),
                properties: None,
            })
        }
        four::Packet::Unsubscribe(unsubscribe) => Packet::Unsubscribe(Unsubscribe {
            pkid: unsubscribe.pkid,
            filters: unsubscribe.topics,
            properties: None,
        }),
        four::Packet::PingReq => Packet::PingReq(PingReq),
        four::Packet::Disconnect => {
            Packet::Disconnect(Disconnect::new(DisconnectReasonCode::NormalDisconnection))
        }
        _ => return Err(WireError::Unexpected),
    })
}

/// Converts a packet for a client of MQTT 3.1.1. Returns `None` for a packet type that brokers of that version do not
/// send.
fn to_four(packet: Packet) -> Option<four::Packet> {
    Some(match packet {
        Packet::ConnAck(ConnAck { code, .. }) => {
            let code = match code {
                ConnectReturnCode::Success => four::ConnectReturnCode::Success,
                _ => four::ConnectReturnCode::BadClientId,
            };
            four::Packet::ConnAck(four::ConnAck::new(code, false))
        }
        Packet::Publish(publish) => four::Packet::Publish(four::Publish {
            dup: publish.dup,
            qos: to_four_qos(publish.qos),
            retain: publish.retain,
            topic: String::from_utf8(publish.topic.into()).ok()?,
            pkid: publish.pkid,
            payload: publish.payload,
        }),
        Packet::PubAck(ack) => four::Packet::PubAck(four::PubAck::new(ack.pkid)),
        Packet::SubAck(SubAck {
            pkid, return_codes, ..
        }) => {
            let codes = return_codes.into_iter().map(|code| match code {
                SubscribeReasonCode::Success(qos) => four::SubscribeReasonCode::Success(to_four_qos(qos)),
                _ => four::SubscribeReasonCode::Failure,
            });
            four::Packet::SubAck(four::SubAck::new(pkid, codes.collect()))
        }
        Packet::UnsubAck(ack) => four::Packet::UnsubAck(four::UnsubAck::new(ack.pkid)),
        Packet::PingResp(_) => four::Packet::PingResp,
        _ => return None,
    })
}

fn from_four_qos(qos: four::QoS) -> QoS {
    match qos {
        four::QoS::AtMostOnce => QoS::AtMostOnce,
        four::QoS::AtLeastOnce => QoS::AtLeastOnce,
        four::QoS::ExactlyOnce => QoS::ExactlyOnce,
    }
}

fn to_four_qos(qos: QoS) -> four::QoS {
    match qos {
        QoS::AtMostOnce => four::QoS::AtMostOnce,
        QoS::AtLeastOnce => four::QoS::AtLeastOnce,
        QoS::ExactlyOnce => four::QoS::ExactlyOnce,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Decodes bytes that arrive one at a time.
    fn decoded(bytes: &[u8]) -> Result<Vec<Packet>, WireError> {
        let mut decoder = Decoder::default();
        let mut packets = Vec::new();
        for byte in bytes {
            decoder.buffer.extend_from_slice(&[*byte]);
            while let Some(packet) = decoder.next()? {
                packets.push(packet);
            }
        }
        Ok(packets)
    }

    /// CONNECT with the client id "a".
    const FIVE: &[u8] = b"\x10\x0e\x00\x04MQTT\x05\x02\x00\x3c\x00\x00\x01a";
    const FOUR: &[u8] = b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x3c\x00\x01a";

    #[test]
    fn both_versions_are_read_byte_by_byte() {
        for (connect, version) in [(FIVE, Version::Five), (FOUR, Version::Four)] {
            let mut decoder = Decoder::default();
            decoder.buffer.extend_from_slice(connect);
            let packet = decoder.next().unwrap();
            assert!(
                matches!(&packet, Some(Packet::Connect(connect, None, None)) if connect.client_id == "a"),
                "{packet:?}"
            );
            assert_eq!(decoder.version, Some(version));
            assert_eq!(decoded(connect).unwrap(), [packet.unwrap()]);
        }
    }

    #[test]
    fn every_form_of_disconnect_is_read() {
        for (bytes, reason) in [
            (&b"\xe0\x00"[..], DisconnectReasonCode::NormalDisconnection),
            (b"\xe0\x01\x00", DisconnectReasonCode::NormalDisconnection),
            (b"\xe0\x01\x04", DisconnectReasonCode::DisconnectWithWillMessage),
            (
                b"\xe0\x02\x04\x00",
                DisconnectReasonCode::DisconnectWithWillMessage,
            ),
        ] {
            let packets = decoded(&[FIVE, bytes].concat()).unwrap();
            assert_eq!(
                packets[1..],
                [Packet::Disconnect(Disconnect::new(reason))],
                "{bytes:?}"
            );
        }
    }

    #[test]
    fn other_protocols_are_refused_at_the_first_wrong_byte() {
        for bytes in [
            &b"G"[..],
            b"\x10\x0e\x00\x06MQIsdp\x03",
            b"\x10\x0e\x00\x04MQTT\x06",
            b"\x10\xff\xff\xff\xff\x01",
            b"\x30\x00",
        ] {
            assert!(matches!(decoded(bytes), Err(WireError::NotMqtt)), "{bytes:?}");
        }
    }

    #[test]
    fn too_long_length_inside_a_packet_is_an_error() {
        // A SUBSCRIBE of 7 bytes, with a filter length of 255.
        let subscribe = b"\x82\x07\x00\x01\x00\x00\xffab";
        assert!(matches!(
            decoded(&[FIVE, subscribe].concat()),
            Err(WireError::Malformed(_))
        ));
    }

    proptest! {
        #[test]
        fn no_bytes_cause_a_panic(
            is_five: bool,
            kind in 1_u8..16,
            flags in 0_u8..16,
            body in proptest::collection::vec(any::<u8>(), 0..60),
        ) {
            let length = u8::try_from(body.len()).unwrap();
            let connect = if is_five { FIVE } else { FOUR };
            let _ = decoded(&[connect, &[kind << 4 | flags, length], &body].concat());
        }
    }
}
