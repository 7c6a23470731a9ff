//! Puts replays and the demonstration on MQTT.

use core::time::Duration;

use anyhow::{Result, bail};
use kiebitz_hardware::Timestamp;
use tokio::time::timeout;

use crate::events::ExplainedEvent;
use crate::hall::Board;
use crate::output::mqtt::{BoardView, ConnectionState, Courier, Message, MqttConfig, Publisher};
use crate::system_time;

/// A connection to a broker.
#[derive(Debug)]
pub(crate) struct Connection {
    config: MqttConfig,
    courier: Courier,
    /// When it was opened.
    since: Timestamp,
}

/// The broker does not accept what it is sent.
#[derive(Debug, thiserror::Error)]
#[error("the MQTT broker has not accepted {messages} messages: is it still running?")]
pub(crate) struct Undelivered {
    messages: usize,
}

/// A broker that is there answers sooner.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// A broker that is away for longer is not waited for: a replay can be repeated.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(60);
/// At most this many messages are queued; beyond it a replay waits for the broker.
const MAX_QUEUED: usize = 1000;

impl Connection {
    /// Connects.
    ///
    /// # Errors
    ///
    /// When no broker answers in time.
    pub(crate) async fn open(config: MqttConfig) -> Result<Self> {
        let courier = Courier::start(config.clone(), None)?;
        let mut state = courier.outbox().connection();
        let connected = state.wait_for(|state| *state == ConnectionState::Connected);
        if !matches!(timeout(CONNECT_TIMEOUT, connected).await, Ok(Ok(_))) {
            let (broker, seconds) = (config.broker(), CONNECT_TIMEOUT.as_secs());
            bail!(
                "no MQTT broker answers at {broker} within {seconds} s: is it running, and is that its port?"
            );
        }
        Ok(Self {
            config,
            courier,
            since: system_time::wall_time(),
        })
    }

    /// A publisher for the boards of a stream.
    ///
    /// # Errors
    ///
    /// When the host's name cannot be part of a topic.
    pub(crate) fn publisher(&self, stream: &str) -> Result<Publisher> {
        Ok(Publisher::new(&self.config, stream, self.since)?)
    }

    /// Publishes what the boards said in a step at `now`, and the pictures that it changed. Returns the messages.
    ///
    /// # Errors
    ///
    /// When a board's name cannot be part of a topic, and [`Undelivered`] when the broker is too far behind.
    pub(crate) async fn publish<'b>(
        &self,
        publisher: &mut Publisher,
        now: Timestamp,
        said: &[ExplainedEvent],
        boards: impl Iterator<Item = &'b Board>,
    ) -> Result<Vec<Message>> {
        let mut messages = Vec::new();
        for board in boards {
            let name = board.name();
            if publisher.add(name, Duration::ZERO)? {
                let boards = publisher.boards().map(str::to_owned).collect();
                messages.extend(publisher.announce(system_time::wall_time(), boards, None));
            }
            let events = said.iter().map(|said| &said.event);
            let view = BoardView::new(board.tracker(), board.battery()).later_by(board.ahead());
            messages.extend(publisher.project(now, name, events, view));
        }
        self.courier.outbox().publish(messages.clone());
        self.wait_until_queued(MAX_QUEUED).await?;
        Ok(messages)
    }

    /// Waits until the broker has everything.
    ///
    /// # Errors
    ///
    /// [`Undelivered`] when that takes too long.
    pub(crate) async fn drained(&self) -> Result<(), Undelivered> {
        self.wait_until_queued(0).await
    }

    /// Delivers what is left, as far as the broker takes it, publishes that the daemon is offline, and disconnects.
    pub(crate) async fn close(self) {
        self.courier.stop().await;
    }

    /// Waits until at most `messages` are queued for the broker.
    async fn wait_until_queued(&self, messages: usize) -> Result<(), Undelivered> {
        let mut progress = self.courier.outbox().progress();
        let accepted = progress.wait_for(|progress| progress.queued <= messages);
        if matches!(timeout(DELIVERY_TIMEOUT, accepted).await, Ok(Ok(_))) {
            return Ok(());
        }
        let messages = progress.borrow().queued;
        Err(Undelivered { messages })
    }
}
