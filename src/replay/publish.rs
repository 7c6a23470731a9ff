//! What replays and the demonstration put on MQTT.

use core::time::Duration;
use std::collections::HashMap;

use anyhow::{Result, bail};
use kiebitz_hardware::Timestamp;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::events::Said;
use crate::hall::Board;
use crate::output::mqtt::payload::DaemonState;
use crate::output::mqtt::{ConnectionState, Message, MqttConfig, Outbox, Prefix, Projection, View};
use crate::system_time;

/// A connection to a broker.
#[derive(Debug)]
pub(crate) struct Connection {
    config: MqttConfig,
    outbox: Outbox,
    task: JoinHandle<()>,
    stop: oneshot::Sender<()>,
    since: Timestamp,
}

/// Publishes what the boards of one stream say.
#[derive(Debug)]
pub(crate) struct Publisher {
    outbox: Outbox,
    prefix: Prefix,
    host: String,
    stream: String,
    since: Timestamp,
    projections: HashMap<String, Projection>,
}

/// The broker does not take what it is given.
#[derive(Debug, thiserror::Error)]
#[error("the MQTT broker has not taken {messages} messages: is it still running?")]
pub(crate) struct Undelivered {
    messages: usize,
}

/// A broker that is there answers sooner.
const CONNECTS_WITHIN: Duration = Duration::from_secs(5);
/// A broker that is away for longer is not waited for: a replay can be repeated.
const DELIVERS_WITHIN: Duration = Duration::from_secs(60);
/// So many messages may wait; beyond it a replay waits for the broker.
const MOST_QUEUED: usize = 1000;

impl Connection {
    /// Connects.
    ///
    /// # Errors
    ///
    /// When no broker answers in time.
    pub(crate) async fn open(config: MqttConfig) -> Result<Self> {
        let (outbox, task) = Outbox::connect(config.clone())?;
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(task.run(async {
            // A connection that is dropped stops as well.
            let _ = stopped.await;
        }));
        let mut state = outbox.connection();
        let connected = state.wait_for(|state| *state == ConnectionState::Connected);
        if !matches!(timeout(CONNECTS_WITHIN, connected).await, Ok(Ok(_))) {
            let (broker, seconds) = (config.broker(), CONNECTS_WITHIN.as_secs());
            bail!(
                "no MQTT broker answers at {broker} within {seconds} s: is it running, and is that its port?"
            );
        }
        Ok(Self {
            config,
            outbox,
            task,
            stop,
            since: system_time::wall_time(),
        })
    }

    /// For the boards of a stream.
    pub(crate) fn publisher(&self, stream: &str) -> Publisher {
        Publisher {
            outbox: self.outbox.clone(),
            prefix: self.config.prefix().clone(),
            host: self.config.daemon().to_owned(),
            stream: stream.to_owned(),
            since: self.since,
            projections: HashMap::new(),
        }
    }

    /// Waits until the broker has everything.
    pub(crate) async fn drained(&self) -> Result<(), Undelivered> {
        at_most(&self.outbox, 0).await
    }

    /// Delivers what is left, as far as the broker takes it, says that nobody is there any more, and disconnects.
    pub(crate) async fn close(self) {
        let _ = self.stop.send(());
        // The task has told on the log what went wrong.
        let _ = self.task.await;
    }
}

impl Publisher {
    /// Publishes what the boards said in a step, and the pictures that it changed.
    pub(crate) async fn publish<'b>(
        &mut self,
        now: Timestamp,
        said: &[Said],
        boards: impl Iterator<Item = &'b Board>,
    ) -> Result<Vec<Message>> {
        let mut messages = Vec::new();
        for board in boards {
            if !self.projections.contains_key(board.name()) {
                messages.push(self.add(board)?);
            }
            let Some(projection) = self.projections.get_mut(board.name()) else {
                continue;
            };
            let events = said
                .iter()
                .map(|said| &said.event)
                .filter(|event| event.board == board.name());
            messages.extend(projection.project(now, events, View::new(board.tracker(), board.battery())));
        }
        self.outbox.publish(messages.clone());
        at_most(&self.outbox, MOST_QUEUED).await?;
        Ok(messages)
    }

    /// Greets a board. Returns what the daemon says of itself from now on.
    fn add(&mut self, board: &Board) -> Result<Message> {
        let topics = self.prefix.board(board.name())?;
        let projection = Projection::new(&topics, board.name(), &self.stream, &self.host);
        self.projections.insert(board.name().to_owned(), projection);
        let mut boards: Vec<String> = self.projections.keys().cloned().collect();
        boards.sort();
        let state = DaemonState::online(&self.host, self.since, system_time::wall_time(), boards);
        let topic = self.prefix.daemon_state(&self.host)?.into();
        Ok(Message::retained(&topic, &state))
    }
}

async fn at_most(outbox: &Outbox, messages: usize) -> Result<(), Undelivered> {
    let mut progress = outbox.progress();
    let taken = timeout(
        DELIVERS_WITHIN,
        progress.wait_for(|progress| progress.queued <= messages),
    );
    if matches!(taken.await, Ok(Ok(_))) {
        return Ok(());
    }
    let messages = outbox.progress().borrow().queued;
    Err(Undelivered { messages })
}
