//! What the disks are asked for before boards are watched.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use kiebitz_game::events::{Event, LIVE_STREAM};
use kiebitz_hardware::Timestamp;
use tokio::sync::oneshot;

use super::lock::{LockError, StateLock};
use super::mqtt::Mqtt;
use super::past;
use super::start::{self, Beginning, Started};
use super::storage::Storage;
use crate::config::Config;
use crate::journal::Journal;
use crate::outputs::feeds::Feeds;
use crate::outputs::mqtt::{Message, Outbox};
use crate::progress::Progress;
use crate::restart;
use crate::system_time::{self, LiveTime, wall_time};
use crate::tournament::{Tournament, read};

/// What there is to go on with.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) started: Started,
    pub(super) time: LiveTime,
    pub(super) mqtt: Option<Mqtt>,
    /// What is published before all else.
    pub(super) first: Vec<Message>,
    /// The games that the broadcast goes on with, board by board.
    pub(super) past: Vec<(String, Vec<Event>)>,
}

/// The lock of a state directory, or who is to answer whether it can be had.
pub(super) type PendingLock = oneshot::Receiver<Result<StateLock, LockError>>;

/// Asks the disks.
pub(super) struct Preparation {
    pub(super) config: Config,
    pub(super) outbox: Option<Outbox>,
    pub(super) storage: Storage,
    pub(super) lock: Arc<StateLock>,
    /// It is waited for: without it nothing is touched.
    pub(super) pending: Option<PendingLock>,
    pub(super) beginning: Beginning,
    /// Nobody waits for it any more.
    pub(super) abandoned: Arc<AtomicBool>,
    pub(super) progress: Progress,
    /// Get the games that the journal has before the recordings are played back.
    pub(super) feeds: Option<Feeds>,
}

impl Preparation {
    /// Takes up what there is, and what the broker is to get of it. Waits for disks.
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
                shown = Some(shown_meanwhile(journal, &config, feeds, now));
            }
        };
        let surroundings = start::StartContext {
            zone: &zone,
            storage: &storage,
            abandoned: &abandoned,
            progress: &progress,
        };
        let mut started = start::start(&config, beginning, now, &surroundings, &mut show)?;
        let mut prepared = Prepared::of_nothing(&config, outbox, LiveTime::after(started.until))?;
        if let (Some(broker), Some(mqtt)) = (&config.mqtt, &mut prepared.mqtt) {
            if let Some(journal) = &mut started.journal {
                mqtt.go_on(journal, beginning);
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
            feeds.restart(now, false);
        }
        Ok(Prepared { started, ..prepared })
    }
}

/// The events of each board that outputs have, and the time for which they were chosen.
type ShownEvents = (Timestamp, BTreeMap<String, Vec<Event>>);

/// Gives outputs the games that the journal has, for the time in which the recordings are played back.
fn shown_meanwhile(journal: &Journal, config: &Config, feeds: &mut Feeds, now: Timestamp) -> ShownEvents {
    // A computer without a clock of its own may be wrong about the time.
    let at = restart::last_ts(journal, LIVE_STREAM).unwrap_or(now);
    let now = now.max(at);
    let past = past::of(journal, config, at);
    feeds.restart(now, true);
    for (board, events) in &past {
        feeds.resume(now, board.clone(), events.clone());
    }
    let files = config.pairing_files();
    // What is wrong with pairings is said when they are read to seat the boards.
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
    /// What there is where the disk does not answer.
    pub(super) fn of_nothing(config: &Config, outbox: Option<Outbox>, time: LiveTime) -> Result<Self> {
        let mqtt = match (&config.mqtt, outbox) {
            (Some(broker), Some(outbox)) => Some(Mqtt::new(outbox, config, broker, time.now())?),
            _ => None,
        };
        Ok(Self {
            started: Started::anew(config, Default::default(), time.now()),
            time,
            mqtt,
            first: Vec::new(),
            past: Vec::new(),
        })
    }
}
