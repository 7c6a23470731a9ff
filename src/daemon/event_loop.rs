//! The event loop: the task that owns all boards and stamps every input with the time of its arrival.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::{Context, Result};
use kiebitz_game::events::{Event, EventKind};
use kiebitz_game::hall::{Hall, LineId};
use kiebitz_hardware::capture::{Content, LineMode};
use kiebitz_hardware::port::SCAN_INTERVAL;
use kiebitz_hardware::{Line, Timestamp};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::MissedTickBehavior;

use super::beginning::Prepared;
use super::board_status;
use super::commands::{CommandSource, Commands};
use super::day::Day;
use super::gate::{Gate, Leaving};
use super::greeting::Greeting;
use super::late_input::{self, LATE};
use super::log;
use super::lookout::Lookout;
use super::mqtt::Mqtt;
use super::pairings::Pairings;
use super::ports::{LineChange, PortId, Ports};
use super::recorder::RecorderHandle;
use super::reload::{Hangup, Reload};
use super::resend::Resend;
use super::situation::Situation;
use super::storage::Storage;
use super::write_ahead::WriteAhead;
use crate::clock::ClockView;
use crate::config::Config;
use crate::exit::Stop;
use crate::journal::{Journal, SeqFile};
use crate::outputs::feeds::Feeds;
use crate::outputs::mqtt::{Message, MqttConfig};
use crate::outputs::status::Question;
use crate::port::{PortInput, PortOrder};
use crate::system_time::{ClockStep, LiveTime, Moment, Now, moment};
use crate::tournament::watch::ReadOutcome;

#[derive(Debug)]
pub(super) struct EventLoop {
    pub(super) time: LiveTime,
    pub(super) hall: Hall,
    pub(super) ports: Ports,
    pub(super) gate: Gate,
    pub(super) ahead: WriteAhead<Ahead>,
    /// `None` if recording is off.
    pub(super) recorder: Option<RecorderHandle>,
    /// `None` without a broker.
    pub(super) mqtt: Option<Mqtt>,
    /// `None` without outputs that follow the boards.
    pub(super) feeds: Option<Feeds>,
    pub(super) pairings: Pairings,
    pub(super) resend: Resend,
    pub(super) greeting: Greeting,
    pub(super) lookout: Lookout,
    pub(super) lines: BTreeMap<PortId, PortLine>,
    /// Announcements and answers that leave with the next batch, after the events of the batch.
    pub(super) leaving: Vec<Leaving>,
    pub(super) storage: Storage,
    pub(super) situation: Situation,
    pub(super) day: Day,
    /// Yields the preparation of a disk that did not answer in time.
    pub(super) late: Option<Late>,
}

/// Yields the result of the preparation once the disk answers.
pub(super) type Late = oneshot::Receiver<Result<Prepared>>;

#[derive(Debug)]
pub(super) struct PortLine {
    device: PathBuf,
    line: LineId,
    /// Name of the port in recordings: as configured, or else the device.
    path: String,
}

/// Items that wait until the recorder has the bytes that led to them.
#[derive(Debug)]
pub(super) enum Ahead {
    /// Must wait because a query makes a board discard the changes that it has reported, so that only the recording has
    /// them.
    Order(LineId, PortOrder),
    /// Must wait because a restart derives the events again from the recording.
    Batch(Vec<Event>, Vec<Leaving>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LoopEnd {
    Stopped,
    NewDay,
}

/// Sleeping time if no deadline is set.
const IDLE: Duration = Duration::from_secs(3600);
/// Time in which the tasks of the ports read the bytes that have arrived.
const READING: Duration = Duration::from_millis(50);
/// Grace period for the last writes at shutdown.
const MAX_FINISH: Duration = Duration::from_secs(2);

impl EventLoop {
    /// Passes the journal and the seq file to the parts that use them. `None` for a file that could not be opened;
    /// opening it is retried.
    pub(super) fn open(
        &mut self,
        commands: &mut Commands,
        journal: Option<Journal>,
        numbers: Option<SeqFile>,
    ) {
        if let Some(journal) = &journal {
            commands.restore(journal);
            self.pairings.restore(journal);
        }
        self.gate.open(journal, numbers);
    }

    /// Releases the first messages and the events that the journal could not store at the start.
    pub(super) fn begin(&mut self, unkept: Vec<Event>, first: Vec<Message>, broker: Option<&MqttConfig>) {
        if let (Some(mqtt), Some(broker)) = (&mut self.mqtt, broker) {
            mqtt.send_unsent(broker.prefix());
        }
        let now = self.time.present();
        if let Some(feeds) = &mut self.feeds {
            feeds.send_events(now.time, &unkept);
        }
        let mut leaving = self.take_feed_inputs();
        leaving.extend(first.into_iter().map(Leaving::Message));
        self.gate.hold(now, unkept, leaving);
    }

    /// Runs until the program stops or a new day begins; [close](Self::close) the event loop afterwards. `config` is
    /// the current configuration, which SIGHUP may change. Fails if a disk that answers only now shows that another
    /// daemon has the state directory, or that the journal's file does not belong to kiebitz.
    pub(super) async fn work(
        &mut self,
        mut inputs: mpsc::Receiver<(PortId, PortInput)>,
        commands: &mut Commands,
        questions: &mut Option<mpsc::Receiver<Question>>,
        stop: &mut Stop,
        (reload, config): (&mut Reload, &mut Config),
    ) -> Result<LoopEnd> {
        let mut scan = tokio::time::interval(SCAN_INTERVAL);
        scan.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut written = self.recorder.as_ref().map(RecorderHandle::written);
        let (mut kept, mut noted) = (self.gate.kept(), self.gate.noted());
        let mut handled_until = self.time.now();
        loop {
            let (due, later) = self.poll_deadlines();
            tokio::select! {
                biased;
                _ = stop.come() => return Ok(LoopEnd::Stopped),
                () = self.time.is_past(handled_until + LATE) => {
                    self.handle_late_inputs(handled_until, &mut inputs).await;
                }
                hangup = reload.next() => match hangup {
                    Hangup::Read(read) => self.reload(config, *read),
                    Hangup::TerminalGone => return Ok(LoopEnd::Stopped),
                },
                _ = scan.tick() => {
                    self.scan_ports(commands);
                    if self.day.is_over(self.time.present()) && self.gate.is_empty() && self.late.is_none() {
                        return Ok(LoopEnd::NewDay);
                    }
                }
                Ok(()) = changed(&mut written) => {}
                Ok(()) = kept.changed() => {}
                Ok(()) = noted.changed() => {}
                Some(question) = next_question(questions) => {
                    let at = (self.storage.state(), self.pairings.round());
                    let status = self.situation.status(self.time.now(), at, &self.hall);
                    self.leaving.push(Leaving::Status(question, Box::new(status)));
                }
                prepared = late_preparation(&mut self.late) => {
                    let started = prepared?.started;
                    tracing::info!("the disk answers again");
                    self.open(commands, started.journal, started.numbers);
                }
                read = self.pairings.next() => self.pair(read),
                Some((port, input)) = inputs.recv() => self.handle_input(self.time.now(), port, input),
                source = commands.next() => {
                    if let CommandSource::Resend(received) = &source {
                        self.resend.answer(received, self.hall.names_of_boards());
                    }
                    let answer = commands.carry_out(self.time.now(), &mut self.hall, &self.pairings, source);
                    let answer = answer.map(|(asker, answer)| Leaving::Answer(asker, answer));
                    self.leaving.extend(answer);
                }
                () = self.time.until(due) => {}
                () = later.reached() => {}
            }
            let now = self.time.present();
            self.hall.advance(now.time);
            handled_until = now.time;
            self.settle(now);
        }
    }

    /// Handles the inputs that have waited since `since`, while the event loop could not run.
    async fn handle_late_inputs(
        &mut self,
        since: Timestamp,
        inputs: &mut mpsc::Receiver<(PortId, PortInput)>,
    ) {
        // The tasks of the ports empty the buffers of their ports.
        tokio::time::sleep(READING).await;
        let mut late = Vec::new();
        while let Ok(input) = inputs.try_recv() {
            late.push(input);
        }
        let until = self.time.now();
        let seconds = until.saturating_duration_since(since).as_secs();
        tracing::warn!(
            "kiebitz could not run for {seconds} s, as the computer was busy: the times of what boards reported \
             meanwhile are estimated"
        );
        for (at, port, input) in late_input::spread(since, until, late) {
            self.handle_input(at, port, input);
        }
    }

    fn pair(&mut self, read: ReadOutcome) {
        let now = self.time.now();
        let paired = self.pairings.take(read);
        if let Some(feeds) = &mut self.feeds {
            feeds.pair_if(now, paired);
        }
    }

    /// Returns the next deadlines: one in the time of events, one on the monotonic clock.
    fn poll_deadlines(&self) -> (Timestamp, Moment) {
        let now = self.time.present();
        let of_events = [
            self.hall.poll_deadline(),
            self.mqtt.as_ref().and_then(Mqtt::poll_deadline),
        ];
        let others = [
            self.greeting.poll_deadline(),
            self.ahead.poll_deadline(),
            self.gate.poll_deadline(),
        ];
        let of_events = of_events.into_iter().flatten().min();
        let others = others.into_iter().flatten().min();
        (
            of_events.unwrap_or_else(|| now.time + IDLE),
            others.unwrap_or_else(|| now.moment + IDLE),
        )
    }

    /// Scans for added and removed ports, and does the other periodic work.
    fn scan_ports(&mut self, commands: &mut Commands) {
        if let Some(step) = self.time.keep_up() {
            self.set_clock(step);
        }
        for change in self.ports.scan() {
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
        if let Some(message) = self.lookout.check(moment(), ports) {
            tracing::info!("{message}");
        }
        let now = self.time.present();
        if let Some(recorder) = &mut self.recorder {
            recorder.check_progress(now);
        }
        let due = self.pairings.commands_due(self.time.now(), &self.hall);
        for (board, command) in due {
            commands.carry_out(
                self.time.now(),
                &mut self.hall,
                &self.pairings,
                CommandSource::Paired(board, command),
            );
        }
        if let Some(feeds) = &mut self.feeds {
            let now = self.time.now();
            let names = self.hall.names_of_boards();
            board_status::show(feeds, now, &mut self.hall, &self.pairings, &names);
            feeds.set_round(now, self.pairings.round());
            feeds.tick(now);
        }
        if let Some(mqtt) = &mut self.mqtt {
            let at = (self.storage.state(), self.pairings.round());
            let health = self.situation.health(at);
            let announced = mqtt.announce(self.time.now(), &self.hall, health);
            self.leaving.extend(announced.into_iter().map(Leaving::Message));
        }
        log::report_repeats(moment());
        // Outside systemd this does nothing.
        let _ = sd_notify::notify(&[sd_notify::NotifyState::Watchdog]);
    }

    /// Handles a step of the computer's clock. All earlier deadlines fire first; the step itself does not count as
    /// elapsed time.
    fn set_clock(&mut self, step: ClockStep) {
        let ClockStep { at, micros } = step;
        self.hall.advance(at);
        self.settle(Now {
            time: at,
            moment: moment(),
        });
        let by = Duration::from_micros(micros.unsigned_abs());
        let (back, seconds) = (micros < 0, by.as_secs());
        if back {
            tracing::warn!(
                "the computer's clock was set back by {seconds} s; the times of events do not go back"
            );
        } else {
            tracing::warn!("the computer's clock was set forward by {seconds} s");
            if let Some(mqtt) = &mut self.mqtt {
                mqtt.set_forward(by);
            }
            self.situation.started = self.situation.started + by;
            if let Some(feeds) = &mut self.feeds {
                feeds.set_forward(at, by);
            }
        }
        for port_line in self.lines.values() {
            if self.hall.is_open(port_line.line)
                && let Some(recorder) = &mut self.recorder
            {
                let mode = self.hall.mode(port_line.line);
                recorder.record(at, &port_line.path, mode, Content::ClockSet { micros });
            }
        }
        self.hall.set_clock(at, micros);
    }

    fn handle_input(&mut self, now: Timestamp, port: PortId, input: PortInput) {
        let Some(port_line) = self.lines.get(&port) else {
            return;
        };
        let line = port_line.line;
        // Deadlines up to now fire before the input, as in a replay.
        self.hall.advance(now);
        let content = match input {
            Ok(content) => content,
            Err(error) => {
                tracing::warn!("{error}");
                self.lookout.handle_refusal();
                return;
            }
        };
        let before = self.hall.mode(line);
        self.hall.handle(now, line, &content);
        if let Content::Closed { reason } = &content {
            tracing::info!("{}: {reason}", port_line.device.display());
            // The orders were for the device that was removed.
            self.ahead
                .retain(|ahead| !matches!(ahead, Ahead::Order(to, _) if *to == line));
        }
        if let Some(recorder) = &mut self.recorder {
            // Opening a port sets its mode. All other content was read in the mode that the line had before this input.
            let mode = match content {
                Content::Opened => self.hall.mode(line),
                _ => before,
            };
            recorder.record(now, &port_line.path, mode, content);
        }
    }

    /// Passes on the results of inputs: orders to the ports, and events with the messages about them to the gate.
    fn settle(&mut self, now: Now) {
        let Now { time, moment } = now;
        self.note_modes(time);
        for (board, text) in self.greeting.due(moment, |name| self.hall.board(name)) {
            self.hall.show(time, &board, &text);
        }
        let recorded = self.recorder.as_ref().map_or(0, RecorderHandle::handed);
        while let Some((line, bytes)) = self.hall.poll_write(time) {
            let order = Ahead::Order(line, PortOrder::Write(bytes));
            self.ahead.hold(moment, recorded, order);
        }
        while let Some((line, reason)) = self.hall.poll_close() {
            let order = Ahead::Order(line, PortOrder::Close(reason));
            self.ahead.hold(moment, recorded, order);
        }
        let touched = self.hall.take_touched();
        let events = self.hall.take_events();
        let events: Vec<_> = events.into_iter().map(|explained| explained.event).collect();
        for event in &events {
            log::event(event);
            if matches!(event.kind, EventKind::BoardConnected { .. }) {
                log::same_number(&event.board, self.hall.namesakes(&event.board));
            }
            self.greeting.apply(moment, event);
            self.lookout.handle_event(&event.kind);
            self.day.handle_event(now);
            self.pairings.apply(event);
        }
        self.broadcast(time, &events, &touched);
        let mut leaving = self.take_feed_inputs();
        let messages = self.mqtt.as_mut().map_or_else(Vec::new, |mqtt| {
            mqtt.messages(time, &events, &touched, &self.hall, &self.pairings)
        });
        leaving.extend(messages.into_iter().map(Leaving::Message));
        leaving.append(&mut self.leaving);
        if !events.is_empty() || !leaving.is_empty() {
            self.ahead.hold(moment, recorded, Ahead::Batch(events, leaving));
        }
        self.release_recorded(now);
        self.gate.settle(now);
    }

    /// Takes the inputs for outputs that have accumulated since the last call.
    fn take_feed_inputs(&mut self) -> Vec<Leaving> {
        let news = self.feeds.as_mut().map(Feeds::take_held).unwrap_or_default();
        news.into_iter().map(Leaving::News).collect()
    }

    fn broadcast(&mut self, now: Timestamp, events: &[Event], touched: &BTreeSet<String>) {
        let Some(feeds) = &mut self.feeds else { return };
        board_status::show(feeds, now, &mut self.hall, &self.pairings, touched);
        let boards = || touched.iter().filter_map(|name| self.hall.board(name));
        feeds.send_events(now, events);
        for board in boards() {
            feeds.send_clock(now, board.name(), ClockView::new(board.clock()));
        }
    }

    /// Releases items for which the recorder has written the chunks, or that have waited too long.
    fn release_recorded(&mut self, now: Now) {
        let written = self
            .recorder
            .as_ref()
            .map_or(0, |recorder| *recorder.written().borrow());
        while let Some(ahead) = self.ahead.poll(now.moment, written) {
            match ahead {
                Ahead::Order(line, order) => self.order(line, order),
                Ahead::Batch(events, leaving) => self.gate.hold(now, events, leaving),
            }
        }
    }

    /// Records the mode of each line whose probing has just ended.
    fn note_modes(&mut self, now: Timestamp) {
        while let Some((line, mode)) = self.hall.poll_found_out() {
            let mut lines = self.lines.values();
            let Some(port_line) = lines.find(|port_line| port_line.line == line) else {
                continue;
            };
            let path = &port_line.path;
            if let Some(recorder) = &mut self.recorder {
                let reason = Line::PROBED.to_owned();
                recorder.record(now, path, LineMode::Unknown, Content::Closed { reason });
                recorder.record(now, path, mode, Content::Opened);
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
                &mut self.recorder,
                now,
                port_line,
                Content::Closed { reason },
            );
        }
        self.hall.remove(now, port_line.line, reason);
    }

    /// Closes all lines and stores the resulting events, as far as the disks accept them in time.
    pub(super) async fn close(mut self, ended: &Result<LoopEnd>) {
        let reason = match ended {
            Ok(LoopEnd::NewDay) => "kiebitz begins a new day",
            Ok(LoopEnd::Stopped) | Err(_) => "kiebitz was stopped",
        };
        for (_, port_line) in core::mem::take(&mut self.lines) {
            self.remove(&port_line, reason);
        }
        let now = self.time.present();
        self.settle(now);
        if let Some(recorder) = self.recorder.take() {
            let (mut written, all) = (recorder.written(), recorder.handed());
            let wait = written.wait_for(|written| *written >= all);
            let _ = tokio::time::timeout(MAX_FINISH / 3, wait).await;
            self.release_all(now);
            tokio::join!(recorder.finish(MAX_FINISH), self.gate.finish(now, MAX_FINISH));
        } else {
            self.release_all(now);
            self.gate.finish(now, MAX_FINISH).await;
        }
    }

    fn release_all(&mut self, now: Now) {
        while let Some(ahead) = self.ahead.poll(now.moment, u64::MAX) {
            if let Ahead::Batch(events, leaving) = ahead {
                self.gate.hold(now, events, leaving);
            }
        }
    }
}

fn record(
    hall: &Hall,
    recorder: &mut Option<RecorderHandle>,
    now: Timestamp,
    port_line: &PortLine,
    content: Content,
) {
    if let Some(recorder) = recorder {
        recorder.record(now, &port_line.path, hall.mode(port_line.line), content);
    }
}

/// Waits for the next question about the daemon's status; forever if no output can ask one.
async fn next_question(questions: &mut Option<mpsc::Receiver<Question>>) -> Option<Question> {
    match questions {
        Some(questions) => questions.recv().await,
        None => core::future::pending().await,
    }
}

/// Waits for the late result of the preparation; forever if none is expected.
async fn late_preparation(late: &mut Option<Late>) -> Result<Prepared> {
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
