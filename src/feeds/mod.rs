//! Brings the broadcast to where people see it: a task that follows what happens, and one for each place that gets it.
//!
//! What is seen is [made](crate::output::broadcast) of events and pairings alone, and is the same wherever those come
//! from. A place gets all files as they are at a moment, and finds out itself what has changed for it: one that was away
//! gets what is now, and holds up nobody.

mod address;
mod alarm;
mod answers;
mod desk;
mod lichess;
mod livechess;
mod notes;
mod rounds;
mod store;
mod stream;
mod to_hall;
mod web;
mod webhook;

use core::time::Duration;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use kiebitz_hardware::Timestamp;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use crate::config::{self, Config, Lichess, LiveChess, Publish, Sent, Webhook};
use crate::events::Event;
use crate::laws::Language;
use crate::output::broadcast::{Broadcast, EventFacts, Files, page};
use crate::output::mqtt::payload::ClockPicture;
use crate::output::mqtt::{MqttConfig, is_open_to_all};
use crate::output::reports::Reports;
use crate::output::sight::Sight;
use crate::tournament::Tournament;
pub(crate) use desk::users::{Role, line as user_line};
pub(crate) use to_hall::{Answered, Setup, ToHall, Unanswered};
pub(crate) use web::listen;

/// All files at a moment.
type Snapshot = watch::Receiver<Arc<Files>>;

/// What the task is told, with the time of it.
#[derive(Debug)]
enum News {
    Events(Vec<Event>),
    Clock(String, ClockPicture),
    /// A board's serial number.
    Serial(String, String),
    /// How a board is.
    Sight(Box<Sight>),
    /// What the journal has of a board.
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
    held: Option<Vec<HeldNews>>,
    reports: Reports,
    /// The last reading of each clock that was told.
    clocks: BTreeMap<String, ClockPicture>,
    /// The round that was told.
    round: Option<u32>,
    /// What was told of the journals of a hub's daemons.
    kept: bool,
    /// How each board was when that was told; `None`: nobody wants to know.
    sights: Option<BTreeMap<String, Sight>>,
}

/// Tells the tasks.
#[derive(Debug, Clone)]
pub(crate) struct Outlet(Vec<mpsc::UnboundedSender<(Timestamp, Arc<News>)>>);

/// News that the tasks have not been told yet.
#[derive(Debug)]
pub(crate) struct HeldNews(Timestamp, News);

/// The tasks, to be waited for at the end.
#[derive(Debug)]
pub(crate) struct FeedTasks {
    tasks: Vec<JoinHandle<()>>,
}

/// What is to be done, by the configuration.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct FeedSettings {
    publish: Option<Publish>,
    lichess: Option<Lichess>,
    webhooks: Vec<Webhook>,
    alarms: Vec<config::Alarm>,
    /// What alarms by the broker go to.
    broker: Option<MqttConfig>,
    /// Of what people are told.
    language: Language,
    livechess: Option<LiveChess>,
    /// Where arbiters work, with the configuration that says where the games are.
    desk: Option<(config::Desk, Box<Config>)>,
    /// The boards are elsewhere, and so are journal and recordings.
    is_hub: bool,
    /// The delay of what has none of its own.
    delay: Duration,
    /// The folder in which is noted what others have.
    notes: PathBuf,
}

/// What happens within this time is published together.
const GATHERED: Duration = Duration::from_millis(150);
/// So long places may take at the end for what they have not got yet.
const MAX_FINISH: Duration = Duration::from_secs(5);

impl FeedSettings {
    pub(crate) fn of(config: &Config) -> Self {
        let usual = config.mqtt.as_ref().map(MqttConfig::public_delay);
        Self {
            publish: config.publish.clone(),
            lichess: config.lichess.clone(),
            livechess: config.livechess.clone(),
            desk: config.desk.clone().map(|desk| (desk, Box::new(config.clone()))),
            is_hub: false,
            delay: usual.unwrap_or_default(),
            webhooks: config.webhooks.clone(),
            alarms: config.alarms.clone(),
            broker: config.mqtt.clone(),
            language: config.event.language,
            notes: config.state_directory(),
        }
    }

    /// Serves the broadcast at that address, without a delay, and the desk of that configuration, and nothing else.
    pub(crate) fn showing(wall: Option<std::net::SocketAddr>, desk: Option<Config>) -> Self {
        let desk = desk.and_then(|config| Some((config.desk.clone()?, Box::new(config))));
        Self {
            publish: wall.map(Publish::serving),
            desk,
            ..Self::default()
        }
    }

    fn warn_of_open_secrets(&self) {
        let of_publish = self.publish.iter().flat_map(Publish::secrets);
        let of_lichess = self
            .lichess
            .iter()
            .filter_map(|lichess| lichess.token_file.as_deref());
        let of_webhooks = self
            .webhooks
            .iter()
            .filter_map(|webhook| webhook.token_file.as_deref());
        let of_desk = self.desk.iter().map(|(desk, _)| desk.users_file.as_path());
        let of_alarms = self.alarms.iter().filter_map(|alarm| alarm.to.token_file());
        let of_others = of_webhooks.chain(of_alarms);
        let all = of_publish.chain(of_lichess).chain(of_others).chain(of_desk);
        for file in all.filter(|file| is_open_to_all(file)) {
            let file = file.display();
            tracing::warn!(
                "{file} contains a secret and is readable by every user of this computer: run `chmod 640 {file}`"
            );
        }
    }

    /// The same where the boards are elsewhere: programs know LiveChess from beside them.
    pub(crate) fn of_hub(self) -> Self {
        Self {
            livechess: None,
            is_hub: true,
            ..self
        }
    }

    /// Whether there is anything to be done.
    pub(crate) const fn is_any(&self) -> bool {
        self.publish.is_some()
            || self.lichess.is_some()
            || self.livechess.is_some()
            || self.desk.is_some()
            || !self.webhooks.is_empty()
            || !self.alarms.is_empty()
    }
}

impl Feeds {
    /// Starts the tasks. What clients set up and ask goes to the hall. Must be called within a runtime.
    pub(crate) fn start(settings: FeedSettings, facts: &EventFacts, hall: ToHall) -> (Self, FeedTasks) {
        // Where several parts of a program bring cryptography along, one has to be chosen; it may have been.
        let _ = rustls::crypto::ring::default_provider().install_default();
        settings.warn_of_open_secrets();
        let reports = Reports::default();
        let (follow, told) = mpsc::unbounded_channel();
        let mut news = vec![follow];
        let mut follower = Follower {
            told,
            shows: BTreeMap::new(),
            facts: facts.clone(),
            paired: false,
        };
        let mut tasks = Vec::new();
        if let Some(publish) = settings.publish {
            let delay = publish.delay.unwrap_or(settings.delay);
            if publish.page {
                follower.bring_page(delay);
            }
            let files = follower.show(delay);
            for target in &publish.to {
                let place = store::Place::new(target.clone(), publish.clone());
                tasks.push(tokio::spawn(place.follow(files.clone(), reports.clone())));
            }
            if let Some(address) = publish.listen {
                // It serves as long as the program runs, and there is nothing to finish.
                tokio::spawn(web::serve(address, files));
            }
        }
        if let Some(lichess) = settings.lichess {
            let files = follower.show(lichess.delay.unwrap_or(settings.delay));
            let name = facts.name.clone();
            tasks.push(tokio::spawn(lichess::follow(
                lichess,
                settings.notes.join("lichess.json"),
                name,
                files,
                reports.clone(),
            )));
        }
        for webhook in settings.webhooks {
            let delay = webhook.delay.unwrap_or(settings.delay);
            tasks.push(match webhook.send {
                Sent::Pgn => {
                    let files = follower.show(delay);
                    tokio::spawn(webhook::follow_rounds(webhook, files, reports.clone()))
                }
                Sent::Events => {
                    let (follow, told) = mpsc::unbounded_channel();
                    news.push(follow);
                    let notes = settings.notes.join(format!("webhook-{}.json", webhook.name));
                    tokio::spawn(webhook::follow_events(
                        webhook,
                        delay,
                        notes,
                        told,
                        reports.clone(),
                    ))
                }
            });
        }
        for alarm in settings.alarms {
            let (follow, told) = mpsc::unbounded_channel();
            news.push(follow);
            let around = alarm::Around {
                language: settings.language,
                notes: settings.notes.clone(),
                broker: settings.broker.clone(),
                reports: reports.clone(),
            };
            tasks.push(tokio::spawn(alarm::follow(alarm, around, told)));
        }
        tasks.push(tokio::spawn(follower.work()));
        let wants_sights = settings.livechess.is_some() || settings.desk.is_some();
        if let Some((desk, config)) = settings.desk {
            let (follow, told) = mpsc::unbounded_channel();
            news.push(follow);
            desk::start((desk, *config, settings.is_hub), told, hall.clone());
        }
        if let Some(settings) = settings.livechess {
            let (follow, told) = mpsc::unbounded_channel();
            news.push(follow);
            livechess::start(settings, facts.clone(), told, hall.setups);
        }
        let feeds = Self {
            outlet: Outlet(news),
            held: None,
            reports,
            clocks: BTreeMap::new(),
            round: None,
            kept: true,
            sights: wants_sights.then(BTreeMap::new),
        };
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

    fn with(&self, held: Option<Vec<HeldNews>>) -> Self {
        Self {
            outlet: self.outlet.clone(),
            held,
            reports: self.reports.clone(),
            clocks: self.clocks.clone(),
            round: self.round,
            kept: self.kept,
            sights: self.sights.clone(),
        }
    }

    /// The news since this was called last, in their order.
    pub(crate) fn take_held(&mut self) -> Vec<HeldNews> {
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
            self.tell(now, News::Events(events.to_vec()));
        }
    }

    /// What the clock beside a board shows at `now`.
    pub(crate) fn take_clock(&mut self, now: Timestamp, board: &str, clock: ClockPicture) {
        let known = self.clocks.get(board);
        if known.is_none_or(|known| known.differs(&clock)) {
            self.clocks.insert(board.to_owned(), clock);
            self.tell(now, News::Clock(board.to_owned(), clock));
        }
    }

    /// A board's serial number.
    pub(crate) fn know(&mut self, now: Timestamp, board: &str, serial: Option<String>) {
        if let Some(serial) = serial {
            self.tell(now, News::Serial(board.to_owned(), serial));
        }
    }

    /// Whether somebody wants to know how boards are.
    pub(crate) const fn wants_sights(&self) -> bool {
        self.sights.is_some()
    }

    /// How a board is at `now`.
    pub(crate) fn see(&mut self, now: Timestamp, sight: Sight) {
        let Some(sights) = &mut self.sights else { return };
        let known = sights.get(&sight.name);
        if known.is_none_or(|known| known.differs(&sight)) {
            sights.insert(sight.name.clone(), sight.clone());
            self.tell(now, News::Sight(Box::new(sight)));
        }
    }

    /// What the journal has of a board, as it was at `now`.
    pub(crate) fn resume(&mut self, now: Timestamp, board: String, events: Vec<Event>) {
        self.tell(now, News::Past(board, events));
    }

    /// The recordings are played back from `now` on, and boards are watched after that; or, if not `restarts`, they are
    /// watched.
    pub(crate) fn restart(&mut self, now: Timestamp, restarts: bool) {
        self.tell(now, News::Restart(restarts));
    }

    /// These are the pairings from now on.
    pub(crate) fn pair(&mut self, now: Timestamp, tournament: Arc<Tournament>) {
        self.tell(now, News::Pairings(Some(tournament)));
    }

    /// The same where they could be read; else those before hold.
    pub(crate) fn pair_if(&mut self, now: Timestamp, tournament: Option<Arc<Tournament>>) {
        self.tell(now, News::Pairings(tournament));
    }

    /// Boards get pairings of this round from now on.
    pub(crate) fn seat(&mut self, now: Timestamp, round: Option<u32>) {
        if self.round != round {
            self.round = round;
            self.tell(now, News::Round(round));
        }
    }

    /// Whether the journals of all daemons that a hub hears take events.
    pub(crate) fn keep(&mut self, now: Timestamp, kept: bool) {
        if self.kept != kept {
            self.kept = kept;
            self.tell(now, News::Journals(kept));
        }
    }

    /// The event is called otherwise from now on.
    pub(crate) fn rename(&mut self, now: Timestamp, facts: EventFacts) {
        self.tell(now, News::Facts(facts));
    }

    /// The computer's clock was set forward by `by`.
    pub(crate) fn set_forward(&mut self, now: Timestamp, by: Duration) {
        self.tell(now, News::SetForward(by));
    }

    /// Time has come to `now`.
    pub(crate) fn tick(&mut self, now: Timestamp) {
        self.tell(now, News::Tick);
    }

    fn tell(&mut self, now: Timestamp, news: News) {
        let news = HeldNews(now, news);
        match &mut self.held {
            Some(held) => held.push(news),
            None => self.outlet.tell(news),
        }
    }
}

#[cfg(test)]
impl HeldNews {
    /// News of events; of none, that time passes.
    pub(crate) fn of(now: Timestamp, events: &[Event]) -> Self {
        match events {
            [] => Self(now, News::Tick),
            events => Self(now, News::Events(events.to_vec())),
        }
    }
}

impl Outlet {
    /// Tells the tasks.
    pub(crate) fn tell(&self, HeldNews(now, news): HeldNews) {
        let news = Arc::new(news);
        for task in &self.0 {
            // The task lives as long as somebody can tell it something.
            let _ = task.send((now, Arc::clone(&news)));
        }
    }

    /// Says whether the journal has all events that were told, and those that follow.
    pub(crate) fn say_kept(&self, now: Timestamp, kept: bool) {
        self.tell(HeldNews(now, News::Kept(kept)));
    }

    /// An outlet on which a test hears every event, and whether events are kept.
    #[cfg(test)]
    pub(crate) fn heard() -> (Self, impl FnMut() -> Vec<String>) {
        let (sender, mut told) = mpsc::unbounded_channel::<(Timestamp, Arc<News>)>();
        let hear = move || {
            let mut heard = Vec::new();
            while let Ok((_, news)) = told.try_recv() {
                match &*news {
                    News::Events(events) => heard.extend(events.iter().map(|event| event.seq.to_string())),
                    News::Kept(kept) => heard.push(format!("kept {kept}")),
                    News::Tick => heard.push("tick".to_owned()),
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

/// Waits until nothing changes any more. What changes until then is looked at later.
async fn closed(files: &mut Snapshot) {
    while files.changed().await.is_ok() {}
}

/// The games of all rounds.
fn rounds(files: &Files) -> impl Iterator<Item = (u32, Arc<[u8]>)> {
    files.iter().filter_map(|(path, file)| {
        let number = path.strip_prefix("round-")?.strip_suffix("/games.pgn")?;
        Some((number.parse().ok()?, Arc::clone(&file.content)))
    })
}

/// Follows what happens, and makes the files of it, once for each delay.
struct Follower {
    told: mpsc::UnboundedReceiver<(Timestamp, Arc<News>)>,
    shows: BTreeMap<Duration, (Broadcast, watch::Sender<Arc<Files>>)>,
    facts: EventFacts,
    /// The pairings are known. Without them a round would be seen with half of its games.
    paired: bool,
}

impl Follower {
    /// The files that are seen with that delay.
    fn show(&mut self, delay: Duration) -> Snapshot {
        self.shown(delay).1.subscribe()
    }

    /// The page is among them, from the beginning: who comes early waits there.
    fn bring_page(&mut self, delay: Duration) {
        let (show, files) = self.shown(delay);
        show.bring_page();
        files.send_replace(Arc::new(page::files()));
    }

    fn shown(&mut self, delay: Duration) -> &mut (Broadcast, watch::Sender<Arc<Files>>) {
        let facts = &self.facts;
        self.shows.entry(delay).or_insert_with(|| {
            let (sender, _) = watch::channel(Arc::default());
            (Broadcast::new(delay, facts.clone()), sender)
        })
    }

    async fn work(mut self) {
        while let Some((now, news)) = self.told.recv().await {
            let mut now = now;
            self.hear(now, &news);
            if self.shows.values_mut().any(|(show, _)| show.advance(now)) {
                // What is on its way belongs to the same move.
                tokio::time::sleep(GATHERED).await;
                while let Ok((at, news)) = self.told.try_recv() {
                    now = now.max(at);
                    self.hear(at, &news);
                }
            }
            for (show, files) in self.shows.values_mut() {
                if show.advance(now) && self.paired {
                    files.send_replace(Arc::new(show.files().clone()));
                }
            }
        }
    }

    fn hear(&mut self, now: Timestamp, news: &News) {
        self.paired |= matches!(news, News::Pairings(_));
        for (show, _) in self.shows.values_mut() {
            match news {
                News::Events(events) => events.iter().for_each(|event| show.take(now, event)),
                News::Clock(board, clock) => show.take_clock(now, board, clock),
                News::Serial(board, serial) => show.know(board, serial),
                News::Past(board, events) => show.resume(now, board, events),
                News::Pairings(Some(tournament)) => show.pair(Arc::clone(tournament)),
                News::Facts(facts) => show.rename(facts.clone()),
                News::SetForward(by) => show.set_forward(*by),
                News::Restart(restarts) => show.restart(*restarts),
                News::Pairings(None)
                | News::Round(_)
                | News::Sight(_)
                | News::Kept(_)
                | News::Journals(_)
                | News::Tick => {}
            }
        }
    }
}
