//! The desk: the one task that owns all boards and gives everything its time.

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
use super::ports::{LineChange, PortId, Ports};
use super::publish::Publisher;
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
    /// `None`: nothing goes out.
    pub(super) publisher: Option<Publisher>,
    pub(super) greeting: Greeting,
    pub(super) lines: BTreeMap<PortId, PortLine>,
}

/// A port and its line in the hall.
#[derive(Debug)]
pub(super) struct PortLine {
    device: PathBuf,
    line: LineId,
    /// For files.
    name: String,
}

/// Without anything to wait for.
const LONG: Duration = Duration::from_secs(3600);

impl Desk {
    /// Works until somebody stops the program. What is under way is finished and kept.
    pub(super) async fn work(mut self, mut inputs: mpsc::Receiver<(PortId, PortInput)>, mut stop: Stop) {
        let mut scan = tokio::time::interval(SCAN_INTERVAL);
        scan.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let due = self.poll_deadline().unwrap_or_else(|| self.time.now() + LONG);
            tokio::select! {
                biased;
                _ = stop.come() => break,
                _ = scan.tick() => self.look(),
                Some((port, input)) = inputs.recv() => self.take(port, input),
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
        let public = self.publisher.as_ref().and_then(Publisher::poll_deadline);
        let deadlines = [self.hall.poll_deadline(), greeting, public];
        deadlines.into_iter().flatten().min()
    }

    /// Looks for ports, and does what is due each second.
    fn look(&mut self) {
        if let Some(forward) = self.time.keep_up() {
            tracing::warn!("the computer's clock was set forward by {} s", forward.as_secs());
            if let Some(publisher) = &mut self.publisher {
                publisher.set_forward(forward);
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
                        self.gone(&port_line, "unplugged");
                    }
                }
            }
        }
        if let Some(publisher) = &mut self.publisher {
            publisher.announce(self.time.now(), &self.hall);
        }
        // Without systemd nobody asks.
        let _ = sd_notify::notify(&[sd_notify::NotifyState::Watchdog]);
    }

    /// Takes in what a port tells.
    fn take(&mut self, port: PortId, input: PortInput) {
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

    /// Does what follows from what came in: orders to the ports, events and pictures to the archive.
    fn settle(&mut self, now: Timestamp) {
        while let Some((line, mode)) = self.hall.poll_found_out() {
            // In the recording the line begins anew as what it was found to be.
            if let Some(port_line) = self.port_line(line) {
                let reason = "probed".to_owned();
                if let Some(tape) = &self.tape {
                    let probed = LineMode::Bus;
                    tape.record(now, &port_line.name, probed, Content::Closed { reason });
                    tape.record(now, &port_line.name, mode, Content::Opened);
                }
                let found = match mode {
                    LineMode::Single => "one board",
                    LineMode::Bus => "boards in bus mode",
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
        let events: Vec<_> = self.hall.take_said().into_iter().map(|said| said.event).collect();
        for event in &events {
            log::event(event);
            self.greeting.apply(event);
        }
        let messages = self.publisher.as_mut().map_or_else(Vec::new, |publisher| {
            publisher.messages(now, &events, &touched, &self.hall)
        });
        if !events.is_empty() || !messages.is_empty() {
            self.archive.keep(Batch { events, messages });
        }
    }

    fn port_line(&self, line: LineId) -> Option<&PortLine> {
        self.lines.values().find(|port_line| port_line.line == line)
    }

    fn order(&self, line: LineId, order: PortOrder) {
        let port = self.lines.iter().find(|(_, port_line)| port_line.line == line);
        if let Some((port, _)) = port {
            self.ports.order(*port, order);
        }
    }

    fn record(&self, now: Timestamp, port_line: &PortLine, content: Content) {
        if let (Some(tape), Some(mode)) = (&self.tape, self.hall.mode(port_line.line)) {
            tape.record(now, &port_line.name, mode, content);
        }
    }

    fn gone(&mut self, port_line: &PortLine, reason: &str) {
        let now = self.time.now();
        if self.hall.is_open(port_line.line) {
            let reason = reason.to_owned();
            self.record(now, port_line, Content::Closed { reason });
        }
        self.hall.remove(now, port_line.line, reason);
    }

    /// Closes all lines; what is said of it is kept before this returns.
    fn close(mut self) {
        for (_, port_line) in core::mem::take(&mut self.lines) {
            self.gone(&port_line, "kiebitz was stopped");
        }
        self.settle(self.time.now());
    }
}
