//! The task that delivers messages to the broker.

use core::future::Future;
use core::pin::{Pin, pin};
use core::time::Duration;
use std::sync::Arc;

use tokio::sync::{mpsc, watch};
use tokio::time::{Sleep, sleep};
use tracing::{debug, error, info, warn};

use super::attempts::{Attempts, ConnectionFailure};
use super::refusals::Refusals;
use super::{ConnectionState, InboxItem, OutboxProgress};
use crate::outputs::mqtt::backlog::{BacklogReader, ReaderEvent};
use crate::outputs::mqtt::client::{Dialect, Session};
use crate::outputs::mqtt::inlet::Received;
use crate::outputs::mqtt::link::{BrokerLink, Limits, LinkEvent, MissingFeatures};
use crate::outputs::mqtt::lost::LostReason;
use crate::outputs::mqtt::message::Message;
use crate::outputs::mqtt::outbox_store::{Acknowledged, OutboxStore, PageOutcome};
use crate::outputs::mqtt::payload::DaemonState;
use crate::outputs::mqtt::queue::Ticket;
use crate::outputs::mqtt::settings::MqttConfig;
use crate::secret_file::{SecretReader, exposed};
use crate::system_time::wall_time;

/// The task of an [`Outbox`](super::Outbox). Start it with [`run`](Self::run).
#[derive(Debug)]
pub struct OutboxTask {
    pub(super) config: MqttConfig,
    pub(super) daemon_topic: Arc<str>,
    pub(super) inbox: mpsc::UnboundedReceiver<InboxItem>,
    pub(super) store: OutboxStore,
    pub(super) reader: BacklogReader,
    pub(super) progress: Arc<watch::Sender<OutboxProgress>>,
    pub(super) connection: watch::Sender<ConnectionState>,
    /// The reason why there is no connection, as a message for people.
    pub(super) lost: watch::Sender<Option<String>>,
    /// Destination of received commands; `None` to not subscribe to commands.
    pub(super) commands: Option<mpsc::Sender<Received>>,
    pub(super) refusals: Refusals,
    /// Version of MQTT for the next attempt.
    pub(super) dialect: Dialect,
    /// Session of the next attempt. It is fresh until the broker has accepted a connection, because an earlier process
    /// may have subscribed to commands that are no longer allowed.
    pub(super) session: Session,
    /// Whether the warning about MQTT 3.1.1 has been logged.
    pub(super) has_warned_of_old_version: bool,
    /// Features that the next attempt does without.
    pub(super) missing: MissingFeatures,
    /// Missing features that have been logged.
    pub(super) logged_missing: MissingFeatures,
}

/// Grace period for the last messages at shutdown.
const MAX_FLUSH: Duration = Duration::from_secs(5);

enum Phase {
    Connecting(BrokerLink),
    Connected(BrokerLink, Limits),
    Pausing(Pin<Box<Sleep>>),
}

struct Stopping {
    expires: Pin<Box<Sleep>>,
    /// The offline state of the daemon, to be queued after all other messages; `None` once queued.
    last_state: Option<Message>,
}

impl OutboxTask {
    /// Sets the destination of received commands.
    #[must_use]
    pub fn with_commands(self, commands: Option<mpsc::Sender<Received>>) -> Self {
        Self { commands, ..self }
    }

    /// Delivers messages until `shutdown` resolves or every [`Outbox`](super::Outbox) is dropped. Then delivers the
    /// remaining messages and the offline state of the daemon, for at most five seconds.
    pub async fn run(mut self, shutdown: impl Future<Output = ()>) {
        let will = Message::retained(&self.daemon_topic, &DaemonState::offline(&self.config.daemon));
        let mut shutdown = pin!(shutdown);
        let mut stopping: Option<Stopping> = None;
        let mut attempts = Attempts::new();
        self.warn_of_exposed_files();
        let mut phase = self.open(&will);
        loop {
            tokio::select! {
                item = self.inbox.recv(), if stopping.is_none() => match item {
                    Some(item) => self.receive_all(item),
                    None => stopping = Some(self.stop(&will)),
                },
                () = &mut shutdown, if stopping.is_none() => stopping = Some(self.stop(&will)),
                () = expired(&mut stopping) => break,
                event = self.reader.event() => self.handle_reader_event(event),
                step = phase.step() => match step {
                    PhaseStep::Open => phase = self.open(&will),
                    PhaseStep::Link(LinkEvent::Connected(limits)) => {
                        self.connected(&mut attempts, stopping.is_some());
                        self.does_without(limits.missing);
                        phase = phase.connected(limits);
                        if let (Phase::Connected(link, _), Some(_)) = (&phase, &self.commands) {
                            link.listen();
                        }
                    }
                    PhaseStep::Link(LinkEvent::Acknowledged(ticket)) => {
                        if let Some(message) = self.acknowledge(ticket) {
                            self.refusals.accepted(&message);
                        }
                    }
                    PhaseStep::Link(LinkEvent::Refused(ticket, reason)) => self.refused(ticket, &reason),
                    PhaseStep::Link(LinkEvent::CommandReceived(command)) => self.pass_command(*command),
                    PhaseStep::Link(LinkEvent::SubscriptionRefused(reason)) => self.subscription_refused(&reason),
                    PhaseStep::Link(LinkEvent::Closed) => break,
                    PhaseStep::Link(LinkEvent::Lost(reason)) => phase = self.lost(reason, &mut attempts),
                },
            }
            if let Some(stopping) = &mut stopping {
                self.queue_last_state(stopping);
            }
            if let Phase::Connected(link, limits) = &mut phase {
                self.send(link, *limits);
                self.read_next_page();
            }
            if let Some(stopping) = &stopping
                && self.is_over(stopping, &phase)
            {
                break;
            }
        }
        self.end();
    }

    fn open(&self, will: &Message) -> Phase {
        self.report(ConnectionState::Connecting);
        let link = BrokerLink::open(self.dialect, &self.config, will, self.session, self.missing);
        Phase::Connecting(link)
    }

    fn warn_of_exposed_files(&self) {
        for file in self.config.exposed_files() {
            warn!(
                "{}",
                exposed(&file, "a secret", SecretReader::of_process().as_ref())
            );
        }
    }

    fn lost(&mut self, reason: LostReason, attempts: &mut Attempts) -> Phase {
        if self.changes_dialect(&reason) || self.does_without(reason.missing_features()) {
            self.store.rewind();
            self.report(ConnectionState::Disconnected);
            return Phase::Pausing(Box::pin(sleep(Duration::ZERO)));
        }
        let (reason, refused) = self.refusals.lost(reason, self.store.queue());
        if let Some(refused) = refused {
            self.acknowledge(refused);
            attempts.explained();
        }
        let ConnectionFailure {
            reason,
            failed,
            is_news,
            pause,
            lasted,
        } = attempts.lost(reason, &self.config.client_id());
        if lasted && !reason.is_about_a_message() {
            self.refusals.forget_limit();
            self.missing = MissingFeatures::default();
        }
        let broker = self.config.broker();
        if is_news {
            let queued = self.store.queue().len();
            warn!(broker, %reason, queued, "no connection to the MQTT broker at {broker}: {reason}; retrying");
        } else {
            debug!(broker, %reason, attempt = failed, ?pause, "no connection to the MQTT broker at {broker}: {reason}");
        }
        self.store.rewind();
        let problem = format!("no connection to the MQTT broker at {broker}: {reason}");
        self.lost.send_replace(Some(problem));
        self.report(ConnectionState::Disconnected);
        Phase::Pausing(Box::pin(sleep(pause)))
    }

    /// Switches to MQTT 3.1.1 for one attempt if the broker possibly lacks MQTT 5. Returns whether it does so. The
    /// attempt after that uses MQTT 5 again, since the broker may have been replaced or upgraded. Does nothing if the
    /// version is configured.
    fn changes_dialect(&mut self, reason: &LostReason) -> bool {
        if self.config.protocol.is_some() {
            return false;
        }
        let tries_old_version = self.dialect == Dialect::Five && reason.may_lack_mqtt5();
        self.dialect = if tries_old_version {
            Dialect::Four
        } else {
            Dialect::Five
        };
        tries_old_version
    }

    /// Does without features of the broker from now on. Returns whether one of them is new. Logs each feature once.
    fn does_without(&mut self, missing: MissingFeatures) -> bool {
        let broker = self.config.broker();
        if missing.retain && !self.logged_missing.retain {
            warn!(
                broker,
                "the MQTT broker {broker} does not allow retained messages: subscribers that connect later see nothing \
                 of a topic until its next message; allow them there (`retain_available true` in mosquitto.conf)"
            );
        }
        if missing.acknowledgements && !self.logged_missing.acknowledgements {
            warn!(
                broker,
                "the MQTT broker {broker} allows only messages of QoS 0: messages sent just before the connection \
                 breaks may be lost, so that subscribers miss events; allow QoS 1 there (`max_qos 1` in mosquitto.conf)"
            );
        }
        self.logged_missing.add(missing);
        self.missing.add(missing)
    }

    fn connected(&mut self, attempts: &mut Attempts, stopping: bool) {
        self.session = Session::Resumed;
        let (broker, failed_attempts) = (self.config.broker(), attempts.connected());
        info!(broker, failed_attempts, "connected to the MQTT broker {broker}");
        let detected_old_version = self.config.protocol.is_none() && self.dialect == Dialect::Four;
        if detected_old_version && !core::mem::replace(&mut self.has_warned_of_old_version, true) {
            warn!(
                broker,
                "the MQTT broker {broker} speaks only MQTT 3.1.1: events that are not stored yet are not \
                 marked, and answers to commands go to boards/BOARD/answer; mosquitto speaks MQTT 5 since \
                 version 1.6"
            );
        }
        let greeting = (!stopping).then(|| self.greeting());
        self.store.restart(greeting);
        self.lost.send_replace(None);
        self.report(ConnectionState::Connected);
    }

    /// The first message on every connection: the daemon's state.
    fn greeting(&self) -> Message {
        self.store
            .queue()
            .retained(&self.daemon_topic)
            .cloned()
            .unwrap_or_else(|| {
                Message::retained(&self.daemon_topic, &DaemonState::just_online(&self.config.daemon))
            })
    }

    /// Starts the shutdown, after receiving all items that are already in the inbox.
    fn stop(&mut self, last_state: &Message) -> Stopping {
        self.inbox.close();
        self.receive_waiting();
        Stopping {
            expires: Box::pin(sleep(MAX_FLUSH)),
            last_state: Some(last_state.clone()),
        }
    }

    /// Queues the daemon's last state once all other messages are queued.
    fn queue_last_state(&mut self, stopping: &mut Stopping) {
        if self.store.behind() == 0
            && let Some(last_state) = stopping.last_state.take()
        {
            self.store.push(last_state);
            self.update_progress(0);
        }
    }

    /// Whether the shutdown is complete. While connected, disconnects once everything is acknowledged; the loop then
    /// ends on the event `Closed`.
    fn is_over(&self, stopping: &Stopping, phase: &Phase) -> bool {
        let last_state_queued = stopping.last_state.is_none();
        match phase {
            // The last state alone need not be sent: the broker publishes it as the last will of the lost connection.
            Phase::Connecting(_) | Phase::Pausing(_) => last_state_queued && self.store.queue().len() <= 1,
            Phase::Connected(link, _) => {
                if last_state_queued && self.store.is_empty() {
                    link.disconnect();
                }
                false
            }
        }
    }

    fn end(&self) {
        let (messages, boards) = (self.store.queue().len(), self.store.behind());
        if messages > 0 {
            warn!(
                messages,
                "stopped before the MQTT broker had everything: {messages} messages are left"
            );
        }
        if boards > 0 {
            warn!(
                boards,
                "stopped before the MQTT broker had everything: more events of {boards} boards are left"
            );
        }
        self.report(ConnectionState::Stopped);
    }

    fn receive_all(&mut self, first: InboxItem) {
        self.receive(first);
        self.receive_waiting();
    }

    fn receive_waiting(&mut self) {
        while let Ok(item) = self.inbox.try_recv() {
            self.receive(item);
        }
    }

    fn receive(&mut self, item: InboxItem) {
        let count = item.count();
        let behind = self.store.behind();
        match item {
            InboxItem::Messages(messages) => {
                messages.into_iter().for_each(|message| self.store.push(message));
                if behind == 0 && self.store.behind() > 0 {
                    info!("the queue for the MQTT broker is full; later events are read from the journal");
                }
            }
            InboxItem::Behind {
                board,
                topic,
                after,
                last,
            } => {
                if self.reader.has_backlog() {
                    self.store.leave_behind(&board, &topic, after, last);
                }
            }
        }
        self.update_progress(count);
    }

    /// Reads the next page of a board that is behind, if there is room.
    fn read_next_page(&mut self) {
        if self.reader.is_idle()
            && let Some(page) = self.store.next_page()
        {
            self.reader.read(page);
        }
    }

    fn handle_reader_event(&mut self, event: ReaderEvent) {
        match event {
            ReaderEvent::Paused => self.store.end_pause(),
            ReaderEvent::Read(page, None) => self.store.postpone(&page),
            ReaderEvent::Read(page, Some(events)) => {
                if self.store.load_page(&page, events) == (PageOutcome::Nothing { again: false }) {
                    let (board, after) = (&*page.board, page.after);
                    warn!(
                        board,
                        after, "the events of {board} after {after} cannot be read yet; retrying"
                    );
                }
            }
        }
        if self.store.is_waiting() {
            self.reader.pause();
        }
        self.update_progress(0);
    }

    fn send(&mut self, link: &mut BrokerLink, limits: Limits) {
        while self.store.queue().window() < self.refusals.window(limits) {
            let Some((ticket, message)) = self.store.send_next() else {
                return;
            };
            if self.refusals.keeps_back(message, limits) {
                self.acknowledge(ticket);
            } else if !link.publish(ticket, message) {
                // The link reports the loss next, and the queue is then rewound.
                return;
            }
        }
    }

    fn acknowledge(&mut self, ticket: Ticket) -> Option<Message> {
        let Acknowledged { message, all } = self.store.acknowledge(ticket)?;
        let latency = message
            .happened
            .map(|happened| wall_time().saturating_duration_since(happened));
        self.progress.send_modify(|progress| {
            progress.queued = self.store.queue().len() + progress.unread;
            latency
                .into_iter()
                .for_each(|latency| progress.delivered.count(latency));
            progress.acknowledged.extend(all);
        });
        Some(message)
    }

    fn refused(&mut self, ticket: Ticket, reason: &str) {
        if let Some(message) = self.acknowledge(ticket) {
            self.refusals.rejected(&message, reason);
        }
    }

    fn pass_command(&self, command: Received) {
        let Some(commands) = &self.commands else { return };
        if let Err(mpsc::error::TrySendError::Full(command)) = commands.try_send(command) {
            let board = command.board;
            warn!(
                board,
                "too many commands for {board}: this one is dropped without an answer"
            );
        }
    }

    fn subscription_refused(&self, reason: &str) {
        let topic = self.config.subscriptions().join(" and ");
        error!(
            topic,
            reason,
            "the MQTT broker delivers no commands to kiebitz ({reason}): give its user the right to read {topic}"
        );
    }

    fn update_progress(&self, read: usize) {
        self.progress.send_modify(|progress| {
            progress.unread -= read;
            progress.queued = self.store.queue().len() + progress.unread;
            progress.behind = self.store.behind();
        });
    }

    fn report(&self, state: ConnectionState) {
        self.connection.send_replace(state);
        self.update_progress(0);
    }
}

enum PhaseStep {
    Open,
    Link(LinkEvent),
}

impl Phase {
    /// Waits for the next event of the phase. Cancel safe.
    async fn step(&mut self) -> PhaseStep {
        match self {
            Self::Connecting(link) | Self::Connected(link, _) => PhaseStep::Link(link.event().await),
            Self::Pausing(pause) => {
                pause.await;
                PhaseStep::Open
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

async fn expired(stopping: &mut Option<Stopping>) {
    match stopping {
        Some(stopping) => stopping.expires.as_mut().await,
        None => core::future::pending().await,
    }
}
