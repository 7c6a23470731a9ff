//! Recording of the traffic of all ports.
//!
//! A [`Recorder`] writes one [capture](crate::capture) per port and day to a folder, named `2026-11-21-ttyUSB0.pcapng`.
//! Days are local days, so that midnight UTC does not divide a tournament.
//!
//! - An existing file of the day is continued with a new section. An incomplete block at its end, left by a power cut,
//!   is removed first.
//! - A second file, `2026-11-21-ttyUSB0+2.pcapng`, is started if the file is damaged before its end, is being written
//!   by another program, or has reached a sixteenth of the budget (at least 64 KiB, at most 64 MiB).
//! - If a port stays open over midnight, its recording continues in the next day's file without a marker. Both files,
//!   read in sequence, give the complete traffic.
//! - If a file is removed or renamed while it is written, the recorder notices within a minute and starts a new file.
//!
//! # Usage
//!
//! Each port and day needs an open file, so a program with hundreds of ports needs a matching limit on open files
//! (`LimitNOFILE=` in its systemd unit). Run a recorder on its own thread, so that boards do not wait for slow disks.
//!
//! Pass each chunk to [`record`](Recorder::record), which writes it to the operating system immediately, so that it
//! survives the end of the process. At [`poll_deadline`](Recorder::poll_deadline) call [`sync`](Recorder::sync), which
//! writes all data to the disk, less than a second after it was recorded if the disk is fast enough.
//! [`poll_report`](Recorder::poll_report) returns reports for users.
//!
//! No error stops the recorder. If a write fails, the recorder drops the chunk, reports the failure once, and retries
//! every five seconds. It marks the gap with a close, whose reason gives the number of missing chunks, and an open.
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

/// Settings of a recorder.
#[derive(Clone, Debug)]
pub struct RecorderSettings {
    /// Folder of the captures, created if it does not exist. Other files in the folder are never changed.
    pub folder: PathBuf,
    /// Maximum total size of all captures in the folder in bytes. If exceeded, the oldest captures are removed, except
    /// files that are being written. The size is checked once a minute and after each recorded sixteenth of the budget,
    /// and may exceed the budget in between.
    pub budget: u64,
    /// Time zone of the boards, which determines the end of a day.
    pub zone: TimeZone,
}

/// Records the traffic of all ports; see the [module](self) documentation for an example.
#[derive(Debug)]
pub struct Recorder {
    folder: Folder,
    budget: u64,
    zone: TimeZone,
    today: Option<Day>,
    ports: HashMap<String, RecordedPort>,
    /// Time of the oldest chunk that is not synced to the disk.
    unsynced: Option<Timestamp>,
    budget_checked: Option<Timestamp>,
    /// Bytes recorded since `budget_checked`.
    since_checked: u64,
    over_budget: bool,
    trouble: Option<Trouble>,
    reports: VecDeque<RecorderReport>,
}

/// A report for users about the recording.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum RecorderReport {
    /// Chunks cannot be recorded. Not repeated before [`Resumed`](Self::Resumed).
    #[error("not recording: cannot write {path} ({}); boards and games go on", describe_error(*.error))]
    Failed {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        error: io::ErrorKind,
    },
    /// Recording works again.
    #[error("recording again; {lost} chunks were not recorded")]
    Resumed {
        /// Number of missing chunks of all ports.
        lost: u64,
    },
    /// The captures exceed the budget, and none of them can be removed. Not repeated while the budget is exceeded.
    #[error("the recordings in {folder} take {size} bytes and none may be removed: raise the disk budget")]
    OverBudget {
        /// Folder of the captures.
        folder: PathBuf,
        /// Total size of the captures in bytes.
        size: u64,
    },
}

#[derive(Debug, Default)]
struct RecordedPort {
    file: Option<DayFile<File>>,
    /// Files of other days or at their limit, which are kept until they are synced to the disk.
    finished: Vec<DayFile<File>>,
    open: bool,
    /// Whether the port is open according to the recording.
    recorded_open: bool,
    /// Missing chunks since the last recorded chunk.
    gap: Option<Gap>,
}

#[derive(Copy, Clone, Debug)]
struct Gap {
    since: Timestamp,
    chunks: u64,
    retry_at: Timestamp,
}

/// A current or recent failure to record.
#[derive(Debug)]
struct Trouble {
    last_failure: Timestamp,
    lost: u64,
    /// Whether a chunk was recorded since `last_failure`.
    recovered: bool,
}

/// The captures of a port and local day in a folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordedDay {
    /// Name of the first file, for example `2026-11-21-ttyUSB0.pcapng`, even if the file does not exist.
    pub name: String,
    /// Existing files, in the order in which they were written.
    pub files: Vec<PathBuf>,
}

/// Returns the captures of a port in `folder` for each local day from `from` to `to`, at most 366 days.
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
        days.push(folder.recorded_day(day.name(), port));
        if day.end() <= at {
            break;
        }
        at = day.end();
    }
    days
}

/// Returns all captures in `folder` since the local day of `from`, ordered by day.
#[must_use]
pub fn recorded_since(folder: &Path, from: Timestamp, zone: &TimeZone) -> Vec<PathBuf> {
    let mut today = None;
    let day = Day::of(from, zone, &mut today);
    Folder::new(folder.to_owned()).since(day.name())
}

/// Maximum number of days in a result of [`recorded_days`].
const MAX_DAYS: usize = 366;

impl Recorder {
    /// Returns a new recorder. The folder is not accessed before the first chunk.
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

    /// Records an entry of a port whose line has this mode.
    ///
    /// Each combination of port and mode is an interface of the capture, with the name of the port.
    pub fn record(&mut self, now: Timestamp, port: &str, mode: LineMode, content: &Content) {
        let state = match self.ports.get_mut(port) {
            Some(state) => state,
            None => self.ports.entry(port.to_owned()).or_default(),
        };
        if let Some(gap) = &mut state.gap
            && now < gap.retry_at
            // Retry immediately if the clock was set back, instead of waiting for hours.
            && now >= gap.since
        {
            gap.chunks += 1;
            if let Some(trouble) = &mut self.trouble {
                trouble.lost += 1;
            }
        } else {
            let day = Day::of(now, &self.zone, &mut self.today);
            let max_size = file_limit(self.budget);
            match state.write(&self.folder, (port, max_size), day, now, mode, content) {
                Ok(()) => {
                    self.since_checked += size_in_file(content);
                    self.note_recorded(now);
                }
                Err((path, error)) => self.note_lost(now, port, path, &error),
            }
        }
        if let Some(state) = self.ports.get_mut(port) {
            state.open = leaves_open(content, state.open);
        }
    }

    /// Reports chunks of a port that were lost before they reached the recorder. The gap is marked like any other.
    pub fn missed(&mut self, now: Timestamp, port: &str, chunks: u64) {
        let state = self.ports.entry(port.to_owned()).or_default();
        let before = state.gap;
        state.gap = Some(Gap {
            since: before.map_or(now, |gap| gap.since.min(now)),
            chunks: before.map_or(0, |gap| gap.chunks) + chunks,
            retry_at: before.map_or(now, |gap| gap.retry_at),
        });
    }

    /// Returns whether recording works: there is no current or recent failure, and no gap.
    #[must_use]
    pub fn is_well(&self) -> bool {
        self.trouble.is_none() && self.ports.values().all(|port| port.gap.is_none())
    }

    /// Returns the time for the next [`sync`](Self::sync), or `None` if there is nothing to do.
    #[must_use]
    pub fn poll_deadline(&self) -> Option<Timestamp> {
        let unsynced = self.unsynced.map(|since| since + SYNC_AFTER);
        let trouble = self.trouble.as_ref().filter(|trouble| trouble.recovered);
        let well = trouble.map(|trouble| trouble.last_failure + WELL_AFTER);
        unsynced.into_iter().chain(well).min()
    }

    /// Syncs recorded data to the disk, and removes old captures if the budget is exceeded. Blocks until the disk has
    /// finished.
    pub fn sync(&mut self, now: Timestamp) {
        if self.unsynced.take().is_some() {
            self.sync_files(now);
        }
        if let Some(today) = &self.today
            && !today.contains(now)
        {
            // Closes the files of ports that were closed on an earlier day.
            self.ports.retain(|_, port| port.open || port.gap.is_some());
        }
        let due = self
            .budget_checked
            .is_none_or(|checked| now < checked || now.saturating_duration_since(checked) >= CHECK_PERIOD);
        if (due || self.since_checked >= file_limit(self.budget)) && !self.ports.is_empty() {
            self.budget_checked = Some(now);
            self.since_checked = 0;
            self.forget_removed_files();
            self.keep_to_budget();
        }
        self.settle_trouble(now);
    }

    /// Returns the next report for users, in chronological order.
    #[must_use]
    pub fn poll_report(&mut self) -> Option<RecorderReport> {
        self.reports.pop_front()
    }

    fn note_recorded(&mut self, now: Timestamp) {
        // Use the minimum, so that the deadline moves back with the clock.
        self.unsynced = Some(self.unsynced.map_or(now, |since| since.min(now)));
        if let Some(trouble) = &mut self.trouble {
            trouble.recovered = true;
        }
    }

    fn note_lost(&mut self, now: Timestamp, port: &str, path: PathBuf, error: &io::Error) {
        if let Some(state) = self.ports.get_mut(port) {
            let before = state.gap;
            state.gap = Some(Gap {
                since: before.map_or(now, |gap| gap.since.min(now)),
                chunks: before.map_or(0, |gap| gap.chunks) + 1,
                retry_at: now + RETRY_AFTER,
            });
        }
        self.note_failure(now, path, error);
        if let Some(trouble) = &mut self.trouble {
            trouble.lost += 1;
        }
    }

    fn note_failure(&mut self, now: Timestamp, path: PathBuf, error: &io::Error) {
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

    /// Reports the end of a failure after `WELL_AFTER` without failures. One successful write is not enough, because a
    /// nearly full disk may accept one chunk and refuse the next.
    fn settle_trouble(&mut self, now: Timestamp) {
        let is_over = |trouble: &mut Trouble| {
            let well_for = now.saturating_duration_since(trouble.last_failure);
            let set_back = now < trouble.last_failure;
            trouble.recovered && (well_for >= WELL_AFTER || set_back)
        };
        if let Some(trouble) = self.trouble.take_if(is_over) {
            self.reports
                .push_back(RecorderReport::Resumed { lost: trouble.lost });
        }
    }

    fn sync_files(&mut self, now: Timestamp) {
        let mut changed: Vec<_> = self.ports.values_mut().flat_map(RecordedPort::changed).collect();
        let synced = sync_to_disk(&changed);
        for file in &mut changed {
            file.changed = false;
        }
        for port in self.ports.values_mut() {
            port.finished.clear();
        }
        if let Err(error) = synced {
            let path = self.folder.path().to_owned();
            self.note_failure(now, path, &error);
        }
    }

    /// Closes files that were removed or renamed, because data written to them would be lost.
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
    /// Writes an entry to the file of the day. If there is a gap, writes its markers first.
    fn write(
        &mut self,
        folder: &Folder,
        (name, max_size): (&str, u64),
        day: &Day,
        now: Timestamp,
        mode: LineMode,
        content: &Content,
    ) -> Result<(), (PathBuf, io::Error)> {
        let mut file = match self.file_of(day, max_size) {
            Some(file) => file,
            None => folder.open(day.name(), name, max_size)?,
        };
        let written = self.write_gap(&mut file, name, now, mode, content);
        let written = written.and_then(|()| self.write_marked(&mut file, name, now, mode, content));
        if let Err(error) = written {
            let path = file.path.clone();
            // If the repair fails, the file is closed, and repaired when it is opened again.
            self.file = file.repair().is_ok().then_some(file);
            return Err((path, error));
        }
        self.file = Some(file);
        Ok(())
    }

    /// Returns the file of the day if it is open and smaller than `max_size`.
    fn file_of(&mut self, day: &Day, max_size: u64) -> Option<DayFile<File>> {
        self.finished.extend(self.file.take());
        let matches = |file: &DayFile<File>| file.day == day.name() && file.length() < max_size;
        let position = self.finished.iter().position(matches);
        position.map(|position| self.finished.swap_remove(position))
    }

    /// Marks a gap by a close and an open of the port. Omits the open if `content`, which is written next, is an open.
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

fn sync_to_disk(files: &[&mut DayFile<File>]) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if let Some(file) = files.first()
        && files.len() > MAX_SYNCED_SEPARATELY
    {
        return file.sync_file_system();
    }
    // Collect the results first, so that all files are synced even if one fails.
    let results: Vec<_> = files.iter().map(|file| file.sync()).collect();
    results.into_iter().collect()
}

/// Returns whether a port is open after an entry.
fn leaves_open(content: &Content, before: bool) -> bool {
    match content {
        Content::Opened => true,
        Content::Closed { .. } => false,
        Content::Bytes { .. } | Content::ClockSet { .. } => before,
    }
}

/// Returns the size in bytes at which a new file is started. Limits files, so that old ones can be removed within a
/// day.
fn file_limit(budget: u64) -> u64 {
    (budget / 16).clamp(MIN_FILE_LIMIT, MAX_FILE_LIMIT)
}

/// Returns the approximate size of an entry in a file, in bytes.
fn size_in_file(content: &Content) -> u64 {
    let bytes = match content {
        Content::Bytes { bytes, .. } => bytes.len(),
        Content::Opened | Content::Closed { .. } | Content::ClockSet { .. } => 0,
    };
    BLOCK_OVERHEAD + bytes as u64
}

fn describe_error(error: io::ErrorKind) -> String {
    match error {
        io::ErrorKind::StorageFull => "the disk is full: remove files, or lower the disk budget".to_owned(),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            format!("{error}: give this program's user permission to write there")
        }
        _ => error.to_string(),
    }
}

/// Time from recording a chunk to the sync. Leaves time for the sync itself to finish within a second.
const SYNC_AFTER: Duration = Duration::from_millis(800);

/// Maximum number of files that are synced separately. With more files, the whole file system is synced at once,
/// because each file would wait for the file system's journal.
#[cfg(target_os = "linux")]
const MAX_SYNCED_SEPARATELY: usize = 8;

/// Time from a failure to the next attempt.
const RETRY_AFTER: Duration = Duration::from_secs(5);
/// Time without failures after which recording counts as working again.
const WELL_AFTER: Duration = Duration::from_secs(10);
/// Lower bound of [`file_limit`], in bytes.
const MIN_FILE_LIMIT: u64 = 64 << 10;
/// Upper bound of [`file_limit`], in bytes.
const MAX_FILE_LIMIT: u64 = 64 << 20;
/// Approximate size of a block without the bytes of its chunk.
const BLOCK_OVERHEAD: u64 = 44;
/// Interval between checks of the budget.
const CHECK_PERIOD: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests;
