//! What the daemon starts with: its journal, and what it knew when it last ended. A disk that fails keeps it from
//! nothing but that.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, bail};
use jiff::tz::TimeZone;
use kiebitz_hardware::Timestamp;
use kiebitz_hardware::capture::Interface;

use super::storage::Storage;
use crate::config::Config;
use crate::events::{Event, LIVE_STREAM};
use crate::hall::{self, Hall, Names};
use crate::journal::{Journal, JournalError, NumbersFile, Recovered, Run, this_boot};
use crate::restart::{self, Alone, Sources};

/// What there is to go on with.
#[derive(Debug)]
pub(super) struct Started {
    /// `None`: it cannot be opened.
    pub(super) journal: Option<Journal>,
    pub(super) numbers: Option<NumbersFile>,
    pub(super) hall: Hall,
    /// This start, where the journal has not noted it.
    pub(super) run: Option<Run>,
    /// What the journal lacks and does not take.
    pub(super) unkept: Vec<Event>,
    /// What the recordings lack: that these ports were closed.
    pub(super) closed: Vec<(Timestamp, Interface)>,
    /// What happens from here on is later.
    pub(super) until: Timestamp,
}

/// How the daemon comes to be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beginning {
    /// The program was.
    Program,
    /// A new day has begun, and nobody plays: the recordings of the last one are not needed any more.
    NewDay,
}

/// Up to this size a journal is read from end to end before the daemon begins: some tenths of a second. A larger one is
/// checked while it works.
pub(super) const CHECKED_AT_ONCE: u64 = 32 << 20;

/// Takes up what there is. Once it is `abandoned`, because nobody waits for it any more, it opens the files and leaves
/// them as they are.
///
/// # Errors
///
/// When the journal's file is none of kiebitz, or of a newer one: it must not be touched.
pub(super) fn start(
    config: &Config,
    beginning: Beginning,
    now: Timestamp,
    zone: &TimeZone,
    (storage, abandoned): (&Storage, &AtomicBool),
) -> Result<Started> {
    let numbers = open_numbers(config);
    let mut known = hall::Numbers {
        boards: known(config, numbers.as_ref()),
        others: 0,
    };
    let path = config.journal_file();
    let was_here = !known.boards.is_empty();
    let mut journal = open_journal(&path, now, (&known.boards, was_here), storage)?;
    for _ in 0..2 {
        let Some(opened) = &mut journal else { break };
        let begun = Beginner {
            config,
            beginning,
            now,
            zone,
            abandoned,
        };
        match begun.take_up(opened, known.clone()) {
            Ok(None) => break,
            Ok(Some((hall, (unkept, closed, until)))) => {
                return Ok(Started {
                    journal,
                    numbers: noted(config, numbers, &known.boards),
                    hall,
                    run: None,
                    unkept,
                    closed,
                    until,
                });
            }
            Err(error) if error.is_damaged() => {
                tracing::error!("{:#}", anyhow::Error::from(error));
                // SQLite removes what is beside a journal by its name when it closes it.
                drop(journal.take());
                journal = replaced(&path, now, &known.boards);
            }
            // It takes events, and stays as it is for the newer kiebitz that can read it.
            Err(error @ JournalError::NewerEvent { .. }) => {
                tracing::error!("{:#}; games are taken up anew", anyhow::Error::from(error));
                raise(&mut known.boards, opened.boards(LIVE_STREAM).unwrap_or_default());
                break;
            }
            Err(error) => {
                say_failing(error, "kiebitz goes on without what it has", now, storage);
                journal = None;
            }
        }
    }
    Ok(Started {
        journal,
        numbers,
        ..Started::anew(config, known.boards, now)
    })
}

impl Started {
    /// Nothing is known but which numbers were given, and of boards that are not among them not even that.
    pub(super) fn anew(config: &Config, given: BTreeMap<String, u64>, now: Timestamp) -> Self {
        let numbers = hall::Numbers {
            boards: given,
            // No board has had so many, nor were so many ever reserved for one: none has an event every microsecond.
            others: u64::try_from(now.as_micros()).unwrap_or_default(),
        };
        let mut hall = Hall::new(LIVE_STREAM, Names::Configured(Box::new(config.clone())));
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
            }),
            unkept: Vec::new(),
            closed: Vec::new(),
            until: Timestamp::from_micros(0),
        }
    }
}

/// The numbers after which boards go on, by what the disk knows of them, and memory where the disk did not get to know.
fn known(config: &Config, numbers: Option<&NumbersFile>) -> BTreeMap<String, u64> {
    let mut lasts = numbers.map(NumbersFile::lasts).unwrap_or_default();
    let spare = config
        .spare_numbers_file()
        .map(|path| NumbersFile::lasts_in(&path, None));
    raise(&mut lasts, spare.into_iter().flatten().flatten());
    lasts
}

/// Boards have come to these numbers as well.
fn raise(lasts: &mut BTreeMap<String, u64>, others: impl IntoIterator<Item = (String, u64)>) {
    for (board, other) in others {
        let last = lasts.entry(board).or_default();
        *last = other.max(*last);
    }
}

fn say_failing(error: JournalError, what_now: &str, now: Timestamp, storage: &Storage) {
    let words = format!("{:#}", anyhow::Error::from(error));
    tracing::error!("{words}; {what_now}");
    storage.journal_fails(now, &words);
}

/// The numbers that were reserved and may have been given count as given, now that boards go on after them.
fn noted(
    config: &Config,
    numbers: Option<NumbersFile>,
    lasts: &BTreeMap<String, u64>,
) -> Option<NumbersFile> {
    let mut numbers = numbers?;
    if numbers.is_unkept() || numbers.lasts() != *lasts {
        let done = numbers
            .note(lasts.iter().map(|(board, last)| (board.as_str(), *last)))
            .and_then(|()| numbers.mark_unkept(false));
        done.ok()?;
    }
    if let Some(spare) = config.spare_numbers_file() {
        // Mostly there is none.
        let _ = std::fs::remove_file(spare);
    }
    Some(numbers)
}

/// A start with a journal that can be read.
struct Beginner<'b> {
    config: &'b Config,
    beginning: Beginning,
    now: Timestamp,
    zone: &'b TimeZone,
    abandoned: &'b AtomicBool,
}

/// Events that the journal did not take, ports that were closed, and up to when.
type Taken = (Vec<Event>, Vec<(Timestamp, Interface)>, Timestamp);

impl Beginner<'_> {
    /// `None`: nobody waits for it any more.
    fn take_up(
        &self,
        journal: &mut Journal,
        known: hall::Numbers,
    ) -> Result<Option<(Hall, Taken)>, JournalError> {
        let Self {
            config,
            beginning,
            now,
            zone,
            abandoned,
        } = *self;
        let numbers = hall::Numbers {
            others: journal.begins_after()?,
            ..known
        };
        let recordings = config.recorder.enabled.then(|| config.recordings());
        fn sources<'s>(
            journal: &'s Journal,
            recordings: Option<&'s Path>,
            zone: &'s TimeZone,
            config: &'s Config,
            numbers: &'s hall::Numbers,
        ) -> Sources<'s> {
            Sources {
                journal,
                recordings,
                zone,
                stream: LIVE_STREAM,
                config,
                numbers,
            }
        }
        let taken = match beginning {
            Beginning::Program => restart::take_up(
                &sources(journal, recordings.as_deref(), zone, config, &numbers),
                now,
            )?,
            Beginning::NewDay => {
                restart::begin_anew(&sources(journal, recordings.as_deref(), zone, config, &numbers))?
            }
        };
        if abandoned.load(Ordering::Relaxed) {
            return Ok(None);
        }
        if beginning == Beginning::Program {
            say(&taken.alone);
        }
        let unkept = match journal.fill(&taken.events) {
            Ok(_) => Vec::new(),
            Err(error) if error.is_damaged() => return Err(error),
            Err(error) => {
                tracing::error!("{:#}", anyhow::Error::from(error));
                taken.events.clone()
            }
        };
        let (closed, until) = (taken.closed.clone(), taken.until);
        let settled = taken.settle(
            &sources(journal, recordings.as_deref(), zone, config, &numbers),
            now,
        );
        let (hall, run) = settled?;
        match journal.begin_run(&run) {
            Err(error) if error.is_damaged() => return Err(error),
            Err(error) => tracing::warn!(
                "{:#}; the next start goes on from the journal alone",
                anyhow::Error::from(error)
            ),
            Ok(()) => {}
        }
        Ok(Some((hall, (unkept, closed, until))))
    }
}

/// Says which boards go on from the journal alone.
fn say(alone: &BTreeMap<String, Alone>) {
    for (board, why) in alone {
        match why {
            Alone::LongAgo => tracing::debug!("{board} goes on from the journal: {why}"),
            _ => tracing::warn!("{board} goes on from the journal alone: {why}"),
        }
    }
}

fn open_numbers(config: &Config) -> Option<NumbersFile> {
    let path = config.numbers_file();
    match NumbersFile::open(&path, &this_boot()) {
        Ok(file) => Some(file),
        Err(error) => {
            tracing::error!("cannot open {}: {error}", path.display());
            None
        }
    }
}

/// Opens the journal. A damaged one is replaced; `None`: there is none for now.
fn open_journal(
    path: &Path,
    now: Timestamp,
    (lasts, was_here): (&BTreeMap<String, u64>, bool),
    storage: &Storage,
) -> Result<Option<Journal>> {
    let checked = Journal::open(path).and_then(|journal| {
        let size = std::fs::metadata(path).map_or(0, |about| about.len());
        journal.check(size <= CHECKED_AT_ONCE)?;
        Ok(journal)
    });
    match checked {
        Ok(journal) => Ok(Some(journal)),
        Err(error) if error.is_damaged() => {
            tracing::error!("{:#}", anyhow::Error::from(error));
            Ok(replaced(path, now, lasts))
        }
        // Other bytes may say that it is not what it was: kiebitz has been here before.
        Err(error @ (JournalError::Foreign { .. } | JournalError::Newer { .. })) if was_here => {
            tracing::error!("{:#}", anyhow::Error::from(error));
            Ok(replaced(path, now, lasts))
        }
        Err(error @ (JournalError::Foreign { .. } | JournalError::Newer { .. })) => bail!(error),
        Err(error) => {
            say_failing(error, "the boards are watched all the same", now, storage);
            Ok(None)
        }
    }
}

/// A new journal in the place of a damaged one, with all of its events that can be read.
pub(super) fn replaced(path: &Path, now: Timestamp, lasts: &BTreeMap<String, u64>) -> Option<Journal> {
    match Journal::recover(path, now, lasts) {
        Ok(Recovered {
            journal,
            aside,
            events,
        }) => {
            tracing::error!(
                "the damaged journal is now {}; {events} events of it are in the new one. `kiebitz rebuild` makes what is missing from the recordings",
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

/// A journal in the place of one whose file is gone, with all that the other one can still be asked for.
pub(super) fn restored(
    gone: Journal,
    path: &Path,
    now: Timestamp,
    lasts: &BTreeMap<String, u64>,
) -> Option<Journal> {
    let copy = path.with_extension("copy");
    let copied = copied(&gone, &copy);
    // SQLite removes what is beside a journal by its name when it closes it: not before another one has that name.
    drop(gone);
    let moved = copied.and_then(|()| {
        Journal::put_aside(path, now)?;
        Ok(std::fs::rename(&copy, path)?)
    });
    match moved {
        Ok(()) => tracing::info!("its events are in a new one of that name"),
        Err(error) => tracing::error!("its events cannot be saved: {error:#}"),
    }
    match Journal::open(path) {
        Ok(journal) => Some(journal),
        Err(error) if error.is_damaged() => replaced(path, now, lasts),
        Err(error) => {
            tracing::error!("{:#}", anyhow::Error::from(error));
            None
        }
    }
}

fn copied(gone: &Journal, copy: &Path) -> Result<()> {
    if let Some(directory) = copy.parent() {
        std::fs::create_dir_all(directory)?;
    }
    match std::fs::remove_file(copy) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => bail!(error),
        _ => Ok(gone.copy_to(copy)?),
    }
}

#[cfg(test)]
mod tests;
