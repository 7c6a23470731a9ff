//! Tells the outputs what happens, and has them start their tasks. It knows none of them but the broadcast, whose files
//! several get.
//!
//! What is seen is made of events and pairings alone, and is the same wherever those come from.

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
use crate::outputs::broadcast::task::{Follower, Snapshot};
use crate::outputs::mqtt::{MqttConfig, is_open_to_all};
use crate::outputs::shared::board_status::BoardStatus;
use crate::outputs::shared::reports::Reports;
use crate::outputs::shared::to_hall::ToHall;
use crate::outputs::shared::trial::Trial;
use crate::tournament::Tournament;

/// What the task is told, with the time of it.
///
/// A daemon's start gives, in this order:
///
/// 1. `Restart(true)`, a `Past` for each board, and `Pairings` if the files can be read,
/// 2. `Restart(false)` once the recordings are played back,
/// 3. a `Past` for each board with what the playback has added, and empty `Pairings` if no files are configured,
/// 4. what happens from then on.
///
/// Without a readable journal there is no `Past`. A hub gives none either: its past comes as `Events`.
#[derive(Debug)]
pub(super) enum FeedInput {
    Events(Vec<Event>),
    Clock(String, ClockView),
    /// A board's serial number.
    Serial(String, String),
    /// How a board is.
    Status(Box<BoardStatus>),
    /// What the journal has of a board's games of this event, which may begin and end anywhere in a game. The second one of
    /// a start goes on where the first one ended, or repeats all of it if events were restored in between: an output
    /// recognises by `seq` what it has.
    Past(String, Vec<Event>),
    /// `None`: they cannot be read, and those before hold.
    Pairings(Option<Arc<Tournament>>),
    /// The round that boards get pairings of.
    Round(Option<u32>),
    Facts(EventFacts),
    SetForward(Duration),
    /// The recordings are played back, and boards are watched after that; or they are watched.
    Restart(bool),
    /// Whether the journal has all events that were told, and those that follow.
    Kept(bool),
    /// Whether the journals of all daemons that a hub hears take events.
    Journals(bool),
    /// Time passes.
    Tick,
}

/// Makes the news of what happens, and tells them to the tasks, at once or [when they may leave](Self::behind_gate).
#[derive(Debug)]
pub(crate) struct Feeds {
    outlet: Outlet,
    /// News that have not left yet; `None`: they leave at once.
    held: Option<Vec<HeldInput>>,
    reports: Reports,
    /// The last reading of each clock that was told.
    clocks: BTreeMap<String, ClockView>,
    /// The round that was told.
    round: Option<u32>,
    /// What was told of the journals of a hub's daemons.
    kept: bool,
    /// How each board was when that was told; `None`: nobody wants to know.
    statuses: Option<BTreeMap<String, BoardStatus>>,
}

/// Tells the tasks.
#[derive(Debug, Clone)]
pub(crate) struct Outlet(Vec<mpsc::UnboundedSender<(Timestamp, Arc<FeedInput>)>>);

/// News that the tasks have not been told yet.
#[derive(Debug)]
pub(crate) struct HeldInput(Timestamp, FeedInput);

/// The tasks, to be waited for at the end.
#[derive(Debug)]
pub(crate) struct FeedTasks {
    tasks: Vec<JoinHandle<()>>,
}

/// An output that the configuration asks for.
pub(crate) trait Output: Debug + Send + Sync {
    /// Starts its tasks. Must be called within a runtime.
    fn start(&self, starting: &mut Starting);

    /// The files with secrets that its table names.
    fn secrets(&self) -> Vec<&Path> {
        Vec::new()
    }

    /// What of it operators may try out.
    fn trials(&self) -> Vec<Trial> {
        Vec::new()
    }
}

/// The outputs to be started, and what the configuration says to all of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct FeedSettings {
    pub(crate) outputs: Vec<Arc<dyn Output>>,
    /// What alarms by the broker go to.
    pub(crate) broker: Option<MqttConfig>,
    /// Of what people are told.
    pub(crate) language: Language,
    /// The delay of what has none of its own.
    pub(crate) delay: Duration,
    /// The folder in which is noted what others have.
    pub(crate) notes: PathBuf,
}

/// What an output is started with.
#[derive(Debug)]
pub(crate) struct Starting {
    pub(super) facts: EventFacts,
    /// Takes what clients set up and ask.
    pub(super) hall: ToHall,
    pub(super) reports: Reports,
    /// What all outputs offer to be tried out, and the broker.
    pub(super) trials: Vec<Trial>,
    pub(super) broker: Option<MqttConfig>,
    pub(super) language: Language,
    pub(super) notes: PathBuf,
    delay: Duration,
    follower: Follower,
    input: Vec<mpsc::UnboundedSender<(Timestamp, Arc<FeedInput>)>>,
    tasks: Vec<JoinHandle<()>>,
    wants_statuses: bool,
}

/// So long places may take at the end for what they have not got yet.
const MAX_FINISH: Duration = Duration::from_secs(5);

impl FeedSettings {
    /// Whether there is anything to be done.
    pub(crate) const fn is_any(&self) -> bool {
        !self.outputs.is_empty()
    }

    fn warn_of_open_secrets(&self) {
        let all = self.outputs.iter().flat_map(|output| output.secrets());
        for file in all.filter(|file| is_open_to_all(file)) {
            let file = file.display();
            tracing::warn!(
                "{file} contains a secret and is readable by every user of this computer: run `chmod 640 {file}`"
            );
        }
    }
}

impl Starting {
    /// Tells a task what happens.
    pub(super) fn follow(&mut self) -> mpsc::UnboundedReceiver<(Timestamp, Arc<FeedInput>)> {
        let (follow, inputs) = mpsc::unbounded_channel();
        self.input.push(follow);
        inputs
    }

    /// The files of the broadcast, as they are seen with the delay of an output, or with the usual one.
    pub(super) fn files(&mut self, own_delay: Option<Duration>) -> Snapshot {
        self.follower.show(own_delay.unwrap_or(self.delay))
    }

    /// The page is among those files.
    pub(super) fn bring_page(&mut self, own_delay: Option<Duration>) {
        self.follower.bring_page(own_delay.unwrap_or(self.delay));
    }

    /// The delay of an output, or the usual one.
    pub(super) fn delay(&self, own: Option<Duration>) -> Duration {
        own.unwrap_or(self.delay)
    }

    /// Starts a task that is waited for at the end.
    pub(super) fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.push(tokio::spawn(task));
    }

    /// The output is told how boards are.
    pub(super) const fn want_statuses(&mut self) {
        self.wants_statuses = true;
    }
}

impl Feeds {
    /// Starts the tasks. What clients set up and ask goes to the hall. Must be called within a runtime.
    pub(crate) fn start(settings: FeedSettings, facts: &EventFacts, hall: ToHall) -> (Self, FeedTasks) {
        // Where several parts of a program bring cryptography along, one has to be chosen; it may have been.
        let _ = rustls::crypto::ring::default_provider().install_default();
        settings.warn_of_open_secrets();
        let of_broker = settings.broker.as_ref().map(MqttConfig::trial);
        let of_outputs = settings.outputs.iter().flat_map(|output| output.trials());
        let (follow, inputs) = mpsc::unbounded_channel();
        let mut starting = Starting {
            facts: facts.clone(),
            hall,
            reports: Reports::default(),
            trials: of_broker.into_iter().chain(of_outputs).collect(),
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
        starting.tasks.push(tokio::spawn(starting.follower.work()));
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

    /// The same, with news that are [taken](Self::take_held) and told through the [outlet](Self::outlet).
    pub(crate) fn behind_gate(&self) -> Self {
        self.with(Some(Vec::new()))
    }

    /// The same, for what the journal has already: its news leave at once.
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

    /// The news since this was called last, in their order.
    pub(crate) fn take_held(&mut self) -> Vec<HeldInput> {
        self.held.as_mut().map(core::mem::take).unwrap_or_default()
    }

    /// Where the tasks are told.
    pub(crate) fn outlet(&self) -> Outlet {
        self.outlet.clone()
    }

    /// How the places fare.
    pub(crate) const fn reports(&self) -> &Reports {
        &self.reports
    }

    /// Events that were published by `now`.
    pub(crate) fn take(&mut self, now: Timestamp, events: &[Event]) {
        if !events.is_empty() {
            self.tell(now, FeedInput::Events(events.to_vec()));
        }
    }

    /// What the clock beside a board shows at `now`.
    pub(crate) fn take_clock(&mut self, now: Timestamp, board: &str, clock: ClockView) {
        let known = self.clocks.get(board);
        if known.is_none_or(|known| known.differs(&clock)) {
            self.clocks.insert(board.to_owned(), clock);
            self.tell(now, FeedInput::Clock(board.to_owned(), clock));
        }
    }

    /// A board's serial number.
    pub(crate) fn know(&mut self, now: Timestamp, board: &str, serial: Option<String>) {
        if let Some(serial) = serial {
            self.tell(now, FeedInput::Serial(board.to_owned(), serial));
        }
    }

    /// Whether somebody wants to know how boards are.
    pub(crate) const fn wants_statuses(&self) -> bool {
        self.statuses.is_some()
    }

    /// How a board is at `now`.
    pub(crate) fn see(&mut self, now: Timestamp, status: BoardStatus) {
        let Some(statuses) = &mut self.statuses else {
            return;
        };
        let known = statuses.get(&status.name);
        if known.is_none_or(|known| known.differs(&status)) {
            statuses.insert(status.name.clone(), status.clone());
            self.tell(now, FeedInput::Status(Box::new(status)));
        }
    }

    /// What the journal has of a board, as it was at `now`.
    pub(crate) fn resume(&mut self, now: Timestamp, board: String, events: Vec<Event>) {
        self.tell(now, FeedInput::Past(board, events));
    }

    /// The recordings are played back from `now` on, and boards are watched after that; or, if not `restarts`, they are
    /// watched.
    pub(crate) fn restart(&mut self, now: Timestamp, restarts: bool) {
        self.tell(now, FeedInput::Restart(restarts));
    }

    /// These are the pairings from now on.
    pub(crate) fn pair(&mut self, now: Timestamp, tournament: Arc<Tournament>) {
        self.tell(now, FeedInput::Pairings(Some(tournament)));
    }

    /// The same where they could be read; else those before hold.
    pub(crate) fn pair_if(&mut self, now: Timestamp, tournament: Option<Arc<Tournament>>) {
        self.tell(now, FeedInput::Pairings(tournament));
    }

    /// Boards get pairings of this round from now on.
    pub(crate) fn set_round(&mut self, now: Timestamp, round: Option<u32>) {
        if self.round != round {
            self.round = round;
            self.tell(now, FeedInput::Round(round));
        }
    }

    /// Whether the journals of all daemons that a hub hears take events.
    pub(crate) fn keep(&mut self, now: Timestamp, kept: bool) {
        if self.kept != kept {
            self.kept = kept;
            self.tell(now, FeedInput::Journals(kept));
        }
    }

    /// The event is called otherwise from now on.
    pub(crate) fn rename(&mut self, now: Timestamp, facts: EventFacts) {
        self.tell(now, FeedInput::Facts(facts));
    }

    /// The computer's clock was set forward by `by`.
    pub(crate) fn set_forward(&mut self, now: Timestamp, by: Duration) {
        self.tell(now, FeedInput::SetForward(by));
    }

    /// Time has come to `now`.
    pub(crate) fn tick(&mut self, now: Timestamp) {
        self.tell(now, FeedInput::Tick);
    }

    fn tell(&mut self, now: Timestamp, input: FeedInput) {
        let input = HeldInput(now, input);
        match &mut self.held {
            Some(held) => held.push(input),
            None => self.outlet.tell(input),
        }
    }
}

#[cfg(test)]
impl HeldInput {
    /// News of events; of none, that time passes.
    pub(crate) fn of(now: Timestamp, events: &[Event]) -> Self {
        match events {
            [] => Self(now, FeedInput::Tick),
            events => Self(now, FeedInput::Events(events.to_vec())),
        }
    }
}

impl Outlet {
    /// Tells the tasks.
    pub(crate) fn tell(&self, HeldInput(now, input): HeldInput) {
        let input = Arc::new(input);
        for task in &self.0 {
            // The task lives as long as somebody can tell it something.
            let _ = task.send((now, Arc::clone(&input)));
        }
    }

    /// Says whether the journal has all events that were told, and those that follow.
    pub(crate) fn say_kept(&self, now: Timestamp, kept: bool) {
        self.tell(HeldInput(now, FeedInput::Kept(kept)));
    }

    /// An outlet on which a test hears every event, and whether events are kept.
    #[cfg(test)]
    pub(crate) fn heard() -> (Self, impl FnMut() -> Vec<String>) {
        let (sender, mut inputs) = mpsc::unbounded_channel::<(Timestamp, Arc<FeedInput>)>();
        let hear = move || {
            let mut heard = Vec::new();
            while let Ok((_, input)) = inputs.try_recv() {
                match &*input {
                    FeedInput::Events(events) => {
                        heard.extend(events.iter().map(|event| event.seq.to_string()))
                    }
                    FeedInput::Kept(kept) => heard.push(format!("kept {kept}")),
                    FeedInput::Tick => heard.push("tick".to_owned()),
                    _ => {}
                }
            }
            heard
        };
        (Self(vec![sender]), hear)
    }
}

impl FeedTasks {
    /// Waits, for some seconds at most, until every place has what it is to get. All [`Feeds`] are gone by then.
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
