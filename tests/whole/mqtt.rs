//! Messages that subscribers receive from a real broker.

use std::collections::BTreeSet;
use std::io::Cursor;
use std::time::Duration;

use kiebitz::outputs::mqtt::{ConnectionState, MqttConfig, Outbox};
use rumqttc::v5::mqttbytes::v5::Publish;
use serde_json::json;

use crate::mosquitto::{Mosquitto, Proxy, ProxyState};
use crate::mqtt_world::{Listener, Publisher, event_seqs, in_time, json, replayed_game, seqs, topic};

const DAEMON: &str = "daemons/pi/state";

#[tokio::test]
async fn listener_gets_every_event_in_order() {
    let broker = Mosquitto::start().await;
    let listener = Listener::start("listener", broker.address()).await;
    let publisher = Publisher::start(broker.address());
    let game = replayed_game();
    let published = seqs(&game);
    publisher.publish(&game);
    let all = published.len();
    listener
        .until("all events", |inbox| event_seqs(inbox).len() >= all)
        .await;
    assert_eq!(listener.seqs(), published);
    assert_eq!(published, (1..=all as u64).collect::<Vec<_>>());
    publisher.drained().await;
    let progress = publisher.outbox.progress().borrow().clone();
    assert_eq!(progress.acknowledged.get("board-1"), Some(&(all as u64)));
    for publish in listener.inbox() {
        let words = ["last_move", "turn", "result", "white", "black"];
        let expected = match topic(&publish).rsplit('/').next() {
            Some("pgn") => "application/vnd.chess-pgn",
            Some(word) if words.contains(&word) => "text/plain",
            _ => "application/json",
        };
        let content_type = publish.properties.and_then(|properties| properties.content_type);
        assert_eq!(content_type.as_deref(), Some(expected));
    }
    publisher.stop().await;
}

#[tokio::test]
async fn late_listener_gets_all_retained_topics() {
    let broker = Mosquitto::start().await;
    let publisher = Publisher::start(broker.address());
    let game = replayed_game();
    publisher.publish(&game);
    publisher.drained().await;

    let listener = Listener::start("late", broker.address()).await;
    let topics = [
        "boards/board-1/clock",
        "boards/board-1/game",
        "boards/board-1/health",
        "boards/board-1/incidents",
        "boards/board-1/last_move",
        "boards/board-1/pgn",
        "boards/board-1/placement",
        "boards/board-1/result",
        "boards/board-1/state",
        "boards/board-1/turn",
        DAEMON,
        "public/boards/board-1/clock",
        "public/boards/board-1/game",
        "public/boards/board-1/last_move",
        "public/boards/board-1/pgn",
        "public/boards/board-1/placement",
        "public/boards/board-1/result",
        "public/boards/board-1/state",
        "public/boards/board-1/turn",
    ];
    listener
        .until("all pictures", |inbox| inbox.len() >= topics.len())
        .await;
    let retained = listener.retained();
    assert_eq!(retained.keys().map(String::as_str).collect::<Vec<_>>(), topics);
    assert!(
        listener.inbox().iter().all(|publish| publish.retain),
        "they are retained"
    );

    let record = json(&retained["boards/board-1/game"]);
    let moves = record["moves"].as_array().expect("moves");
    let events: Vec<serde_json::Value> = game
        .iter()
        .flatten()
        .filter(|message| message.topic.ends_with("/events"))
        .map(|message| serde_json::from_slice(&message.payload).expect("JSON"))
        .collect();
    let last_ply = events
        .iter()
        .rfind(|event| event["type"] == "move.made")
        .expect("a move");
    assert_eq!(
        json!(moves.len()),
        last_ply["ply"],
        "the capture has no corrections at its end"
    );
    assert_eq!(record["fen"], last_ply["fen"]);
    assert!(
        moves.iter().all(|entry| entry["settled"].is_string()),
        "all are settled"
    );
    assert!(
        moves
            .iter()
            .skip(2)
            .all(|entry| entry["clock"]["white_ms"].is_u64()),
        "with clocks"
    );

    let text = std::str::from_utf8(&retained["boards/board-1/pgn"].payload).expect("PGN is text");
    assert!(text.contains("{[%clk "), "{text}");
    assert_eq!(plies_of(text), moves.len());
    let public = std::str::from_utf8(&retained["public/boards/board-1/pgn"].payload).expect("PGN is text");
    assert_eq!(plies_of(public), moves.len());
    assert_eq!(
        json(&retained["public/boards/board-1/game"])["fen"],
        record["fen"]
    );

    assert_eq!(json(&retained["boards/board-1/incidents"]), json!([]));
    let state = json(&retained["boards/board-1/state"]);
    assert_eq!(
        (&state["clock"]["present"], &state["daemon"]),
        (&json!(true), &json!("pi"))
    );
    let placement = json(&retained["boards/board-1/placement"]);
    let game_placement = record["fen"].as_str().and_then(|fen| fen.split(' ').next());
    assert_eq!(placement["game_placement"].as_str(), game_placement);
    assert!(json(&retained["boards/board-1/clock"])["as_of"].is_string());
    assert_eq!(json(&retained[DAEMON])["state"], "online");
    publisher.stop().await;
}

#[tokio::test]
async fn a_killed_broker_loses_no_event() {
    let mut broker = Mosquitto::start().await;
    let proxy = Proxy::to(broker.address()).await;
    let listener = Listener::start("listener", broker.address()).await;
    let publisher = Publisher::start(proxy.address());
    let game = replayed_game();
    let (first, rest) = game.split_at(game.len() / 3);
    let (second, third) = rest.split_at(rest.len() / 2);

    publisher.publish(first);
    publisher.drained().await;
    let first_count = seqs(first).len();
    listener
        .until("the first third", |inbox| event_seqs(inbox).len() >= first_count)
        .await;

    // The broker's acknowledgements do not arrive, and the broker is killed and loses the messages.
    proxy.set(ProxyState::OneWay);
    publisher.publish(second);
    listener
        .until("some of the second third", |inbox| {
            event_seqs(inbox).len() > first_count
        })
        .await;
    broker.kill();
    proxy.set(ProxyState::Shut);
    let mut connection = publisher.outbox.connection();
    let lost = connection.wait_for(|state| *state == ConnectionState::Disconnected);
    in_time("the loss is noticed", lost)
        .await
        .expect("the outbox is at work");
    publisher.publish(third);

    // The listener subscribes before anything is published again, so from here on only the outbox can lose events.
    broker.start_again().await;
    listener.subscribed(2).await;
    let before = listener.inbox().len();
    proxy.set(ProxyState::Open);
    publisher.drained().await;
    let last = seqs(&game).last().copied();
    listener
        .until("the last event", |inbox| {
            event_seqs(inbox).last().copied() == last
        })
        .await;

    assert_eq!(topic(&listener.inbox()[before]), DAEMON, "online comes first");
    let again = event_seqs(&listener.inbox()[before..]);
    assert!(
        again.windows(2).all(|pair| pair[1] == pair[0] + 1),
        "in order and without gaps: {again:?}"
    );
    assert_eq!(
        again.first().copied(),
        seqs(second).first().copied(),
        "from the oldest unacknowledged on"
    );
    let all: BTreeSet<u64> = listener.seqs().into_iter().collect();
    assert_eq!(all.into_iter().collect::<Vec<_>>(), seqs(&game));

    // The restarted broker has all retained topics, including those that have not changed since.
    let late = Listener::start("late", broker.address()).await;
    late.has("boards/board-1/game").await;
    let record = json(&late.retained()["boards/board-1/game"]);
    assert_eq!(record, json(&listener.retained()["boards/board-1/game"]));
    publisher.stop().await;
}

#[tokio::test]
async fn a_broker_that_starts_late_gets_everything() {
    let mut broker = Mosquitto::start().await;
    broker.kill();
    let publisher = Publisher::start(broker.address());
    let game = replayed_game();
    publisher.publish(&game);
    broker.start_again().await;
    publisher.drained().await;
    let late = Listener::start("late", broker.address()).await;
    late.has("boards/board-1/game").await;
    publisher.stop().await;
}

#[tokio::test]
async fn a_daemon_whose_connection_is_cut_is_offline_and_comes_back() {
    let broker = Mosquitto::start().await;
    let proxy = Proxy::to(broker.address()).await;
    let listener = Listener::start("listener", broker.address()).await;
    let publisher = Publisher::start(proxy.address());
    listener
        .until("online", |inbox| last_state(inbox) == Some("online".into()))
        .await;

    proxy.set(ProxyState::Shut);
    listener
        .until("the last will", |inbox| {
            last_state(inbox) == Some("offline".into())
        })
        .await;
    proxy.set(ProxyState::Open);
    listener
        .until("online again", |inbox| last_state(inbox) == Some("online".into()))
        .await;
    publisher.stop().await;
}

/// The delay of the last will is long here, so that the test does not depend on how fast the machine is.
#[tokio::test]
async fn a_connection_that_is_restored_soon_is_never_offline() {
    let broker = Mosquitto::start().await;
    let proxy = Proxy::to(broker.address()).await;
    let listener = Listener::start("listener", broker.address()).await;
    let config = Publisher::config(proxy.address()).with_will_delay(Duration::from_secs(3600));
    let publisher = Publisher::with_config(config, None);
    let mut connection = publisher.outbox.connection();
    for cut in [true, true, false] {
        let connected = connection.wait_for(|state| *state == ConnectionState::Connected);
        in_time("a connection", connected)
            .await
            .expect("the outbox is at work");
        if cut {
            proxy.set(ProxyState::Shut);
            let lost = connection.wait_for(|state| *state == ConnectionState::Disconnected);
            in_time("the loss", lost).await.expect("the outbox is at work");
            proxy.set(ProxyState::Open);
        }
    }
    let game = replayed_game();
    publisher.publish(&game);
    publisher.stop().await;
    listener
        .until("offline", |inbox| last_state(inbox) == Some("offline".into()))
        .await;
    assert_eq!(listener.seqs(), seqs(&game));
    let inbox = listener.inbox();
    let states = inbox.iter().filter(|publish| topic(publish) == DAEMON);
    let offline = states.filter(|publish| json(publish)["state"] == "offline");
    assert_eq!(offline.count(), 1, "only the last word");
}

#[tokio::test]
async fn a_daemon_that_stops_has_delivered_everything_and_is_offline() {
    let broker = Mosquitto::start().await;
    let listener = Listener::start("listener", broker.address()).await;
    let publisher = Publisher::start(broker.address());
    let mut connection = publisher.outbox.connection();
    let connected = connection.wait_for(|state| *state == ConnectionState::Connected);
    in_time("a connection", connected)
        .await
        .expect("the outbox is at work");
    let game = replayed_game();
    publisher.publish(&game);
    publisher.stop().await;
    listener
        .until("offline", |inbox| last_state(inbox) == Some("offline".into()))
        .await;
    assert_eq!(listener.seqs(), seqs(&game));
    let inbox = listener.inbox();
    assert_eq!(
        inbox.last().map(topic).as_deref(),
        Some(DAEMON),
        "offline is the last word"
    );
    // One online and one offline message: the broker did not publish the last will.
    let states = inbox.iter().filter(|publish| topic(publish) == DAEMON).count();
    assert_eq!(states, 2);

    let late = Listener::start("late", broker.address()).await;
    late.until("offline is retained", |inbox| {
        last_state(inbox) == Some("offline".into())
    })
    .await;
}

#[tokio::test]
async fn a_daemon_publishes_its_boards_again_after_an_outage() {
    let broker = Mosquitto::start().await;
    let proxy = Proxy::to(broker.address()).await;
    let publisher = Publisher::start(proxy.address());
    let now = kiebitz_hardware::Timestamp::from_micros(1_789_000_000_000_000);
    let config = MqttConfig::from_url("mqtt://localhost")
        .expect("a URL")
        .with_daemon("pi");
    let mut boards = kiebitz::outputs::mqtt::Publisher::new(&config, "live", now).expect("a host name");
    let announced = boards.announce(now, vec!["board-1".to_owned()], None);
    publisher.publish(&[announced.into_iter().collect()]);
    publisher.drained().await;
    proxy.set(ProxyState::Shut);
    let listener = Listener::start("listener", broker.address()).await;
    listener
        .until("the last will", |inbox| {
            last_state(inbox) == Some("offline".into())
        })
        .await;
    proxy.set(ProxyState::Open);
    listener
        .until("online again", |inbox| last_state(inbox) == Some("online".into()))
        .await;
    assert_eq!(json(&listener.retained()[DAEMON])["boards"], json!(["board-1"]));
    publisher.stop().await;
}

#[tokio::test]
async fn names_that_are_invalid_in_topics_are_refused() {
    let config = MqttConfig::from_url("mqtt://localhost").expect("a URL");
    let error = Outbox::connect(config.clone().with_daemon("pi/#"), None).expect_err("a wildcard");
    assert!(error.to_string().contains("'#'"), "{error}");
    assert!(config.prefix().board("board+1").is_err());
}

fn last_state(inbox: &[Publish]) -> Option<String> {
    let last = inbox.iter().rev().find(|publish| topic(publish) == DAEMON)?;
    json(last)["state"].as_str().map(str::to_owned)
}

/// Counts the moves that a PGN reader finds.
fn plies_of(pgn: &str) -> usize {
    struct Count;

    impl pgn_reader::Visitor for Count {
        type Tags = ();
        type Movetext = usize;
        type Output = usize;

        fn begin_tags(&mut self) -> std::ops::ControlFlow<usize> {
            std::ops::ControlFlow::Continue(())
        }

        fn begin_movetext(&mut self, (): ()) -> std::ops::ControlFlow<usize, usize> {
            std::ops::ControlFlow::Continue(0)
        }

        fn san(&mut self, count: &mut usize, _: pgn_reader::SanPlus) -> std::ops::ControlFlow<usize> {
            *count += 1;
            std::ops::ControlFlow::Continue(())
        }

        fn end_game(&mut self, count: usize) -> usize {
            count
        }
    }

    pgn_reader::Reader::new(Cursor::new(pgn))
        .read_game(&mut Count)
        .expect("PGN")
        .expect("a game")
}
