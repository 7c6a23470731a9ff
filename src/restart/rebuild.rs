//! What a journal lacks, made again from the recordings.
//!
//! They are played back from as far back as they go, each port from where it was first opened, with the daemon's starts as
//! the journal knows them. Before the first
//! of these, and where it knows none, the present configuration is taken to have held, and boards count from 1.
//!
//! A board's recording is judged by stretches: from where the board last went on from the journal alone to where it did so
//! again. What a stretch gives is believed if nothing in it contradicts the journal. At least one of its events must be in
//! the journal where it is not known how the board stood at the beginning: in the first stretch, for recordings that begin
//! in the middle, because older ones were removed, count otherwise; and after events that are missing. Where the journal
//! has, or had then, nothing of the board at all, there is nothing to hold it against, and it is believed.

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

/// What has become of a journal.
#[derive(Debug)]
pub struct Rebuilt {
    /// When the first of the recordings begins; `None`: there is none that can be read.
    pub begins: Option<Timestamp>,
    /// The boards of the journal and of the recordings.
    pub boards: BTreeMap<String, RebuiltBoard>,
    /// The recordings that could not be read to their end, each with the reason.
    pub damaged: Vec<(PathBuf, String)>,
}

/// What has become of the events of a board.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RebuiltBoard {
    /// So many were filled in.
    pub filled: usize,
    /// The stretches of its recording of which nothing was, with the reasons.
    pub unfit: Vec<NotRebuilt>,
    /// The numbers that are still missing: first and last of each hole.
    pub missing: Vec<(u64, u64)>,
    /// The number of its last event.
    pub last: u64,
}

/// Why nothing of a stretch of a recording was filled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotRebuilt {
    /// The recording gives something else than the journal has.
    #[error("event {0} differs between the recording and the journal")]
    Differs(u64),
    /// The journal has none of the events that the recording gives.
    #[error("nothing in the journal confirms the recording from event {0} on")]
    Unchecked(u64),
}

/// Fills in what a journal lacks of a stream and the recordings in `folder` give. What is there stays as it is.
/// `zone` decides when a day ends.
///
/// # Errors
///
/// Fails if the journal cannot be read or written.
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
    // What the table says of them may be damaged: what follows from that is held against the journal.
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
        let had = work.known.contains(&board);
        work.end(journal, &board, stretch, had)?;
    }
    for (board, last) in journal.boards(stream)? {
        let missing = journal.missing(stream, &board)?;
        let about = work.boards.entry(board).or_default();
        (about.missing, about.last) = (missing, last);
    }
    let damaged = rerun.damaged().iter();
    let damaged = damaged.map(|(path, error): &(PathBuf, CaptureError)| (path.clone(), error.to_string()));
    Ok(Rebuilt {
        begins,
        boards: work.boards,
        damaged: damaged.collect(),
    })
}

/// A journal being filled, while its recordings are played back.
#[derive(Debug)]
struct Rebuild<'s> {
    stream: &'s str,
    comparison: Comparison<'s>,
    /// The boards that the journal had to begin with.
    known: BTreeSet<String>,
    stretches: BTreeMap<String, RebuiltStretch>,
    /// The number after which each board last went on from the journal alone.
    bases: BTreeMap<String, u64>,
    boards: BTreeMap<String, RebuiltBoard>,
}

/// A stretch of a board's recording.
#[derive(Debug, Default)]
struct RebuiltStretch {
    /// It is known how the board stood at its beginning.
    certain: bool,
    /// The journal has one of its events.
    borne_out: bool,
    /// What the journal lacks.
    lacking: Vec<Event>,
    unfit: Option<NotRebuilt>,
}

impl Rebuild<'_> {
    /// Compares the events of the boards with the journal.
    fn compare(&mut self, journal: &Journal, events: Vec<Event>) -> Result<(), JournalError> {
        for event in events {
            let stretch = self.stretches.entry(event.board.clone()).or_default();
            if stretch.unfit.is_some() {
                continue;
            }
            match self.comparison.find(journal, &event)? {
                JournalMatch::Known => stretch.borne_out = true,
                JournalMatch::New => stretch.lacking.push(event),
                JournalMatch::Other => {
                    stretch.unfit = Some(NotRebuilt::Differs(event.seq));
                    stretch.lacking = Vec::new();
                }
            }
        }
        Ok(())
    }

    /// Ends the stretches of the boards that are made anew with a start of the daemon.
    fn end_before(&mut self, journal: &mut Journal, run: &Run) -> Result<(), JournalError> {
        for (board, stretch) in core::mem::take(&mut self.stretches) {
            let had = run.boards.contains_key(&board);
            if run.whole || had {
                self.end(journal, &board, stretch, had)?;
            } else {
                self.stretches.insert(board, stretch);
            }
        }
        Ok(())
    }

    /// Ends a stretch, and has what it gives kept if it is to be believed. `had`: the journal had events of the board
    /// by then.
    fn end(
        &mut self,
        journal: &mut Journal,
        board: &str,
        stretch: RebuiltStretch,
        had: bool,
    ) -> Result<(), JournalError> {
        let first = stretch.lacking.first().map(|event| event.seq);
        let unchecked = first.filter(|_| had && !stretch.certain && !stretch.borne_out);
        let about = self.boards.entry(board.to_owned()).or_default();
        match stretch.unfit.or_else(|| unchecked.map(NotRebuilt::Unchecked)) {
            Some(unfit) => about.unfit.push(unfit),
            None => about.filled += journal.fill(&stretch.lacking)?,
        }
        Ok(())
    }

    /// Begins the stretches of the boards that go on from the journal alone with a start of the daemon.
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

    /// Whether the journal has all events of a board between these numbers.
    fn is_whole(&self, journal: &Journal, board: &str, after: u64, last: u64) -> Result<bool, JournalError> {
        let missing = journal.missing(self.stream, board)?;
        let mut holes = missing.iter();
        Ok(journal.last_seq(self.stream, board)? >= last
            && !holes.any(|(first, end)| *first <= last && *end > after))
    }
}
