//! A recording of the demonstration on a board of its own.

use anyhow::Result;
use kiebitz_game::command::{Answer, Command};
use kiebitz_game::events::ExplainedEvent;
use kiebitz_game::hall::Board;
use serde_json::json;

use super::Act;
use crate::replay::Replay;

/// A recording that is shown, or was.
#[derive(Debug)]
pub(super) struct Part {
    /// What its board is called in a browser.
    pub(super) name: String,
    stream: &'static str,
    pub(super) replay: Replay<&'static [u8]>,
    /// The command that names the players; `None` once it was given.
    naming: Option<Command>,
}

impl Part {
    /// The recording that is shown as the one of that number, from 1.
    pub(super) fn new(number: usize, act: &Act) -> Result<Self> {
        Ok(Self {
            name: format!("board-{number}"),
            stream: act.stream,
            replay: Replay::new(act.capture, act.stream)?,
            naming: Some(naming(act.players)?),
        })
    }

    /// Does the next step of the recording. As soon as its board is there, its players are named.
    ///
    /// # Errors
    ///
    /// When the recording is damaged.
    pub(super) fn step(&mut self) -> Result<Vec<ExplainedEvent>> {
        let mut said = self.replay.step()?;
        if self.board().is_some()
            && let Some(naming) = self.naming.take()
        {
            said.extend(self.command(&naming)?.1);
        }
        Ok(said)
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

/// The command that names the players of a board.
fn naming((white, black): (&str, &str)) -> Result<Command> {
    let text = json!({"id": "players", "do": "set_players", "by": "demo", "white": white, "black": black});
    Ok(Command::parse(&text.to_string())?)
}
