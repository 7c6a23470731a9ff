//! A start of the daemon from its recordings: what the journal lacks, and the boards as they were.

use std::collections::BTreeMap;
use std::path::Path;

use kiebitz_hardware::Timestamp;

use super::compare::{Comparison, Found};
use super::rerun::{Next, Rerun, commands};
use super::{Alone, CUT_OFF, Recordings, Sources, TakenUp, disconnection};
use crate::events::Event;
use crate::journal::{JournalError, Run};

/// A replay since boards last went on from the journal alone, beside the journal.
#[derive(Debug)]
pub(super) struct TakingUp<'s> {
    sources: &'s Sources<'s>,
    rerun: Rerun,
    comparison: Comparison<'s>,
    missing: Vec<Event>,
    alone: BTreeMap<String, Alone>,
}

impl<'s> TakingUp<'s> {
    /// Begins with the first of the runs, of which there is one at least.
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
            alone: BTreeMap::new(),
        })
    }

    /// Plays everything back. The journal says that the daemon was there until `known`, at least.
    pub(super) fn play(mut self, known: Timestamp) -> Result<TakenUp, JournalError> {
        while let Some(next) = self.rerun.next() {
            match next {
                Next::Said(events) => self.compare(events)?,
                Next::Start(run) => {
                    self.rerun.begin(&run, self.sources.journal)?;
                    for board in run.boards.keys() {
                        self.alone.remove(board);
                    }
                }
            }
        }
        let said = self.rerun.advance(known);
        self.compare(said)?;
        // What was not recorded any more may have been published: nothing else gets these numbers.
        self.rerun.count_on_after(&self.sources.numbers.boards);
        let (closed, said) = self.rerun.close(CUT_OFF);
        self.compare(said)?;
        self.note_short()?;
        let alone = core::mem::take(&mut self.alone);
        // What a replay that has gone astray has said besides is nothing that anybody saw.
        self.missing.retain(|event| !alone.contains_key(&event.board));
        let until = self.rerun.until();
        for board in alone.keys() {
            let last = self.comparison.last(board);
            let number = super::after_all_given(self.sources, board, last) + 1;
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
        })
    }

    /// Holds what the boards have said against the journal.
    fn compare(&mut self, said: Vec<Event>) -> Result<(), JournalError> {
        for event in said {
            if self.alone.contains_key(&event.board) {
                continue;
            }
            match self.comparison.find(self.sources.journal, &event)? {
                Found::Known => {}
                Found::New => self.missing.push(event),
                Found::Other => {
                    self.alone.insert(event.board, Alone::Differs(event.seq));
                }
            }
        }
        Ok(())
    }

    /// Notes the boards of which the journal has more than was recorded.
    fn note_short(&mut self) -> Result<(), JournalError> {
        let Sources { journal, stream, .. } = *self.sources;
        for (board, last) in journal.boards(stream)? {
            if self.rerun.last_seq(&board) < last {
                self.alone.entry(board).or_insert(Alone::Short(last));
            }
        }
        Ok(())
    }
}
