//! Tests of whole connections, with clients that send one packet at a time.

use bytes::BytesMut;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{
    Connect, ConnectProperties, ConnectReturnCode, Disconnect, DisconnectReasonCode, Filter, LastWill,
    Packet, PingReq, PingResp, PubAck, Publish, Subscribe, Unsubscribe,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::Broker;

fn broker() -> Broker {
    Broker::start(([127, 0, 0, 1], 0).into()).unwrap()
}

struct Client {
    stream: TcpStream,
    buffer: BytesMut,
}

impl Client {
    async fn open(broker: &Broker, connect: Connect, will: Option<LastWill>) -> Self {
        let stream = TcpStream::connect(broker.addr()).await.unwrap();
        let mut client = Self {
            stream,
            buffer: BytesMut::new(),
        };
        client.send(Packet::Connect(connect, will, None)).await;
        client
    }

    /// Connects with a client id and waits for the CONNACK.
    async fn accepted(broker: &Broker, id: &str) -> Self {
        Self::accepted_with(broker, connect(id), None).await
    }

    async fn accepted_with(broker: &Broker, connect: Connect, will: Option<LastWill>) -> Self {
        let mut client = Self::open(broker, connect, will).await;
        let packet = client.next().await;
        let Some(Packet::ConnAck(ack)) = packet else {
            panic!("{packet:?}");
        };
        assert_eq!(ack.code, ConnectReturnCode::Success);
        client
    }

    async fn send(&mut self, packet: Packet) {
        let mut bytes = BytesMut::new();
        packet.write(&mut bytes, None).unwrap();
        self.stream.write_all(&bytes).await.unwrap();
    }

    /// Reads the next packet. Returns `None` if the broker has closed the connection.
    async fn next(&mut self) -> Option<Packet> {
        loop {
            match Packet::read(&mut self.buffer, None) {
                Ok(packet) => return Some(packet),
                Err(_) if self.stream.read_buf(&mut self.buffer).await.unwrap() == 0 => return None,
                Err(_) => {}
            }
        }
    }

    async fn subscribe(&mut self, filter: &str) {
        let filter = Filter::new(filter, QoS::AtLeastOnce);
        let subscribe = Subscribe {
            pkid: 7,
            ..Subscribe::new(filter, None)
        };
        self.send(Packet::Subscribe(subscribe)).await;
        let packet = self.next().await;
        assert!(
            matches!(&packet, Some(Packet::SubAck(ack)) if ack.pkid == 7),
            "{packet:?}"
        );
    }

    /// Publishes a message and waits for its PUBACK.
    async fn publish(&mut self, payload: &str) {
        let publish = Publish {
            pkid: 9,
            ..Publish::new("a/b", QoS::AtLeastOnce, payload.to_owned(), None)
        };
        self.send(Packet::Publish(publish)).await;
        assert_eq!(self.next().await, Some(Packet::PubAck(PubAck::new(9, None))));
    }

    /// Reads the next packet, which must be PUBLISH. Returns its packet id and payload.
    async fn message(&mut self) -> (u16, String) {
        match self.next().await {
            Some(Packet::Publish(publish)) => {
                (publish.pkid, String::from_utf8(publish.payload.to_vec()).unwrap())
            }
            packet => panic!("{packet:?}"),
        }
    }

    async fn assert_closed_for(&mut self, reason: DisconnectReasonCode) {
        assert_eq!(
            self.next().await,
            Some(Packet::Disconnect(Disconnect::new(reason)))
        );
        assert_eq!(self.next().await, None);
    }
}

fn connect(id: &str) -> Connect {
    Connect {
        keep_alive: 60,
        client_id: id.to_owned(),
        clean_start: true,
        properties: None,
    }
}

fn will() -> Option<LastWill> {
    Some(LastWill::new("a/will", "gone", QoS::AtMostOnce, false, None))
}

#[tokio::test]
async fn client_subscribes_receives_and_unsubscribes() {
    let broker = broker();
    let mut one = Client::accepted(&broker, "one").await;
    let mut other = Client::accepted(&broker, "other").await;
    one.subscribe("a/#").await;
    other.publish("first").await;
    let (id, payload) = one.message().await;
    assert_eq!(payload, "first");
    one.send(Packet::PubAck(PubAck::new(id, None))).await;

    let unsubscribe = Unsubscribe {
        pkid: 8,
        ..Unsubscribe::new("a/#", None)
    };
    one.send(Packet::Unsubscribe(unsubscribe)).await;
    assert!(matches!(one.next().await, Some(Packet::UnsubAck(ack)) if ack.pkid == 8));
    other.publish("second").await;
    one.send(Packet::PingReq(PingReq)).await;
    assert_eq!(one.next().await, Some(Packet::PingResp(PingResp)), "no message");
}

#[tokio::test]
async fn message_waits_while_the_receive_maximum_is_reached() {
    let broker = broker();
    let narrow = Connect {
        properties: Some(ConnectProperties {
            receive_maximum: Some(1),
            ..ConnectProperties::new()
        }),
        ..connect("narrow")
    };
    let mut narrow = Client::accepted_with(&broker, narrow, None).await;
    let mut other = Client::accepted(&broker, "other").await;
    narrow.subscribe("a/b").await;
    other.publish("first").await;
    other.publish("second").await;
    let (id, first) = narrow.message().await;
    narrow.send(Packet::PingReq(PingReq)).await;
    assert_eq!(narrow.next().await, Some(Packet::PingResp(PingResp)));
    narrow.send(Packet::PubAck(PubAck::new(id, None))).await;
    let (_, second) = narrow.message().await;
    assert_eq!((first.as_str(), second.as_str()), ("first", "second"));
}

#[tokio::test]
async fn message_larger_than_the_client_accepts_is_dropped() {
    let broker = broker();
    let small = Connect {
        properties: Some(ConnectProperties {
            max_packet_size: Some(60),
            ..ConnectProperties::new()
        }),
        ..connect("small")
    };
    let mut small = Client::accepted_with(&broker, small, None).await;
    let mut other = Client::accepted(&broker, "other").await;
    small.subscribe("a/b").await;
    other.publish(&"long ".repeat(20)).await;
    other.publish("short").await;
    assert_eq!(small.message().await.1, "short");
}

#[tokio::test]
async fn will_is_published_unless_the_client_disconnects() {
    let broker = broker();
    let mut listener = Client::accepted(&broker, "listener").await;
    listener.subscribe("a/+").await;

    let mut polite = Client::accepted_with(&broker, connect("polite"), will()).await;
    let goodbye = Disconnect::new(DisconnectReasonCode::NormalDisconnection);
    polite.send(Packet::Disconnect(goodbye)).await;
    assert_eq!(polite.next().await, None);
    Client::accepted(&broker, "other").await.publish("between").await;
    let (id, payload) = listener.message().await;
    assert_eq!(payload, "between");
    listener.send(Packet::PubAck(PubAck::new(id, None))).await;

    drop(Client::accepted_with(&broker, connect("lost"), will()).await);
    assert_eq!(listener.message().await, (0, "gone".to_owned()));
}

#[tokio::test]
async fn silent_client_is_disconnected_after_its_keep_alive() {
    let broker = broker();
    let mut listener = Client::accepted(&broker, "listener").await;
    listener.subscribe("a/+").await;
    let silent = Connect {
        keep_alive: 1,
        ..connect("silent")
    };
    let mut silent = Client::accepted_with(&broker, silent, will()).await;
    silent
        .assert_closed_for(DisconnectReasonCode::KeepAliveTimeout)
        .await;
    assert_eq!(listener.message().await.1, "gone");
}

#[tokio::test]
async fn connection_ends_when_another_takes_its_id() {
    let broker = broker();
    let mut first = Client::accepted(&broker, "same").await;
    let mut second = Client::accepted(&broker, "same").await;
    first
        .assert_closed_for(DisconnectReasonCode::SessionTakenOver)
        .await;
    second.publish("it serves the second").await;
}

#[tokio::test]
async fn unsupported_qos_or_topic_ends_the_connection_with_a_reason() {
    for (topic, qos, reason) in [
        ("a/b", QoS::ExactlyOnce, DisconnectReasonCode::QoSNotSupported),
        ("a/+", QoS::AtMostOnce, DisconnectReasonCode::TopicNameInvalid),
        ("", QoS::AtMostOnce, DisconnectReasonCode::TopicNameInvalid),
    ] {
        let broker = broker();
        let mut client = Client::accepted(&broker, "client").await;
        let publish = Publish {
            pkid: 1,
            ..Publish::new(topic, qos, "", None)
        };
        client.send(Packet::Publish(publish)).await;
        client.assert_closed_for(reason).await;
    }
}

#[tokio::test]
async fn client_without_an_id_gets_one() {
    let broker = broker();
    let mut client = Client::open(&broker, connect(""), None).await;
    let packet = client.next().await;
    let Some(Packet::ConnAck(ack)) = packet else {
        panic!("{packet:?}");
    };
    let id = ack
        .properties
        .and_then(|properties| properties.assigned_client_identifier);
    assert!(id.is_some_and(|id| !id.is_empty()));
}

/// Sends bytes of MQTT 3.1.1 and asserts the bytes of the answer.
async fn assert_answer(stream: &mut TcpStream, question: &[u8], answer: &[u8]) {
    stream.write_all(question).await.unwrap();
    let mut read = vec![0; answer.len()];
    stream.read_exact(&mut read).await.unwrap();
    assert_eq!(read, answer);
}

#[tokio::test]
async fn client_of_mqtt_3_1_1_is_served() {
    let broker = broker();
    let mut old = TcpStream::connect(broker.addr()).await.unwrap();
    assert_answer(
        &mut old,
        b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x3c\x00\x01a",
        b"\x20\x02\x00\x00",
    )
    .await;
    assert_answer(
        &mut old,
        b"\x82\x08\x00\x07\x00\x03a/b\x01",
        b"\x90\x03\x00\x07\x01",
    )
    .await;
    let mut new = Client::accepted(&broker, "new").await;
    new.subscribe("a/#").await;
    // The client's own message may come before or after the PUBACK.
    old.write_all(b"\x32\x09\x00\x03a/b\x00\x05hi").await.unwrap();
    let mut read = [0; 15];
    old.read_exact(&mut read).await.unwrap();
    let (message, ack) = (b"\x32\x09\x00\x03a/b\x00\x01hi", b"\x40\x02\x00\x05");
    assert!(
        read[..] == [&message[..], &ack[..]].concat() || read[..] == [&ack[..], &message[..]].concat(),
        "{read:x?}"
    );
    assert_eq!(new.message().await.1, "hi");
    assert_answer(&mut old, b"\xc0\x00", b"\xd0\x00").await;
    assert_answer(&mut old, b"\xa2\x07\x00\x08\x00\x03a/b", b"\xb0\x02\x00\x08").await;
    old.write_all(b"\xe0\x00").await.unwrap();
    assert_eq!(old.read(&mut read).await.unwrap(), 0);

    // MQTT 3.1.1 allows no persistent session without a client id.
    let mut nameless = TcpStream::connect(broker.addr()).await.unwrap();
    assert_answer(
        &mut nameless,
        b"\x10\x0c\x00\x04MQTT\x04\x00\x00\x3c\x00\x00",
        b"\x20\x02\x00\x02",
    )
    .await;
}

#[tokio::test]
async fn garbage_ends_its_own_connection_alone() {
    let broker = broker();
    let mut client = Client::accepted(&broker, "client").await;
    for garbage in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        b"\x10\xff\xff\xff\xff",
        b"\xe0\x00",
    ] {
        let mut stream = TcpStream::connect(broker.addr()).await.unwrap();
        stream.write_all(garbage).await.unwrap();
        let mut read = Vec::new();
        // The stream ends, or is reset because the broker left bytes unread.
        let _ = stream.read_to_end(&mut read).await;
        assert!(read.is_empty(), "{read:?}");
    }
    client.publish("still here").await;
}
