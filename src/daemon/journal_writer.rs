//! The journal writer: a thread that owns the journal and appends events to it, so that nothing else waits for the
//! disk.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use anyhow::{Context, Result};
use kiebitz_game::events::{Event, LIVE_STREAM};
use kiebitz_hardware::Timestamp;
use tokio::sync::watch;

use super::lock::StateLock;
use super::seqs::SeqNotes;
use super::start;
use super::storage::Storage;
use crate::journal::{Input, InputsFile, Journal, JournalError, Run, digest_of};
use crate::outputs::mqtt::Outbox;
use crate::progress::Progress;
use crate::system_time::LiveTime;

/// Passes events to the thread and reports which of them it has stored.
#[derive(Debug)]
pub(super) struct JournalWriter {
    tasks: Option<Sender<Task>>,
    /// Number of the last stored batch.
    kept: watch::Receiver<u64>,
}

/// Events that are stored in one transaction. Batches are numbered consecutively.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) number: u64,
    pub(super) events: Arc<Vec<Event>>,
}

#[derive(Debug)]
enum Task {
    Keep(Batch),
    /// Record a new configuration.
    Note(Run),
    /// Use the journal that was opened at the start; `None` if it could not be opened, which is retried.
    Open(Option<Journal>),
}

pub(super) struct JournalWriterThread {
    /// The record of this start, until the journal has stored it.
    pub(super) run: Option<Run>,
    pub(super) path: PathBuf,
    /// Path of the second copy of starts and commands.
    pub(super) inputs: PathBuf,
    pub(super) numbers: SeqNotes,
    pub(super) outbox: Option<Outbox>,
    /// Age at which games are removed.
    pub(super) keep: Duration,
    pub(super) time: LiveTime,
    pub(super) storage: Storage,
    pub(super) lock: Arc<StateLock>,
    pub(super) work: Work,
}

#[derive(Debug, Default)]
pub(super) struct Work {
    journal: Option<Journal>,
    /// The journal may be opened, as the thread that prepared the start no longer does.
    may_open: bool,
    /// Handle of the journal's file, to detect that the path now refers to another file or to none.
    file: Option<File>,
    /// Handle of SQLite's write-ahead log, for the same purpose.
    log: Option<File>,
    pending: VecDeque<Batch>,
    /// Starts and commands that the second copy lacks.
    inputs: Vec<Input>,
    inputs_file: Option<InputsFile>,
    /// The error of the last attempt to write the second copy.
    inputs_failing: Option<String>,
    /// New configurations that the journal has not recorded yet.
    reloads: VecDeque<Run>,
    /// An attempt to store some of the pending events failed. The journal may have stored them all the same.
    tried: bool,
    /// The error because of which the journal stores no events.
    failing: Option<String>,
    /// The last acknowledgements that the journal has recorded, by board.
    acknowledged: BTreeMap<Arc<str>, u64>,
    lasts: BTreeMap<String, u64>,
    /// Set when the background check has found damage.
    damaged: Arc<AtomicBool>,
    file_checked: Option<Timestamp>,
    tidied: Option<Timestamp>,
}

pub(super) const OUTPUT: &str = "mqtt";
/// Pause before a failed write to the journal is retried.
const RETRY_PAUSE: Duration = Duration::from_secs(1);
/// Maximum pause between two rounds of chores: storing the broker's acknowledgements, and checking that the journal's
/// file is still in its place.
const CHORES: Duration = Duration::from_secs(5);
/// Interval between removals of old games.
const TIDY_INTERVAL: Duration = Duration::from_secs(6 * 3600);

impl JournalWriter {
    /// Starts the thread. It stores nothing until it is [given a journal](Self::open).
    pub(super) fn start(mut thread: JournalWriterThread) -> Result<Self> {
        let (tasks, taken) = channel();
        let (kept_by, kept) = watch::channel(0);
        // An error from the start is cleared as soon as the journal stores an event.
        thread.work.failing = thread.storage.state().journal.problem;
        std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || thread.work(&taken, &kept_by))
            .context("cannot start the journal")?;
        Ok(Self {
            tasks: Some(tasks),
            kept,
        })
    }

    pub(super) fn keep(&self, batch: Batch) {
        self.send(Task::Keep(batch));
    }

    /// Has the journal record a new configuration before the batches that follow.
    pub(super) fn note(&self, run: Run) {
        self.send(Task::Note(run));
    }

    /// Passes the journal to the thread; `None` if it could not be opened, which is retried.
    pub(super) fn open(&self, journal: Option<Journal>) {
        self.send(Task::Open(journal));
    }

    fn send(&self, task: Task) {
        if let Some(tasks) = &self.tasks {
            // The thread lives as long as this handle.
            let _ = tasks.send(task);
        }
    }

    /// The number of the last stored batch.
    pub(super) fn kept(&self) -> watch::Receiver<u64> {
        self.kept.clone()
    }

    /// Waits until everything is stored, at most for the time `at_most`.
    pub(super) async fn finish(mut self, at_most: Duration) {
        self.tasks = None;
        let ended = async { while self.kept.changed().await.is_ok() {} };
        if tokio::time::timeout(at_most, ended).await.is_err() {
            tracing::error!(
                "the journal has not stored the last events; the next start restores them from the recordings"
            );
        }
    }
}

impl JournalWriterThread {
    fn work(mut self, tasks: &Receiver<Task>, kept: &watch::Sender<u64>) {
        self.work.inputs.extend(self.run.clone().map(Input::Run));
        let mut open = true;
        while open || !self.work.pending.is_empty() {
            let wait = if self.work.pending.is_empty() {
                CHORES
            } else {
                RETRY_PAUSE
            };
            match tasks.recv_timeout(wait) {
                Ok(task) => {
                    self.take(task);
                    // One transaction serves all batches that have arrived meanwhile.
                    tasks.try_iter().for_each(|task| self.take(task));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    if !open && self.work.failing.is_some() {
                        std::thread::sleep(RETRY_PAUSE);
                    }
                    open = false;
                }
            }
            self.check_file();
            self.replace_damaged();
            self.copy_inputs();
            self.note_reloads();
            if let Some(number) = self.keep() {
                kept.send_replace(number);
            }
            self.do_chores();
        }
        self.note_acknowledged();
    }

    fn take(&mut self, task: Task) {
        match task {
            Task::Keep(batch) => {
                self.work.inputs.extend(Input::commands(batch.events.iter()));
                self.work.pending.push_back(batch);
            }
            Task::Note(run) => {
                self.work.inputs.push(Input::Run(run.clone()));
                self.work.reloads.push_back(run);
            }
            Task::Open(journal) => {
                (self.work.journal, self.work.may_open) = (journal, true);
                self.reopen_files();
                self.check();
            }
        }
    }

    /// Writes starts and commands to the second copy, before the journal gets them.
    fn copy_inputs(&mut self) {
        let Work {
            inputs,
            inputs_file,
            inputs_failing,
            may_open: true,
            ..
        } = &mut self.work
        else {
            return;
        };
        let exists = inputs_file.as_ref().is_some_and(InputsFile::is_there);
        if inputs.is_empty() {
            return;
        }
        let copied = match inputs_file.take().filter(|_| exists) {
            Some(file) => Ok(file),
            None => InputsFile::open(&self.inputs),
        };
        let copied = copied.and_then(|mut file| {
            file.append(&*inputs)?;
            Ok(file)
        });
        match copied {
            Ok(file) => {
                *inputs_file = Some(file);
                *inputs_failing = None;
                inputs.clear();
            }
            Err(error) => {
                let problem = error.to_string();
                if inputs_failing.as_ref() != Some(&problem) {
                    let path = self.inputs.display();
                    tracing::warn!("cannot write the second copy of commands to {path}: {problem}; retrying");
                }
                *inputs_failing = Some(problem);
            }
        }
    }

    /// Stores the pending batches. Returns the number of the last one, or `None` if nothing was stored.
    fn keep(&mut self) -> Option<u64> {
        let last = self.work.pending.back().filter(|_| self.work.may_open)?.number;
        let outcome = match &mut self.work.journal {
            Some(journal) => append(journal, &self.work.pending, self.work.tried),
            None => match self.open() {
                Ok(mut journal) => {
                    let outcome = append(&mut journal, &self.work.pending, true);
                    self.work.journal = Some(journal);
                    self.reopen_files();
                    outcome
                }
                Err(error) => Err(error),
            },
        };
        match outcome {
            Ok(()) => {
                self.note_run();
                if self.work.failing.take().is_some() {
                    tracing::info!("the journal stores events again, and all waiting events are stored");
                    self.storage.journal_is_well();
                }
                self.work.tried = false;
                let batches = core::mem::take(&mut self.work.pending);
                let mut kept = BTreeMap::new();
                for event in batches.iter().flat_map(|batch| batch.events.iter()) {
                    let last = self.work.lasts.entry(event.board.clone()).or_default();
                    *last = event.seq.max(*last);
                    kept.insert(&event.board, event);
                }
                let kept = kept.into_iter();
                let kept = kept.map(|(board, event)| (board.clone(), (event.seq, digest_of(event))));
                self.numbers.kept(kept.collect());
                Some(last)
            }
            Err(error) => {
                self.fail(error);
                None
            }
        }
    }

    /// Records new configurations: after the start that they change, and before the events that follow from them,
    /// because a replay must produce those events with the same configuration.
    fn note_reloads(&mut self) {
        let Some(journal) = self.work.journal.as_mut().filter(|_| self.run.is_none()) else {
            return;
        };
        while let Some(run) = self.work.reloads.front() {
            if let Err(error) = journal.begin_run(run) {
                return tracing::debug!("cannot store the new configuration in the journal: {error}");
            }
            self.work.reloads.pop_front();
        }
    }

    /// Records this start, so that the next start replays the recordings from here.
    fn note_run(&mut self) {
        let (Some(run), Some(journal)) = (&self.run, &mut self.work.journal) else {
            return;
        };
        match journal.begin_run(run) {
            Ok(()) => self.run = None,
            Err(error) => return tracing::debug!("cannot store this start in the journal: {error}"),
        }
        self.note_reloads();
    }

    /// Reports that the journal could not store events, and replaces the journal if it is damaged.
    fn fail(&mut self, error: JournalError) {
        self.work.tried = true;
        let damaged = error.is_damaged();
        let problem = format!("{:#}", anyhow::Error::from(error));
        let now = self.time.now();
        self.storage.journal_fails(now, &problem);
        if self.work.failing.as_ref() != Some(&problem) {
            tracing::error!("{problem}; games go on, and events wait until the journal stores them");
        }
        self.work.failing = Some(problem);
        if damaged {
            self.work.journal = None;
            self.work.journal = start::replaced(&self.path, now, &self.work.lasts, &Progress::default());
            self.reopen_files();
        }
    }

    fn open(&mut self) -> Result<Journal, JournalError> {
        // Close the files first: closing a file releases all locks that the process has on it, including SQLite's.
        (self.work.file, self.work.log) = (None, None);
        Journal::open(&self.path)
    }

    fn reopen_files(&mut self) {
        let opened = |path: &Path| self.work.journal.as_ref().and_then(|_| File::open(path).ok());
        let log = Journal::log_of(&self.path);
        (self.work.file, self.work.log) = (opened(&self.path), opened(&log));
    }

    /// Detects that the journal was removed or renamed, and copies its events into a new journal.
    fn check_file(&mut self) {
        let now = self.time.now();
        let due = self
            .work
            .file_checked
            .is_none_or(|checked| now >= checked + RETRY_PAUSE);
        if !due {
            return;
        }
        self.work.file_checked = Some(now);
        self.lock.ensure_exists(now);
        if self.work.file.is_none() {
            return;
        }
        let log = Journal::log_of(&self.path);
        let is_gone =
            |file: &Option<File>, path| file.as_ref().is_some_and(|file| !super::is_file_of(file, path));
        let gone = if is_gone(&self.work.file, &self.path) {
            &self.path
        } else if is_gone(&self.work.log, &log) {
            &log
        } else {
            // SQLite creates the log at the first write.
            self.work.log = self.work.log.take().or_else(|| File::open(&log).ok());
            return;
        };
        tracing::error!("{} was removed or replaced while in use", gone.display());
        let Some(removed) = self.work.journal.take() else {
            return;
        };
        self.work.journal = start::restored(removed, &self.path, now, &self.work.lasts);
        self.reopen_files();
    }

    /// Checks a large journal in the background, as reads and writes report only the damage that they reach.
    fn check(&self) {
        let size = std::fs::metadata(&self.path).map_or(0, |about| about.len());
        if self.work.journal.is_none() || size <= start::CHECKED_AT_ONCE {
            return;
        }
        let (path, damaged) = (self.path.clone(), Arc::clone(&self.work.damaged));
        let check = move || {
            let checked = Journal::open_to_read(&path).and_then(|journal| journal.check(true));
            if let Err(error) = checked
                && error.is_damaged()
            {
                tracing::error!("{:#}", anyhow::Error::from(error));
                damaged.store(true, Ordering::Relaxed);
            }
        };
        let started = std::thread::Builder::new().name("check".to_owned()).spawn(check);
        if let Err(error) = started {
            tracing::warn!("cannot check the journal: {error}");
        }
    }

    /// Replaces the journal if the background check has found damage.
    fn replace_damaged(&mut self) {
        if self.work.damaged.swap(false, Ordering::Relaxed) {
            self.work.journal = None;
            self.work.journal = start::replaced(
                &self.path,
                self.time.now(),
                &self.work.lasts,
                &Progress::default(),
            );
            self.work.tried = true;
            self.reopen_files();
        }
    }

    fn do_chores(&mut self) {
        self.note_acknowledged();
        let now = self.time.now();
        let tidied = self.work.tidied;
        if tidied.is_none_or(|tidied| now >= tidied + TIDY_INTERVAL) {
            self.work.tidied = Some(now);
            self.tidy(now);
        }
    }

    fn note_acknowledged(&mut self) {
        let (Some(outbox), Some(journal)) = (&self.outbox, &mut self.work.journal) else {
            return;
        };
        let acknowledged = outbox.progress().borrow().acknowledged.clone();
        if acknowledged == self.work.acknowledged || self.work.failing.is_some() {
            return;
        }
        let by_board = acknowledged.iter().map(|(board, seq)| (&**board, *seq));
        match journal.acknowledge(OUTPUT, LIVE_STREAM, by_board) {
            Ok(()) => self.work.acknowledged = acknowledged,
            Err(error) => tracing::debug!("cannot store which events the broker has acknowledged: {error}"),
        }
    }

    fn tidy(&mut self, now: Timestamp) {
        let Some(journal) = &mut self.work.journal else {
            return;
        };
        // The age of games is relative to the dates of other games: a computer's clock that is wrong by a year must not
        // empty the journal.
        let reference = match journal.played_until(LIVE_STREAM, now) {
            Ok(Some(reference)) => reference,
            Ok(None) => return,
            Err(error) => return tracing::warn!("cannot remove old games: {error}"),
        };
        match journal.forget_before(LIVE_STREAM, reference.saturating_sub(self.keep)) {
            Ok(0) => {}
            Ok(events) => tracing::info!("removed {events} events of old games from the journal"),
            Err(error) => tracing::warn!("cannot remove old games: {error}"),
        }
    }
}

/// Stores batches in one transaction. `tried` if the journal may already have some of the events.
fn append(journal: &mut Journal, batches: &VecDeque<Batch>, tried: bool) -> Result<(), JournalError> {
    let events = || batches.iter().flat_map(|batch| batch.events.iter());
    if tried {
        return journal.fill(events()).map(drop);
    }
    match journal.append(events()) {
        Err(error @ JournalError::Duplicate { .. }) => {
            // A retry would fail again, and holding back all boards would be worse.
            tracing::error!("{error}; the event in the journal stays");
            journal.fill(events()).map(drop)
        }
        done => done,
    }
}
