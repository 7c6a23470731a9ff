//! The small topics: single values, health, and the topics of a board that is removed.

use kiebitz_game::events::{DecidedBy, EndReason, GameResult, Players, time_text};

use super::*;

/// The single values among messages, by topic.
fn values(messages: &[Message]) -> Vec<(String, String)> {
    let values = messages
        .iter()
        .filter(|message| message.media_type == MediaType::Text);
    let word = |message: &Message| {
        let text = String::from_utf8(message.payload.to_vec()).expect("text");
        (message.topic.replace("kiebitz/", ""), text)
    };
    values.map(word).collect()
}

fn expected(values: &[(&str, &str)]) -> Vec<(String, String)> {
    let topic = |(word, text): &(&str, &str)| (format!("boards/b/{word}"), (*text).to_owned());
    values.iter().map(topic).collect()
}

fn command(action: &str, arguments: Value) -> EventKind {
    let taken = serde_json::json!({
        "type": "command.taken", "id": "1", "do": action, "by": "arbiter", "arguments": arguments, "error": null,
        "note": null,
    });
    serde_json::from_value(taken).expect("an event")
}

#[test]
fn each_value_of_the_game_is_published_when_it_changes() {
    let mut world = World::new();
    let empty = ["last_move", "turn", "result", "white", "black"].map(|word| (word, ""));
    assert_eq!(values(&world.step(Vec::new())), expected(&empty));
    // The names are known before the game.
    let names = serde_json::json!({"white": "Á. Nagy", "black": null});
    let named = Event {
        game: None,
        ..event(1, command("set_players", names))
    };
    let named = world.happens(vec![named]);
    assert_eq!(values(&named), expected(&[("white", "Á. Nagy")]));
    let made = |number, uci, san| EventKind::MoveMade(ply(number, uci, san));
    let mut begins = started(
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        Variant::Standard,
    );
    if let EventKind::GameStarted { players, .. } = &mut begins {
        *players = Some(Players {
            white: Some("Á. Nagy".to_owned()),
            ..Players::default()
        });
    }
    let messages = world.step(vec![begins, made(1, "e2e4", "e4"), made(2, "e7e5", "e5")]);
    let own = |messages: &[Message]| {
        let mut own = values(messages);
        own.retain(|(topic, _)| topic.starts_with("boards/"));
        own
    };
    assert_eq!(
        own(&messages),
        expected(&[("last_move", "1... e5"), ("turn", "white"), ("result", "*")])
    );
    let ended = EventKind::GameEnded {
        result: GameResult::WhiteWins,
        reason: EndReason::Resignation,
        by: DecidedBy::Arbiter,
        confirmed: true,
        end_certain: true,
        decided_by: None,
    };
    assert_eq!(
        own(&world.step(vec![ended])),
        expected(&[("turn", ""), ("result", "1-0")])
    );
    let names = serde_json::json!({"white": "B. Short", "black": "C. Tall"});
    let next = Event {
        game: None,
        ..event(9, command("set_players", names))
    };
    assert_eq!(
        own(&world.happens(vec![next])),
        expected(&[
            ("last_move", ""),
            ("result", ""),
            ("white", "B. Short"),
            ("black", "C. Tall")
        ]),
        "a result beside them would be taken for theirs"
    );
}

#[test]
fn health_lists_problems_and_is_published_each_minute() {
    let mut world = World::new();
    let connected = EventKind::BoardConnected {
        port: "/dev/ttyUSB0".to_owned(),
        serial: None,
        version: None,
        orientation: None,
    };
    let messages = world.step(vec![connected, EventKind::ClockConnected {}]);
    assert_eq!(value(&messages, "b/health")["ok"], true);
    let messages = world.step(vec![EventKind::ClockBatteryLow {}]);
    assert_eq!(value(&messages, "b/health")["ok"], false);
    assert_eq!(value(&messages, "b/health")["clock"]["battery_low"], true);
    let line = LineHealth {
        heard: Some(at(59)),
        messages: 7,
        damaged_bytes: 1,
    };
    let messages = world.projection.refresh(at(60), line);
    assert_eq!(topics(&messages), ["boards/b/health", "public/boards/b/state"]);
    let health = value(&messages, "b/health");
    assert_eq!(health["as_of"], time_text(at(60)));
    assert_eq!(health["line"]["damaged_bytes"], 1);
    let public = value(&messages, "public/boards/b/state");
    assert_eq!(
        (&public["connected"], public["as_of"].as_str()),
        (&true.into(), Some(&*time_text(at(60))))
    );
}

#[test]
fn a_forgotten_board_leaves_nothing_on_the_broker_until_it_comes_back() {
    let mut world = World::new();
    let discovery = Message::retained(&"homeassistant/device/b/config".into(), &1);
    world.projection = world.projection.with_discovery(Some(discovery));
    let first = world.step(vec![
        started("start", Variant::Standard),
        EventKind::MoveMade(ply(1, "e2e4", "e4")),
    ]);
    let mut retained: std::collections::BTreeSet<&str> = topics(&first).into_iter().collect();
    retained.remove("boards/b/events");
    let messages = world.step(vec![command("forget", serde_json::json!({}))]);
    let (event, cleared) = messages.split_first().expect("the event");
    assert!(!event.is_retained());
    assert!(cleared.iter().all(|message| message.payload.is_empty()));
    for topic in &retained {
        assert!(topics(cleared).contains(topic), "{topic} stays");
    }
    assert!(world.step(Vec::new()).is_empty());
    assert!(world.projection.refresh(at(60), LineHealth::default()).is_empty());
    let back = world.step(vec![EventKind::BoardConnected {
        port: "p".to_owned(),
        serial: None,
        version: None,
        orientation: None,
    }]);
    let topics_after = topics(&back);
    assert!(
        topics_after.contains(&"boards/b/state") && topics_after.contains(&"homeassistant/device/b/config")
    );
    assert!(!topics_after.contains(&"boards/b/game"), "the game is forgotten");
}
