//! Messages that make Home Assistant show each board as a device without configuration, by device-based MQTT discovery
//! (since version 2024.12).

use core::fmt::Write;
use std::sync::Arc;

use serde_json::{Value, json};

use super::message::Message;
use super::topics::BoardTopics;

/// The discovery message of a board. `daemon_topic` is the state topic of the board's daemon.
pub(crate) fn discovery(topics: &BoardTopics, daemon_topic: &str, prefix: &str, board: &str) -> Message {
    let id = id(prefix, board);
    let topic: Arc<str> = format!("homeassistant/device/{id}/config").into();
    let [last_move, turn, result, white, black] = topics.brief().all();
    let mut components = serde_json::Map::new();
    let mut add = |name: &str, mut component: Value| {
        component["unique_id"] = format!("{id}_{name}").into();
        components.insert(name.to_owned(), component);
    };
    for (name, label, topic) in [
        ("last_move", "Last move", last_move),
        ("turn", "Turn", turn),
        ("result", "Result", result),
        ("white", "White", white),
        ("black", "Black", black),
    ] {
        add(
            name,
            json!({"platform": "sensor", "name": label, "state_topic": topic}),
        );
    }
    for (name, label) in [("white_clock", "White's time"), ("black_clock", "Black's time")] {
        let ms = name.replace("clock", "ms");
        let template =
            format!("{{{{ (value_json.{ms} / 1000) | int if value_json.{ms} is number else None }}}}");
        add(
            name,
            json!({
                "platform": "sensor", "name": label, "state_topic": topics.clock(), "value_template": template,
                "device_class": "duration", "unit_of_measurement": "s",
            }),
        );
    }
    for (name, label, class, topic, on) in [
        (
            "connected",
            "Connected",
            "connectivity",
            topics.state(),
            "value_json.connected",
        ),
        (
            "problem",
            "Problem",
            "problem",
            topics.health(),
            "not value_json.ok",
        ),
        (
            "clock_battery",
            "Clock's battery",
            "battery",
            topics.state(),
            "value_json.clock.battery_low",
        ),
    ] {
        let mut component = json!({
            "platform": "binary_sensor", "name": label, "device_class": class, "state_topic": topic,
            "value_template": format!("{{{{ 'ON' if {on} else 'OFF' }}}}"), "entity_category": "diagnostic",
        });
        if name == "problem" {
            component["json_attributes_topic"] = topics.health().into();
        }
        add(name, component);
    }
    let content = json!({
        "device": {"identifiers": [id], "name": board, "model": "chess board"},
        "origin": {"name": "kiebitz", "sw_version": env!("CARGO_PKG_VERSION")},
        "availability": [{"topic": daemon_topic, "value_template": "{{ value_json.state }}"}],
        "components": components,
    });
    Message::retained(&topic, &content)
}

/// An object id for Home Assistant, made of letters, digits and `_`. Other characters are replaced by their code, so
/// that ids are unique.
fn id(prefix: &str, board: &str) -> String {
    let mut id = String::new();
    for character in format!("{prefix}/{board}").chars() {
        if character.is_ascii_alphanumeric() {
            id.push(character);
        } else {
            // Writing to a string cannot fail.
            let _ = write!(id, "_{:x}_", u32::from(character));
        }
    }
    id
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::outputs::mqtt::Prefix;

    #[test]
    fn each_board_is_a_device_with_unique_ids() {
        let prefix = Prefix::live();
        let names = ["board-1", "board 1", "board_1", "Brett ä", "a_2d_b", "a-b"];
        let mut topics = BTreeSet::new();
        let mut ids = BTreeSet::new();
        for board in names {
            let board_topics = prefix.board(board).expect("a name");
            let message = discovery(&board_topics, "kiebitz/daemons/pi/state", "kiebitz", board);
            assert!(
                message.is_retained() && message.topic.is_ascii(),
                "{}",
                message.topic
            );
            topics.insert(message.topic.clone());
            let content: Value = serde_json::from_slice(&message.payload).expect("JSON");
            assert_eq!(content["device"]["name"], board);
            for (_, component) in content["components"].as_object().expect("components") {
                assert!(
                    ids.insert(component["unique_id"].to_string()),
                    "{component} of {board}"
                );
                let topic = component["state_topic"].as_str().expect("a topic");
                assert!(
                    topic.starts_with(&board_topics.state().replace("/state", "/")),
                    "{topic}"
                );
            }
        }
        assert_eq!(topics.len(), names.len());
    }
}
