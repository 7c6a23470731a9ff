//! The desk: the one task that owns all boards and stamps everything that comes in with its time.

use core::time::Duration;
use std::collections::BTreeMap;
use std::path::PathBuf;

use kiebitz_hardware::capture::{Content, Direction, LineMode};
use kiebitz_hardware::port::SCAN_INTERVAL;
use kiebitz_hardware::{Line, Timestamp};
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;

use super::archive::{Archive, Batch};
use super::greeting::Greeting;
use super::log;
use super::mqtt::Mqtt;
use super::ports::{LineChange, PortId, Ports};
use super::tape::Tape;
use crate::exit::Stop;
use crate::hall::{Hall, LineId};
use crate::port::{PortInput, PortOrder};
use crate::system_time::LiveTime;

/// Owns the hall and everything that goes in and out.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) time: LiveTime,
    pub(super) hall: Hall,
    pub(super) ports: Ports,
    pub(super) archive: Archive,
    /// `None`: nothing is recorded.
    pub(super) tape: Option<Tape>,
    /// `None`: nothing is published.
    pub(super) mqtt: Option<Mqtt>,
    pub(super) greeting: Greeting,
    pub(super) lines: BTreeMap<PortId, PortLine>,
}

/// A port and its line in the hall.
#[derive(Debug)]
pub(super) struct PortLine {
    device: PathBuf,
    line: LineId,
    /// Its name in recordings.
    name: String,
}

/// How long to wait if nothing is due.
const IDLE: Duration = Duration::from_secs(3600);

impl Desk {
    /// Works until the program is stopped, then closes all lines; the archive gets what that leads to.
    pub(super) async fn work(mut self, mut inputs: mpsc::Receiver<(PortId, PortInput)>, mut stop: Stop) {
        let mut scan = tokio::time::interval(SCAN_INTERVAL);
        scan.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let due = self.poll_deadline().unwrap_or_else(|| self.time.now() + IDLE);
            tokio::select! {
                biased;
                _ = stop.come() => break,
                _ = scan.tick() => self.scan_ports(),
                Some((port, input)) = inputs.recv() => self.handle_input(port, input),
                () = self.time.until(due) => {}
            }
            let now = self.time.now();
            self.hall.advance(now);
            self.settle(now);
        }
        self.close();
    }

    fn poll_deadline(&self) -> Option<Timestamp> {
        let greeting = self.greeting.poll_deadline();
        let public = self.mqtt.as_ref().and_then(Mqtt::poll_deadline);
        let deadlines = [self.hall.poll_deadline(), greeting, public];
        deadlines.into_iter().flatten().min()
    }

    /// Looks for ports that have come or gone, and does what is due at each scan.
    fn scan_ports(&mut self) {
        if let Some(forward) = self.time.keep_up() {
            tracing::warn!("the computer's clock was set forward by {} s", forward.as_secs());
            if let Some(mqtt) = &mut self.mqtt {
                mqtt.set_forward(forward);
            }
        }
        for change in self.ports.look() {
            match change {
                LineChange::Come {
                    id,
                    device,
                    path,
                    name,
                    line,
                } => {
                    let line = self.hall.add(&path, Line::keeping(line));
                    self.lines.insert(id, PortLine { device, line, name });
                }
                LineChange::Gone(id) => {
                    if let Some(port_line) = self.lines.remove(&id) {
                        self.remove(&port_line, "unplugged");
                    }
                }
            }
        }
        if let Some(mqtt) = &mut self.mqtt {
            mqtt.announce(self.time.now(), &self.hall);
        }
        // Outside systemd this does nothing.
        let _ = sd_notify::notify(&[sd_notify::NotifyState::Watchdog]);
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
        match input {
            PortInput::Refused(error) => tracing::warn!("{error}"),
            PortInput::Opened => {
                self.hall.open(now, line);
                self.record(now, port_line, Content::Opened);
            }
            PortInput::Received(chunk) => {
                self.record(now, port_line, bytes(Direction::Inbound, &chunk));
                self.hall.receive(now, line, &chunk);
            }
            PortInput::Written(chunk) => {
                self.record(now, port_line, bytes(Direction::Outbound, &chunk));
                self.hall.sent(now, line, &chunk);
            }
            PortInput::Closed(reason) => {
                tracing::info!("{}: {reason}", port_line.device.display());
                self.record(
                    now,
                    port_line,
                    Content::Closed {
                        reason: reason.clone(),
                    },
                );
                self.hall.close(now, line, &reason);
            }
        }
    }

    /// Passes on what follows from the input: orders to the ports, events and messages to the archive.
    fn settle(&mut self, now: Timestamp) {
        while let Some((line, mode)) = self.hall.poll_found_out() {
            if let Some((_, port_line)) = self.port_line(line) {
                let reason = Line::PROBED.to_owned();
                if let Some(tape) = &self.tape {
                    let before = LineMode::Unknown;
                    tape.record(now, &port_line.name, before, Content::Closed { reason });
                    tape.record(now, &port_line.name, mode, Content::Opened);
                }
                let found = match mode {
                    LineMode::Bus => "boards in bus mode",
                    LineMode::Single | LineMode::Unknown => "one board",
                };
                tracing::info!("{}: {found}", port_line.name);
            }
        }
        for (board, text) in self.greeting.due(now, |name| self.hall.board(name)) {
            self.hall.show(now, &board, &text);
        }
        while let Some((line, bytes)) = self.hall.poll_write(now) {
            self.order(line, PortOrder::Write(bytes));
        }
        while let Some((line, reason)) = self.hall.poll_close() {
            self.order(line, PortOrder::Close(reason));
        }
        let touched = self.hall.take_touched();
        let events: Vec<_> = self
            .hall
            .take_events()
            .into_iter()
            .map(|said| said.event)
            .collect();
        for event in &events {
            log::event(event);
            self.greeting.apply(event);
        }
        let messages = self
            .mqtt
            .as_mut()
            .map_or_else(Vec::new, |mqtt| mqtt.messages(now, &events, &touched, &self.hall));
        if !events.is_empty() || !messages.is_empty() {
            self.archive.keep(Batch { events, messages });
        }
    }

    fn port_line(&self, line: LineId) -> Option<(PortId, &PortLine)> {
        let mut lines = self.lines.iter();
        lines.find_map(|(port, port_line)| (port_line.line == line).then_some((*port, port_line)))
    }

    fn order(&self, line: LineId, order: PortOrder) {
        if let Some((port, _)) = self.port_line(line) {
            self.ports.order(port, order);
        }
    }

    fn record(&self, now: Timestamp, port_line: &PortLine, content: Content) {
        if let Some(tape) = &self.tape {
            let mode = self.hall.mode(port_line.line);
            tape.record(now, &port_line.name, mode, content);
        }
    }

    fn remove(&mut self, port_line: &PortLine, reason: &str) {
        let now = self.time.now();
        if self.hall.is_open(port_line.line) {
            let reason = reason.to_owned();
            self.record(now, port_line, Content::Closed { reason });
        }
        self.hall.remove(now, port_line.line, reason);
    }

    /// Closes all lines; the events of that are handed to the archive.
    fn close(mut self) {
        for (_, port_line) in core::mem::take(&mut self.lines) {
            self.remove(&port_line, "kiebitz was stopped");
        }
        self.settle(self.time.now());
    }
}
