//! A typical LiveChess client.

use std::collections::VecDeque;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use super::Hall;

/// A connection, and the state of the subscribed board according to its events.
pub(super) struct Client {
    socket: WebSocketStream<TcpStream>,
    last: u64,
    /// Received events that were not processed yet.
    pub(super) events: VecDeque<Value>,
    pub(super) seen: Seen,
}

/// State of a board according to the events.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) board: String,
    pub(super) flipped: bool,
    pub(super) start: String,
    pub(super) san: Vec<String>,
    pub(super) matches: bool,
}

impl Client {
    pub(super) async fn connect(port: u16, origin: Option<&str>) -> Self {
        Self::try_connect(port, origin).await.expect("a connection")
    }

    pub(super) async fn try_connect(port: u16, origin: Option<&str>) -> Option<Self> {
        let address = format!("ws://localhost:{port}/api/v1.0");
        let mut request = address.into_client_request().expect("a request");
        if let Some(origin) = origin {
            let origin = origin.parse().expect("a header");
            request.headers_mut().insert("Origin", origin);
        }
        let stream = TcpStream::connect(("127.0.0.1", port))
            .await
            .expect("a connection");
        let (socket, _) = tokio_tungstenite::client_async(request, stream).await.ok()?;
        Some(Self {
            socket,
            last: 0,
            events: VecDeque::new(),
            seen: Seen::default(),
        })
    }

    pub(super) async fn send(&mut self, text: &str) {
        self.socket.send(Message::text(text)).await.expect("it is sent");
    }

    /// The next frame; `None` once the connection is closed.
    pub(super) async fn frame(&mut self) -> Option<Value> {
        while let Some(Ok(message)) = self.socket.next().await {
            if let Message::Text(text) = message {
                return Some(serde_json::from_str(&text).expect("JSON"));
            }
        }
        None
    }

    /// Makes a call and returns the answer.
    async fn answer_to(&mut self, call: &str, param: Value) -> Value {
        self.last += 1;
        let (id, sent) = (
            json!(self.last),
            json!({ "id": self.last, "call": call, "param": param }),
        );
        self.send(&sent.to_string()).await;
        loop {
            let frame = self.frame().await.expect("an answer");
            assert!(
                frame["time"]
                    .as_u64()
                    .is_some_and(|time| time > 1_700_000_000_000)
            );
            if frame["response"] == "feed" {
                self.events.push_back(frame);
            } else {
                assert_eq!(frame["id"], id);
                return frame;
            }
        }
    }

    pub(super) async fn calls(&mut self, call: &str, param: Value) -> Value {
        let answer = self.answer_to(call, param).await;
        assert_eq!(answer["response"], "call", "{answer}");
        answer["param"].clone()
    }

    /// Makes a call that must fail, and returns the error message.
    pub(super) async fn fails(&mut self, call: &str, param: Value) -> String {
        let answer = self.answer_to(call, param).await;
        assert_eq!(answer["response"], "error", "{answer}");
        assert!(answer["param"]["stacktrace"].is_string());
        answer["param"]["message"].as_str().expect("a text").to_owned()
    }

    pub(super) async fn subscribe(&mut self, serial: &str) {
        let param = json!({ "feed": "eboardevent", "id": 4, "param": { "serialnr": serial } });
        assert_eq!(self.calls("subscribe", param).await, Value::Null);
    }

    pub(super) async fn set_up(&mut self, fen: &str) {
        let param = json!({ "id": 4, "method": "setup", "param": { "fen": fen } });
        assert_eq!(self.calls("call", param).await, Value::Null);
    }

    pub(super) async fn flip(&mut self, flip: bool) {
        let param = json!({ "id": 4, "method": "flip", "param": { "flip": flip } });
        assert_eq!(self.calls("call", param).await, Value::Null);
    }

    /// The next event of the feed. Checks that it repeats nothing.
    pub(super) async fn event(&mut self) -> Value {
        let frame = match self.events.pop_front() {
            Some(frame) => frame,
            None => self.frame().await.expect("an event"),
        };
        assert_eq!((&frame["response"], &frame["id"]), (&"feed".into(), &4.into()));
        let event = frame["param"].clone();
        assert!(event["serialnr"].is_string());
        let text = |key: &str| event[key].as_str().map(str::to_owned);
        if let Some(board) = text("board") {
            assert_ne!(board, self.seen.board, "{event}");
            self.seen.board = board;
        }
        if let Some(san) = event["san"].as_array() {
            let san: Vec<String> = san
                .iter()
                .map(|san| san.as_str().expect("a text").to_owned())
                .collect();
            let start = text("start").expect("where it begins");
            assert!(
                (&start, &san) != (&self.seen.start, &self.seen.san),
                "said twice: {event}"
            );
            (self.seen.start, self.seen.san) = (start, san);
        }
        self.seen.flipped = event["flipped"].as_bool().unwrap_or(self.seen.flipped);
        self.seen.matches = event["match"].as_bool().unwrap_or(self.seen.matches);
        event
    }

    /// Processes all events that were sent by now. The server sends in order, so they arrive before the answer to a
    /// call.
    pub(super) async fn catch_up(&mut self) {
        self.calls("eboards", Value::Null).await;
        while !self.events.is_empty() {
            self.event().await;
        }
    }

    pub(super) fn moves(&self) -> Vec<&str> {
        self.seen.san.iter().map(String::as_str).collect()
    }

    /// Follows the feed until the state of the board matches `wanted`.
    pub(super) async fn until(&mut self, hall: &Hall, wanted: impl Fn(&Seen) -> bool) {
        let waiting = async {
            while !wanted(&self.seen) {
                self.event().await;
            }
        };
        let waited = tokio::time::timeout(crate::eventually::PATIENCE, waiting).await;
        assert!(waited.is_ok(), "not in time: {:?}\n{}", self.seen, hall.log());
    }
}
