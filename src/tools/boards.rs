//! `kiebitz boards`: which ports there are, what is on them, and what to do where something is wrong.
//!
//! It asks every port at once who is there and what stands on the boards, in a way that no game suffers from: no clock
//! message, no reset, and the boards of a bus keep their changes for the daemon.

mod board;
mod look;
mod report;
mod text;
mod trouble;
mod visit;

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
use report::PortReport;
use trouble::Trouble;
use visit::{News, Visit};

/// What `kiebitz boards` is asked for.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where boards are looked for, and what they are called; `None`: see [`Config::read_or_default`].
    pub config: Option<PathBuf>,
    /// Look at these ports only; empty: at all.
    pub ports: Vec<PathBuf>,
    /// Follow what changes.
    pub watch: bool,
    /// One JSON object per port.
    pub json: bool,
}

/// Looks at the ports and prints what it finds. [`Exit::Failed`]: somebody has something to see to.
///
/// # Errors
///
/// When the configuration cannot be read or makes no sense, or the output cannot be written.
pub fn run(options: &Options, out: &mut impl Write) -> Result<Exit> {
    let config = Config::read_or_default(options.config.as_deref())?;
    let doctor = Doctor {
        options,
        config: Arc::new(config),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut stop = Stop::listen()?;
        stop.unless_stopped(doctor.work(out)).await.unwrap_or_else(Ok)
    })
}

/// Who looks at the ports.
#[derive(Debug)]
struct Doctor<'o> {
    options: &'o Options,
    config: Arc<Config>,
}

impl Doctor<'_> {
    async fn work(&self, out: &mut impl Write) -> Result<Exit> {
        if self.options.watch {
            self.follow(out).await
        } else {
            self.look_once(out).await
        }
    }

    async fn look_once(&self, out: &mut impl Write) -> Result<Exit> {
        let listing = PortList::new(self.settings()).list();
        if !listing.candidates.is_empty() && std::io::stderr().is_terminal() {
            // Nobody is left to be told when stderr is gone.
            let _ = writeln!(
                std::io::stderr(),
                "Looking at the ports; a row of boards takes up to 20 s."
            );
        }
        let (news, mut reports) = channel(ROOM);
        let mut tasks = JoinSet::new();
        let ports = self.visits(&listing.candidates, &news);
        ports.for_each(|visit| {
            tasks.spawn(visit.once());
        });
        drop(news);
        let mut found: Vec<PortReport> = without_device(&listing);
        while let Some(news) = reports.recv().await {
            found.push(news.report);
        }
        found.sort_by(|one, other| one.port.cmp(&other.port));
        self.print(&found, out)?;
        let fine = !found.is_empty() && found.iter().all(PortReport::is_fine);
        Ok(if fine { Exit::Fine } else { Exit::Failed })
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
        let (news, mut heard) = channel(ROOM);
        let mut ports = Ports::default();
        let mut lines = Lines::new(self.options.json, out);
        let mut absent: Vec<PortReport> = Vec::new();
        loop {
            tokio::select! {
                _ = scans.tick() => {
                    let listing = list.list();
                    let missing = without_device(&listing);
                    for report in missing.iter().filter(|report| !absent.contains(report)) {
                        lines.tell(report, &text::line(report))?;
                    }
                    absent = missing;
                    for change in watch.handle_listing(listing.candidates) {
                        match change {
                            PortChange::Added(candidate) => {
                                lines.note(&candidate, "plugged in")?;
                                let visits = self.visits(std::slice::from_ref(&candidate), &news);
                                visits.for_each(|visit| ports.add(visit));
                            }
                            PortChange::Removed(candidate) => {
                                ports.remove(&candidate.device);
                                lines.gone(&candidate)?;
                            }
                        }
                    }
                    if watch.present().next().is_none() && absent.is_empty() {
                        lines.nothing()?;
                    }
                }
                Some(News { report, line }) = heard.recv() => lines.tell(&report, &line)?,
            }
        }
    }

    /// The ports to be looked at.
    fn visits<'d>(
        &'d self,
        candidates: &'d [Candidate],
        news: &'d Sender<News>,
    ) -> impl Iterator<Item = Visit> + 'd {
        let time = LiveTime::start();
        candidates.iter().map(move |candidate| Visit {
            mode: self.mode(candidate),
            candidate: candidate.clone(),
            config: self.config.clone(),
            time: time.clone(),
            news: news.clone(),
        })
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

    /// How the boards on the port speak, as configured.
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

/// The configured paths that lead nowhere, and that nothing can be searched.
fn without_device(listing: &Listing) -> Vec<PortReport> {
    let missing = listing.missing.iter();
    let missing = missing.map(|path| PortReport::missing(&path.display().to_string()));
    let trouble = listing.trouble.as_ref();
    missing
        .chain(trouble.map(|error| PortReport::unlisted(Trouble::of(error))))
        .collect()
}

/// The ports that are being followed.
#[derive(Default)]
struct Ports {
    tasks: JoinSet<()>,
    handles: HashMap<PathBuf, AbortHandle>,
}

impl Ports {
    fn add(&mut self, visit: Visit) {
        while self.tasks.try_join_next().is_some() {}
        let device = visit.candidate.device.clone();
        let handle = self.tasks.spawn(visit.follow());
        self.handles.insert(device, handle);
    }

    fn remove(&mut self, device: &PathBuf) {
        if let Some(handle) = self.handles.remove(device) {
            handle.abort();
        }
    }
}

/// Prints one line per change, each at once.
struct Lines<'o, W> {
    json: bool,
    out: &'o mut W,
    zone: TimeZone,
    /// Somebody was told that there is nothing.
    told_nothing: bool,
    /// Ports of which it was told that they are gone.
    gone: HashSet<String>,
}

/// A port's state from a time on.
#[derive(Serialize)]
struct Dated<'r> {
    ts: String,
    #[serde(flatten)]
    report: &'r PortReport,
}

impl<'o, W: Write> Lines<'o, W> {
    fn new(json: bool, out: &'o mut W) -> Self {
        let zone = system_time::local_zone();
        Self {
            json,
            out,
            zone,
            told_nothing: false,
            gone: HashSet::new(),
        }
    }

    fn tell(&mut self, report: &PortReport, line: &str) -> Result<()> {
        if report.troubles.iter().any(|trouble| trouble.kind == "gone") {
            self.gone.insert(report.port.clone());
        } else {
            self.gone.remove(&report.port);
        }
        if self.json {
            let ts = at(system_time::wall_time()).to_string();
            serde_json::to_writer(&mut *self.out, &Dated { ts, report })?;
            writeln!(self.out)?;
            self.out.flush()?;
            return Ok(());
        }
        self.line(&format!("{}: {line}", report.port))
    }

    /// Something that a program need not be told, since a report follows.
    fn note(&mut self, candidate: &Candidate, text: &str) -> Result<()> {
        self.told_nothing = false;
        let (device, kind) = (candidate.device.display(), candidate.kind);
        self.line(&format!("{device}: {kind}, {text}"))
    }

    fn gone(&mut self, candidate: &Candidate) -> Result<()> {
        let mut report = PortReport::of(candidate);
        // A port that is open says so itself, and at once.
        if self.gone.remove(&report.port) {
            return Ok(());
        }
        report.troubles.push(Trouble::gone("unplugged"));
        self.tell(&report, "unplugged")
    }

    fn nothing(&mut self) -> Result<()> {
        if core::mem::replace(&mut self.told_nothing, true) {
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

/// News that wait to be printed.
const ROOM: usize = 64;
