//! The desk: the one task that owns all boards and stamps everything that comes in with its time.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::{Context, Result};
use kiebitz_hardware::capture::{Content, Direction, LineMode};
use kiebitz_hardware::port::SCAN_INTERVAL;
use kiebitz_hardware::{Line, Timestamp};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::MissedTickBehavior;

use super::beginning::Prepared;
use super::commands::{Commands, Said};
use super::day::Day;
use super::greeting::Greeting;
use super::log;
use super::lookout::Lookout;
use super::mqtt::Mqtt;
use super::pairings::Pairings;
use super::ports::{LineChange, PortId, Ports};
use super::post::Post;
use super::reload::{Hangup, Reload};
use super::resend::Resend;
use super::sights;
use super::situation::Situation;
use super::storage::Storage;
use super::tape::Tape;
use super::write_ahead::WriteAhead;
use crate::config::Config;
use crate::events::Event;
use crate::exit::Stop;
use crate::feeds::Feeds;
use crate::hall::{Hall, LineId};
use crate::journal::{Journal, NumbersFile};
use crate::output::mqtt::payload::ClockPicture;
use crate::output::mqtt::{BoardView, Message, MqttConfig};
use crate::output::status::Question;
use crate::port::{PortInput, PortOrder};
use crate::system_time::{LiveTime, Step};
use crate::tournament::watch::Read;

/// Owns the hall and everything that goes in and out.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) time: LiveTime,
    pub(super) hall: Hall,
    pub(super) ports: Ports,
    pub(super) post: Post,
    pub(super) ahead: WriteAhead<Ahead>,
    /// `None`: nothing is recorded.
    pub(super) tape: Option<Tape>,
    /// `None`: nothing is published.
    pub(super) mqtt: Option<Mqtt>,
    /// `None`: nothing is broadcast.
    pub(super) feeds: Option<Feeds>,
    pub(super) pairings: Pairings,
    pub(super) resend: Resend,
    pub(super) greeting: Greeting,
    pub(super) lookout: Lookout,
    pub(super) lines: BTreeMap<PortId, PortLine>,
    /// The answers to commands, which are published after what the commands led to.
    pub(super) answers: Vec<Message>,
    pub(super) storage: Storage,
    pub(super) situation: Situation,
    pub(super) day: Day,
    /// Something is asked for what the disk has, which did not answer in time.
    pub(super) late: Option<Late>,
}

/// Gets what the disk has once it answers.
pub(super) type Late = oneshot::Receiver<Result<Prepared>>;

/// A port and its line in the hall.
#[derive(Debug)]
pub(super) struct PortLine {
    device: PathBuf,
    line: LineId,
    /// Its name in recordings: as it is configured, else the device.
    path: String,
}

/// What waits until the bytes that led to it are recorded.
#[derive(Debug)]
pub(super) enum Ahead {
    /// Asking a board takes its changes away: what it said before must not be lost.
    Order(LineId, PortOrder),
    /// What is kept and published follows from what is recorded.
    Batch(Vec<Event>, Vec<Message>),
}

/// Why the desk has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// The program is to end.
    Stopped,
    /// A new day has begun, and nobody plays.
    NewDay,
}

/// How long to wait if nothing is due.
const IDLE: Duration = Duration::from_secs(3600);
/// So long the disks may take for the last events and bytes.
const MAX_FINISH: Duration = Duration::from_secs(2);

impl Desk {
    /// Hands on the journal and the file of numbers; `None`: they cannot be opened, which is tried again.
    pub(super) fn open(
        &mut self,
        commands: &mut Commands,
        journal: Option<Journal>,
        numbers: Option<NumbersFile>,
    ) {
        if let Some(journal) = &journal {
            commands.go_on(journal);
            self.pairings.go_on(journal);
        }
        self.post.open(journal, numbers);
    }

    /// Publishes what comes before all else, with events that are not kept.
    pub(super) fn begin(&mut self, unkept: Vec<Event>, first: Vec<Message>, broker: Option<&MqttConfig>) {
        if let (Some(mqtt), Some(broker)) = (&mut self.mqtt, broker) {
            mqtt.send_unsent(broker.prefix());
        }
        self.post.hold(self.time.now(), unkept, first);
    }

    /// Works until the program is stopped or a new day begins; then the desk is to be [closed](Self::close). `config` is
    /// the configuration that holds, which SIGHUP may change.
    ///
    /// # Errors
    ///
    /// When a disk that did not answer at the start says now that another daemon has the state directory, or that the
    /// journal's file is none of kiebitz.
    pub(super) async fn work(
        &mut self,
        mut inputs: mpsc::Receiver<(PortId, PortInput)>,
        commands: &mut Commands,
        questions: &mut Option<mpsc::Receiver<Question>>,
        stop: &mut Stop,
        (reload, config): (&mut Reload, &mut Config),
    ) -> Result<Ended> {
        let mut scan = tokio::time::interval(SCAN_INTERVAL);
        scan.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut written = self.tape.as_ref().map(Tape::written);
        let (mut kept, mut noted) = (self.post.kept(), self.post.noted());
        loop {
            let due = self.poll_deadline().unwrap_or_else(|| self.time.now() + IDLE);
            tokio::select! {
                biased;
                _ = stop.come() => return Ok(Ended::Stopped),
                hangup = reload.come() => match hangup {
                    Hangup::Read(read) => self.reload(config, *read),
                    Hangup::TerminalGone => return Ok(Ended::Stopped),
                },
                _ = scan.tick() => {
                    self.scan_ports();
                    if self.day.is_over(self.time.now()) && self.post.is_empty() && self.late.is_none() {
                        return Ok(Ended::NewDay);
                    }
                }
                Ok(()) = changed(&mut written) => {}
                Ok(()) = kept.changed() => {}
                Ok(()) = noted.changed() => {}
                Some(question) = asked(questions) => {
                    let at = (self.storage.state(), self.pairings.round());
                    // Nobody waits any more if it took too long.
                    let _ = question.send(self.situation.status(self.time.now(), at, &self.hall));
                }
                prepared = answered(&mut self.late) => {
                    let started = prepared?.started;
                    tracing::info!("the disk answers");
                    self.open(commands, started.journal, started.numbers);
                }
                read = self.pairings.next() => self.pair(read),
                Some((port, input)) = inputs.recv() => self.handle_input(port, input),
                said = commands.next() => {
                    if let Said::Resend(received) = &said {
                        self.resend.answer(received, self.hall.names_of_boards());
                    }
                    let answer = commands.carry_out(self.time.now(), &mut self.hall, self.pairings.seating(), said);
                    self.answers.extend(answer);
                }
                () = self.time.until(due) => {}
            }
            let now = self.time.now();
            self.hall.advance(now);
            self.settle(now);
        }
    }

    /// Other pairings hold from now on, if they could be read.
    fn pair(&mut self, read: Read) {
        let now = self.time.now();
        let paired = self.pairings.take(read);
        if let Some(feeds) = &self.feeds {
            feeds.pair_if(now, paired);
        }
    }

    fn poll_deadline(&self) -> Option<Timestamp> {
        let deadlines = [
            self.hall.poll_deadline(),
            self.greeting.poll_deadline(),
            self.mqtt.as_ref().and_then(Mqtt::poll_deadline),
            self.ahead.poll_deadline(),
            self.post.poll_deadline(),
        ];
        deadlines.into_iter().flatten().min()
    }

    /// Looks for ports that have come or gone, and does what is due at each scan.
    fn scan_ports(&mut self) {
        if let Some(step) = self.time.keep_up() {
            self.set_clock(step);
        }
        for change in self.ports.look() {
            match change {
                LineChange::Come {
                    id,
                    device,
                    path,
                    line,
                } => {
                    let line = self.hall.keep(&path, line);
                    self.lines.insert(id, PortLine { device, line, path });
                }
                LineChange::Gone(id) => {
                    if let Some(port_line) = self.lines.remove(&id) {
                        self.remove(&port_line, "unplugged");
                    }
                }
            }
        }
        let ports = self.lines.values().map(|port_line| &*port_line.path);
        if let Some(said) = self.lookout.look(self.time.now(), ports) {
            tracing::info!("{said}");
        }
        if let Some(tape) = &mut self.tape {
            tape.look(self.time.now());
        }
        self.pairings.look(self.time.now(), &mut self.hall);
        if let Some(feeds) = &mut self.feeds {
            let now = self.time.now();
            let names = self.hall.names_of_boards();
            sights::show(feeds, now, &mut self.hall, &self.pairings, &names);
            feeds.seat(now, self.pairings.round());
            feeds.tick(now);
        }
        if let Some(mqtt) = &mut self.mqtt {
            let at = (self.storage.state(), self.pairings.round());
            let health = self.situation.health(at);
            mqtt.announce(self.time.now(), &self.hall, health);
        }
        // Outside systemd this does nothing.
        let _ = sd_notify::notify(&[sd_notify::NotifyState::Watchdog]);
    }

    /// The computer's clock was set. Nobody has played meanwhile.
    fn set_clock(&mut self, step: Step) {
        let Step { at, micros } = step;
        let by = Duration::from_micros(micros.unsigned_abs());
        let (back, seconds) = (micros < 0, by.as_secs());
        if back {
            tracing::warn!("the computer's clock was set back by {seconds} s; the times of events go on");
        } else {
            tracing::warn!("the computer's clock was set forward by {seconds} s");
            if let Some(mqtt) = &mut self.mqtt {
                mqtt.set_forward(by);
            }
            if let Some(feeds) = &self.feeds {
                feeds.set_forward(at, by);
            }
        }
        for port_line in self.lines.values() {
            if self.hall.is_open(port_line.line)
                && let Some(tape) = &mut self.tape
            {
                let mode = self.hall.mode(port_line.line);
                tape.record(at, &port_line.path, mode, Content::ClockSet { micros });
            }
        }
        self.hall.set_clock(at, micros);
    }

    /// Handles what a port reports.
    fn handle_input(&mut self, port: PortId, input: PortInput) {
        let Some(port_line) = self.lines.get(&port) else {
            return;
        };
        let (now, line) = (self.time.now(), port_line.line);
        // Deadlines up to now come before what came now, as in a replay.
        self.hall.advance(now);
        let bytes = |direction, bytes: &[u8]| Content::Bytes {
            direction,
            bytes: bytes.to_vec(),
        };
        let (hall, tape) = (&mut self.hall, &mut self.tape);
        match input {
            PortInput::Refused(error) => {
                tracing::warn!("{error}");
                self.lookout.hear_refusal();
            }
            PortInput::Opened => {
                hall.open(now, line);
                record(hall, tape, now, port_line, Content::Opened);
            }
            PortInput::Received(chunk) => {
                record(hall, tape, now, port_line, bytes(Direction::Inbound, &chunk));
                hall.receive(now, line, &chunk);
            }
            PortInput::Written(chunk) => {
                record(hall, tape, now, port_line, bytes(Direction::Outbound, &chunk));
                hall.sent(now, line, &chunk);
            }
            PortInput::Closed(reason) => {
                tracing::info!("{}: {reason}", port_line.device.display());
                let closed = Content::Closed {
                    reason: reason.clone(),
                };
                record(hall, tape, now, port_line, closed);
                hall.close(now, line, &reason);
                // They were for the device that was there.
                self.ahead
                    .retain(|ahead| !matches!(ahead, Ahead::Order(to, _) if *to == line));
            }
        }
    }

    /// Passes on what follows from the input: orders to the ports, events and messages to the post.
    fn settle(&mut self, now: Timestamp) {
        self.note_modes(now);
        for (board, text) in self.greeting.due(now, |name| self.hall.board(name)) {
            self.hall.show(now, &board, &text);
        }
        let recorded = self.tape.as_ref().map_or(0, Tape::handed);
        while let Some((line, bytes)) = self.hall.poll_write(now) {
            let order = Ahead::Order(line, PortOrder::Write(bytes));
            self.ahead.hold(now, recorded, order);
        }
        while let Some((line, reason)) = self.hall.poll_close() {
            let order = Ahead::Order(line, PortOrder::Close(reason));
            self.ahead.hold(now, recorded, order);
        }
        let touched = self.hall.take_touched();
        let events = self.hall.take_events();
        let events: Vec<_> = events.into_iter().map(|said| said.event).collect();
        for event in &events {
            log::event(event);
            self.greeting.apply(event);
            self.lookout.hear(&event.kind);
            self.day.hear(now);
            self.pairings.hear(event);
        }
        self.broadcast(now, &events, &touched);
        let mut messages = self.mqtt.as_mut().map_or_else(Vec::new, |mqtt| {
            mqtt.messages(now, &events, &touched, &self.hall, &self.pairings)
        });
        messages.append(&mut self.answers);
        if !events.is_empty() || !messages.is_empty() {
            self.ahead.hold(now, recorded, Ahead::Batch(events, messages));
        }
        self.let_go(now);
        self.post.settle(now);
    }

    /// Tells the broadcast what has happened.
    fn broadcast(&mut self, now: Timestamp, events: &[Event], touched: &BTreeSet<String>) {
        let Some(feeds) = &mut self.feeds else { return };
        sights::show(feeds, now, &mut self.hall, &self.pairings, touched);
        let boards = || touched.iter().filter_map(|name| self.hall.board(name));
        feeds.take(now, events);
        for board in boards() {
            let view = BoardView::new(board.tracker(), None, None).later_by(board.ahead());
            feeds.take_clock(now, board.name(), ClockPicture::new(view.clock));
        }
    }

    /// Lets go what need not wait for the tape any more.
    fn let_go(&mut self, now: Timestamp) {
        let written = self.tape.as_ref().map_or(0, |tape| *tape.written().borrow());
        while let Some(ahead) = self.ahead.poll(now, written) {
            match ahead {
                Ahead::Order(line, order) => self.order(line, order),
                Ahead::Batch(events, messages) => self.post.hold(now, events, messages),
            }
        }
    }

    /// A line that was probed goes on in the recording as what it was found to be.
    fn note_modes(&mut self, now: Timestamp) {
        while let Some((line, mode)) = self.hall.poll_found_out() {
            let mut lines = self.lines.values();
            let Some(port_line) = lines.find(|port_line| port_line.line == line) else {
                continue;
            };
            let path = &port_line.path;
            if let Some(tape) = &mut self.tape {
                let reason = Line::PROBED.to_owned();
                tape.record(now, path, LineMode::Unknown, Content::Closed { reason });
                tape.record(now, path, mode, Content::Opened);
            }
            let found = match mode {
                LineMode::Bus => "boards in bus mode",
                LineMode::Single | LineMode::Unknown => "one board",
            };
            tracing::info!("{path}: {found}");
        }
    }

    fn order(&self, line: LineId, order: PortOrder) {
        let mut lines = self.lines.iter();
        if let Some((port, _)) = lines.find(|(_, port_line)| port_line.line == line) {
            self.ports.order(*port, order);
        }
    }

    fn remove(&mut self, port_line: &PortLine, reason: &str) {
        let now = self.time.now();
        if self.hall.is_open(port_line.line) {
            let reason = reason.to_owned();
            record(
                &self.hall,
                &mut self.tape,
                now,
                port_line,
                Content::Closed { reason },
            );
        }
        self.hall.remove(now, port_line.line, reason);
    }

    /// Closes all lines; what that leads to is kept, as far as the disks take it in time.
    pub(super) async fn close(mut self, ended: &Result<Ended>) {
        let reason = match ended {
            Ok(Ended::NewDay) => "kiebitz begins a new day",
            Ok(Ended::Stopped) | Err(_) => "kiebitz was stopped",
        };
        for (_, port_line) in core::mem::take(&mut self.lines) {
            self.remove(&port_line, reason);
        }
        let now = self.time.now();
        self.settle(now);
        if let Some(tape) = self.tape.take() {
            let (mut written, all) = (tape.written(), tape.handed());
            let wait = written.wait_for(|written| *written >= all);
            let _ = tokio::time::timeout(MAX_FINISH / 3, wait).await;
            self.let_go_all(now);
            tokio::join!(tape.finish(MAX_FINISH), self.post.finish(now, MAX_FINISH));
        } else {
            self.let_go_all(now);
            self.post.finish(now, MAX_FINISH).await;
        }
    }

    fn let_go_all(&mut self, now: Timestamp) {
        while let Some(ahead) = self.ahead.poll(now, u64::MAX) {
            if let Ahead::Batch(events, messages) = ahead {
                self.post.hold(now, events, messages);
            }
        }
    }
}

fn record(hall: &Hall, tape: &mut Option<Tape>, now: Timestamp, port_line: &PortLine, content: Content) {
    if let Some(tape) = tape {
        tape.record(now, &port_line.path, hall.mode(port_line.line), content);
    }
}

/// Who asks how things are.
async fn asked(questions: &mut Option<mpsc::Receiver<Question>>) -> Option<Question> {
    match questions {
        Some(questions) => questions.recv().await,
        None => core::future::pending().await,
    }
}

/// What the disk has; never, where it was there in time.
async fn answered(late: &mut Option<Late>) -> Result<Prepared> {
    let Some(answer) = late else {
        return core::future::pending().await;
    };
    let prepared = answer.await;
    *late = None;
    prepared.context("cannot start")?
}

async fn changed(written: &mut Option<watch::Receiver<u64>>) -> Result<(), watch::error::RecvError> {
    match written {
        Some(written) => written.changed().await,
        None => core::future::pending().await,
    }
}
