//! A replayed board, the outbox that publishes it, and a subscriber.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kiebitz::outputs::mqtt::{Backlog, BoardView, Message, MqttConfig, Outbox, Prefix, Projection};
use kiebitz::replay::Replay;
use kiebitz::system_time::LiveTime;
use kiebitz_hardware::Timestamp;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{Packet, Publish, PublishProperties};
use rumqttc::v5::{AsyncClient, Event, MqttOptions};
use serde_json::Value;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

use crate::eventually::PATIENCE;

/// Messages of a replayed game, step by step.
pub(crate) fn replayed_game() -> Vec<Vec<Message>> {
    let capture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../captures/clean-game.pcapng");
    let mut replay = Replay::open(&capture, "replay").expect("the capture");
    let mut projection: Option<Projection> = None;
    let mut steps = Vec::new();
    while let Some(now) = replay.next_at() {
        let events: Vec<_> = replay
            .step()
            .expect("the capture is whole")
            .into_iter()
            .map(|explained| explained.event)
            .collect();
        let Some(board) = replay.boards().next() else {
            continue;
        };
        let projection = projection.get_or_insert_with(|| {
            let topics = Prefix::live().board("board-1").expect("a name");
            Projection::new(&topics, board.name(), "replay", "pi")
        });
        let messages = projection.project(now, &events, BoardView::of(board));
        if !messages.is_empty() {
            steps.push(messages);
        }
    }
    assert!(
        steps.len() > 100,
        "a game makes more than {} messages",
        steps.len()
    );
    steps
}

/// Numbers of the events among these messages.
pub(crate) fn seqs(steps: &[Vec<Message>]) -> Vec<u64> {
    steps
        .iter()
        .flatten()
        .filter(|m| m.topic.ends_with("/events"))
        .map(|m| seq_of(&m.payload))
        .collect()
}

fn seq_of(payload: &[u8]) -> u64 {
    let event: Value = serde_json::from_slice(payload).expect("events are JSON");
    event["seq"].as_u64().expect("events have a number")
}

/// A running outbox.
pub(crate) struct Publisher {
    pub(crate) outbox: Outbox,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Publisher {
    pub(crate) fn start(broker: SocketAddr) -> Self {
        Self::with_backlog(broker, None)
    }

    pub(crate) fn with_backlog(broker: SocketAddr, backlog: Option<Arc<dyn Backlog>>) -> Self {
        Self::with_config(Self::config(broker), backlog)
    }

    pub(crate) fn config(broker: SocketAddr) -> MqttConfig {
        MqttConfig::from_url(&format!("mqtt://{broker}"))
            .expect("a URL")
            .with_daemon("pi")
    }

    pub(crate) fn with_config(config: MqttConfig, backlog: Option<Arc<dyn Backlog>>) -> Self {
        let (outbox, task) = Outbox::connect(config, backlog).expect("a host name");
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(task.run(async {
            let _ = stopped.await;
        }));
        Self { outbox, stop, task }
    }

    pub(crate) fn publish(&self, steps: &[Vec<Message>]) {
        steps
            .iter()
            .for_each(|messages| self.outbox.publish(messages.clone()));
    }

    pub(crate) async fn drained(&self) {
        assert!(in_time("the broker has everything", self.outbox.drained()).await);
    }

    /// Stops the outbox in order.
    pub(crate) async fn stop(self) {
        self.stop.send(()).expect("the outbox is at work");
        in_time("the outbox has ended", self.task)
            .await
            .expect("without a panic");
    }
}

/// Subscribes to everything under "kiebitz" and stores it. Reconnects by itself.
pub(crate) struct Listener {
    client: AsyncClient,
    inbox: Arc<Mutex<Vec<(Timestamp, Publish)>>>,
    changed: watch::Receiver<u64>,
    subscribed: watch::Receiver<u64>,
    task: JoinHandle<()>,
}

impl Listener {
    /// Returns once the listener has subscribed.
    pub(crate) async fn start(id: &str, broker: SocketAddr) -> Self {
        Self::with_login(id, broker, None, "kiebitz/#").await
    }

    /// Like [`start`](Self::start), with a login whose password is "secret", and a filter.
    pub(crate) async fn with_login(
        id: &str,
        broker: SocketAddr,
        login: Option<&str>,
        filter: &'static str,
    ) -> Self {
        let mut options = MqttOptions::new(id, broker.ip().to_string(), broker.port());
        options.set_max_packet_size(Some(1 << 20));
        if let Some(login) = login {
            options.set_credentials(login, "secret");
        }
        let (client, mut events) = AsyncClient::new(options, 16);
        let inbox = Arc::new(Mutex::new(Vec::new()));
        let (change, changed) = watch::channel(0);
        let (subscription, subscribed) = watch::channel(0);
        let memory = Arc::clone(&inbox);
        let sender = client.clone();
        let time = LiveTime::start();
        let task = tokio::spawn(async move {
            loop {
                match events.poll().await {
                    Ok(Event::Incoming(Packet::ConnAck(_))) => {
                        client
                            .try_subscribe(filter, QoS::AtLeastOnce)
                            .expect("room for a request");
                    }
                    Ok(Event::Incoming(Packet::SubAck(_))) => subscription.send_modify(|count| *count += 1),
                    Ok(Event::Incoming(Packet::Publish(publish))) => {
                        memory.lock().expect("no panic").push((time.now(), publish));
                        change.send_modify(|count| *count += 1);
                    }
                    Ok(_) => {}
                    Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
                }
            }
        });
        let listener = Self {
            client: sender,
            inbox,
            changed,
            subscribed,
            task,
        };
        listener.subscribed(1).await;
        listener
    }

    pub(crate) fn send(&self, to: &str, text: &str, retained: bool, properties: Option<PublishProperties>) {
        let text = text.to_owned();
        let properties = properties.unwrap_or_default();
        let sent = self
            .client
            .try_publish_with_properties(to, QoS::AtLeastOnce, retained, text, properties);
        sent.expect("room for a request");
    }

    /// Waits for this many subscriptions: one at first, and one after each loss of the broker.
    pub(crate) async fn subscribed(&self, times: u64) {
        let mut subscribed = self.subscribed.clone();
        let waiting = subscribed.wait_for(|count| *count >= times);
        in_time("the listener has subscribed", waiting)
            .await
            .expect("it listens");
    }

    /// Waits until the received messages match `wanted`.
    pub(crate) async fn until(&self, goal: &str, wanted: impl Fn(&[Publish]) -> bool) {
        let mut changed = self.changed.clone();
        let waiting = changed.wait_for(|_| wanted(&self.inbox()));
        in_time(goal, waiting).await.expect("it listens");
    }

    /// Waits for a message on a topic, given without the prefix.
    pub(crate) async fn has(&self, wanted: &str) {
        self.until(wanted, |inbox| {
            inbox.iter().any(|publish| topic(publish) == wanted)
        })
        .await;
    }

    pub(crate) fn inbox(&self) -> Vec<Publish> {
        self.timed_inbox()
            .into_iter()
            .map(|(_, publish)| publish)
            .collect()
    }

    /// The received messages with their times of arrival.
    pub(crate) fn timed_inbox(&self) -> Vec<(Timestamp, Publish)> {
        self.inbox.lock().expect("no panic").clone()
    }

    /// Numbers of the received events, in order of arrival.
    pub(crate) fn seqs(&self) -> Vec<u64> {
        event_seqs(&self.inbox())
    }

    /// The last message on each topic, by the topic without the prefix.
    pub(crate) fn retained(&self) -> BTreeMap<String, Publish> {
        self.inbox()
            .into_iter()
            .map(|publish| (topic(&publish), publish))
            .collect()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(crate) fn event_seqs(inbox: &[Publish]) -> Vec<u64> {
    inbox
        .iter()
        .filter(|p| topic(p).ends_with("/events"))
        .map(|p| seq_of(&p.payload))
        .collect()
}

/// Topic of a message, without the prefix.
pub(crate) fn topic(publish: &Publish) -> String {
    let topic = String::from_utf8(publish.topic.to_vec()).expect("topics are text");
    topic
        .strip_prefix("kiebitz/")
        .expect("all topics have the prefix")
        .to_owned()
}

pub(crate) fn json(publish: &Publish) -> Value {
    serde_json::from_slice(&publish.payload).expect("JSON")
}

pub(crate) async fn in_time<T>(goal: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(done) => done,
        Err(_) => panic!("not in time: {goal}"),
    }
}
