//! Follows the rounds for those who get each of them as a whole: whenever something has changed, and again after a failure.

use core::time::Duration;
use std::sync::Arc;

use super::files::Files;
use super::task::Snapshot;

/// Between two deliveries: who moves in a second moves for all.
pub(in crate::outputs) const PAUSE: Duration = Duration::from_secs(1);

/// Somebody who gets rounds.
pub(in crate::outputs) trait Recipient {
    /// Brings what is not there yet. Returns after what time it is to be tried again; `None`: all of it is there.
    fn deliver(&mut self, files: &Files) -> impl Future<Output = Option<Duration>> + Send;
}

/// Has files delivered whenever they change, until nothing changes any more.
pub(in crate::outputs) async fn follow(mut files: Snapshot, mut to: impl Recipient) {
    loop {
        let now = Arc::clone(&files.borrow_and_update());
        let wait = to.deliver(&now).await;
        let ended = match wait {
            Some(wait) => {
                tokio::select! {
                    () = tokio::time::sleep(wait) => false,
                    () = closed(&mut files) => true,
                }
            }
            None => files.changed().await.is_err(),
        };
        if ended {
            if wait.is_some() {
                let last = Arc::clone(&files.borrow());
                to.deliver(&last).await;
            }
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Waits until nothing changes any more. What changes until then is looked at later.
pub(super) async fn closed(files: &mut Snapshot) {
    while files.changed().await.is_ok() {}
}

/// The games of all rounds.
pub(in crate::outputs) fn rounds(files: &Files) -> impl Iterator<Item = (u32, Arc<[u8]>)> {
    files.iter().filter_map(|(path, file)| {
        let number = path.strip_prefix("round-")?.strip_suffix("/games.pgn")?;
        Some((number.parse().ok()?, Arc::clone(&file.content)))
    })
}
