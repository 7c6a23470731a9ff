//! The desk of a hub with boards of two halls, one of which takes no commands.

use core::time::Duration;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};

use reqwest::StatusCode;
use serde_json::{Value, json};

use super::{Guest, ILLEGAL, Stream, open_illegal_move, sent, user};
use crate::long_games::long_games;
use crate::mosquitto::{Mosquitto, free_port};
use crate::npm::scripts;
use crate::spectators::Program;

const NORTH: &str = "north/kiebitz/board-1";
const SOUTH: &str = "south/kiebitz/board-1";
const ROUND: &str =
    "round,board,white,black\n3,1,\"Adler, Jonas\",\"Berg, Ines\"\n3,51,\"Clausen, Per\",\"Dorn, Uta\"\n";

/// Configures two daemons and a hub in a folder.
fn configure(folder: &Path, broker: SocketAddr, port: u16) {
    let halls = [("north", 1, true), ("south", 51, false)];
    configure_halls(
        folder,
        broker,
        port,
        halls,
        "[hub]\nhalls = [\"north/kiebitz\", \"south/kiebitz\"]\n",
    );
    std::fs::write(folder.join("round.csv"), ROUND).expect("pairings");
}

/// Configures two daemons, given as hall, table and whether it takes commands, and a hub with the lines `of_hub`.
fn configure_halls(
    folder: &Path,
    broker: SocketAddr,
    port: u16,
    halls: [(&str, u32, bool); 2],
    of_hub: &str,
) {
    let at = |name: &str| folder.join(name);
    let event = format!("[event]\npairings = [{:?}]\n", at("round.csv"));
    for (hall, table, commands) in halls {
        let link = at(&format!("{hall}/board-1"));
        let mut config = format!(
            "[daemon]\nname = {hall:?}\nstate_directory = {:?}\n{event}hall = {hall:?}\n[mqtt]\nurl = \"mqtt://{broker}\"\n\
             prefix = \"{hall}/kiebitz\"\nhub = true\ncommands = {commands}\n[ports]\nusb = false\n",
            at(&format!("state-{hall}")),
        );
        let _ = write!(
            config,
            "[[port]]\npath = {link:?}\nmode = \"single\"\n[[board]]\nport = {link:?}\nname = \"board-1\"\ntable = {table}\n"
        );
        // South has a desk that only its own computer can reach.
        let url = match hall {
            "north" => "url = \"http://north.example:8038\"\n",
            _ => "",
        };
        let _ = write!(
            config,
            "[desk]\nlisten = \"127.0.0.1:{}\"\nusers_file = {:?}\n{url}",
            free_port(),
            at("users"),
        );
        std::fs::write(at(&format!("{hall}.toml")), config).expect("a configuration");
    }
    let hub = format!(
        "[daemon]\nstate_directory = {:?}\n{event}[mqtt]\nurl = \"mqtt://hub@{broker}\"\n\
         {of_hub}[desk]\nlisten = \"127.0.0.1:{port}\"\nusers_file = {:?}\n",
        at("state-hub"),
        at("users"),
    );
    std::fs::write(at("hub.toml"), hub).expect("a configuration");
    let users = [
        user("meier", "arbiter", "rook-on-a1"),
        user("hall", "viewer", "look-at-it"),
        user("chief", "operator", "operate-it"),
    ];
    std::fs::write(at("users"), users.concat()).expect("users");
    std::fs::write(at("north.pgn"), ILLEGAL).expect("a game");
    std::fs::write(at("south.pgn"), long_games(1)).expect("a game");
}

fn daemon(folder: &Path, hall: &str) -> Program {
    Program::start(folder, &["run", "--config", &format!("{hall}.toml")])
}

/// Starts players who move fast, and pause long after the game so that the arbiters have time to decide.
fn players(folder: &Path, hall: &str) -> Program {
    players_at(folder, hall, "0.5")
}

fn players_at(folder: &Path, hall: &str, speed: &str) -> Program {
    let game = format!("{hall}.pgn");
    let args = [
        "emulate", "--boards", "1", "--hands", "blitz", "--pgn", &game, "--speed", speed, "--links", hall,
    ];
    Program::start(folder, &args)
}

/// Repeats a command, each time with a new id, until the answer matches `wanted`.
async fn commanded_until(
    goal: &str,
    guest: &Guest,
    board: &str,
    wanted: impl Fn(StatusCode, &Value) -> bool,
) {
    let mut last = (StatusCode::OK, Value::Null);
    let waiting = async {
        for id in 0_u32.. {
            let note = json!({"id": format!("{goal} {id}"), "do": "annotate", "text": "still here"});
            last = guest.command_to(board, &note).await;
            if wanted(last.0, &last.1) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    let waited = tokio::time::timeout(crate::eventually::PATIENCE, waiting).await;
    assert!(waited.is_ok(), "not in time: {goal}: {last:?}");
}

async fn guest(port: u16, name: &str, password: &str) -> Guest {
    let mut guest = Guest::new(port);
    guest.wait().await;
    assert_eq!(guest.log_in(name, password).await, 200, "{name}");
    guest
}

/// Checks that the hub refuses requests for data that only daemons have.
async fn data_of_the_halls_is_refused(chief: &Guest) {
    let session = sent(chief.get("session")).await.text().await.expect("an answer");
    let session: Value = serde_json::from_str(&session).expect("JSON");
    assert_eq!(session["hub"], true, "{session}");
    for path in [
        "games",
        "games/1/pgn",
        "games/1/explain",
        "pairings",
        "pairings/r.csv",
        "status",
    ] {
        let response = sent(chief.get(path)).await;
        assert_eq!(response.status(), StatusCode::NOT_FOUND, "{path}");
        let text = response.text().await.expect("an answer");
        assert!(text.contains("use the desk of the hall"), "{path}: {text}");
    }
}

/// Decides an illegal move in one hall at the hub. Returns the id of the game.
async fn decide(arbiter: &Guest, viewer: &Guest, north: &mut Stream) -> String {
    north
        .until("the illegal move", |known| {
            open_illegal_move(known).is_some_and(|incident| incident["case"] == "illegal_move.completed")
        })
        .await;
    north
        .until("what stands on the board", |known| {
            known["connected"] == true && known["placement"] != known["game_placement"]
        })
        .await;
    assert_eq!(
        (&north.known["stands_at"], &north.known["away"]),
        (&json!(1), &Value::Null)
    );
    assert!(
        north.known["clock"]["white_ms"].is_u64(),
        "{:?}",
        north.known["clock"]
    );
    let incident = open_illegal_move(&north.known).expect("it is open")["incident"].clone();
    let decided = json!({"id": "1", "do": "close_incident", "incident": incident,
        "decision": "two minutes for Black", "counts": true});
    assert_eq!(viewer.command_to(NORTH, &decided).await.0, 403);
    let answer = arbiter.command_to(NORTH, &decided).await;
    assert_eq!(
        (answer.0.as_u16(), &answer.1["ok"]),
        (200, &json!(true)),
        "{}",
        answer.1
    );
    assert_eq!(
        arbiter.command_to(NORTH, &decided).await,
        answer,
        "it is carried out once"
    );
    north
        .until("the decision", |known| open_illegal_move(known).is_none())
        .await;
    let game = north.known["game"]["game"].as_str().expect("an id").to_owned();
    let note = json!({"id": "2", "do": "annotate", "text": "seen from the hub", "game": game});
    let answer = arbiter.command_to(NORTH, &note).await;
    assert_eq!(
        (answer.0.as_u16(), &answer.1["ok"]),
        (200, &json!(true)),
        "{}",
        answer.1
    );
    let unknown = arbiter.command_to("east/kiebitz/board-1", &note).await;
    assert_eq!(
        (unknown.0.as_u16(), &unknown.1["ok"]),
        (200, &json!(false)),
        "{}",
        unknown.1
    );
    game
}

#[tokio::test]
async fn a_hub_has_the_desk_of_all_halls() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let (folder, port) = (directory.path(), free_port());
    let mut broker = Mosquitto::start().await;
    configure(folder, broker.address(), port);
    let (north_daemon, south_daemon) = (daemon(folder, "north"), daemon(folder, "south"));
    let hub = Program::start(folder, &["hub", "--config", "hub.toml"]);
    let arbiter = guest(port, "meier", "rook-on-a1").await;
    let viewer = guest(port, "hall", "look-at-it").await;
    let chief = guest(port, "chief", "operate-it").await;
    data_of_the_halls_is_refused(&chief).await;
    let players = ["north", "south"].map(|hall| players(folder, hall));
    let mut north = Stream::of(&arbiter, NORTH).await;
    let mut south = Stream::of(&arbiter, SOUTH).await;
    let game = decide(&arbiter, &viewer, &mut north).await;
    south
        .until("the other hall", |known| {
            known.get("connected") == Some(&json!(true))
                && known["stands_at"] == 51
                && known["placement"].is_string()
        })
        .await;

    north
        .until("the address of the desk in the hall", |known| {
            known["hall"] == json!({"daemon": "north", "desk": "http://north.example:8038/"})
        })
        .await;
    let closed = json!({"daemon": "south", "desk": null});
    assert_eq!(south.known["hall"], closed, "only its own computer can reach it");

    let names = json!({"id": "3", "do": "set_players", "white": "A", "black": "B"});
    let (status, silent) = arbiter.command_to(SOUTH, &names).await;
    assert_eq!(
        (status.as_u16(), &silent["why"]),
        (504, &json!("silent")),
        "{silent}"
    );
    let reason = silent["error"].as_str().expect("a text");
    assert!(
        reason.contains("south did not answer") && reason.contains("commands = true"),
        "{reason}"
    );
    assert!(
        reason.contains("south/kiebitz/boards/board-1/command/hub"),
        "{reason}"
    );

    let begin = json!({"id": "4", "do": "start_round", "round": 3});
    assert_eq!(
        arbiter.command_to(NORTH, &begin).await.0,
        403,
        "only operators may do this"
    );
    let begun = chief.command_to(NORTH, &begin).await;
    assert_eq!(
        (begun.0.as_u16(), &begun.1["ok"]),
        (200, &json!(true)),
        "{}",
        begun.1
    );
    north
        .until("the round", |known| known["pairings"]["round"] == 3)
        .await;

    // SIGKILL: the broker publishes the daemon's last will.
    drop(north_daemon);
    north
        .until("the board is gone", |known| {
            known["connected"] == false && known["away"] == "north"
        })
        .await;
    let (status, away) = arbiter.command_to(NORTH, &names).await;
    assert_eq!(
        (status.as_u16(), &away["why"], &away["daemon"]),
        (504, &json!("away"), &json!("north"))
    );
    let north_daemon = daemon(folder, "north");
    north
        .until("the board is there again", |known| {
            known["connected"] == true && known["away"].is_null()
        })
        .await;
    commanded_until("taken again", &arbiter, NORTH, |status, answer| {
        status == 200 && answer["ok"] == true
    })
    .await;
    broker.kill();
    commanded_until("without a broker", &arbiter, NORTH, |status, answer| {
        status == 504 && answer["why"] == "no_broker"
    })
    .await;
    north
        .until("nobody knows how the board is", |known| {
            known["connected"] == false
        })
        .await;
    drop(players);
    for program in [hub, north_daemon, south_daemon] {
        program.stop();
    }
    let taken = taken(folder, &game);
    assert!(
        taken.iter().any(|line| line.contains("\"by\":\"meier (hub)\"")),
        "{taken:?}"
    );
    let decided = taken.iter().filter(|line| line.contains("close_incident"));
    assert_eq!(decided.count(), 1, "{taken:?}");
    assert!(
        taken.iter().any(|line| line.contains("seen from the hub")),
        "{taken:?}"
    );
}

/// The commands for a game in the journal of the hall, which does not prefix the game's id.
fn taken(folder: &Path, game: &str) -> Vec<String> {
    let own = game.strip_prefix(&format!("{NORTH}: ")).expect("the hub's name");
    let exported = Command::new(crate::program())
        .args(["export", "--config", "north.toml"])
        .current_dir(folder)
        .output()
        .expect("kiebitz runs");
    let exported = String::from_utf8(exported.stdout).expect("UTF-8");
    assert!(exported.contains(own), "{own}");
    let taken = exported.lines().filter(|line| line.contains("command.taken"));
    taken.map(str::to_owned).collect()
}

/// In a browser: functions that a hub lacks are not offered, and an offline hall is shown in a single line.
#[tokio::test]
async fn an_operator_sees_all_halls_in_a_browser() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let (folder, port) = (directory.path(), free_port());
    let broker = Mosquitto::start().await;
    configure(folder, broker.address(), port);
    // The game must last longer than the test.
    std::fs::write(folder.join("north.pgn"), long_games(1)).expect("a game");
    let mut north_daemon = Some(daemon(folder, "north"));
    let south_daemon = daemon(folder, "south");
    let hub = Program::start(folder, &["hub", "--config", "hub.toml"]);
    let players = ["north", "south"].map(|hall| players_at(folder, hall, "0.2"));
    let mut script = Command::new("node")
        .args(["hub.mjs", &format!("http://127.0.0.1:{port}/")])
        .args(["chief", "operate-it"])
        .arg(folder.join("profile"))
        .current_dir(scripts())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node: install it, or let tests/run do so");
    for line in BufReader::new(script.stdout.take().expect("a pipe")).lines() {
        assert_eq!(line.expect("text"), "kill");
        drop(north_daemon.take().expect("one kill"));
    }
    let status = script.wait().expect("it ends");
    let log = std::fs::read_to_string(folder.join("log")).unwrap_or_default();
    assert!(status.success(), "what the script says is above\n{log}");
    drop(players);
    for program in [hub, south_daemon] {
        program.stop();
    }
}

/// Both halls have a table 1. With names, each has tables of its own; without, both games are shown, and a task says so.
#[tokio::test]
async fn equal_tables_of_two_halls_are_two_games() {
    let halls = [("north", 1, true), ("south", 1, true)];
    let named =
        "{ prefix = \"north/kiebitz\", name = \"North\" }, { prefix = \"south/kiebitz\", name = \"South\" }";
    let pairings = "round,hall,board,white,black\n3,North,1,\"Adler, Jonas\",\"Berg, Ines\"\n\
                    3,South,1,\"Clausen, Per\",\"Dorn, Uta\"\n3,South,2,\"Ebert, Kim\",\"Fuchs, Ali\"\n";
    let shared = "\"north/kiebitz\", \"south/kiebitz\"";
    let both = "round,board,white,black\n3,1,\"Adler, Jonas\",\"Berg, Ines\"\n";
    for (kind, list, pairings) in [("named", named, pairings), ("shared", shared, both)] {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
        let (folder, port, wall) = (directory.path(), free_port(), free_port());
        let broker = Mosquitto::start().await;
        let of_hub = format!(
            "[hub]\nhalls = [{list}]\n[publish]\nlisten = \"127.0.0.1:{wall}\"\nto = {:?}\n",
            folder.join("live")
        );
        configure_halls(folder, broker.address(), port, halls, &of_hub);
        std::fs::write(folder.join("round.csv"), pairings).expect("pairings");
        // The games must last longer than the test.
        std::fs::write(folder.join("north.pgn"), long_games(1)).expect("a game");
        let daemons = ["north", "south"].map(|hall| daemon(folder, hall));
        let hub = Program::start(folder, &["hub", "--config", "hub.toml"]);
        let players = ["north", "south"].map(|hall| players_at(folder, hall, "0.2"));
        let chief = guest(port, "chief", "operate-it").await;
        let mut south = Stream::of(&chief, SOUTH).await;
        let is_named = kind == "named";
        let (table, white) = if is_named {
            (2001, "Clausen, Per")
        } else {
            (1, "Adler, Jonas")
        };
        south
            .until("the game in the south", |known| {
                known.get("stands_at") == Some(&json!(table))
                    && known
                        .get("game")
                        .is_some_and(|game| game["players"]["white"] == white)
            })
            .await;
        if is_named {
            // The command is for a table without a board, and reaches the hall of the table through any board.
            let result = json!({"id": "1", "do": "set_result", "round": 3, "table": 2002, "result": "1-0"});
            let (status, answer) = chief.command_to(NORTH, &result).await;
            assert_eq!((status.as_u16(), &answer["ok"]), (200, &json!(true)), "{answer}");
            let other = json!({"id": "2", "do": "set_table", "table": 2003});
            let (_, answer) = chief.command_to(NORTH, &other).await;
            assert!(
                answer["error"]
                    .as_str()
                    .is_some_and(|error| error.contains("in another hall")),
                "{answer}"
            );
        }
        let script = Command::new("node")
            .args(["tables.mjs", &format!("http://127.0.0.1:{port}/")])
            .arg(format!("http://127.0.0.1:{wall}/"))
            .args(["chief", "operate-it"])
            .arg(folder.join("profile"))
            .arg(kind)
            .current_dir(scripts())
            .stdin(Stdio::null())
            .status()
            .expect("node: install it, or let tests/run do so");
        let log = std::fs::read_to_string(folder.join("log")).unwrap_or_default();
        assert!(script.success(), "what the script says is above\n{log}");
        let tables = || {
            let round = std::fs::read_to_string(folder.join("live/round-3/wall.json")).unwrap_or_default();
            let round: Value = serde_json::from_str(&round).unwrap_or_default();
            let games = round["games"].as_array().cloned().unwrap_or_default();
            games.iter().map(|game| game["table"].clone()).collect::<Vec<_>>()
        };
        let expected = tables();
        let is_expected = if is_named {
            expected == [1001, 2001, 2002]
        } else {
            // The game that began first has the number of the table.
            expected == [1, 2001] || expected == [1, 1001]
        };
        assert!(is_expected, "{expected:?}");
        drop(hub);
        std::fs::remove_dir_all(folder.join("live")).expect("the files");
        let hub = Program::start(folder, &["hub", "--config", "hub.toml"]);
        crate::eventually::eventually("the same after a restart", || tables() == expected);
        drop(players);
        for program in daemons.into_iter().chain([hub]) {
            program.stop();
        }
    }
}
