//! The way to the broker: at least once and in order, whatever happens to the connection.

use core::future::Future;
use core::pin::{Pin, pin};
use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::{mpsc, watch};
use tokio::time::{Sleep, sleep};
use tracing::{debug, error, info, warn};

use super::config::MqttConfig;
use super::link::{Limits, Link, LinkEvent, LostReason};
use super::message::{Delivery, Message};
use super::payload::DaemonState;
use super::queue::Queue;
use super::topics::TopicError;

/// Takes messages for the broker. Cheap to clone; never blocks and never drops an event.
#[derive(Debug, Clone)]
pub struct Outbox {
    inbox: mpsc::UnboundedSender<Vec<Message>>,
    progress: Arc<watch::Sender<Progress>>,
    connection: watch::Receiver<ConnectionState>,
}

/// The task of an [`Outbox`]: [`run`](Self::run) it.
#[derive(Debug)]
pub struct OutboxTask {
    config: MqttConfig,
    daemon_topic: Arc<str>,
    inbox: mpsc::UnboundedReceiver<Vec<Message>>,
    queue: Queue,
    progress: Arc<watch::Sender<Progress>>,
    connection: watch::Sender<ConnectionState>,
}

/// How far the delivery has come.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    /// Messages that the broker has not acknowledged.
    pub queued: usize,
    /// Messages handed over that the task has not received; they count as queued as well.
    unread: usize,
    /// The last event acknowledged, by board; all before it are acknowledged as well.
    pub acknowledged: BTreeMap<Arc<str>, u64>,
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

/// The pause after the first failed attempt; every further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The longest pause between two attempts.
const MAX_PAUSE: Duration = Duration::from_secs(15);
/// How long the last messages may take when the daemon is stopped.
const MAX_FLUSH: Duration = Duration::from_secs(5);
/// The most bytes that a packet has beside topic and payload.
const PACKET_OVERHEAD: usize = 64;

impl Outbox {
    /// The outbox to a broker and the task that delivers.
    ///
    /// # Errors
    ///
    /// [`TopicError`] when the daemon's host name cannot be part of a topic.
    pub fn connect(config: MqttConfig) -> Result<(Self, OutboxTask), TopicError> {
        let daemon_topic: Arc<str> = config.prefix.daemon_state(&config.daemon)?.into();
        let (sender, inbox) = mpsc::unbounded_channel();
        let progress = Arc::new(watch::Sender::new(Progress::default()));
        let (connection, connection_seen) = watch::channel(ConnectionState::Connecting);
        let outbox = Self {
            inbox: sender,
            progress: Arc::clone(&progress),
            connection: connection_seen,
        };
        let task = OutboxTask {
            config,
            daemon_topic,
            inbox,
            queue: Queue::default(),
            progress,
            connection,
        };
        Ok((outbox, task))
    }

    /// Hands messages over. After the task has ended they go nowhere.
    pub fn publish(&self, messages: Vec<Message>) {
        let count = messages.len();
        if count == 0 {
            return;
        }
        self.progress.send_modify(|progress| {
            progress.queued += count;
            progress.unread += count;
        });
        if self.inbox.send(messages).is_err() {
            warn!(count, "{count} messages for the MQTT broker came after the end");
        }
    }

    /// Waits until the broker has acknowledged everything handed over so far, or the task has ended. Returns whether
    /// it has everything.
    pub async fn drained(&self) -> bool {
        let mut connection = self.connection.clone();
        let mut progress = self.progress.subscribe();
        tokio::select! {
            biased;
            // The sender lives in this very handle: waiting cannot fail.
            _ = progress.wait_for(|progress| progress.queued == 0) => true,
            _ = connection.wait_for(|state| *state == ConnectionState::Stopped) => false,
        }
    }

    /// How far the delivery has come.
    #[must_use]
    pub fn progress(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }

    /// Whether there is a broker.
    #[must_use]
    pub fn connection(&self) -> watch::Receiver<ConnectionState> {
        self.connection.clone()
    }
}

/// Where the task is with the broker.
enum Phase {
    Connecting(Link),
    Connected(Link, Limits),
    Pausing(Pin<Box<Sleep>>),
}

/// Counts failed attempts, which are not worth a line each.
struct Attempts {
    failed: u32,
    pause: Duration,
}

impl OutboxTask {
    /// Delivers until `shutdown` is ready: then what is queued goes out, if it does within five seconds, and the
    /// daemon's state becomes offline. Ends as well when every [`Outbox`] is gone.
    pub async fn run(mut self, shutdown: impl Future<Output = ()>) {
        let will = Message::retained(&self.daemon_topic, &DaemonState::offline(&self.config.daemon));
        let mut shutdown = pin!(shutdown);
        let mut stopping: Option<Pin<Box<Sleep>>> = None;
        let mut attempts = Attempts {
            failed: 0,
            pause: FIRST_PAUSE,
        };
        let mut phase = self.open(&will);
        loop {
            tokio::select! {
                batch = self.inbox.recv(), if stopping.is_none() => match batch {
                    Some(batch) => self.enqueue(batch),
                    None => stopping = Some(self.stop(&will)),
                },
                () = &mut shutdown, if stopping.is_none() => stopping = Some(self.stop(&will)),
                () = expired(&mut stopping) => break,
                step = phase.step() => match step {
                    Step::Open => phase = self.open(&will),
                    Step::Link(LinkEvent::Connected(limits)) => {
                        let broker = self.config.broker();
                        info!(broker, failed_attempts = attempts.failed, "connected to the MQTT broker {broker}");
                        attempts.failed = 0;
                        self.queue.restart(stopping.is_none().then(|| self.greeting()));
                        self.report(ConnectionState::Connected);
                        phase = phase.connected(limits);
                    }
                    Step::Link(LinkEvent::Acknowledged(ticket)) => {
                        attempts.pause = FIRST_PAUSE;
                        self.acknowledge(ticket);
                    }
                    Step::Link(LinkEvent::Refused(ticket, reason)) => {
                        if let Some(message) = self.acknowledge(ticket) {
                            error!(topic = &*message.topic, ?reason, "the broker refuses a message to {}: {reason:?}", message.topic);
                        }
                    }
                    Step::Link(LinkEvent::Closed) => break,
                    Step::Link(LinkEvent::Lost(reason)) => phase = self.lost(&reason, &mut attempts),
                },
            }
            if let Phase::Connected(link, limits) = &mut phase {
                self.send(link, *limits);
            }
            if stopping.is_some() {
                match &phase {
                    // The broker publishes the last will of a connection that it lost; nothing else is left to publish.
                    Phase::Connecting(_) | Phase::Pausing(_) if self.queue.len() <= 1 => break,
                    Phase::Connected(link, _) if self.queue.is_empty() => link.disconnect(),
                    _ => {}
                }
            }
        }
        if !self.queue.is_empty() {
            let messages = self.queue.len();
            warn!(
                messages,
                "stopped before the broker had everything: {messages} messages are left"
            );
        }
        self.report(ConnectionState::Stopped);
    }

    fn open(&self, will: &Message) -> Phase {
        self.report(ConnectionState::Connecting);
        Phase::Connecting(Link::open(&self.config, will))
    }

    fn lost(&mut self, reason: &LostReason, attempts: &mut Attempts) -> Phase {
        if matches!(reason, LostReason::TakenOver) {
            attempts.pause = MAX_PAUSE;
        }
        attempts.failed += 1;
        let pause = attempts.pause;
        let broker = self.config.broker();
        if attempts.failed == 1 {
            let queued = self.queue.len();
            warn!(broker, %reason, queued, "no MQTT broker at {broker}: {reason}; will try again");
        } else {
            debug!(broker, %reason, attempt = attempts.failed, ?pause, "no MQTT broker at {broker}: {reason}");
        }
        attempts.pause = (pause * 2).min(MAX_PAUSE);
        self.queue.rewind();
        self.report(ConnectionState::Disconnected);
        Phase::Pausing(Box::pin(sleep(pause)))
    }

    /// What is published first on every connection.
    fn greeting(&self) -> Message {
        self.queue
            .picture(&self.daemon_topic)
            .cloned()
            .unwrap_or_else(|| {
                Message::retained(&self.daemon_topic, &DaemonState::just_online(&self.config.daemon))
            })
    }

    /// Takes in what was handed over before, and the daemon's last state after it.
    fn stop(&mut self, last_state: &Message) -> Pin<Box<Sleep>> {
        self.inbox.close();
        while let Ok(batch) = self.inbox.try_recv() {
            self.enqueue(batch);
        }
        self.queue.push(last_state.clone());
        self.update_progress(0);
        Box::pin(sleep(MAX_FLUSH))
    }

    fn enqueue(&mut self, batch: Vec<Message>) {
        let count = batch.len();
        batch.into_iter().for_each(|message| self.queue.push(message));
        self.update_progress(count);
    }

    fn send(&mut self, link: &mut Link, limits: Limits) {
        while self.queue.window() < limits.window {
            let Some((ticket, message)) = self.queue.send_next() else {
                return;
            };
            let bytes = message.topic.len() + message.payload.len() + PACKET_OVERHEAD;
            if bytes > limits.packet_bytes {
                let topic = &*message.topic;
                error!(
                    topic,
                    bytes, "a message to {topic} is larger than the broker allows: {bytes} bytes"
                );
                self.acknowledge(ticket);
            } else if !link.publish(ticket, message) {
                // Its reason is on the way; the queue starts over then.
                return;
            }
        }
    }

    fn acknowledge(&mut self, ticket: super::queue::Ticket) -> Option<Message> {
        let message = self.queue.acknowledge(ticket)?;
        let queued = self.queue.len();
        self.progress.send_modify(|progress| {
            progress.queued = queued + progress.unread;
            if let Delivery::Event { board, seq } = &message.delivery {
                progress.acknowledged.insert(Arc::clone(board), *seq);
            }
        });
        Some(message)
    }

    fn update_progress(&self, read: usize) {
        let queued = self.queue.len();
        self.progress.send_modify(|progress| {
            progress.unread -= read;
            progress.queued = queued + progress.unread;
        });
    }

    fn report(&self, state: ConnectionState) {
        self.connection.send_replace(state);
        self.update_progress(0);
    }
}

/// What comes next in a phase.
enum Step {
    Open,
    Link(LinkEvent),
}

impl Phase {
    /// May be dropped and called again.
    async fn step(&mut self) -> Step {
        match self {
            Self::Connecting(link) | Self::Connected(link, _) => Step::Link(link.event().await),
            Self::Pausing(pause) => {
                pause.await;
                Step::Open
            }
        }
    }

    fn connected(self, limits: Limits) -> Self {
        match self {
            Self::Connecting(link) | Self::Connected(link, _) => Self::Connected(link, limits),
            Self::Pausing(_) => self,
        }
    }
}

async fn expired(timer: &mut Option<Pin<Box<Sleep>>>) {
    match timer {
        Some(timer) => timer.await,
        None => core::future::pending().await,
    }
}
