//! One message on its way to the broker.

use std::sync::Arc;

use bytes::Bytes;
use kiebitz_game::command::Answer;
use kiebitz_game::events::Event;
use kiebitz_hardware::Timestamp;
use serde::Serialize;

/// A message to publish; all are QoS 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Where to.
    pub topic: Arc<str>,
    /// The content.
    pub payload: Bytes,
    /// What kind of content it is.
    pub media_type: MediaType,
    /// How it must be delivered.
    pub delivery: Delivery,
    /// The event is in the journal. One that is not says so.
    pub kept: bool,
    /// When the event happened, where that is worth measuring.
    pub happened: Option<Timestamp>,
}

/// What a payload is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaType {
    /// JSON in UTF-8.
    Json,
    /// A game in PGN.
    Pgn,
    /// A word, for people.
    Text,
}

/// How a message must be delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    /// An event: it must arrive, and in its place.
    Event {
        /// The board's name.
        board: Arc<str>,
        /// Its number in the board's stream.
        seq: u64,
    },
    /// A full picture, retained by the broker: a later one on the same topic replaces it.
    Retained,
    /// The answer to a command.
    Answer {
        /// What the sender knows it by.
        correlation: Option<Bytes>,
    },
}

impl Message {
    /// An event for the events topic.
    #[must_use]
    pub fn event(topic: &Arc<str>, event: &Event) -> Self {
        let delivery = Delivery::Event {
            board: event.board.as_str().into(),
            seq: event.seq,
        };
        Self {
            topic: Arc::clone(topic),
            payload: json(event),
            media_type: MediaType::Json,
            delivery,
            kept: true,
            happened: Some(event.ts),
        }
    }

    /// A full picture in JSON.
    pub fn retained(topic: &Arc<str>, content: &impl Serialize) -> Self {
        Self {
            topic: Arc::clone(topic),
            payload: json(content),
            media_type: MediaType::Json,
            delivery: Delivery::Retained,
            kept: true,
            happened: None,
        }
    }

    /// The answer to a command.
    #[must_use]
    pub fn answer(topic: &Arc<str>, correlation: Option<Bytes>, answer: &Answer) -> Self {
        Self {
            topic: Arc::clone(topic),
            payload: json(answer),
            media_type: MediaType::Json,
            delivery: Delivery::Answer { correlation },
            kept: true,
            happened: None,
        }
    }

    /// JSON for the client that requested it, without correlation data.
    pub(crate) fn response(topic: &Arc<str>, payload: impl Into<Bytes>) -> Self {
        Self {
            topic: Arc::clone(topic),
            payload: payload.into(),
            media_type: MediaType::Json,
            delivery: Delivery::Answer { correlation: None },
            kept: true,
            happened: None,
        }
    }

    /// A game in PGN.
    #[must_use]
    pub fn pgn(topic: &Arc<str>, pgn: String) -> Self {
        Self {
            topic: Arc::clone(topic),
            payload: pgn.into(),
            media_type: MediaType::Pgn,
            delivery: Delivery::Retained,
            kept: true,
            happened: None,
        }
    }

    /// A word, which the broker retains unless it is empty.
    #[must_use]
    pub fn text(topic: &Arc<str>, text: String) -> Self {
        Self {
            topic: Arc::clone(topic),
            payload: text.into(),
            media_type: MediaType::Text,
            delivery: Delivery::Retained,
            kept: true,
            happened: None,
        }
    }

    /// Takes what the broker retains of a topic away.
    #[must_use]
    pub fn cleared(topic: &Arc<str>) -> Self {
        Self::text(topic, String::new())
    }

    /// The same message, before the journal has the event. Pictures say nothing of that.
    #[must_use]
    pub fn unkept(self) -> Self {
        let kept = self.is_retained();
        Self { kept, ..self }
    }

    /// Whether the broker retains it.
    #[must_use]
    pub fn is_retained(&self) -> bool {
        self.delivery == Delivery::Retained
    }
}

impl MediaType {
    /// The MQTT 5 content type.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Pgn => "application/vnd.chess-pgn",
            Self::Text => "text/plain",
        }
    }
}

#[expect(
    clippy::expect_used,
    reason = "payloads are structs of text and numbers: they have a JSON form"
)]
fn json(content: &impl Serialize) -> Bytes {
    serde_json::to_vec(content)
        .expect("payloads have a JSON form")
        .into()
}
