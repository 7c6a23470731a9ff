//! Brokers that disconnect the daemon or are too old, and the messages with which the daemon explains this.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use rumqttc::v5::mqttbytes::v5::Publish;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

use crate::cli::CAPTURE;
use crate::eventually::eventually;
use crate::mosquitto::Mosquitto;
use crate::mqtt_world::{self, Listener};
use crate::outage::Program;

/// Starts a daemon called "pi" that uses the broker.
fn start(directory: &Path, broker: SocketAddr) -> Program {
    start_with(directory, broker, "")
}

/// Like [`start`], with further lines about the broker.
fn start_with(directory: &Path, broker: SocketAddr, lines: &str) -> Program {
    fs::create_dir_all(directory).unwrap();
    let config = format!(
        "[daemon]\nname = \"pi\"\nstate_directory = {:?}\n[mqtt]\nurl = \"mqtt://{broker}\"\n{lines}[ports]\nusb = false\n",
        directory.join("state")
    );
    fs::write(directory.join("kiebitz.toml"), config).unwrap();
    Program::start(directory)
}

fn log_contains(directory: &Path, words: &str) -> bool {
    fs::read_to_string(directory.join("log")).is_ok_and(|log| log.contains(words))
}

#[tokio::test]
async fn two_daemons_with_the_same_name_are_reported() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let broker = Mosquitto::start().await;
    let (first, second) = (directory.path().join("first"), directory.path().join("second"));
    let _first = start(&first, broker.address());
    eventually("the first is connected", || {
        log_contains(&first, "connected to the MQTT broker")
    });
    let _second = start(&second, broker.address());
    eventually("the first knows", || {
        log_contains(&first, "another program uses the client id kiebitz-pi-")
    });
}

/// A server that answers every CONNECT with these bytes and hangs up.
fn broker_that_hangs_up(answer: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let read = client.read(&mut [0; 1024]);
            if read.is_ok() && client.write_all(answer).is_ok() {
                // The answer must arrive before the connection ends.
                thread::sleep(Duration::from_millis(300));
            }
        }
    });
    address
}

#[test]
fn a_broker_that_hangs_up_silently_is_explained() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    // CONNACK of MQTT 5: accepted.
    let broker = broker_that_hangs_up(&[0x20, 0x03, 0x00, 0x00, 0x00]);
    let _kiebitz = start(directory.path(), broker);
    eventually("the log says it", || {
        log_contains(
            directory.path(),
            "probably another program uses the client id kiebitz-pi-",
        )
    });
}

#[test]
fn a_broker_that_bans_the_client_is_explained_and_left_alone() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    // CONNACK of MQTT 5: banned.
    let broker = broker_that_hangs_up(&[0x20, 0x03, 0x00, 0x8a, 0x00]);
    let _kiebitz = start(directory.path(), broker);
    eventually("the log says it", || {
        log_contains(directory.path(), "the broker has banned this client")
    });
}

/// CONNACK of MQTT 3.1.1, and of MQTT 5: unsupported protocol version.
const REFUSED_OLD: &[u8] = &[0x20, 0x02, 0x00, 0x01];
const REFUSED_NEW: &[u8] = &[0x20, 0x03, 0x00, 0x84, 0x00];

#[test]
fn a_broker_that_is_too_old_is_explained() {
    for answer in [REFUSED_OLD, REFUSED_NEW] {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let _kiebitz = start(directory.path(), broker_that_hangs_up(answer));
        eventually("the log says it", || log_contains(directory.path(), "MQTT 5"));
    }
}

const LIMIT: usize = 3000;

#[tokio::test]
async fn a_broker_with_a_small_packet_limit_gets_every_event() {
    let broker = limited("max_packet_size").await;
    assert_eq!(
        lost_for_large_messages(broker.address(), broker.address()).await,
        0
    );
}

#[tokio::test]
async fn a_broker_that_does_not_announce_its_limit_gets_every_event() {
    let broker = limited("message_size_limit").await;
    let lost = lost_for_large_messages(broker.address(), broker.address()).await;
    assert!((1..=MAX_LOST).contains(&lost), "{lost} connections");
}

#[tokio::test]
async fn a_broker_that_ends_the_connection_on_large_messages_gets_every_event() {
    // DISCONNECT of MQTT 5, packet too large; or nothing.
    for farewell in [&[0xe0, 0x02, 0x95, 0x00][..], &[]] {
        let broker = Mosquitto::start().await;
        let proxy = proxy_with_a_limit(broker.address(), farewell).await;
        let lost = lost_for_large_messages(broker.address(), proxy).await;
        assert!((1..=MAX_LOST).contains(&lost), "{lost} connections");
    }
}

/// Maximum number of lost connections until the limit is known.
const MAX_LOST: usize = 40;

async fn limited(setting: &str) -> Mosquitto {
    let config = |port| format!("listener {port} 127.0.0.1\nallow_anonymous true\n{setting} {LIMIT}\n");
    Mosquitto::configured(config).await
}

/// A proxy that ends the connection on a packet over the limit, with these last bytes.
async fn proxy_with_a_limit(broker: SocketAddr, farewell: &'static [u8]) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let broker = tokio::net::TcpStream::connect(broker).await.unwrap();
            tokio::spawn(async move {
                let (mut from_client, mut to_client) = client.into_split();
                let (mut from_broker, mut to_broker) = broker.into_split();
                tokio::select! {
                    () = pass_small_packets(&mut from_client, &mut to_broker) => {}
                    _ = tokio::io::copy(&mut from_broker, &mut to_client) => {}
                }
                let _ = to_client.write_all(farewell).await;
            });
        }
    });
    address
}

/// Copies packets until one exceeds the limit, which is read but not written.
async fn pass_small_packets(client: &mut OwnedReadHalf, broker: &mut OwnedWriteHalf) {
    loop {
        let Ok(kind) = client.read_u8().await else { return };
        let (mut packet, mut length, mut shift) = (vec![kind], 0_usize, 0);
        loop {
            let Ok(byte) = client.read_u8().await else { return };
            packet.push(byte);
            length |= usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                break;
            }
        }
        let header = packet.len();
        packet.resize(header + length, 0);
        let read = client.read_exact(&mut packet[header..]).await;
        if read.is_err() || length > LIMIT || broker.write_all(&packet).await.is_err() {
            return;
        }
    }
}

/// Replays a game to `address`, from where messages within the limit arrive at the broker. Returns the number of lost
/// connections.
async fn lost_for_large_messages(broker: SocketAddr, address: SocketAddr) -> usize {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let prefix = "kiebitz/replay/#";
    let listener = Listener::with_login("listener", broker, None, prefix).await;
    let url = format!("mqtt://{address}");
    let replayed = async |args: &[&str]| {
        let mut replay = Command::new(crate::program());
        replay.arg("replay").arg(CAPTURE).args(args);
        replay.env("KIEBITZ_LOG", "debug").current_dir(directory.path());
        // The listener and the proxy must go on meanwhile.
        let output = tokio::task::spawn_blocking(move || replay.output()).await;
        let output = output.unwrap().unwrap();
        assert!(output.status.success(), "{output:?}");
        (
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (events, _) = replayed(&["--json"]).await;
    let (_, log) = replayed(&["--mqtt", &url]).await;
    let all: Vec<u64> = (1..=events.lines().count() as u64).collect();
    assert!(all.len() > 100, "{events}");
    listener
        .until("every event", |inbox| {
            // Events on their way at the loss of a connection arrive again.
            let seqs: BTreeSet<u64> = mqtt_world::event_seqs(inbox).into_iter().collect();
            seqs.into_iter().eq(all.iter().copied())
        })
        .await;
    let warnings: Vec<&str> = log
        .lines()
        .filter(|line| line.contains("max_packet_size"))
        .collect();
    let games = [
        "to kiebitz/replay/boards/board-1/game has ",
        "to kiebitz/replay/public/boards/board-1/game has ",
    ];
    let of = |game: &&str| warnings.iter().filter(|line| line.contains(*game)).count();
    assert_eq!(
        games.iter().map(of).collect::<Vec<_>>(),
        [1, 1],
        "once each: {log}"
    );
    let lost = log
        .lines()
        .filter(|line| line.contains("no connection to the MQTT broker"));
    lost.count()
}

#[tokio::test]
async fn a_broker_without_retained_messages_or_acknowledgements_gets_every_event() {
    const NO_RETAIN: &str = "does not allow retained messages";
    const NO_ACKNOWLEDGEMENTS: &str = "allows only messages of QoS 0";
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let replayed = async |args: &[&str]| {
        let mut replay = Command::new(crate::program());
        replay.arg("replay").arg(CAPTURE).args(args);
        replay.current_dir(directory.path());
        // The listener must go on meanwhile.
        let output = tokio::task::spawn_blocking(move || replay.output()).await;
        let output = output.unwrap().unwrap();
        assert!(output.status.success(), "{output:?}");
        output
    };
    let events = replayed(&["--json"]).await.stdout;
    let last = events.iter().filter(|byte| **byte == b'\n').count() as u64;
    for (settings, logged) in [
        ("retain_available false", &[NO_RETAIN][..]),
        ("max_qos 0", &[NO_ACKNOWLEDGEMENTS]),
        (
            "retain_available false\nmax_qos 0",
            &[NO_RETAIN, NO_ACKNOWLEDGEMENTS],
        ),
    ] {
        let config = |port| format!("listener {port} 127.0.0.1\nallow_anonymous true\n{settings}\n");
        let broker = Mosquitto::configured(config).await;
        let listener = Listener::with_login("listener", broker.address(), None, "kiebitz/replay/#").await;
        let url = format!("mqtt://{}", broker.address());
        let log = String::from_utf8(replayed(&["--mqtt", &url]).await.stderr).unwrap();
        for words in [NO_RETAIN, NO_ACKNOWLEDGEMENTS] {
            let times = usize::from(logged.contains(&words));
            assert_eq!(log.matches(words).count(), times, "{settings}: {log}");
        }
        assert!(!log.contains("no connection"), "{settings}: {log}");
        listener
            .until("every event", |inbox| {
                mqtt_world::event_seqs(inbox).into_iter().eq(1..=last)
            })
            .await;
    }
}

/// A proxy that only passes MQTT 3.1.1, and refuses MQTT 5 like an old broker.
async fn proxy_without_mqtt_5(broker: SocketAddr) -> SocketAddr {
    const LEVEL: [u8; 7] = [0, 4, b'M', b'Q', b'T', b'T', 4];
    const REFUSED: [u8; 4] = [0x20, 2, 0, 1];
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut connect = vec![0; 1024];
                let read = client.read(&mut connect).await.unwrap_or(0);
                connect.truncate(read);
                if !connect.windows(LEVEL.len()).any(|window| window == LEVEL) {
                    let _ = client.write_all(&REFUSED).await;
                    return;
                }
                let mut server = tokio::net::TcpStream::connect(broker).await.unwrap();
                server.write_all(&connect).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
            });
        }
    });
    address
}

#[tokio::test]
async fn the_version_of_mqtt_can_be_forced() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let broker = Mosquitto::start().await;
    let listener = Listener::start("listener", broker.address()).await;
    let kiebitz = start_with(directory.path(), broker.address(), "protocol = \"3.1.1\"\n");
    let is_online = |publish: &Publish| mqtt_world::json(publish)["state"] == "online";
    let online = |inbox: &[Publish]| inbox.iter().rfind(|publish| is_online(publish)).cloned();
    listener
        .until("online without a content type", |inbox| {
            online(inbox).is_some_and(|state| {
                state
                    .properties
                    .is_none_or(|properties| properties.content_type.is_none())
            })
        })
        .await;
    assert!(
        !log_contains(directory.path(), "speaks only"),
        "it was not found out"
    );
    drop(kiebitz);
    for (answer, words) in [
        (REFUSED_OLD, "if it does not speak MQTT 5, remove `protocol`"),
        (REFUSED_NEW, "does not speak MQTT 5: remove `protocol`"),
    ] {
        let old = broker_that_hangs_up(answer);
        let _kiebitz = start_with(directory.path(), old, "protocol = \"5\"\n");
        eventually("the log says it", || log_contains(directory.path(), words));
    }
}

#[tokio::test]
async fn a_broker_without_mqtt_5_gets_everything_too() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let broker = Mosquitto::start().await;
    let proxy = proxy_without_mqtt_5(broker.address()).await;
    let config = format!(
        "[daemon]\nname = \"pi\"\nstate_directory = {:?}\n[mqtt]\nurl = \"mqtt://{proxy}\"\ncommands = true\n\
         [ports]\nusb = false\n[[board]]\nserial = \"12345\"\nname = \"board-1\"\n",
        directory.path().join("state")
    );
    fs::write(directory.path().join("kiebitz.toml"), config).unwrap();
    let listener = Listener::start("listener", broker.address()).await;
    let kiebitz = Program::start(directory.path());
    let state = |wanted: &'static str| {
        move |inbox: &[Publish]| {
            let states = inbox
                .iter()
                .filter(|publish| mqtt_world::topic(publish) == "daemons/pi/state");
            states
                .last()
                .is_some_and(|state| mqtt_world::json(state)["state"] == wanted)
        }
    };
    listener.until("it is online", state("online")).await;
    assert!(log_contains(directory.path(), "speaks only MQTT 3.1.1"));
    let names = r#"{"id":"1","do":"set_players","white":"A","black":"B"}"#;
    let answered = |inbox: &[Publish]| {
        let mut answers = inbox
            .iter()
            .filter(|publish| mqtt_world::topic(publish) == "boards/board-1/answer");
        answers.any(|answer| mqtt_world::json(answer)["ok"] == true)
    };
    listener.send("kiebitz/boards/board-1/command/meier", names, false, None);
    listener.until("an answer", answered).await;
    let events = |inbox: &[Publish]| mqtt_world::event_seqs(inbox) == [1];
    listener.until("the command among the events", events).await;
    // The broker publishes the last will of a killed daemon.
    drop(kiebitz);
    listener.until("the last will", state("offline")).await;
}
