//! Output over MQTT: from events to messages, and from messages to the broker.
//!
//! [`Publisher`] turns events into [`Message`]s without I/O, with a [`Projection`] for each board. [`Outbox`] accepts
//! messages without blocking, and a [`Courier`] delivers them to the broker at least once and in order, across
//! reconnections. [`Prefix`] and [`BoardTopics`] name the topics; [`payload`] has the types of their payloads.

mod backlog;
mod behind;
mod brief;
mod client;
mod client_id;
mod courier;
mod health;
mod home_assistant;
mod inlet;
mod ledger;
mod link;
mod login;
mod lost;
mod message;
mod outbox;
mod outbox_store;
pub mod payload;
mod projection;
mod public;
mod publisher;
mod queue;
mod round;
mod settings;
mod subscriber;
pub(in crate::outputs) mod tls;
mod topics;
mod trial;
mod url;

pub use backlog::{Backlog, BacklogEvent};
pub use courier::Courier;
pub use health::LineHealth;
pub use inlet::{Received, Reply};
pub use message::{Delivery, MediaType, Message};
pub use outbox::{ConnectionState, Delivered, Outbox, OutboxProgress, OutboxTask};
pub use payload::{DaemonHealth, DeliveryState, Disk, DiskState, Machine, StorageState};
pub use projection::Projection;
pub use publisher::Publisher;
pub use settings::MqttConfig;
pub use topics::{BoardTopics, BriefTopics, Prefix, TopicError, is_level_of};
pub use url::UrlError;

pub use crate::outputs::shared::board_status::BoardView;

pub(crate) use settings::{MqttTable, host_name, mqtt};
pub(crate) use subscriber::{Subscriber, SubscriberEvent};
#[cfg(target_os = "linux")]
pub(in crate::outputs) use trial::publish_once;
