//! Recording every byte of every port, all day, every day.
//!
//! A [`Recorder`] keeps one [capture](crate::capture) per port and day in a folder, named `2026-11-21-ttyUSB0.pcapng`.
//! The day is the local one, so that a tournament is not cut in two where it is evening at midnight UTC. A file
//! of the day that is there already is continued: cut off after its last whole block, if the power failed, and
//! with a new section. A file that is damaged inside, or that another program writes, is left alone, and
//! `2026-11-21-ttyUSB0+2.pcapng` is begun; so it is when a file has a sixteenth of the budget. A port that stays open over midnight goes on in the next day's file without
//! a mark, so that both, read one after the other, show what happened. If a file is removed or
//! renamed while it is written, this is noticed within a minute, and a new one is begun.
//!
//! # Driving it
//!
//! Every port and day is an open file, so a program with hundreds of ports needs a limit on open files to match
//! (`LimitNOFILE=` in its unit). Recording belongs on a thread of its own, since disks may be slow and boards must not
//! wait for them. It is given each chunk by [`record`](Recorder::record), which passes it to the operating system at
//! once, so that the end of the process costs nothing. At [`poll_deadline`](Recorder::poll_deadline) it calls
//! [`sync`](Recorder::sync), which has the disk store everything: less than a second after it was recorded, as long as
//! the disk is fast enough. [`poll_report`](Recorder::poll_report) returns reports for people.
//!
//! Nothing that goes wrong stops the recorder. It drops what it cannot write, reports that once, tries again every five
//! seconds, and marks the gap: a close whose reason gives the number of missing chunks, then an open.
//!
//! ```
//! use core::time::Duration;
//! use jiff::tz::TimeZone;
//! use kiebitz_hardware::Timestamp;
//! use kiebitz_hardware::capture::{Content, LineMode};
//! use kiebitz_hardware::recorder::{Recorder, RecorderSettings};
//!
//! let folder = tempfile::tempdir()?;
//! let mut recorder = Recorder::new(RecorderSettings {
//!     folder: folder.path().to_owned(),
//!     budget: 1 << 30,
//!     zone: TimeZone::UTC,
//! });
//! let now = Timestamp::from_micros(1_789_000_000_000_000);
//! recorder.record(now, "ttyUSB0", LineMode::Single, &Content::Opened);
//! assert!(recorder.poll_deadline().is_some_and(|due| due < now + Duration::from_secs(1)));
//! recorder.sync(now + Duration::from_secs(1));
//! assert_eq!(recorder.poll_report(), None);
//! assert!(folder.path().join("2026-09-10-ttyUSB0.pcapng").exists());
//! # Ok::<(), std::io::Error>(())
//! ```

use core::time::Duration;
use std::collections::{HashMap, HashSet, VecDeque};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use thiserror::Error;

use crate::capture::{Content, LineMode};
use crate::time::Timestamp;

mod day;
mod file;
mod folder;

use day::Day;
use file::DayFile;
use folder::Folder;

/// Where and how much to record.
#[derive(Clone, Debug)]
pub struct RecorderSettings {
    /// The folder of the captures, created if it does not exist. Other files in it are left alone.
    pub folder: PathBuf,
    /// The size in bytes that all captures in the folder may have together. The oldest are removed to keep to it, but
    /// never one that is being written. Checked once a minute, and after every sixteenth of it that was recorded, so
    /// for that long there may be more.
    pub budget: u64,
    /// Where the boards are: it decides when a day ends.
    pub zone: TimeZone,
}

/// Records what goes over all ports; an example is in the [module](self)'s description.
#[derive(Debug)]
pub struct Recorder {
    folder: Folder,
    budget: u64,
    zone: TimeZone,
    today: Option<Day>,
    ports: HashMap<String, RecordedPort>,
    /// When the oldest chunk was recorded that the disk has not been asked to store.
    unsynced: Option<Timestamp>,
    budget_checked: Option<Timestamp>,
    /// Bytes of chunks that were recorded since.
    since_checked: u64,
    over_budget: bool,
    trouble: Option<Trouble>,
    reports: VecDeque<RecorderReport>,
}

/// A report for people about the recording.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum RecorderReport {
    /// Chunks cannot be recorded. Reported once, until [`Resumed`](Self::Resumed).
    #[error("not recording: cannot write {path} ({}); boards and games go on", in_words(*.error))]
    Failed {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        error: io::ErrorKind,
    },
    /// Recording works again.
    #[error("recording again; {lost} chunks were not recorded")]
    Resumed {
        /// How many chunks are missing, of all ports.
        lost: u64,
    },
    /// The files being written alone exceed the budget. Reported once, until they no longer do.
    #[error("the recordings in {folder} take {size} bytes and none may be removed: raise the disk budget")]
    OverBudget {
        /// Where they are.
        folder: PathBuf,
        /// Their size in bytes.
        size: u64,
    },
}

#[derive(Debug, Default)]
struct RecordedPort {
    file: Option<DayFile<File>>,
    /// Files of other days that the disk has not been asked to store.
    finished: Vec<DayFile<File>>,
    /// Whether the port is open.
    open: bool,
    /// Whether it is by what has been recorded.
    recorded_open: bool,
    /// Chunks that could not be recorded since the last that could.
    gap: Option<Gap>,
}

#[derive(Copy, Clone, Debug)]
struct Gap {
    since: Timestamp,
    chunks: u64,
    retry_at: Timestamp,
}

/// Chunks are being lost, or have been a moment ago.
#[derive(Debug)]
struct Trouble {
    last_failure: Timestamp,
    lost: u64,
    /// Whether anything was recorded since.
    recovered: bool,
}

/// What a folder has of a port's recording of one local day.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordedDay {
    /// The name of its first file, as in `2026-11-21-ttyUSB0.pcapng`, whether it is there or not.
    pub name: String,
    /// Its files, in the order in which they were written; none where nothing is left of that day.
    pub files: Vec<PathBuf>,
}

/// What `folder` has of a port's recordings from the local day of `from` to that of `to`, day by day; at most a year.
#[must_use]
pub fn recorded_days(
    folder: &Path,
    port: &str,
    from: Timestamp,
    to: Timestamp,
    zone: &TimeZone,
) -> Vec<RecordedDay> {
    let folder = Folder::new(folder.to_owned());
    let (mut days, mut at) = (Vec::new(), from);
    while at <= to.max(from) && days.len() < MAX_DAYS {
        let mut today = None;
        let day = Day::of(at, zone, &mut today);
        days.push(folder.recorded(day.name(), port));
        if day.end() <= at {
            break;
        }
        at = day.end();
    }
    days
}

/// All captures in `folder` from the local day of `from` on, day by day.
#[must_use]
pub fn recorded_since(folder: &Path, from: Timestamp, zone: &TimeZone) -> Vec<PathBuf> {
    let mut today = None;
    let day = Day::of(from, zone, &mut today);
    Folder::new(folder.to_owned()).since(day.name())
}

/// The most days that are looked for at a time.
const MAX_DAYS: usize = 366;

impl Recorder {
    /// A recorder that has nothing to record yet. The folder is not touched before there is something.
    #[must_use]
    pub fn new(settings: RecorderSettings) -> Self {
        Self {
            folder: Folder::new(settings.folder),
            budget: settings.budget,
            zone: settings.zone,
            today: None,
            ports: HashMap::new(),
            unsynced: None,
            budget_checked: None,
            since_checked: 0,
            over_budget: false,
            trouble: None,
            reports: VecDeque::new(),
        }
    }

    /// Records what happened on a port that is used in this way.
    ///
    /// Each port and mode is an interface of the capture, under the name of the port.
    pub fn record(&mut self, now: Timestamp, port: &str, mode: LineMode, content: &Content) {
        let state = match self.ports.get_mut(port) {
            Some(state) => state,
            None => self.ports.entry(port.to_owned()).or_default(),
        };
        if let Some(gap) = &mut state.gap
            && now < gap.retry_at
            // A clock that was set back does not make it wait for hours.
            && now >= gap.since
        {
            gap.chunks += 1;
            if let Some(trouble) = &mut self.trouble {
                trouble.lost += 1;
            }
        } else {
            let day = Day::of(now, &self.zone, &mut self.today);
            let part = part(self.budget);
            match state.write(&self.folder, (port, part), day, now, mode, content) {
                Ok(()) => {
                    self.since_checked += size(content);
                    self.recorded(now);
                }
                Err((path, error)) => self.lost(now, port, path, &error),
            }
        }
        if let Some(state) = self.ports.get_mut(port) {
            state.open = leaves_open(content, state.open);
        }
    }

    /// Chunks of a port were lost before they came here. The gap is marked like any other.
    pub fn missed(&mut self, now: Timestamp, port: &str, chunks: u64) {
        let state = self.ports.entry(port.to_owned()).or_default();
        let before = state.gap;
        state.gap = Some(Gap {
            since: before.map_or(now, |gap| gap.since.min(now)),
            chunks: before.map_or(0, |gap| gap.chunks) + chunks,
            retry_at: before.map_or(now, |gap| gap.retry_at),
        });
    }

    /// Whether what is handed in is recorded: nothing has failed that has not worked again since.
    #[must_use]
    pub fn is_well(&self) -> bool {
        self.trouble.is_none() && self.ports.values().all(|port| port.gap.is_none())
    }

    /// When to call [`sync`](Self::sync); `None` while there is nothing to store.
    #[must_use]
    pub fn poll_deadline(&self) -> Option<Timestamp> {
        let unsynced = self.unsynced.map(|since| since + SYNC_AFTER);
        let trouble = self.trouble.as_ref().filter(|trouble| trouble.recovered);
        let well = trouble.map(|trouble| trouble.last_failure + WELL_AFTER);
        unsynced.into_iter().chain(well).min()
    }

    /// Has the disk store what was recorded, and removes old captures when there are too many. It may take as long
    /// as the disk does.
    pub fn sync(&mut self, now: Timestamp) {
        if self.unsynced.take().is_some() {
            self.sync_files(now);
        }
        if let Some(today) = &self.today
            && !today.contains(now)
        {
            // A port that is gone writes no more into a file of the day before.
            self.ports.retain(|_, port| port.open || port.gap.is_some());
        }
        let due = self
            .budget_checked
            .is_none_or(|checked| now < checked || now.saturating_duration_since(checked) >= BUDGET_EVERY);
        if (due || self.since_checked >= part(self.budget)) && !self.ports.is_empty() {
            self.budget_checked = Some(now);
            self.since_checked = 0;
            self.forget_removed_files();
            self.keep_to_budget();
        }
        self.settle_trouble(now);
    }

    /// The next report for people, in the order in which things happened.
    #[must_use]
    pub fn poll_report(&mut self) -> Option<RecorderReport> {
        self.reports.pop_front()
    }

    fn recorded(&mut self, now: Timestamp) {
        // The earlier of the two: should the clock be set back, the deadline goes with it.
        self.unsynced = Some(self.unsynced.map_or(now, |since| since.min(now)));
        if let Some(trouble) = &mut self.trouble {
            trouble.recovered = true;
        }
    }

    fn lost(&mut self, now: Timestamp, port: &str, path: PathBuf, error: &io::Error) {
        if let Some(state) = self.ports.get_mut(port) {
            let before = state.gap;
            state.gap = Some(Gap {
                since: before.map_or(now, |gap| gap.since.min(now)),
                chunks: before.map_or(0, |gap| gap.chunks) + 1,
                retry_at: now + RETRY_AFTER,
            });
        }
        self.fail(now, path, error);
        if let Some(trouble) = &mut self.trouble {
            trouble.lost += 1;
        }
    }

    fn fail(&mut self, now: Timestamp, path: PathBuf, error: &io::Error) {
        match &mut self.trouble {
            Some(trouble) => {
                trouble.last_failure = now;
                trouble.recovered = false;
            }
            None => {
                self.trouble = Some(Trouble {
                    last_failure: now,
                    lost: 0,
                    recovered: false,
                });
                let error = error.kind();
                self.reports.push_back(RecorderReport::Failed { path, error });
            }
        }
    }

    /// A nearly full disk takes one chunk and refuses the next: all is well only after a while without failure.
    fn settle_trouble(&mut self, now: Timestamp) {
        let over = |trouble: &mut Trouble| {
            let well_for = now.saturating_duration_since(trouble.last_failure);
            let set_back = now < trouble.last_failure;
            trouble.recovered && (well_for >= WELL_AFTER || set_back)
        };
        if let Some(trouble) = self.trouble.take_if(over) {
            self.reports
                .push_back(RecorderReport::Resumed { lost: trouble.lost });
        }
    }

    fn sync_files(&mut self, now: Timestamp) {
        let mut changed: Vec<_> = self.ports.values_mut().flat_map(RecordedPort::changed).collect();
        let stored = store(&changed);
        for file in &mut changed {
            file.changed = false;
        }
        for port in self.ports.values_mut() {
            port.finished.clear();
        }
        if let Err(error) = stored {
            let path = self.folder.path().to_owned();
            self.fail(now, path, &error);
        }
    }

    /// Lets go of files that were removed or renamed: what is written to them is lost.
    fn forget_removed_files(&mut self) {
        for port in self.ports.values_mut() {
            port.file.take_if(|file| !file.path.exists());
        }
    }

    fn keep_to_budget(&mut self) {
        let written = self.ports.values().filter_map(|port| port.file.as_ref());
        let written: HashSet<_> = written.map(|file| file.path.as_path()).collect();
        let size = self.folder.keep_to_budget(self.budget, &written);
        let over = size > self.budget;
        if over && !self.over_budget {
            let folder = self.folder.path().to_owned();
            self.reports
                .push_back(RecorderReport::OverBudget { folder, size });
        }
        self.over_budget = over;
    }
}

impl RecordedPort {
    /// Writes to the file of the day, with the marks of a gap before it.
    fn write(
        &mut self,
        folder: &Folder,
        (name, part): (&str, u64),
        day: &Day,
        now: Timestamp,
        mode: LineMode,
        content: &Content,
    ) -> Result<(), (PathBuf, io::Error)> {
        let mut file = match self.file_of(day, part) {
            Some(file) => file,
            None => folder.open(day.name(), name, part)?,
        };
        let written = self.write_gap(&mut file, name, now, mode, content);
        let written = written.and_then(|()| self.write_marked(&mut file, name, now, mode, content));
        if let Err(error) = written {
            let path = file.path.clone();
            // A file that cannot be mended is examined again before it is used.
            self.file = file.mend().is_ok().then_some(file);
            return Err((path, error));
        }
        self.file = Some(file);
        Ok(())
    }

    /// The file of the day, if it is open and has fewer bytes than `part`.
    fn file_of(&mut self, day: &Day, part: u64) -> Option<DayFile<File>> {
        self.finished.extend(self.file.take());
        let is_it = |file: &DayFile<File>| file.day == day.name() && file.length() < part;
        let position = self.finished.iter().position(is_it);
        position.map(|position| self.finished.swap_remove(position))
    }

    /// Marks a gap as the port's going and coming, as far as `content`, which comes next, does not.
    fn write_gap(
        &mut self,
        file: &mut DayFile<File>,
        name: &str,
        now: Timestamp,
        mode: LineMode,
        content: &Content,
    ) -> io::Result<()> {
        let Some(gap) = self.gap else {
            return Ok(());
        };
        if self.recorded_open {
            let reason = format!("recorder: {} chunks were not recorded", gap.chunks);
            self.write_marked(file, name, gap.since, mode, &Content::Closed { reason })?;
        }
        if self.open && *content != Content::Opened {
            self.write_marked(file, name, now, mode, &Content::Opened)?;
        }
        self.gap = None;
        Ok(())
    }

    fn write_marked(
        &mut self,
        file: &mut DayFile<File>,
        name: &str,
        at: Timestamp,
        mode: LineMode,
        content: &Content,
    ) -> io::Result<()> {
        file.write(name, mode, at, content)?;
        self.recorded_open = leaves_open(content, self.recorded_open);
        Ok(())
    }

    fn changed(&mut self) -> impl Iterator<Item = &mut DayFile<File>> {
        let files = self.file.iter_mut().chain(&mut self.finished);
        files.filter(|file| file.changed)
    }
}

/// Has the disk store these files.
fn store(files: &[&mut DayFile<File>]) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if let Some(file) = files.first()
        && files.len() > MAX_STORED_ALONE
    {
        return file.sync_file_system();
    }
    // One that fails is no reason to leave out the others.
    let results: Vec<_> = files.iter().map(|file| file.sync()).collect();
    results.into_iter().collect()
}

/// Whether a port is open after this, if it was before.
fn leaves_open(content: &Content, before: bool) -> bool {
    match content {
        Content::Opened => true,
        Content::Closed { .. } => false,
        Content::Bytes { .. } | Content::ClockSet { .. } => before,
    }
}

/// How many bytes a file may have before another is begun, so that the budget can be kept during a day as well.
fn part(budget: u64) -> u64 {
    (budget / 16).clamp(MIN_PART, MAX_PART)
}

/// About what a chunk takes in a file.
fn size(content: &Content) -> u64 {
    let bytes = match content {
        Content::Bytes { bytes, .. } => bytes.len(),
        Content::Opened | Content::Closed { .. } | Content::ClockSet { .. } => 0,
    };
    BLOCK + bytes as u64
}

fn in_words(error: io::ErrorKind) -> String {
    match error {
        io::ErrorKind::StorageFull => "the disk is full: remove files, or lower the disk budget".to_owned(),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            format!("{error}: give this program's user permission to write there")
        }
        _ => error.to_string(),
    }
}

/// How long a chunk waits before the disk is asked to store it. With the time that storing takes, it is less than a
/// second.
const SYNC_AFTER: Duration = Duration::from_millis(800);

/// At most this many files are stored one by one. With more, the file system stores everything at once, because
/// each file would wait for its journal.
#[cfg(target_os = "linux")]
const MAX_STORED_ALONE: usize = 8;

/// How long after a failure writing is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(5);
/// Recording counts as working again after this long without a failure.
const WELL_AFTER: Duration = Duration::from_secs(10);
/// Files are never cut into smaller parts than this, in bytes, and always into parts of this size at least.
const MIN_PART: u64 = 64 << 10;
const MAX_PART: u64 = 64 << 20;
/// What a block has besides the bytes of its chunk.
const BLOCK: u64 = 44;
/// How often the disk budget is checked.
const BUDGET_EVERY: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests;
