//! `kiebitz run`: the daemon.
//!
//! One task for each port moves bytes and nothing else. What came in is given its time at the desk, a single task that
//! owns all boards ([`Hall`]); two threads behind it wait for disks: the archive keeps the events and
//! hands them to the broker, the tape keeps the bytes.

mod archive;
mod desk;
mod greeting;
mod log;
mod ports;
mod publish;
mod tape;

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::config::Config;
use crate::exit::Stop;
use crate::hall::resume;
use crate::hall::{Hall, Names};
use crate::journal::Journal;
use crate::output::mqtt::{Outbox, OutboxTask, Prefix};
use crate::system_time::LiveTime;
use archive::{Archive, note_delivered};
use desk::Desk;
use greeting::Greeting;
use ports::Ports;
use publish::Publisher;
use tape::Tape;

pub(crate) use log::start as start_logging;

/// The stream of live events.
pub const STREAM: &str = "live";

/// Watches boards until it is told to stop.
///
/// # Errors
///
/// When the journal cannot be opened, or the name for the topics makes no sense. Ports, boards, the broker and disks may
/// come and go: that is told on the log.
pub async fn run(config: Config) -> Result<()> {
    let stop = Stop::listen().context("cannot wait for signals")?;
    let time = LiveTime::start();
    let journal_file = config.journal_file();
    let journal = open_journal(&config, &time)?;
    let names = Names::Configured(Box::new(config.clone()));
    let known =
        resume::boards(&journal, STREAM, &names).context("cannot go on with the games of the journal")?;
    let mut hall = Hall::new(STREAM, names);
    hall.begin_after(journal.begins_after()?);
    let (mut publisher, deliverer, outbox) = match &config.mqtt {
        Some(mqtt) => {
            let (outbox, task) = Outbox::connect(mqtt.clone())?;
            let publisher = Publisher::new(outbox.clone(), &config, mqtt, time.now());
            (Some(publisher), Some(Deliverer::start(task)), Some(outbox))
        }
        None => (None, None, None),
    };
    for board in known {
        if let Some(publisher) = &mut publisher {
            let connected = journal.last_event(STREAM, board.name(), "board.connected")?;
            let game = journal.last_game(STREAM, board.name())?;
            publisher.resume(board.name(), connected.as_ref(), game.map(|game| game.record));
            publisher.resume_incidents(board.name(), journal.incidents(STREAM, board.name())?);
            let until = publisher.public_until(board.name());
            publisher.resume_public(board.name(), &journal.games_from(STREAM, board.name(), until)?);
        }
        hall.expect(board);
    }
    let prefix = config
        .mqtt
        .as_ref()
        .map_or_else(Prefix::live, |mqtt| mqtt.prefix().clone());
    let archive = Archive::start(journal, outbox.clone(), &prefix, config.journal, time.clone())?;
    let tape = config
        .recorder
        .enabled
        .then(|| Tape::start(&config, time.clone()));
    let (inputs, from_ports) = mpsc::channel(INPUTS);
    let desk = Desk {
        ports: Ports::new(&config, inputs),
        greeting: Greeting::new(config.clock_messages.clone()),
        lines: BTreeMap::new(),
        tape: tape.transpose()?,
        time,
        hall,
        archive,
        publisher,
    };
    let state = config.state_directory();
    tracing::info!(
        "kiebitz watches; journal and recordings are in {}",
        state.display()
    );
    // Without systemd nobody asks.
    let _ = sd_notify::notify(&[sd_notify::NotifyState::Ready]);
    desk.work(from_ports, stop).await;
    let _ = sd_notify::notify(&[sd_notify::NotifyState::Stopping]);
    if let (Some(deliverer), Some(outbox)) = (deliverer, outbox) {
        deliverer.stop().await;
        let noted =
            Journal::open(&journal_file).and_then(|mut journal| note_delivered(&mut journal, &outbox));
        if let Err(error) = noted {
            tracing::warn!("the last events will be sent again: {error}");
        }
    }
    tracing::info!("kiebitz has stopped");
    Ok(())
}

/// The task that delivers to the broker.
#[derive(Debug)]
struct Deliverer {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Deliverer {
    fn start(task: OutboxTask) -> Self {
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(task.run(async {
            // A daemon that goes stops as well.
            let _ = stopped.await;
        }));
        Self { stop, task }
    }

    /// Delivers what is left, as far as the broker takes it.
    async fn stop(self) {
        let _ = self.stop.send(());
        // The task has told on the log what went wrong.
        let _ = self.task.await;
    }
}

/// So many chunks may wait for the desk before ports are no longer read.
const INPUTS: usize = 4096;

/// A journal that is damaged is put aside: the boards are watched all the same.
fn open_journal(config: &Config, time: &LiveTime) -> Result<Journal> {
    let path = config.journal_file();
    match Journal::open(&path) {
        Err(error) if error.is_damaged() => {
            let aside = Journal::put_aside(&path, time.now())
                .with_context(|| format!("cannot put the damaged journal {} aside", path.display()))?;
            tracing::error!(
                "{error}; it is kept as {}, and a new one is begun",
                aside.display()
            );
            Ok(Journal::open(&path)?)
        }
        opened => Ok(opened?),
    }
}
