//! The recorder thread, which writes every byte of the ports to disk.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use anyhow::{Context, Result};
use kiebitz_hardware::Timestamp;
use kiebitz_hardware::capture::{Content, LineMode};
use kiebitz_hardware::recorder::{Recorder, RecorderReport, RecorderSettings};
use tokio::sync::watch;

use super::storage::Storage;
use crate::config::Config;
use crate::system_time::{self, LiveTime, Moment, Now};

/// Passes chunks to the thread. If the disk hangs, the thread is abandoned at the end of the program.
#[derive(Debug)]
pub(super) struct RecorderHandle {
    orders: Option<Sender<Order>>,
    /// Number of chunks passed to the thread; `written` is the number that the operating system has.
    handed: u64,
    written: watch::Receiver<u64>,
    /// Number of bytes that wait for the thread.
    waiting: Arc<AtomicUsize>,
    /// Number of chunks dropped for lack of room, by port.
    missed: BTreeMap<String, u64>,
    storage: Storage,
    /// Number of written chunks at the last check, and the time since which it has not changed; `None` while no chunks
    /// are outstanding.
    behind: Option<(u64, Moment)>,
    silent: bool,
}

#[derive(Debug)]
enum Order {
    Record(Chunk),
    /// Record that chunks of a port were dropped for lack of room.
    Missed {
        at: Timestamp,
        port: String,
        chunks: u64,
    },
}

#[derive(Debug)]
struct Chunk {
    at: Timestamp,
    port: String,
    mode: LineMode,
    content: Content,
}

/// Sleeping time of the thread if no deadline is set.
const IDLE: Duration = Duration::from_secs(3600);
/// Maximum number of bytes that wait for the thread: minutes of a large hall, and affordable on a small computer.
const MAX_WAITING: usize = 32 << 20;
/// Time without progress after which the disk counts as hanging.
const PATIENCE: Duration = Duration::from_secs(3);
/// Estimated memory of a queued chunk besides its content, in bytes.
const CHUNK_OVERHEAD: usize = 128;

impl RecorderHandle {
    pub(super) fn start(config: &Config, time: LiveTime, storage: Storage) -> Result<Self> {
        let settings = RecorderSettings {
            folder: config.recordings(),
            budget: config.recorder.budget,
            zone: system_time::local_zone(),
        };
        let (orders, taken) = channel();
        let (reports, written) = watch::channel(0);
        let waiting = Arc::new(AtomicUsize::new(0));
        let thread = RecorderThread {
            recorder: Recorder::new(settings),
            time,
            storage: storage.clone(),
            written: reports,
            waiting: Arc::clone(&waiting),
        };
        std::thread::Builder::new()
            .name("recorder".to_owned())
            .spawn(move || thread.work(&taken))
            .context("cannot start the recorder")?;
        Ok(Self {
            orders: Some(orders),
            handed: 0,
            written,
            waiting,
            missed: BTreeMap::new(),
            storage,
            behind: None,
            silent: false,
        })
    }

    pub(super) fn record(&mut self, at: Timestamp, port: &str, mode: LineMode, content: Content) {
        let Some(orders) = &self.orders else { return };
        if self.waiting.load(Ordering::Relaxed) > MAX_WAITING {
            *self.missed.entry(port.to_owned()).or_default() += 1;
            return;
        }
        if let Some(chunks) = self.missed.remove(port) {
            let port = port.to_owned();
            let _ = orders.send(Order::Missed { at, port, chunks });
        }
        let chunk = Chunk {
            at,
            port: port.to_owned(),
            mode,
            content,
        };
        self.waiting.fetch_add(size(&chunk), Ordering::Relaxed);
        // The thread lives as long as the handle.
        if orders.send(Order::Record(chunk)).is_ok() {
            self.handed += 1;
        }
    }

    pub(super) fn handed(&self) -> u64 {
        self.handed
    }

    /// Number of chunks that the operating system has, including lost ones.
    pub(super) fn written(&self) -> watch::Receiver<u64> {
        self.written.clone()
    }

    /// Updates the storage state when the disk stops answering and when it answers again.
    pub(super) fn check_progress(&mut self, now: Now) {
        let written = *self.written.borrow();
        let since = match self.behind {
            Some((before, since)) if before == written => since,
            _ => now.moment,
        };
        self.behind = (written < self.handed).then_some((written, since));
        let silent = self.behind.is_some() && now.moment >= since + PATIENCE;
        if silent && !self.silent {
            tracing::error!("not recording: the disk does not answer; boards and games go on");
            self.storage.recording_is_silent(now.time);
        } else if self.silent && !silent {
            tracing::info!("the disk of the recordings answers again");
            self.storage.recording_is_well();
        }
        self.silent = silent;
    }

    /// Waits until everything is stored, at most for the time `at_most`.
    pub(super) async fn finish(mut self, at_most: Duration) {
        self.orders = None;
        let ended = async { while self.written.changed().await.is_ok() {} };
        if tokio::time::timeout(at_most, ended).await.is_err() {
            tracing::error!("the disk of the recordings does not answer: the last bytes may be lost");
        }
    }
}

fn size(chunk: &Chunk) -> usize {
    let bytes = match &chunk.content {
        Content::Bytes { bytes, .. } => bytes.len(),
        _ => 0,
    };
    bytes + CHUNK_OVERHEAD
}

struct RecorderThread {
    recorder: Recorder,
    time: LiveTime,
    storage: Storage,
    written: watch::Sender<u64>,
    waiting: Arc<AtomicUsize>,
}

impl RecorderThread {
    fn work(mut self, orders: &Receiver<Order>) {
        let mut written = 0;
        loop {
            let now = self.time.now();
            let due = self.recorder.poll_deadline();
            if due.is_some_and(|due| due <= now) {
                self.recorder.sync(now);
            }
            let due = self.recorder.poll_deadline();
            let wait = due.map_or(IDLE, |due| due.saturating_duration_since(now));
            match orders.recv_timeout(wait) {
                Ok(order) => {
                    written += self.carry_out(order);
                    for order in orders.try_iter().take(MAX_AT_ONCE) {
                        written += self.carry_out(order);
                    }
                    self.written.send_replace(written);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.report();
        }
        self.recorder.sync(self.time.now());
        self.report();
    }

    /// Carries out an order. Returns the number of chunks in it.
    fn carry_out(&mut self, order: Order) -> u64 {
        match order {
            Order::Record(chunk) => {
                self.waiting.fetch_sub(size(&chunk), Ordering::Relaxed);
                let Chunk {
                    at,
                    port,
                    mode,
                    content,
                } = chunk;
                self.recorder.record(at, &port, mode, &content);
                1
            }
            Order::Missed { at, port, chunks } => {
                self.recorder.missed(at, &port, chunks);
                0
            }
        }
    }

    fn report(&mut self) {
        while let Some(report) = self.recorder.poll_report() {
            match &report {
                RecorderReport::Resumed { .. } => {
                    tracing::info!("{report}");
                    self.storage.recording_is_well();
                }
                RecorderReport::Failed { .. } => {
                    tracing::error!("{report}");
                    self.storage.recording_fails(self.time.now(), &report);
                }
                _ => tracing::error!("{report}"),
            }
        }
    }
}

/// Maximum number of chunks that are recorded between two checks of the recorder's deadlines.
const MAX_AT_ONCE: usize = 1000;
