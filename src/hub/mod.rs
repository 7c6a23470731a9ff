//! `kiebitz hub`: the broadcast of one event from the boards of any number of daemons, in any number of halls.
//!
//! It reads what daemons publish, and makes of it what a daemon makes of its own boards. It keeps nothing: what was before it
//! was started, and what it has missed, it asks for, and the daemons have it in their journals.

mod hearing;

use core::time::Duration;
use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use kiebitz_hardware::Timestamp;
use serde::Deserialize;
use tokio::sync::mpsc;

use crate::config::Config;
use crate::events::Event;
use crate::exit::Stop;
use crate::feeds::{FeedSettings, Feeds, ToHall};
use crate::output::broadcast::EventFacts;
use crate::output::mqtt::payload::ClockPicture;
use crate::output::mqtt::{Heard, Prefix, Subscriber};
use crate::system_time::wall_time;
use crate::tournament::files::PairingFiles;
use crate::tournament::watch::{self, Read};
use hearing::{Hearing, Page};

/// What there was longer ago belongs to another event.
const EVENT: Duration = Duration::from_secs(16 * 24 * 3600);
const TICK: Duration = Duration::from_secs(1);

/// Works until SIGINT or SIGTERM.
///
/// # Errors
///
/// When nothing is configured that it could do, or that it could listen to.
pub(crate) async fn run(config: Config) -> Result<()> {
    let mut stop = Stop::listen().context("cannot wait for signals")?;
    let Some(broker) = config.mqtt.clone() else {
        bail!("a hub listens to a broker: write `[mqtt]` and `url = \"mqtt://HOST\"` into the configuration");
    };
    let settings = FeedSettings::of(&config).without_boards();
    if !settings.is_any() {
        bail!(
            "a hub publishes what it hears: write `[publish]`, `[lichess]`, `[[webhook]]` or `[[alarm]]` into the configuration (docs/broadcast.md)"
        );
    }
    let halls = match config.halls.as_slice() {
        [] => vec![broker.prefix().clone()],
        halls => halls.to_vec(),
    };
    let (feeds, tasks) = Feeds::start(settings, &EventFacts::of(&config.event), ToHall::nobody());
    let subscriber = Subscriber::start(broker, "hub", topics(&halls));
    let pairings = watch::start(PairingFiles::new(config.pairings.clone(), None))?;
    if pairings.is_none() {
        feeds.pair(wall_time(), Default::default());
    }
    let mut hub = Hub {
        halls,
        subscriber,
        feeds,
        pairings,
        boards: BTreeMap::new(),
    };
    tracing::info!("the hub listens; journals stay with the daemons");
    hub.work(&mut stop).await;
    drop(hub);
    tasks.finish().await;
    tracing::info!("the hub has stopped");
    Ok(())
}

/// What is listened to.
fn topics(halls: &[Prefix]) -> Vec<String> {
    let of =
        |hall: &Prefix| ["events", "resent", "clock", "state"].map(|last| format!("{hall}/boards/+/{last}"));
    halls.iter().flat_map(of).collect()
}

struct Hub {
    halls: Vec<Prefix>,
    subscriber: Subscriber,
    feeds: Feeds,
    pairings: Option<mpsc::Receiver<Read>>,
    /// By hall and the level in the topics.
    boards: BTreeMap<(usize, String), Hearing>,
}

/// What of a board's state matters here.
#[derive(Debug, Deserialize)]
struct State {
    serial: Option<String>,
}

impl Hub {
    async fn work(&mut self, stop: &mut Stop) {
        let mut tick = tokio::time::interval(TICK);
        loop {
            tokio::select! {
                biased;
                _ = stop.come() => return,
                heard = self.subscriber.next() => self.hear(heard),
                read = watch::next(&mut self.pairings) => {
                    let now = wall_time();
                    let paired = watch::told(read);
                    self.feeds.pair_if(now, paired);
                }
                _ = tick.tick() => self.tick(wall_time()),
            }
        }
    }

    fn hear(&mut self, heard: Heard) {
        let now = wall_time();
        match heard {
            Heard::Connected => {
                tracing::info!("the broker is connected");
                self.boards.values_mut().for_each(Hearing::doubt);
                self.tick(now);
            }
            Heard::Lost(reason) => tracing::warn!("the broker is not connected: {reason}"),
            Heard::Message { topic, payload } => {
                let place = self.halls.iter().enumerate().find_map(|(nth, hall)| {
                    let rest = topic.strip_prefix(&format!("{hall}/boards/"))?;
                    let (board, last) = rest.rsplit_once('/')?;
                    Some((nth, board.to_owned(), last.to_owned()))
                });
                if let Some((hall, board, last)) = place
                    && let Err(error) = self.take(now, (hall, board), &last, &payload)
                {
                    tracing::debug!(topic, "{topic} is not understood: {error}");
                }
            }
        }
    }

    fn take(&mut self, now: Timestamp, place: (usize, String), last: &str, payload: &[u8]) -> Result<()> {
        if payload.is_empty() {
            return Ok(());
        }
        let name = self.name_of(&place);
        let hearing = self.boards.entry(place.clone()).or_insert_with(|| {
            let mut hearing = Hearing::default();
            hearing.doubt();
            hearing
        });
        let events = match last {
            "events" => hearing.hear(serde_json::from_slice(payload)?),
            "resent" => hearing.read(serde_json::from_slice::<Page>(payload)?),
            "clock" => {
                let clock: ClockPicture = serde_json::from_slice(payload)?;
                self.feeds.take_clock(now, &name, clock);
                Vec::new()
            }
            "state" => {
                let State { serial } = serde_json::from_slice(payload)?;
                self.feeds.know(now, &name, serial);
                Vec::new()
            }
            _ => Vec::new(),
        };
        self.hand_on(now, &place, events);
        self.ask(now, &place);
        Ok(())
    }

    /// Boards of several halls may have the same name.
    fn name_of(&self, (hall, board): &(usize, String)) -> String {
        match self.halls.get(*hall) {
            Some(prefix) if self.halls.len() > 1 => format!("{prefix}/{board}"),
            _ => board.clone(),
        }
    }

    fn hand_on(&self, now: Timestamp, place: &(usize, String), mut events: Vec<Event>) {
        let name = self.name_of(place);
        for event in &mut events {
            if self.halls.len() > 1 {
                event.game = event.game.take().map(|game| format!("{name}: {game}"));
            }
            event.board.clone_from(&name);
        }
        self.feeds.take(now, &events);
    }

    fn ask(&mut self, now: Timestamp, place: &(usize, String)) {
        let Some(hearing) = self.boards.get_mut(place) else {
            return;
        };
        let question = hearing.poll_question(now, now.saturating_sub(EVENT));
        if let (Some(question), Some(hall)) = (question, self.halls.get(place.0)) {
            self.subscriber
                .ask(format!("{hall}/boards/{}/resend", place.1), question);
        }
    }

    fn tick(&mut self, now: Timestamp) {
        for place in self.boards.keys().cloned().collect::<Vec<_>>() {
            let unanswered = self.boards.get_mut(&place).map(Hearing::poll_unanswered);
            self.hand_on(now, &place, unanswered.unwrap_or_default());
            self.ask(now, &place);
        }
        self.feeds.tick(now);
    }
}
