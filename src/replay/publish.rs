//! Publishes replays and the demonstration over MQTT.

use core::time::Duration;

use anyhow::{Result, bail};
use kiebitz_game::events::ExplainedEvent;
use kiebitz_game::hall::Board;
use kiebitz_hardware::Timestamp;
use tokio::time::timeout;

use crate::outputs::mqtt::{BoardView, ConnectionState, Courier, Message, MqttConfig, Publisher};
use crate::system_time;

#[derive(Debug)]
pub(crate) struct BrokerConnection {
    config: MqttConfig,
    courier: Courier,
    /// Time at which the connection was opened.
    since: Timestamp,
}

/// The broker has stopped accepting messages.
#[derive(Debug, thiserror::Error)]
#[error("the MQTT broker has not accepted {messages} messages: check that it is still running")]
pub(crate) struct Undelivered {
    messages: usize,
}

/// Time limit for the first connection. A running broker answers sooner.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Time after which a replay gives up on a broker that accepts nothing; it can be repeated. A broker that refuses large
/// messages ends several connections before it accepts the next message, with pauses of up to 15 s between them.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(120);
/// Upper bound for queued messages, beyond which a replay waits for the broker.
const MAX_QUEUED: usize = 1000;

impl BrokerConnection {
    /// Connects to the broker. Fails if no broker answers in time.
    pub(crate) async fn open(config: MqttConfig) -> Result<Self> {
        let courier = Courier::start(config.clone(), None, None)?;
        let mut state = courier.outbox().connection();
        let connected = state.wait_for(|state| *state == ConnectionState::Connected);
        if !matches!(timeout(CONNECT_TIMEOUT, connected).await, Ok(Ok(_))) {
            let (broker, seconds) = (config.broker(), CONNECT_TIMEOUT.as_secs());
            bail!(
                "no MQTT broker answers at {broker} within {seconds} s: check that it is running, and its port"
            );
        }
        Ok(Self {
            config,
            courier,
            since: system_time::wall_time(),
        })
    }

    /// Creates a publisher for the boards of a stream. Fails if the host's name cannot be part of a topic.
    pub(crate) fn publisher(&self, stream: &str) -> Result<Publisher> {
        Ok(Publisher::new(&self.config, stream, self.since)?)
    }

    /// Publishes the events of a step at the time `now` and the board views that changed. Returns the messages. Fails
    /// if a board's name cannot be part of a topic, and with [`Undelivered`] if the broker falls too far behind.
    pub(crate) async fn publish<'b>(
        &self,
        publisher: &mut Publisher,
        now: Timestamp,
        explained: &[ExplainedEvent],
        boards: impl Iterator<Item = &'b Board>,
    ) -> Result<Vec<Message>> {
        let mut messages = Vec::new();
        for board in boards {
            let name = board.name();
            if publisher.add(name, Duration::ZERO)? {
                let boards = publisher.boards().map(str::to_owned).collect();
                messages.extend(publisher.announce(system_time::wall_time(), boards, None));
            }
            let events = explained.iter().map(|explained| &explained.event);
            messages.extend(publisher.project(now, name, events, BoardView::of(board)));
        }
        self.hand_over(messages.clone()).await?;
        Ok(messages)
    }

    /// Queues messages and waits until the queue has room. No journal has the messages of a replay, so the queue keeps
    /// all of them in memory.
    async fn hand_over(&self, messages: Vec<Message>) -> Result<(), Undelivered> {
        self.courier.outbox().publish(messages);
        self.wait_until_queued(MAX_QUEUED).await
    }

    /// Waits until the broker has accepted all messages. Fails with [`Undelivered`] if it accepts nothing for two minutes.
    pub(crate) async fn drained(&self) -> Result<(), Undelivered> {
        self.wait_until_queued(0).await
    }

    /// Delivers the remaining messages as far as the broker accepts them, publishes that the daemon is offline, and
    /// disconnects.
    pub(crate) async fn close(self) {
        self.courier.stop().await;
    }

    /// Waits until at most `messages` are queued for the broker.
    async fn wait_until_queued(&self, messages: usize) -> Result<(), Undelivered> {
        let mut progress = self.courier.outbox().progress();
        loop {
            let queued = progress.borrow_and_update().queued;
            if queued <= messages {
                return Ok(());
            }
            let accepted = progress.wait_for(|progress| progress.queued < queued);
            if !matches!(timeout(DELIVERY_TIMEOUT, accepted).await, Ok(Ok(_))) {
                return Err(Undelivered { messages: queued });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use kiebitz_game::events::{Event, EventKind};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    /// A broker that accepts a connection and acknowledges no messages.
    async fn broker() -> MqttConfig {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("its address");
        tokio::spawn(async move {
            const CONNACK: [u8; 5] = [0x20, 3, 0, 0, 0];
            let (mut client, _) = listener.accept().await.expect("a client");
            let mut buffer = [0; 4096];
            client.write_all(&CONNACK).await.expect("a client");
            while let Ok(1..) = client.read(&mut buffer).await {}
        });
        MqttConfig::from_url(&format!("mqtt://{address}")).expect("a URL")
    }

    #[tokio::test]
    async fn a_replay_waits_for_a_broker_that_does_not_keep_up() {
        const STEP: usize = 10;
        let connection = BrokerConnection::open(broker().await)
            .await
            .expect("it accepts connections");
        let event = Event {
            v: 1,
            stream: "replay".to_owned(),
            seq: 1,
            ts: Timestamp::from_micros(0),
            at: None,
            board: "b".to_owned(),
            game: None,
            kind: EventKind::ClockConnected {},
        };
        let step = vec![Message::event(&"events".into(), &event); STEP];
        let mut progress = connection.courier.outbox().progress();
        let replay = async {
            loop {
                connection
                    .hand_over(step.clone())
                    .await
                    .expect("the wait is not over");
            }
        };
        let waits = async {
            let full = progress.wait_for(|progress| progress.queued > MAX_QUEUED);
            drop(full.await);
            for _ in 0..1000 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            () = replay => {}
            () = waits => {}
        }
        let queued = progress.borrow().queued;
        assert!((MAX_QUEUED..=MAX_QUEUED + STEP).contains(&queued), "{queued}");
    }
}
