//! The gate: everything that leaves the daemon passes it in order, once the journal has stored the events on which it
//! is based. If the journal takes too long, the gate opens all the same and marks the outputs as not kept.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use kiebitz_game::command::Answer;
use kiebitz_game::events::Event;
use tokio::sync::{oneshot, watch};

use super::journal_writer::{Batch, JournalWriter};
use super::seqs::SeqNotes;
use super::storage::Storage;
use crate::journal::{Journal, Run, SeqFile};
use crate::outputs::feeds::{HeldInput, Outlet};
use crate::outputs::mqtt::{Message, Outbox, Reply};
use crate::outputs::shared::to_hall::RequestOutcome;
use crate::outputs::status::{Question, Status};
use crate::system_time::{Moment, Now};

/// Holds events, and every item that leaves the daemon with them, until the journal has stored the events.
#[derive(Debug)]
pub(super) struct Gate {
    journal_writer: JournalWriter,
    numbers: SeqNotes,
    outputs: GateOutputs,
    storage: Storage,
    waiting: VecDeque<HeldBatch>,
    events: usize,
    last: u64,
    /// Number of events for which there was no room. The journal never gets them.
    lost: u64,
    /// Time since which items leave before their events are stored; `None` while the journal works.
    unkept: Option<Moment>,
    /// Boards that the spare file already covers in the current outage: their latest seqs plus a reserve.
    spared: BTreeSet<String>,
}

#[derive(Debug)]
pub(super) struct GateOutputs {
    /// `None` without a broker.
    pub(super) outbox: Option<Outbox>,
    /// `None` without outputs in [`feeds`](crate::outputs::feeds).
    pub(super) outlet: Option<Outlet>,
}

#[derive(Debug)]
pub(super) enum Leaving {
    Message(Message),
    /// An input for the outputs in [`feeds`](crate::outputs::feeds), such as the broadcast and the desk.
    News(HeldInput),
    Answer(Asker, Answer),
    Status(Question, Box<Status>),
}

/// The recipient of the answer to a command.
#[derive(Debug)]
pub(super) enum Asker {
    Broker(Reply),
    /// A task of this process, such as the desk's server.
    Hall(oneshot::Sender<RequestOutcome>),
}

#[derive(Debug)]
struct HeldBatch {
    number: u64,
    since: Moment,
    events: Arc<Vec<Event>>,
    /// `None` once the items have left.
    leaving: Option<Vec<Leaving>>,
}

/// Time for which a batch waits for the journal before its items leave without it.
const PATIENCE: Duration = Duration::from_millis(1500);
/// Additional time for which items wait until the disk has recorded that their seqs are used.
const NOTE_PATIENCE: Duration = Duration::from_secs(1);
/// Maximum number of events that wait for the journal. Even a large hall has fewer in a day.
const MAX_WAITING: usize = 100_000;

impl Gate {
    pub(super) fn new(
        journal_writer: JournalWriter,
        numbers: SeqNotes,
        outputs: GateOutputs,
        storage: Storage,
    ) -> Self {
        Self {
            journal_writer,
            numbers,
            outputs,
            storage,
            waiting: VecDeque::new(),
            events: 0,
            last: 0,
            lost: 0,
            unkept: None,
            spared: BTreeSet::new(),
        }
    }

    /// Passes on the journal and the file of seqs. `None` if a file could not be opened, which is retried.
    pub(super) fn open(&self, journal: Option<Journal>, numbers: Option<SeqFile>) {
        self.journal_writer.open(journal);
        self.numbers.take_file(numbers);
    }

    /// Has the journal record a new configuration, before all later events.
    pub(super) fn note(&self, run: Run) {
        self.journal_writer.note(run);
    }

    /// Has the journal store events, and releases `leaving` afterwards, in order.
    pub(super) fn hold(&mut self, now: Now, events: Vec<Event>, leaving: Vec<Leaving>) {
        if events.is_empty() {
            match self.waiting.back_mut().map(|held| held.leaving.as_mut()) {
                Some(Some(before)) => before.extend(leaving),
                Some(None) => self.outputs.release(leaving, false),
                None => self.outputs.release(leaving, true),
            }
            return;
        }
        if self.events + events.len() > MAX_WAITING {
            self.give_up(now, &events, leaving);
            return;
        }
        self.last += 1;
        self.events += events.len();
        let events = Arc::new(events);
        self.journal_writer.keep(Batch {
            number: self.last,
            events: Arc::clone(&events),
        });
        self.waiting.push_back(HeldBatch {
            number: self.last,
            since: now.moment,
            events,
            leaving: Some(leaving),
        });
        self.settle(now);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Time of the next call of [`settle`](Self::settle), unless the journal stores a batch earlier.
    pub(super) fn poll_deadline(&self) -> Option<Moment> {
        let first = self.waiting.iter().find(|held| held.leaving.is_some())?;
        Some(match self.unkept {
            Some(since) => since + NOTE_PATIENCE,
            None => first.since + PATIENCE,
        })
    }

    /// The number of the last stored batch.
    pub(super) fn kept(&self) -> watch::Receiver<u64> {
        self.journal_writer.kept()
    }

    /// Whether the disk has recorded that events leave before they are stored.
    pub(super) fn noted(&self) -> watch::Receiver<bool> {
        self.numbers.noted()
    }

    /// Releases batches that are stored or have waited too long.
    pub(super) fn settle(&mut self, now: Now) {
        let kept = *self.journal_writer.kept().borrow();
        while let Some(held) = self.waiting.pop_front_if(|held| held.number <= kept) {
            self.events -= held.events.len();
            self.outputs.release(held.leaving.unwrap_or_default(), true);
        }
        if self.waiting.is_empty() && self.unkept.take().is_some() {
            tracing::info!("all published events are stored");
            self.storage.journal_is_well();
            self.spared.clear();
            self.numbers.unkept(false);
            self.outputs.send_kept(now, true);
        }
        if self.poll_deadline().is_some_and(|due| due <= now.moment) && self.unkept.is_none() {
            self.storage.journal_is_silent(now.time);
            let problem = self.storage.state().journal.problem.unwrap_or_default();
            tracing::warn!(
                "the journal stores no events ({problem}); events are published before they are stored"
            );
            self.leave_unkept_from(now);
        }
        if let Some(since) = self.unkept
            && (self.numbers.is_noted() || now.moment >= since + NOTE_PATIENCE)
        {
            self.release_waiting(now);
        }
        self.storage.events_wait(self.events as u64, self.lost);
    }

    /// Waits for the journal, at most for the time `at_most`, and releases all remaining batches.
    pub(super) async fn finish(mut self, now: Now, at_most: Duration) {
        let mut kept = self.journal_writer.kept();
        let last = self.last;
        let all = kept.wait_for(|kept| *kept >= last);
        let _ = tokio::time::timeout(at_most / 2, all).await;
        self.settle(now);
        if self.waiting.is_empty() {
            let _ = tokio::time::timeout(at_most / 4, self.numbers.ended()).await;
        } else {
            self.leave_unkept_from(now);
            let mut noted = self.numbers.noted();
            let _ = tokio::time::timeout(at_most / 4, noted.wait_for(|noted| *noted)).await;
            self.release_waiting(now);
        }
        self.journal_writer.finish(at_most / 4).await;
    }

    /// Begins to release events before they are stored. Records in the file of seqs that their seqs, which were
    /// reserved there before, are used.
    fn leave_unkept_from(&mut self, now: Now) {
        self.unkept.get_or_insert(now.moment);
        let events = self.waiting.iter().flat_map(|held| held.events.iter());
        self.numbers.given(lasts(events));
        self.numbers.unkept(true);
    }

    fn release_waiting(&mut self, now: Now) {
        let held = self.waiting.iter().filter(|held| held.leaving.is_some());
        let lasts = lasts(held.flat_map(|held| held.events.iter()));
        self.spare(&lasts);
        let waiting = self.waiting.iter_mut();
        let leaving: Vec<_> = waiting.filter_map(|held| held.leaving.take()).collect();
        if !leaving.is_empty() {
            self.outputs.send_kept(now, false);
            self.outputs.release(leaving.into_iter().flatten(), false);
        }
    }

    /// Releases events for which there is no room. Only the recordings can restore them.
    fn give_up(&mut self, now: Now, events: &[Event], leaving: Vec<Leaving>) {
        if self.lost == 0 {
            tracing::error!(
                "{MAX_WAITING} events wait for the journal, the most possible; later events are not stored: \
                 once the journal works, `kiebitz rebuild` restores them from the recordings"
            );
        }
        self.lost += events.len() as u64;
        let lasts = lasts(events);
        self.spare(&lasts);
        self.numbers.given(lasts);
        self.leave_unkept_from(now);
        self.settle(now);
        self.release_waiting(now);
        self.outputs.send_kept(now, false);
        self.outputs.release(leaving, false);
    }

    /// Records boards in the spare file, once per outage of the journal: the reserve covers later seqs.
    fn spare(&mut self, lasts: &BTreeMap<String, u64>) {
        if lasts.keys().all(|board| self.spared.contains(board)) {
            return;
        }
        self.numbers.given(lasts.clone());
        self.numbers.spare(lasts);
        self.spared.extend(lasts.keys().cloned());
    }
}

impl GateOutputs {
    fn send_kept(&self, now: Now, kept: bool) {
        if let Some(outlet) = &self.outlet {
            outlet.send_kept(now.time, kept);
        }
    }

    /// Releases items. `kept` is false if the journal lacks events on which they are based.
    fn release(&self, leaving: impl IntoIterator<Item = Leaving>, kept: bool) {
        let mut messages = Vec::new();
        let mut publish = |message: Message| messages.push(if kept { message } else { message.unkept() });
        for leaving in leaving {
            match leaving {
                Leaving::Message(message) => publish(message),
                Leaving::News(news) => {
                    if let Some(outlet) = &self.outlet {
                        outlet.send(news);
                    }
                }
                Leaving::Answer(asker, answer) => {
                    let answer = if kept { answer } else { answer.unkept() };
                    match asker {
                        Asker::Broker(reply) => publish(reply.message(&answer)),
                        // The requester may have stopped waiting.
                        Asker::Hall(sender) => drop(sender.send(Ok(answer))),
                    }
                }
                Leaving::Status(question, status) => drop(question.send(*status)),
            }
        }
        if let Some(outbox) = &self.outbox {
            outbox.publish(messages);
        }
    }
}

fn lasts<'e>(events: impl IntoIterator<Item = &'e Event>) -> BTreeMap<String, u64> {
    let mut lasts = BTreeMap::new();
    for event in events {
        lasts.insert(event.board.clone(), event.seq);
    }
    lasts
}

#[cfg(test)]
mod tests;
