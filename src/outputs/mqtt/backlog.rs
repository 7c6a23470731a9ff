//! Where events are read for which the outbox has no room in memory.

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

/// Keeps every event that an [`Outbox`](super::Outbox) is handed, or will soon.
pub trait Backlog: Debug + Send + Sync {
    /// At most `limit` events of a board that come after number `seq`, in order. It may block.
    ///
    /// # Errors
    ///
    /// When they cannot be read now. It is tried again.
    fn events_after(&self, board: &str, seq: u64, limit: usize) -> Result<Vec<BacklogEvent>>;
}

/// An event from a [`Backlog`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BacklogEvent {
    /// Its number in the board's stream.
    pub seq: u64,
    /// Its JSON, as it is published.
    pub payload: Bytes,
}

/// Reads from a backlog, one page at a time and beside the task that it is for.
#[derive(Debug)]
pub(crate) struct BacklogReader {
    backlog: Option<Arc<dyn Backlog>>,
    reading: Option<(BacklogPage, JoinHandle<Result<Vec<BacklogEvent>>>)>,
    pause: Option<Pin<Box<Sleep>>>,
    /// Whether the last attempt failed: each change is logged once.
    failed: bool,
}

/// What a reader has done.
#[derive(Debug)]
pub(crate) enum ReaderEvent {
    /// A page is read; `None`: it could not be.
    Read(BacklogPage, Option<Vec<BacklogEvent>>),
    /// The pause is over.
    Paused,
}

/// The pause before what could not be read is tried again.
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

    /// Whether there is something to read from.
    pub(crate) fn has_backlog(&self) -> bool {
        self.backlog.is_some()
    }

    /// Whether it may [`read`](Self::read).
    pub(crate) fn is_idle(&self) -> bool {
        self.reading.is_none()
    }

    /// Begins to read a page.
    pub(crate) fn read(&mut self, page: BacklogPage) {
        let Some(backlog) = self.backlog.clone() else {
            return;
        };
        let (board, after, limit) = (Arc::clone(&page.board), page.after, page.limit);
        let reading = tokio::task::spawn_blocking(move || backlog.events_after(&board, after, limit));
        self.reading = Some((page, reading));
    }

    /// Begins a pause, unless there is one.
    pub(crate) fn pause(&mut self) {
        self.pause.get_or_insert_with(|| Box::pin(sleep(RETRY_PAUSE)));
    }

    /// What it does next; nothing comes while it does nothing. May be dropped and called again.
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

    /// Fails at first.
    #[derive(Debug, Default)]
    struct Mended(AtomicBool);

    impl Backlog for Mended {
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
    async fn a_backlog_that_fails_is_asked_again_after_a_pause() {
        let mut reader = BacklogReader::new(Some(Arc::new(Mended::default())));
        assert_eq!(read(&mut reader, "b").await, None);
        assert_eq!(read(&mut reader, "panic").await, None);
        assert!(reader.failed);
        reader.pause();
        assert!(matches!(reader.event().await, ReaderEvent::Paused));
        assert_eq!(read(&mut reader, "b").await, Some(vec![8, 9]));
        assert!(!reader.failed);
    }
}
