//! Recipients that get each round as a whole after every change, and again after a failure.

use core::time::Duration;
use std::sync::Arc;

use axum::body::Bytes;
use tokio::sync::watch;

use super::files::Files;

/// Pause between two deliveries. Moves within it are sent together.
pub(in crate::outputs) const PAUSE: Duration = Duration::from_secs(1);

/// `T` is what a recipient gets: the files, or the event for another site.
pub(in crate::outputs) trait Recipient<T> {
    /// Sends the rounds that have changed. Returns the pause before the next attempt, or `None` if everything was
    /// delivered.
    fn deliver(&mut self, content: &T) -> impl Future<Output = Option<Duration>> + Send;
}

/// Delivers the content after every change, until no more changes can come.
pub(in crate::outputs) async fn follow<T>(mut content: watch::Receiver<Arc<T>>, mut to: impl Recipient<T>) {
    loop {
        let now = Arc::clone(&content.borrow_and_update());
        let wait = to.deliver(&now).await;
        let ended = match wait {
            Some(wait) => {
                tokio::select! {
                    () = tokio::time::sleep(wait) => false,
                    () = closed(&mut content) => true,
                }
            }
            None => content.changed().await.is_err(),
        };
        if ended {
            if wait.is_some() {
                let last = Arc::clone(&content.borrow());
                to.deliver(&last).await;
            }
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Waits until no more changes can come. Changes in the meantime are not delivered; the caller reads the latest content
/// afterwards.
async fn closed<T>(content: &mut watch::Receiver<Arc<T>>) {
    while content.changed().await.is_ok() {}
}

/// The PGN of all rounds, by round number.
pub(in crate::outputs) fn rounds(files: &Files) -> impl Iterator<Item = (u32, Bytes)> {
    files.iter().filter_map(|(path, file)| {
        let number = path.strip_prefix("round-")?.strip_suffix("/games.pgn")?;
        Some((number.parse().ok()?, file.content.clone()))
    })
}
