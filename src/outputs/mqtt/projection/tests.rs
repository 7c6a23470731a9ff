mod small;

use kiebitz_game::clock::ClockFace;
use kiebitz_game::events::samples::{clock, event, ply, started};
use kiebitz_game::events::{
    Clock, ClosedBy, CompletedBy, DecidedBy, EventKind, GameResult, IncidentEnd, SettledBy,
};
use kiebitz_game::laws::IncidentKind;
use kiebitz_game::position::{Orientation, Variant};
use serde_json::Value;
use shakmaty::Color;

use super::*;
use crate::outputs::mqtt::{Delivery, MediaType, Prefix};

/// A board without pieces, with an optional clock.
struct World {
    projection: Projection,
    board: shakmaty::Board,
    clock: Option<ClockFace>,
    version: Option<(u8, u8)>,
    battery: Option<u8>,
    seq: u64,
}

impl World {
    fn new() -> Self {
        let topics = Prefix::live().board("b").expect("a name");
        let projection = Projection::new(&topics, "b", "live", "pi");
        Self {
            projection,
            board: shakmaty::Board::empty(),
            clock: None,
            version: None,
            battery: None,
            seq: 0,
        }
    }

    fn step(&mut self, kinds: Vec<EventKind>) -> Vec<Message> {
        let events = kinds.into_iter().map(|kind| {
            self.seq += 1;
            event(self.seq, kind)
        });
        let events = events.collect();
        self.happens(events)
    }

    fn happens(&mut self, events: Vec<Event>) -> Vec<Message> {
        let view = BoardView {
            placement: &self.board,
            expected: None,
            clock: self.clock,
            orientation: None,
            version: self.version,
            battery: self.battery,
            table: Some(3),
        };
        self.projection.project(at(0), &events, view)
    }

    fn read_clock(
        &mut self,
        second: i64,
        white_s: u64,
        black_s: u64,
        running: Option<Color>,
    ) -> Vec<Message> {
        let (white_ms, black_ms) = (white_s * 1000, black_s * 1000);
        self.clock = Some(ClockFace {
            clock: Clock {
                white_ms,
                black_ms,
                running,
                flag: None,
            },
            as_of: at(second),
        });
        self.step(Vec::new())
    }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_micros((1_789_000_000 + second) * 1_000_000)
}

fn topics(messages: &[Message]) -> Vec<&str> {
    messages
        .iter()
        .map(|message| message.topic.trim_start_matches("kiebitz/"))
        .collect()
}

/// The topics of all messages except the single values.
fn topics_without_values(messages: &[Message]) -> Vec<&str> {
    let topics_without_values = messages
        .iter()
        .filter(|message| message.media_type != MediaType::Text);
    topics_without_values
        .map(|message| message.topic.trim_start_matches("kiebitz/"))
        .collect()
}

fn value(messages: &[Message], topic: &str) -> Value {
    let message = messages
        .iter()
        .find(|message| message.topic.ends_with(topic))
        .expect(topic);
    serde_json::from_slice(&message.payload).expect("JSON")
}

#[test]
fn first_step_publishes_all_retained_topics() {
    let messages = World::new().step(Vec::new());
    assert_eq!(
        topics_without_values(&messages),
        [
            "boards/b/state",
            "boards/b/incidents",
            "boards/b/health",
            "public/boards/b/state",
            "boards/b/placement",
            "boards/b/clock",
            "public/boards/b/clock"
        ]
    );
    assert_eq!(value(&messages, "b/incidents"), serde_json::json!([]));
    assert_eq!(value(&messages, "boards/b/clock")["white_ms"], Value::Null);
    assert!(messages.iter().all(Message::is_retained));
}

#[test]
fn retained_messages_follow_the_events_that_changed_them() {
    let mut world = World::new();
    world.step(Vec::new());
    let messages = world.step(vec![
        started("start", Variant::Standard),
        EventKind::MoveMade(ply(1, "e2e4", "e4")),
    ]);
    assert_eq!(
        topics_without_values(&messages),
        [
            "boards/b/events",
            "boards/b/events",
            "boards/b/game",
            "boards/b/pgn",
            "public/boards/b/game",
            "public/boards/b/pgn",
            "public/boards/b/placement"
        ]
    );
    assert_eq!(
        messages[0].delivery,
        Delivery::Event {
            board: "b".into(),
            seq: 1
        }
    );
    assert_eq!(value(&messages, "boards/b/game")["moves"][0]["uci"], "e2e4");
}

#[test]
fn nothing_is_published_without_a_change() {
    let mut world = World::new();
    world.step(vec![started("start", Variant::Standard)]);
    assert_eq!(world.step(Vec::new()), []);
}

#[test]
fn spectators_do_not_see_presses_and_certainty() {
    let mut world = World::new();
    let made = EventKind::MoveMade(ply(1, "e2e4", "e4"));
    let first = world.step(vec![started("start", Variant::Standard), made]);
    let settled = world.step(vec![EventKind::MoveSettled {
        ply: 1,
        by: SettledBy::Press,
    }]);
    assert_eq!(topics(&settled), ["boards/b/events", "boards/b/game"]);
    let completed = EventKind::MoveCompleted {
        ply: 1,
        by: CompletedBy::Press,
        clock: Some(clock(500)),
        elapsed_ms: Some(99_000),
    };
    let later = world.step(vec![completed]);
    let public = value(&later, "public/boards/b/game");
    assert_eq!(public["moves"][0]["clock"]["white_ms"], 500_000);
    assert_eq!(
        public["revision"], 3,
        "started, made, completed with another time"
    );
    for messages in [&first, &later] {
        for message in messages
            .iter()
            .filter(|message| message.topic.contains("/public/"))
        {
            let text = String::from_utf8_lossy(&message.payload);
            for word in [
                "settled",
                "completed",
                "elapsed",
                "press",
                "inferred",
                "legal",
                "incident",
                "emt",
            ] {
                assert!(!text.contains(word), "{word} in {text}");
            }
        }
    }
}

#[test]
fn clock_is_published_when_a_client_would_show_something_else() {
    let mut world = World::new();
    world.step(Vec::new());
    let white = Some(Color::White);
    assert_eq!(
        topics(&world.read_clock(0, 600, 600, None)),
        ["boards/b/clock", "public/boards/b/clock"]
    );
    assert_eq!(world.read_clock(5, 600, 600, None), []);
    assert_eq!(world.read_clock(10, 600, 600, white).len(), 2, "it was started");
    for second in 11..60 {
        let late = u64::from(second % 3 == 0);
        let shown = 610 - u64::try_from(second).unwrap_or(0) + late;
        assert_eq!(
            world.read_clock(second, shown, 600, white),
            [],
            "it counts down at second {second}"
        );
    }
    assert_eq!(
        world.read_clock(60, 550, 600, Some(Color::Black)).len(),
        2,
        "White has pressed"
    );
    assert_eq!(
        world.read_clock(61, 580, 599, Some(Color::Black)).len(),
        2,
        "White got 30 seconds"
    );
    assert_eq!(
        world.read_clock(62, 580, 498, Some(Color::Black)).len(),
        2,
        "somebody has set Black's time"
    );
}

#[test]
fn disconnected_board_has_no_clock() {
    let mut world = World::new();
    let connected = EventKind::BoardConnected {
        port: "/dev/ttyUSB0".to_owned(),
        serial: Some("12345".to_owned()),
        version: Some("1.8".to_owned()),
        orientation: None,
    };
    let after_connecting = world.step(vec![connected.clone(), EventKind::ClockConnected {}]);
    assert_eq!(
        value(&after_connecting, "boards/b/state")["clock"]["present"],
        true
    );
    let gone = world.step(vec![EventKind::BoardDisconnected {
        reason: "unplugged".to_owned(),
    }]);
    let state = value(&gone, "boards/b/state");
    assert_eq!(state["connected"], false);
    assert_eq!(state["reason"], "unplugged");
    assert_eq!(state["serial"], "12345");
    assert_eq!(state["clock"]["present"], false);
    assert_eq!(state["daemon"], "pi");
    assert_eq!(state["table"], 3);
    // The clock itself was not disconnected, so no event announces it again.
    let back = world.step(vec![connected]);
    assert_eq!(value(&back, "boards/b/state")["clock"]["present"], true);
}

#[test]
fn version_is_published_when_a_board_on_a_bus_has_given_it() {
    let mut world = World::new();
    assert!(value(&world.step(Vec::new()), "boards/b/state")["version"].is_null());
    world.version = Some((1, 8));
    assert_eq!(value(&world.step(Vec::new()), "boards/b/state")["version"], "1.8");
    world.version = None;
    assert!(
        world.step(Vec::new()).is_empty(),
        "it stays the board that it was"
    );
}

#[test]
fn the_side_of_the_clock_reaches_the_game() {
    let mut world = World::new();
    let messages = world.step(vec![started("start", Variant::Standard)]);
    assert!(value(&messages, "boards/b/game")["white_side"].is_null());
    let sides = EventKind::ClockSides {
        white_side: kiebitz_game::clock::Side::Right,
    };
    let messages = world.step(vec![sides.clone()]);
    assert_eq!(value(&messages, "boards/b/game")["white_side"], "right");
    let again = world.step(vec![sides]);
    assert!(again.iter().all(|message| !message.topic.ends_with("/game")));
}

#[test]
fn battery_is_published_when_its_charge_changes() {
    let mut world = World::new();
    assert_eq!(
        value(&world.step(Vec::new()), "boards/b/state")["battery"],
        Value::Null
    );
    world.battery = Some(64);
    let messages = world.step(Vec::new());
    assert_eq!(topics(&messages), ["boards/b/state", "boards/b/health"]);
    assert_eq!(value(&messages, "boards/b/state")["battery"], 64);
    assert!(world.step(Vec::new()).is_empty());
}

#[test]
fn spectators_revision_goes_on_after_a_restart() {
    let kinds = || {
        let settled = EventKind::MoveSettled {
            ply: 1,
            by: SettledBy::Press,
        };
        let made = |number, uci: &str| EventKind::MoveMade(ply(number, uci, uci));
        vec![
            started("start", Variant::Standard),
            made(1, "e2e4"),
            settled,
            made(2, "e7e5"),
        ]
    };
    let before = value(&World::new().step(kinds()), "public/boards/b/game");
    assert_eq!(before["revision"], 3);
    let events: Vec<Event> = (1..).zip(kinds()).map(|(seq, kind)| event(seq, kind)).collect();
    let mut world = World::new();
    let messages = world.projection.resume_public(at(9), &events);
    assert_eq!(value(&messages, "public/boards/b/game"), before);
}

#[test]
fn the_delay_applies_to_spectators_only() {
    let mut world = World::new();
    world.projection = world.projection.with_public_delay(Duration::from_secs(900));
    let made = EventKind::MoveMade(ply(1, "e2e4", "e4"));
    let messages = world.step(vec![started("start", Variant::Standard), made]);
    assert!(
        topics(&messages).contains(&"boards/b/game") && topics(&messages).contains(&"boards/b/clock"),
        "{messages:?}"
    );
    let public = |topic: &&str| topic.starts_with("public/") && *topic != "public/boards/b/state";
    assert!(!topics(&messages).iter().any(public), "{messages:?}");
    assert_eq!(world.projection.poll_deadline(), Some(at(900)));
    assert_eq!(world.projection.advance(at(899)), []);
    assert_eq!(
        topics_without_values(&world.projection.advance(at(900))),
        [
            "public/boards/b/game",
            "public/boards/b/pgn",
            "public/boards/b/placement",
            "public/boards/b/clock"
        ]
    );
    assert_eq!(world.projection.poll_deadline(), None);
}

#[test]
fn board_is_known_but_not_connected_after_a_restart() {
    let connected = EventKind::BoardConnected {
        port: "/dev/ttyUSB0".to_owned(),
        serial: Some("12345".to_owned()),
        version: Some("1.8".to_owned()),
        orientation: Some(Orientation::Turned),
    };
    let mut world = World::new();
    let reason = "kiebitz was stopped".to_owned();
    let disconnected = Event {
        ts: at(9),
        ..event(2, EventKind::BoardDisconnected { reason })
    };
    let last = event(1, connected.clone());
    let announced = Announced::default();
    world
        .projection
        .resume(Some(&last), Some(&disconnected), None, announced);
    let messages = world.step(Vec::new());
    // It would be wrong to publish an empty placement.
    assert_eq!(
        topics_without_values(&messages),
        [
            "boards/b/state",
            "boards/b/incidents",
            "boards/b/health",
            "public/boards/b/state"
        ]
    );
    let state = value(&messages, "boards/b/state");
    assert_eq!(
        (&state["connected"], &state["serial"]),
        (&false.into(), &"12345".into())
    );
    assert_eq!(
        (&state["orientation"], &state["reason"]),
        (&"turned".into(), &"kiebitz was stopped".into())
    );
    assert_eq!(state["since"], kiebitz_game::events::time_text(at(9)));
    let messages = world.step(vec![connected]);
    assert_eq!(value(&messages, "boards/b/state")["connected"], true);
    assert!(topics(&messages).contains(&"boards/b/placement"));
}

/// A clock shows the flag of a finished period for five minutes. Spectators see a flag only if it decides the game.
#[test]
fn spectators_see_the_flag_of_a_lost_game_only() {
    fn flag_fall(case: &str) -> EventKind {
        let opened = serde_json::json!({
            "type": "incident.opened", "incident": 1, "kind": "flag_fall", "color": "white", "ply": 5,
            "severity": "advice", "article": "6.8", "edition": "fide-2023", "case": case, "advice": "", "squares": [],
            "evidence": {
                "from": "2026-11-21T14:03:07.412345Z", "to": "2026-11-21T14:03:07.412345Z", "fen": null,
                "clock": null, "changes": [], "values": {},
            },
        });
        serde_json::from_value(opened).expect("an event")
    }
    let closed = || EventKind::IncidentClosed {
        incident: 1,
        kind: IncidentKind::FlagFall,
        by: ClosedBy::Laws,
        reason: IncidentEnd::GameOver,
        counts: None,
        decision: None,
        decided_by: None,
    };
    let read = |world: &mut World, second: i64, white_s: u64, events: Vec<EventKind>| {
        world.clock = Some(ClockFace {
            clock: Clock {
                white_ms: white_s * 1000,
                black_ms: 600_000,
                running: Some(Color::White),
                flag: Some(Flag::White),
            },
            as_of: at(second),
        });
        world.step(events)
    };
    let mut world = World::new();
    world.step(vec![started("start", Variant::Standard)]);
    // The clock runs, with the flag of a finished period.
    let messages = read(
        &mut world,
        1,
        1800,
        vec![flag_fall("flag_fall.moves_made"), closed()],
    );
    assert_eq!(value(&messages, "kiebitz/boards/b/clock")["flag"], "white");
    assert_eq!(value(&messages, "public/boards/b/clock").get("flag"), None);
    let mut made = ply(1, "e2e4", "e4");
    made.clock = world.clock.map(|face| face.clock);
    let messages = world.step(vec![EventKind::MoveMade(made)]);
    assert_eq!(
        value(&messages, "kiebitz/boards/b/game")["moves"][0]["clock"]["flag"],
        "white"
    );
    assert_eq!(
        value(&messages, "public/boards/b/game")["moves"][0]["clock"].get("flag"),
        None
    );
    // The arbiter must not intervene.
    let messages = read(&mut world, 1801, 0, vec![flag_fall("flag_fall.silent")]);
    assert!(
        !topics(&messages).contains(&"public/boards/b/clock"),
        "{:?}",
        topics(&messages)
    );
    let messages = world.step(vec![closed(), flag_fall("flag_fall.fallen")]);
    assert_eq!(value(&messages, "public/boards/b/clock")["flag"], "white");
    assert!(
        !topics(&messages).contains(&"boards/b/clock"),
        "the clock shows what it did"
    );
    let lost = EventKind::GameEnded {
        result: GameResult::BlackWins,
        reason: EndReason::Flag,
        by: DecidedBy::Arbiter,
        confirmed: true,
        end_certain: true,
        decided_by: None,
    };
    let messages = world.step(vec![closed(), lost]);
    assert!(
        !topics(&messages).contains(&"public/boards/b/clock"),
        "nothing has changed"
    );
}

#[test]
fn open_incidents_are_published_until_they_are_closed() {
    let opened = serde_json::json!({
        "type": "incident.opened", "incident": 1, "kind": "illegal_move", "color": "black", "ply": 4,
        "severity": "advice", "article": "7.5.1", "edition": "fide-2023", "case": "illegal_move.made",
        "advice": "Have it corrected.", "squares": ["a6"],
        "evidence": {
            "from": "2026-11-21T14:03:07.412345Z", "to": "2026-11-21T14:03:08.412345Z", "fen": null, "clock": null,
            "changes": [], "values": {},
        },
    });
    let opened: EventKind = serde_json::from_value(opened).expect("an event");
    let mut world = World::new();
    world.step(Vec::new());
    let messages = world.step(vec![opened]);
    assert_eq!(
        topics(&messages),
        ["boards/b/events", "boards/b/incidents", "boards/b/health"],
        "nothing public"
    );
    let published = value(&messages, "b/incidents");
    assert_eq!(
        (
            published[0]["incident"].as_u64(),
            published.as_array().map(Vec::len)
        ),
        (Some(1), Some(1))
    );
    let messages = world.step(vec![EventKind::IncidentClosed {
        incident: 1,
        kind: IncidentKind::IllegalMove,
        by: ClosedBy::Board,
        reason: IncidentEnd::Restored,
        counts: None,
        decision: None,
        decided_by: None,
    }]);
    assert_eq!(value(&messages, "b/incidents"), serde_json::json!([]));
    assert_eq!(topics(&world.step(Vec::new())).len(), 0, "nothing new");
}
