//! The arbiters' desk over HTTP: logins, roles, updates, and decisions on an illegal move.

mod alarms;
mod first;
mod hub;
mod load;
#[cfg(target_os = "linux")]
mod login;
mod paper;
mod review;
mod round;
mod setup;

use core::time::Duration;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use reqwest::header::{COOKIE, HeaderMap, HeaderValue, SET_COOKIE};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};

use crate::mosquitto::free_port;
use crate::npm::scripts;
use crate::spectators::Program;

/// In the third move a knight makes an illegal move and the clock is pressed.
const ILLEGAL: &str = "[White \"a\"]\n[Black \"b\"]\n\n1. e4 e5 2. Bc4 Nc6 3. Ng1g3 *\n";
const OTHER: &str = "[White \"c\"]\n[Black \"d\"]\n\n1. d4 d5 2. c4 e6 3. Nc3 Nf6 4. Bg5 Be7 5. e3 O-O 6. Nf3 h6 7. Bh4 b6 *\n";

/// The next game begins late, after all decisions about the first one.
const EMULATE: [&str; 11] = [
    "emulate", "--boards", "2", "--hands", "blitz", "--pgn", "game.pgn", "--speed", "0.5", "--links", "links",
];

/// The line that `kiebitz user` prints.
pub(crate) fn user(name: &str, role: &str, password: &str) -> String {
    let mut child = Command::new(crate::program())
        .args(["user", "--role", role, name])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("kiebitz runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    writeln!(stdin, "{password}").expect("it listens");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success());
    let line = String::from_utf8(output.stdout).expect("text");
    assert!(!line.contains(password), "{line}");
    line
}

/// A user's browser.
#[derive(Clone)]
pub(crate) struct Guest {
    http: Client,
    port: u16,
    cookie: String,
}

impl Guest {
    pub(crate) fn new(port: u16) -> Self {
        Self::at([127, 0, 0, 1], port)
    }

    /// A browser with another address of this computer.
    fn at(address: [u8; 4], port: u16) -> Self {
        Self::with_headers(address, port, HeaderMap::new())
    }

    /// A browser behind a proxy that sends its secret.
    fn by_proxy(address: [u8; 4], port: u16, secret: &'static str) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert("kiebitz-proxy-secret", HeaderValue::from_static(secret));
        Self::with_headers(address, port, headers)
    }

    fn with_headers(address: [u8; 4], port: u16, headers: HeaderMap) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = Client::builder().local_address(core::net::IpAddr::from(address));
        Self {
            http: http.default_headers(headers).build().expect("a client"),
            port,
            cookie: String::new(),
        }
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.http.get(self.url(path)).header(COOKIE, &self.cookie)
    }

    fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        let request = self.http.post(self.url(path)).header(COOKIE, &self.cookie);
        let request = request.header("content-type", "application/json");
        request.header("kiebitz-desk", "1").body(body.to_string())
    }

    /// Waits until the desk is served.
    pub(crate) async fn wait(&self) {
        let served = async {
            while self.get("").send().await.is_err() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let served = tokio::time::timeout(crate::eventually::PATIENCE, served).await;
        assert!(served.is_ok(), "the desk is served");
    }

    pub(crate) async fn log_in(&mut self, user: &str, password: &str) -> StatusCode {
        let login = json!({"user": user, "password": password});
        let response = sent(self.post("session", &login)).await;
        self.take_cookies(&response);
        response.status()
    }

    /// Keeps the cookies of a response, as a browser does.
    fn take_cookies(&mut self, response: &Response) {
        for cookie in response.headers().get_all(SET_COOKIE) {
            let cookie = cookie.to_str().expect("text");
            assert!(cookie.contains("HttpOnly; SameSite=Strict"), "{cookie}");
            let pair = cookie.split(';').next().expect("a pair");
            let (name, _) = pair.split_once('=').expect("a pair");
            let known = self.cookie.split("; ").filter(|known| {
                !known.is_empty() && known.split_once('=').is_none_or(|(other, _)| other != name)
            });
            let all: Vec<&str> = known.chain([pair]).collect();
            self.cookie = all.join("; ");
        }
    }

    async fn log_out(&self) {
        let request = self.http.delete(self.url("session"));
        let request = request.header(COOKIE, &self.cookie).header("kiebitz-desk", "1");
        assert_eq!(sent(request).await.status(), 204);
    }

    /// Sends a command for the first board.
    async fn command(&self, command: Value) -> (StatusCode, Value) {
        self.command_to("board-1", &command).await
    }

    /// Sends a command for a board. Returns status and answer.
    pub(crate) async fn command_to(&self, board: &str, command: &Value) -> (StatusCode, Value) {
        let body = json!({"board": board, "command": command});
        let response = sent(self.post("command", &body)).await;
        let status = response.status();
        let text = response.text().await.expect("an answer");
        (status, serde_json::from_str(&text).unwrap_or(Value::Null))
    }
}

async fn sent(request: RequestBuilder) -> Response {
    request.send().await.expect("an answer")
}

/// Fields of a board, collected from the page's stream of updates.
pub(crate) struct Stream {
    board: &'static str,
    response: Response,
    text: String,
    known: serde_json::Map<String, Value>,
}

impl Stream {
    /// Opens the stream for the first board.
    async fn open(guest: &Guest) -> Self {
        Self::of(guest, "board-1").await
    }

    pub(crate) async fn of(guest: &Guest, board: &'static str) -> Self {
        let response = sent(guest.get("stream")).await;
        assert_eq!(response.status(), 200);
        Self {
            board,
            response,
            text: String::new(),
            known: serde_json::Map::new(),
        }
    }

    /// Waits until the fields of the board match `wanted`.
    pub(crate) async fn until(
        &mut self,
        goal: &str,
        wanted: impl Fn(&serde_json::Map<String, Value>) -> bool,
    ) {
        let waiting = async {
            while !wanted(&self.known) {
                let chunk = self.response.chunk().await.expect("a stream").expect("more");
                self.text.push_str(core::str::from_utf8(&chunk).expect("UTF-8"));
                while let Some((message, rest)) = self.text.split_once("\n\n") {
                    let (event, data) = message.split_once("\ndata: ").expect("an event");
                    let data: Value = serde_json::from_str(data).expect("JSON");
                    let update = match event {
                        "event: all" => self.of_board(data["boards"].as_array()),
                        "event: board" => self.of_board(Some(&vec![data])),
                        "event: pairings" => json!({ "pairings": data }),
                        _ => Value::Null,
                    };
                    self.known.extend(update.as_object().cloned().unwrap_or_default());
                    self.text = rest.to_owned();
                }
            }
        };
        let waited = tokio::time::timeout(crate::eventually::PATIENCE, waiting).await;
        assert!(waited.is_ok(), "not in time: {goal}: {:?}", self.known);
    }

    /// The fields of the board in a list of boards.
    fn of_board(&self, boards: Option<&Vec<Value>>) -> Value {
        let mut boards = boards.into_iter().flatten();
        boards
            .find(|board| board["board"] == self.board)
            .cloned()
            .unwrap_or_default()
    }
}

fn open_illegal_move(known: &serde_json::Map<String, Value>) -> Option<&Value> {
    let open = known.get("incidents")?.as_array()?;
    open.iter().find(|incident| incident["kind"] == "illegal_move")
}

fn configure(folder: &Path, port: u16) {
    let mut config = format!(
        "[daemon]\nstate_directory = {:?}\n[desk]\nlisten = \"127.0.0.1:{port}\"\nusers_file = {:?}\n[ports]\nusb = false\n",
        folder.join("state"),
        folder.join("users"),
    );
    for board in 1..=2 {
        let link = folder.join(format!("links/board-{board}"));
        let _ = write!(
            config,
            "[[port]]\npath = {link:?}\nmode = \"single\"\n[[board]]\nport = {link:?}\nname = \"board-{board}\"\n"
        );
    }
    std::fs::write(folder.join("kiebitz.toml"), config).expect("a configuration");
    let users = [
        user("meier", "arbiter", "rook-on-a1"),
        user("ott", "arbiter", "rook-on-h1"),
        user("hall", "viewer", "look-at-it"),
    ];
    std::fs::write(folder.join("users"), users.concat()).expect("users");
    std::fs::write(folder.join("game.pgn"), format!("{ILLEGAL}\n{OTHER}")).expect("games");
}

#[tokio::test]
async fn an_arbiter_decides_an_illegal_move_at_the_desk() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let (folder, port) = (directory.path(), free_port());
    configure(folder, port);
    let daemon = Program::start(folder, &["run", "--config", "kiebitz.toml"]);
    let mut arbiter = Guest::new(port);
    arbiter.wait().await;

    let page = sent(arbiter.get("")).await;
    let policy = page.headers().get("content-security-policy").expect("a policy");
    let policy = policy.to_str().expect("text");
    assert!(
        policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"),
        "{policy}"
    );
    for path in ["stream", "session"] {
        assert_eq!(sent(arbiter.get(path)).await.status(), 401, "{path}");
    }
    assert_eq!(arbiter.command(json!({})).await.0, 401);
    let foreign = arbiter.http.post(arbiter.url("session")).body("{}");
    assert_eq!(sent(foreign).await.status(), 403, "a page of another site");
    assert_eq!(arbiter.log_in("meier", "rook-on-a2").await, 401);
    assert_eq!(arbiter.log_in("meyer", "rook-on-a1").await, 401);
    assert_eq!(arbiter.log_in("meier", "rook-on-a1").await, 200);

    let players = Program::start(folder, &EMULATE);
    let mut stream = Stream::open(&arbiter).await;
    stream
        .until("the illegal move", |known| {
            open_illegal_move(known).is_some_and(|incident| incident["case"] == "illegal_move.completed")
        })
        .await;
    let incident = open_illegal_move(&stream.known).expect("it is open").clone();
    assert!(
        incident["since"].is_string() && incident["advice"].is_string(),
        "{incident}"
    );
    assert_eq!(incident["advice_in"]["en"], incident["advice"]);
    let german = incident["advice_in"]["de"].as_str().expect("text");
    assert!(german.starts_with("Regelwidriger Zug von Weiß"), "{german}");
    assert_eq!(stream.known["offences"]["white"], 1);

    let mut viewer = Guest::new(port);
    assert_eq!(viewer.log_in("hall", "look-at-it").await, 200);
    let decided = json!({"id": "1", "do": "close_incident", "incident": incident["incident"],
        "decision": "two minutes for Black", "counts": true});
    assert_eq!(viewer.command(decided.clone()).await.0, 403);
    let table = arbiter
        .command(json!({"id": "0", "do": "set_table", "table": 7}))
        .await;
    assert_eq!(table.0, 403, "only operators may do this: {}", table.1);
    // All arbiters see who is on the way, as long as the incident is open.
    let mut other = Guest::new(port);
    assert_eq!(other.log_in("ott", "rook-on-h1").await, 200);
    let going = json!({"id": "o0", "do": "attend", "incident": incident["incident"]});
    assert_eq!(viewer.command(going.clone()).await.0, 403);
    assert_eq!(other.command(going).await.1["ok"], true);
    stream
        .until("the other arbiter on the way", |known| {
            let going = &known["going"][0];
            (&going["by"], &going["incident"]) == (&json!("ott"), &incident["incident"])
        })
        .await;
    let answer = arbiter.command(decided.clone()).await;
    assert_eq!(
        (answer.0.as_u16(), &answer.1["ok"]),
        (200, &json!(true)),
        "{}",
        answer.1
    );
    assert_eq!(arbiter.command(decided).await, answer, "it is carried out once");
    stream
        .until("the decision", |known| {
            open_illegal_move(known).is_none()
                && known["past"].as_array().is_some_and(|past| !past.is_empty())
                && known["going"] == json!([])
        })
        .await;
    // The refusal names the arbiter who decided first. With `replace` the second decision is accepted, and the page
    // shows both.
    let mut decided = json!({"id": "o1", "do": "close_incident", "incident": incident["incident"],
        "decision": "no offence", "counts": false});
    let refused = other.command(decided.clone()).await.1;
    let standing = &refused["standing"];
    assert_eq!(
        (&refused["ok"], &standing["by"], &standing["decision"]),
        (&json!(false), &json!("meier"), &json!("two minutes for Black")),
        "{refused}"
    );
    assert!(standing["at"].is_string(), "{refused}");
    (decided["id"], decided["replace"]) = (json!("o2"), json!(true));
    assert_eq!(other.command(decided).await.1["ok"], true);
    let authors = |known: &serde_json::Map<String, Value>| -> Vec<Value> {
        let past = known["past"].as_array().into_iter().flatten();
        let mut matches = past.filter(|past| past["incident"] == incident["incident"]);
        let decisions = matches
            .next()
            .and_then(|past| past["decisions"].as_array().cloned());
        let decisions = decisions.into_iter().flatten();
        decisions.map(|decision| decision["decided_by"].clone()).collect()
    };
    stream
        .until("both decisions", |known| {
            authors(known) == [json!("meier"), json!("ott")]
        })
        .await;
    let game = stream.known["game"]["game"].clone();
    let result = |id: &str, result: &str, more: bool| json!({"id": id, "do": "set_result", "result": result, "game": game, "replace": more});
    assert_eq!(arbiter.command(result("r1", "1-0", false)).await.1["ok"], true);
    let refused = other.command(result("r2", "0-1", false)).await.1;
    assert_eq!(refused["standing"]["by"], "meier", "{refused}");
    assert_eq!(other.command(result("r3", "0-1", true)).await.1["ok"], true);
    stream
        .until("both results", |known| {
            let results = known["results"].as_array().into_iter().flatten();
            let set: Vec<_> = results
                .map(|set| (set["by"].clone(), set["result"].clone()))
                .collect();
            set == [(json!("meier"), json!("1-0")), (json!("ott"), json!("0-1"))]
        })
        .await;
    let wrong = arbiter.command(json!({"id": "2", "do": "wave"})).await;
    assert_eq!((wrong.0.as_u16(), &wrong.1["ok"]), (200, &json!(false)));
    assert!(
        wrong.1["error"]
            .as_str()
            .is_some_and(|error| error.contains("wave"))
    );

    arbiter.log_out().await;
    assert_eq!(sent(arbiter.get("session")).await.status(), 401);
    // Five attempts count for the known browser, and the next five for its address.
    for _ in 0..10 {
        arbiter.log_in("meier", "guessing").await;
    }
    assert_eq!(arbiter.log_in("meier", "rook-on-a1").await, 429);
    drop(players);
    daemon.stop();
    let exported = Command::new(crate::program())
        .args(["export", "--config", "kiebitz.toml"])
        .current_dir(folder)
        .output()
        .expect("kiebitz runs");
    let exported = String::from_utf8(exported.stdout).expect("UTF-8");
    let taken: Vec<&str> = exported
        .lines()
        .filter(|line| line.contains("command.taken"))
        .collect();
    let by = |name: &str| {
        let by = format!("\"by\":\"{name}\"");
        taken.iter().filter(|line| line.contains(&by)).count()
    };
    assert_eq!((by("meier"), by("ott")), (2, 5), "{taken:?}");
}

/// A running `kiebitz demo`, which ends when it is dropped.
struct Demo(Child);

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A first-time user of kiebitz decides an illegal move.
#[tokio::test]
async fn the_demo_has_an_illegal_move_to_judge() {
    let mut demo = Command::new(crate::program())
        .args(["demo", "--speed", "max", "--wait"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map(Demo)
        .expect("kiebitz runs");
    let mut lines = BufReader::new(demo.0.stdout.take().expect("a pipe")).lines();
    let mut printed = lines.by_ref().map_while(Result::ok);
    let desk = printed.find_map(|line| Some(line.split_once("The arbiters' desk: ")?.1.to_owned()));
    let desk = desk.expect("an address");
    // All recordings have been shown once this line is printed.
    printed
        .find(|line| line.contains("until Ctrl-C"))
        .expect("it waits");
    let words: Vec<&str> = desk.split([' ', ',', ')']).collect();
    let port = words[0].trim_matches(|c: char| !c.is_ascii_digit());
    let port = port
        .rsplit(':')
        .next()
        .expect("a port")
        .parse()
        .expect("a number");
    let after = |word: &str| {
        let place = words.iter().position(|other| *other == word).expect(word);
        words[place + 1]
    };
    let mut guest = Guest::new(port);
    guest.wait().await;
    assert_eq!(
        guest.log_in(after("(name"), after("password")).await,
        200,
        "{desk}"
    );
    let mut stream = Stream::of(&guest, "board-5").await;
    stream
        .until("the illegal move", |known| open_illegal_move(known).is_some())
        .await;
    let incident = open_illegal_move(&stream.known).expect("it is open")["incident"].clone();
    let moves = stream.known["game"]["moves"].as_array().expect("moves").len();
    let command = json!({"id": "1", "do": "close_incident", "incident": incident, "decision": "two minutes"});
    let body = json!({"board": "board-5", "command": command});
    let answer = sent(guest.post("command", &body))
        .await
        .text()
        .await
        .expect("an answer");
    assert!(answer.contains("\"ok\":true"), "{answer}");
    stream
        .until("it is decided", |known| open_illegal_move(known).is_none())
        .await;
    assert_eq!(
        stream.known["game"]["moves"].as_array().map(Vec::len),
        Some(moves)
    );
    // The other boards of the demo may still be playing.
    let mut past = Vec::new();
    for _ in 0..600 {
        let list = sent(guest.get("games")).await.text().await.expect("a list");
        let list: Value = serde_json::from_str(&list).expect("past games of the demonstration");
        past.clone_from(list["games"].as_array().expect("a list"));
        if past.len() == 5 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert_eq!(past.len(), 5, "{past:?}");
    for game in past {
        assert!(game["white"].is_string() && game["black"].is_string(), "{game}");
        let id = game["game"].as_str().expect("an id");
        let opened = sent(guest.get(&format!("games/{id}"))).await;
        assert_eq!(opened.status(), 200, "{id}");
    }
    let none = json!({"board": "board-9", "command": {"id": "2", "do": "new_game"}});
    let answer = sent(guest.post("command", &none))
        .await
        .text()
        .await
        .expect("an answer");
    assert!(answer.contains("not been in the demo"), "{answer}");
}

/// A proxy checks passwords and names the user. The users' file has the role.
#[tokio::test]
async fn a_proxy_authenticates_users() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let (folder, port) = (directory.path(), free_port());
    configure(folder, port);
    let config = std::fs::read_to_string(folder.join("kiebitz.toml")).expect("a configuration");
    let with = |settings: &str| config.replace("[ports]\n", &format!("{settings}\n[ports]\n"));
    let header = "user_header = \"Remote-User\"";
    std::fs::write(folder.join("kiebitz.toml"), with(header)).expect("a configuration");
    let checked = Command::new(crate::program())
        .args(["check-config", "kiebitz.toml"])
        .current_dir(folder)
        .output()
        .expect("kiebitz runs");
    let said = String::from_utf8(checked.stderr).expect("UTF-8");
    assert!(
        !checked.status.success() && said.contains("set the proxy's address"),
        "{said}"
    );
    let secret = folder.join("proxy-secret");
    std::fs::write(&secret, "between-us\n").expect("a secret");
    let settings = format!("{header}\nproxies = [\"127.0.0.1\"]\nproxy_secret_file = {secret:?}");
    std::fs::write(folder.join("kiebitz.toml"), with(&settings)).expect("a configuration");
    let users = [
        user("meier", "arbiter", "rook-on-a1"),
        "wirth viewer -\n".to_owned(),
    ];
    std::fs::write(folder.join("users"), users.concat()).expect("users");
    let daemon = Program::start(folder, &["run", "--config", "kiebitz.toml"]);
    let direct = Guest::new(port);
    direct.wait().await;
    let named = direct.get("session").header("remote-user", "meier");
    assert_eq!(sent(named).await.status(), 403, "without the secret of the proxy");
    let mut guest = Guest::by_proxy([127, 0, 0, 1], port, "between-us");
    let elsewhere = Guest::by_proxy([127, 0, 0, 2], port, "between-us");
    let session = |guest: &Guest, name: &str| {
        let request = guest.get("session").header("kiebitz-desk", "1");
        request.header("remote-user", name.to_owned())
    };
    assert_eq!(
        sent(session(&elsewhere, "meier")).await.status(),
        403,
        "another address"
    );
    let rebound = session(&guest, "meier").header("host", format!("evil.example:{port}"));
    assert_eq!(sent(rebound).await.status(), 403, "a page of another site");
    assert_eq!(
        guest.log_in("meier", "rook-on-a1").await,
        403,
        "the proxy asks for passwords"
    );
    assert_eq!(sent(guest.get("session")).await.status(), 401, "nobody is named");
    assert_eq!(sent(session(&guest, "adler")).await.status(), 403, "a stranger");
    let two = session(&guest, "meier").header("remote-user", "wirth");
    assert_eq!(sent(two).await.status(), 401, "two are nobody");
    let welcome = sent(session(&guest, "wirth")).await;
    guest.take_cookies(&welcome);
    let text = welcome.text().await.expect("an answer");
    assert!(text.contains("wirth") && text.contains("viewer"), "{text}");
    let stream = |guest: &Guest, name: &str| guest.get("stream").header("remote-user", name.to_owned());
    assert_eq!(sent(stream(&guest, "wirth")).await.status(), 200);
    assert_eq!(
        sent(stream(&guest, "meier")).await.status(),
        401,
        "it is another's session"
    );
    assert_eq!(
        sent(guest.get("stream")).await.status(),
        401,
        "the proxy names nobody any more"
    );
    let known = sent(session(&guest, "meier")).await;
    assert!(known.text().await.expect("an answer").contains("arbiter"));
    daemon.stop();
}

/// Like `an_arbiter_decides_an_illegal_move_at_the_desk`, in a browser and with a second arbiter who watches.
#[test]
fn two_arbiters_judge_an_illegal_move_in_a_browser() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let (folder, port) = (directory.path(), free_port());
    configure(folder, port);
    let mut daemon = Program::start(folder, &["run", "--config", "kiebitz.toml"]);
    // The players rest for a long time after the game, so that the script can make them wait before the next one.
    let emulate = [
        "emulate", "--boards", "2", "--hands", "blitz", "--pgn", "game.pgn", "--speed", "0.15", "--links",
        "links",
    ];
    let mut players = Program::start(folder, &emulate);
    let mut script = Command::new("node")
        .args(["judge.mjs", &format!("http://127.0.0.1:{port}/")])
        .args(["meier", "rook-on-a1"])
        .arg(folder.join("profile"))
        .current_dir(scripts())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node: install it, or let tests/run do so");
    for line in BufReader::new(script.stdout.take().expect("a pipe")).lines() {
        match line.expect("text").as_str() {
            "wait" => players.type_line("wait all"),
            "restart" => {
                drop(daemon);
                daemon = Program::start(folder, &["run", "--config", "kiebitz.toml"]);
            }
            other => panic!("unexpected: {other}"),
        }
    }
    let judged = script.wait().expect("it ends");
    let log = std::fs::read_to_string(folder.join("log")).unwrap_or_default();
    assert!(judged.success(), "what the script says is above\n{log}");
    drop(players);
    daemon.stop();
}
