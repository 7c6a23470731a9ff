//! Alarms to a phone, a program and a lamp: with failed posts, a killed daemon and a disconnected board.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use serde_json::Value;
use tokio::net::TcpListener;

use super::lichess::Lichess;
use super::{Hall, until};
use crate::mosquitto::{Mosquitto, free_port};
use crate::mqtt_world::{Listener, topic};
use crate::spectators::Program;

/// In move 3 a knight makes an illegal move and the clock is pressed; the game goes on.
const GAME: &str = "1. e4 e5 2. Nc3 Nc6 3. Nc3b4 d6 4. h3 h6 5. a3 a6 6. d3 Be7 7. f3 f6 8. g3 g6 9. Be2 Bd7";
/// Number of additional moves, in which the kings go to and fro until the test is over.
const ON: usize = 60;

#[derive(Default)]
struct Held {
    posts: usize,
    phone: Vec<Value>,
    program: Vec<Value>,
    strangers: usize,
}

#[derive(Clone)]
struct Recipients {
    address: SocketAddr,
    held: Arc<Mutex<Held>>,
}

impl Recipients {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let recipients = Self {
            address: listener.local_addr().expect("an address"),
            held: Arc::default(),
        };
        let phone = async |State(recipients): State<Self>, headers: HeaderMap, text: String| {
            recipients.take(&headers, &text, |held| &mut held.phone)
        };
        let program = async |State(recipients): State<Self>, headers: HeaderMap, text: String| {
            recipients.take(&headers, &text, |held| &mut held.program)
        };
        let router = Router::new()
            .route("/", post(phone))
            .route("/alarm", post(program))
            .with_state(recipients.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        recipients
    }

    fn take(
        &self,
        headers: &HeaderMap,
        text: &str,
        to: impl FnOnce(&mut Held) -> &mut Vec<Value>,
    ) -> StatusCode {
        let mut held = self.held.lock().expect("no panic");
        held.posts += 1;
        if held.posts == 1 {
            return StatusCode::BAD_GATEWAY;
        }
        let is_known = headers
            .get("authorization")
            .is_some_and(|value| value == "Bearer sesame");
        held.strangers += usize::from(!is_known);
        to(&mut held).push(serde_json::from_str(text).expect("JSON"));
        StatusCode::OK
    }

    fn see<T>(&self, read: impl FnOnce(&Held) -> T) -> T {
        read(&self.held.lock().expect("no panic"))
    }

    /// Number of messages to the program about alarms of a kind in a state.
    fn times(&self, kind: &str, state: &str) -> usize {
        self.see(|held| {
            let messages = held.program.iter();
            messages
                .filter(|message| message["kind"] == kind && message["state"] == state)
                .count()
        })
    }
}

/// Payloads that the lamp received, in order.
fn lamp(listener: &Listener) -> Vec<String> {
    let inbox = listener.inbox();
    let payloads = inbox.iter().filter(|publish| topic(publish) == "lamp/1");
    payloads
        .map(|publish| String::from_utf8_lossy(&publish.payload).into_owned())
        .collect()
}

#[tokio::test]
async fn alarms_reach_a_phone_a_program_and_a_lamp_once() {
    let recipients = Recipients::start().await;
    let broker = Mosquitto::start().await;
    let listener = Listener::start("lamp", broker.address()).await;
    let lichess = Lichess::start([]).await;
    let hall = Hall::open(1, &lichess, "");
    let token_file = hall.path().join("alarm-token");
    std::fs::write(&token_file, "sesame\n").expect("a token");
    let mut config = std::fs::read_to_string(hall.path().join("kiebitz.toml")).expect("a configuration");
    let (address, broker) = (recipients.address, broker.address());
    config.push_str(&format!(
        "[mqtt]\nurl = \"mqtt://{broker}\"\ncommands = true\n\
         [[alarm]]\nname = \"phone\"\nsend = \"ntfy\"\nurl = \"http://{address}/arbiters\"\ntoken_file = {token_file:?}\n\
         kinds = [\"illegal_move\"]\n\
         [[alarm]]\nname = \"program\"\nsend = \"webhook\"\nurl = \"http://{address}/alarm\"\ntoken_file = {token_file:?}\n\
         [[alarm]]\nname = \"lamp\"\nsend = \"mqtt\"\ntopic = \"kiebitz/lamp/{{table}}\"\n"
    ));
    std::fs::write(hall.path().join("kiebitz.toml"), config).expect("a configuration");
    std::fs::write(
        hall.path().join("round.csv"),
        "board,round,white,black\n1,2,Adler,Berg\n",
    )
    .expect("pairings");
    let on = (0..ON).map(|nth| {
        let (white, black) = if nth % 2 == 0 {
            ("Kf2", "Kf7")
        } else {
            ("Kg2", "Kg7")
        };
        format!(" {}. {white} {black}", 10 + nth)
    });
    let pgn = format!(
        "[White \"a\"]\n[Black \"b\"]\n\n{GAME}{} *\n",
        on.collect::<String>()
    );
    std::fs::write(hall.path().join("game.pgn"), &pgn).expect("a game");
    let daemon = hall.daemon();
    let emulate = [
        "emulate", "--boards", "1", "--hands", "calm", "--pgn", "game.pgn", "--links", "links", "--speed",
        "4",
    ];
    let board = Program::start(hall.path(), &emulate);
    until("the illegal move is told", &hall, async || {
        let is_on = lamp(&listener).last().is_some_and(|to| to == "ON");
        is_on
            && recipients.times("illegal_move", "raised") == 1
            && recipients.see(|held| held.phone.len() == 1)
    })
    .await;
    let incident = recipients.see(|held| {
        let raised = held
            .program
            .iter()
            .find(|message| message["kind"] == "illegal_move");
        raised.expect("it was raised")["incident"].clone()
    });
    let decision = format!(
        "{{\"id\":\"1\",\"do\":\"close_incident\",\"incident\":{incident},\"decision\":\"they play on\"}}"
    );
    listener.send("kiebitz/boards/board-1/command", &decision, false, None);
    until("the illegal move is over", &hall, async || {
        recipients.see(|held| held.phone.len() >= 2) && recipients.times("illegal_move", "cleared") == 1
    })
    .await;
    recipients.see(|held| {
        let field_of = |nth: usize, field: &str| held.phone[nth][field].to_string();
        assert_eq!(
            (
                field_of(0, "topic"),
                field_of(0, "title"),
                field_of(0, "priority")
            ),
            (
                "\"arbiters\"".to_owned(),
                "\"Table 1: Illegal move\"".to_owned(),
                "5".to_owned()
            )
        );
        assert_eq!(
            (field_of(1, "message"), field_of(1, "priority")),
            ("\"Over.\"".to_owned(), "2".to_owned())
        );
        let raised = held
            .program
            .iter()
            .find(|message| message["kind"] == "illegal_move");
        let raised = raised.expect("it was raised");
        assert_eq!((&raised["white"], &raised["table"]), (&"Adler".into(), &1.into()));
    });
    drop(board);
    until("the board is missed", &hall, async || {
        recipients.times("board_disconnected", "raised") == 1
            && lamp(&listener).last().is_some_and(|to| to == "ON")
    })
    .await;
    let before = lamp(&listener).len();
    drop(daemon);
    let daemon = hall.daemon();
    until("the lamp is told again", &hall, async || {
        lamp(&listener).get(before).is_some_and(|to| to == "ON")
    })
    .await;
    // The board is back for a minute before its alarm is over: no other alarm may come meanwhile.
    let legal = pgn.replace("Nc3b4", "b3");
    std::fs::write(hall.path().join("game.pgn"), legal).expect("a game");
    let slowly = emulate.map(|word| if word == "4" { "1" } else { word });
    let board = Program::start(hall.path(), &slowly);
    until("the board is back", &hall, async || {
        recipients.times("board_disconnected", "cleared") == 1
            && lamp(&listener).last().is_some_and(|to| to == "OFF")
    })
    .await;
    for kind in ["illegal_move", "board_disconnected"] {
        assert_eq!(
            (
                recipients.times(kind, "raised"),
                recipients.times(kind, "cleared")
            ),
            (1, 1),
            "{kind}"
        );
    }
    recipients.see(|held| {
        assert_eq!(
            held.phone.len(),
            2,
            "it wants illegal moves alone: {:?}",
            held.phone
        );
        assert_eq!(held.strangers, 0, "the token was sent each time");
    });
    drop(board);
    daemon.stop();
}

/// The broker is an output too: a program gets an alarm when the broker is lost, and a message when it is back.
#[tokio::test]
async fn a_broker_that_is_lost_raises_an_alarm_until_it_is_back() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let recipients = Recipients::start().await;
    let mut broker = Mosquitto::start().await;
    let lichess = Lichess::start([]).await;
    let hall = Hall::open(1, &lichess, "");
    let config = std::fs::read_to_string(hall.path().join("kiebitz.toml")).expect("a configuration");
    let (http, address) = (free_port(), recipients.address);
    let config = config.replace(
        "[daemon]\n",
        &format!("[http]\nlisten = \"127.0.0.1:{http}\"\n[daemon]\n"),
    );
    let config = format!(
        "{config}[mqtt]\nurl = \"mqtt://{}\"\n\
         [[alarm]]\nname = \"program\"\nsend = \"webhook\"\nurl = \"http://{address}/alarm\"\nkinds = [\"output\"]\n",
        broker.address()
    );
    std::fs::write(hall.path().join("kiebitz.toml"), config).expect("a configuration");
    std::fs::write(
        hall.path().join("round.csv"),
        "board,round,white,black\n1,2,Adler,Berg\n",
    )
    .expect("pairings");
    let daemon = hall.daemon();
    let health = async || -> Value {
        let answer = reqwest::get(format!("http://127.0.0.1:{http}/health")).await.ok();
        let text = match answer {
            Some(answer) => answer.text().await.unwrap_or_default(),
            None => String::new(),
        };
        serde_json::from_str(&text).unwrap_or_default()
    };
    let is_well = async || health().await["outputs"]["broker"]["last"].is_string();
    until("the broker is well", &hall, is_well).await;
    let at = broker.address().to_string();
    broker.kill();
    until(
        "it is missed at once where outputs are shown",
        &hall,
        async || {
            let health = health().await;
            let report = &health["outputs"]["broker"];
            report["ok"] == false
                && report["problems"][0]
                    .as_str()
                    .is_some_and(|problem| problem.contains(&at))
        },
    )
    .await;
    let of_broker = |state: &str| {
        recipients.see(|held| {
            let messages = held.program.iter();
            messages
                .filter(|message| message["alarm"] == "output broker" && message["state"] == state)
                .count()
        })
    };
    until("somebody is told", &hall, async || of_broker("raised") == 1).await;
    broker.start_again().await;
    until("it is over", &hall, async || of_broker("cleared") == 1).await;
    assert_eq!(of_broker("raised"), 1, "once");
    assert_eq!(health().await["outputs"]["broker"]["ok"], true);
    daemon.stop();
}
