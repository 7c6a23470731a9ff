//! The broker inside the program, with real clients.

use std::process::Command;

use kiebitz::tools::broker::{Broker, BrokerError};

use crate::mqtt_world::{Listener, Publisher, event_seqs, json, replayed_game, seqs};

#[tokio::test]
async fn listener_gets_every_event_in_order() {
    let broker = Broker::start(([127, 0, 0, 1], 0).into()).expect("a broker");
    let listener = Listener::start("listener", broker.addr()).await;
    let publisher = Publisher::start(broker.addr());
    let game = replayed_game();
    publisher.publish(&game);
    publisher.drained().await;
    let all = seqs(&game).len();
    listener
        .until("all events", |inbox| event_seqs(inbox).len() >= all)
        .await;
    assert_eq!(listener.seqs(), seqs(&game));
    publisher.stop().await;
}

#[tokio::test]
async fn late_listeners_of_both_versions_get_the_retained_game() {
    let broker = Broker::start(([127, 0, 0, 1], 0).into()).expect("a broker");
    let publisher = Publisher::start(broker.addr());
    publisher.publish(&replayed_game());
    publisher.drained().await;
    let listener = Listener::start("late", broker.addr()).await;
    listener.has("boards/board-1/game").await;
    let record = json(&listener.retained()["boards/board-1/game"]);

    for version in ["5", "311"] {
        let port = broker.addr().port().to_string();
        let output = tokio::task::spawn_blocking(move || {
            Command::new("mosquitto_sub")
                .args([
                    "-V",
                    version,
                    "-p",
                    &port,
                    "-t",
                    "kiebitz/boards/+/game",
                    "-C",
                    "1",
                    "-W",
                    "10",
                ])
                .output()
                .expect("these tests need mosquitto_sub, which is not installed: run tests/run")
        });
        let output = output.await.expect("no panic").stdout;
        let value: serde_json::Value = serde_json::from_slice(&output).expect("the retained game");
        assert_eq!(value, record, "with MQTT {version}");
    }
    publisher.stop().await;
}

#[tokio::test]
async fn a_daemon_that_vanishes_is_offline() {
    let broker = Broker::start(([127, 0, 0, 1], 0).into()).expect("a broker");
    let proxy = crate::mosquitto::Proxy::to(broker.addr()).await;
    let listener = Listener::start("listener", broker.addr()).await;
    let publisher = Publisher::start(proxy.address());
    listener.until("online", |inbox| inbox.len() == 1).await;
    proxy.set(crate::mosquitto::ProxyState::Shut);
    listener.until("the last will", |inbox| inbox.len() >= 2).await;
    assert_eq!(json(&listener.retained()["daemons/pi/state"])["state"], "offline");
    drop(publisher);
}

#[test]
fn a_dropped_broker_releases_its_port() {
    let broker = Broker::start(([127, 0, 0, 1], 0).into()).expect("a broker");
    let addr = broker.addr();
    assert!(
        matches!(Broker::start(addr), Err(BrokerError::Listen { .. })),
        "the port is taken"
    );
    drop(broker);
    Broker::start(addr).expect("the port is free again");
}
