//! An arbiter sends commands over a broker with the logins and access list of docs/mosquitto, while spectators watch.

use core::time::Duration;
use std::path::{Path, PathBuf};
use std::process::Command;

use kiebitz::system_time::LiveTime;
use rumqttc::v5::mqttbytes::v5::{Publish, PublishProperties};
use serde_json::{Value, json};

use crate::encrypted::{make_ca, sign};
use crate::eventually::PATIENCE;
use crate::mosquitto::{Mosquitto, free_port};
use crate::mqtt_world::{self, Listener, topic};
use crate::spectators::Program;

const GAME: &str =
    "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3 Nb8 10. d4 Nbd7";

/// A hall with one board in play and one that was never plugged in.
struct Hall {
    directory: tempfile::TempDir,
    broker: Mosquitto,
    arbiter: Listener,
}

impl Hall {
    async fn open() -> Self {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
        let encrypted = free_port();
        let broker = Mosquitto::configured(|port| example(directory.path(), port, encrypted)).await;
        let config = format!(
            "[daemon]\nname = \"hall\"\nstate_directory = {:?}\n[ports]\nusb = false\n\
             [mqtt]\nurl = \"mqtts://kiebitz:secret@localhost:{encrypted}\"\nca_file = {:?}\ncommands = true\n\
             [[port]]\npath = {2:?}\nmode = \"single\"\n[[board]]\nport = {2:?}\nname = \"board-1\"\n\
             [[board]]\nserial = \"12345\"\nname = \"board-2\"\n",
            directory.path().join("state"),
            directory.path().join("kiebitz-ca.pem"),
            directory.path().join("links/board-1"),
        );
        std::fs::write(directory.path().join("kiebitz.toml"), config).expect("a configuration");
        let pgn = format!("[White \"A\"]\n[Black \"B\"]\n\n{GAME} *\n");
        std::fs::write(directory.path().join("game.pgn"), pgn).expect("a game");
        let arbiter = Listener::with_login("desk", broker.address(), Some("meier"), "kiebitz/#").await;
        Self {
            directory,
            broker,
            arbiter,
        }
    }

    fn daemon(&self) -> Program {
        Program::start(self.directory.path(), &["run", "--config", "kiebitz.toml"])
    }

    fn boards(&self) -> Program {
        let emulate = [
            "emulate", "--hands", "blitz", "--pgn", "game.pgn", "--links", "links",
        ];
        Program::start(self.directory.path(), &emulate)
    }

    /// Sends a command as the arbiter and returns the answer.
    async fn command(&self, board: &str, text: &str) -> Value {
        let at = format!("boards/{board}/answer/desk");
        let before = self.answers(&at).len();
        let properties = PublishProperties {
            response_topic: Some(format!("kiebitz/{at}")),
            correlation_data: Some(before.to_string().into()),
            ..PublishProperties::default()
        };
        let to = format!("kiebitz/boards/{board}/command/meier");
        self.arbiter.send(&to, text, false, Some(properties));
        let answered =
            |inbox: &[Publish]| inbox.iter().filter(|publish| topic(publish) == at).count() > before;
        self.arbiter.until("an answer", answered).await;
        let last = self.answers(&at).pop().expect("an answer");
        let given = last.properties.clone().and_then(|given| given.correlation_data);
        assert_eq!(given, Some(before.to_string().into()));
        mqtt_world::json(&last)
    }

    fn answers(&self, at: &str) -> Vec<Publish> {
        let inbox = self.arbiter.inbox();
        inbox.into_iter().filter(|publish| topic(publish) == at).collect()
    }

    /// Ids and authors of the commands for a board, including refused ones.
    fn taken(&self, board: &str) -> Vec<(String, String)> {
        let events = self.answers(&format!("boards/{board}/events"));
        let taken = events.iter().map(mqtt_world::json);
        let taken = taken.filter(|event| event["type"] == "command.taken");
        taken
            .map(|event| (text(&event["id"]), text(&event["by"])))
            .collect()
    }

    async fn until_topic(&self, goal: &str, at: &str, wanted: impl Fn(&Value) -> bool) {
        let seen = |inbox: &[Publish]| {
            let mut on = inbox.iter().rev().filter(|publish| topic(publish) == at);
            on.next()
                .is_some_and(|publish| wanted(&mqtt_world::json(publish)))
        };
        self.arbiter.until(goal, seen).await;
    }
}

/// The example configuration, with the test's paths and port.
fn example(directory: &Path, port: u16, encrypted: u16) -> String {
    let at = |name: &str| directory.join(name).display().to_string();
    let passwords: PathBuf = directory.join("kiebitz.passwd");
    for (nth, login) in ["kiebitz", "meier", "spectator"].iter().enumerate() {
        let mut made = Command::new("mosquitto_passwd");
        made.arg("-b");
        if nth == 0 {
            made.arg("-c");
        }
        let made = made.arg(&passwords).args([login, "secret"]).output();
        assert!(made.expect("mosquitto_passwd is installed").status.success());
    }
    std::fs::write(
        at("kiebitz.acl"),
        include_str!("../../docs/mosquitto/kiebitz.acl"),
    )
    .expect("an access list");
    let text = include_str!("../../docs/mosquitto/kiebitz.conf");
    for needed in [
        "listener 1883 127.0.0.1\n",
        "listener 8883\n",
        "/etc/mosquitto/kiebitz.acl",
        "/etc/mosquitto/kiebitz.passwd",
        "/etc/mosquitto/kiebitz-broker.pem",
    ] {
        assert!(text.contains(needed), "{needed}");
    }
    make_ca(directory, "kiebitz-ca");
    sign(
        directory,
        "kiebitz-broker",
        "kiebitz-ca",
        "subjectAltName=DNS:localhost\n",
    );
    let text = text.replace("listener 1883 ", &format!("listener {port} "));
    let text = text.replace("listener 8883\n", &format!("listener {encrypted} 127.0.0.1\n"));
    text.replace("/etc/mosquitto/kiebitz", &at("kiebitz"))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn error(answer: &Value) -> String {
    assert_eq!(answer["ok"], false, "{answer}");
    text(&answer["error"])
}

#[tokio::test]
async fn an_arbiter_commands_before_and_during_a_game() {
    let hall = Hall::open().await;
    let daemon = hall.daemon();
    hall.until_topic("the daemon is there", "daemons/hall/state", |state| {
        state["state"] == "online"
    })
    .await;

    // Player names can be set before the round, for a board that was never plugged in.
    let names = r#"{"id":"1","do":"set_players","white":"Adams, A.","black":"Baker, B.","by":"A. Meier"}"#;
    let done = json!({"id": "1", "ok": true});
    assert_eq!(hall.command("board-2", names).await, done);
    assert_eq!(hall.command("board-2", names).await, done, "twice, and done once");
    let before = vec![("1".to_owned(), "A. Meier (meier)".to_owned())];
    assert_eq!(hall.taken("board-2"), before);
    daemon.stop();
    hall.until_topic("the daemon is gone", "daemons/hall/state", |state| {
        state["state"] == "offline"
    })
    .await;
    let _daemon = hall.daemon();
    hall.until_topic("the daemon is back", "daemons/hall/state", |state| {
        state["state"] == "online"
    })
    .await;
    assert_eq!(
        hall.command("board-2", names).await,
        done,
        "after a restart as well"
    );
    assert_eq!(hall.taken("board-2"), before);

    // Invalid commands are refused with a reason.
    let again = r#"{"id":"1","do":"annotate","text":"late"}"#;
    assert!(error(&hall.command("board-2", again).await).contains("needs its own id"));
    let wrong = hall.command("board-2", r#"{"id":"2","do":"wave"}"#).await;
    assert_eq!(wrong["id"], "2");
    assert!(error(&wrong).contains("unknown command \"wave\""));
    let nothing = hall.command("board-2", "checkmate!").await;
    assert_eq!(nothing["id"], Value::Null);
    assert!(error(&nothing).contains("JSON"));
    let unknown = error(&hall.command("board-9", r#"{"id":"3","do":"identify"}"#).await);
    assert!(
        unknown.contains("board-1") && unknown.contains("board-2"),
        "{unknown}"
    );

    // Commands also work during a game.
    let _boards = hall.boards();
    let plies = |game: &Value| game["moves"].as_array().map_or(0, Vec::len);
    hall.until_topic("four plies", "boards/board-1/game", |game| plies(game) >= 4)
        .await;
    let players = r#"{"id":"4","do":"set_players","white":"Clarke, C.","black":"Davis, D."}"#;
    assert_eq!(hall.command("board-1", players).await["ok"], true);
    let named = |game: &Value| game["players"]["white"] == "Clarke, C.";
    hall.until_topic("the names", "boards/board-1/game", named).await;
    let result = r#"{"id":"5","do":"set_result","result":"0-1","reason":"resignation"}"#;
    assert_eq!(hall.command("board-1", result).await["ok"], true);
    hall.until_topic("the result", "boards/board-1/game", |game| {
        game["result"] == "0-1" && game["by"] == "arbiter"
    })
    .await;
    hall.until_topic("and everybody's", "public/boards/board-1/game", |game| {
        game["result"] == "0-1" && named(game)
    })
    .await;
    // Another arbiter's result is refused, naming the current one, unless the command has `replace`.
    let other = |id: &str, more: &str| {
        format!(
            r#"{{"id":"{id}","do":"set_result","result":"1-0","reason":"resignation","by":"B. Ott"{more}}}"#
        )
    };
    let refused = hall.command("board-1", &other("5a", "")).await;
    assert_eq!(refused["standing"]["by"], "meier", "{refused}");
    assert_eq!(refused["standing"]["decision"], "0-1 resignation", "{refused}");
    assert!(
        refused["standing"]["at"].is_string() && error(&refused).contains("replace"),
        "{refused}"
    );
    assert_eq!(
        hall.command("board-1", &other("5b", r#","replace":true"#)).await["ok"],
        true
    );
    hall.until_topic("that result", "boards/board-1/game", |game| {
        game["result"] == "1-0"
    })
    .await;
    let moves = r#"{"id":"6","do":"correct_moves","moves":["d4","d5"],"from":1}"#;
    assert_eq!(hall.command("board-1", moves).await["ok"], true);
    hall.until_topic("other moves", "public/boards/board-1/game", |game| {
        game["moves"][0]["san"] == "d4" && plies(game) == 2
    })
    .await;
    let ids: Vec<String> = hall.taken("board-1").into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["4", "5", "5a", "5b", "6"]);
}

#[tokio::test]
async fn a_spectator_reads_public_topics_and_cannot_command() {
    let hall = Hall::open().await;
    let _daemon = hall.daemon();
    let _boards = hall.boards();
    let address = hall.broker.address();
    let spectator = Listener::with_login("spectator", address, Some("spectator"), "#").await;
    let has_game = |inbox: &[Publish]| {
        inbox
            .iter()
            .any(|publish| topic(publish) == "public/boards/board-1/game")
    };
    spectator.until("a game for spectators", has_game).await;
    for to in ["command", "command/spectator", "command/meier", "answer", "game"] {
        let to = format!("kiebitz/boards/board-1/{to}");
        spectator.send(&to, r#"{"id":"9","do":"set_result","result":"1-0"}"#, false, None);
    }
    // A retained command is refused.
    let retained = r#"{"id":"8","do":"annotate","text":"kept"}"#;
    hall.arbiter
        .send("kiebitz/boards/board-1/command/meier", retained, true, None);
    let refused = |inbox: &[Publish]| {
        inbox
            .iter()
            .any(|publish| topic(publish) == "boards/board-1/answer")
    };
    hall.arbiter.until("an answer", refused).await;
    let answers = hall.answers("boards/board-1/answer");
    assert!(error(&mqtt_world::json(&answers[0])).contains("retained"));
    // The daemon has already handled the spectator's commands when this one is answered.
    assert_eq!(
        hall.command("board-1", r#"{"id":"7","do":"annotate","text":"all is well"}"#)
            .await["ok"],
        true
    );
    assert_eq!(hall.taken("board-1"), [("7".to_owned(), "meier".to_owned())]);
    tokio::time::sleep(Duration::from_millis(300)).await;
    for publish in spectator.inbox() {
        assert!(topic(&publish).starts_with("public/"), "{}", topic(&publish));
    }
}

/// Waits until the retained topics of a board match `wanted`.
async fn until_retained(hall: &Hall, board: &str, wanted: impl Fn(&[String]) -> bool) {
    let time = LiveTime::start();
    let end = time.now() + PATIENCE;
    loop {
        let topics = retained(hall, board).await;
        if wanted(&topics) {
            return;
        }
        assert!(time.now() < end, "{topics:?}");
    }
}

/// The retained topics of a board, as a new client gets them.
async fn retained(hall: &Hall, board: &str) -> Vec<String> {
    let late = Listener::with_login("late", hall.broker.address(), Some("meier"), "kiebitz/#").await;
    let round = |inbox: &[Publish]| inbox.iter().any(|publish| topic(publish) == "daemons/hall/round");
    late.until("what is retained", round).await;
    // The broker sends retained topics in any order, so wait for the rest.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let of_board =
        |topic: &String| topic.contains(&format!("boards/{board}/")) && !topic.ends_with("/events");
    late.inbox().iter().map(topic).filter(of_board).collect()
}

#[tokio::test]
async fn a_board_has_plain_text_topics_until_it_is_forgotten() {
    let hall = Hall::open().await;
    let daemon = hall.daemon();
    let names = r#"{"id":"1","do":"set_players","white":"Adams, A.","black":"Baker, B."}"#;
    hall.until_topic("the daemon is there", "daemons/hall/state", |state| {
        state["state"] == "online"
    })
    .await;
    assert_eq!(hall.command("board-1", names).await["ok"], true);
    let boards = hall.boards();
    let spectator = Listener::with_login("spectator", hall.broker.address(), Some("spectator"), "#").await;
    let last = |inbox: &[Publish], at: &str| {
        let mut on = inbox.iter().rev().filter(|publish| topic(publish) == at);
        on.next()
            .map(|publish| String::from_utf8(publish.payload.to_vec()).expect("text"))
            .unwrap_or_default()
    };
    let moved = |inbox: &[Publish]| {
        last(inbox, "public/boards/board-1/last_move").starts_with("2. Nf3")
            || last(inbox, "public/boards/board-1/last_move").starts_with("3.")
    };
    spectator.until("the moves in words", moved).await;
    let inbox = spectator.inbox();
    assert_eq!(last(&inbox, "public/boards/board-1/white"), "Adams, A.");
    assert_eq!(last(&inbox, "public/boards/board-1/result"), "*");
    hall.until_topic("it is well", "boards/board-1/health", |health| {
        health["ok"] == true
    })
    .await;
    hall.until_topic("a game is played", "daemons/hall/round", |round| {
        round["playing"] == 1 && round["connected"] == 1
    })
    .await;

    let forget = |id: u32| format!(r#"{{"id":"{id}","do":"forget"}}"#);
    let connected = error(&hall.command("board-1", &forget(2)).await);
    assert!(connected.contains("unplug it first"), "{connected}");
    drop(boards);
    hall.until_topic("it is gone", "public/boards/board-1/state", |state| {
        state["connected"] == false
    })
    .await;
    let playing = error(&hall.command("board-1", &forget(3)).await);
    assert!(playing.contains("a game is being played"), "{playing}");
    let end = r#"{"id":"4","do":"end_game","reason":"void"}"#;
    assert_eq!(hall.command("board-1", end).await["ok"], true);
    until_retained(&hall, "board-1", |topics| topics.len() > 10).await;
    assert_eq!(hall.command("board-1", &forget(5)).await["ok"], true);
    until_retained(&hall, "board-1", <[String]>::is_empty).await;
    let unlisted = |state: &Value| state["state"] == "online" && state["boards"] == json!([]);
    hall.until_topic("it is not listed", "daemons/hall/state", unlisted)
        .await;
    daemon.stop();
    hall.until_topic("the daemon is gone", "daemons/hall/state", |state| {
        state["state"] == "offline"
    })
    .await;
    let _daemon = hall.daemon();
    hall.until_topic("the daemon is back", "daemons/hall/state", unlisted)
        .await;
    // The topics stay away after a restart.
    until_retained(&hall, "board-1", <[String]>::is_empty).await;
}
