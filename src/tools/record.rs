//! `kiebitz record`: what goes over one port, into a capture.

use core::time::Duration;
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use bytesize::ByteSize;
use kiebitz_hardware::capture::{CaptureWriter, Content, Direction, Interface, LineMode, Packet};
use kiebitz_hardware::port::{Candidate, PortError, PortList, PortSettings};
use kiebitz_hardware::{Line, LineSettings, Timestamp};
use shakmaty::{Board, Square};
use tokio::sync::mpsc::{Receiver, channel};

use crate::Exit;
use crate::config::PortMode;
use crate::exit::Stop;
use crate::hall::{Hall, LineId, Names};
use crate::port::{Port, PortInput, PortOrder};
use crate::system_time::LiveTime;

/// What `kiebitz record` is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// The port: a path, or a name of /dev or /dev/serial/by-id.
    pub port: PathBuf,
    /// The capture, which must not exist.
    pub file: PathBuf,
    /// How the boards on the port speak.
    pub mode: PortMode,
    /// How long; `None`: until somebody ends it.
    pub time: Option<Duration>,
}

/// Records until the time is over or somebody ends it. The boards are kept answering as by the daemon. A port that goes
/// away is opened again when it is back.
///
/// # Errors
///
/// When the port cannot be opened, or the file exists or cannot be written.
pub fn run(recording: &Recording) -> Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut stop = Stop::listen()?;
        let candidate = recording.candidate()?;
        let (inputs, mut heard) = channel(INPUTS);
        let port = Port::serve((), &candidate.device, inputs);
        let recorder = async {
            let capture = match heard.recv().await {
                Some((_, PortInput::Refused(error))) => return Err(error.into()),
                _ => Capture::create(&recording.file, candidate.name())?,
            };
            let mut recorder = Recorder::new(candidate, recording.mode, capture, port);
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
            never = recorder.record(heard) => match never? {},
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

/// The port, what is on it, and the capture.
#[derive(Debug)]
struct Recorder {
    candidate: Candidate,
    port: Port,
    hall: Hall,
    line: LineId,
    time: LiveTime,
    capture: Capture,
    /// The mode in which the port is recorded as open.
    open: Option<LineMode>,
    tally: Tally,
    sync_due: Timestamp,
    told_at: Timestamp,
}

impl Recorder {
    fn new(candidate: Candidate, mode: PortMode, capture: Capture, port: Port) -> Self {
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
            tally: Tally::default(),
            sync_due: time.now() + SYNC_PERIOD,
            told_at: time.now(),
            time,
        }
    }

    /// Records for ever; it ends only with an error.
    async fn record(&mut self, mut heard: Receiver<((), PortInput)>) -> Result<core::convert::Infallible> {
        tell(&format!(
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
                Some((_, input)) = heard.recv() => {
                    self.advance()?;
                    self.take(input)?;
                }
                () = self.time.until(due) => {}
            }
        }
    }

    fn take(&mut self, input: PortInput) -> Result<()> {
        let now = self.time.now();
        match input {
            PortInput::Refused(error) => tell(&error.to_string()),
            PortInput::Opened => self.opened()?,
            PortInput::Received(bytes) => {
                self.put_bytes(now, Direction::Inbound, &bytes)?;
                self.hall.receive(now, self.line, &bytes);
                self.tally.count(&self.hall);
            }
            PortInput::Written(bytes) => {
                self.put_bytes(now, Direction::Outbound, &bytes)?;
                self.hall.sent(now, self.line, &bytes);
            }
            PortInput::Closed(reason) => {
                tell(&format!("{reason}; trying again"));
                self.closed(&reason)?;
            }
        }
        Ok(())
    }

    /// Lets all deadlines fire, and does what is done now and then.
    fn advance(&mut self) -> Result<()> {
        let now = self.time.now();
        self.hall.advance(now);
        // The events are those of a replay.
        self.hall.take_said();
        if let Some((_, mode)) = self.hall.poll_found_out()
            && self.open != Some(mode)
        {
            self.closed_as("one board is alone on the line")?;
            self.opened()?;
        }
        if self.sync_due <= now {
            self.capture.sync()?;
            self.sync_due = now + SYNC_PERIOD;
            if now.saturating_duration_since(self.told_at) >= TELL_PERIOD {
                self.told_at = now;
                tell(&self.figures());
            }
        }
        Ok(())
    }

    fn opened(&mut self) -> Result<()> {
        let now = self.time.now();
        if self.open.is_none() {
            self.hall.open(now, self.line);
        }
        let mode = self.hall.mode(self.line).unwrap_or(LineMode::Single);
        self.open = Some(mode);
        self.capture.write(now, mode, Content::Opened)
    }

    fn closed(&mut self, reason: &str) -> Result<()> {
        self.hall.close(self.time.now(), self.line, reason);
        self.closed_as(reason)?;
        self.open = None;
        Ok(())
    }

    fn closed_as(&mut self, reason: &str) -> Result<()> {
        let Some(mode) = self.open else { return Ok(()) };
        let reason = reason.to_owned();
        self.capture
            .write(self.time.now(), mode, Content::Closed { reason })
    }

    fn put_bytes(&mut self, now: Timestamp, direction: Direction, bytes: &[u8]) -> Result<()> {
        self.tally.bytes += bytes.len() as u64;
        let mode = self.open.unwrap_or(LineMode::Single);
        let bytes = bytes.to_vec();
        self.capture.write(now, mode, Content::Bytes { direction, bytes })
    }

    fn figures(&self) -> String {
        let Tally { bytes, changes, .. } = &self.tally;
        let bytes = ByteSize(*bytes).display().si();
        format!("{bytes} in both directions, {changes} changes on the squares")
    }

    /// Concludes the capture.
    fn end(mut self) -> Result<()> {
        if self.open.is_some() {
            self.closed("the recording was ended")?;
        }
        self.capture.sync()?;
        let file = self.capture.path.display().to_string();
        tell(&format!(
            "{file}: {}. `kiebitz replay {file}` shows it.",
            self.figures()
        ));
        Ok(())
    }
}

/// What was seen so far.
#[derive(Debug, Default)]
struct Tally {
    bytes: u64,
    /// How often a square came to show something else.
    changes: u64,
    shown: HashMap<String, Board>,
}

impl Tally {
    fn count(&mut self, hall: &Hall) {
        for board in hall.boards() {
            let now = board.tracker().placement();
            let Some(before) = self.shown.get_mut(board.name()) else {
                self.shown.insert(board.name().to_owned(), now.clone());
                continue;
            };
            if before == now {
                continue;
            }
            let differ = |square: &Square| before.piece_at(*square) != now.piece_at(*square);
            let squares = Square::ALL.into_iter().filter(differ).count();
            // The first dump is no change.
            let first = before.occupied().is_empty() && squares > 1;
            self.changes += if first { 0 } else { squares as u64 };
            before.clone_from(now);
        }
    }
}

/// A capture of one port. Every block is written whole and at once, so that the file is a capture at any moment.
#[derive(Debug)]
struct Capture {
    path: PathBuf,
    port: String,
    writer: CaptureWriter<File>,
    /// The interfaces of a single board and of a bus, once there are any.
    interfaces: [Option<usize>; 2],
    changed: bool,
}

impl Capture {
    fn create(path: &Path, port: String) -> Result<Self> {
        let file = match OpenOptions::new().write(true).create_new(true).open(path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                bail!(
                    "{} exists already, and a recording is not written over anything: choose another name",
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
            interfaces: [None; 2],
            changed: true,
        })
    }

    fn write(&mut self, at: Timestamp, mode: LineMode, content: Content) -> Result<()> {
        self.changed = true;
        self.try_write(at, mode, content)
            .with_context(|| format!("cannot write {}", self.path.display()))
    }

    fn try_write(&mut self, at: Timestamp, mode: LineMode, content: Content) -> io::Result<()> {
        let slot = &mut self.interfaces[usize::from(mode == LineMode::Bus)];
        let interface = match *slot {
            Some(interface) => interface,
            None => {
                let name = self.port.clone();
                *slot.insert(self.writer.add_interface(&Interface { name, mode })?)
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

    /// Has the disk store what was written, so that a power failure costs no more than came since.
    fn sync(&mut self) -> Result<()> {
        if core::mem::take(&mut self.changed) {
            let synced = self.writer.get_ref().sync_data();
            synced.with_context(|| format!("cannot write {}", self.path.display()))?;
        }
        Ok(())
    }
}

fn tell(text: &str) {
    // Nobody is left to be told when stderr is gone.
    let _ = writeln!(io::stderr().lock(), "kiebitz: {text}");
}

/// Inputs of the port that wait to be recorded.
const INPUTS: usize = 64;
/// A power failure costs this much at most.
const SYNC_PERIOD: Duration = Duration::from_secs(1);
const TELL_PERIOD: Duration = Duration::from_secs(10);
