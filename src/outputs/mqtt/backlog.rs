//! Reads events from the journal for which the outbox has no room in memory.

use core::fmt::Debug;
use core::pin::Pin;
use core::time::Duration;
use std::sync::Arc;

use anyhow::Result;
use bytes::Bytes;
use tokio::task::JoinHandle;
use tokio::time::{Sleep, sleep};
use tracing::{debug, warn};

use super::behind::BacklogPage;

/// A store of all events published through an [`Outbox`](super::Outbox). An event may reach the store slightly later
/// than the outbox.
pub trait Backlog: Debug + Send + Sync {
    /// Returns at most `limit` events of a board after `seq`, in order. May block.
    ///
    /// # Errors
    ///
    /// Fails if the events cannot be read now. The caller tries again.
    fn events_after(&self, board: &str, seq: u64, limit: usize) -> Result<Vec<BacklogEvent>>;
}

/// An event from a [`Backlog`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BacklogEvent {
    /// The event's seq in the stream of the board.
    pub seq: u64,
    /// The event's JSON, as published.
    pub payload: Bytes,
}

/// Reads pages of a backlog, one at a time, on a thread for blocking work.
#[derive(Debug)]
pub(crate) struct BacklogReader {
    backlog: Option<Arc<dyn Backlog>>,
    reading: Option<(BacklogPage, JoinHandle<Result<Vec<BacklogEvent>>>)>,
    pause: Option<Pin<Box<Sleep>>>,
    /// Whether the last attempt failed. Of several consecutive failures, only the first is logged as a warning.
    failed: bool,
}

#[derive(Debug)]
pub(crate) enum ReaderEvent {
    /// A page was read; `None` if reading failed.
    Read(BacklogPage, Option<Vec<BacklogEvent>>),
    Paused,
}

/// Pause after a failed attempt to read a page.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

impl BacklogReader {
    pub(crate) fn new(backlog: Option<Arc<dyn Backlog>>) -> Self {
        Self {
            backlog,
            reading: None,
            pause: None,
            failed: false,
        }
    }

    pub(crate) fn has_backlog(&self) -> bool {
        self.backlog.is_some()
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.reading.is_none()
    }

    /// Starts reading a page. Does nothing without a backlog.
    pub(crate) fn read(&mut self, page: BacklogPage) {
        let Some(backlog) = self.backlog.clone() else {
            return;
        };
        let (board, after, limit) = (Arc::clone(&page.board), page.after, page.limit);
        let reading = tokio::task::spawn_blocking(move || backlog.events_after(&board, after, limit));
        self.reading = Some((page, reading));
    }

    /// Starts the pause, unless it is already running.
    pub(crate) fn pause(&mut self) {
        self.pause.get_or_insert_with(|| Box::pin(sleep(RETRY_PAUSE)));
    }

    /// Waits for the next page or the end of the pause. Pending forever if neither is under way. Cancel safe.
    pub(crate) async fn event(&mut self) -> ReaderEvent {
        let Self { reading, pause, .. } = self;
        let read = async {
            match reading {
                Some((_, reading)) => reading.await,
                None => core::future::pending().await,
            }
        };
        let paused = async {
            match pause {
                Some(pause) => pause.await,
                None => core::future::pending().await,
            }
        };
        tokio::select! {
            read = read => match self.reading.take() {
                Some((page, _)) => {
                    let events = self.note(&page, read.unwrap_or_else(|error| Err(error.into())));
                    ReaderEvent::Read(page, events)
                }
                None => core::future::pending().await,
            },
            () = paused => {
                self.pause = None;
                ReaderEvent::Paused
            }
        }
    }

    fn note(&mut self, page: &BacklogPage, read: Result<Vec<BacklogEvent>>) -> Option<Vec<BacklogEvent>> {
        let board = &*page.board;
        match read {
            Ok(events) => {
                self.failed = false;
                Some(events)
            }
            Err(error) if self.failed => {
                debug!(
                    board,
                    "cannot read events for the MQTT broker from the journal: {error:#}"
                );
                None
            }
            Err(error) => {
                warn!(
                    board,
                    "cannot read events for the MQTT broker from the journal: {error:#}; retrying"
                );
                self.failed = true;
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::{AtomicBool, Ordering};

    use anyhow::bail;

    use super::*;

    #[derive(Debug, Default)]
    struct FailsOnce(AtomicBool);

    impl Backlog for FailsOnce {
        fn events_after(&self, board: &str, seq: u64, limit: usize) -> Result<Vec<BacklogEvent>> {
            if !self.0.swap(true, Ordering::Relaxed) {
                bail!("the disk is away");
            }
            assert_ne!(board, "panic", "a fault in a backlog ends nothing");
            let events = (seq + 1..).take(limit).map(|seq| BacklogEvent {
                seq,
                payload: Bytes::new(),
            });
            Ok(events.collect())
        }
    }

    async fn read(reader: &mut BacklogReader, board: &str) -> Option<Vec<u64>> {
        let page = BacklogPage {
            board: board.into(),
            after: 7,
            limit: 2,
        };
        assert!(reader.is_idle());
        reader.read(page.clone());
        assert!(!reader.is_idle());
        match reader.event().await {
            ReaderEvent::Read(read, events) => {
                assert_eq!(read, page);
                events.map(|events| events.iter().map(|event| event.seq).collect())
            }
            ReaderEvent::Paused => panic!("there was no pause"),
        }
    }

    #[tokio::test]
    async fn a_backlog_that_fails_is_read_again_after_a_pause() {
        let mut reader = BacklogReader::new(Some(Arc::new(FailsOnce::default())));
        assert_eq!(read(&mut reader, "b").await, None);
        assert_eq!(read(&mut reader, "panic").await, None);
        assert!(reader.failed);
        reader.pause();
        assert!(matches!(reader.event().await, ReaderEvent::Paused));
        assert_eq!(read(&mut reader, "b").await, Some(vec![8, 9]));
        assert!(!reader.failed);
    }
}
