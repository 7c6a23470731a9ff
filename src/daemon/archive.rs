//! The thread that keeps the events, and lets them out once they are kept.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result};

use super::STREAM;
use crate::config;
use crate::events::Event;
use crate::journal::{Journal, JournalError, Unsent};
use crate::output::mqtt::{Message, Outbox, Prefix};
use crate::system_time::LiveTime;

/// Where events go, and from there on to the broker.
#[derive(Debug)]
pub(super) struct Archive {
    batches: Option<Sender<Batch>>,
    thread: Option<JoinHandle<()>>,
}

/// Events, and what is published once they are kept.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) events: Vec<Event>,
    pub(super) messages: Vec<Message>,
}

/// The thread's belongings.
struct Keeper {
    journal: Journal,
    outbox: Option<Outbox>,
    keep: Duration,
    time: LiveTime,
    /// Whether the journal takes events; told once when it does not.
    well: bool,
    acknowledged: std::collections::BTreeMap<std::sync::Arc<str>, u64>,
}

/// The journal's name for the broker.
const OUTPUT: &str = "mqtt";
/// How often it is noted what the broker has.
const NOTED_EVERY: Duration = Duration::from_secs(5);
/// A journal that does not take events is tried again after this.
const TRIED_AGAIN: Duration = Duration::from_secs(1);
/// How often old games are looked for.
const TIDIED_EVERY: Duration = Duration::from_secs(6 * 3600);
/// So many events are read at a time for a broker that has not had them.
const PAGE: usize = 1000;

impl Archive {
    /// Starts with what the broker has not had of the former run.
    pub(super) fn start(
        mut journal: Journal,
        outbox: Option<Outbox>,
        prefix: &Prefix,
        settings: config::Journal,
        time: LiveTime,
    ) -> Result<Self> {
        if let Some(outbox) = &outbox {
            for unsent in journal.unsent(OUTPUT, STREAM)? {
                send_again(&journal, outbox, prefix, &unsent)?;
            }
        }
        let keeper = Keeper {
            journal,
            outbox,
            keep: Duration::from_secs(u64::from(settings.keep_days) * 24 * 3600),
            time,
            well: true,
            acknowledged: std::collections::BTreeMap::new(),
        };
        let (batches, taken) = channel();
        let thread = std::thread::Builder::new()
            .name("archive".to_owned())
            .spawn(move || keeper.work(&taken))
            .context("cannot start the journal")?;
        Ok(Self {
            batches: Some(batches),
            thread: Some(thread),
        })
    }

    pub(super) fn keep(&self, batch: Batch) {
        if let Some(batches) = &self.batches {
            // The thread lives as long as the archive does.
            let _ = batches.send(batch);
        }
    }
}

impl Drop for Archive {
    /// Waits until all is kept.
    fn drop(&mut self) {
        self.batches = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Notes what the broker has by now, after the archive has closed.
pub(super) fn note_delivered(journal: &mut Journal, outbox: &Outbox) -> Result<(), JournalError> {
    let acknowledged = outbox.progress().borrow().acknowledged.clone();
    let delivered = acknowledged.iter().map(|(board, seq)| (&**board, *seq));
    journal.acknowledge(OUTPUT, STREAM, delivered)
}

fn send_again(journal: &Journal, outbox: &Outbox, prefix: &Prefix, unsent: &Unsent) -> Result<()> {
    let topics = prefix.board(&unsent.board)?;
    let topic = topics.events().into();
    let mut after = unsent.after;
    while after < unsent.last {
        let events = journal.events_after(STREAM, &unsent.board, after, PAGE)?;
        let Some(last) = events.last() else { break };
        after = last.seq;
        let read = events.iter().map(|event| serde_json::from_str(&event.payload));
        let read: Result<Vec<Event>, _> = read.collect();
        let read = read.with_context(|| format!("cannot read the journal's events of {}", unsent.board))?;
        outbox.publish(read.iter().map(|event| Message::event(&topic, event)).collect());
    }
    Ok(())
}

impl Keeper {
    fn work(mut self, batches: &Receiver<Batch>) {
        let mut tidied = None;
        loop {
            let batch = match batches.recv_timeout(NOTED_EVERY) {
                Ok(batch) => Some(batch),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            if let Some(mut batch) = batch {
                // One wait for the disk serves all that has come meanwhile.
                for more in batches.try_iter() {
                    batch.events.extend(more.events);
                    batch.messages.extend(more.messages);
                }
                self.keep(batch);
            }
            self.note_acknowledged();
            let now = self.time.now();
            if tidied.is_none_or(|tidied| now >= tidied + TIDIED_EVERY) {
                tidied = Some(now);
                self.tidy();
            }
        }
        self.note_acknowledged();
    }

    /// Keeps a batch, however long it takes, and lets it out.
    fn keep(&mut self, batch: Batch) {
        while !batch.events.is_empty() {
            match self.journal.append(&batch.events) {
                Ok(()) => {
                    if !self.well {
                        tracing::info!("the journal takes events again");
                    }
                    self.well = true;
                    break;
                }
                Err(error @ JournalError::Doubled { .. }) => {
                    // Trying again would not help, and holding the boards back would be worse.
                    tracing::error!("{error}; these events go out without being kept");
                    break;
                }
                Err(error) => {
                    if self.well {
                        tracing::error!("{error}; what is played is held back until it can be kept");
                    }
                    self.well = false;
                    std::thread::sleep(TRIED_AGAIN);
                }
            }
        }
        if let Some(outbox) = &self.outbox {
            outbox.publish(batch.messages);
        }
    }

    fn note_acknowledged(&mut self) {
        let Some(outbox) = &self.outbox else { return };
        let progress = outbox.progress();
        let acknowledged = progress.borrow().acknowledged.clone();
        if acknowledged == self.acknowledged {
            return;
        }
        let delivered = acknowledged.iter().map(|(board, seq)| (&**board, *seq));
        match self.journal.acknowledge(OUTPUT, STREAM, delivered) {
            Ok(()) => self.acknowledged = acknowledged,
            Err(error) => tracing::debug!("what the broker has is not noted: {error}"),
        }
    }

    fn tidy(&mut self) {
        let before = self.time.now().saturating_sub(self.keep);
        match self.journal.forget_before(STREAM, before) {
            Ok(0) => {}
            Ok(events) => tracing::info!("{events} events of old games were removed from the journal"),
            Err(error) => tracing::warn!("old games are not removed: {error}"),
        }
    }
}
