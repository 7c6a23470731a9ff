//! Past games at the desk are the same as in the output of the program's commands.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use kiebitz::replay::Replay;
use serde_json::Value;

use super::{Guest, json, sent, user};
use crate::games::{GAP, Kept, MATE, recorded};
use crate::mosquitto::free_port;
use crate::npm::scripts;
use crate::spectators::Program;
use core::time::Duration;

/// The last move is mate, which ends the game.
const PLAYED: &str = "[White \"a\"]\n[Black \"b\"]\n\n1. e4 e5 2. Bc4 Nc6 3. Qh5 d6 4. Nc3 Nd4 5. d3 Nxc2+ 6. Kd1 Nxa1 7. Qxf7# 1-0\n";

/// A daemon with a desk and a journal of three games, one of them recorded. Another board may be plugged in.
struct Reviewed {
    kept: Kept,
    port: u16,
    _daemon: Program,
}

impl Reviewed {
    async fn start(name: &str) -> Self {
        let kept = recorded(name);
        let (folder, port) = (&kept.directory, free_port());
        let config = folder.join("kiebitz.toml");
        let mut config = std::fs::File::options()
            .append(true)
            .open(config)
            .expect("a configuration");
        writeln!(
            config,
            "[desk]\nlisten = \"127.0.0.1:{port}\"\nusers_file = {:?}\n[ports]\nusb = false\n\
             [[port]]\npath = {link:?}\nmode = \"single\"\n[[board]]\nport = {link:?}\nname = \"board-4\"",
            folder.join("users"),
            link = folder.join("links/board-1"),
        )
        .expect("written");
        std::fs::write(folder.join("users"), user("hall", "viewer", "look-at-it")).expect("users");
        let daemon = Program::start(folder, &["run", "--config", "kiebitz.toml"]);
        let guest = Guest::new(port);
        let served = async {
            while guest.get("").send().await.is_err() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let served = tokio::time::timeout(crate::eventually::PATIENCE, served).await;
        assert!(served.is_ok(), "the desk is served");
        Self {
            kept,
            port,
            _daemon: daemon,
        }
    }

    async fn viewer(&self) -> Guest {
        let mut viewer = Guest::new(self.port);
        assert_eq!(viewer.log_in("hall", "look-at-it").await, 200);
        viewer
    }
}

impl Guest {
    async fn json(&self, path: &str) -> Value {
        let response = sent(self.get(path)).await;
        assert_eq!(response.status(), 200, "{path}");
        serde_json::from_str(&response.text().await.expect("text")).expect("JSON")
    }

    /// Status and reason of a refused request.
    async fn refused(&self, path: &str) -> (u16, String) {
        let response = sent(self.get(path)).await;
        let status = response.status().as_u16();
        let text = response.text().await.expect("text");
        let refusal: Value = serde_json::from_str(&text).unwrap_or_default();
        assert!(status == 401 || refusal["error"].is_string(), "{path}: {text}");
        (status, refusal["why"].as_str().unwrap_or_default().to_owned())
    }
}

fn lines(text: &str) -> Vec<Value> {
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    lines.collect()
}

fn games(found: &Value) -> Vec<Value> {
    found["games"].as_array().expect("a list").clone()
}

#[tokio::test]
async fn past_games_are_the_same_as_with_the_commands_of_the_program() {
    let desk = Reviewed::start("reviewed").await;
    let viewer = desk.viewer().await;
    let mut listed = lines(&desk.kept.printed(&["games", "--json"]));
    listed.reverse();
    let all = viewer.json("games").await;
    assert_eq!((games(&all), &all["more"]), (listed.clone(), &Value::Null));
    for (path, found) in [
        ("games?text=adams+BOARD", vec![MATE]),
        ("games?text=nobody", vec![]),
        ("games?date=2026-07-12", vec![GAP]),
        ("games?round=1", vec![]),
        ("games?notice=result&text=board-1", vec![]),
        ("games?notice=result&date=2026-07-12", vec![GAP]),
    ] {
        let ids: Vec<Value> = games(&viewer.json(path).await)
            .iter()
            .map(|game| game["game"].clone())
            .collect();
        assert_eq!(ids, found, "{path}");
    }
    let last = listed[0]["game"].as_str().expect("an id");
    let after = viewer.json(&format!("games?after={last}")).await;
    assert_eq!(games(&after), listed[1..]);

    let game = viewer.json(&format!("games/{MATE}")).await;
    assert_eq!(game["record"]["players"]["white"], "Adams, A.");
    assert_eq!(game["record"]["moves"].as_array().map(Vec::len), Some(33));
    assert!(game["amendments"][0]["by"].is_string(), "{}", game["amendments"]);
    let report: Value = serde_json::from_str(&desk.kept.printed(&["report", "--json", MATE])).expect("JSON");
    assert_eq!(game["record"], report["games"][0]["record"]);

    let pgn = sent(viewer.get(&format!("games/{MATE}/pgn"))).await;
    let named = format!("attachment; filename=\"{MATE}.pgn\"");
    let disposition = pgn.headers()["content-disposition"].to_str().expect("text");
    assert!(disposition.starts_with(&named), "{disposition}");
    assert_eq!(pgn.text().await.expect("text"), desk.kept.printed(&["pgn", MATE]));

    let report = sent(viewer.get(&format!("games/{MATE}/report?language=de"))).await;
    let policy = report.headers()["content-security-policy"]
        .to_str()
        .expect("text");
    assert!(
        policy.contains("default-src 'none'; style-src 'unsafe-inline'"),
        "{policy}"
    );
    assert!(!policy.contains("script"), "{policy}");
    assert_eq!(
        report.text().await.expect("text"),
        Command::new(crate::program())
            .args(["report", "--language", "de", MATE, "--config"])
            .arg(desk.kept.directory.join("kiebitz.toml"))
            .output()
            .map(|output| String::from_utf8(output.stdout).expect("UTF-8"))
            .expect("kiebitz runs")
    );
}

#[tokio::test]
async fn capture_and_explanation_of_a_game_are_those_of_its_recording() {
    let desk = Reviewed::start("explained").await;
    let viewer = desk.viewer().await;
    let game = viewer.json(&format!("games/{MATE}")).await;
    let sans = |moves: &Value| -> Vec<Value> {
        let moves = moves.as_array().expect("a list").iter();
        let standing = moves.filter(|one| one["withdrawn"] != json!(true));
        standing.map(|one| one["san"].clone()).collect()
    };
    let played = sans(&game["record"]["moves"]);

    let capture = sent(viewer.get(&format!("games/{MATE}/capture"))).await;
    assert_eq!(capture.headers()["content-type"], "application/x-pcapng");
    let capture = capture.bytes().await.expect("bytes");
    let mut replay = Replay::new(&*capture, "replay").expect("a capture");
    let mut replayed = Vec::new();
    while replay.next_at().is_some() {
        for explained in replay.step().expect("whole") {
            let event = serde_json::to_value(&explained.event).expect("JSON");
            if event["type"] == "move.made" || event["type"] == "move.amended" {
                let ply = event["ply"].as_u64().expect("a number");
                replayed.truncate(usize::try_from(ply - 1).expect("few"));
                replayed.push(event["san"].clone());
            }
        }
    }
    assert_eq!(replayed, played);

    let explained = viewer.json(&format!("games/{MATE}/explain")).await;
    assert_eq!(sans(&explained["readings"]), played);
    let moments = explained["moments"].as_array().expect("a list");
    let changes = |ply: u64| -> Vec<&Value> {
        let of_ply = moments.iter().filter(|moment| moment["ply"] == ply);
        of_ply
            .flat_map(|moment| moment["changes"].as_array().expect("a list"))
            .collect()
    };
    let first = game["record"]["moves"][0]["uci"].as_str().expect("a move");
    let (from, to) = first.split_at(2);
    assert!(
        changes(1).contains(&&json!({"square": from, "piece": null})),
        "{:?}",
        changes(1)
    );
    assert!(
        changes(1).contains(&&json!({"square": to, "piece": "P"})),
        "{:?}",
        changes(1)
    );
    assert!(moments.iter().any(|moment| moment["clock"]["running"] == "black"));
    let first = &explained["readings"][0];
    assert!(
        first["grounds"].is_string() && first["others"].is_array(),
        "{first}"
    );
}

#[tokio::test]
async fn missing_parts_of_a_past_game_are_refused_with_the_reason() {
    let desk = Reviewed::start("refused").await;
    let stranger = Guest::new(desk.port);
    let paths = ["", "/pgn", "/report", "/capture", "/explain"].map(|of| format!("games/{MATE}{of}"));
    for path in paths.iter().map(String::as_str).chain(["games"]) {
        assert_eq!(stranger.refused(path).await.0, 401, "{path}");
    }
    let viewer = desk.viewer().await;
    for path in [
        "games/2026-08-05-board-1-7",
        "games/..%2Fjournal.sqlite/pgn",
        "games/%00/capture",
        "games/x/explain",
        "games/x/report",
    ] {
        assert_eq!(viewer.refused(path).await, (404, "no_game".to_owned()), "{path}");
    }
    for path in ["games?date=soon", "games?round=first"] {
        assert_eq!(viewer.refused(path).await, (400, "nonsense".to_owned()), "{path}");
    }
    let recording = desk
        .kept
        .directory
        .join("state/recordings/2026-08-05-ttyACM0.pcapng");
    let whole = std::fs::read(&recording).expect("a recording");
    let mut holed = whole.clone();
    holed[whole.len() / 2..][..64].fill(0xff);
    for damaged in [
        b"no capture at all, but long enough to look like one".to_vec(),
        holed,
    ] {
        std::fs::write(&recording, damaged).expect("written");
        for kind in ["capture", "explain"] {
            let path = format!("games/{MATE}/{kind}");
            assert_eq!(viewer.refused(&path).await, (404, "damaged".to_owned()), "{path}");
        }
    }
    // A recording that was cut off by a power failure is read up to that point.
    std::fs::write(&recording, &whole[..whole.len() - 7]).expect("written");
    let path = format!("games/{MATE}/explain");
    assert_eq!(sent(viewer.get(&path)).await.status(), 200);
    std::fs::remove_file(&recording).expect("removed");
    for kind in ["capture", "explain"] {
        let path = format!("games/{MATE}/{kind}");
        assert_eq!(viewer.refused(&path).await, (404, "gone".to_owned()), "{path}");
    }
    assert_eq!(sent(viewer.get(&format!("games/{MATE}/pgn"))).await.status(), 200);
}

/// A viewer goes through a past game in a browser.
#[tokio::test]
async fn a_past_game_is_reviewed_in_a_browser() {
    let desk = Reviewed::start("browser").await;
    let folder = &desk.kept.directory;
    std::fs::write(folder.join("game.pgn"), PLAYED).expect("a game");
    let mut script = Command::new("node")
        .args(["review.mjs", &format!("http://127.0.0.1:{}/", desk.port)])
        .args(["hall", "look-at-it", "Adams", "board-4"])
        .arg(folder.join("profile"))
        .current_dir(scripts())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node: install it, or let tests/run do so");
    let mut players = None;
    for line in BufReader::new(script.stdout.take().expect("a pipe")).lines() {
        assert_eq!(line.expect("text"), "play");
        let emulate = ["emulate", "--pgn", "game.pgn", "--speed", "2", "--links", "links"];
        players = Some(Program::start(folder, &emulate));
    }
    let status = script.wait().expect("it ends");
    let log = std::fs::read_to_string(folder.join("log")).unwrap_or_default();
    assert!(status.success(), "what the script says is above\n{log}");
    assert!(players.is_some(), "a game was followed");
}
