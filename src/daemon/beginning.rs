//! Prepares the event loop: reads all files before boards are watched.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use kiebitz_game::events::{Event, LIVE_STREAM};
use kiebitz_hardware::Timestamp;
use tokio::sync::oneshot;

use super::lock::{LockError, StateLock};
use super::mqtt::Mqtt;
use super::start::{self, Beginning, Started};
use super::storage::Storage;
use crate::config::Config;
use crate::journal::Journal;
use crate::outputs::feeds::Feeds;
use crate::outputs::mqtt::{Message, Outbox};
use crate::progress::Progress;
use crate::restart;
use crate::restart::past;
use crate::system_time::{self, LiveTime, wall_time};
use crate::tournament::{Tournament, read};

/// Initial state of the event loop.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) started: Started,
    pub(super) time: LiveTime,
    pub(super) mqtt: Option<Mqtt>,
    /// Messages to publish before all others.
    pub(super) first: Vec<Message>,
    /// Events of earlier games with which the broadcast continues, by board.
    pub(super) past: Vec<(String, Vec<Event>)>,
}

/// Yields the lock of the state directory once its disk answers.
pub(super) type PendingLock = oneshot::Receiver<Result<StateLock, LockError>>;

pub(super) struct Preparation {
    pub(super) config: Config,
    pub(super) outbox: Option<Outbox>,
    pub(super) storage: Storage,
    pub(super) lock: Arc<StateLock>,
    /// Awaited before any file is read or written.
    pub(super) pending: Option<PendingLock>,
    pub(super) beginning: Beginning,
    /// Set when the daemon no longer waits for the preparation.
    pub(super) abandoned: Arc<AtomicBool>,
    pub(super) progress: Progress,
    /// Receives the games of the journal before the recordings are replayed.
    pub(super) feeds: Option<Feeds>,
}

impl Preparation {
    /// Restores the daemon's state and prepares the first messages to the broker. Blocks on disks.
    pub(super) fn prepare(self) -> Result<Prepared> {
        let Self {
            config,
            outbox,
            storage,
            lock,
            pending,
            beginning,
            abandoned,
            progress,
            feeds,
        } = self;
        if let Some(pending) = pending {
            let locked = pending.blocking_recv().context("cannot start")?;
            lock.become_locked(locked?);
        }
        let zone = system_time::local_zone();
        let now = wall_time();
        let mut feeds = feeds.filter(|_| beginning == Beginning::Program);
        let mut shown = None;
        let mut show = |journal: &Journal| {
            if let Some(feeds) = &mut feeds {
                shown = Some(show_during_replay(journal, &config, feeds, now));
            }
        };
        let context = start::StartContext {
            zone: &zone,
            storage: &storage,
            abandoned: &abandoned,
            progress: &progress,
        };
        let mut started = start::start(&config, beginning, now, &context, &mut show)?;
        let mut prepared = Prepared::without_data(&config, outbox, LiveTime::after(started.until))?;
        if let (Some(broker), Some(mqtt)) = (&config.mqtt, &mut prepared.mqtt) {
            if let Some(journal) = &mut started.journal {
                mqtt.restore(journal, beginning);
            }
            prepared.first = mqtt.unkept(&started.unkept, broker.prefix());
        }
        if let Some(journal) = &started.journal
            && feeds.is_some()
        {
            let (at, shown) = shown.unwrap_or_else(|| (started.until, BTreeMap::new()));
            prepared.past = past::of(journal, &config, at);
            for (board, events) in &mut prepared.past {
                past::leave_out(events, shown.get(board));
            }
        }
        if let Some(feeds) = &mut feeds {
            feeds.set_restarting(now, false);
        }
        Ok(Prepared { started, ..prepared })
    }
}

/// Time as of which past events were selected, and the events passed to the outputs, by board.
type ShownEvents = (Timestamp, BTreeMap<String, Vec<Event>>);

/// Passes the games of the journal to the outputs, so that they show them while the recordings are replayed.
fn show_during_replay(journal: &Journal, config: &Config, feeds: &mut Feeds, now: Timestamp) -> ShownEvents {
    // The system time may be too early on a computer without a battery-backed clock.
    let at = restart::last_ts(journal, LIVE_STREAM).unwrap_or(now);
    let now = now.max(at);
    let past = past::of(journal, config, at);
    feeds.set_restarting(now, true);
    for (board, events) in &past {
        feeds.resume(now, board.clone(), events.clone());
    }
    let files = config.pairing_files();
    // The daemon reports errors in pairing files when it reads them for its boards.
    let tournament = match files.are_none() {
        true => Some(Tournament::default()),
        false => read(&files.all()).ok().map(|(tournament, _)| tournament),
    };
    if let Some(tournament) = tournament {
        feeds.pair(now, Arc::new(tournament));
    }
    (at, past.into_iter().collect())
}

impl Prepared {
    /// Creates the initial state without any stored data, for a disk that does not answer.
    pub(super) fn without_data(config: &Config, outbox: Option<Outbox>, time: LiveTime) -> Result<Self> {
        let mqtt = match (&config.mqtt, outbox) {
            (Some(broker), Some(outbox)) => Some(Mqtt::new(outbox, config, broker, time.now())?),
            _ => None,
        };
        Ok(Self {
            started: Started::without_journal(config, Default::default(), time.now()),
            time,
            mqtt,
            first: Vec::new(),
            past: Vec::new(),
        })
    }
}
