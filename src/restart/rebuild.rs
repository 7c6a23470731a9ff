//! Restores missing events of a journal from the recordings.
//!
//! All recordings are replayed, each port from its first opening, with the daemon's starts according to the journal.
//! Before the first known start, the present configuration is assumed, and boards count from 1.
//!
//! A board's recording is judged in stretches, which begin and end when the board continues from the journal alone. The
//! events of a stretch are accepted if none of them contradicts the journal. If the state of the board at the beginning
//! of the stretch is unknown, at least one event must also be in the journal. The state is unknown in the first
//! stretch, since older recordings may have been removed, in which case the replay gives other seqs, and in a stretch
//! after missing events. If the journal has, or had at that time, no events of the board at all, there is nothing to
//! compare, and the stretch is accepted.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use kiebitz_game::events::Event;
use kiebitz_hardware::Timestamp;
use kiebitz_hardware::capture::CaptureError;

use super::Recordings;
use super::compare::{Comparison, JournalMatch};
use super::rerun::{Rerun, RerunStep, commands};
use crate::config::Config;
use crate::journal::{Journal, JournalError, Run};

/// The result of a rebuild.
#[derive(Debug)]
pub struct Rebuilt {
    /// Time of the first readable recording; `None` if there is none.
    pub begins: Option<Timestamp>,
    /// All boards of the journal and of the recordings.
    pub boards: BTreeMap<String, RebuiltBoard>,
    /// The recordings that could not be read to their end, with the reasons.
    pub damaged: Vec<(PathBuf, String)>,
}

/// The result of a rebuild for one board.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RebuiltBoard {
    /// Number of restored events.
    pub filled: usize,
    /// The rejected stretches of the board's recording, with the reasons.
    pub unfit: Vec<NotRebuilt>,
    /// Ranges of seqs that are still missing, first and last seq included.
    pub missing: Vec<(u64, u64)>,
    /// Seq of the board's last event.
    pub last: u64,
}

/// The reason for which a stretch of a recording was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotRebuilt {
    /// An event differs between the recording and the journal.
    #[error("event {0} differs between the recording and the journal")]
    Differs(u64),
    /// The journal has none of the events of the stretch.
    #[error("nothing in the journal confirms the recording from event {0} on")]
    Unchecked(u64),
}

/// Adds events of a stream that the journal lacks and the recordings in `folder` yield. Existing events stay unchanged.
/// `zone` determines the ends of the days.
pub fn rebuild(
    journal: &mut Journal,
    folder: &Path,
    zone: &TimeZone,
    stream: &str,
    config: &Config,
) -> Result<Rebuilt, JournalError> {
    let recordings = Recordings::from_openings(folder, zone);
    let begins = recordings.next_at();
    let nothing = BTreeMap::new();
    let commands = commands(journal, stream, &nothing)?;
    // The table of runs may be damaged. That is harmless, as all results are compared with the journal.
    let runs = journal.all_runs().unwrap_or_default();
    let mut rerun = Rerun::new(stream, config, recordings, runs, commands);
    let known = journal.boards(stream)?;
    let mut work = Rebuild {
        stream,
        comparison: Comparison::new(journal, stream, &nothing)?,
        known: known.into_iter().map(|(board, _)| board).collect(),
        stretches: BTreeMap::new(),
        bases: BTreeMap::new(),
        boards: BTreeMap::new(),
    };
    while let Some(next) = rerun.next() {
        match next {
            RerunStep::Events(events) => work.compare(journal, events)?,
            RerunStep::Start(run) => {
                work.end_before(journal, &run)?;
                rerun.begin(&run, journal)?;
                work.begin(journal, &run)?;
            }
        }
    }
    let until = super::last_ts(journal, stream)?;
    let events = rerun.advance(until);
    work.compare(journal, events)?;
    for (board, stretch) in core::mem::take(&mut work.stretches) {
        let had_events = work.known.contains(&board);
        work.end(journal, &board, stretch, had_events)?;
    }
    for (board, last) in journal.boards(stream)? {
        let missing = journal.missing(stream, &board)?;
        let result = work.boards.entry(board).or_default();
        (result.missing, result.last) = (missing, last);
    }
    let damaged = rerun.damaged().iter();
    let damaged = damaged.map(|(path, error): &(PathBuf, CaptureError)| (path.clone(), error.to_string()));
    Ok(Rebuilt {
        begins,
        boards: work.boards,
        damaged: damaged.collect(),
    })
}

#[derive(Debug)]
struct Rebuild<'s> {
    stream: &'s str,
    comparison: Comparison<'s>,
    /// Boards that the journal knew before the rebuild.
    known: BTreeSet<String>,
    stretches: BTreeMap<String, RebuiltStretch>,
    /// Seq after which each board last continued from the journal alone.
    bases: BTreeMap<String, u64>,
    boards: BTreeMap<String, RebuiltBoard>,
}

#[derive(Debug, Default)]
struct RebuiltStretch {
    /// The state of the board at the beginning is known.
    certain: bool,
    /// The journal has one of the events.
    confirmed: bool,
    lacking: Vec<Event>,
    unfit: Option<NotRebuilt>,
}

impl Rebuild<'_> {
    fn compare(&mut self, journal: &Journal, events: Vec<Event>) -> Result<(), JournalError> {
        for event in events {
            let stretch = self.stretches.entry(event.board.clone()).or_default();
            if stretch.unfit.is_some() {
                continue;
            }
            match self.comparison.find(journal, &event)? {
                JournalMatch::Known => stretch.confirmed = true,
                JournalMatch::New => stretch.lacking.push(event),
                JournalMatch::Other => {
                    stretch.unfit = Some(NotRebuilt::Differs(event.seq));
                    stretch.lacking = Vec::new();
                }
            }
        }
        Ok(())
    }

    /// Ends the stretches of the boards that a start of the daemon creates anew.
    fn end_before(&mut self, journal: &mut Journal, run: &Run) -> Result<(), JournalError> {
        for (board, stretch) in core::mem::take(&mut self.stretches) {
            let had_events = run.boards.contains_key(&board);
            if run.whole || had_events {
                self.end(journal, &board, stretch, had_events)?;
            } else {
                self.stretches.insert(board, stretch);
            }
        }
        Ok(())
    }

    /// Ends a stretch and stores its events if they are accepted. `had_events` is true if the journal had events of the
    /// board at that time.
    fn end(
        &mut self,
        journal: &mut Journal,
        board: &str,
        stretch: RebuiltStretch,
        had_events: bool,
    ) -> Result<(), JournalError> {
        let first = stretch.lacking.first().map(|event| event.seq);
        let unchecked = first.filter(|_| had_events && !stretch.certain && !stretch.confirmed);
        let result = self.boards.entry(board.to_owned()).or_default();
        match stretch.unfit.or_else(|| unchecked.map(NotRebuilt::Unchecked)) {
            Some(unfit) => result.unfit.push(unfit),
            None => result.filled += journal.fill(&stretch.lacking)?,
        }
        Ok(())
    }

    /// Begins the stretches of the boards that continue from the journal alone with a start of the daemon.
    fn begin(&mut self, journal: &Journal, run: &Run) -> Result<(), JournalError> {
        if run.whole {
            self.comparison.go_back(&run.numbers);
        }
        self.comparison.go_back(&run.boards);
        for (board, last) in &run.boards {
            let before = self.bases.insert(board.clone(), *last);
            let before = before.or_else(|| self.boards.contains_key(board).then_some(0));
            let stretch = RebuiltStretch {
                certain: match before {
                    Some(before) => self.is_whole(journal, board, before, *last)?,
                    None => false,
                },
                ..RebuiltStretch::default()
            };
            self.stretches.insert(board.clone(), stretch);
        }
        Ok(())
    }

    /// Whether the journal has all events of a board after the seq `after` and up to `last`.
    fn is_whole(&self, journal: &Journal, board: &str, after: u64, last: u64) -> Result<bool, JournalError> {
        let missing = journal.missing(self.stream, board)?;
        let mut holes = missing.iter();
        Ok(journal.last_seq(self.stream, board)? >= last
            && !holes.any(|(first, end)| *first <= last && *end > after))
    }
}
