//! Reads earlier games from the journal for commands about them, on a separate thread so that boards do not wait for a
//! disk.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};

use anyhow::{Context, Result};
use kiebitz_game::events::{LIVE_STREAM, ResumableGame};
use tokio::sync::mpsc;

use super::commands::{PendingCommand, WAITING};
use crate::journal::{Journal, JournalError};

#[derive(Debug)]
pub(super) struct Recall {
    sender: SyncSender<(String, Box<PendingCommand>)>,
    recalled: mpsc::UnboundedReceiver<Box<PendingCommand>>,
}

impl Recall {
    /// Starts the thread. `journal` is the path of the journal.
    pub(super) fn start(journal: PathBuf) -> Result<Self> {
        let (sender, receiver) = sync_channel::<(String, Box<PendingCommand>)>(WAITING);
        let (done, recalled) = mpsc::unbounded_channel();
        let work = move || {
            for (game, mut pending) in receiver {
                pending.command.recalled = game_of(&journal, &pending.board, &game).map(Box::new);
                if done.send(pending).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new()
            .name("recall".to_owned())
            .spawn(work)
            .context("cannot start reading earlier games")?;
        Ok(Self { sender, recalled })
    }

    /// Passes a command to the thread, which completes it with a game; [`next`](Self::next) returns it. Returns the
    /// command as the error if too many commands are waiting.
    pub(super) fn request(&self, game: String, pending: PendingCommand) -> Result<(), Box<PendingCommand>> {
        let sent = self.sender.try_send((game, Box::new(pending)));
        sent.map_err(|error| {
            let (TrySendError::Full((_, pending)) | TrySendError::Disconnected((_, pending))) = error;
            pending
        })
    }

    /// The next command. It is without the game if the journal does not have it. Cancel safe.
    pub(super) async fn next(&mut self) -> Option<Box<PendingCommand>> {
        self.recalled.recv().await
    }
}

fn game_of(journal: &Path, board: &str, game: &str) -> Option<ResumableGame> {
    let read = || -> Result<Option<ResumableGame>, JournalError> {
        Journal::open_to_read(journal)?
            .all_of(LIVE_STREAM, board)
            .game(game)
    };
    read().unwrap_or_else(|error| {
        let error = anyhow::Error::from(error);
        tracing::warn!("cannot look up {game} for a command: {error:#}");
        None
    })
}
