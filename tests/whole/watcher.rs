//! The daemon in virtual time, with its hall, journal and recordings. It can be started, stopped and killed.

use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use kiebitz::config::Config;
use kiebitz::journal::{Journal, Run};
use kiebitz::restart::{self, Alone, CUT_OFF, KnownSeqs, Sources};
use kiebitz_game::events::Event;
use kiebitz_game::hall::{Hall, LineId, Names};
use kiebitz_hardware::capture::{Content, Direction, LineMode};
use kiebitz_hardware::recorder::{Recorder, RecorderSettings};
use kiebitz_hardware::{Line, LineSettings, Timestamp};

static UTC: TimeZone = TimeZone::UTC;

/// A port that the daemon serves.
#[derive(Debug, Clone)]
pub(crate) struct Port {
    pub(crate) path: String,
    pub(crate) settings: LineSettings,
}

/// The daemon, running or not.
pub(crate) struct Watcher {
    directory: PathBuf,
    config: Config,
    ports: Vec<Port>,
    pub(crate) journal: Journal,
    running: Option<Running>,
    /// Events that the journal does not have yet; lost if the process is killed.
    pending: Vec<Event>,
    /// Boards that were restored from the journal alone at a start, with the reasons.
    pub(crate) alone: Vec<(String, Alone)>,
}

struct Running {
    hall: Hall,
    recorder: Option<Recorder>,
    lines: Vec<LineId>,
}

impl Watcher {
    /// Creates the journal in the directory. Does not start the daemon.
    pub(crate) fn new(directory: &Path, config: Config, ports: Vec<Port>) -> Self {
        Self {
            directory: directory.to_owned(),
            config,
            ports,
            journal: Journal::open(&directory.join("journal.sqlite")).unwrap(),
            running: None,
            pending: Vec::new(),
            alone: Vec::new(),
        }
    }

    pub(crate) fn recordings(&self) -> PathBuf {
        self.directory.join("recordings")
    }

    pub(crate) fn hall(&self) -> Option<&Hall> {
        self.running.as_ref().map(|running| &running.hall)
    }

    /// Starts as `kiebitz run` does.
    pub(crate) fn start(&mut self, now: Timestamp) {
        let (recordings, numbers) = (self.recordings(), KnownSeqs::default());
        let records = self.config.recorder.enabled;
        let mut recorder = records.then(|| {
            Recorder::new(RecorderSettings {
                folder: recordings.clone(),
                budget: 1 << 40,
                zone: TimeZone::UTC,
            })
        });
        self.journal = Journal::open(&self.directory.join("journal.sqlite")).unwrap();
        let kept = records.then_some(recordings.as_path());
        let taken = restart::take_up(&sources(&self.journal, kept, &self.config, &numbers), now).unwrap();
        for (at, port) in &taken.closed {
            let reason = CUT_OFF.to_owned();
            if let Some(recorder) = &mut recorder {
                recorder.record(*at, &port.name, port.mode, &Content::Closed { reason });
            }
        }
        assert!(taken.until < now, "the computer's clock goes on");
        self.journal.fill(&taken.events).unwrap();
        self.alone
            .extend(taken.alone.iter().map(|(board, why)| (board.clone(), *why)));
        let settled = taken.settle(&sources(&self.journal, kept, &self.config, &numbers), now);
        let (mut hall, run) = settled.unwrap();
        self.journal.begin_run(&run).unwrap();
        let ports = self.ports.iter();
        let lines = ports
            .map(|port| hall.keep(&port.path, port.settings.clone()))
            .collect();
        self.running = Some(Running {
            hall,
            recorder,
            lines,
        });
    }

    /// Uses another configuration from now on, also after the next start, as after SIGHUP.
    pub(crate) fn reload(&mut self, now: Timestamp, config: Config) {
        if let Some(running) = &mut self.running {
            let names = Names::Configured(config.roster());
            running.hall.reconfigure(now, names);
            let run = Run::reloaded(now, &config.of_boards);
            self.journal.begin_run(&run).unwrap();
        }
        self.config = config;
    }

    /// Loses everything that is not on the disk, as after SIGKILL or a power failure.
    pub(crate) fn kill(&mut self) {
        self.running = None;
        self.pending.clear();
    }

    /// Stops in order, as after SIGTERM.
    pub(crate) fn stop(&mut self, now: Timestamp) {
        let Some(running) = &mut self.running else { return };
        for nth in 0..self.ports.len() {
            let line = running.lines[nth];
            if running.hall.is_open(line) {
                let reason = "kiebitz was stopped".to_owned();
                running.record(now, &self.ports[nth], Content::Closed { reason });
            }
            running.hall.remove(now, line, "kiebitz was stopped");
        }
        self.keep();
        self.running = None;
    }

    /// Commits pending events to the journal. They count as published from then on.
    pub(crate) fn keep(&mut self) {
        if let Some(running) = &mut self.running {
            let events = running.hall.take_events();
            self.pending
                .extend(events.into_iter().map(|explained| explained.event));
        }
        self.journal.append(&self.pending).unwrap();
        self.pending.clear();
    }

    /// Number of events that are not committed.
    pub(crate) fn unkept(&mut self) -> usize {
        if let Some(running) = &mut self.running {
            let events = running.hall.take_events();
            self.pending
                .extend(events.into_iter().map(|explained| explained.event));
        }
        self.pending.len()
    }

    pub(crate) fn poll_deadline(&self) -> Option<Timestamp> {
        self.hall().and_then(Hall::poll_deadline)
    }

    pub(crate) fn advance(&mut self, now: Timestamp) {
        let Some(running) = &mut self.running else { return };
        running.hall.advance(now);
        running.note_modes(now, &self.ports);
    }

    pub(crate) fn open(&mut self, now: Timestamp, nth: usize) {
        let Some(running) = &mut self.running else { return };
        running.hall.open(now, running.lines[nth]);
        running.record(now, &self.ports[nth], Content::Opened);
    }

    pub(crate) fn close(&mut self, now: Timestamp, nth: usize, reason: &str) {
        let Some(running) = &mut self.running else { return };
        let closed = Content::Closed {
            reason: reason.to_owned(),
        };
        running.record(now, &self.ports[nth], closed);
        running.hall.close(now, running.lines[nth], reason);
    }

    pub(crate) fn is_open(&self, nth: usize) -> bool {
        let running = self.running.as_ref();
        running.is_some_and(|running| running.hall.is_open(running.lines[nth]))
    }

    pub(crate) fn receive(&mut self, now: Timestamp, nth: usize, bytes: &[u8]) {
        let Some(running) = &mut self.running else { return };
        running.hall.advance(now);
        running.record_bytes(now, &self.ports[nth], Direction::Inbound, bytes);
        running.hall.receive(now, running.lines[nth], bytes);
        running.note_modes(now, &self.ports);
    }

    /// Returns bytes to write and the index of their port. The caller then calls [`sent`](Self::sent).
    pub(crate) fn poll_write(&mut self, now: Timestamp) -> Option<(usize, Vec<u8>)> {
        let running = self.running.as_mut()?;
        let (line, bytes) = running.hall.poll_write(now)?;
        let nth = running.lines.iter().position(|id| *id == line).unwrap();
        Some((nth, bytes))
    }

    pub(crate) fn sent(&mut self, now: Timestamp, nth: usize, bytes: &[u8]) {
        let Some(running) = &mut self.running else { return };
        running.record_bytes(now, &self.ports[nth], Direction::Outbound, bytes);
        running.hall.sent(now, running.lines[nth], bytes);
    }

    pub(crate) fn poll_close(&mut self) -> Option<(usize, String)> {
        let running = self.running.as_mut()?;
        let (line, reason) = running.hall.poll_close()?;
        Some((running.lines.iter().position(|id| *id == line).unwrap(), reason))
    }
}

fn sources<'s>(
    journal: &'s Journal,
    recordings: Option<&'s Path>,
    config: &'s Config,
    numbers: &'s KnownSeqs,
) -> Sources<'s> {
    Sources {
        journal,
        recordings,
        zone: &UTC,
        stream: "live",
        config,
        numbers,
        progress: None,
    }
}

impl Running {
    fn record(&mut self, now: Timestamp, port: &Port, content: Content) {
        let nth = self.lines.iter().copied().find(|line| self.is_of(*line, port));
        let mode = nth.map_or(LineMode::Unknown, |line| self.hall.mode(line));
        if let Some(recorder) = &mut self.recorder {
            recorder.record(now, &port.path, mode, &content);
        }
    }

    fn is_of(&self, line: LineId, port: &Port) -> bool {
        self.hall.port(line) == Some(port.path.as_str())
    }

    fn record_bytes(&mut self, now: Timestamp, port: &Port, direction: Direction, bytes: &[u8]) {
        let bytes = bytes.to_vec();
        self.record(now, port, Content::Bytes { direction, bytes });
    }

    /// Records the mode of a probed line as soon as it is detected.
    fn note_modes(&mut self, now: Timestamp, ports: &[Port]) {
        while let Some((line, mode)) = self.hall.poll_found_out() {
            let port = ports.iter().find(|port| self.is_of(line, port)).unwrap();
            let reason = Line::PROBED.to_owned();
            if let Some(recorder) = &mut self.recorder {
                let before = LineMode::Unknown;
                recorder.record(now, &port.path, before, &Content::Closed { reason });
                recorder.record(now, &port.path, mode, &Content::Opened);
            }
        }
    }
}
