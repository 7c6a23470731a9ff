//! A recording of the demonstration on a board of its own.

use anyhow::Result;

use super::Act;
use crate::events::ExplainedEvent;
use crate::hall::Board;
use crate::referee::command::{Answer, Command};
use crate::replay::Replay;

/// A recording that is shown, or was.
#[derive(Debug)]
pub(super) struct Part {
    /// What its board is called in a browser.
    pub(super) name: String,
    stream: &'static str,
    pub(super) replay: Replay<&'static [u8]>,
}

impl Part {
    /// The recording that is shown as the one of that number, from 1.
    pub(super) fn new(number: usize, act: &Act) -> Result<Self> {
        Ok(Self {
            name: format!("board-{number}"),
            stream: act.stream,
            replay: Replay::new(act.capture, act.stream)?,
        })
    }

    pub(super) fn board(&self) -> Option<&Board> {
        self.replay.boards().next()
    }

    /// What one of its games is called in a browser.
    pub(super) fn game(&self, game: &str) -> String {
        format!("{}-{game}", self.stream)
    }

    /// Gives a command. Returns the answer, and what the board says.
    ///
    /// # Errors
    ///
    /// When the recording is damaged.
    pub(super) fn command(&mut self, command: &Command) -> Result<(Answer, Vec<ExplainedEvent>)> {
        let board = self.board().map(|board| board.name().to_owned());
        self.replay.command(&board.unwrap_or_default(), command)
    }
}
