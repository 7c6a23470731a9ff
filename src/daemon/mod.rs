//! `kiebitz run`: the daemon.
//!
//! One task per port moves bytes and does nothing else. The desk, a single task that owns all boards ([`Hall`]), stamps
//! what came in with its time. Two threads wait for disks in its place: the archive writes events to the journal and
//! then publishes them, the tape records the bytes.

mod archive;
mod desk;
mod greeting;
mod log;
mod mqtt;
mod ports;
mod tape;

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use tokio::sync::mpsc;

use crate::config::Config;
use crate::events::LIVE_STREAM;
use crate::exit::Stop;
use crate::hall::resume;
use crate::hall::{Hall, Names, Numbers};
use crate::journal::Journal;
use crate::output::mqtt::Courier;
use crate::system_time::LiveTime;
use archive::Archive;
use desk::Desk;
use greeting::Greeting;
use mqtt::Mqtt;
use ports::Ports;
use tape::Tape;

pub(crate) use log::start as start_logging;

/// Watches boards until SIGINT or SIGTERM.
///
/// # Errors
///
/// When the journal cannot be opened, or the daemon's name cannot be part of a topic. Ports, boards, the broker and
/// disks may come and go: that is logged.
pub async fn run(config: Config) -> Result<()> {
    let stop = Stop::listen().context("cannot wait for signals")?;
    let time = LiveTime::start();
    let mut journal = open_journal(&config, &time)?;
    let courier = config.mqtt.clone().map(Courier::start).transpose()?;
    let outbox = courier.as_ref().map(|courier| courier.outbox().clone());
    let mut mqtt = match (&config.mqtt, &outbox) {
        (Some(broker), Some(outbox)) => {
            archive::send_unsent(&mut journal, outbox, broker.prefix())?;
            Some(Mqtt::new(outbox.clone(), &config, broker, time.now())?)
        }
        _ => None,
    };
    let hall = resume_hall(&config, &journal, mqtt.as_mut())?;
    let tape = config
        .recorder
        .enabled
        .then(|| Tape::start(&config, time.clone()));
    let (inputs, from_ports) = mpsc::channel(INPUTS);
    let desk = Desk {
        hall,
        ports: Ports::new(&config, inputs),
        archive: Archive::start(journal, outbox.clone(), config.journal, time.clone())?,
        tape: tape.transpose()?,
        mqtt,
        greeting: Greeting::new(config.clock_messages.clone()),
        lines: BTreeMap::new(),
        time,
    };
    let state = config.state_directory();
    log::modes(&config);
    tracing::info!(
        "kiebitz is watching; journal and recordings are in {}",
        state.display()
    );
    // Outside systemd this does nothing.
    let _ = sd_notify::notify(&[sd_notify::NotifyState::Ready]);
    desk.work(from_ports, stop).await;
    let _ = sd_notify::notify(&[sd_notify::NotifyState::Stopping]);
    if let (Some(courier), Some(outbox)) = (courier, outbox) {
        courier.stop().await;
        let noted = Journal::open(&config.journal_file())
            .and_then(|mut journal| archive::note_acknowledged(&mut journal, &outbox));
        if let Err(error) = noted {
            tracing::warn!("the last events will be sent again: {error}");
        }
    }
    tracing::info!("kiebitz has stopped");
    Ok(())
}

/// The hall with the boards and games that the journal knows; MQTT goes on with them as well.
fn resume_hall(config: &Config, journal: &Journal, mut mqtt: Option<&mut Mqtt>) -> Result<Hall> {
    let names = Names::Configured(Box::new(config.clone()));
    let known = resume::boards(journal, LIVE_STREAM, &names, None)
        .context("cannot go on with the games of the journal")?;
    let mut hall = Hall::new(LIVE_STREAM, names);
    hall.begin_after(Numbers {
        others: journal.begins_after()?,
        ..Numbers::default()
    });
    for board in known {
        if let Some(mqtt) = &mut mqtt {
            mqtt.resume(journal, board.name())?;
        }
        hall.expect(board);
    }
    Ok(hall)
}

/// At most this many chunks wait for the desk; beyond it ports are not read.
const INPUTS: usize = 4096;

/// Opens the journal. A damaged one is put aside, so that the boards are watched all the same.
fn open_journal(config: &Config, time: &LiveTime) -> Result<Journal> {
    let path = config.journal_file();
    match Journal::open(&path) {
        Err(error) if error.is_damaged() => {
            let aside = Journal::put_aside(&path, time.now())
                .with_context(|| format!("cannot put the damaged journal {} aside", path.display()))?;
            tracing::error!(
                "{error}; it was moved to {}, and a new one is begun",
                aside.display()
            );
            Ok(Journal::open(&path)?)
        }
        opened => Ok(opened?),
    }
}
