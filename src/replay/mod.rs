//! Replays recorded bytes through the same hall as live ones.

mod commands;
pub(crate) mod publish;
mod source;

use core::time::Duration;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::Context;
use kiebitz_game::command::{Answer, Command, Timed};
use kiebitz_game::events::{Event, ExplainedEvent, ResumableGame};
use kiebitz_game::hall::Board;
use kiebitz_game::hall::{Hall, Names};
use kiebitz_game::model::Model;
use kiebitz_hardware::Timestamp;
use kiebitz_hardware::capture::{CaptureError, CaptureReader};

use crate::restart::{HallInput, Inputs, Recordings};
pub use commands::read_commands;
use source::ReplaySource;

/// Replays a capture, or the recordings of all ports, step by step. Every step has a time, so that callers can pace the
/// replay.
#[derive(Debug)]
pub struct Replay<R: Read> {
    inputs: Inputs<ReplaySource<R>>,
    hall: Hall,
    answers: Vec<(usize, Answer)>,
    /// The events of each game so far, for commands about earlier games; `None` if no command names a game.
    games: Option<BTreeMap<String, Vec<Event>>>,
    /// Deadlines after the end of the capture fire up to this time.
    until: Timestamp,
    /// Deadlines of boards after the last command fire up to this time.
    commanded_until: Timestamp,
    now: Timestamp,
}

/// Length of the silence that is simulated after the last recorded byte and after each command.
const SILENCE: Duration = Duration::from_secs(10);

impl Replay<BufReader<File>> {
    /// Opens a capture file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be opened or is not a capture; the message names the file.
    pub fn open(path: &Path, stream: &str) -> anyhow::Result<Self> {
        let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        Self::new(BufReader::new(file), stream).with_context(|| format!("cannot replay {}", path.display()))
    }
}

impl<R: Read> Replay<R> {
    /// Creates a replay of the capture in `reader`, whose events belong to the stream named `stream`.
    ///
    /// # Errors
    ///
    /// Fails if `reader` does not contain a capture.
    pub fn new(reader: R, stream: &str) -> anyhow::Result<Self> {
        let mut replay = Self::begin(ReplaySource::capture(CaptureReader::new(reader)?), stream);
        replay.inputs.packets_mut().check()?;
        Ok(replay)
    }

    /// Creates a replay of the daemon's recordings of all ports. Its events equal the daemon's, including their seqs,
    /// if the recordings begin with the boards' first events and the daemon has not made its boards anew since, as it
    /// does every day.
    #[must_use]
    pub fn of_recordings(recordings: Recordings, stream: &str) -> Self {
        Self::begin(ReplaySource::Recordings(Box::new(recordings)), stream)
    }

    fn begin(source: ReplaySource<R>, stream: &str) -> Self {
        let inputs = Inputs::new(source);
        let until = inputs.next_at().unwrap_or(Timestamp::from_micros(0));
        Self {
            inputs,
            hall: Hall::new(stream, Names::Recorded),
            answers: Vec::new(),
            games: None,
            until,
            commanded_until: until,
            now: until,
        }
    }

    /// Replaces the recorded names of the boards, and sets their regulations. Call before the first step.
    #[must_use]
    pub fn named(mut self, names: Names) -> Self {
        self.hall = self.hall.named(names);
        self
    }

    /// Replaces the daemon's model of boards and hands, to compare the two. Call before the first step.
    #[must_use]
    pub fn following(mut self, model: &'static Model) -> Self {
        self.hall = self.hall.following(model);
        self
    }

    /// Adds commands, each given at its time, after the packets of that time. Commands may come after the end of the
    /// capture, as results are often entered late.
    #[must_use]
    pub fn with_commands(mut self, commands: &[Timed]) -> Self {
        let names_games = commands.iter().any(|timed| timed.command.game().is_some());
        self.games = names_games.then(BTreeMap::new);
        self.inputs = self.inputs.with_commands(commands.iter().cloned().collect());
        self
    }

    /// The answers to the commands since the last call, each with its command's line in the file.
    pub fn take_answers(&mut self) -> Vec<(usize, Answer)> {
        core::mem::take(&mut self.answers)
    }

    /// The boards that were seen so far.
    pub fn boards(&self) -> impl Iterator<Item = &Board> {
        self.hall.boards()
    }

    /// The hall, with boards and lines.
    #[must_use]
    pub fn hall(&self) -> &Hall {
        &self.hall
    }

    /// Byte offset up to which the file is complete; `None` unless the file was cut off inside a block.
    #[must_use]
    pub fn truncated(&self) -> Option<u64> {
        self.inputs.packets().truncated()
    }

    /// The recordings that could not be read to their end, with the reasons.
    #[must_use]
    pub fn damaged(&self) -> &[(PathBuf, CaptureError)] {
        self.inputs.packets().damaged()
    }

    /// Time of the next step; `None` at the end.
    #[must_use]
    pub fn next_at(&self) -> Option<Timestamp> {
        let deadline = if self.inputs.has_packet() {
            self.hall.poll_deadline()
        } else {
            self.deadline_after_end()
        };
        [deadline, self.inputs.next_at()].into_iter().flatten().min()
    }

    /// The next deadline after the end: of lines and boards until `until`, later only of boards, until
    /// `commanded_until`.
    fn deadline_after_end(&self) -> Option<Timestamp> {
        let listening = self
            .hall
            .poll_deadline()
            .filter(|deadline| *deadline <= self.until);
        listening.or_else(|| {
            let deadline = self.hall.poll_board_deadline();
            deadline.filter(|deadline| *deadline <= self.commanded_until)
        })
    }

    /// Ends the replay of packets; commands can still be given.
    pub(crate) fn end(&mut self) {
        self.inputs.end_packets();
    }

    /// Gives a command at the time of the last step. Returns the answer and the events of the boards; after the
    /// [end](Self::end), these include all events that follow from the command. Fails if the capture is corrupt from
    /// here on.
    pub(crate) fn command(
        &mut self,
        board: &str,
        command: &Command,
    ) -> anyhow::Result<(Answer, Vec<ExplainedEvent>)> {
        let answer = self.hall.command(self.now, board, command);
        let mut events = self.hall.take_events();
        if !self.inputs.has_packet() {
            self.commanded_until = self.now + SILENCE;
            while self.next_at().is_some() {
                events.extend(self.step()?);
            }
        }
        Ok((answer, events))
    }

    /// Does the next step and returns the events of the boards.
    ///
    /// # Errors
    ///
    /// Fails if the capture is corrupt from here on.
    pub fn step(&mut self) -> anyhow::Result<Vec<ExplainedEvent>> {
        let Some(now) = self.next_at() else {
            return Ok(Vec::new());
        };
        self.now = now;
        self.hall.advance(now);
        match self.inputs.next_until(now) {
            Some(HallInput::Recorded(port, packet)) => {
                self.until = packet.at + SILENCE;
                self.hall.play_back(&port, &packet);
                self.inputs.packets_mut().check()?;
            }
            Some(HallInput::Command(mut timed)) => {
                let game = timed.command.game().and_then(|id| self.games.as_ref()?.get(id));
                timed.command.recalled = game.and_then(|events| ResumableGame::of(events)).map(Box::new);
                self.commanded_until = timed.at + SILENCE;
                let answer = self.hall.command(now, &timed.board, &timed.command);
                self.answers.push((timed.line, answer));
            }
            None => {}
        }
        let events = self.hall.take_events();
        if let Some(games) = &mut self.games {
            for event in events.iter().map(|explained| &explained.event) {
                if let Some(game) = &event.game {
                    games.entry(game.clone()).or_default().push(event.clone());
                }
            }
        }
        Ok(events)
    }
}
