use anyhow::Result;
use kiebitz_game::command::{Answer, Command};
use kiebitz_game::events::ExplainedEvent;
use kiebitz_game::hall::Board;
use serde_json::json;

use super::Act;
use crate::replay::Replay;

/// A recording of the demonstration, replayed on a board of its own.
#[derive(Debug)]
pub(super) struct Part {
    /// Name of the board on the pages.
    pub(super) name: String,
    stream: &'static str,
    pub(super) replay: Replay<&'static [u8]>,
    /// Command that sets the players' names; `None` once it is carried out.
    naming: Option<Command>,
}

impl Part {
    /// Loads the recording for the board with this number, counted from 1.
    pub(super) fn new(number: usize, act: &Act) -> Result<Self> {
        Ok(Self {
            name: format!("board-{number}"),
            stream: act.stream,
            replay: Replay::new(act.capture, act.stream)?,
            naming: Some(naming(act.players)?),
        })
    }

    /// Replays the next step. Names the players as soon as the board is present. Fails if the recording is damaged.
    pub(super) fn step(&mut self) -> Result<Vec<ExplainedEvent>> {
        let mut explained = self.replay.step()?;
        if self.board().is_some()
            && let Some(naming) = self.naming.take()
        {
            explained.extend(self.command(&naming)?.1);
        }
        Ok(explained)
    }

    pub(super) fn board(&self) -> Option<&Board> {
        self.replay.boards().next()
    }

    /// Returns the id of a game on the pages, which is unique across recordings.
    pub(super) fn game(&self, game: &str) -> String {
        format!("{}-{game}", self.stream)
    }

    /// Carries out a command. Returns the answer and the board's events. Fails if the recording is damaged.
    pub(super) fn command(&mut self, command: &Command) -> Result<(Answer, Vec<ExplainedEvent>)> {
        let board = self.board().map(|board| board.name().to_owned());
        self.replay.command(&board.unwrap_or_default(), command)
    }
}

fn naming((white, black): (&str, &str)) -> Result<Command> {
    let text = json!({"id": "players", "do": "set_players", "by": "demo", "white": white, "black": black});
    Ok(Command::parse(&text.to_string())?)
}
