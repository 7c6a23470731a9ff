//! The tape: a thread that records every byte.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result};
use kiebitz_hardware::Timestamp;
use kiebitz_hardware::capture::{Content, LineMode};
use kiebitz_hardware::recorder::{Recorder, RecorderReport, RecorderSettings};

use crate::config::Config;
use crate::system_time::{self, LiveTime};

/// Takes bytes for the recorder. Dropping it waits until all are stored.
#[derive(Debug)]
pub(super) struct Tape {
    chunks: Option<Sender<Chunk>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Chunk {
    at: Timestamp,
    port: String,
    mode: LineMode,
    content: Content,
}

/// How long the thread sleeps if nothing is due.
const IDLE: Duration = Duration::from_secs(3600);

impl Tape {
    /// Starts the thread.
    pub(super) fn start(config: &Config, time: LiveTime) -> Result<Self> {
        let settings = RecorderSettings {
            folder: config.recordings(),
            budget: config.recorder.budget,
            zone: system_time::local_zone(),
        };
        let (chunks, taken) = channel();
        let thread = std::thread::Builder::new()
            .name("tape".to_owned())
            .spawn(move || record(Recorder::new(settings), &taken, &time))
            .context("cannot start the recorder")?;
        Ok(Self {
            chunks: Some(chunks),
            thread: Some(thread),
        })
    }

    /// Hands a chunk to the thread.
    pub(super) fn record(&self, at: Timestamp, port: &str, mode: LineMode, content: Content) {
        if let Some(chunks) = &self.chunks {
            // The thread lives as long as the tape does.
            let _ = chunks.send(Chunk {
                at,
                port: port.to_owned(),
                mode,
                content,
            });
        }
    }
}

impl Drop for Tape {
    /// Waits until everything is stored.
    fn drop(&mut self) {
        self.chunks = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn record(mut recorder: Recorder, chunks: &Receiver<Chunk>, time: &LiveTime) {
    loop {
        let now = time.now();
        let due = recorder.poll_deadline();
        if due.is_some_and(|due| due <= now) {
            recorder.sync(now);
        }
        let wait = recorder
            .poll_deadline()
            .map_or(IDLE, |due| due.saturating_duration_since(now));
        match chunks.recv_timeout(wait) {
            Ok(chunk) => recorder.record(chunk.at, &chunk.port, chunk.mode, &chunk.content),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        log_reports(&mut recorder);
    }
    recorder.sync(time.now());
    log_reports(&mut recorder);
}

fn log_reports(recorder: &mut Recorder) {
    while let Some(report) = recorder.poll_report() {
        match &report {
            RecorderReport::Resumed { .. } => tracing::info!("{report}"),
            _ => tracing::error!("{report}"),
        }
    }
}
