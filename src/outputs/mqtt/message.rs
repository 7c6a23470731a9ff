//! Messages for the broker.

use std::sync::Arc;

use bytes::Bytes;
use kiebitz_game::command::Answer;
use kiebitz_game::events::Event;
use kiebitz_hardware::Timestamp;
use serde::Serialize;

/// A message to publish, with QoS 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The topic.
    pub topic: Arc<str>,
    /// The payload.
    pub payload: Bytes,
    /// The kind of the payload.
    pub media_type: MediaType,
    /// The guarantee with which to deliver the message.
    pub delivery: Delivery,
    /// Whether the journal has stored the event. If not, the message carries the user property `kept: false`.
    pub kept: bool,
    /// Time of the event; `None` if the delivery time of the message is not measured.
    pub happened: Option<Timestamp>,
}

/// Kind of a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaType {
    /// JSON in UTF-8.
    Json,
    /// A game in PGN.
    Pgn,
    /// A single value as plain text.
    Text,
}

/// Delivery guarantee of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    /// An event. Always delivered, and in order.
    Event {
        /// The name of the board.
        board: Arc<str>,
        /// Seq of the event in the board's stream.
        seq: u64,
    },
    /// The complete content of a topic, retained by the broker. A later message on the same topic replaces it.
    Retained,
    /// The answer to a command.
    Answer {
        /// Correlation data of the command.
        correlation: Option<Bytes>,
    },
}

impl Message {
    /// An event, for the topic of events.
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

    /// The complete content of a topic as retained JSON.
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

    /// The answer to a command, with the correlation data of the command.
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

    /// A retained game in PGN.
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

    /// A retained text; an empty one clears the topic.
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

    /// Clears the retained message of a topic.
    #[must_use]
    pub fn cleared(topic: &Arc<str>) -> Self {
        Self::text(topic, String::new())
    }

    /// Marks an event or answer as not stored in the journal. Retained messages have no such mark and stay unchanged.
    #[must_use]
    pub fn unkept(self) -> Self {
        let kept = self.is_retained();
        Self { kept, ..self }
    }

    /// Whether the broker retains the message.
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
