//! The post: publishes what the journal has and, when it takes too long, what it does not have yet, which says so.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use kiebitz_hardware::Timestamp;
use tokio::sync::watch;

use super::keeper::{Batch, Keeper};
use super::numbers::Numbers;
use super::storage::Storage;
use crate::events::Event;
use crate::journal::{Journal, NumbersFile, Run};
use crate::output::mqtt::{Message, Outbox};

/// Holds events and messages until they are kept, in order.
#[derive(Debug)]
pub(super) struct Post {
    keeper: Keeper,
    numbers: Numbers,
    outbox: Option<Outbox>,
    storage: Storage,
    waiting: VecDeque<Held>,
    /// How many events wait.
    events: usize,
    /// The number of the last batch.
    last: u64,
    /// Events that found no room: the journal never gets them.
    lost: u64,
    /// Since when events are published that the journal does not have.
    unkept: Option<Timestamp>,
    /// The boards whose numbers are noted as used meanwhile: the last one, and many after it.
    spared: BTreeSet<String>,
}

/// A batch that the journal does not have yet.
#[derive(Debug)]
struct Held {
    number: u64,
    since: Timestamp,
    events: Arc<Vec<Event>>,
    /// `None`: they are published.
    messages: Option<Vec<Message>>,
}

/// So long what is played waits for the disk before it is published all the same.
const PATIENCE: Duration = Duration::from_millis(1500);
/// So long, then, for the disk to note that.
const NOTE_PATIENCE: Duration = Duration::from_secs(1);
/// At most this many events wait for the journal: a large hall has fewer in a day.
const MAX_WAITING: usize = 100_000;

impl Post {
    pub(super) fn new(keeper: Keeper, numbers: Numbers, outbox: Option<Outbox>, storage: Storage) -> Self {
        Self {
            keeper,
            numbers,
            outbox,
            storage,
            waiting: VecDeque::new(),
            events: 0,
            last: 0,
            lost: 0,
            unkept: None,
            spared: BTreeSet::new(),
        }
    }

    /// What the disk has is there; `None`: it cannot be opened, which is tried again.
    pub(super) fn open(&self, journal: Option<Journal>, numbers: Option<NumbersFile>) {
        self.keeper.open(journal);
        self.numbers.take_file(numbers);
    }

    /// Has another configuration noted, before all events that follow.
    pub(super) fn note(&self, run: Run) {
        self.keeper.note(run);
    }

    /// Has events kept, and messages published once they are.
    pub(super) fn hold(&mut self, now: Timestamp, events: Vec<Event>, messages: Vec<Message>) {
        if events.is_empty() {
            match self.waiting.back_mut().and_then(|held| held.messages.as_mut()) {
                Some(before) => before.extend(messages),
                None => self.publish(messages),
            }
            return;
        }
        if self.events + events.len() > MAX_WAITING {
            self.give_up(now, &events, messages);
            return;
        }
        self.last += 1;
        self.events += events.len();
        let events = Arc::new(events);
        self.keeper.keep(Batch {
            number: self.last,
            events: Arc::clone(&events),
        });
        self.waiting.push_back(Held {
            number: self.last,
            since: now,
            events,
            messages: Some(messages),
        });
        self.settle(now);
    }

    /// Whether everything is kept.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// When [`settle`](Self::settle) is due if the journal says nothing before.
    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        let first = self.waiting.iter().find(|held| held.messages.is_some())?;
        Some(match self.unkept {
            Some(since) => since + NOTE_PATIENCE,
            None => first.since + PATIENCE,
        })
    }

    /// Changes when more is kept.
    pub(super) fn kept(&self) -> watch::Receiver<u64> {
        self.keeper.kept()
    }

    /// Changes when the disk has noted that events are published which the journal does not have.
    pub(super) fn noted(&self) -> watch::Receiver<bool> {
        self.numbers.noted()
    }

    /// Publishes what is kept, or has waited too long.
    pub(super) fn settle(&mut self, now: Timestamp) {
        let kept = *self.keeper.kept().borrow();
        while let Some(held) = self.waiting.pop_front_if(|held| held.number <= kept) {
            self.events -= held.events.len();
            self.publish(held.messages.unwrap_or_default());
        }
        if self.waiting.is_empty() && self.unkept.take().is_some() {
            tracing::info!("all that was published is kept");
            self.storage.journal_is_well();
            self.spared.clear();
            self.numbers.unkept(false);
        }
        if self.poll_deadline().is_some_and(|due| due <= now) && self.unkept.is_none() {
            self.storage.journal_is_silent(now);
            let problem = self.storage.state().journal.problem.unwrap_or_default();
            tracing::warn!("the journal takes no events ({problem}); they are published without being kept");
            self.publish_unkept_from(now);
        }
        if let Some(since) = self.unkept
            && (self.numbers.is_noted() || now >= since + NOTE_PATIENCE)
        {
            self.publish_waiting();
        }
        self.storage.events_wait(self.events as u64, self.lost);
    }

    /// Ends: what is not kept and not published yet is published, and the rest is waited for.
    pub(super) async fn finish(mut self, now: Timestamp, at_most: Duration) {
        let mut kept = self.keeper.kept();
        let last = self.last;
        let all = kept.wait_for(|kept| *kept >= last);
        let _ = tokio::time::timeout(at_most / 2, all).await;
        self.settle(now);
        if self.waiting.is_empty() {
            let _ = tokio::time::timeout(at_most / 4, self.numbers.ended()).await;
        } else {
            self.publish_unkept_from(now);
            let mut noted = self.numbers.noted();
            let _ = tokio::time::timeout(at_most / 4, noted.wait_for(|noted| *noted)).await;
            self.publish_waiting();
        }
        self.keeper.finish(at_most / 4).await;
    }

    /// From now on events are published that are not kept. Their numbers were reserved on the disk before; now it is noted
    /// that they are used.
    fn publish_unkept_from(&mut self, now: Timestamp) {
        self.unkept.get_or_insert(now);
        let events = self.waiting.iter().flat_map(|held| held.events.iter());
        self.numbers.given(lasts(events));
        self.numbers.unkept(true);
    }

    fn publish_waiting(&mut self) {
        let held = self.waiting.iter().filter(|held| held.messages.is_some());
        let lasts = lasts(held.flat_map(|held| held.events.iter()));
        self.spare(&lasts);
        let waiting = self.waiting.iter_mut();
        let messages = waiting.filter_map(|held| held.messages.take());
        let messages: Vec<Message> = messages.flatten().map(Message::unkept).collect();
        self.publish(messages);
    }

    /// There is no room for more: these are published, and the recordings alone have what they are made from.
    fn give_up(&mut self, now: Timestamp, events: &[Event], messages: Vec<Message>) {
        if self.lost == 0 {
            tracing::error!(
                "{MAX_WAITING} events wait for the journal, and there is no room for more; later ones are not kept, the recordings have their bytes"
            );
        }
        self.lost += events.len() as u64;
        let lasts = lasts(events);
        self.spare(&lasts);
        self.numbers.given(lasts);
        self.settle(now);
        self.publish_waiting();
        self.publish(messages.into_iter().map(Message::unkept).collect());
    }

    /// Boards that come while the journal takes no events are noted as well.
    fn spare(&mut self, lasts: &BTreeMap<String, u64>) {
        if lasts.keys().all(|board| self.spared.contains(board)) {
            return;
        }
        self.numbers.given(lasts.clone());
        self.numbers.spare(lasts);
        self.spared.extend(lasts.keys().cloned());
    }

    fn publish(&self, messages: Vec<Message>) {
        if let Some(outbox) = &self.outbox {
            outbox.publish(messages);
        }
    }
}

/// The last number of each board.
fn lasts<'e>(events: impl IntoIterator<Item = &'e Event>) -> BTreeMap<String, u64> {
    let mut lasts = BTreeMap::new();
    for event in events {
        lasts.insert(event.board.clone(), event.seq);
    }
    lasts
}
