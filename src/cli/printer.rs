//! What a replay prints.

use std::io::{Read, Write};
use std::path::Path;

use anyhow::Result;
use jiff::tz::TimeZone;
use kiebitz_game::events::ExplainedEvent;
use kiebitz_game::events::record::GameRecord;

use crate::outputs::pgn::pgn;
use crate::outputs::sheet::{AtEnd, Detail, Sheet};
use crate::replay::Replay;

/// What is printed of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplayOutput {
    /// Every event, one JSON object per line.
    Events,
    /// The score sheet, with what every move rests on.
    Explanation,
    /// The games.
    Pgn,
    /// The score sheet.
    Sheet,
}

/// Prints one capture after another.
#[derive(Debug)]
pub(super) struct Printer<'w, W> {
    out: &'w mut W,
    output: ReplayOutput,
    /// The replay is paced: events are flushed at once.
    live: bool,
    zone: TimeZone,
    /// Whether something was printed before.
    begun: bool,
    sheet: Sheet,
    games: Vec<GameRecord>,
}

impl<'w, W: Write> Printer<'w, W> {
    pub(super) fn new(out: &'w mut W, output: ReplayOutput, live: bool, zone: TimeZone) -> Self {
        let sheet = Sheet::new(zone.clone(), Detail::Moves);
        Self {
            out,
            output,
            live,
            zone,
            begun: false,
            sheet,
            games: Vec::new(),
        }
    }

    /// Begins the next capture.
    pub(super) fn begin(&mut self, path: &Path) -> Result<()> {
        if let ReplayOutput::Sheet | ReplayOutput::Explanation = self.output {
            let detail = if self.output == ReplayOutput::Sheet {
                Detail::Moves
            } else {
                Detail::Observations
            };
            self.sheet = Sheet::new(self.zone.clone(), detail);
            let heading = path.display().to_string();
            let gap = if self.begun { "\n\n" } else { "" };
            writeln!(
                self.out,
                "{gap}{heading}\n{}\n",
                "=".repeat(heading.chars().count())
            )?;
            self.begun = true;
        }
        Ok(())
    }

    /// Prints or collects the events of one step of the capture.
    pub(super) fn take_step(&mut self, events: &[ExplainedEvent]) -> Result<()> {
        match self.output {
            ReplayOutput::Events => self.print_events(events)?,
            ReplayOutput::Sheet | ReplayOutput::Explanation => {
                events.iter().for_each(|event| self.sheet.apply(event))
            }
            ReplayOutput::Pgn => events.iter().for_each(|event| self.collect_game(event)),
        }
        Ok(())
    }

    /// Ends a capture, which may be broken off here.
    pub(super) fn end<R: Read>(&mut self, replay: &Replay<R>) -> Result<()> {
        match self.output {
            ReplayOutput::Events => {}
            ReplayOutput::Sheet | ReplayOutput::Explanation => {
                let hall = replay.hall();
                let at_end = |name: &str| AtEnd {
                    white_side: hall.board(name).and_then(|board| board.white_side()),
                    counters: hall.counters(name),
                };
                self.sheet.write(self.out, at_end, replay.truncated())?;
            }
            ReplayOutput::Pgn => {
                for game in self.games.drain(..) {
                    let gap = if self.begun { "\n" } else { "" };
                    write!(self.out, "{gap}{}", pgn(&game))?;
                    self.begun = true;
                }
            }
        }
        self.out.flush()?;
        Ok(())
    }

    fn print_events(&mut self, said: &[ExplainedEvent]) -> Result<()> {
        for said in said {
            serde_json::to_writer(&mut *self.out, &said.event)?;
            self.out.write_all(b"\n")?;
        }
        if self.live && !said.is_empty() {
            self.out.flush()?;
        }
        Ok(())
    }

    fn collect_game(&mut self, said: &ExplainedEvent) {
        match GameRecord::from_started(&said.event) {
            Some(game) => self.games.push(game),
            // Each ignores other games' events.
            None => self.games.iter_mut().rev().for_each(|game| {
                game.apply(&said.event);
            }),
        }
    }
}
