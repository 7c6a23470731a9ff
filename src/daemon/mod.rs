//! `kiebitz run`: the daemon.
//!
//! One task per port moves bytes and does nothing else. The desk, a single task that owns all boards
//! ([`Hall`](crate::hall::Hall)), stamps what came in with its time. Threads wait for disks in its place: the tape records
//! the bytes, the keeper writes events to the journal, and a third notes which numbers they have. None of them can hold
//! up the boards, nor keep the program from ending.

mod backlog;
mod commands;
mod day;
mod desk;
mod greeting;
mod keeper;
pub(crate) mod lock;
mod log;
mod mqtt;
mod numbers;
mod ports;
mod post;
mod start;
mod storage;
mod tape;
mod write_ahead;

use core::time::Duration;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use tokio::sync::{mpsc, oneshot};

use crate::config::Config;
use crate::events::LIVE_STREAM;
use crate::exit::Stop;
use crate::journal::Journal;
use crate::output::mqtt::{Courier, Message, MqttConfig, Outbox};
use crate::system_time::{self, LiveTime, wall_time};
use commands::Commands;
use day::Day;
use desk::{Desk, Ended};
use greeting::Greeting;
use keeper::{Keeper, KeeperThread, OUTPUT, Work};
use lock::StateLock;
use mqtt::Mqtt;
use numbers::Numbers;
use ports::Ports;
use post::Post;
use start::{Beginning, Started};
use storage::Storage;
use tape::Tape;
use write_ahead::WriteAhead;

pub(crate) use log::start as start_logging;

/// At most this many chunks wait for the desk; beyond it ports are not read.
const INPUTS: usize = 4096;
/// So long the journal may take to note what the broker has.
const MAX_NOTE: Duration = Duration::from_secs(1);

/// A start that takes longer is worth a word.
const SLOW: Duration = Duration::from_secs(3);

/// Watches boards until SIGINT or SIGTERM.
///
/// # Errors
///
/// When another daemon has the state directory, the journal's file is none of kiebitz, or the daemon's name cannot be
/// part of a topic. Ports, boards, the broker and disks may come and go: that is logged.
pub async fn run(config: Config) -> Result<()> {
    let mut stop = Stop::listen().context("cannot wait for signals")?;
    let state = config.state_directory();
    let lock = beside("lock", move || StateLock::take(&state, wall_time()))?;
    let Some(lock) = unless_stopped(&mut stop, lock).await? else {
        return Ok(());
    };
    let lock = Arc::new(lock?);
    let (sender, received) = mpsc::channel(commands::WAITING);
    let start = |broker: MqttConfig| {
        let sender = broker.takes_commands().then_some(sender);
        Courier::start(broker, Some(backlog::of(&config)), sender)
    };
    let courier = config.mqtt.clone().map(start).transpose()?;
    let mut daemon = Daemon {
        outbox: courier.as_ref().map(|courier| courier.outbox().clone()),
        storage: Storage::default(),
        commands: Commands::new(courier.as_ref().map(|_| received)),
        config,
        lock,
    };
    log::modes(&daemon.config);
    let mut beginning = Beginning::Program;
    while daemon.watch(&mut stop, beginning).await? == Ended::NewDay {
        beginning = Beginning::NewDay;
    }
    let _ = sd_notify::notify(&[sd_notify::NotifyState::Stopping]);
    if let (Some(courier), Some(outbox)) = (courier, &daemon.outbox) {
        courier.stop().await;
        note_acknowledged(&daemon.config, outbox).await;
    }
    tracing::info!("kiebitz has stopped");
    Ok(())
}

/// What lasts from one day to the next.
struct Daemon {
    config: Config,
    outbox: Option<Outbox>,
    storage: Storage,
    commands: Commands,
    lock: Arc<StateLock>,
}

/// What the disks had to be asked for before boards can be watched.
struct Prepared {
    started: Started,
    time: LiveTime,
    mqtt: Option<Mqtt>,
    /// What is published before all else.
    first: Vec<Message>,
}

impl Daemon {
    /// Watches until the program is stopped, or a new day begins.
    async fn watch(&mut self, stop: &mut Stop, beginning: Beginning) -> Result<Ended> {
        let (config, outbox, storage) = (self.config.clone(), self.outbox.clone(), self.storage.clone());
        let prepared = beside("start", move || prepare(&config, outbox, &storage, beginning))?;
        match unless_stopped(stop, prepared).await? {
            Some(prepared) => self.watch_with(prepared?, stop, beginning).await,
            None => Ok(Ended::Stopped),
        }
    }

    async fn watch_with(
        &mut self,
        prepared: Prepared,
        stop: &mut Stop,
        beginning: Beginning,
    ) -> Result<Ended> {
        let config = &self.config;
        let Prepared {
            started,
            time,
            mqtt,
            first,
        } = prepared;
        let Started {
            journal,
            numbers,
            hall,
            unkept,
            closed,
            ..
        } = started;
        let mut tape = match config.recorder.enabled {
            true => Some(Tape::start(config, time.clone(), self.storage.clone())?),
            false => None,
        };
        for (at, port) in closed {
            let reason = crate::restart::CUT_OFF.to_owned();
            let closed = kiebitz_hardware::capture::Content::Closed { reason };
            if let Some(tape) = &mut tape {
                tape.record(at, &port.name, port.mode, closed);
            }
        }
        if beginning == Beginning::Program
            && let Some(journal) = &journal
        {
            self.commands.go_on(journal);
        }
        let numbers = Numbers::start(config.numbers_file(), config.spare_numbers_file(), numbers)?;
        let keeper = Keeper::start(KeeperThread {
            journal,
            path: config.journal_file(),
            numbers: numbers.clone(),
            outbox: self.outbox.clone(),
            keep: Duration::from_secs(u64::from(config.journal.keep_days) * 24 * 3600),
            time: time.clone(),
            storage: self.storage.clone(),
            lock: Arc::clone(&self.lock),
            work: Work::default(),
        })?;
        let mut post = Post::new(keeper, numbers, self.outbox.clone(), self.storage.clone());
        post.hold(time.now(), unkept, first);
        let (inputs, from_ports) = mpsc::channel(INPUTS);
        let desk = Desk {
            hall,
            ports: Ports::new(config, inputs),
            post,
            ahead: WriteAhead::default(),
            tape,
            mqtt,
            greeting: Greeting::new(config.clock_messages.clone()),
            lines: BTreeMap::new(),
            answers: Vec::new(),
            storage: self.storage.clone(),
            day: Day::new(time.now(), system_time::local_zone()),
            time,
        };
        if beginning == Beginning::Program {
            let state = config.state_directory();
            tracing::info!(
                "kiebitz is watching; journal and recordings are in {}",
                state.display()
            );
        }
        // Outside systemd this does nothing.
        let _ = sd_notify::notify(&[sd_notify::NotifyState::Ready]);
        Ok(desk.work(from_ports, &mut self.commands, stop).await)
    }
}

/// Takes up what there is, and what the broker is to get of it.
fn prepare(
    config: &Config,
    outbox: Option<Outbox>,
    storage: &Storage,
    beginning: Beginning,
) -> Result<Prepared> {
    let zone = system_time::local_zone();
    let mut started = start::start(config, beginning, wall_time(), &zone, storage)?;
    let time = LiveTime::after(started.until);
    let (mut mqtt, mut first) = (None, Vec::new());
    if let (Some(broker), Some(outbox)) = (&config.mqtt, outbox) {
        let published = mqtt.insert(Mqtt::new(outbox, config, broker, time.now())?);
        if let Some(journal) = &mut started.journal {
            published.go_on(journal, broker.prefix(), beginning);
        }
        first = published.unkept(&started.unkept, broker.prefix());
    }
    Ok(Prepared {
        started,
        time,
        mqtt,
        first,
    })
}

/// Does what may wait for a disk on a thread of its own: not one of the runtime's, which would be waited for.
fn beside<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<oneshot::Receiver<T>> {
    let (done, outcome) = oneshot::channel();
    let work = move || {
        // Nobody waits any more if it took too long.
        let _ = done.send(work());
    };
    let started = std::thread::Builder::new().name(name.to_owned()).spawn(work);
    started.with_context(|| format!("cannot start the thread {name}"))?;
    Ok(outcome)
}

/// Waits for what the program cannot begin without. `None`: it is to end before that is done.
async fn unless_stopped<T>(stop: &mut Stop, outcome: oneshot::Receiver<T>) -> Result<Option<T>> {
    let mut slow = core::pin::pin!(tokio::time::sleep(SLOW));
    let mut outcome = core::pin::pin!(outcome);
    let mut said = false;
    loop {
        tokio::select! {
            biased;
            _ = stop.come() => return Ok(None),
            done = &mut outcome => return done.map(Some).context("cannot start"),
            () = &mut slow, if !said => {
                tracing::warn!("the disk takes long to answer; boards are watched once it has");
                said = true;
            }
        }
    }
}

/// Notes how far the broker has acknowledged events, if the disk takes that.
async fn note_acknowledged(config: &Config, outbox: &Outbox) {
    let acknowledged = outbox.progress().borrow().acknowledged.clone();
    let path = config.journal_file();
    let noted = beside("note", move || {
        let by_board = acknowledged.iter().map(|(board, seq)| (&**board, *seq));
        Journal::open(&path).and_then(|mut journal| journal.acknowledge(OUTPUT, LIVE_STREAM, by_board))
    });
    let outcome = match noted {
        Ok(noted) => tokio::time::timeout(MAX_NOTE, noted)
            .await
            .ok()
            .and_then(Result::ok),
        Err(_) => None,
    };
    match outcome {
        Some(Ok(())) => {}
        Some(Err(error)) => tracing::warn!("the last events will be sent again: {error}"),
        None => tracing::warn!("the last events will be sent again: the disk does not answer"),
    }
}

/// Whether a path still names an open file.
fn is_file_of(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(open), Ok(there)) => (open.dev(), open.ino()) == (there.dev(), there.ino()),
        // A disk that cannot say does not mean that the file is gone.
        (_, Err(error)) => error.kind() != std::io::ErrorKind::NotFound,
        (Err(_), Ok(_)) => true,
    }
}
