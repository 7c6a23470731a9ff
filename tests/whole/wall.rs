//! The wall in a real browser: twelve emulated boards, the built program, and a page that is open while the daemon is
//! killed, the network fails and moves go on.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

use kiebitz_game::events::record::GameRecord;
use kiebitz_game::position::Variant;
use serde_json::{Value, json};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess};

use crate::broadcast::recorded;
use crate::eventually::eventually;
use crate::long_games::long_games;
use crate::mosquitto::free_port;
use crate::npm::scripts;
use crate::spectators::Program;

const BOARDS: usize = 12;
/// A name too long for a board on a projector.
const LONG: &str = "Hohenstein-Oehringen-Langenburg, Wilhelmina";
/// A player's name with HTML code, which must be shown as text.
const HOSTILE: &str = "<img src=x onerror=alert(1)>";

/// A hall with its programs.
struct Hall {
    directory: tempfile::TempDir,
    daemon: Option<Program>,
    players: Option<Program>,
}

impl Hall {
    fn open(port: u16) -> Self {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
        let path = directory.path();
        let mut config = format!(
            "[daemon]\nname = \"hall\"\nstate_directory = {:?}\n[event]\nname = \"Kiebitz Open\"\npairings = [{:?}]\n\
             [publish]\nto = {:?}\nlisten = \"127.0.0.1:{port}\"\naddress = \"https://live.example/\"\n[ports]\nusb = false\n",
            path.join("state"),
            path.join("round.csv"),
            path.join("live"),
        );
        let mut pairings =
            "round,board,white,white_title,white_rating,white_federation,white_team,black,black_team\n"
                .to_owned();
        for board in 1..=BOARDS {
            let link = path.join(format!("links/board-{board}"));
            let _ = write!(
                config,
                "[[port]]\npath = {link:?}\nmode = \"single\"\n[[board]]\nport = {link:?}\nname = \"board-{board}\"\n"
            );
            let white = match board {
                5 => HOSTILE.to_owned(),
                8 => LONG.to_owned(),
                _ => format!("White {board}, W."),
            };
            let teams = if board % 2 == 1 {
                ["SK Nord", "SV Süd"]
            } else {
                ["SV Süd", "SK Nord"]
            };
            let _ = writeln!(
                pairings,
                "1,{board},\"{white}\",GM,2600,GER,{},\"Black {board}, B.\",{}",
                teams[0], teams[1]
            );
        }
        std::fs::write(path.join("kiebitz.toml"), config).expect("a configuration");
        std::fs::write(path.join("round.csv"), pairings).expect("pairings");
        Self {
            directory,
            daemon: None,
            players: None,
        }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Carries out a request of the browser's script.
    fn answer(&mut self, request: &str) -> Value {
        match request {
            "play" => {
                let boards = BOARDS.to_string();
                let emulate = [
                    "emulate", "--boards", &*boards, "--hands", "mixed", "--pgn", "game.pgn", "--speed", "2",
                    "--links", "links",
                ];
                std::fs::write(self.path().join("game.pgn"), long_games(3)).expect("games");
                self.players = Some(Program::start(self.path(), &emulate));
                Value::Null
            }
            "start" => {
                self.daemon = Some(Program::start(self.path(), &["run", "--config", "kiebitz.toml"]));
                Value::Null
            }
            "kill" => {
                self.daemon = None;
                Value::Null
            }
            "leave" => {
                self.players = None;
                Value::Null
            }
            "truth" => {
                let games = recorded(self.path(), "kiebitz.toml").into_iter();
                let of_round = games.filter_map(|game| {
                    let players = game.players.as_ref().filter(|players| players.round == Some(1))?;
                    Some((players.table?.to_string(), truth(&game)))
                });
                Value::Object(of_round.collect())
            }
            other => panic!("the script asks for {other:?}"),
        }
    }
}

/// What the journal says of a game: the positions at its start and its end, and every ply with the mover's remaining
/// seconds. Viewers cannot follow a ply that is irregular, or before which the arbiter has set a position.
fn truth(game: &GameRecord) -> Value {
    let mode = CastlingMode::from_chess960(game.variant == Variant::Chess960);
    let start = game.start_fen.parse::<Fen>().expect("a FEN");
    let has_start = start.into_position::<Chess>(mode).is_ok();
    let plies = game.moves.iter().map(|ply| {
        let is_set = game.positions.iter().any(|set| set.ply + 1 == ply.ply);
        json!({
            "san": ply.san,
            "left_s": ply.clock.map(|clock| clock.times_ms()[ply.color] / 1000),
            "placement": placement(&ply.fen),
            "follows": has_start && ply.legal && ply.san.is_some() && !is_set,
        })
    });
    json!({
        "start": placement(&game.start_fen),
        "plies": plies.collect::<Vec<_>>(),
        "placement": placement(&game.fen),
    })
}

fn placement(fen: &str) -> &str {
    fen.split(' ').next().expect("a placement")
}

/// The script drives the browser, sends requests, and has its own timeouts.
#[test]
fn a_round_of_twelve_boards_is_watched_on_the_wall() {
    let port = free_port();
    let mut hall = Hall::open(port);
    let mut script = Command::new("node")
        .args(["watch.mjs", &port.to_string()])
        .arg(hall.path().join("live"))
        .arg(hall.path().join("profile"))
        .current_dir(scripts())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node: install it, or let tests/run do so");
    let mut answers = script.stdin.take().expect("a pipe");
    let requests = BufReader::new(script.stdout.take().expect("a pipe"));
    for request in requests.lines() {
        let answer = hall.answer(&request.expect("a line"));
        // The script may have ended.
        let _ = writeln!(answers, "{answer}");
    }
    let status = script.wait().expect("it ends");
    let log = std::fs::read_to_string(hall.path().join("log")).unwrap_or_default();
    assert!(status.success(), "what the script says is above\n{log}");
}

/// Body of the response for a path at an address such as `http://127.0.0.1:8080/`.
fn served(address: &str, path: &str) -> Option<String> {
    let host = address.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(host).ok()?;
    write!(
        stream,
        "GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    )
    .ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (_, content) = answer.split_once("\r\n\r\n")?;
    Some(content.to_owned())
}

#[test]
fn the_demo_is_on_the_wall() {
    let mut demo = Command::new(crate::program())
        .args(["demo", "--speed", "max", "--wait"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("kiebitz runs");
    let mut lines = BufReader::new(demo.stdout.take().expect("stdout")).lines();
    let mut printed = lines.by_ref().map_while(Result::ok);
    let named = printed.find_map(|line| Some(line.split_once("In a browser: ")?.1.to_owned()));
    let address = named.expect("an address");
    // All recordings have been shown once this line is printed.
    printed
        .find(|line| line.contains("until Ctrl-C"))
        .expect("it waits");
    let last = || {
        let round: Value = serde_json::from_str(&served(&address, "round-1/wall.json")?).ok()?;
        let games = round["games"].as_array()?;
        assert!(games.len() <= 5, "a board for each recording: {games:?}");
        let last = games.iter().find(|game| game["table"] == 4)?;
        Some(last.clone()).filter(|game| game["last"]["san"] == "hxg6")
    };
    let mut shown = None;
    eventually("the last recording to its end", || {
        shown = last();
        shown.is_some()
    });
    assert!(served(&address, "").expect("a page").contains("page/main.js"));
    demo.kill().expect("it runs");
    demo.wait().expect("it ends");
    let shown = shown.expect("the last recording to its end");
    assert_eq!(shown["live"], true);
}
