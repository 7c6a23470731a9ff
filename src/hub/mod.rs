//! `kiebitz hub`: the broadcast and the arbiters' desk of one event from the boards of any number of daemons, in any number
//! of halls.
//!
//! It reads what daemons publish, and makes of it what a daemon makes of its own boards. It keeps nothing: what was before it
//! was started, and what it has missed, it asks for, and the daemons have it in their journals. What somebody does at the desk
//! is a command to the daemon that has the board.

mod clocks;
mod daemons;
mod errands;
mod hearing;
mod remote_board;

use core::time::Duration;
use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use kiebitz_game::command::Answer;
use kiebitz_game::events::Event;
use kiebitz_hardware::Timestamp;
use tokio::sync::mpsc;

use crate::clock::ClockView;
use crate::config::Config;
use crate::exit::Stop;
use crate::outputs::broadcast::EventFacts;
use crate::outputs::feeds::Feeds;
use crate::outputs::mqtt::{Heard, Prefix, Subscriber};
use crate::outputs::shared::to_hall::{Request, ToHall, Unanswered};
use crate::system_time::{ClockStep, LiveTime, Moment, Now, moment};
use crate::tournament::files::PairingFiles;
use crate::tournament::watch::{self, ReadOutcome};
use daemons::Daemons;
use errands::{Errands, HallBoard, PATIENCE};
use hearing::{EventPage, Hearing};
use remote_board::RemoteBoard;

/// What there was longer ago belongs to another event.
const EVENT: Duration = Duration::from_secs(16 * 24 * 3600);
const TICK: Duration = Duration::from_secs(1);
/// So many commands may wait.
const COMMANDS: usize = 64;

/// Works until SIGINT or SIGTERM.
///
/// # Errors
///
/// Fails if nothing is configured that it could do, or that it could listen to.
pub(crate) async fn run(config: Config) -> Result<()> {
    let mut stop = Stop::listen().context("cannot wait for signals")?;
    let Some(broker) = config.mqtt.clone() else {
        bail!(
            "a hub needs a broker to listen to: add `[mqtt]` and `url = \"mqtt://HOST\"` to the configuration"
        );
    };
    let settings = config.outputs(None);
    if !settings.is_any() {
        bail!(
            "a hub needs an output: add `[publish]`, `[desk]`, `[lichess]`, `[[webhook]]` or `[[alarm]]` to the \
             configuration (docs/halls.md)"
        );
    }
    let halls = match config.halls.as_slice() {
        [] => vec![broker.prefix().clone()],
        halls => halls.to_vec(),
    };
    let (requests, commands) = mpsc::channel(COMMANDS);
    let facts = EventFacts::of(&config.event);
    let time = LiveTime::start();
    let (mut feeds, tasks) = Feeds::start(settings, &facts, ToHall::of_commands(requests));
    let login = broker.user().map(str::to_owned);
    let subscriber = Subscriber::start(broker, "hub", topics(&halls, feeds.wants_statuses()));
    let pairings = watch::start(PairingFiles::new(config.pairings.clone(), None))?;
    if pairings.is_none() {
        feeds.pair(time.now(), Default::default());
    }
    let mut hub = Hub {
        time,
        halls,
        login,
        subscriber,
        commands,
        feeds,
        pairings,
        boards: BTreeMap::new(),
        daemons: Daemons::default(),
        errands: Errands::default(),
    };
    // The first connection is still to be made.
    hub.daemons.connect(moment(), false);
    tracing::info!("the hub is listening; journals stay with the daemons");
    hub.work(&mut stop).await;
    drop(hub);
    tasks.finish().await;
    tracing::info!("the hub has stopped");
    Ok(())
}

/// What is listened to; `with_sights`: also what tells how boards are, and what daemons answer.
fn topics(halls: &[Prefix], with_sights: bool) -> Vec<String> {
    let boards = ["events", "resent", "clock", "state"].as_slice();
    let more = ["placement", "answer"].as_slice();
    let more = if with_sights { more } else { &[] };
    let of = |hall: &Prefix| {
        let of_boards = boards.iter().chain(more);
        let of_boards = of_boards.map(|last| format!("{hall}/boards/+/{last}"));
        of_boards
            .chain([format!("{hall}/daemons/+/state")])
            .collect::<Vec<_>>()
    };
    halls.iter().flat_map(of).collect()
}

struct Hub {
    time: LiveTime,
    halls: Vec<Prefix>,
    /// As whom the broker knows this hub.
    login: Option<String>,
    subscriber: Subscriber,
    /// What people at the desk want.
    commands: mpsc::Receiver<Request>,
    feeds: Feeds,
    pairings: Option<mpsc::Receiver<ReadOutcome>>,
    boards: BTreeMap<HallBoard, HubBoard>,
    daemons: Daemons,
    errands: Errands,
}

/// What is heard of a board.
#[derive(Debug, Default)]
struct HubBoard {
    events: Hearing,
    remote: RemoteBoard,
}

impl Hub {
    async fn work(&mut self, stop: &mut Stop) {
        let mut tick = tokio::time::interval(TICK);
        loop {
            tokio::select! {
                biased;
                _ = stop.come() => return,
                Some(request) = self.commands.recv() => self.send(moment(), request),
                heard = self.subscriber.next() => self.hear(self.time.present(), heard),
                read = watch::next(&mut self.pairings) => {
                    let now = self.time.now();
                    let paired = watch::log_outcome(read);
                    self.feeds.pair_if(now, paired);
                }
                _ = tick.tick() => {
                    if let Some(step) = self.time.keep_up() {
                        self.set_clock(step);
                    }
                    self.tick(self.time.present());
                }
            }
        }
    }

    /// Follows a step of the computer's clock. No time passes in it.
    fn set_clock(&mut self, ClockStep { at, micros }: ClockStep) {
        if let Ok(forward) = u64::try_from(micros) {
            let by = Duration::from_micros(forward);
            self.daemons.clocks.set_forward(by);
            self.feeds.set_forward(at, by);
        }
    }

    fn hear(&mut self, now: Now, heard: Heard) {
        match heard {
            Heard::Connected => {
                tracing::info!("connected to the MQTT broker");
                self.daemons.connect(now.moment, true);
                self.boards.values_mut().for_each(|board| board.events.doubt());
                self.tick(now);
            }
            Heard::Lost(reason) => {
                tracing::warn!("no connection to the MQTT broker: {reason}; retrying");
                self.daemons.connect(now.moment, false);
            }
            Heard::Message {
                topic,
                payload,
                retained,
            } => {
                if let Err(error) = self.read(now, &topic, &payload, retained) {
                    tracing::debug!(topic, "cannot parse the message on {topic}: {error}");
                }
            }
        }
    }

    /// Reads a message from one of the halls.
    fn read(&mut self, now: Now, topic: &str, payload: &[u8], retained: bool) -> Result<()> {
        for hall in 0..self.halls.len() {
            let Some(rest) = topic.strip_prefix(&format!("{}/", self.halls[hall])) else {
                continue;
            };
            let levels: Vec<&str> = rest.split('/').collect();
            match levels[..] {
                ["boards", board, last] => {
                    return self.take(now, (hall, board.to_owned()), last, payload);
                }
                ["daemons", _, "state"] => {
                    self.daemons.hear(now, hall, payload, retained)?;
                    self.look(now);
                }
                // Another hall's prefix may begin with the same levels.
                _ => {}
            }
        }
        Ok(())
    }

    fn take(&mut self, now: Now, place: HallBoard, last: &str, payload: &[u8]) -> Result<()> {
        if last == "answer" {
            let answer: Answer = serde_json::from_slice(payload)?;
            if let Some(round) = self.errands.answer(&place, answer) {
                self.daemons.begin(round);
                self.look(now);
            }
            return Ok(());
        }
        let name = self.name_of(&place);
        let board = self.boards.entry(place.clone()).or_insert_with(|| {
            let mut board = HubBoard::default();
            board.events.doubt();
            board
        });
        if board.remote.hear(last, payload)? {
            let serial = board.remote.state().and_then(remote_board::ReportedBoard::serial);
            if last == "state" {
                self.feeds.know(now.time, &name, serial);
            }
            self.show(now, &place);
        }
        if payload.is_empty() {
            return Ok(());
        }
        let Some(board) = self.boards.get_mut(&place) else {
            return Ok(());
        };
        let events = match last {
            "events" => board.events.hear(serde_json::from_slice(payload)?),
            "resent" => board.events.read(serde_json::from_slice::<EventPage>(payload)?),
            "clock" => {
                let clock: ClockView = serde_json::from_slice(payload)?;
                self.feeds.take_clock(now.time, &name, clock);
                Vec::new()
            }
            _ => Vec::new(),
        };
        self.hand_on(now.time, &place, events, last == "events");
        self.ask(now, &place);
        Ok(())
    }

    /// Boards of several halls may have the same name.
    fn name_of(&self, (hall, board): &HallBoard) -> String {
        match self.halls.get(*hall) {
            Some(prefix) if self.halls.len() > 1 => format!("{prefix}/{board}"),
            _ => board.clone(),
        }
    }

    /// Shows how a board is to who wants to see it.
    fn show(&mut self, now: Now, place: &HallBoard) {
        if !self.feeds.wants_statuses() {
            return;
        }
        let name = self.name_of(place);
        let Some(remote) = self.boards.get(place).map(|board| &board.remote) else {
            return;
        };
        let daemon = remote.state().map(|state| &*state.daemon);
        let is_there = daemon.is_some_and(|daemon| self.daemons.is_there(now.moment, place.0, daemon));
        if let Some(status) = remote.status(name, is_there) {
            self.feeds.see(now.time, status);
        }
    }

    /// Looks whether daemons have come or gone, and which round it is.
    fn look(&mut self, now: Now) {
        for place in self.boards.keys().cloned().collect::<Vec<_>>() {
            self.show(now, &place);
        }
        self.feeds.keep(now.time, self.daemons.keep());
        self.feeds.set_round(now.time, self.daemons.round());
    }

    /// Sends a command to the daemon that has the board.
    fn send(&mut self, now: Moment, request: Request) {
        // Nobody waits for it any more.
        if request.answer.is_closed() {
            return;
        }
        let mut places = self.boards.iter();
        let found = places.find_map(|(place, board)| {
            let daemon = &board.remote.state()?.daemon;
            (self.name_of(place) == request.board).then(|| (place.clone(), daemon.clone()))
        });
        let Some((place, daemon)) = found else {
            let error = Some(format!("there is no board {:?}", request.board));
            let _ = request.answer.send(Ok(Answer {
                id: Some(request.command.id),
                ok: false,
                note: None,
                error,
                standing: None,
                kept: true,
            }));
            return;
        };
        let Some(hall) = self.halls.get(place.0) else {
            return;
        };
        let topic = hall.command(&place.1, self.login.as_deref());
        let text = errands::text(&request.command, &request.board);
        if self.daemons.are_connected() && self.daemons.is_gone(place.0, &daemon) {
            let _ = request.answer.send(Err(Unanswered::Away { daemon }));
        } else if self.daemons.are_connected() && self.subscriber.ask_within(topic.clone(), text, PATIENCE) {
            let silent = Unanswered::Silent { daemon, topic };
            self.errands.wait(now, place, request, silent);
        } else {
            let _ = request.answer.send(Err(Unanswered::NoBroker));
        }
    }

    /// Hands events on, each as of when it was published. `is_live`: the last of them was just now.
    fn hand_on(&mut self, now: Timestamp, place: &HallBoard, events: Vec<Event>, is_live: bool) {
        let name = self.name_of(place);
        let state = self.boards.get(place).and_then(|board| board.remote.state());
        // One that does not say whose it is has a clock of its own, as far as anybody knows.
        let daemon = state.map_or_else(|| format!("board {}", place.1), |state| state.daemon.clone());
        let daemon = (place.0, daemon);
        if let Some(last) = events.last() {
            self.daemons.clocks.hear(now, daemon.clone(), last.ts, is_live);
        }
        for mut event in events {
            let at = self.daemons.clocks.here(now, &daemon, event.ts);
            if self.halls.len() > 1 {
                event.game = event.game.take().map(|game| errands::game_of(&name, &game));
            }
            event.board.clone_from(&name);
            self.feeds.take(at, &[event]);
        }
    }

    fn ask(&mut self, now: Now, place: &HallBoard) {
        let Some(board) = self.boards.get_mut(place) else {
            return;
        };
        let question = board
            .events
            .poll_question(now.moment, now.time.saturating_sub(EVENT));
        if let (Some(question), Some(hall)) = (question, self.halls.get(place.0)) {
            self.subscriber
                .ask(format!("{hall}/boards/{}/resend", place.1), question);
        }
    }

    fn tick(&mut self, now: Now) {
        for place in self.boards.keys().cloned().collect::<Vec<_>>() {
            let board = self.boards.get_mut(&place);
            let unanswered = board.map(|board| board.events.poll_unanswered());
            self.hand_on(now.time, &place, unanswered.unwrap_or_default(), false);
            self.ask(now, &place);
        }
        self.errands.give_up(now.moment);
        self.look(now);
        self.feeds.tick(now.time);
    }
}
