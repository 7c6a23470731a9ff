//! What may wait for a disk, and how long the program waits for that.

use core::pin::pin;
use core::time::Duration;

use anyhow::{Context, Result};
use tokio::sync::oneshot;

use crate::exit::Stop;

/// What came of waiting.
#[derive(Debug)]
pub(super) enum Waited<T> {
    Done(T),
    /// It takes too long: the program goes on without it, and gets it here in the end.
    Late(oneshot::Receiver<T>),
    /// The program is to end.
    Stopped,
}

/// A start that takes longer is worth a word.
const SLOW: Duration = Duration::from_secs(3);
/// Boards wait no longer than that, twice, for a disk.
pub(super) const MAX_WAIT: Duration = Duration::from_secs(8);

/// Does what may wait for a disk on a thread of its own: not one of the runtime's, which would be waited for.
pub(super) fn beside<T: Send + 'static>(
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

/// Waits for what the program had better begin with.
pub(super) async fn wait<T>(
    stop: &mut Stop,
    mut outcome: oneshot::Receiver<T>,
    at_most: Duration,
) -> Result<Waited<T>> {
    let mut slow = pin!(tokio::time::sleep(SLOW));
    let mut late = pin!(tokio::time::sleep(at_most));
    let mut said = false;
    loop {
        tokio::select! {
            biased;
            _ = stop.come() => return Ok(Waited::Stopped),
            done = &mut outcome => return done.map(Waited::Done).context("cannot start"),
            () = &mut late => return Ok(Waited::Late(outcome)),
            () = &mut slow, if !said => {
                tracing::warn!("the disk takes long to answer; boards are watched without it in some seconds");
                said = true;
            }
        }
    }
}
