//! The way to the broker: at least once and in order, whatever happens to the connection.

mod attempts;
mod task;

use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::{mpsc, watch};
use tracing::warn;

use super::backlog::{Backlog, BacklogReader};
use super::client::Dialect;
use super::message::Message;
use super::outbox_store::{MAX_EVENTS, OutboxStore};
use super::settings::MqttConfig;
use super::topics::TopicError;

pub use task::OutboxTask;
use task::TooLarge;

/// Takes messages for the broker. Cheap to clone; never blocks and never drops an event.
///
/// With a [`Backlog`] it has at most 2000 events in memory, of 2 MiB at most, and reads what is more from there when the
/// broker has taken half of them. Without one it has everything in memory: then whoever publishes waits until
/// [`OutboxProgress::queued`] is low.
#[derive(Debug, Clone)]
pub struct Outbox {
    /// It has no bound, and cannot grow: whatever the broker and the backlog do, the task waits for this as well, and
    /// takes out all there is. So it holds what was handed over during one turn of the task.
    inbox: mpsc::UnboundedSender<Handed>,
    progress: Arc<watch::Sender<OutboxProgress>>,
    connection: watch::Receiver<ConnectionState>,
    lost: watch::Receiver<Option<String>>,
}

/// What is handed over to the task.
#[derive(Debug)]
enum Handed {
    Messages(Vec<Message>),
    Behind {
        board: Arc<str>,
        topic: Arc<str>,
        after: u64,
        last: u64,
    },
}

/// How far the delivery has come.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutboxProgress {
    /// Messages in memory that the broker has not acknowledged.
    pub queued: usize,
    /// Boards of which further events wait in the [`Backlog`].
    pub behind: usize,
    /// How many events of those that happened since the start the broker has, how long they took together, and the last
    /// of them.
    pub delivered: Delivered,
    /// What was handed over and the task has not received; it counts as queued as well.
    unread: usize,
    /// The last event acknowledged, by board; all before it are acknowledged as well.
    pub acknowledged: BTreeMap<Arc<str>, u64>,
}

/// How long events take, from what happened on the board until the broker has acknowledged it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Delivered {
    /// How many there were.
    pub events: u64,
    /// How long all of them took.
    pub all: Duration,
    /// How long the last one took.
    pub last: Option<Duration>,
}

impl Delivered {
    fn count(&mut self, took: Duration) {
        self.events += 1;
        self.all = self.all.saturating_add(took);
        self.last = Some(took);
    }
}

/// Whether there is a broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionState {
    /// It is being made.
    Connecting,
    /// It stands.
    Connected,
    /// There is none, and no attempt before the pause is over.
    Disconnected,
    /// The task has ended.
    Stopped,
}

impl Outbox {
    /// The outbox to a broker and the task that delivers. What it has no room for comes from `backlog`, if there is one.
    ///
    /// # Errors
    ///
    /// [`TopicError`] when the daemon's host name cannot be part of a topic.
    pub fn connect(
        config: MqttConfig,
        backlog: Option<Arc<dyn Backlog>>,
    ) -> Result<(Self, OutboxTask), TopicError> {
        let daemon_topic: Arc<str> = config.prefix.daemon_state(&config.daemon)?.into();
        let (sender, inbox) = mpsc::unbounded_channel();
        let progress = Arc::new(watch::Sender::new(OutboxProgress::default()));
        let (connection, connection_seen) = watch::channel(ConnectionState::Connecting);
        let (lost, lost_seen) = watch::channel(None);
        let outbox = Self {
            inbox: sender,
            progress: Arc::clone(&progress),
            connection: connection_seen,
            lost: lost_seen,
        };
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
            too_large: TooLarge::default(),
            dialect: Dialect::Five,
            is_old: false,
        };
        Ok((outbox, task))
    }

    /// Hands messages over. After the task has ended they go nowhere.
    pub fn publish(&self, messages: Vec<Message>) {
        let count = messages.len();
        if count > 0 && !self.hand_over(Handed::Messages(messages)) {
            warn!(
                count,
                "{count} messages for the MQTT broker are dropped: they came after the shutdown"
            );
        }
    }

    /// The broker has a board's events up to number `after`, and is to get those up to number `last` from the backlog,
    /// for `topic`. To be said before any event of the board is published; without a backlog it means nothing.
    pub fn leave_behind(&self, board: &str, topic: &str, after: u64, last: u64) {
        self.hand_over(Handed::Behind {
            board: board.into(),
            topic: topic.into(),
            after,
            last,
        });
    }

    fn hand_over(&self, handed: Handed) -> bool {
        let count = handed.count();
        self.progress.send_modify(|progress| {
            progress.queued += count;
            progress.unread += count;
        });
        self.inbox.send(handed).is_ok()
    }

    /// Waits until the broker has acknowledged everything handed over so far, or the task has ended. Returns whether
    /// it has everything.
    pub async fn drained(&self) -> bool {
        let mut connection = self.connection.clone();
        let mut progress = self.progress.subscribe();
        tokio::select! {
            biased;
            // The sender lives in this very handle: waiting cannot fail.
            _ = progress.wait_for(|progress| progress.queued == 0 && progress.behind == 0) => true,
            _ = connection.wait_for(|state| *state == ConnectionState::Stopped) => false,
        }
    }

    /// How far the delivery has come.
    #[must_use]
    pub fn progress(&self) -> watch::Receiver<OutboxProgress> {
        self.progress.subscribe()
    }

    /// Whether there is a broker.
    #[must_use]
    pub fn connection(&self) -> watch::Receiver<ConnectionState> {
        self.connection.clone()
    }

    /// Why there is no broker, for people; `None` while there is one, and before the first attempt has failed.
    #[must_use]
    pub fn why_lost(&self) -> Option<String> {
        self.lost.borrow().clone()
    }
}

impl Handed {
    fn count(&self) -> usize {
        match self {
            Self::Messages(messages) => messages.len(),
            Self::Behind { .. } => 1,
        }
    }
}
