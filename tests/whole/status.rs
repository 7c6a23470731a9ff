//! The status that `kiebitz run` serves over HTTP.

use core::time::Duration;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;

use crate::mosquitto::{Mosquitto, free_port};
use crate::mqtt_world::{Listener, json, topic};
use crate::spectators::Program;

const GAME: &str = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O";

/// Sends a request with a `Host` header. Returns status and body.
fn fetch(address: SocketAddr, request: &str, host: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .expect("a socket");
    write!(
        stream,
        "{request} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    )
    .ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    let (head, content) = text.split_once("\r\n\r\n")?;
    let code = head.split(' ').nth(1)?.parse().ok()?;
    Some((code, content.to_owned()))
}

/// Repeats a request until the answer matches `wanted`.
async fn until(address: SocketAddr, request: &str, wanted: impl Fn(u16, &str) -> bool) -> String {
    let mut last = None;
    for _ in 0..300 {
        last = tokio::task::spawn_blocking({
            let request = request.to_owned();
            move || fetch(address, &request, "localhost")
        })
        .await
        .expect("it ends");
        if let Some((code, content)) = &last
            && wanted(*code, content)
        {
            return content.clone();
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{request}: {last:?}");
}

#[tokio::test]
async fn the_status_is_served_for_people_and_for_programs() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let broker = Mosquitto::start().await;
    let address: SocketAddr = format!("127.0.0.1:{}", free_port()).parse().expect("an address");
    let link = directory.path().join("links/board-1");
    let config = format!(
        "[daemon]\nname = \"hall\"\nstate_directory = {:?}\n[ports]\nusb = false\n[mqtt]\nurl = \"mqtt://{}\"\n\
         [http]\nlisten = \"{address}\"\n[[port]]\npath = {link:?}\nmode = \"single\"\n\
         [[board]]\nport = {link:?}\nname = \"board-1\"\n",
        directory.path().join("state"),
        broker.address(),
    );
    std::fs::write(directory.path().join("kiebitz.toml"), config).expect("a configuration");
    std::fs::write(directory.path().join("game.pgn"), format!("{GAME} *\n")).expect("a game");
    let listener = Listener::start("listener", broker.address()).await;
    let daemon = Program::start(directory.path(), &["run", "--config", "kiebitz.toml"]);
    let emulate = [
        "emulate", "--hands", "blitz", "--pgn", "game.pgn", "--links", "links",
    ];
    let boards = Program::start(directory.path(), &emulate);

    let delivered = |code, text: &str| {
        let health: Value = serde_json::from_str(text).unwrap_or_default();
        let board = &health["boards"][0];
        let heard =
            board["connected"] == true && board["playing"] == true && board["line"]["heard"].is_string();
        code == 200 && health["ok"] == true && heard && health["delivery"]["last_ms"].is_u64()
    };
    let health = until(address, "GET /health", delivered).await;
    let health: Value = serde_json::from_str(&health).expect("JSON");
    assert_eq!(
        (&health["host"], &health["broker"]),
        (&"hall".into(), &true.into())
    );
    assert_eq!(health["journal"]["ok"], true);
    assert!(health["machine"]["disk"]["free_bytes"].is_u64(), "{health}");
    let connected = |text: &str| text.contains("kiebitz_board_connected{board=\"board-1\"} 1\n");
    let metrics = until(address, "GET /metrics", |code, text| {
        code == 200 && connected(text)
    })
    .await;
    assert!(metrics.contains("kiebitz_broker_connected 1\n"), "{metrics}");
    let page = until(address, "GET /", |code, _| code == 200).await;
    assert!(
        page.contains("board-1") && page.contains("All is well."),
        "{page}"
    );
    for (host, code) in [
        ("127.0.0.1:8037", 200),
        ("[::1]:8037", 200),
        ("[::1]", 200),
        ("club.example", 403),
        ("club.example:8037", 403),
        ("localhost.club.example", 403),
        ("", 403),
    ] {
        let request = move || fetch(address, "GET /", host);
        let answer = tokio::task::spawn_blocking(request).await.expect("it ends");
        assert_eq!(answer.map(|(code, _)| code), Some(code), "{host}");
    }
    // Nothing can be changed, and no other files are served.
    until(address, "POST /health", |code, _| code == 405).await;
    until(address, "GET /../../etc/passwd", |code, _| code == 404).await;

    // The same figures are on MQTT, for other computers.
    let has_figures = |heard: &[rumqttc::v5::mqttbytes::v5::Publish]| {
        let states = heard
            .iter()
            .filter(|publish| topic(publish) == "daemons/hall/state");
        states
            .map(json)
            .any(|state| state["machine"]["memory_bytes"].is_u64())
    };
    listener.until("how the computer is", has_figures).await;

    drop(boards);
    let is_disconnected = |code, text: &str| code == 503 && text.contains("board-1 is not connected");
    until(address, "GET /health", is_disconnected).await;
    daemon.stop();
}
