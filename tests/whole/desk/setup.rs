//! Preparations of operators at the desk before a round: uploaded pairing files, tests of outputs, and the status.

use core::time::Duration;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use reqwest::header::COOKIE;
use reqwest::{RequestBuilder, StatusCode};
use rumqttc::v5::mqttbytes::v5::Publish;
use serde_json::{Value, json};

use super::{Guest, Stream, configure, sent, user};
use crate::broadcast::lichess::{Lichess, TOKEN};
use crate::mosquitto::{Mosquitto, free_port};
use crate::mqtt_world::{Listener, topic};
use crate::npm::scripts;
use crate::spectators::Program;

const ROUND: &str = "round,board,white,white_fide_id,black,black_fide_id\n\
                     3,1,\"Adler, Jonas\",100001,\"Berg, Ines\",100002\n\
                     3,2,\"Clausen, Per\",100003,\"Dorn, Uta\",100004\n";
/// Two pairings have the same table, and all FIDE ids are missing.
const DOUBTFUL: &str = "round,board,white,black\n3,1,Adler,Berg\n3,1,Clausen,Dorn\n";
/// Arguments for boards whose players wait, on which two pieces of the first board repeatedly disappear for a moment. The
/// faults go on for longer than the script waits, as it is unknown when the daemon finds the boards.
fn lifted() -> Vec<String> {
    let mut args = Vec::from(["emulate", "--boards", "2", "--pgn", "game.pgn"].map(String::from));
    args.extend(["--links", "links", "--wait"].map(String::from));
    for start in (5..205).step_by(10) {
        for fault in [
            format!("dead 1 e2 at {start}s for 1s"),
            format!("dead 1 d7 at {}s for 1s", start + 2),
        ] {
            args.extend(["--fault".to_owned(), fault]);
        }
    }
    args
}

const PLAYED: &[&str] = &[
    "emulate", "--boards", "2", "--hands", "blitz", "--pgn", "game.pgn", "--links", "links",
];
const RUN: [&str; 3] = ["run", "--config", "kiebitz.toml"];

/// Configures the desk with an additional user who is an operator.
pub(super) fn configure_with_operator(folder: &Path, port: u16) {
    configure(folder, port);
    let users = File::options().append(true).open(folder.join("users"));
    let operator = user("chief", "operator", "operate-it");
    users
        .and_then(|mut users| users.write_all(operator.as_bytes()))
        .expect("a user");
}

fn put(guest: &Guest, path: &str, content: impl Into<reqwest::Body>) -> RequestBuilder {
    let request = guest.http.put(guest.url(path)).header(COOKIE, &guest.cookie);
    request.header("kiebitz-desk", "1").body(content)
}

async fn answered(request: RequestBuilder) -> (StatusCode, Value) {
    let response = sent(request).await;
    let status = response.status();
    let text = response.text().await.expect("an answer");
    (status, serde_json::from_str(&text).unwrap_or(Value::Null))
}

fn delete(guest: &Guest, path: &str) -> RequestBuilder {
    let request = guest.http.delete(guest.url(path)).header(COOKIE, &guest.cookie);
    request.header("kiebitz-desk", "1")
}

/// Names of the uploaded files.
async fn uploaded(guest: &Guest) -> Value {
    let (status, list) = answered(guest.get("pairings")).await;
    assert_eq!(status, 200, "{list}");
    let files = list["files"].as_array().expect("files").iter();
    files.map(|file| file["name"].clone()).collect()
}

async fn other_roles_are_refused(port: u16) {
    let mut guest = Guest::new(port);
    assert_eq!(sent(guest.get("pairings")).await.status(), 401);
    assert_eq!(sent(put(&guest, "pairings/r.csv", ROUND)).await.status(), 401);
    for (name, password) in [("hall", "look-at-it"), ("meier", "rook-on-a1")] {
        assert_eq!(guest.log_in(name, password).await, 200);
        for request in [
            put(&guest, "pairings/r.csv", ROUND),
            put(&guest, "pairings/r.csv?check", ROUND),
            delete(&guest, "pairings/r.csv"),
            guest.get("pairings"),
            guest.get("pairings/r.csv"),
            guest.get("status"),
        ] {
            assert_eq!(sent(request).await.status(), 403, "{name}");
        }
    }
}

async fn wrong_files_are_refused(chief: &Guest) {
    let foreign = chief.http.put(chief.url("pairings/r.csv"));
    let foreign = foreign.header(COOKIE, &chief.cookie).body(ROUND);
    assert_eq!(sent(foreign).await.status(), 403, "a page of another site");
    for name in ["..%2Fx.csv", "%2Fx.csv", ".csv", "x.sh", "a%00.csv", "..%5Cx.csv"] {
        let path = format!("pairings/{name}");
        assert_eq!(answered(put(chief, &path, ROUND)).await.0, 400, "{name}");
        assert_eq!(sent(delete(chief, &path)).await.status(), 400, "{name}");
        assert_eq!(sent(chief.get(&path)).await.status(), 400, "{name}");
    }
    let (status, _) = answered(put(chief, "pairings/r.csv", vec![b' '; (8 << 20) + 1])).await;
    assert_eq!(status, 413);
    let (status, wrong) = answered(put(
        chief,
        "pairings/r.csv",
        "round,board,white,black\n3,1,\"Adler,Berg\n",
    ))
    .await;
    assert_eq!((status.as_u16(), &wrong["line"]), (422, &json!(2)), "{wrong}");
    assert!(
        wrong["error"]
            .as_str()
            .is_some_and(|error| error.contains("quotation mark")),
        "{wrong}"
    );
    assert_eq!(uploaded(chief).await, json!([]), "nothing of it is kept");
}

/// Checks that `?check` reports the findings of a file with their places and does not use the file.
async fn checked_file_is_reported_and_not_used(chief: &Guest) {
    let (status, report) = answered(put(chief, "pairings/r.csv?check", DOUBTFUL)).await;
    assert_eq!(
        (status.as_u16(), &report["pairings"]),
        (200, &json!(2)),
        "{report}"
    );
    let findings = report["findings"].as_array().expect("findings");
    let twice = findings.iter().find(|finding| finding["kind"] == "table");
    let twice = twice.expect("two have the same table");
    assert_eq!(
        (&twice["file"], &twice["line"]),
        (&json!("r.csv"), &json!(3)),
        "{twice}"
    );
    assert!(
        twice["column"].is_number() && twice["text"].is_string(),
        "{twice}"
    );
    assert!(report["lost"].as_u64().is_some_and(|lost| lost > 0), "{report}");
    assert_eq!(uploaded(chief).await, json!([]));
}

/// Checks that missing FIDE ids are notes, as nothing is broadcast.
async fn missing_ids_are_notes(chief: &Guest) {
    let plain = "round,board,white,black\n3,1,Adler,Berg\n3,2,Clausen,Dorn\n";
    let (_, report) = answered(put(chief, "pairings/r.csv?check", plain)).await;
    let expected = (json!(0), json!("note"), json!("no_fide_id"));
    let finding = &report["findings"][0];
    let found = (&report["lost"], &finding["severity"], &finding["kind"]);
    assert_eq!(found, (&expected.0, &expected.1, &expected.2), "{report}");
}

/// A rehearsal: emulated players wait until the desk begins the round, and again before the next one.
#[tokio::test]
async fn emulated_players_begin_with_the_round_at_the_desk() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let (folder, port) = (directory.path(), free_port());
    configure_with_operator(folder, port);
    std::fs::write(folder.join("game.pgn"), "1. e4 e5 1-0\n").expect("a game");
    let wait = [
        "emulate",
        "--boards",
        "1",
        "--hands",
        "blitz",
        "--speed",
        "max",
        "--pgn",
        "game.pgn",
        "--links",
        "links",
        "--wait",
        "--config",
        "kiebitz.toml",
    ];
    // Before the daemon, so that there is no journal yet.
    let players = Program::start(folder, &wait);
    let daemon = Program::start(folder, &RUN);
    let mut chief = Guest::new(port);
    chief.wait().await;
    assert_eq!(chief.log_in("chief", "operate-it").await, 200);
    let mut board = Stream::of(&chief, "board-1").await;
    let plies =
        |known: &serde_json::Map<String, Value>| known["game"]["moves"].as_array().map_or(0, Vec::len);
    board
        .until("the waiting players", |known| {
            known.get("connected") == Some(&json!(true))
        })
        .await;
    assert_eq!(plies(&board.known), 0, "{:?}", board.known["game"]);
    let mut before = Value::Null;
    for round in [1, 2] {
        let begin = json!({"id": format!("begin {round}"), "do": "start_round", "round": round});
        let (status, answer) = chief.command_to("board-1", &begin).await;
        assert_eq!((status.as_u16(), &answer["ok"]), (200, &json!(true)), "{answer}");
        board
            .until("the game of the round", |known| {
                known["game"]["game"] != before && plies(known) == 2
            })
            .await;
        before = board.known["game"]["game"].clone();
        board
            .until("the pieces for the next round", |known| {
                known["placement"]
                    .as_str()
                    .is_some_and(|placement| placement.starts_with("rnbqkbnr/pppppppp/8"))
            })
            .await;
    }
    drop(players);
    daemon.stop();
}

#[tokio::test]
async fn uploaded_pairings_reach_the_boards_and_stay() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let (folder, port) = (directory.path(), free_port());
    configure_with_operator(folder, port);
    let daemon = Program::start(folder, &RUN);
    let mut chief = Guest::new(port);
    chief.wait().await;
    other_roles_are_refused(port).await;
    assert_eq!(chief.log_in("chief", "operate-it").await, 200);
    wrong_files_are_refused(&chief).await;
    checked_file_is_reported_and_not_used(&chief).await;
    missing_ids_are_notes(&chief).await;

    let mut stream = Stream::open(&chief).await;
    stream
        .until("no pairings", |known| {
            known
                .get("pairings")
                .is_some_and(|pairings| pairings["tables"] == json!([]))
        })
        .await;
    let (status, report) = answered(put(&chief, "pairings/round 3.csv", ROUND)).await;
    assert_eq!((status.as_u16(), &report["lost"]), (200, &json!(0)), "{report}");
    stream
        .until("the tables", |known| {
            known["pairings"]["tables"][1]["black"] == "Dorn, Uta"
        })
        .await;
    assert_eq!(stream.known["pairings"]["round"], 3);
    assert!(
        stream.known.get("game").is_none_or(Value::is_null),
        "before any game"
    );

    let players = Program::start(folder, PLAYED);
    stream
        .until("a game with its players", |known| {
            known
                .get("game")
                .is_some_and(|game| game["players"]["white"] == "Adler, Jonas")
        })
        .await;
    assert_eq!(
        (&stream.known["stands_at"], &stream.known["table"]),
        (&json!(1), &json!(1))
    );
    assert!(
        stream.known["lever"].is_string(),
        "a clock: {}",
        stream.known["lever"]
    );
    let game = stream.known["game"]["game"].as_str().expect("an id").to_owned();
    let (status, state) = answered(chief.get("status")).await;
    assert_eq!(
        (status.as_u16(), &state["journal"]["ok"]),
        (200, &json!(true)),
        "{state}"
    );

    drop(players);
    daemon.stop();
    let pgn = Command::new(crate::program())
        .args(["pgn", "--config", "kiebitz.toml", &game])
        .current_dir(folder)
        .output()
        .expect("kiebitz runs");
    let pgn = String::from_utf8(pgn.stdout).expect("UTF-8");
    assert!(
        pgn.contains("[White \"Adler, Jonas\"]") && pgn.contains("[Round \"3.1\"]"),
        "{pgn}"
    );
    after_a_restart(folder, chief).await;
}

/// If an uploaded file is removed before the first move, its names are removed from the boards.
#[tokio::test]
async fn names_are_removed_with_their_file_before_the_first_move() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let (folder, port) = (directory.path(), free_port());
    configure_with_operator(folder, port);
    let daemon = Program::start(folder, &RUN);
    let mut chief = Guest::new(port);
    chief.wait().await;
    assert_eq!(chief.log_in("chief", "operate-it").await, 200);
    let until_logged = async |times: usize| {
        let count = || {
            let log = std::fs::read_to_string(folder.join("log")).unwrap_or_default();
            log.matches("set_players of round 3, table").count()
        };
        let waiting = async {
            while count() < times {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let waited = tokio::time::timeout(crate::eventually::PATIENCE, waiting).await;
        assert!(waited.is_ok(), "{times} times, not {}", count());
    };
    let (status, report) = answered(put(&chief, "pairings/round 3.csv", ROUND)).await;
    assert_eq!(status, 200, "{report}");
    until_logged(2).await;
    assert_eq!(sent(delete(&chief, "pairings/round 3.csv")).await.status(), 204);
    until_logged(4).await;
    daemon.stop();
    let exported = Command::new(crate::program())
        .args(["export", "--config", "kiebitz.toml"])
        .current_dir(folder)
        .output()
        .expect("kiebitz runs");
    let exported = String::from_utf8(exported.stdout).expect("UTF-8");
    for board in ["board-1", "board-2"] {
        let lines = exported.lines();
        let events = lines.map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let of_board = events.filter(|event| event["board"] == board && event["do"] == "set_players");
        let names: Vec<Value> = of_board
            .map(|event| event["arguments"]["white"].clone())
            .collect();
        assert_eq!((names.len(), &names[1]), (2, &Value::Null), "{board}: {names:?}");
        assert!(names[0].is_string(), "{board}: {names:?}");
    }
}

async fn after_a_restart(folder: &Path, mut chief: Guest) {
    let daemon = Program::start(folder, &RUN);
    chief.wait().await;
    assert_eq!(chief.log_in("chief", "operate-it").await, 200);
    assert_eq!(uploaded(&chief).await, json!(["round 3.csv"]));
    let mut stream = Stream::open(&chief).await;
    stream
        .until("the tables once more", |known| {
            known
                .get("pairings")
                .is_some_and(|pairings| pairings["tables"][0]["white"] == "Adler, Jonas")
        })
        .await;
    // A file that cannot be read does not replace the old one.
    let other = ROUND.replace("\"Clausen, Per\",100003", "\"Young, Kim\",100009");
    let (status, report) = answered(put(&chief, "pairings/round 3.csv?check", other)).await;
    let changes =
        json!([{"round": 3, "kind": "player", "table": 2, "was": "Clausen, Per", "is": "Young, Kim"}]);
    assert_eq!((status.as_u16(), &report["changes"]), (200, &changes), "{report}");
    let (status, wrong) = answered(put(&chief, "pairings/round 3.csv", "")).await;
    assert_eq!(status, 422, "{wrong}");
    let kept = sent(chief.get("pairings/round 3.csv")).await;
    assert_eq!(kept.text().await.expect("a file"), ROUND);
    assert_eq!(sent(delete(&chief, "pairings/round 3.csv")).await.status(), 204);
    assert_eq!(sent(delete(&chief, "pairings/round 3.csv")).await.status(), 404);
    assert_eq!(uploaded(&chief).await, json!([]));
    stream
        .until("none again", |known| known["pairings"]["tables"] == json!([]))
        .await;
    daemon.stop();
}

/// Result of an output's test: whether it works, and the error.
async fn tested(chief: &Guest, output: &str) -> (bool, String) {
    let (status, answer) = answered(chief.post("outputs", &json!({ "output": output }))).await;
    assert_eq!(status, 200, "{output}: {answer}");
    let works = answer["ok"].as_bool().expect("whether it works");
    (works, answer["error"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn outputs_are_tested_before_a_round() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let (folder, port) = (directory.path(), free_port());
    configure_with_operator(folder, port);
    let rules = folder.join("acl");
    std::fs::write(&rules, "topic readwrite #\n").expect("rules");
    let mut broker = Mosquitto::configured(|port| {
        format!(
            "listener {port} 127.0.0.1\nallow_anonymous true\nacl_file {}\n",
            rules.display()
        )
    })
    .await;
    let listener = Listener::start("tested", broker.address()).await;
    let lichess = Lichess::start([]).await;
    let (live, token) = (folder.join("live"), folder.join("token"));
    let outputs = format!(
        "[mqtt]\nurl = \"mqtt://{}\"\n[lichess]\nserver = \"http://{}\"\ntoken_file = {token:?}\n[publish]\nto = {live:?}\n",
        broker.address(),
        lichess.address,
    );
    let config = File::options().append(true).open(folder.join("kiebitz.toml"));
    let written = config.and_then(|mut config| config.write_all(outputs.as_bytes()));
    written.expect("a configuration");
    std::fs::write(&token, format!("{TOKEN}\n")).expect("a token");
    let daemon = Program::start(folder, &RUN);
    let mut chief = Guest::new(port);
    chief.wait().await;
    assert_eq!(chief.log_in("meier", "rook-on-a1").await, 200);
    assert_eq!(sent(chief.get("outputs")).await.status(), 403);
    let request = chief.post("outputs", &json!({"output": "broker"}));
    assert_eq!(sent(request).await.status(), 403, "an arbiter");
    assert_eq!(chief.log_in("chief", "operate-it").await, 200);
    let place = live.display().to_string();
    let (_, all) = answered(chief.get("outputs")).await;
    assert_eq!(all, json!({"outputs": ["broker", "Lichess", place]}));
    for output in ["broker", "Lichess", &place] {
        assert_eq!(tested(&chief, output).await, (true, String::new()), "{output}");
    }
    let is_test = |publish: &Publish| topic(publish).ends_with("/test");
    listener
        .until("what the broker has acknowledged", |inbox| {
            inbox.iter().any(is_test)
        })
        .await;
    assert!(!live.join("kiebitz-test.txt").exists(), "nothing is left behind");
    // For the broadcast, missing FIDE ids need attention.
    let plain = "round,board,white,black\n3,1,Adler,Berg\n3,2,Clausen,Dorn\n";
    let (_, report) = answered(put(&chief, "pairings/r.csv?check", plain)).await;
    assert_eq!(report["lost"], 1, "{report}");
    let unknown = chief.post("outputs", &json!({"output": "webhook"}));
    assert_eq!(sent(unknown).await.status(), 404);

    std::fs::write(&token, "lip_wrong\n").expect("a token");
    let (works, error) = tested(&chief, "Lichess").await;
    assert!(!works && error.contains("study:write"), "{error}");
    // A file cannot be written if a directory has its name.
    std::fs::create_dir_all(live.join("kiebitz-test.txt/full")).expect("a folder");
    let (works, error) = tested(&chief, &place).await;
    assert!(!works && error.contains("cannot write"), "{error}");
    broker.kill();
    let (works, error) = tested(&chief, "broker").await;
    let address = broker.address().to_string();
    assert!(!works && error.contains(&address), "{error}");
    std::fs::write(&rules, "topic write kiebitz/boards/#\n").expect("rules");
    broker.start_again().await;
    let (works, error) = tested(&chief, "broker").await;
    assert!(
        !works && error.contains("rejects a message to kiebitz/daemons/"),
        "{error}"
    );
    daemon.stop();
}

/// From unplugged boards to the first move of a paired game, in a browser.
#[test]
fn a_round_is_set_up_in_a_browser() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let (folder, port) = (directory.path(), free_port());
    configure_with_operator(folder, port);
    let config = File::options().append(true).open(folder.join("kiebitz.toml"));
    let publish = format!("[publish]\nto = {:?}\n", folder.join("live"));
    let written = config.and_then(|mut config| config.write_all(publish.as_bytes()));
    written.expect("a configuration");
    let mut daemon = Program::start(folder, &RUN);
    let mut script = Command::new("node")
        .args(["setup.mjs", &format!("http://127.0.0.1:{port}/")])
        .args(["chief", "operate-it"])
        .arg(folder)
        .arg(folder.join("profile"))
        .current_dir(scripts())
        .stdin(Stdio::null())
        .spawn()
        .expect("node: install it, or let tests/run do so");
    let mut players = None;
    let mut wants = ["plug", "restart", "play"].into_iter().peekable();
    let ended = loop {
        if let Some(ended) = script.try_wait().expect("it runs") {
            break ended;
        }
        if let Some(wanted) = wants.next_if(|wanted| folder.join(wanted).exists()) {
            if wanted == "restart" {
                drop(daemon);
                daemon = Program::start(folder, &RUN);
                continue;
            }
            // Unplugs the old boards first, as the new ones use the same links.
            drop(players.take());
            let lifted = lifted();
            let lifted: Vec<_> = lifted.iter().map(String::as_str).collect();
            players = Some(Program::start(
                folder,
                if wanted == "plug" { &lifted } else { PLAYED },
            ));
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    let log = std::fs::read_to_string(folder.join("log")).unwrap_or_default();
    assert!(ended.success(), "what the script says is above\n{log}");
    drop(players);
    daemon.stop();
}
