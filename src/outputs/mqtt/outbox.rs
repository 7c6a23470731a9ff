//! Delivery to the broker: at least once and in order, across reconnections.

mod attempts;
mod refusals;
mod task;

use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::{mpsc, watch};
use tracing::warn;

use super::backlog::{Backlog, BacklogReader};
use super::client::{Dialect, Session};
use super::link::MissingFeatures;
use super::message::Message;
use super::outbox_store::{MAX_EVENTS, OutboxStore};
use super::settings::MqttConfig;
use super::topics::TopicError;

use refusals::Refusals;
pub use task::OutboxTask;

/// Accepts messages for the broker. Cheap to clone, never blocks and never drops an event.
///
/// With a [`Backlog`], at most 2000 events or 2 MiB of them are in memory. Further events are read from the backlog
/// once the broker has acknowledged half of those in memory. Without a backlog, all events are in memory, and
/// publishers should wait until [`OutboxProgress::queued`] is low.
#[derive(Debug, Clone)]
pub struct Outbox {
    /// Unbounded, but short: the task drains it each time it wakes up, even while it waits for the broker or the
    /// backlog.
    inbox: mpsc::UnboundedSender<InboxItem>,
    progress: Arc<watch::Sender<OutboxProgress>>,
    connection: watch::Receiver<ConnectionState>,
    lost: watch::Receiver<Option<String>>,
}

#[derive(Debug)]
enum InboxItem {
    Messages(Vec<Message>),
    Behind {
        board: Arc<str>,
        topic: Arc<str>,
        after: u64,
        last: u64,
    },
}

/// Progress of the delivery.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutboxProgress {
    /// Number of messages in memory that the broker has not acknowledged.
    pub queued: usize,
    /// Number of boards with further events in the [`Backlog`].
    pub behind: usize,
    /// Delivery times of the live events acknowledged since the start.
    pub delivered: Delivered,
    /// Number of messages and backlog requests that the task has not received yet. They also count as `queued`.
    unread: usize,
    /// The last seq of each board up to which all events are acknowledged.
    pub acknowledged: BTreeMap<Arc<str>, u64>,
}

/// Delivery times of events: from the event on the board to the broker's acknowledgement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Delivered {
    /// Number of events.
    pub events: u64,
    /// Sum of their delivery times.
    pub all: Duration,
    /// Delivery time of the last event.
    pub last: Option<Duration>,
}

impl Delivered {
    fn count(&mut self, latency: Duration) {
        self.events += 1;
        self.all = self.all.saturating_add(latency);
        self.last = Some(latency);
    }
}

/// State of the connection to the broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionState {
    /// The task is connecting.
    Connecting,
    /// The broker has accepted the connection.
    Connected,
    /// The task pauses before the next attempt to connect.
    Disconnected,
    /// The task has ended.
    Stopped,
}

impl Outbox {
    /// Creates the outbox for a broker and the task that delivers its messages. Events that exceed the limits in memory
    /// are read from `backlog`, if given.
    ///
    /// # Errors
    ///
    /// Fails with [`TopicError`] if the daemon's host name cannot be part of a topic.
    pub fn connect(
        config: MqttConfig,
        backlog: Option<Arc<dyn Backlog>>,
    ) -> Result<(Self, OutboxTask), TopicError> {
        let daemon_topic: Arc<str> = config.prefix.daemon_state(&config.daemon)?.into();
        let (sender, inbox) = mpsc::unbounded_channel();
        let progress = Arc::new(watch::Sender::new(OutboxProgress::default()));
        let (connection, connection_receiver) = watch::channel(ConnectionState::Connecting);
        let (lost, lost_receiver) = watch::channel(None);
        let outbox = Self {
            inbox: sender,
            progress: Arc::clone(&progress),
            connection: connection_receiver,
            lost: lost_receiver,
        };
        let dialect = config.protocol.unwrap_or(Dialect::Five);
        let task = OutboxTask {
            config,
            daemon_topic,
            inbox,
            store: OutboxStore::new(backlog.is_some().then_some(MAX_EVENTS)),
            reader: BacklogReader::new(backlog),
            progress,
            connection,
            lost,
            commands: None,
            refusals: Refusals::default(),
            dialect,
            session: Session::Fresh,
            has_warned_of_old_version: false,
            missing: MissingFeatures::default(),
            logged_missing: MissingFeatures::default(),
        };
        Ok((outbox, task))
    }

    /// Queues messages. After the task has ended, drops them with a warning.
    pub fn publish(&self, messages: Vec<Message>) {
        let count = messages.len();
        if count > 0 && !self.pass_on(InboxItem::Messages(messages)) {
            warn!(
                count,
                "{count} messages for the MQTT broker are dropped: they came after the shutdown"
            );
        }
    }

    /// Requests the delivery of a board's events after `after`, up to `last`, from the backlog to `topic`. Must be
    /// called before any event of the board is published. Does nothing without a backlog.
    pub fn leave_behind(&self, board: &str, topic: &str, after: u64, last: u64) {
        self.pass_on(InboxItem::Behind {
            board: board.into(),
            topic: topic.into(),
            after,
            last,
        });
    }

    fn pass_on(&self, item: InboxItem) -> bool {
        let count = item.count();
        self.progress.send_modify(|progress| {
            progress.queued += count;
            progress.unread += count;
        });
        self.inbox.send(item).is_ok()
    }

    /// Waits until the broker has acknowledged all messages, or the task has ended. Returns whether all were
    /// acknowledged.
    pub async fn drained(&self) -> bool {
        let mut connection = self.connection.clone();
        let mut progress = self.progress.subscribe();
        tokio::select! {
            biased;
            // This handle owns the sender, so waiting cannot fail.
            _ = progress.wait_for(|progress| progress.queued == 0 && progress.behind == 0) => true,
            _ = connection.wait_for(|state| *state == ConnectionState::Stopped) => false,
        }
    }

    /// Watches the progress of the delivery.
    #[must_use]
    pub fn progress(&self) -> watch::Receiver<OutboxProgress> {
        self.progress.subscribe()
    }

    /// Watches the state of the connection.
    #[must_use]
    pub fn connection(&self) -> watch::Receiver<ConnectionState> {
        self.connection.clone()
    }

    /// The reason why there is no connection, as a message for people. `None` while there is a connection, and until
    /// the first attempt has failed.
    #[must_use]
    pub fn why_lost(&self) -> Option<String> {
        self.lost.borrow().clone()
    }
}

impl InboxItem {
    fn count(&self) -> usize {
        match self {
            Self::Messages(messages) => messages.len(),
            Self::Behind { .. } => 1,
        }
    }
}
