//! Starts the tasks of the outputs and passes them events, pairings and statuses.
//!
//! This module does not depend on any output except the broadcast, whose files several outputs use. An output depends
//! only on its input, so it shows the same in a daemon, a hub and a replay.

use core::fmt::Debug;
use core::time::Duration;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kiebitz_game::events::Event;
use kiebitz_game::laws::Language;
use kiebitz_hardware::Timestamp;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::clock::ClockView;
use crate::outputs::broadcast::EventFacts;
use crate::outputs::broadcast::task::{Follower, RelayedSnapshot, Snapshot};
use crate::outputs::mqtt::MqttConfig;
use crate::outputs::shared::board_status::BoardStatus;
use crate::outputs::shared::reports::Reports;
use crate::outputs::shared::thread::BROADCAST;
use crate::outputs::shared::to_hall::ToHall;
use crate::outputs::shared::trial::{Trial, Trials};
use crate::secret_file::{SecretReader, exposed, is_open_to_all};
use crate::tournament::Tournament;

/// Input for the tasks of the outputs. It is sent together with its time.
///
/// When a daemon starts, it sends in this order:
///
/// 1. `Restart(true)`, a `Past` for each board, and `Pairings` if the files can be read,
/// 2. `Restart(false)` once the recordings have been replayed,
/// 3. a `Past` for each board with the events that the replay has added, and empty `Pairings` if no files are
///    configured,
/// 4. live input.
///
/// Without a readable journal there is no `Past`. A hub sends earlier events as `Events`, too.
#[derive(Debug)]
pub(super) enum FeedInput {
    Events(Vec<Event>),
    Clock(String, ClockView),
    /// The name and the serial number of a board.
    Serial(String, String),
    Status(Box<BoardStatus>),
    /// The journal's events of a board, from games of this tournament. They may begin and end in the middle of a game.
    /// The second `Past` of a start continues the first one or, if events were restored in between, repeats all of it.
    /// Outputs recognise by `seq` the events that they already have.
    Past(String, Vec<Event>),
    /// The new pairings. `None` if the files cannot be read: the previous pairings stay in force.
    Pairings(Option<Arc<Tournament>>),
    /// The round whose pairings the boards get.
    Round(Option<u32>),
    Facts(EventFacts),
    SetForward(Duration),
    /// `true` while the recordings are being replayed; `false` once boards are watched live.
    Restart(bool),
    /// Whether the journal has stored all events so far, and stores those that follow.
    Kept(bool),
    /// Whether the journals of all daemons known to a hub store events.
    Journals(bool),
    /// Only time has passed.
    Tick,
}

/// Sends input to the tasks, at once or [through the gate](Self::behind_gate).
#[derive(Debug)]
pub(crate) struct Feeds {
    outlet: Outlet,
    /// Input that waits for the gate; `None` if input is sent at once.
    held: Option<Vec<HeldInput>>,
    reports: Reports,
    /// The last clock reading sent, by board.
    clocks: BTreeMap<String, ClockView>,
    round: Option<u32>,
    /// The last value of [`FeedInput::Journals`].
    kept: bool,
    /// The last status sent, by board; `None` if no output uses statuses.
    statuses: Option<BTreeMap<String, BoardStatus>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Outlet(Vec<mpsc::UnboundedSender<(Timestamp, Arc<FeedInput>)>>);

#[derive(Debug)]
pub(crate) struct HeldInput(Timestamp, FeedInput);

/// The tasks that shutdown waits for.
#[derive(Debug)]
pub(crate) struct FeedTasks {
    tasks: Vec<JoinHandle<()>>,
}

pub(crate) trait Output: Debug + Send + Sync {
    /// Starts the tasks of the output. Must be called within a runtime.
    fn start(&self, starting: &mut Starting);

    /// The files with secrets that the output's table names.
    fn secrets(&self) -> Vec<&Path> {
        Vec::new()
    }

    /// Checks the contents of the files that the output's table names. Returns the problems with their next steps.
    fn file_problems(&self) -> Vec<String> {
        Vec::new()
    }

    /// Checks of the output that operators can run.
    fn trials(&self) -> Vec<Trial> {
        Vec::new()
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct FeedSettings {
    pub(crate) outputs: Vec<Arc<dyn Output>>,
    /// The broker for alarms over MQTT.
    pub(crate) broker: Option<MqttConfig>,
    pub(crate) language: Language,
    /// The delay of outputs without a delay of their own.
    pub(crate) delay: Duration,
    /// The folder with notes about the progress of each recipient.
    pub(crate) notes: PathBuf,
}

#[derive(Debug)]
pub(crate) struct Starting {
    pub(super) facts: EventFacts,
    /// Where commands and questions of clients go.
    pub(super) hall: ToHall,
    pub(super) reports: Reports,
    /// The checks of all outputs, and of the broker.
    pub(super) trials: Trials,
    pub(super) broker: Option<MqttConfig>,
    pub(super) language: Language,
    pub(super) notes: PathBuf,
    delay: Duration,
    follower: Follower,
    input: Vec<mpsc::UnboundedSender<(Timestamp, Arc<FeedInput>)>>,
    tasks: Vec<JoinHandle<()>>,
    wants_statuses: bool,
}

/// Grace period at shutdown for the last deliveries of all outputs.
const MAX_FINISH: Duration = Duration::from_secs(5);

impl FeedSettings {
    pub(crate) const fn is_any(&self) -> bool {
        !self.outputs.is_empty()
    }

    fn warn_of_open_secrets(&self) {
        let all = self.outputs.iter().flat_map(|output| output.secrets());
        for file in all.filter(|file| is_open_to_all(file)) {
            tracing::warn!(
                "{}",
                exposed(file, "a secret", SecretReader::of_process().as_ref())
            );
        }
    }
}

impl Starting {
    /// Subscribes a task to all input.
    pub(super) fn follow(&mut self) -> mpsc::UnboundedReceiver<(Timestamp, Arc<FeedInput>)> {
        let (follow, inputs) = mpsc::unbounded_channel();
        self.input.push(follow);
        inputs
    }

    /// The files of the broadcast with the output's own delay, or else the common one.
    pub(super) fn files(&mut self, own_delay: Option<Duration>) -> Snapshot {
        self.follower.subscribe(own_delay.unwrap_or(self.delay))
    }

    /// The files of the broadcast, of which only `games.pgn` of each round is needed, with the output's own delay, or else
    /// the common one.
    pub(super) fn pgn_files(&mut self, own_delay: Option<Duration>) -> Snapshot {
        self.follower.subscribe_pgn(own_delay.unwrap_or(self.delay))
    }

    /// The event for a site with pages of its own, with the output's own delay, or else the common one.
    pub(super) fn relayed(&mut self, own_delay: Option<Duration>) -> RelayedSnapshot {
        self.follower.subscribe_relayed(own_delay.unwrap_or(self.delay))
    }

    /// Adds the web page to the files with this delay. `address` is its public address.
    pub(super) fn bring_page(&mut self, own_delay: Option<Duration>, address: Option<String>) {
        self.follower.bring_page(own_delay.unwrap_or(self.delay), address);
    }

    /// The output's own delay, or else the common one.
    pub(super) fn delay(&self, own: Option<Duration>) -> Duration {
        own.unwrap_or(self.delay)
    }

    /// Starts a task that shutdown waits for.
    pub(super) fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.push(tokio::spawn(task));
    }

    /// Starts a task of the broadcast, which may have thousands of files, on its own thread. Shutdown waits for it.
    pub(super) fn spawn_with_files(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.push(BROADCAST.spawn(task));
    }

    /// Also sends the statuses of boards to the tasks.
    pub(super) const fn want_statuses(&mut self) {
        self.wants_statuses = true;
    }
}

impl Feeds {
    /// Starts the tasks. Commands and questions of clients go to `hall`. Must be called within a runtime.
    pub(crate) fn start(settings: FeedSettings, facts: &EventFacts, hall: ToHall) -> (Self, FeedTasks) {
        // rustls needs a default provider if several are compiled in. An error means that one is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        settings.warn_of_open_secrets();
        let of_broker = settings.broker.as_ref().map(MqttConfig::trial);
        let of_outputs = settings.outputs.iter().flat_map(|output| output.trials());
        let (follow, inputs) = mpsc::unbounded_channel();
        let trials = Trials::default();
        trials.add(of_broker.into_iter().chain(of_outputs));
        let mut starting = Starting {
            facts: facts.clone(),
            hall,
            reports: Reports::default(),
            trials,
            broker: settings.broker,
            language: settings.language,
            notes: settings.notes,
            delay: settings.delay,
            follower: Follower::new(inputs, facts.clone()),
            input: vec![follow],
            tasks: Vec::new(),
            wants_statuses: false,
        };
        for output in settings.outputs {
            output.start(&mut starting);
        }
        starting.tasks.push(BROADCAST.spawn(starting.follower.work()));
        let feeds = Self {
            outlet: Outlet(starting.input),
            held: None,
            reports: starting.reports,
            clocks: BTreeMap::new(),
            round: None,
            kept: true,
            statuses: starting.wants_statuses.then(BTreeMap::new),
        };
        let tasks = starting.tasks;
        (feeds, FeedTasks { tasks })
    }

    /// A handle whose input must be [taken](Self::take_held) and sent through the [outlet](Self::outlet).
    pub(crate) fn behind_gate(&self) -> Self {
        self.with(Some(Vec::new()))
    }

    /// A handle for events that the journal already has: input is sent at once.
    pub(crate) fn of_stored(&self) -> Self {
        self.with(None)
    }

    fn with(&self, held: Option<Vec<HeldInput>>) -> Self {
        Self {
            outlet: self.outlet.clone(),
            held,
            reports: self.reports.clone(),
            clocks: self.clocks.clone(),
            round: self.round,
            kept: self.kept,
            statuses: self.statuses.clone(),
        }
    }

    /// Takes the input that has accumulated since the last call, in order.
    pub(crate) fn take_held(&mut self) -> Vec<HeldInput> {
        self.held.as_mut().map(core::mem::take).unwrap_or_default()
    }

    pub(crate) fn outlet(&self) -> Outlet {
        self.outlet.clone()
    }

    pub(crate) const fn reports(&self) -> &Reports {
        &self.reports
    }

    pub(crate) fn send_events(&mut self, now: Timestamp, events: &[Event]) {
        if !events.is_empty() {
            self.send(now, FeedInput::Events(events.to_vec()));
        }
    }

    /// Sends the clock of a board at `now` if it differs from the one sent last.
    pub(crate) fn send_clock(&mut self, now: Timestamp, board: &str, clock: ClockView) {
        let known = self.clocks.get(board);
        if known.is_none_or(|known| known.differs(&clock)) {
            self.clocks.insert(board.to_owned(), clock);
            self.send(now, FeedInput::Clock(board.to_owned(), clock));
        }
    }

    /// Sends a board's serial number, if known.
    pub(crate) fn set_serial(&mut self, now: Timestamp, board: &str, serial: Option<String>) {
        if let Some(serial) = serial {
            self.send(now, FeedInput::Serial(board.to_owned(), serial));
        }
    }

    pub(crate) const fn wants_statuses(&self) -> bool {
        self.statuses.is_some()
    }

    /// Sends the status of a board at `now` if it differs from the one sent last.
    pub(crate) fn see(&mut self, now: Timestamp, status: BoardStatus) {
        let Some(statuses) = &mut self.statuses else {
            return;
        };
        let known = statuses.get(&status.name);
        if known.is_none_or(|known| known.differs(&status)) {
            statuses.insert(status.name.clone(), status.clone());
            self.send(now, FeedInput::Status(Box::new(status)));
        }
    }

    /// Sends the journal's events of a board, as of `now`.
    pub(crate) fn resume(&mut self, now: Timestamp, board: String, events: Vec<Event>) {
        self.send(now, FeedInput::Past(board, events));
    }

    /// Reports at `now` that a replay of the recordings begins or, if `restarts` is false, that boards are watched
    /// live.
    pub(crate) fn set_restarting(&mut self, now: Timestamp, restarts: bool) {
        self.send(now, FeedInput::Restart(restarts));
    }

    pub(crate) fn pair(&mut self, now: Timestamp, tournament: Arc<Tournament>) {
        self.send(now, FeedInput::Pairings(Some(tournament)));
    }

    /// Sends pairings. `None` if the files cannot be read: the previous pairings stay in force.
    pub(crate) fn pair_if(&mut self, now: Timestamp, tournament: Option<Arc<Tournament>>) {
        self.send(now, FeedInput::Pairings(tournament));
    }

    /// Sends the round whose pairings the boards get, if it has changed.
    pub(crate) fn set_round(&mut self, now: Timestamp, round: Option<u32>) {
        if self.round != round {
            self.round = round;
            self.send(now, FeedInput::Round(round));
        }
    }

    /// Reports whether the journals of all daemons known to a hub store events.
    pub(crate) fn keep(&mut self, now: Timestamp, kept: bool) {
        if self.kept != kept {
            self.kept = kept;
            self.send(now, FeedInput::Journals(kept));
        }
    }

    /// Replaces the facts of the event.
    pub(crate) fn set_facts(&mut self, now: Timestamp, facts: EventFacts) {
        self.send(now, FeedInput::Facts(facts));
    }

    /// Reports that the computer's clock was set forward by `by`.
    pub(crate) fn set_forward(&mut self, now: Timestamp, by: Duration) {
        self.send(now, FeedInput::SetForward(by));
    }

    pub(crate) fn tick(&mut self, now: Timestamp) {
        self.send(now, FeedInput::Tick);
    }

    fn send(&mut self, now: Timestamp, input: FeedInput) {
        let input = HeldInput(now, input);
        match &mut self.held {
            Some(held) => held.push(input),
            None => self.outlet.send(input),
        }
    }
}

#[cfg(test)]
impl HeldInput {
    /// Input with these events, or a tick if there are none.
    pub(crate) fn of(now: Timestamp, events: &[Event]) -> Self {
        match events {
            [] => Self(now, FeedInput::Tick),
            events => Self(now, FeedInput::Events(events.to_vec())),
        }
    }
}

impl Outlet {
    pub(crate) fn send(&self, HeldInput(now, input): HeldInput) {
        let input = Arc::new(input);
        for task in &self.0 {
            // Sending fails only if the task has ended.
            let _ = task.send((now, Arc::clone(&input)));
        }
    }

    /// Reports whether the journal has stored all events so far, and stores those that follow.
    pub(crate) fn send_kept(&self, now: Timestamp, kept: bool) {
        self.send(HeldInput(now, FeedInput::Kept(kept)));
    }

    /// An outlet for tests, with a function that returns the events, changes of `kept` and ticks since its last call.
    #[cfg(test)]
    pub(crate) fn for_test() -> (Self, impl FnMut() -> Vec<String>) {
        let (sender, mut inputs) = mpsc::unbounded_channel::<(Timestamp, Arc<FeedInput>)>();
        let drain = move || {
            let mut collected = Vec::new();
            while let Ok((_, input)) = inputs.try_recv() {
                match &*input {
                    FeedInput::Events(events) => {
                        collected.extend(events.iter().map(|event| event.seq.to_string()))
                    }
                    FeedInput::Kept(kept) => collected.push(format!("kept {kept}")),
                    FeedInput::Tick => collected.push("tick".to_owned()),
                    _ => {}
                }
            }
            collected
        };
        (Self(vec![sender]), drain)
    }
}

impl FeedTasks {
    /// Waits at most [`MAX_FINISH`] until the outputs have delivered everything. Drop all [`Feeds`] first.
    pub(crate) async fn finish(self) {
        let all = async {
            for task in self.tasks {
                let _ = task.await;
            }
        };
        if tokio::time::timeout(MAX_FINISH, all).await.is_err() {
            tracing::warn!(
                "some outputs have not received the last moves; they receive them after the next start"
            );
        }
    }
}
