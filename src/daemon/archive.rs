//! The archive: a thread that writes events to the journal, and publishes them once they are safe there.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::config;
use crate::events::{Event, LIVE_STREAM};
use crate::journal::{Journal, JournalError, Unsent};
use crate::output::mqtt::{Message, Outbox, Prefix};
use crate::system_time::LiveTime;

/// Takes events for the journal, and from there for the broker. Dropping it waits until all are written.
#[derive(Debug)]
pub(super) struct Archive {
    batches: Option<Sender<Batch>>,
    thread: Option<JoinHandle<()>>,
}

/// Events, and what is published once they are in the journal.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) events: Vec<Event>,
    pub(super) messages: Vec<Message>,
}

/// What the thread owns.
struct ArchiveThread {
    journal: Journal,
    outbox: Option<Outbox>,
    /// Games older than this are removed.
    keep: Duration,
    time: LiveTime,
    /// Whether the last attempt to write succeeded: each change is logged once.
    writable: bool,
    /// The last acknowledgements noted in the journal, by board.
    acknowledged: Acknowledged,
}

/// The number of the last event that the broker has acknowledged, by board.
type Acknowledged = BTreeMap<Arc<str>, u64>;

/// The name of the broker among the journal's outputs.
const OUTPUT: &str = "mqtt";
/// How often the journal notes what the broker has.
const NOTE_INTERVAL: Duration = Duration::from_secs(5);
/// Pause before a journal that cannot be written is tried again.
const RETRY_PAUSE: Duration = Duration::from_secs(1);
/// How often old games are removed.
const TIDY_INTERVAL: Duration = Duration::from_secs(6 * 3600);
/// At most this many events are read at a time to send again to the broker.
const PAGE: usize = 1000;

impl Archive {
    /// Starts the thread. `outbox`, if there is one, gets the messages of each batch.
    pub(super) fn start(
        journal: Journal,
        outbox: Option<Outbox>,
        settings: config::Journal,
        time: LiveTime,
    ) -> Result<Self> {
        let keeper = ArchiveThread {
            journal,
            outbox,
            keep: Duration::from_secs(u64::from(settings.keep_days) * 24 * 3600),
            time,
            writable: true,
            acknowledged: BTreeMap::new(),
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

    /// Hands a batch to the thread.
    pub(super) fn keep(&self, batch: Batch) {
        if let Some(batches) = &self.batches {
            // The thread lives as long as the archive does.
            let _ = batches.send(batch);
        }
    }
}

impl Drop for Archive {
    /// Waits until everything is written.
    fn drop(&mut self) {
        self.batches = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Hands over the events that the broker had not acknowledged before the restart.
pub(super) fn send_unsent(journal: &mut Journal, outbox: &Outbox, prefix: &Prefix) -> Result<()> {
    for unsent in journal.unsent(OUTPUT, LIVE_STREAM)? {
        send_again(journal, outbox, prefix, &unsent)?;
    }
    Ok(())
}

/// Notes what the broker has acknowledged by now, after the archive has closed.
pub(super) fn note_acknowledged(journal: &mut Journal, outbox: &Outbox) -> Result<(), JournalError> {
    let acknowledged = outbox.progress().borrow().acknowledged.clone();
    note(journal, &acknowledged)
}

fn note(journal: &mut Journal, acknowledged: &Acknowledged) -> Result<(), JournalError> {
    let by_board = acknowledged.iter().map(|(board, seq)| (&**board, *seq));
    journal.acknowledge(OUTPUT, LIVE_STREAM, by_board)
}

fn send_again(journal: &Journal, outbox: &Outbox, prefix: &Prefix, unsent: &Unsent) -> Result<()> {
    let topics = prefix.board(&unsent.board)?;
    let topic = topics.events().into();
    let mut after = unsent.after;
    while after < unsent.last {
        let events = journal.events_after(LIVE_STREAM, &unsent.board, after, PAGE)?;
        let Some(last) = events.last() else { break };
        after = last.seq;
        let read = events.iter().map(|event| serde_json::from_str(&event.payload));
        let read: Result<Vec<Event>, _> = read.collect();
        let read = read.with_context(|| format!("cannot read the journal's events of {}", unsent.board))?;
        outbox.publish(read.iter().map(|event| Message::event(&topic, event)).collect());
    }
    Ok(())
}

impl ArchiveThread {
    fn work(mut self, batches: &Receiver<Batch>) {
        let mut tidied = None;
        loop {
            let batch = match batches.recv_timeout(NOTE_INTERVAL) {
                Ok(batch) => Some(batch),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            if let Some(mut batch) = batch {
                // One write to the disk serves all that has come meanwhile.
                for more in batches.try_iter() {
                    batch.events.extend(more.events);
                    batch.messages.extend(more.messages);
                }
                self.keep(batch);
            }
            self.note_acknowledged();
            let now = self.time.now();
            if tidied.is_none_or(|tidied| now >= tidied + TIDY_INTERVAL) {
                tidied = Some(now);
                self.tidy();
            }
        }
        self.note_acknowledged();
    }

    /// Writes a batch, however long that takes, and publishes it.
    fn keep(&mut self, batch: Batch) {
        while !batch.events.is_empty() {
            match self.journal.append(&batch.events) {
                Ok(()) => {
                    if !self.writable {
                        tracing::info!("the journal is writable again");
                    }
                    self.writable = true;
                    break;
                }
                Err(error @ JournalError::Duplicate { .. }) => {
                    // Another attempt would not help, and holding back all boards would be worse.
                    tracing::error!("{error}; these events are published without being in the journal");
                    break;
                }
                Err(error) => {
                    if self.writable {
                        tracing::error!("{error}; events wait until the journal is writable");
                    }
                    self.writable = false;
                    std::thread::sleep(RETRY_PAUSE);
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
        match note(&mut self.journal, &acknowledged) {
            Ok(()) => self.acknowledged = acknowledged,
            Err(error) => tracing::debug!("cannot note what the broker has acknowledged: {error}"),
        }
    }

    fn tidy(&mut self) {
        let before = self.time.now().saturating_sub(self.keep);
        match self.journal.forget_before(LIVE_STREAM, before) {
            Ok(0) => {}
            Ok(events) => tracing::info!("{events} events of old games were removed from the journal"),
            Err(error) => tracing::warn!("cannot remove old games: {error}"),
        }
    }
}
