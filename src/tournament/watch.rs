//! Reads the pairing files, and reads them again when they change.

use core::time::Duration;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use tokio::sync::mpsc;

use super::files::PairingFiles;
use super::{Doubt, ReadError, Tournament, read};

pub(crate) type ReadOutcome = Result<(Tournament, Vec<Doubt>), ReadError>;

/// A file with the time of its last change and its size; `None` if the file does not exist.
type FileStamp = (PathBuf, Option<(SystemTime, u64)>);

/// Period of checking the files for changes.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// Limit of doubts that are logged; `kiebitz event check` shows all.
const MAX_LOGGED: usize = 5;

/// Starts the thread that reads the files. Returns `None` if there are no sources of pairings. Fails if the thread
/// cannot be started.
pub(crate) fn start(files: PairingFiles) -> io::Result<Option<mpsc::Receiver<ReadOutcome>>> {
    if files.are_none() {
        return Ok(None);
    }
    let (sender, receiver) = mpsc::channel(1);
    let thread = std::thread::Builder::new().name("pairings".to_owned());
    thread.spawn(move || watch(&files, &sender))?;
    Ok(Some(receiver))
}

/// Waits for the next result of reading the files. Never returns if there are no sources. Cancel safe.
pub(crate) async fn next(receiver: &mut Option<mpsc::Receiver<ReadOutcome>>) -> ReadOutcome {
    if let Some(receiver) = receiver
        && let Some(outcome) = receiver.recv().await
    {
        return outcome;
    }
    core::future::pending().await
}

/// Logs the result of reading the files. Returns the new pairings, or `None` if the earlier ones stay in use.
pub(crate) fn log_outcome(outcome: ReadOutcome) -> Option<Arc<Tournament>> {
    let (tournament, doubts) = match outcome {
        Ok(read) => read,
        Err(error) => {
            let error = anyhow::Error::new(error);
            tracing::error!("cannot read the pairings: {error:#}; the earlier ones stay in use");
            return None;
        }
    };
    if tournament == Tournament::default() {
        return Some(Arc::default());
    }
    let pairings: usize = tournament.rounds.values().map(|round| round.pairings.len()).sum();
    tracing::info!("read {pairings} pairings in {} rounds", tournament.rounds.len());
    for doubt in doubts.iter().take(MAX_LOGGED) {
        tracing::warn!("{doubt}");
    }
    if doubts.len() > MAX_LOGGED {
        let more = doubts.len() - MAX_LOGGED;
        tracing::warn!("{more} more findings in the pairings: `kiebitz event check` lists them");
    }
    Some(Arc::new(tournament))
}

/// Reads the files at the start, and whenever they have changed and then stayed the same for one period. Ends when the
/// receiver is dropped.
fn watch(files: &PairingFiles, sender: &mpsc::Sender<ReadOutcome>) {
    let stamp = |path: PathBuf| {
        let metadata = std::fs::metadata(&path).ok();
        let metadata = metadata.and_then(|metadata| Some((metadata.modified().ok()?, metadata.len())));
        (path, metadata)
    };
    let stamps = || -> Vec<FileStamp> { files.all().into_iter().map(stamp).collect() };
    let (mut last_read, mut previous) = (None, stamps());
    while !sender.is_closed() {
        let now = stamps();
        if last_read.as_ref() != Some(&now) && now == previous {
            let paths: Vec<PathBuf> = now.iter().map(|(path, _)| path.clone()).collect();
            if sender.blocking_send(read(&paths)).is_err() {
                return;
            }
            last_read = Some(now.clone());
        }
        previous = now;
        std::thread::sleep(POLL_INTERVAL);
    }
}
