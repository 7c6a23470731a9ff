//! `kiebitz boards`: lists the ports and the boards on them, with advice on how to fix problems.
//!
//! All ports are inspected at the same time. The inspection does not disturb games: it sends neither clock messages nor
//! resets, and leaves the pending changes of boards on a bus for the daemon to read.

mod board;
mod computer;
mod draft;
mod inspection;
mod report;
mod task;
mod text;
mod trouble;
mod twins;

use std::collections::{HashMap, HashSet};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use jiff::tz::TimeZone;
use kiebitz_hardware::Timestamp;
use kiebitz_hardware::capture::LineMode;
use kiebitz_hardware::port::{
    Candidate, Listing, PortChange, PortList, PortSettings, PortWatch, SCAN_INTERVAL,
};
use serde::Serialize;
use tokio::sync::mpsc::{Sender, channel};
use tokio::task::{AbortHandle, JoinSet};

use crate::Exit;
use crate::config::Config;
use crate::exit::Stop;
use crate::system_time::{self, LiveTime};
use computer::Computer;
pub(crate) use draft::ConfigDraft;
use report::PortReport;
use task::{PortTask, PortUpdate};
use trouble::{TroubleKind, TroubleReport};

/// Options of `kiebitz boards`.
#[derive(Debug, Clone)]
pub struct Options {
    /// Configuration with the ports and the names of the boards. If `None`, see [`Config::read_or_default`].
    pub config: Option<PathBuf>,
    /// Ports to inspect. If empty, all ports are inspected.
    pub ports: Vec<PathBuf>,
    /// Whether to keep running and print every change.
    pub watch: bool,
    /// Whether to print one JSON object per port.
    pub json: bool,
}

/// Inspects the ports and prints a report. Returns [`Exit::Failed`] if a port needs attention or none was found.
///
/// # Errors
///
/// Fails if the configuration cannot be read or is invalid, or if the output cannot be written.
pub fn run(options: &Options, out: &mut impl Write) -> Result<Exit> {
    let config = Config::read_or_default(options.config.as_deref())?;
    let inspector = Inspector {
        options,
        config: Arc::new(config),
        computer: Computer::beneath("/"),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut stop = Stop::listen()?;
        stop.unless_stopped(inspector.run(out)).await.unwrap_or_else(Ok)
    })
}

/// Drafts a configuration from the boards on these ports, numbered in this order, or on all ports if the list is empty.
/// The inner result is `Err` if Ctrl-C interrupts the inspection. Fails if the runtime cannot be started.
pub(crate) fn draft(ports: Vec<PathBuf>) -> Result<Result<ConfigDraft, Exit>> {
    let options = Options {
        config: None,
        ports,
        watch: false,
        json: false,
    };
    let inspector = Inspector {
        options: &options,
        config: Arc::default(),
        computer: Computer::beneath("/"),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut stop = Stop::listen()?;
        let found = stop.unless_stopped(inspector.inspect()).await;
        Ok(found.map(|mut reports| {
            draft::sort_as_given(&mut reports, &options.ports);
            ConfigDraft::of(&reports)
        }))
    })
}

#[derive(Debug)]
struct Inspector<'o> {
    options: &'o Options,
    config: Arc<Config>,
    computer: Computer,
}

impl Inspector<'_> {
    async fn run(&self, out: &mut impl Write) -> Result<Exit> {
        if self.options.watch {
            self.follow(out).await
        } else {
            self.inspect_once(out).await
        }
    }

    async fn inspect_once(&self, out: &mut impl Write) -> Result<Exit> {
        let found = self.inspect().await;
        self.print(&found, out)?;
        let fine = !found.is_empty() && found.iter().all(PortReport::is_fine);
        Ok(if fine { Exit::Fine } else { Exit::Failed })
    }

    /// Inspects all ports at once. Returns one report per port, sorted by port name.
    async fn inspect(&self) -> Vec<PortReport> {
        let listing = PortList::new(self.settings()).list();
        if !listing.candidates.is_empty() && std::io::stderr().is_terminal() {
            // Ignore errors: if stderr is closed, nobody reads the hint.
            let _ = writeln!(
                std::io::stderr(),
                "Checking the ports; this takes up to 20 s for a row of boards."
            );
        }
        let (updates, mut received) = channel(MAX_UPDATES);
        let mut tasks = JoinSet::new();
        for task in self.port_tasks(&listing.candidates, &listing.candidates, &updates) {
            tasks.spawn(task.once());
        }
        drop(updates);
        let mut found: Vec<PortReport> = self.without_device(&listing);
        while let Some(update) = received.recv().await {
            found.push(update.report);
        }
        found.sort_by(|one, other| one.port.cmp(&other.port));
        twins::mark(&mut found, &self.computer);
        found
    }

    fn print(&self, reports: &[PortReport], out: &mut impl Write) -> Result<()> {
        if self.options.json {
            for report in reports {
                serde_json::to_writer(&mut *out, report)?;
                writeln!(out)?;
            }
            return Ok(());
        }
        if reports.is_empty() {
            write!(out, "{}", text::NO_PORT)?;
            return Ok(());
        }
        for report in reports {
            writeln!(out, "{}\n", text::block(report).join("\n"))?;
        }
        writeln!(out, "{}", text::summary(reports).join("\n"))?;
        Ok(())
    }

    async fn follow(&self, out: &mut impl Write) -> Result<Exit> {
        let mut list = PortList::new(self.settings());
        let mut watch = PortWatch::new();
        let mut scans = tokio::time::interval(SCAN_INTERVAL);
        let (updates, mut received) = channel(MAX_UPDATES);
        let mut followed = FollowedPorts::default();
        let mut printer = ChangePrinter::new(self.options.json, out);
        let mut absent: Vec<PortReport> = Vec::new();
        let mut newly_absent: Vec<PortReport> = Vec::new();
        loop {
            tokio::select! {
                _ = scans.tick() => {
                    let listing = list.list();
                    // The port of a USB device appears a moment after the device, so only a lasting absence is
                    // reported.
                    let missing = self.without_device(&listing);
                    let lasting = missing.iter().filter(|report| newly_absent.contains(report));
                    let lasting: Vec<PortReport> = lasting.cloned().collect();
                    for report in lasting.iter().filter(|report| !absent.contains(report)) {
                        printer.report(report, &text::line(report))?;
                    }
                    (absent, newly_absent) = (lasting, missing);
                    let ports = listing.candidates.clone();
                    for change in watch.handle_listing(listing.candidates) {
                        match change {
                            PortChange::Added(candidate) => {
                                printer.note(&candidate, "plugged in")?;
                                let added = std::slice::from_ref(&candidate);
                                let tasks = self.port_tasks(added, &ports, &updates);
                                tasks.for_each(|task| followed.add(task));
                            }
                            PortChange::Removed(candidate) => {
                                followed.remove(&candidate.device);
                                printer.removed(&candidate)?;
                            }
                        }
                    }
                    if watch.present().next().is_none() && newly_absent.is_empty() {
                        printer.nothing_found()?;
                    }
                }
                Some(PortUpdate { report, line }) = received.recv() => printer.report(&report, &line)?,
            }
        }
    }

    /// Creates a task for each candidate, without starting it. `ports` has the candidates of all ports.
    fn port_tasks<'d>(
        &'d self,
        candidates: &'d [Candidate],
        ports: &'d [Candidate],
        updates: &'d Sender<PortUpdate>,
    ) -> impl Iterator<Item = PortTask> + 'd {
        let time = LiveTime::start();
        candidates.iter().map(move |candidate| PortTask {
            mode: self.mode(candidate),
            candidate: candidate.clone(),
            config: self.config.clone(),
            settings: self.computer.troubles(candidate, ports),
            time: time.clone(),
            updates: updates.clone(),
        })
    }

    /// Reports on configured paths without a device, on USB devices without a port, and on a failed search for ports.
    fn without_device(&self, listing: &Listing) -> Vec<PortReport> {
        let missing = listing.missing.iter();
        let missing = missing.map(|path| PortReport::missing(&path.display().to_string()));
        let trouble = listing.trouble.as_ref();
        missing
            .chain(self.computer.without_port(&self.settings()))
            .chain(trouble.map(|error| PortReport::unlisted(TroubleReport::of(error))))
            .collect()
    }

    fn settings(&self) -> PortSettings {
        let configured = self.config.ports.settings();
        if self.options.ports.is_empty() {
            return configured;
        }
        PortSettings {
            search: false,
            paths: self.options.ports.clone(),
            ignore: Vec::new(),
            ignore_usb: Vec::new(),
            ..configured
        }
    }

    /// Returns the configured mode of the port; `None` if the line has to detect it.
    fn mode(&self, candidate: &Candidate) -> Option<LineMode> {
        let mut listed = self.config.ports.listed.iter();
        let port = listed.find(|port| {
            port.path
                .canonicalize()
                .is_ok_and(|path| path == candidate.device)
        });
        port?.mode.line_mode()
    }
}

#[derive(Default)]
struct FollowedPorts {
    tasks: JoinSet<()>,
    handles: HashMap<PathBuf, AbortHandle>,
}

impl FollowedPorts {
    fn add(&mut self, task: PortTask) {
        while self.tasks.try_join_next().is_some() {}
        let device = task.candidate.device.clone();
        let handle = self.tasks.spawn(task.follow());
        self.handles.insert(device, handle);
    }

    fn remove(&mut self, device: &PathBuf) {
        if let Some(handle) = self.handles.remove(device) {
            handle.abort();
        }
    }
}

/// Prints a line for every change as it happens.
struct ChangePrinter<'o, W> {
    json: bool,
    out: &'o mut W,
    zone: TimeZone,
    /// Whether the line "no board found" was printed since the last port was plugged in.
    nothing_printed: bool,
    /// Ports whose task has reported them as gone.
    gone: HashSet<String>,
}

/// State of a port, with the time of the report.
#[derive(Serialize)]
struct DatedReport<'r> {
    ts: String,
    #[serde(flatten)]
    report: &'r PortReport,
}

impl<'o, W: Write> ChangePrinter<'o, W> {
    fn new(json: bool, out: &'o mut W) -> Self {
        let zone = system_time::local_zone();
        Self {
            json,
            out,
            zone,
            nothing_printed: false,
            gone: HashSet::new(),
        }
    }

    fn report(&mut self, report: &PortReport, line: &str) -> Result<()> {
        if report
            .troubles
            .iter()
            .any(|trouble| trouble.kind == TroubleKind::Gone)
        {
            self.gone.insert(report.port.clone());
        } else {
            self.gone.remove(&report.port);
        }
        if self.json {
            let ts = at(system_time::wall_time()).to_string();
            serde_json::to_writer(&mut *self.out, &DatedReport { ts, report })?;
            writeln!(self.out)?;
            self.out.flush()?;
            return Ok(());
        }
        self.line(&format!("{}: {line}", report.port))
    }

    /// Prints a line in text mode only. In JSON mode a report follows anyway.
    fn note(&mut self, candidate: &Candidate, text: &str) -> Result<()> {
        self.nothing_printed = false;
        let (device, kind) = (candidate.device.display(), candidate.kind);
        self.line(&format!("{device}: {kind}, {text}"))
    }

    fn removed(&mut self, candidate: &Candidate) -> Result<()> {
        let mut report = PortReport::of(candidate);
        // The task of an open port reports the removal itself.
        if self.gone.remove(&report.port) {
            return Ok(());
        }
        report.troubles.push(TroubleReport::gone("unplugged"));
        self.report(&report, "unplugged")
    }

    fn nothing_found(&mut self) -> Result<()> {
        if core::mem::replace(&mut self.nothing_printed, true) {
            return Ok(());
        }
        self.line("no board found; waiting for one to be plugged in")
    }

    fn line(&mut self, line: &str) -> Result<()> {
        if !self.json {
            let time = at(system_time::wall_time()).to_zoned(self.zone.clone());
            writeln!(self.out, "{}  {line}", time.strftime("%H:%M:%S"))?;
            self.out.flush()?;
        }
        Ok(())
    }
}

fn at(time: Timestamp) -> jiff::Timestamp {
    jiff::Timestamp::from_microsecond(time.as_micros()).unwrap_or_default()
}

/// Length of the queue of updates. If it is full, the port tasks wait.
const MAX_UPDATES: usize = 64;
