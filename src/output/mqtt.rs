//! Outputs over MQTT: from events to messages, and from messages to the broker.
//!
//! [`Projection`] is pure: it turns a board's events into [`Message`]s. [`Outbox`] takes messages without blocking and
//! delivers them at least once and in order, whatever the broker does meanwhile. The topics are [`Prefix`]'s and
//! [`BoardTopics`]'s, what they hold is in [`payload`].

mod config;
mod link;
mod message;
mod outbox;
pub mod payload;
mod projection;
mod public;
mod queue;
mod topics;

pub use config::{MqttConfig, UrlError};
pub use message::{Content, Delivery, Message};
pub use outbox::{ConnectionState, Outbox, OutboxTask, Progress};
pub use projection::{Projection, View};
pub use topics::{BoardTopics, Prefix, TopicError};
