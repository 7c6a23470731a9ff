//! The desk's test of all alarms: messages to a phone, a program and a lamp, and what comes back.

use core::time::Duration;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::http::StatusCode;
use axum::routing::post;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::{Guest, sent, user};
use crate::eventually::PATIENCE;
use crate::mosquitto::{Mosquitto, free_port};
use crate::mqtt_world::{Listener, topic};
use crate::spectators::Program;

/// Payloads that the lamp received, in order.
fn lamp(listener: &Listener) -> Vec<String> {
    let inbox = listener.inbox();
    let payloads = inbox.iter().filter(|publish| topic(publish) == "lamp");
    payloads
        .map(|publish| String::from_utf8_lossy(&publish.payload).into_owned())
        .collect()
}

/// Waits until the payloads that the lamp has received match `wanted`.
async fn until_lamp(listener: &Listener, goal: &str, wanted: impl Fn(&[String]) -> bool) {
    let waiting = async {
        while !wanted(&lamp(listener)) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let waited = tokio::time::timeout(PATIENCE, waiting).await;
    assert!(waited.is_ok(), "not in time: {goal}: {:?}", lamp(listener));
}

#[tokio::test]
async fn an_arbiter_tests_all_alarms() {
    let broker = Mosquitto::start().await;
    let listener = Listener::start("lamp", broker.address()).await;
    let server = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = server.local_addr().expect("an address");
    let received: Arc<Mutex<Vec<Value>>> = Arc::default();
    let phone = Arc::clone(&received);
    let phone = async move |text: String| {
        let message = serde_json::from_str(&text).expect("JSON");
        phone.lock().expect("no panic").push(message);
    };
    let program = async || (StatusCode::INSUFFICIENT_STORAGE, "no room");
    let router = Router::new()
        .route("/", post(phone))
        .route("/alarm", post(program));
    tokio::spawn(async move { axum::serve(server, router).await });

    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let (folder, port, nobody) = (directory.path(), free_port(), free_port());
    let (state, users) = (folder.join("state"), folder.join("users"));
    let alarms = format!(
        "[[alarm]]\nname = \"phone\"\nsend = \"ntfy\"\nurl = \"http://{address}/arbiters\"\n\
         [[alarm]]\nname = \"program\"\nsend = \"webhook\"\nurl = \"http://{address}/alarm\"\n\
         [[alarm]]\nname = \"nobody\"\nsend = \"webhook\"\nurl = \"http://127.0.0.1:{nobody}/alarm\"\n\
         [[alarm]]\nname = \"lamp\"\nsend = \"mqtt\"\ntopic = \"kiebitz/lamp\"\n"
    );
    let config = format!(
        "[daemon]\nstate_directory = {state:?}\n[ports]\nusb = false\n[mqtt]\nurl = \"mqtt://{}\"\n\
         [desk]\nlisten = \"127.0.0.1:{port}\"\nusers_file = {users:?}\n{alarms}",
        broker.address()
    );
    std::fs::write(folder.join("kiebitz.toml"), config).expect("a configuration");
    let known = [
        user("meier", "arbiter", "rook-on-a1"),
        user("hall", "viewer", "look-at-it"),
    ];
    std::fs::write(users, known.concat()).expect("users");
    let daemon = Program::start(folder, &["run", "--config", "kiebitz.toml"]);
    let mut arbiter = Guest::new(port);
    arbiter.wait().await;
    assert_eq!(sent(arbiter.post("alarms", &json!({}))).await.status(), 401);
    let mut viewer = Guest::new(port);
    assert_eq!(viewer.log_in("hall", "look-at-it").await, 200);
    assert_eq!(sent(viewer.post("alarms", &json!({}))).await.status(), 403);
    assert_eq!(arbiter.log_in("meier", "rook-on-a1").await, 200);
    until_lamp(&listener, "off", |got| got.last().is_some_and(|to| to == "OFF")).await;
    let before = lamp(&listener).len();
    let answer = sent(arbiter.post("alarms", &json!({}))).await;
    let answer: Value = serde_json::from_str(&answer.text().await.expect("an answer")).expect("JSON");
    let tested = answer["alarms"].as_array().expect("a list");
    let of = |name: &str| {
        let found = tested
            .iter()
            .find(|alarm| alarm["name"] == format!("alarm {name}"));
        found.unwrap_or_else(|| panic!("{name}: {answer}")).clone()
    };
    assert_eq!(
        (tested.len(), &of("phone")["ok"], &of("phone")["answer"]),
        (4, &json!(true), &json!("200 OK"))
    );
    assert_eq!(
        (&of("lamp")["ok"], &of("lamp")["answer"]),
        (&json!(true), &json!("kiebitz/lamp"))
    );
    let error = |name: &str| of(name)["error"].as_str().unwrap_or_default().to_owned();
    let program = error("program");
    assert!(
        program.contains("507") && program.contains("no room"),
        "{program}"
    );
    assert!(
        of("nobody")["ok"] == false && !error("nobody").is_empty(),
        "{answer}"
    );
    let messages = received.lock().expect("no panic").clone();
    assert_eq!(
        (messages.len(), &messages[0]["title"], &messages[0]["topic"]),
        (1, &json!("Test of the alarms"), &json!("arbiters"))
    );
    // The lamp goes on for a while, then shows the state of the alarms again.
    until_lamp(&listener, "on and off again", |got| {
        got[before..] == ["ON", "OFF"]
    })
    .await;
    daemon.stop();
}
