//! The broker configurations in docs/halls.md, with two mosquittos: a hall with its bridge, and the centre.

use core::time::Duration;
use std::path::Path;

use serde_json::json;

use crate::broadcast::{lichess, played};
use crate::desk::{Guest, Stream, user};
use crate::encrypted::{make_ca, make_users, sign};
use crate::mosquitto::{Mosquitto, free_port};
use crate::spectators::Program;

const PASSWORD: &str = "rook-on-a1";

/// The code block of the document that begins with this text.
fn block(begins: &str) -> String {
    let document = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/halls.md");
    let document = std::fs::read_to_string(document).expect("the document");
    let blocks = document.split("```").skip(1).step_by(2);
    let mut found = blocks
        .map(|block| block.trim_start_matches("toml").trim_start())
        .filter(|block| block.starts_with(begins));
    found.next().expect("the block").to_owned()
}

fn file(folder: &Path, path: &str) -> String {
    std::fs::read_to_string(folder.join(path)).unwrap_or_default()
}

async fn until(goal: &str, folder: &Path, wanted: impl Fn() -> bool) {
    let waiting = async {
        while !wanted() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let waited = tokio::time::timeout(crate::eventually::PATIENCE, waiting).await;
    assert!(waited.is_ok(), "not in time: {goal}\n{}", file(folder, "log"));
}

/// The centre's broker, with its certificates and users in the folder.
async fn centre(folder: &Path) -> Mosquitto {
    make_ca(folder, "ca");
    sign(folder, "broker", "ca", "subjectAltName=IP:127.0.0.1");
    make_users(&folder.join("passwd"), &["north", "south", "hub"], PASSWORD);
    let at = folder.display().to_string();
    std::fs::write(folder.join("centre.acl"), block("user north")).expect("an access list");
    let lines = block("listener 8883").replace("/etc/mosquitto", &at);
    Mosquitto::configured(|port| lines.replace("listener 8883", &format!("listener {port} 127.0.0.1"))).await
}

/// At the centre, an arbiter sees the board in the hall and enters a note.
async fn works_with_the_desk(port: u16) {
    let mut arbiter = Guest::new(port);
    arbiter.wait().await;
    assert_eq!(arbiter.log_in("meier", PASSWORD).await, 200);
    let mut board = Stream::of(&arbiter, "north/kiebitz/board-1").await;
    board
        .until("the board", |known| {
            known.get("connected") == Some(&json!(true))
                && known["stands_at"] == 51
                && known["game_placement"].is_string()
        })
        .await;
    let note = json!({"id": "1", "do": "annotate", "text": "seen from the centre"});
    let (status, answer) = arbiter.command_to("north/kiebitz/board-1", &note).await;
    assert_eq!((status.as_u16(), &answer["ok"]), (200, &json!(true)), "{answer}");
    board
        .until("the note", |known| {
            let notes = known["game"]["notes"].as_array();
            notes.is_some_and(|notes| notes.iter().any(|note| note["by"] == "meier (hub)"))
        })
        .await;
}

#[tokio::test]
async fn the_bridge_of_the_document_connects_a_hall_to_the_centre() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let folder = directory.path();
    let (at, port) = (folder.display().to_string(), free_port());
    std::fs::write(folder.join("users"), user("meier", "arbiter", PASSWORD)).expect("users");
    let mut centre = centre(folder).await;
    let bridge = block("connection north")
        .replace("broker.example:8883", &centre.address().to_string())
        .replace("/etc/mosquitto", &at)
        .replace("SECRET", PASSWORD);
    let mut hall = Mosquitto::start_with(&bridge).await;
    let link = folder.join("links/board-1");
    let config = block("[event]\nname = \"Club championship 2026\"\npairings = [\"/srv/chess/round.pgn\"]\n\n[mqtt]\nurl = \"mqtt://localhost\"")
        .replace("/srv/chess/round.pgn", &format!("{at}/round.csv"))
        .replace("mqtt://localhost", &format!("mqtt://{}", hall.address()))
        .replace("/etc/kiebitz/mqtt-password", &format!("{at}/password"))
        .replace("serial = \"01025\"", &format!("port = {link:?}"));
    let more = format!(
        "[daemon]\nstate_directory = \"{at}/state\"\n[ports]\nusb = false\n[[port]]\npath = {link:?}\nmode = \"single\"\n"
    );
    std::fs::write(folder.join("hall.toml"), config + &more).expect("a configuration");
    let hub = block("[event]\nname = \"Club championship 2026\"\npairings = [\"/srv/chess/round.pgn\"]\n\n[mqtt]\nurl = \"mqtts://")
        .replace("/srv/chess/round.pgn", &format!("{at}/round.csv"))
        .replace("broker.example", &centre.address().to_string())
        .replace("/etc/kiebitz/ca.pem", &format!("{at}/ca.pem"))
        .replace("/etc/kiebitz/hub-password", &format!("{at}/password"))
        .replace("s3://chess/2026", &format!("{at}/live"))
        .replace("127.0.0.1:8038", &format!("127.0.0.1:{port}"))
        .replace("/etc/kiebitz/hub-users", &format!("{at}/users"))
        .replace("15 min", "0 s");
    let more = format!("[daemon]\nstate_directory = \"{at}/state-hub\"\n");
    std::fs::write(folder.join("hub.toml"), hub + &more).expect("a configuration");
    std::fs::write(folder.join("password"), PASSWORD).expect("a password");
    let pairings = "round,board,white,black\n1,50,Adler,Berg\n1,51,Clausen,Dorn\n";
    std::fs::write(folder.join("round.csv"), pairings).expect("pairings");

    let daemon = Program::start(folder, &["run", "--config", "hall.toml"]);
    let hub = Program::start(folder, &["hub", "--config", "hub.toml"]);
    let emulate = ["emulate", "--speed", "8", "--links", "links"];
    let players = Program::start(folder, &emulate);
    // The second table of the round; the first is in another hall.
    let shown = || lichess::read(&file(folder, "live/round-1/game-2.pgn"));
    let plies = || shown().map_or(0, |game| game.moves.len());
    until("moves", folder, || plies() >= 4).await;
    works_with_the_desk(port).await;
    centre.kill();
    tokio::time::sleep(Duration::from_secs(3)).await;
    centre.start_again().await;
    let before = plies();
    until("moves after the centre was away", folder, || plies() > before + 2).await;
    hall.kill();
    tokio::time::sleep(Duration::from_secs(3)).await;
    hall.start_again().await;
    let before = plies();
    until("moves after the hall's broker was away", folder, || {
        plies() > before
    })
    .await;
    drop(players);
    until("the whole game", folder, || {
        let games = played(folder, "hall.toml");
        let game = games.get("1.51");
        game.is_some_and(|game| {
            shown().is_ok_and(|shown| (&shown.moves, &shown.clocks) == (&game.moves, &game.clocks))
        })
    })
    .await;
    assert_eq!(shown().expect("a game").tags["White"], "Clausen");
    hub.stop();
    daemon.stop();
}
