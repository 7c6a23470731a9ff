//! Posts each event at least once, in the order of its board. There is one exception: if the journal can be read only
//! late after a restart, live events precede older ones.
//!
//! A file stores the last event of each board that the address has accepted. After a restart, the remaining events of
//! the tournament's games are read from the journal and posted.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use kiebitz_game::events::Event;
use kiebitz_hardware::Timestamp;
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::settings::Webhook;
use super::task::address;
use crate::outputs::feeds::FeedInput;
use crate::outputs::shared::address::Address;
use crate::outputs::shared::notes as noted;
use crate::outputs::shared::reports::Reports;
use crate::outputs::shared::retry::sleep_until;
use crate::system_time::wall_time;

/// Maximum number of events in one request.
const TOGETHER: usize = 100;
/// Maximum number of events waiting for an unreachable address: a round of a hundred boards. Beyond it, the oldest
/// events are dropped from memory; the next start reads them from the journal and posts them.
const WAITING: usize = 20_000;
/// Minimum interval between two writes of the notes.
const NOTED: Duration = Duration::from_secs(10);

pub(super) async fn follow(
    settings: Webhook,
    delay: Duration,
    notes: PathBuf,
    mut inputs: mpsc::UnboundedReceiver<(Timestamp, Arc<FeedInput>)>,
    reports: Reports,
) {
    let mut poster = EventPoster {
        queue: WebhookQueue::new(delay, noted::read(&notes)),
        address: address(&settings),
        notes,
        noted: Instant::now(),
        reports,
    };
    poster.reports.expect(poster.address.output());
    let mut waits_until = None;
    loop {
        tokio::select! {
            biased;
            input = inputs.recv() => {
                let Some((now, input)) = input else { break };
                poster.queue.apply_input(now, &input);
                while let Ok((now, input)) = inputs.try_recv() {
                    poster.queue.apply_input(now, &input);
                }
            }
            () = sleep_until(waits_until) => waits_until = None,
        }
        while waits_until.is_none() && poster.queue.has_due() {
            waits_until = poster.post().await.map(|pause| Instant::now() + pause);
            while let Ok((now, input)) = inputs.try_recv() {
                poster.queue.apply_input(now, &input);
            }
        }
    }
    while poster.queue.has_due() && poster.post().await.is_none() {}
    poster.note();
}

struct EventPoster {
    queue: WebhookQueue,
    address: Address,
    notes: PathBuf,
    noted: Instant,
    reports: Reports,
}

impl EventPoster {
    /// Posts the next due events. Returns the pause before the next attempt if the address refuses them.
    async fn post(&mut self) -> Option<Duration> {
        let output = self.address.output().to_owned();
        let (body, count) = self.queue.next();
        match self.address.post(None, "application/json", body).await {
            Ok(_) => {
                self.queue.remove_posted(count);
                if self.noted.elapsed() >= NOTED {
                    self.note();
                }
                if self.reports.done(&output, wall_time(), format!("{count} events")) {
                    tracing::info!("{output} accepts events again");
                }
                None
            }
            Err(refused) => {
                let problem = &refused.problem;
                if self.reports.problems(&output, vec![problem.clone()]) {
                    tracing::warn!("{output}: {problem}; retrying");
                }
                Some(self.address.wait(&refused))
            }
        }
    }

    fn note(&mut self) {
        self.noted = Instant::now();
        if let Err(error) = noted::write(&self.notes, &self.queue.noted) {
            let notes = self.notes.display();
            tracing::warn!("cannot write {notes}: {error}; after the next start, events are posted again");
        }
    }
}

#[derive(Debug)]
struct WebhookQueue {
    delay: Duration,
    /// Events that are not due yet, with their due times.
    held: VecDeque<(Timestamp, Event)>,
    due: VecDeque<Event>,
    /// The last event of each board that the address had accepted before the start.
    delivered_before: BTreeMap<String, u64>,
    /// The first live event of each board since the start.
    first: BTreeMap<String, u64>,
    /// The last event of each board up to which the address has accepted all.
    noted: BTreeMap<String, u64>,
    /// Boards with events that were dropped from memory. Their `noted` no longer advances.
    behind: BTreeSet<String>,
    /// Whether the journal stores the events that arrive now.
    kept: bool,
    /// Events that the journal does not have, by board and seq.
    unkept: BTreeSet<(String, u64)>,
}

/// An event with `kept: false` if the journal does not have it.
#[derive(Debug, Serialize)]
struct Posted<'q> {
    #[serde(flatten)]
    event: &'q Event,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<bool>,
}

impl WebhookQueue {
    fn new(delay: Duration, delivered_before: BTreeMap<String, u64>) -> Self {
        Self {
            delay,
            held: VecDeque::new(),
            due: VecDeque::new(),
            noted: delivered_before.clone(),
            delivered_before,
            first: BTreeMap::new(),
            behind: BTreeSet::new(),
            kept: true,
            unkept: BTreeSet::new(),
        }
    }

    fn apply_input(&mut self, now: Timestamp, input: &FeedInput) {
        match input {
            FeedInput::Events(events) => {
                for event in events {
                    self.first.entry(event.board.clone()).or_insert(event.seq);
                    if !self.kept {
                        self.unkept.insert((event.board.clone(), event.seq));
                    }
                    self.hold(now, event);
                }
            }
            FeedInput::Past(board, events) => {
                let first = self.first.get(board).copied();
                let before = |event: &&Event| first.is_none_or(|first| event.seq < first);
                for event in events.iter().filter(before) {
                    if let Some(by) = event.kind.clock_set_forward() {
                        self.set_forward(by, |board| board == event.board);
                    }
                    self.hold(event.ts.min(now), event);
                }
                // A board's past may be older than the held events of other boards.
                self.held.make_contiguous().sort_by_key(|(due, _)| *due);
            }
            FeedInput::SetForward(by) => self.set_forward(*by, |_| true),
            FeedInput::Kept(kept) => {
                self.kept = *kept;
                if *kept {
                    self.unkept.clear();
                }
            }
            _ => {}
        }
        while let Some((_, event)) = self.held.pop_front_if(|(due, _)| *due <= now) {
            self.due.push_back(event);
        }
        while self.due.len() > WAITING {
            if let Some(event) = self.due.pop_front() {
                self.behind.insert(event.board);
            }
        }
    }

    /// Moves the due times of some boards forward by the step of the clock, since no time has passed.
    fn set_forward(&mut self, by: Duration, is_held: impl Fn(&str) -> bool) {
        for (due, event) in &mut self.held {
            if is_held(&event.board) {
                *due = *due + by;
            }
        }
    }

    fn hold(&mut self, at: Timestamp, event: &Event) {
        let delivered_before = self.delivered_before.get(&event.board);
        if delivered_before.is_none_or(|delivered_before| event.seq > *delivered_before) {
            self.held.push_back((at + self.delay, event.clone()));
        }
    }

    fn has_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// The next due events as JSON, and their number.
    fn next(&self) -> (Vec<u8>, usize) {
        let next: Vec<Posted<'_>> = self
            .due
            .iter()
            .take(TOGETHER)
            .map(|event| self.posted(event))
            .collect();
        (serde_json::to_vec(&next).unwrap_or_default(), next.len())
    }

    fn posted<'q>(&self, event: &'q Event) -> Posted<'q> {
        let is_unkept = !self.unkept.is_empty() && self.unkept.contains(&(event.board.clone(), event.seq));
        Posted {
            event,
            kept: is_unkept.then_some(false),
        }
    }

    /// Removes the first `count` due events after the address has accepted them.
    fn remove_posted(&mut self, count: usize) {
        for event in self.due.drain(..count.min(self.due.len())) {
            if !self.behind.contains(&event.board) {
                let noted = self.noted.entry(event.board).or_default();
                *noted = event.seq.max(*noted);
            }
        }
    }
}

#[cfg(test)]
mod tests;
