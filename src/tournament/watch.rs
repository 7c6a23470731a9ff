//! Reads the files of pairings, and again whenever they change.

use core::time::Duration;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use tokio::sync::mpsc;

use super::files::PairingFiles;
use super::{Doubt, ReadError, Tournament, read};

/// What came of reading the files.
pub(crate) type ReadOutcome = Result<(Tournament, Vec<Doubt>), ReadError>;

/// A file and what it is like without reading it; `None`: it is not there.
type FileStamp = (PathBuf, Option<(SystemTime, u64)>);

/// How often it is looked whether the files have changed.
const LOOK: Duration = Duration::from_secs(2);
/// So many doubts are logged; `kiebitz event check` shows all.
const TOLD: usize = 5;

/// Begins to read, on a thread of its own; `None`: there are no files.
///
/// # Errors
///
/// When the thread cannot be started.
pub(crate) fn start(files: PairingFiles) -> io::Result<Option<mpsc::Receiver<ReadOutcome>>> {
    if files.are_none() {
        return Ok(None);
    }
    let (sender, receiver) = mpsc::channel(1);
    let thread = std::thread::Builder::new().name("pairings".to_owned());
    thread.spawn(move || watch(&files, &sender))?;
    Ok(Some(receiver))
}

/// What the files say now; never, where there are none. May be dropped and called again.
pub(crate) async fn next(receiver: &mut Option<mpsc::Receiver<ReadOutcome>>) -> ReadOutcome {
    if let Some(receiver) = receiver
        && let Some(read) = receiver.recv().await
    {
        return read;
    }
    core::future::pending().await
}

/// Logs what reading the files gave. Returns the pairings that hold from now on; `None` if the earlier ones stay.
pub(crate) fn log_outcome(read: ReadOutcome) -> Option<Arc<Tournament>> {
    let (tournament, doubts) = match read {
        Ok(read) => read,
        Err(error) => {
            tracing::error!("cannot read the pairings: {error}; the earlier ones stay in use");
            return None;
        }
    };
    if tournament == Tournament::default() {
        return Some(Arc::default());
    }
    let pairings: usize = tournament.rounds.values().map(|round| round.pairings.len()).sum();
    tracing::info!("read {pairings} pairings in {} rounds", tournament.rounds.len());
    for doubt in doubts.iter().take(TOLD) {
        tracing::warn!("{doubt}");
    }
    if doubts.len() > TOLD {
        let more = doubts.len() - TOLD;
        tracing::warn!("{more} more findings in the pairings: `kiebitz event check` lists them");
    }
    Some(Arc::new(tournament))
}

/// Reads the files, and again when they have changed and are not being written any more. Ends when nobody listens.
fn watch(files: &PairingFiles, sender: &mpsc::Sender<ReadOutcome>) {
    let stamp = |path: PathBuf| {
        let known = std::fs::metadata(&path).ok();
        let known = known.and_then(|known| Some((known.modified().ok()?, known.len())));
        (path, known)
    };
    let stamps = || -> Vec<FileStamp> { files.all().into_iter().map(stamp).collect() };
    let (mut done, mut before) = (None, stamps());
    while !sender.is_closed() {
        let now = stamps();
        if done.as_ref() != Some(&now) && now == before {
            let paths: Vec<PathBuf> = now.iter().map(|(path, _)| path.clone()).collect();
            if sender.blocking_send(read(&paths)).is_err() {
                return;
            }
            done = Some(now.clone());
        }
        before = now;
        std::thread::sleep(LOOK);
    }
}
