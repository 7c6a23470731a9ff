//! Restores the daemon from its recordings: the events that the journal lacks, and the state of the boards.
//!
//! The seqs of events that only the replay has may have left the process with other events: if commands or bytes are
//! missing, the replay differs from the published events. An event therefore keeps its seq only if
//!
//! - a later event of the board is the same in the replay and in the journal, or has the digest in the file of seqs, so
//!   that no event before it differs, or
//! - its seq is higher than all that may have left the process.
//!
//! All other events are renumbered after the seqs that may have left the process, and the start records that as a jump.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use kiebitz_game::events::Event;
use kiebitz_game::hall::LastSeqs;
use kiebitz_hardware::Timestamp;

use super::compare::{Comparison, JournalMatch};
use super::rerun::{Rerun, RerunStep, commands};
use super::{Alone, CUT_OFF, Recordings, Sources, TakenUp, disconnection};
use crate::journal::{JournalError, Run, digest_of};

/// A replay from the time at which boards last continued from the journal alone, compared with the journal.
#[derive(Debug)]
pub(super) struct TakingUp<'s> {
    sources: &'s Sources<'s>,
    rerun: Rerun,
    comparison: Comparison<'s>,
    /// Events that the journal lacks, with their final seqs.
    missing: Vec<Event>,
    /// Events that the journal lacks, by board, which no later event has confirmed yet.
    unproven: BTreeMap<String, Vec<Event>>,
    jumps: BTreeMap<String, (u64, u64)>,
    alone: BTreeMap<String, Alone>,
}

/// Time within which the journal has stored an event, or the file of seqs is marked as unkept. If an older event is
/// missing, journal and file are older copies.
const MAX_KEEPING: Duration = Duration::from_secs(5);

impl<'s> TakingUp<'s> {
    /// Starts with the first of `runs`, which must not be empty.
    pub(super) fn new(sources: &'s Sources<'s>, folder: &Path, runs: Vec<Run>) -> Result<Self, JournalError> {
        let Sources { journal, stream, .. } = *sources;
        let first = runs.first();
        let began = first.map_or(Timestamp::from_micros(0), |run| run.began);
        let after = first.map(|run| run.boards.clone()).unwrap_or_default();
        let recordings = Recordings::after(folder, began, sources.zone);
        let commands = commands(journal, stream, &after)?;
        Ok(Self {
            sources,
            rerun: Rerun::new(stream, sources.config, recordings, runs, commands),
            comparison: Comparison::new(journal, stream, &after)?,
            missing: Vec::new(),
            unproven: BTreeMap::new(),
            jumps: BTreeMap::new(),
            alone: BTreeMap::new(),
        })
    }

    /// Replays everything. `known` is a time up to which the daemon was running according to the journal.
    pub(super) fn play(mut self, known: Timestamp) -> Result<TakenUp, JournalError> {
        while let Some(next) = self.rerun.next() {
            if let Some(progress) = self.sources.progress {
                progress.advance();
            }
            match next {
                RerunStep::Events(events) => self.compare(events)?,
                RerunStep::Start(run) => self.begin(&run)?,
            }
        }
        let events = self.rerun.advance(known);
        self.compare(events)?;
        let numbers = self.numbers();
        // The events that close ports are new, unless the journal has them from the last start.
        let lasts = self.sources.journal.boards(self.sources.stream)?;
        let behind = lasts
            .iter()
            .filter(|(board, last)| self.rerun.last_seq(board) < *last);
        let behind: BTreeSet<String> = behind.map(|(board, _)| board.clone()).collect();
        let mut complete = numbers.boards.clone();
        complete.retain(|board, _| !behind.contains(board));
        self.count_on_after(&numbers, |board| !behind.contains(board));
        self.rerun.count_on_after(&complete);
        let (closed, events) = self.rerun.close(CUT_OFF);
        self.compare(events)?;
        for (board, last) in &lasts {
            if self.rerun.last_seq(board) < *last {
                self.alone.entry(board.clone()).or_insert(Alone::Short(*last));
            }
        }
        let alone = core::mem::take(&mut self.alone);
        // Events of a replay that has diverged were never published.
        self.unproven.retain(|board, _| !alone.contains_key(board));
        self.count_on_after(&numbers, |board| behind.contains(board));
        self.rerun.count_on_after(&numbers.boards);
        self.missing
            .extend(core::mem::take(&mut self.unproven).into_values().flatten());
        let until = self.rerun.until();
        for board in alone.keys() {
            let restored = self.missing.iter().filter(|event| event.board == *board);
            let last = restored.map(|event| event.seq).max();
            let last = last.unwrap_or(0).max(self.comparison.last(board));
            let number = super::after_all_given(&numbers, board, last) + 1;
            self.missing
                .extend(disconnection(self.sources, board, number, until)?);
        }
        Ok(TakenUp {
            events: self.missing,
            closed,
            until,
            alone,
            hall: self.rerun.into_hall(),
            whole: false,
            numbers,
            jumps: self.jumps,
        })
    }

    /// Handles a start of the daemon. Boards that continued from the journal alone are created anew; that start already
    /// decided about their missing events.
    fn begin(&mut self, run: &Run) -> Result<(), JournalError> {
        self.rerun.begin(run, self.sources.journal)?;
        for board in run.boards.keys() {
            self.alone.remove(board);
            self.unproven.remove(board);
        }
        if run.whole {
            self.unproven.clear();
        }
        Ok(())
    }

    fn compare(&mut self, events: Vec<Event>) -> Result<(), JournalError> {
        for event in events {
            if self.alone.contains_key(&event.board) {
                continue;
            }
            let unproven = self.unproven.entry(event.board.clone()).or_default();
            if unproven.last().is_some_and(|last| last.seq + 1 != event.seq) {
                // An event after a jump confirms no event before it.
                unproven.clear();
            }
            match self.comparison.find(self.sources.journal, &event)? {
                JournalMatch::Known => self.missing.append(unproven),
                JournalMatch::New => {
                    let digests = &self.sources.numbers.digests;
                    let known = digests.get(&event.board).filter(|(seq, _)| *seq == event.seq);
                    let is_same = known.is_some_and(|(_, digest)| digest_of(&event) == Some(*digest));
                    unproven.push(event);
                    if is_same {
                        self.missing.append(unproven);
                    }
                }
                JournalMatch::Other => {
                    unproven.clear();
                    self.alone.insert(event.board, Alone::Differs(event.seq));
                }
            }
        }
        Ok(())
    }

    /// The last seqs that may have left the process.
    fn numbers(&self) -> LastSeqs {
        let given = self.sources.numbers;
        let until = self.rerun.until();
        let is_old = |event: &Event| until.saturating_duration_since(event.ts) > MAX_KEEPING;
        if !self
            .unproven
            .values()
            .any(|events| events.first().is_some_and(is_old))
        {
            return given.numbers.clone();
        }
        let mut numbers = given.reserved.clone();
        let known = self.unproven.keys().chain(given.numbers.boards.keys());
        for board in known {
            let others = numbers.others;
            let reserved = numbers.boards.entry(board.clone()).or_insert(others);
            *reserved = (*reserved).max(given.of(board));
        }
        numbers.others = numbers.others.max(given.numbers.others);
        numbers
    }

    /// Renumbers the events of the boards for which `of` is true, if their seqs may have left the process with other
    /// events.
    fn count_on_after(&mut self, numbers: &LastSeqs, of: impl Fn(&str) -> bool) {
        for (board, events) in self.unproven.iter_mut().filter(|(board, _)| of(board)) {
            let given = numbers.boards.get(board).copied().unwrap_or(0);
            let (Some(first), Some(last)) = (events.first(), events.last()) else {
                continue;
            };
            let (before, count) = (first.seq - 1, last.seq + 1 - first.seq);
            if before < given {
                for event in events.iter_mut() {
                    event.seq += given - before;
                }
                self.jumps.insert(board.clone(), (before, given));
                let last = BTreeMap::from([(board.clone(), given + count)]);
                self.rerun.count_on_after(&last);
            }
            self.missing.append(events);
        }
    }
}
