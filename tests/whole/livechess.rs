//! The LiveChess interface: emulated boards, the built program, and clients written for LiveChess.

mod client;

use core::time::Duration;
use std::path::Path;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::mosquitto::free_port;
use crate::spectators::Program;
use client::{Client, Seen};

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const MATE: &str = "e4 e5 Qh5 Nc6 Bc4 Nf6 Qxf7#";
const OPERA: &str = "e4 e5 Nf3 d6 d4 Bg4 dxe5 Bxf3 Qxf3 dxe5 Bc4 Nf6 Qb3 Qe7 Nc3 c6 Bg5 b5 Nxb5 cxb5 Bxb5+ \
                     Nbd7 O-O-O Rd8 Rxd7 Rxd7 Rd1 Qe6 Bxd7+ Nxd7 Qb8+ Nxb8 Rd8#";

/// A board, and the program that watches it.
struct Hall {
    directory: tempfile::TempDir,
    port: u16,
    programs: Vec<Program>,
}

impl Hall {
    /// A hall with a board in play.
    fn open(settings: &str) -> Self {
        let mut hall = Self::before_play(settings);
        hall.play();
        hall
    }

    /// A hall whose board is not plugged in yet.
    fn before_play(settings: &str) -> Self {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
        let (path, port) = (directory.path(), free_port());
        let link = path.join("links/board-1");
        let config = format!(
            "[daemon]\nname = \"hall\"\nstate_directory = {:?}\n[event]\nname = \"Kiebitz Open\"\nsite = \"Bremen\"\n\
             pairings = [{:?}]\n[livechess]\nlisten = \"127.0.0.1:{port}\"\n{settings}[ports]\nusb = false\n\
             [[port]]\npath = {link:?}\nmode = \"single\"\n[[board]]\nport = {link:?}\nname = \"board-1\"\n",
            path.join("state"),
            path.join("round.csv"),
        );
        let pairings = "round,board,white,white_fide_id,black\n1,1,\"Adler, Jonas\",4611111,\"Berg, Ines\"\n";
        let game = |moves: &str| format!("[White \"a\"]\n[Black \"b\"]\n\n{moves} *\n\n");
        write(path, "kiebitz.toml", &config);
        write(path, "round.csv", pairings);
        write(path, "game.pgn", &(game(MATE) + &game(OPERA)));
        let daemon = Program::start(path, &["run", "--config", "kiebitz.toml"]);
        Self {
            port,
            programs: vec![daemon],
            directory,
        }
    }

    /// Plugs the board in and plays two games on it.
    fn play(&mut self) {
        let emulate = [
            "emulate", "--hands", "blitz", "--speed", "2", "--pgn", "game.pgn", "--links", "links",
        ];
        self.programs
            .push(Program::start(self.directory.path(), &emulate));
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("log")).unwrap_or_default()
    }

    /// Status and body of the response to a GET request.
    async fn get(&self, path: &str, headers: &str) -> Option<(u16, String)> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.ok()?;
        let request = format!("GET /api/v1.0{path} HTTP/1.1\r\nConnection: close\r\n{headers}\r\n");
        stream.write_all(request.as_bytes()).await.ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.ok()?;
        let (head, content) = answer.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some((status, content.to_owned()))
    }

    /// JSON at a path; null if the status is not 200.
    async fn json_at(&self, path: &str) -> Value {
        let answer = self.get(path, "Host: localhost:1982\r\n").await;
        let found = answer.filter(|(status, _)| *status == 200);
        found.map_or(Value::Null, |(_, text)| {
            serde_json::from_str(&text).expect("JSON")
        })
    }

    /// Waits until the JSON at a path matches `wanted`.
    async fn until(&self, path: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let waiting = async {
            loop {
                let found = self.json_at(path).await;
                if wanted(&found) {
                    return found;
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        let waited = tokio::time::timeout(crate::eventually::PATIENCE, waiting).await;
        waited.unwrap_or_else(|_| panic!("not in time: {path}\n{}", self.log()))
    }

    async fn board(&self) -> String {
        let is_active = |boards: &Value| boards[0]["state"] == "ACTIVE";
        let boards = self.until("/eboards", is_active).await;
        boards[0]["serialnr"].as_str().expect("a text").to_owned()
    }
}

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("a file");
}

fn keys(value: &Value) -> Vec<&str> {
    let fields = value.as_object().expect("an object");
    let mut keys: Vec<&str> = fields.keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

fn moves(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[tokio::test]
async fn a_client_sees_two_whole_games_over_a_reconnect_and_a_flip() {
    let mut hall = Hall::before_play("");
    // A page that sets up once, before the first game. A board that was never plugged in has a name, but no number.
    let is_listed = |boards: &Value| boards[0]["comment"] == "board-1";
    let listed = hall.until("/eboards", is_listed).await;
    assert_eq!(listed[0]["serialnr"], Value::Null);
    assert_eq!(listed[0]["state"], Value::Null);
    let mut page = Client::connect(hall.port, Some("https://lichess.org")).await;
    page.subscribe("board-1").await;
    page.set_up(START).await;
    hall.play();
    let serial = hall.board().await;
    let mut client = Client::connect(hall.port, Some("https://lichess.org")).await;
    let boards = client.calls("eboards", Value::Null).await;
    let listed = [
        "battery", "board", "clock", "comment", "flipped", "serialnr", "source", "state",
    ];
    assert_eq!(keys(&boards[0]), listed);
    assert_eq!(
        (&boards[0]["serialnr"], &boards[0]["source"]),
        (&json!(serial), &"board-1".into())
    );
    let sources = client.calls("sources", Value::Null).await;
    let listed = ["active", "device", "name", "present", "status", "type"];
    assert_eq!(keys(&sources[0]), listed);
    assert_eq!(
        (&sources[0]["device"], &sources[0]["present"]),
        (&"board-1".into(), &true.into())
    );
    client.subscribe(&serial).await;
    let first = client.event().await;
    assert_eq!(keys(&first), ["board", "clock", "flipped", "serialnr"]);
    client.set_up(START).await;
    client.until(&hall, |seen| seen.san.len() >= 2).await;
    assert_eq!(client.seen.start, START);

    // The connection is lost while moves are played, unless the game is already over.
    let plies = client.seen.san.len();
    drop(client);
    let played = |game: &Value| {
        let made = game["moves"].as_array().map_or(0, Vec::len);
        made > plies + 1 || made == moves(MATE).len()
    };
    let tournaments = hall.json_at("/tournaments").await;
    let event = tournaments[0]["uuid"].as_str().expect("a text");
    let round = hall.json_at(&format!("/round/{event}/0")).await;
    let path = format!("/game/{}", round["pairings"][0]["uuid"].as_str().expect("a text"));
    hall.until(&path, played).await;
    let mut client = Client::connect(hall.port, None).await;
    client.subscribe(&serial).await;
    client.event().await;
    client.set_up(START).await;
    // On a busy computer the second game may already have begun.
    let (first, second) = (moves(MATE), moves(OPERA));
    let is_second = |seen: &Seen| seen.san.len() >= 3 && seen.san[..3] == second[..3];
    client
        .until(&hall, |seen| {
            (seen.san == first && seen.matches) || is_second(seen)
        })
        .await;
    let game = hall.until(&path, |game| game["result"] == "WHITEWIN").await;
    assert_eq!(game["moves"].as_array().map(Vec::len), Some(first.len()));
    // The next game needs another setup.
    if !is_second(&client.seen) {
        client.set_up(START).await;
    }

    // From here on the board is flipped, and the second game must be read the same way.
    client.flip(true).await;
    // Flipped, the first rank of the FEN has White's king and no black piece.
    let is_white_above = |seen: &Seen| {
        let above = seen.board.split('/').next().unwrap_or_default();
        above.contains('K') && !above.contains(|piece: char| piece.is_ascii_lowercase())
    };
    client
        .until(&hall, |seen| seen.flipped && is_white_above(seen))
        .await;
    assert_eq!(hall.json_at("/eboards").await[0]["flipped"], true);
    client.until(&hall, is_second).await;
    client.flip(false).await;
    client
        .until(&hall, |seen| seen.san == second && seen.matches)
        .await;
    assert!(!client.seen.flipped && client.seen.start == START);
    // The page has not set up again, so it has the moves of the first game alone.
    page.catch_up().await;
    assert_eq!(page.seen.start, START);
    assert!(
        !page.seen.san.is_empty() && first.starts_with(&page.moves()),
        "{:?}",
        page.seen
    );
    assert!(!page.seen.matches);
    client.calls("unsubscribe", json!(4)).await;
    // Events before the answer were sent while the client was still subscribed.
    client.events.clear();
    let mut other = Client::connect(hall.port, None).await;
    other.subscribe(&serial).await;
    other.flip(true).await;
    other.until(&hall, |seen| seen.flipped).await;
    // The server sends in order, so earlier messages have arrived when this answer does.
    client.calls("eboards", Value::Null).await;
    assert!(client.events.is_empty(), "{:?}", client.events);
    // The board is unplugged.
    hall.programs.pop();
    let is_lost = |boards: &Value| boards[0]["state"] == "NOTRESPONDING";
    let listed = hall.until("/eboards", is_lost).await;
    assert_eq!(
        (&listed[0]["serialnr"], &listed[0]["source"]),
        (&json!(serial), &Value::Null)
    );
}

#[tokio::test]
async fn the_event_has_the_keys_of_livechess() {
    let hall = Hall::open("");
    let serial = hall.board().await;
    let paired = |listed: &Value| listed[0]["rounds"] == 1;
    let listed = hall.until("/tournaments", paired).await;
    assert_eq!(keys(&listed[0]), ["description", "rounds", "uuid"]);
    let id = listed[0]["uuid"].as_str().expect("a text");
    let event = hall.json_at(&format!("/tournament/{id}")).await;
    let expected = json!({ "uuid": id, "name": "Kiebitz Open", "description": "Kiebitz Open", "location": "Bremen",
        "country": null, "rounds": 1, "eboards": [serial] });
    assert_eq!(event, expected);
    let path = format!("/round/{id}/0");
    let round = hall
        .until(&path, |round| round["pairings"][0]["live"] == true)
        .await;
    let player = |first: &str, last: &str, fide_id: Option<u32>| {
        json!({ "fname": first, "mname": null, "lname": last, "title": null, "federation": null, "gender": null,
            "fideid": fide_id })
    };
    let game_id = round["pairings"][0]["uuid"].as_str().expect("a text");
    let expected = json!({ "nr": 1, "uuid": game_id, "white": player("Jonas", "Adler", Some(4_611_111)),
        "black": player("Ines", "Berg", None), "live": true, "result": null });
    assert_eq!(round["pairings"], json!([expected]));
    assert_eq!(keys(&round), ["date", "nr", "pairings"]);
    let path = format!("/game/{game_id}");
    let game = hall.until(&path, |game| game["result"] == "WHITEWIN").await;
    assert_eq!(keys(&game), ["chess960", "clock", "comment", "moves", "result"]);
    let played = game["moves"].as_array().expect("moves").iter();
    let sans: Vec<&str> = played
        .map(|entry| entry.as_str().expect("a text").split(' ').next().expect("SAN"))
        .collect();
    assert_eq!(sans, moves(MATE));
    assert_eq!(keys(&game["clock"]), ["black", "run", "time", "white"]);
    for path in ["/round/x/0", "/game/x", "/tournament/x", "/nothing"] {
        let (status, text) = hall.get(path, "Host: 127.0.0.1\r\n").await.expect("an answer");
        assert_eq!(status, 404, "{path}");
        assert!(serde_json::from_str::<Value>(&text).expect("JSON")["message"].is_string());
    }
    let round = format!("/round/{id}/1");
    assert_eq!(hall.json_at(&round).await, Value::Null);
}

#[tokio::test]
async fn pages_of_other_sites_are_refused() {
    let hall = Hall::open("");
    let serial = hall.board().await;
    for headers in [
        "Host: evil.example\r\n",
        "Host: localhost\r\nOrigin: https://evil.example\r\n",
        "Host: localhost\r\nOrigin: null\r\n",
    ] {
        let (status, text) = hall.get("/eboards", headers).await.expect("an answer");
        assert_eq!(status, 403);
        assert!(!text.contains(&serial));
    }
    let of_lichess = "Host: localhost\r\nOrigin: https://lichess.org\r\n";
    assert_eq!(hall.get("/eboards", of_lichess).await.expect("an answer").0, 200);
    let refused = Client::try_connect(hall.port, Some("https://evil.example")).await;
    assert!(refused.is_none());

    // An invalid call is answered with an error; a message that is too long ends the connection.
    let mut client = Client::connect(hall.port, None).await;
    let error = client.fails(
        "subscribe",
        json!({ "feed": "eboardevent", "id": 5, "param": { "serialnr": "99999" } }),
    );
    assert_eq!(error.await, "no such board: 99999");
    client.send("no JSON").await;
    assert_eq!(client.frame().await.expect("an answer")["response"], "error");
    client.send(&" ".repeat(20_000)).await;
    assert!(client.frame().await.is_none());
    // At some number of clients, the next one is refused.
    let mut clients = Vec::new();
    while let Some(client) = Client::try_connect(hall.port, None).await {
        clients.push(client);
        assert!(clients.len() < 100);
    }
    assert!(clients.len() >= 31, "{}", clients.len());
}

/// `setup = true` is meant for play at home.
#[tokio::test]
async fn a_page_may_set_a_position_only_with_setup() {
    const ENDGAME: &str = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
    let set_up = json!({ "id": 4, "method": "setup", "param": { "fen": ENDGAME } });
    for (settings, allowed) in [("", false), ("setup = true\n", true)] {
        let hall = Hall::open(settings);
        let serial = hall.board().await;
        let mut client = Client::connect(hall.port, Some("https://lichess.org")).await;
        client.subscribe(&serial).await;
        client.set_up(START).await;
        client.until(&hall, |seen| seen.san.len() >= 3).await;
        let flip = json!({ "id": 4, "method": "setup", "param": { "flip": true } });
        assert!(client.fails("call", flip).await.contains("fen"));
        if !allowed {
            assert!(
                client
                    .fails("call", set_up.clone())
                    .await
                    .contains("setup = true")
            );
            let all = moves(MATE);
            client.until(&hall, |seen| seen.san == all).await;
            continue;
        }
        client.calls("call", set_up.clone()).await;
        client
            .until(&hall, |seen| {
                seen.start == ENDGAME && seen.san.is_empty() && !seen.matches
            })
            .await;
        assert!(hall.log().contains("command carried out"), "{}", hall.log());
    }
}
