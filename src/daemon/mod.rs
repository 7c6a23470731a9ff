//! `kiebitz run`: the daemon.
//!
//! One task per port moves bytes and does nothing else. The event loop, a single task that owns all boards
//! ([`Hall`](kiebitz_game::hall::Hall)), stamps inputs with their time. Threads do all writing, so that a hanging disk
//! can neither block the boards nor keep the program from ending: the recorder writes the bytes, the journal writer
//! appends events to the journal, and a third thread reserves event seqs.

mod backlog;
mod beginning;
mod board_status;
mod broker;
mod commands;
mod day;
mod delays;
mod event_loop;
mod gate;
mod greeting;
mod journal_writer;
mod late_input;
pub(crate) mod lock;
mod log;
mod lookout;
mod machine;
mod mqtt;
mod pairings;
mod patience;
mod ports;
mod recall;
mod recorder;
mod reload;
mod resend;
#[cfg(test)]
mod same_after_restart;
mod seqs;
mod situation;
mod start;
mod storage;
mod write_ahead;

use core::time::Duration;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use kiebitz_game::events::LIVE_STREAM;
use kiebitz_hardware::Timestamp;
use tokio::sync::mpsc;

use crate::config::Config;
use crate::exit::Stop;
use crate::journal::Journal;
use crate::kept::Archive;
use crate::outputs::desk::InHall;
use crate::outputs::feeds::Feeds;
use crate::outputs::mqtt::{Courier, MqttConfig, Outbox};
use crate::outputs::shared::reports::Reports;
use crate::outputs::shared::to_hall::ToHall;
use crate::outputs::status::Question;
use crate::outputs::status::task as http;
use crate::progress::Progress;
use crate::system_time::{self, LiveTime, moment, wall_time};
use beginning::{PendingLock, Preparation, Prepared};
use commands::Commands;
use day::Day;
use event_loop::{EventLoop, Late, LoopEnd};
use gate::{Gate, GateOutputs};
use greeting::Greeting;
use journal_writer::{JournalWriter, JournalWriterThread, OUTPUT, Work};
use lock::StateLock;
use lookout::Lookout;
use machine::MachineWatch;
use pairings::Pairings;
use patience::{MAX_WAIT, Waited, spawn_thread};
use ports::Ports;
use recorder::RecorderHandle;
use reload::Reload;
use resend::Resend;
use seqs::SeqNotes;
use situation::Situation;
use start::Beginning;
use storage::Storage;
use write_ahead::WriteAhead;

pub(crate) use log::{report_repeats, report_rest as finish_logging, start as start_logging};

/// Capacity of the queue to the event loop, in chunks. Ports are not read while it is full.
const INPUTS: usize = 4096;
/// Grace period at shutdown for storing the broker's last acknowledgements.
const MAX_NOTE: Duration = Duration::from_secs(1);

/// Watches boards until SIGINT or SIGTERM. `file` is the configuration file named on the command line; SIGHUP reads it
/// again.
///
/// # Errors
///
/// Fails if another daemon has the state directory, the journal's file does not belong to kiebitz, or the daemon's name
/// cannot be part of a topic. Failing ports, boards, brokers and disks are only logged.
pub async fn run(config: Config, file: Option<PathBuf>) -> Result<()> {
    let mut stop = Stop::listen().context("cannot wait for signals")?;
    let reload = Reload::listen(file).context("cannot wait for signals")?;
    let lock_config = config.clone();
    let lock = spawn_thread("lock", move || {
        // On failure, opening the journal in the directory reports the reason.
        let _ = lock_config.make_state_directory();
        StateLock::take(&lock_config.state_directory(), wall_time())
    })?;
    let (lock, pending) = match patience::wait(&mut stop, lock, MAX_WAIT, &Progress::default()).await? {
        Waited::Done(lock) => (lock?, None),
        Waited::Late(pending) => (StateLock::none(&config.state_directory()), Some(pending)),
        Waited::Stopped => return Ok(()),
    };
    let (sender, received) = mpsc::channel(commands::WAITING);
    let start = |broker: MqttConfig| {
        let sender = (broker.takes_commands() || broker.resends_to_hub()).then_some(sender);
        Courier::start(broker, Some(backlog::of(&config)), sender)
    };
    let courier = config.mqtt.clone().map(start).transpose()?;
    let (ask, questions) = mpsc::channel(http::WAITING);
    let starts = Arc::new(AtomicBool::new(true));
    if let Some(address) = config.http {
        http::serve(address, ask.clone(), Arc::clone(&starts));
    }
    let settings = config.outputs(Some(InHall::new(config.pairing_files(), Archive::of(&config))));
    let facts = config.event_facts();
    let (requests, requested) = mpsc::channel(commands::WAITING);
    let to_hall = ToHall {
        requests,
        questions: ask,
    };
    let start = || Feeds::start(settings.clone(), &facts, to_hall);
    let (feeds, feed_tasks) = settings.is_any().then(start).unzip();
    let reports = feeds.as_ref().map(Feeds::reports).cloned().unwrap_or_default();
    let outbox = courier.as_ref().map(|courier| courier.outbox().clone());
    broker::start(outbox.as_ref(), &reports);
    let mut daemon = Daemon {
        starts,
        machine: MachineWatch::start(config.state_directory())?,
        questions: Some(questions),
        feeds,
        started: wall_time(),
        outbox,
        reports,
        storage: Storage::default(),
        commands: Commands::new(
            courier.as_ref().map(|_| received),
            requested,
            config.journal_file(),
        )?,
        config,
        reload,
        lock: Arc::new(lock),
    };
    log::modes(&daemon.config);
    let mut ended = daemon.watch(&mut stop, Beginning::Program, pending).await;
    while matches!(ended, Ok(LoopEnd::NewDay)) {
        ended = daemon.watch(&mut stop, Beginning::NewDay, None).await;
    }
    let _ = sd_notify::notify(&[sd_notify::NotifyState::Stopping]);
    drop(daemon.feeds.take());
    if let Some(tasks) = feed_tasks {
        tasks.finish().await;
    }
    if let (Some(courier), Some(outbox)) = (courier, &daemon.outbox) {
        courier.stop().await;
        if ended.is_ok() {
            note_acknowledged(&daemon.config, outbox).await;
        }
    }
    ended?;
    tracing::info!("kiebitz has stopped");
    Ok(())
}

/// The parts of the daemon that persist from one day to the next.
struct Daemon {
    config: Config,
    outbox: Option<Outbox>,
    storage: Storage,
    commands: Commands,
    reload: Reload,
    lock: Arc<StateLock>,
    machine: MachineWatch,
    /// `None` if no output asks about the status.
    questions: Option<mpsc::Receiver<Question>>,
    /// `None` without outputs that follow the boards.
    feeds: Option<Feeds>,
    reports: Reports,
    started: Timestamp,
    /// True until boards are watched.
    starts: Arc<AtomicBool>,
}

impl Daemon {
    /// Watches until the program is stopped or a new day begins.
    async fn watch(
        &mut self,
        stop: &mut Stop,
        beginning: Beginning,
        pending: Option<PendingLock>,
    ) -> Result<LoopEnd> {
        // If the disk did not answer for the lock, the preparation gets no further time.
        let at_most = pending.as_ref().map_or(MAX_WAIT, |_| Duration::ZERO);
        let abandoned = Arc::new(AtomicBool::new(false));
        let progress = Progress::default();
        let preparation = Preparation {
            config: self.config.clone(),
            outbox: self.outbox.clone(),
            storage: self.storage.clone(),
            lock: Arc::clone(&self.lock),
            pending,
            beginning,
            abandoned: Arc::clone(&abandoned),
            progress: progress.clone(),
            feeds: self.feeds.as_ref().map(Feeds::of_stored),
        };
        let prepared = spawn_thread("start", move || preparation.prepare())?;
        let (prepared, late) = match patience::wait(stop, prepared, at_most, &progress).await? {
            Waited::Done(prepared) => (prepared?, None),
            Waited::Late(late) => {
                abandoned.store(true, Ordering::Relaxed);
                (self.without_disk()?, Some(late))
            }
            Waited::Stopped => return Ok(LoopEnd::Stopped),
        };
        let (inputs, from_ports) = mpsc::channel(INPUTS);
        let mut event_loop = self.event_loop(prepared, Ports::new(&self.config, inputs), late)?;
        if beginning == Beginning::Program {
            let state = self.config.state_directory();
            tracing::info!(
                "kiebitz is watching; journal and recordings are in {}",
                state.display()
            );
            event_loop.lookout = Lookout::new(moment());
        }
        self.starts.store(false, Ordering::Relaxed);
        // Outside systemd this does nothing.
        let _ = sd_notify::notify(&[sd_notify::NotifyState::Ready]);
        let questions = &mut self.questions;
        let reload = (&mut self.reload, &mut self.config);
        let ended = event_loop
            .work(from_ports, &mut self.commands, questions, stop, reload)
            .await;
        event_loop.close(&ended).await;
        ended
    }

    fn without_disk(&self) -> Result<Prepared> {
        let time = LiveTime::start();
        tracing::error!(
            "the disk does not answer; boards are watched without their earlier state, and event numbers skip \
             ahead so that none is used twice"
        );
        self.storage.journal_is_silent(time.now());
        Prepared::without_data(&self.config, self.outbox.clone(), time)
    }

    fn event_loop(&mut self, prepared: Prepared, ports: Ports, late: Option<Late>) -> Result<EventLoop> {
        let config = &self.config;
        let Prepared {
            started,
            time,
            mqtt,
            first,
            past,
        } = prepared;
        let mut recorder = match config.recorder.enabled {
            true => Some(RecorderHandle::start(config, time.clone(), self.storage.clone())?),
            false => None,
        };
        for (at, port) in started.closed {
            let reason = crate::restart::CUT_OFF.to_owned();
            let closed = kiebitz_hardware::capture::Content::Closed { reason };
            if let Some(recorder) = &mut recorder {
                recorder.record(at, &port.name, port.mode, closed);
            }
        }
        let numbers = SeqNotes::start(config.seqs_file(), config.spare_seqs_file(), started.others)?;
        let journal_writer = JournalWriter::start(JournalWriterThread {
            run: started.run,
            path: config.journal_file(),
            inputs: config.inputs_file(),
            numbers: numbers.clone(),
            outbox: self.outbox.clone(),
            keep: Duration::from_secs(u64::from(config.journal.keep_days) * 24 * 3600),
            time: time.clone(),
            storage: self.storage.clone(),
            lock: Arc::clone(&self.lock),
            work: Work::default(),
        })?;
        let pairings = Pairings::start(config)?;
        if let Some(feeds) = &mut self.feeds {
            for (board, events) in past {
                feeds.resume(time.now(), board, events);
            }
            if pairings.are_none() {
                feeds.pair(time.now(), Arc::default());
            }
        }
        let outputs = GateOutputs {
            outbox: self.outbox.clone(),
            outlet: self.feeds.as_ref().map(Feeds::outlet),
        };
        let now = time.present();
        let mut event_loop = EventLoop {
            feeds: self.feeds.as_ref().map(Feeds::behind_gate),
            pairings,
            resend: Resend::new(config, self.outbox.clone()),
            hall: started.hall,
            ports,
            gate: Gate::new(journal_writer, numbers, outputs, self.storage.clone()),
            ahead: WriteAhead::default(),
            recorder,
            mqtt,
            greeting: Greeting::new(config.clock_messages.clone()),
            lookout: Lookout::default(),
            lines: BTreeMap::new(),
            leaving: Vec::new(),
            storage: self.storage.clone(),
            situation: Situation {
                host: config.host(),
                started: self.started,
                machine: self.machine.clone(),
                outbox: self.outbox.clone(),
                reports: self.reports.clone(),
                desk: config.desk.as_ref().and_then(|desk| desk.address(&config.host())),
            },
            day: Day::new(now, system_time::local_zone()),
            time,
            late,
        };
        if event_loop.late.is_none() {
            event_loop.open(&mut self.commands, started.journal, started.numbers);
        }
        event_loop.begin(started.unkept, first, config.mqtt.as_ref());
        Ok(event_loop)
    }
}

/// Stores the broker's last acknowledgements, as far as the disk accepts them.
async fn note_acknowledged(config: &Config, outbox: &Outbox) {
    let acknowledged = outbox.progress().borrow().acknowledged.clone();
    let path = config.journal_file();
    let noted = spawn_thread("note", move || {
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
        Some(Err(error)) => tracing::warn!(
            "cannot store which events the broker has acknowledged; the last \
            ones will be sent again: {error}"
        ),
        None => tracing::warn!(
            "cannot store which events the broker has acknowledged; the last ones will be \
            sent again: the disk does not answer"
        ),
    }
}

/// Whether a path still refers to an open file.
fn is_file_of(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(open), Ok(on_disk)) => (open.dev(), open.ino()) == (on_disk.dev(), on_disk.ino()),
        // Another error of the disk does not mean that the file is gone.
        (_, Err(error)) => error.kind() != std::io::ErrorKind::NotFound,
        (Err(_), Ok(_)) => true,
    }
}
