//! Webhooks for a round and its events, with servers that fail at times.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::Value;
use tokio::net::TcpListener;

use super::lichess::Lichess;
use super::{ENDLESS, Hall, MATE, stdout_of, until};
use crate::spectators::Program;

#[derive(Default)]
struct Held {
    posts: usize,
    /// Last text of each round.
    rounds: BTreeMap<u32, String>,
    /// Events by board and number.
    events: BTreeMap<(String, u64), Value>,
    /// Events that arrived after one with a larger number.
    disorder: Vec<String>,
    strangers: usize,
}

#[derive(Clone)]
struct Receiver {
    address: SocketAddr,
    held: Arc<Mutex<Held>>,
}

impl Receiver {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let receiver = Self {
            address: listener.local_addr().expect("an address"),
            held: Arc::default(),
        };
        let router = Router::new()
            .route("/round/{round}", post(round))
            .route("/events", post(events))
            .with_state(receiver.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        receiver
    }

    fn see<T>(&self, read: impl FnOnce(&Held) -> T) -> T {
        read(&self.held.lock().expect("no panic"))
    }

    /// Error response to the 5th, 10th and 15th post.
    fn trouble(&self, headers: &HeaderMap) -> Option<Response> {
        let mut held = self.held.lock().expect("no panic");
        held.posts += 1;
        let answer = match held.posts {
            5 => (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "2")], "slowly"),
            10 => (StatusCode::INTERNAL_SERVER_ERROR, [("x-is", "broken")], "oh"),
            15 => (StatusCode::MOVED_PERMANENTLY, [("location", "/elsewhere")], ""),
            _ => {
                let is_known = headers
                    .get("authorization")
                    .is_some_and(|value| value == "Bearer sesame");
                held.strangers += usize::from(!is_known);
                return None;
            }
        };
        Some(answer.into_response())
    }
}

async fn round(
    State(receiver): State<Receiver>,
    Path(round): Path<u32>,
    headers: HeaderMap,
    text: String,
) -> Response {
    if let Some(trouble) = receiver.trouble(&headers) {
        return trouble;
    }
    receiver.held.lock().expect("no panic").rounds.insert(round, text);
    StatusCode::NO_CONTENT.into_response()
}

async fn events(State(receiver): State<Receiver>, headers: HeaderMap, text: String) -> Response {
    if let Some(trouble) = receiver.trouble(&headers) {
        return trouble;
    }
    let events: Vec<Value> = serde_json::from_str(&text).expect("JSON");
    let mut held = receiver.held.lock().expect("no panic");
    for event in events {
        let board = event["board"].as_str().expect("a board").to_owned();
        let seq = event["seq"].as_u64().expect("a number");
        let key = (board, seq);
        let later = (key.0.clone(), seq + 1)..=(key.0.clone(), u64::MAX);
        if !held.events.contains_key(&key) && held.events.range(later).next().is_some() {
            held.disorder.push(format!("{key:?}"));
        }
        held.events.insert(key, event);
    }
    StatusCode::OK.into_response()
}

#[tokio::test]
async fn webhooks_get_the_round_and_every_event_despite_failures_and_a_kill() {
    let receiver = Receiver::start().await;
    let lichess = Lichess::start([]).await;
    let token = |hall: &Hall| std::fs::write(hall.path().join("club-token"), "sesame\n").expect("a token");
    let hall = Hall::open(2, &lichess, "");
    token(&hall);
    let mut config = std::fs::read_to_string(hall.path().join("kiebitz.toml")).expect("a configuration");
    let token_file = hall.path().join("club-token");
    let address = receiver.address;
    config.push_str(&format!(
        "[[webhook]]\nname = \"round\"\nurl = \"http://{address}/round/{{round}}\"\ntoken_file = {token_file:?}\n\
         [[webhook]]\nname = \"events\"\nurl = \"http://{address}/events\"\nsend = \"events\"\ntoken_file = {token_file:?}\n"
    ));
    std::fs::write(hall.path().join("kiebitz.toml"), config).expect("a configuration");
    let pairings = "board,round,white,black\n1,4,Adler,Berg\n2,4,Clausen,Dorn\n";
    std::fs::write(hall.path().join("round.csv"), pairings).expect("pairings");
    let pgn = format!(
        "[White \"a\"]\n[Black \"b\"]\n\n{MATE} 1-0\n\n[White \"c\"]\n[Black \"d\"]\n\n{ENDLESS} *\n"
    );
    std::fs::write(hall.path().join("game.pgn"), pgn).expect("games");
    let daemon = hall.daemon();
    let emulate = [
        "emulate", "--boards", "2", "--hands", "blitz", "--pgn", "game.pgn", "--links", "links",
    ];
    let boards = Program::start(hall.path(), &emulate);
    until("the first events", &hall, async || {
        receiver.see(|held| held.events.values().any(|event| event["type"] == "move.made"))
    })
    .await;
    drop(daemon);
    let daemon = hall.daemon();
    until("all moves of the round", &hall, async || {
        let text = receiver
            .see(|held| held.rounds.get(&4).cloned())
            .unwrap_or_default();
        text.contains("Qxf7#") && text.contains("b6")
    })
    .await;
    drop(boards);
    let exported = || stdout_of(hall.path(), "kiebitz.toml", &["export"]);
    // After a kill, all events of games are posted again, but events outside games are not.
    let all = async || {
        let lines = exported();
        let events = lines
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let of_games: Vec<Value> = events.filter(|event| !event["game"].is_null()).collect();
        of_games.len() > 50
            && receiver.see(|held| {
                of_games.iter().all(|event| {
                    let board = event["board"].as_str().expect("a board").to_owned();
                    let seq = event["seq"].as_u64().expect("a number");
                    held.events.get(&(board, seq)) == Some(event)
                })
            })
    };
    until("every event of the games", &hall, all).await;
    let served = hall.served("round-4/games.pgn").await;
    until("the last text", &hall, async || {
        receiver.see(|held| held.rounds[&4] == served)
    })
    .await;
    receiver.see(|held| {
        assert!(held.posts > 15, "all troubles were met: {}", held.posts);
        assert!(held.disorder.is_empty(), "{:?}", held.disorder);
        assert_eq!(held.strangers, 0, "the token was sent each time");
    });
    daemon.stop();
}
