//! `kiebitz record`: writes the traffic of one port into a capture file.

use core::time::Duration;
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use bytesize::ByteSize;
use kiebitz_game::hall::{Hall, LineId, Names};
use kiebitz_hardware::capture::{CaptureWriter, Content, Interface, LineMode, Packet};
use kiebitz_hardware::port::{Candidate, PortError, PortList, PortSettings};
use kiebitz_hardware::{Line, LineSettings, Timestamp};
use shakmaty::{Board, Square};
use tokio::sync::mpsc::{Receiver, channel};

use crate::Exit;
use crate::config::PortMode;
use crate::exit::Stop;
use crate::port::{Port, PortInput, PortOrder};
use crate::system_time::LiveTime;

/// Options of `kiebitz record`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// The port: a path, or a name in /dev or /dev/serial/by-id.
    pub port: PathBuf,
    /// The capture file, which must not exist yet.
    pub file: PathBuf,
    /// Mode of the line.
    pub mode: PortMode,
    /// Duration of the recording. If `None`, it runs until it is interrupted.
    pub time: Option<Duration>,
}

/// Records until the time is up or the program is interrupted. Sends the same queries to the boards as the daemon, and
/// reopens a port that disappears and comes back.
///
/// # Errors
///
/// Fails if the port cannot be opened, or if the file exists already or cannot be written.
pub fn run(recording: &Recording) -> Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut stop = Stop::listen()?;
        let candidate = recording.candidate()?;
        let (inputs, mut received) = channel(MAX_INPUTS);
        let port = Port::serve((), &candidate.device, inputs);
        let recorder = async {
            let capture = match received.recv().await {
                Some((_, Err(error))) => return Err(error.into()),
                _ => CaptureFile::create(&recording.file, candidate.name())?,
            };
            let mut recorder = PortRecorder::new(candidate, recording.mode, capture, port);
            recorder.opened()?;
            anyhow::Ok(recorder)
        };
        let mut recorder = match stop.unless_stopped(recorder).await {
            Ok(recorder) => recorder?,
            Err(exit) => return Ok(exit),
        };
        let limit = async {
            match recording.time {
                Some(time) => tokio::time::sleep(time).await,
                None => core::future::pending().await,
            }
        };
        let exit = tokio::select! {
            never = recorder.record(received) => match never? {},
            exit = stop.come() => exit,
            () = limit => Exit::Fine,
        };
        recorder.end()?;
        Ok(exit)
    })
}

impl Recording {
    fn candidate(&self) -> Result<Candidate> {
        let settings = PortSettings {
            search: false,
            paths: vec![self.port.clone()],
            ..PortSettings::default()
        };
        let device = self.port.clone();
        let found = PortList::new(settings).list().candidates.into_iter().next();
        Ok(found.ok_or(PortError::Missing { device })?)
    }
}

#[derive(Debug)]
struct PortRecorder {
    candidate: Candidate,
    port: Port,
    hall: Hall,
    line: LineId,
    time: LiveTime,
    capture: CaptureFile,
    /// Mode under which the open port is recorded; `None` while the port is closed.
    open: Option<LineMode>,
    tally: TrafficTally,
    sync_due: Timestamp,
    progress_at: Timestamp,
}

impl PortRecorder {
    fn new(candidate: Candidate, mode: PortMode, capture: CaptureFile, port: Port) -> Self {
        let mut hall = Hall::new("recording", Names::Recorded);
        let settings = LineSettings::for_port(candidate.kind, mode.line_mode());
        let line = hall.add(&candidate.name(), Line::keeping(settings));
        let time = LiveTime::start();
        Self {
            candidate,
            port,
            hall,
            line,
            capture,
            open: None,
            tally: TrafficTally::default(),
            sync_due: time.now() + SYNC_PERIOD,
            progress_at: time.now(),
            time,
        }
    }

    /// Records until an error occurs.
    async fn record(&mut self, mut received: Receiver<((), PortInput)>) -> Result<core::convert::Infallible> {
        notify(&format!(
            "recording {}; Ctrl-C ends it",
            self.candidate.device.display()
        ));
        loop {
            self.advance()?;
            while let Some(bytes) = self.hall.poll_write_to(self.time.now(), self.line) {
                self.port.order(PortOrder::Write(bytes));
            }
            while let Some((_, reason)) = self.hall.poll_close() {
                self.port.order(PortOrder::Close(reason));
            }
            let due = self.hall.poll_deadline();
            let due = due.map_or(self.sync_due, |due| due.min(self.sync_due));
            tokio::select! {
                Some((_, input)) = received.recv() => {
                    self.advance()?;
                    self.handle(input)?;
                }
                () = self.time.until(due) => {}
            }
        }
    }

    fn handle(&mut self, input: PortInput) -> Result<()> {
        let now = self.time.now();
        match input {
            Err(error) => notify(&error.to_string()),
            Ok(Content::Opened) => self.opened()?,
            Ok(Content::Closed { reason }) => {
                notify(&format!("{reason}; retrying"));
                self.closed(&reason)?;
            }
            Ok(content) => {
                self.hall.handle(now, self.line, &content);
                self.tally.count(&self.hall);
                if let Content::Bytes { bytes, .. } = &content {
                    self.tally.bytes += bytes.len() as u64;
                }
                let mode = self.open.unwrap_or(LineMode::Single);
                self.capture.write(now, mode, content)?;
            }
        }
        Ok(())
    }

    /// Handles due deadlines, syncs the file and prints progress.
    fn advance(&mut self) -> Result<()> {
        let now = self.time.now();
        self.hall.advance(now);
        // Drop the events: a replay of the capture derives them again.
        self.hall.take_events();
        if self.hall.poll_found_out().is_some() {
            self.write_closed(Line::PROBED)?;
            self.opened()?;
        }
        if self.sync_due <= now {
            self.capture.sync()?;
            self.sync_due = now + SYNC_PERIOD;
            if now.saturating_duration_since(self.progress_at) >= PROGRESS_PERIOD {
                self.progress_at = now;
                notify(&self.figures());
            }
        }
        Ok(())
    }

    fn opened(&mut self) -> Result<()> {
        let now = self.time.now();
        if self.open.is_none() {
            self.hall.open(now, self.line);
        }
        let mode = self.hall.mode(self.line);
        self.open = Some(mode);
        self.capture.write(now, mode, Content::Opened)
    }

    fn closed(&mut self, reason: &str) -> Result<()> {
        self.hall.close(self.time.now(), self.line, reason);
        self.write_closed(reason)?;
        self.open = None;
        Ok(())
    }

    fn write_closed(&mut self, reason: &str) -> Result<()> {
        let Some(mode) = self.open else { return Ok(()) };
        let reason = reason.to_owned();
        self.capture
            .write(self.time.now(), mode, Content::Closed { reason })
    }

    fn figures(&self) -> String {
        let TrafficTally { bytes, changes, .. } = &self.tally;
        let bytes = ByteSize(*bytes).display().si();
        format!("{bytes} in both directions, {changes} changes on the squares")
    }

    fn end(mut self) -> Result<()> {
        if self.open.is_some() {
            self.closed("the recording was ended")?;
        }
        self.capture.sync()?;
        let file = self.capture.path.display().to_string();
        notify(&format!(
            "{file}: {}. To see it: `kiebitz replay {file}`.",
            self.figures()
        ));
        Ok(())
    }
}

#[derive(Debug, Default)]
struct TrafficTally {
    bytes: u64,
    /// Number of changes of a square's content.
    changes: u64,
    shown: HashMap<String, Board>,
}

impl TrafficTally {
    fn count(&mut self, hall: &Hall) {
        for board in hall.boards() {
            let now = board.placement();
            let Some(before) = self.shown.get_mut(board.name()) else {
                self.shown.insert(board.name().to_owned(), now.clone());
                continue;
            };
            if before == now {
                continue;
            }
            let differ = |square: &Square| before.piece_at(*square) != now.piece_at(*square);
            let squares = Square::ALL.into_iter().filter(differ).count();
            // The first dump of a board fills the placement; it does not count as changes.
            let first = before.occupied().is_empty() && squares > 1;
            self.changes += if first { 0 } else { squares as u64 };
            before.clone_from(now);
        }
    }
}

/// A capture file of one port. Each block is written as a whole, so the file is valid at any moment.
#[derive(Debug)]
struct CaptureFile {
    path: PathBuf,
    port: String,
    writer: CaptureWriter<File>,
    /// Capture interfaces, one for each mode of the port.
    interfaces: Vec<(LineMode, usize)>,
    changed: bool,
}

impl CaptureFile {
    fn create(path: &Path, port: String) -> Result<Self> {
        let file = match OpenOptions::new().write(true).create_new(true).open(path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                bail!(
                    "{} already exists, and a recording never overwrites a file: choose another name",
                    path.display()
                )
            }
            file => file.with_context(|| format!("cannot create {}", path.display()))?,
        };
        let writer = CaptureWriter::new(file).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self {
            path: path.to_owned(),
            port,
            writer,
            interfaces: Vec::new(),
            changed: true,
        })
    }

    fn write(&mut self, at: Timestamp, mode: LineMode, content: Content) -> Result<()> {
        self.changed = true;
        self.try_write(at, mode, content)
            .with_context(|| format!("cannot write {}", self.path.display()))
    }

    fn try_write(&mut self, at: Timestamp, mode: LineMode, content: Content) -> io::Result<()> {
        let known = self.interfaces.iter().find(|(known, _)| *known == mode);
        let interface = match known {
            Some((_, interface)) => *interface,
            None => {
                let name = self.port.clone();
                let interface = self.writer.add_interface(&Interface { name, mode })?;
                self.interfaces.push((mode, interface));
                interface
            }
        };
        let packet = Packet {
            at,
            interface,
            offset: 0,
            content,
        };
        self.writer.write(&packet)
    }

    /// Flushes written blocks to the disk, so that a power failure loses only later ones.
    fn sync(&mut self) -> Result<()> {
        if core::mem::take(&mut self.changed) {
            let synced = self.writer.get_ref().sync_data();
            synced.with_context(|| format!("cannot write {}", self.path.display()))?;
        }
        Ok(())
    }
}

fn notify(text: &str) {
    // Ignore errors: if stderr is closed, nobody reads the messages.
    let _ = writeln!(crate::shown::stderr(), "kiebitz: {text}");
}

/// Length of the queue of inputs. If it is full, the port task stops reading.
const MAX_INPUTS: usize = 64;
/// Period of syncing the file, which bounds the loss at a power failure.
const SYNC_PERIOD: Duration = Duration::from_secs(1);
const PROGRESS_PERIOD: Duration = Duration::from_secs(10);
