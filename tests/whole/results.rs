//! Results that arbiters enter: for a game after the next one has begun, and for a table without a board. They are the
//! same after a restart.

use std::net::SocketAddr;
use std::path::Path;

use rumqttc::v5::mqttbytes::v5::Publish;
use serde_json::{Value, json};

use crate::eventually::PATIENCE;
use crate::mosquitto::Mosquitto;
use crate::mqtt_world::{self, Listener, topic};
use crate::spectators::Program;

const GAMES: &str = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 *\n\n\
    1. d4 d5 2. c4 e6 3. Nc3 Nf6 4. Bg5 Be7 5. e3 O-O 6. Nf3 h6 7. Bh4 b6 *\n";
const PAIRINGS: &str = "round,board,white,black\n1,1,Adler,Berg\n1,9,Ebert,Falk\n";

fn configuration(directory: &Path, broker: SocketAddr) -> String {
    let at = |name: &str| directory.join(name);
    format!(
        "[daemon]\nstate_directory = {:?}\n[ports]\nusb = false\n[mqtt]\nurl = \"mqtt://{broker}\"\ncommands = true\n\
         [event]\nname = \"Open\"\ntime_control = \"90+30\"\npairings = [{:?}]\n[publish]\nto = {:?}\n\
         [[port]]\npath = {3:?}\nmode = \"single\"\n[[board]]\nport = {3:?}\nname = \"board-1\"\n",
        at("state"),
        at("r.csv"),
        at("live"),
        at("links/board-1"),
    )
}

/// The `Result` tag of a game of the round; `None` if the file does not exist.
fn result(directory: &Path, game: u32) -> Option<String> {
    let pgn = std::fs::read_to_string(directory.join(format!("live/round-1/game-{game}.pgn"))).ok()?;
    let tag = pgn.lines().find_map(|line| line.strip_prefix("[Result \""))?;
    Some(tag.trim_end_matches("\"]").to_owned())
}

async fn until(goal: &str, holds: impl Fn() -> bool) {
    let waited = tokio::time::timeout(PATIENCE, async {
        while !holds() {
            tokio::time::sleep(core::time::Duration::from_millis(50)).await;
        }
    });
    assert!(waited.await.is_ok(), "not in time: {goal}");
}

async fn send_command(arbiter: &Listener, id: &str, command: Value) -> Value {
    let mut command = command;
    command["id"] = json!(id);
    arbiter.send(
        "kiebitz/boards/board-1/command",
        &command.to_string(),
        false,
        None,
    );
    let find = |inbox: &[Publish]| {
        let mut answers = inbox
            .iter()
            .filter(|publish| topic(publish) == "boards/board-1/answer")
            .map(mqtt_world::json);
        answers.find(|answer| answer["id"] == id)
    };
    arbiter.until("an answer", |inbox| find(inbox).is_some()).await;
    find(&arbiter.inbox()).expect("an answer")
}

#[tokio::test]
async fn any_table_has_its_result_at_any_time_and_after_a_restart() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let path = directory.path();
    let broker = Mosquitto::start().await;
    std::fs::write(path.join("game.pgn"), GAMES).expect("games");
    std::fs::write(path.join("r.csv"), PAIRINGS).expect("pairings");
    let address = broker.address();
    std::fs::write(path.join("kiebitz.toml"), configuration(path, address)).expect("a configuration");
    let arbiter = Listener::with_login("desk", broker.address(), None, "kiebitz/#").await;
    let run = || Program::start(path, &["run", "--config", "kiebitz.toml"]);
    let daemon = run();
    let boards = Program::start(
        path,
        &[
            "emulate", "--hands", "blitz", "--speed", "4", "--pgn", "game.pgn", "--links", "links",
        ],
    );
    let plies = |game: &Value| game["moves"].as_array().map_or(0, Vec::len);
    let until_game = async |goal: &str, wanted: &dyn Fn(&Value) -> bool| {
        let on_topic = |inbox: &[Publish]| {
            let mut games = inbox
                .iter()
                .rev()
                .filter(|publish| topic(publish) == "boards/board-1/game");
            games
                .next()
                .is_some_and(|publish| wanted(&mqtt_world::json(publish)))
        };
        arbiter.until(goal, on_topic).await;
    };
    let is_second = |game: &Value| game["game"].as_str().is_some_and(|id| id.ends_with("-2"));
    until_game("a second game", &|game| is_second(game) && plies(game) >= 2).await;

    let of =
        |table: u32, result: &str| json!({"do": "set_result", "round": 1, "table": table, "result": result});
    assert_eq!(send_command(&arbiter, "1", of(9, "1/2-1/2")).await["ok"], true);
    assert_eq!(send_command(&arbiter, "2", of(1, "0-1")).await["ok"], true);
    let unknown = send_command(&arbiter, "3", of(4, "0-1")).await;
    assert!(
        unknown["error"]
            .as_str()
            .is_some_and(|error| error.contains("no table 4")),
        "{unknown}"
    );
    let shown = || [1, 2].map(|game| result(path, game));
    let entered = ["0-1", "1/2-1/2"].map(|result| Some(result.to_owned()));
    until("both results", || shown() == entered).await;
    let has_incident = |inbox: &[Publish]| {
        inbox.iter().any(|publish| {
            topic(publish) == "boards/board-1/incidents"
                && mqtt_world::json(publish)
                    .as_array()
                    .is_some_and(|open| open.iter().any(|incident| incident["kind"] == "second_game"))
        })
    };
    arbiter
        .until("the question about the second game", has_incident)
        .await;

    // A correction of the pairing file also reaches the game of the round.
    std::fs::write(path.join("r.csv"), PAIRINGS.replace("Adler", "Adler-Meier")).expect("pairings");
    let is_corrected = || {
        let pgn = std::fs::read_to_string(path.join("live/round-1/game-1.pgn"));
        pgn.is_ok_and(|pgn| pgn.contains("[White \"Adler-Meier\"]"))
    };
    until("the corrected name", is_corrected).await;

    // All published files are written again.
    daemon.stop();
    std::fs::remove_dir_all(path.join("live")).expect("what was published");
    let _daemon = run();
    until("both results again", || shown() == entered).await;
    assert_eq!(
        send_command(&arbiter, "4", of(1, "1-0")).await["ok"],
        true,
        "the same arbiter"
    );
    until("the other result", || result(path, 1).as_deref() == Some("1-0")).await;
    boards.stop();
}
