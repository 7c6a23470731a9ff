//! Starts the daemon: opens its files and restores the state that it had at the end of its last run. If a disk fails,
//! the daemon starts without that state.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, bail};
use jiff::tz::TimeZone;
use kiebitz_game::events::{Event, LIVE_STREAM};
use kiebitz_game::hall::{self, Hall, Names};
use kiebitz_hardware::Timestamp;
use kiebitz_hardware::capture::Interface;

use super::storage::Storage;
use crate::config::Config;
use crate::journal::{Input, InputsFile, Journal, JournalError, Recovered, Run, SeqFile, digest, this_boot};
use crate::progress::Progress;
use crate::restart::{self, Alone, KnownSeqs, Sources};

#[derive(Debug)]
pub(super) struct Started {
    /// `None` if it cannot be opened.
    pub(super) journal: Option<Journal>,
    pub(super) numbers: Option<SeqFile>,
    pub(super) hall: Hall,
    /// This start, if the journal has not recorded it.
    pub(super) run: Option<Run>,
    /// Events that the journal lacks and could not store.
    pub(super) unkept: Vec<Event>,
    /// Ports whose closing is missing in the recordings.
    pub(super) closed: Vec<(Timestamp, Interface)>,
    /// Time of the last known input. Later inputs must have later times.
    pub(super) until: Timestamp,
    /// Boards that are not in the file of seqs count after this number.
    pub(super) others: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beginning {
    Program,
    /// A new day has begun, and nobody is playing. The previous day's recordings are no longer needed.
    NewDay,
}

/// Maximum size in bytes of a journal that is checked completely before the daemon starts, which takes some tenths of a
/// second. A larger one is checked in the background.
pub(super) const CHECKED_AT_ONCE: u64 = 32 << 20;

pub(super) struct StartContext<'s> {
    pub(super) zone: &'s TimeZone,
    pub(super) storage: &'s Storage,
    pub(super) abandoned: &'s AtomicBool,
    pub(super) progress: &'s Progress,
}

/// Restores the daemon. `show` gets the journal before the recordings are replayed, unless the journal has lost events.
/// Once `abandoned` is set because nobody waits for the start any more, files are opened but not changed. Fails if the
/// journal's file belongs to another program or to a newer kiebitz and must not be touched.
pub(super) fn start(
    config: &Config,
    beginning: Beginning,
    now: Timestamp,
    context: &StartContext<'_>,
    show: &mut dyn FnMut(&Journal),
) -> Result<Started> {
    let StartContext {
        zone,
        storage,
        abandoned,
        progress,
    } = *context;
    let numbers = open_numbers(config);
    let mut marks = Marks::read(config, numbers.as_ref(), now);
    let path = config.journal_file();
    let prior = PriorFacts {
        lasts: &marks.given.numbers.boards,
        had_journal: !marks.given.numbers.boards.is_empty(),
        progress,
    };
    let (mut journal, mut replaced_now) = open_journal(&path, now, prior, storage)?;
    for _ in 0..2 {
        let Some(opened) = &mut journal else { break };
        marks.check_journal(opened, replaced_now);
        if abandoned.load(Ordering::Relaxed) {
            break;
        }
        let inputs = restore_inputs(config, opened, marks.lost);
        if !marks.lost {
            show(opened);
        }
        let restoration = Restoration {
            config,
            beginning,
            now,
            zone,
            abandoned,
            progress,
        };
        match restoration.restore(opened, &marks.given) {
            Ok(None) => break,
            Ok(Some(state)) => {
                if state.run.is_none() {
                    rewrite_inputs(config, opened, &inputs);
                }
                let numbers = mark_given(config, numbers, &state.numbers);
                return Ok(Started {
                    numbers: numbers.and_then(|numbers| with_kept(numbers, opened)),
                    journal,
                    hall: state.hall,
                    run: state.run,
                    unkept: state.unkept,
                    closed: state.closed,
                    until: state.until,
                    others: state.numbers.others,
                });
            }
            Err(error) if error.is_damaged() => {
                tracing::error!("{:#}", anyhow::Error::from(error));
                // Close the damaged journal before a new one gets its name: on closing, SQLite removes the files beside
                // a journal by name.
                drop(journal.take());
                journal = replaced(&path, now, &marks.given.numbers.boards, progress);
                replaced_now = true;
            }
            // A journal of a newer kiebitz still stores events and stays unchanged for the version that can read it.
            Err(error @ JournalError::NewerEvent { .. }) => {
                tracing::error!(
                    "{:#}; games in progress continue as new games",
                    anyhow::Error::from(error)
                );
                raise(
                    &mut marks.given.numbers.boards,
                    opened.boards(LIVE_STREAM).unwrap_or_default(),
                );
                break;
            }
            Err(error) => {
                report_failing(error, "kiebitz continues without it", now, storage);
                journal = None;
            }
        }
    }
    let given = match &numbers {
        Some(_) => marks.given.numbers.boards,
        None => marks.unreserved_seqs(),
    };
    Ok(Started {
        journal,
        numbers,
        ..Started::without_journal(config, given, now)
    })
}

impl Started {
    /// Creates a state without a journal, in which only the given seqs are known. All other boards count after the
    /// current time.
    pub(super) fn without_journal(config: &Config, given: BTreeMap<String, u64>, now: Timestamp) -> Self {
        let numbers = hall::LastSeqs {
            boards: given,
            others: number_of(now),
        };
        let mut hall = Hall::new(LIVE_STREAM, Names::Configured(config.roster()));
        hall.begin_after(numbers.clone());
        Self {
            journal: None,
            numbers: None,
            hall,
            run: Some(Run {
                began: now,
                config: config.of_boards.clone(),
                whole: true,
                boards: BTreeMap::new(),
                numbers: numbers.boards,
                others: numbers.others,
                reloaded: false,
                jumps: BTreeMap::new(),
            }),
            unkept: Vec::new(),
            closed: Vec::new(),
            until: Timestamp::from_micros(0),
            others: numbers.others,
        }
    }
}

/// The current time in microseconds as a seq. It is higher than any seq that was given or reserved, as no board has an
/// event every microsecond.
fn number_of(now: Timestamp) -> u64 {
    u64::try_from(now.as_micros()).unwrap_or_default()
}

/// The seqs that are known to have left the process.
struct Marks {
    given: KnownSeqs,
    /// Whether the seqs of some boards are unknown.
    incomplete: bool,
    /// Whether the journal lacks events that it once had.
    lost: bool,
    now: Timestamp,
}

impl Marks {
    /// Reads the seqs from the disk, and from the spare file if the disk failed earlier.
    fn read(config: &Config, numbers: Option<&SeqFile>, now: Timestamp) -> Self {
        let mut given = KnownSeqs::default();
        let mut incomplete = true;
        if let Some(numbers) = numbers {
            given.numbers.boards = numbers.lasts();
            given.reserved.boards = numbers.reserved();
            given.digests = numbers.digests();
            given.numbers.others = numbers.others();
            incomplete = !numbers.is_whole();
        } else if let (Ok(lasts), Ok(reserved)) = (
            SeqFile::lasts_in(&config.seqs_file(), Some(&this_boot())),
            SeqFile::reserved_in(&config.seqs_file()),
        ) {
            given.numbers.boards = lasts;
            // The file cannot be written. Without a spare file either, all boards must count after seqs that were never
            // reserved, see [`unreserved_seqs`](Self::unreserved_seqs).
            if config.spare_seqs_file().is_some() {
                given.reserved.boards = reserved;
                incomplete = false;
            }
        }
        let spare = config.spare_seqs_file();
        let spare = spare.and_then(|path| SeqFile::lasts_in(&path, None).ok());
        let spare = spare.unwrap_or_default();
        raise(&mut given.numbers.boards, spare.clone());
        raise(&mut given.reserved.boards, spare);
        given.reserved.others = number_of(now);
        if incomplete && has_recordings(config) {
            given.numbers.others = number_of(now);
        }
        Self {
            given,
            incomplete,
            lost: false,
            now,
        }
    }

    /// Returns the seqs after which boards count if no file can record seqs. They are at least the current time, which
    /// exceeds all reserved seqs.
    fn unreserved_seqs(mut self) -> BTreeMap<String, u64> {
        raise(&mut self.given.numbers.boards, self.given.reserved.boards);
        let boards = self.given.numbers.boards.into_iter();
        boards
            .map(|(board, given)| (board, given.max(number_of(self.now))))
            .collect()
    }

    /// Checks that the journal has the events that it once had. If events are missing or the journal was `replaced`,
    /// journal and file of seqs may be older copies, so all reserved seqs count as given.
    fn check_journal(&mut self, journal: &Journal, replaced: bool) {
        let boards: BTreeMap<String, u64> = journal
            .boards(LIVE_STREAM)
            .unwrap_or_default()
            .into_iter()
            .collect();
        let others = number_of(self.now);
        let lacks =
            |(board, (kept, _)): (&String, &(u64, u64))| boards.get(board).copied().unwrap_or(0) < *kept;
        self.lost |= replaced || self.given.digests.iter().any(lacks);
        let KnownSeqs {
            numbers, reserved, ..
        } = &mut self.given;
        numbers.others = numbers.others.max(journal.begins_after().unwrap_or(0));
        let unknown = boards
            .keys()
            .filter(|board| !reserved.boards.contains_key(*board));
        let unknown: Vec<(String, u64)> = unknown.map(|board| (board.clone(), others)).collect();
        if self.incomplete && !unknown.is_empty() {
            numbers.others = others;
        }
        if self.incomplete || self.lost {
            raise(&mut numbers.boards, unknown);
        }
        if self.lost {
            raise(&mut numbers.boards, reserved.boards.clone());
        }
    }
}

fn has_recordings(config: &Config) -> bool {
    let files = std::fs::read_dir(config.recordings());
    files.is_ok_and(|mut files| files.next().is_some())
}

/// Adds to the journal the starts and commands that only the second copy has. Returns the second copy.
fn restore_inputs(config: &Config, journal: &mut Journal, lost: bool) -> Vec<Input> {
    let path = config.inputs_file();
    let inputs = InputsFile::read(&path).unwrap_or_else(|error| {
        tracing::warn!("cannot read {}: {error}", path.display());
        Vec::new()
    });
    match journal.restore(LIVE_STREAM, &inputs, lost) {
        Ok(0) => {}
        Ok(added) => {
            tracing::warn!(
                "{added} starts and commands were missing in the journal and were restored from {}",
                path.display()
            );
        }
        Err(error) => tracing::error!("{:#}", anyhow::Error::from(error)),
    }
    inputs
}

/// Rewrites the second copy of starts and commands without those that the journal has removed.
fn rewrite_inputs(config: &Config, journal: &Journal, copied: &[Input]) {
    let path = config.inputs_file();
    let inputs = match journal.inputs(LIVE_STREAM, copied) {
        Ok(inputs) => inputs,
        Err(error) => return tracing::warn!("{:#}", anyhow::Error::from(error)),
    };
    if let Err(error) = InputsFile::replace(&path, &inputs) {
        tracing::warn!("cannot write {}: {error}", path.display());
    }
}

/// Raises the last seqs of boards to at least those in `others`.
fn raise(lasts: &mut BTreeMap<String, u64>, others: impl IntoIterator<Item = (String, u64)>) {
    for (board, other) in others {
        let last = lasts.entry(board).or_default();
        *last = other.max(*last);
    }
}

fn report_failing(error: JournalError, consequence: &str, now: Timestamp, storage: &Storage) {
    let problem = format!("{:#}", anyhow::Error::from(error));
    tracing::error!("{problem}; {consequence}");
    storage.journal_fails(now, &problem);
}

/// Marks all seqs that may have been given, including reserved ones, as given before boards continue after them. `None`
/// if the file cannot be written.
fn mark_given(config: &Config, numbers: Option<SeqFile>, given: &hall::LastSeqs) -> Option<SeqFile> {
    let mut numbers = numbers?;
    let lasts = &given.boards;
    if numbers.is_unkept() || numbers.lasts() != *lasts {
        let done = numbers
            .note(lasts.iter().map(|(board, last)| (board.as_str(), *last)))
            .and_then(|()| numbers.mark_unkept(false));
        done.ok()?;
    }
    numbers.complete(given.others).ok()?;
    if let Some(spare) = config.spare_seqs_file() {
        // Usually there is no such file.
        let _ = std::fs::remove_file(spare);
    }
    Some(numbers)
}

/// Records the last events of the journal, including those that this start has restored.
fn with_kept(mut numbers: SeqFile, journal: &Journal) -> Option<SeqFile> {
    let mut kept = Vec::new();
    for (board, last) in journal.boards(LIVE_STREAM).ok()? {
        let event = journal
            .events_after(LIVE_STREAM, &board, last.saturating_sub(1), 1)
            .ok()?;
        let digest = event.first().map(|event| digest(&event.payload));
        kept.push((board, last, digest));
    }
    let kept = kept.iter();
    let noted = numbers.note_kept(kept.map(|(board, last, digest)| (board.as_str(), *last, *digest)));
    noted.ok().map(|()| numbers)
}

struct Restoration<'b> {
    config: &'b Config,
    beginning: Beginning,
    now: Timestamp,
    zone: &'b TimeZone,
    abandoned: &'b AtomicBool,
    progress: &'b Progress,
}

struct StartState {
    hall: Hall,
    /// This start, if the journal could not store it.
    run: Option<Run>,
    unkept: Vec<Event>,
    closed: Vec<(Timestamp, Interface)>,
    until: Timestamp,
    /// The last seqs that may have left the process.
    numbers: hall::LastSeqs,
}

impl Restoration<'_> {
    /// Restores the state; `None` if the start was abandoned.
    fn restore(&self, journal: &mut Journal, given: &KnownSeqs) -> Result<Option<StartState>, JournalError> {
        let Self {
            config,
            beginning,
            now,
            abandoned,
            ..
        } = *self;
        let recordings = config.recorder.enabled.then(|| config.recordings());
        fn sources<'s>(
            journal: &'s Journal,
            recordings: Option<&'s Path>,
            given: &'s KnownSeqs,
            Restoration {
                config,
                zone,
                progress,
                ..
            }: &'s Restoration<'s>,
        ) -> Sources<'s> {
            Sources {
                journal,
                recordings,
                zone,
                stream: LIVE_STREAM,
                config,
                numbers: given,
                progress: Some(progress),
            }
        }
        let from = sources(journal, recordings.as_deref(), given, self);
        let state = match beginning {
            Beginning::Program => restart::take_up(&from, now)?,
            Beginning::NewDay => restart::begin_anew(&from)?,
        };
        if abandoned.load(Ordering::Relaxed) {
            return Ok(None);
        }
        if beginning == Beginning::Program {
            log_alone(&state.alone);
        }
        let unkept = match journal.fill(&state.events) {
            Ok(_) => Vec::new(),
            Err(error) if error.is_damaged() => return Err(error),
            Err(error) => {
                tracing::error!("{:#}", anyhow::Error::from(error));
                state.events.clone()
            }
        };
        let (closed, until, numbers) = (state.closed.clone(), state.until, state.numbers().clone());
        let (hall, run) = state.settle(&sources(journal, recordings.as_deref(), given, self), now)?;
        let noted = match journal.begin_run(&run) {
            Err(error) if error.is_damaged() => return Err(error),
            noted => noted,
        };
        if let Err(error) = &noted {
            tracing::warn!("cannot store this start in the journal: {error}; retrying");
        }
        Ok(Some(StartState {
            hall,
            run: noted.is_err().then_some(run),
            unkept,
            closed,
            until,
            numbers,
        }))
    }
}

fn log_alone(alone: &BTreeMap<String, Alone>) {
    for (board, why) in alone {
        match why {
            Alone::LongAgo => tracing::debug!("{board}: resumes from the journal: {why}"),
            _ => tracing::warn!("{board}: resumes from the journal alone: {why}"),
        }
    }
}

fn open_numbers(config: &Config) -> Option<SeqFile> {
    let path = config.seqs_file();
    match SeqFile::open(&path, &this_boot()) {
        Ok(file) => Some(file),
        Err(error) => {
            tracing::error!("cannot open {}: {error}", path.display());
            None
        }
    }
}

struct PriorFacts<'l> {
    lasts: &'l BTreeMap<String, u64>,
    /// Whether a daemon has had a journal here before.
    had_journal: bool,
    progress: &'l Progress,
}

/// Opens the journal; `None` if it is unavailable for now. A damaged one is replaced; the flag is true in that case.
fn open_journal(
    path: &Path,
    now: Timestamp,
    PriorFacts {
        lasts,
        had_journal,
        progress,
    }: PriorFacts<'_>,
    storage: &Storage,
) -> Result<(Option<Journal>, bool)> {
    let checked = Journal::open(path).and_then(|mut journal| {
        let size = std::fs::metadata(path).map_or(0, |about| about.len());
        journal.report_to(progress)?;
        journal.check(size <= CHECKED_AT_ONCE)?;
        Ok(journal)
    });
    match checked {
        Ok(journal) => Ok((Some(journal), false)),
        Err(error) if error.is_damaged() => {
            tracing::error!("{:#}", anyhow::Error::from(error));
            Ok((replaced(path, now, lasts, progress), true))
        }
        // If kiebitz has been here before, this is its own journal, which only looks foreign or newer because of
        // damage.
        Err(error @ (JournalError::Foreign { .. } | JournalError::Newer { .. })) if had_journal => {
            tracing::error!("{:#}", anyhow::Error::from(error));
            Ok((replaced(path, now, lasts, progress), true))
        }
        Err(error @ (JournalError::Foreign { .. } | JournalError::Newer { .. })) => bail!(error),
        Err(error) => {
            report_failing(error, "boards are watched without it", now, storage);
            Ok((None, false))
        }
    }
}

/// Replaces a damaged journal by a new one with all readable events.
pub(super) fn replaced(
    path: &Path,
    now: Timestamp,
    lasts: &BTreeMap<String, u64>,
    progress: &Progress,
) -> Option<Journal> {
    match Journal::recover(path, now, lasts, progress) {
        Ok(Recovered {
            journal,
            aside,
            events,
        }) => {
            tracing::error!(
                "the damaged journal was moved to {}; {events} events were copied into a new one. `kiebitz \
                 rebuild` restores missing events from the recordings",
                aside.display()
            );
            Some(journal)
        }
        Err(error) => {
            tracing::error!("{:#}", anyhow::Error::from(error));
            None
        }
    }
}

/// Replaces a journal whose file was removed or renamed by a copy of the events that can still be read through the open
/// file.
pub(super) fn restored(
    gone: Journal,
    path: &Path,
    now: Timestamp,
    lasts: &BTreeMap<String, u64>,
) -> Option<Journal> {
    let copy = path.with_extension("copy");
    let copied = copied(&gone, &copy);
    // When SQLite closes a journal, it removes the files beside it by name, so the copy must not have that name yet.
    drop(gone);
    let moved = copied.and_then(|()| {
        Journal::put_aside(path, now)?;
        Ok(std::fs::rename(&copy, path)?)
    });
    match moved {
        Ok(()) => {
            tracing::info!("the events of the lost journal were copied into a new one of the same name")
        }
        Err(error) => tracing::error!("cannot copy the events of the lost journal into a new one: {error:#}"),
    }
    match Journal::open(path) {
        Ok(journal) => Some(journal),
        Err(error) if error.is_damaged() => replaced(path, now, lasts, &Progress::default()),
        Err(error) => {
            tracing::error!("{:#}", anyhow::Error::from(error));
            None
        }
    }
}

fn copied(gone: &Journal, copy: &Path) -> Result<()> {
    if let Some(directory) = copy.parent() {
        crate::folder::create(directory)?;
    }
    match std::fs::remove_file(copy) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => bail!(error),
        _ => Ok(gone.copy_to(copy)?),
    }
}

#[cfg(test)]
mod tests;
