//! What the disks are asked for before boards are watched.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use tokio::sync::oneshot;

use super::lock::{LockError, StateLock};
use super::mqtt::Mqtt;
use super::past;
use super::start::{self, Beginning, Started};
use super::storage::Storage;
use crate::config::Config;
use crate::events::Event;
use crate::feeds::FeedSettings;
use crate::output::mqtt::{Message, Outbox};
use crate::system_time::{self, LiveTime, wall_time};

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
        } = self;
        if let Some(pending) = pending {
            let locked = pending.blocking_recv().context("cannot start")?;
            lock.become_locked(locked?);
        }
        let zone = system_time::local_zone();
        let mut started = start::start(&config, beginning, wall_time(), &zone, (&storage, &abandoned))?;
        let mut prepared = Prepared::of_nothing(&config, outbox, LiveTime::after(started.until))?;
        if let (Some(broker), Some(mqtt)) = (&config.mqtt, &mut prepared.mqtt) {
            if let Some(journal) = &mut started.journal {
                mqtt.go_on(journal, beginning);
            }
            prepared.first = mqtt.unkept(&started.unkept, broker.prefix());
        }
        if let Some(journal) = &started.journal
            && beginning == Beginning::Program
            && FeedSettings::of(&config).is_any()
        {
            prepared.past = past::of(journal, &config, started.until);
        }
        Ok(Prepared { started, ..prepared })
    }
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
