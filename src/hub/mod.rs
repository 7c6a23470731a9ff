//! `kiebitz hub`: broadcast and arbiters' desk for the boards of any number of daemons in any number of halls.
//!
//! The hub subscribes to the daemons' topics and feeds the same outputs as a daemon. It stores nothing: events from
//! before its start and missed events are requested from the daemons' journals. Actions at the desk become commands to
//! the daemon that has the board.

mod clocks;
mod daemons;
mod errands;
mod hearing;
mod remote_board;
mod tables;

use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use kiebitz_game::command::Answer;
use kiebitz_game::events::Event;
use kiebitz_hardware::Timestamp;
use tokio::sync::mpsc;

use crate::clock::ClockView;
use crate::config::{Config, HubHall};
use crate::daemon::report_repeats;
use crate::exit::Stop;
use crate::outputs::feeds::Feeds;
use crate::outputs::mqtt::{Prefix, Subscriber, SubscriberEvent};
use crate::outputs::shared::to_hall::{Request, ToHall, Unanswered};
use crate::system_time::{ClockStep, LiveTime, Moment, Now, moment};
use crate::tournament::files::PairingFiles;
use crate::tournament::watch::{self, ReadOutcome};
use daemons::Daemons;
use errands::{ANSWER_TIMEOUT, Errands, HallBoard};
use hearing::{EventPage, Hearing};
use remote_board::RemoteBoard;
use tables::HallTables;

/// Time span of the events that the hub requests. Older events belong to another tournament.
const EVENT_SPAN: Duration = Duration::from_secs(16 * 24 * 3600);
const TICK: Duration = Duration::from_secs(1);
/// Maximum number of boards, and of daemons, in all halls. Messages about others are ignored: whoever may publish could
/// name any number.
const MAX_KNOWN: usize = 2000;

/// Fails if `key` is new and there are too many known ones.
fn check_room<K: Ord, V>(known: &BTreeMap<K, V>, key: &K) -> Result<()> {
    if known.len() >= MAX_KNOWN && !known.contains_key(key) {
        bail!(
            "there are already {MAX_KNOWN} others: remove retained topics that are not needed from the broker"
        );
    }
    Ok(())
}

/// Upper bound for waiting commands.
const COMMANDS: usize = 64;

/// Runs until SIGINT or SIGTERM. Fails if no broker or no output is configured.
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
    // Outputs keep their notes there. If this fails, each of them reports it.
    let state = config.clone();
    let _ = tokio::task::spawn_blocking(move || state.make_state_directory()).await;
    let halls = match config.halls.as_slice() {
        [] => vec![HubHall {
            prefix: broker.prefix().clone(),
            name: None,
        }],
        halls => halls.to_vec(),
    };
    let tables = HallTables::of(&halls);
    let halls: Vec<Prefix> = halls.into_iter().map(|hall| hall.prefix).collect();
    let (requests, commands) = mpsc::channel(COMMANDS);
    let facts = config.event_facts();
    let time = LiveTime::start();
    let (mut feeds, tasks) = Feeds::start(settings, &facts, ToHall::of_commands(requests));
    let login = broker.user().map(str::to_owned);
    let subscriber = Subscriber::start(broker, "hub", topics(&halls, feeds.wants_statuses()));
    let pairings = watch::start(PairingFiles::new(config.pairings.clone(), None))?;
    if pairings.is_none() {
        feeds.pair(time.now(), tables.paired(Arc::default()));
    }
    let mut hub = Hub {
        time,
        halls,
        tables,
        login,
        subscriber,
        commands,
        feeds,
        pairings,
        boards: BTreeMap::new(),
        daemons: Daemons::default(),
        errands: Errands::default(),
    };
    // The broker is not connected yet.
    hub.daemons.connect(moment(), false);
    tracing::info!("the hub is listening; journals stay with the daemons");
    hub.work(&mut stop).await;
    drop(hub);
    tasks.finish().await;
    tracing::info!("the hub has stopped");
    Ok(())
}

/// Answers a command that no daemon can carry out.
fn refuse(request: Request, error: String) {
    let _ = request.answer.send(Ok(Answer {
        id: Some(request.command.id),
        ok: false,
        note: None,
        error: Some(error),
        standing: None,
        kept: true,
    }));
}

/// The topics to subscribe to; with `with_statuses` including placements and answers of daemons.
fn topics(halls: &[Prefix], with_statuses: bool) -> Vec<String> {
    let boards = ["events", "resent", "clock", "state"].as_slice();
    let more = ["placement", "answer"].as_slice();
    let more = if with_statuses { more } else { &[] };
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
    tables: HallTables,
    /// User name at the broker.
    login: Option<String>,
    subscriber: Subscriber,
    commands: mpsc::Receiver<Request>,
    feeds: Feeds,
    pairings: Option<mpsc::Receiver<ReadOutcome>>,
    boards: BTreeMap<HallBoard, HubBoard>,
    daemons: Daemons,
    errands: Errands,
}

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
                received = self.subscriber.next() => self.handle(self.time.present(), received),
                read = watch::next(&mut self.pairings) => {
                    let now = self.time.now();
                    let paired = watch::log_outcome(read).map(|read| self.tables.paired(read));
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

    fn set_clock(&mut self, ClockStep { at, micros }: ClockStep) {
        if let Ok(forward) = u64::try_from(micros) {
            let by = Duration::from_micros(forward);
            self.daemons.clocks.set_forward(by);
            self.feeds.set_forward(at, by);
        }
    }

    fn handle(&mut self, now: Now, received: SubscriberEvent) {
        match received {
            SubscriberEvent::Connected => {
                tracing::info!("connected to the MQTT broker");
                self.daemons.connect(now.moment, true);
                self.boards
                    .values_mut()
                    .for_each(|board| board.events.mark_behind());
                self.tick(now);
            }
            SubscriberEvent::Lost(reason) => {
                tracing::warn!("no connection to the MQTT broker: {reason}; retrying");
                self.daemons.connect(now.moment, false);
            }
            SubscriberEvent::Message {
                topic,
                payload,
                retained,
            } => {
                if let Err(error) = self.dispatch(now, &topic, &payload, retained) {
                    tracing::debug!(topic, "cannot parse the message on {topic}: {error}");
                }
            }
        }
    }

    /// Handles a message if its topic belongs to one of the halls.
    fn dispatch(&mut self, now: Now, topic: &str, payload: &[u8], retained: bool) -> Result<()> {
        for hall in 0..self.halls.len() {
            let Some(rest) = topic.strip_prefix(&format!("{}/", self.halls[hall])) else {
                continue;
            };
            let levels: Vec<&str> = rest.split('/').collect();
            match levels[..] {
                ["boards", board, last] => {
                    return self.handle_board_message(now, (hall, board.to_owned()), last, payload);
                }
                ["daemons", _, "state"] => {
                    self.daemons.update(now, hall, payload, retained)?;
                    self.update_outputs(now);
                }
                // The prefix of another hall may begin with the same levels.
                _ => {}
            }
        }
        Ok(())
    }

    fn handle_board_message(&mut self, now: Now, key: HallBoard, last: &str, payload: &[u8]) -> Result<()> {
        if last == "answer" {
            let answer: Answer = serde_json::from_slice(payload)?;
            if let Some(round) = self.errands.answer(&key, answer) {
                self.daemons.begin(round);
                self.update_outputs(now);
            }
            return Ok(());
        }
        check_room(&self.boards, &key)?;
        let name = self.name_of(&key);
        let board = self.boards.entry(key.clone()).or_insert_with(|| {
            let mut board = HubBoard::default();
            board.events.mark_behind();
            board
        });
        if board.remote.apply(last, payload)? {
            let serial = board.remote.state().and_then(remote_board::ReportedBoard::serial);
            if last == "state" {
                self.feeds.set_serial(now.time, &name, serial);
            }
            self.publish_status(now, &key);
        }
        if payload.is_empty() {
            return Ok(());
        }
        let Some(board) = self.boards.get_mut(&key) else {
            return Ok(());
        };
        let events = match last {
            "events" => board.events.add(serde_json::from_slice(payload)?),
            "resent" => board.events.read(serde_json::from_slice::<EventPage>(payload)?),
            "clock" => {
                let clock: ClockView = serde_json::from_slice(payload)?;
                self.feeds.send_clock(now.time, &name, clock);
                Vec::new()
            }
            _ => Vec::new(),
        };
        self.forward(now.time, &key, events, last == "events");
        self.request_missing(now, &key);
        Ok(())
    }

    /// The name of a board in the outputs. Boards of several halls may have the same name.
    fn name_of(&self, (hall, board): &HallBoard) -> String {
        match self.halls.get(*hall) {
            Some(prefix) if self.halls.len() > 1 => format!("{prefix}/{board}"),
            _ => board.clone(),
        }
    }

    /// Sends the status of a board to the outputs that want it.
    fn publish_status(&mut self, now: Now, key: &HallBoard) {
        if !self.feeds.wants_statuses() {
            return;
        }
        let name = self.name_of(key);
        let Some(remote) = self.boards.get(key).map(|board| &board.remote) else {
            return;
        };
        let daemon = remote.state().map(|state| &*state.daemon);
        let is_there = daemon.is_some_and(|daemon| self.daemons.is_there(now.moment, key.0, daemon));
        let desk = daemon.and_then(|daemon| self.daemons.desk(key.0, daemon));
        if let Some(mut status) = remote.status(name, is_there, desk) {
            status.table = status.table.map(|table| self.tables.at_hub(key.0, table));
            self.feeds.see(now.time, status);
        }
    }

    fn update_outputs(&mut self, now: Now) {
        for key in self.boards.keys().cloned().collect::<Vec<_>>() {
            self.publish_status(now, &key);
        }
        self.feeds.keep(now.time, self.daemons.all_store_events());
        self.feeds.set_round(now.time, self.daemons.round());
    }

    /// Sends a command to the daemon that has the board.
    fn send(&mut self, now: Moment, request: Request) {
        if request.answer.is_closed() {
            return;
        }
        let mut boards = self.boards.iter();
        // The result of a table without a game may be sent to any board, but belongs to the daemon of its hall.
        let hall = self.tables.hall_for(&request.command);
        let found = boards.find_map(|(key, board)| {
            let daemon = &board.remote.state()?.daemon;
            let is_wanted = match hall {
                Some(hall) => key.0 == hall,
                None => self.name_of(key) == request.board,
            };
            is_wanted.then(|| (key.clone(), daemon.clone()))
        });
        let Some((key, daemon)) = found else {
            let error = match hall.and_then(|hall| self.halls.get(hall)) {
                Some(hall) => format!("no board of {hall} is known yet"),
                None => format!("there is no board {:?}", request.board),
            };
            return refuse(request, error);
        };
        let Some(hall) = self.halls.get(key.0) else {
            return;
        };
        let topic = hall.command(&key.1, self.login.as_deref());
        let convert = |fields: &mut _| self.tables.convert_command(key.0, fields);
        let text = match errands::text(&request.command, &request.board, convert) {
            Ok(text) => text,
            Err(error) => return refuse(request, error.to_string()),
        };
        if self.daemons.are_connected() && self.daemons.is_gone(key.0, &daemon) {
            let _ = request.answer.send(Err(Unanswered::Away { daemon }));
        } else if self.daemons.are_connected()
            && self.subscriber.send_within(topic.clone(), text, ANSWER_TIMEOUT)
        {
            let timeout_error = Unanswered::Silent { daemon, topic };
            self.errands.wait(now, key, request, timeout_error);
        } else {
            let _ = request.answer.send(Err(Unanswered::NoBroker));
        }
    }

    /// Forwards events to the outputs, with their times converted to this computer's clock. `is_live` is true if the
    /// last event was published just now.
    fn forward(&mut self, now: Timestamp, key: &HallBoard, events: Vec<Event>, is_live: bool) {
        let name = self.name_of(key);
        let state = self.boards.get(key).and_then(|board| board.remote.state());
        // A board without a published state counts as a daemon of its own, with its own clock.
        let daemon = state.map_or_else(|| format!("board {}", key.1), |state| state.daemon.clone());
        let daemon = (key.0, daemon);
        if let Some(last) = events.last() {
            self.daemons.clocks.update(now, daemon.clone(), last.ts, is_live);
        }
        for mut event in events {
            let at = self.daemons.clocks.to_local(now, &daemon, event.ts);
            if self.halls.len() > 1 {
                event.game = event.game.take().map(|game| errands::game_of(&name, &game));
            }
            event.board.clone_from(&name);
            self.tables.convert_event(key.0, &mut event);
            self.feeds.send_events(at, &[event]);
        }
    }

    fn request_missing(&mut self, now: Now, key: &HallBoard) {
        let Some(board) = self.boards.get_mut(key) else {
            return;
        };
        let question = board
            .events
            .poll_request(now.moment, now.time.saturating_sub(EVENT_SPAN));
        if let (Some(question), Some(hall)) = (question, self.halls.get(key.0)) {
            self.subscriber
                .send(format!("{hall}/boards/{}/resend", key.1), question);
        }
    }

    fn tick(&mut self, now: Now) {
        report_repeats(now.moment);
        for key in self.boards.keys().cloned().collect::<Vec<_>>() {
            let board = self.boards.get_mut(&key);
            let unanswered = board.map(|board| board.events.poll_unanswered());
            self.forward(now.time, &key, unanswered.unwrap_or_default(), false);
            self.request_missing(now, &key);
        }
        self.errands.give_up(now.moment);
        self.update_outputs(now);
        self.feeds.tick(now.time);
    }
}
