//! Output of a replay.

use std::io::{Read, Write};
use std::path::Path;

use anyhow::Result;
use jiff::tz::TimeZone;
use kiebitz_game::events::ExplainedEvent;
use kiebitz_game::events::record::GameRecord;

use crate::outputs::pgn::pgn;
use crate::outputs::sheet::{AtEnd, Detail, Sheet};
use crate::replay::Replay;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplayOutput {
    /// All events, one JSON object per line.
    Events,
    /// The score sheet, with the evidence for every move.
    Explanation,
    Pgn,
    Sheet,
}

#[derive(Debug)]
pub(super) struct Printer<'w, W> {
    out: &'w mut W,
    output: ReplayOutput,
    /// Whether the replay is paced, so that events are flushed at once.
    live: bool,
    zone: TimeZone,
    /// Whether output was printed before, so that a gap is needed.
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

    /// Ends a capture. Also called for a capture that ends with an error.
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

    fn print_events(&mut self, events: &[ExplainedEvent]) -> Result<()> {
        for explained in events {
            serde_json::to_writer(&mut *self.out, &explained.event)?;
            self.out.write_all(b"\n")?;
        }
        if self.live && !events.is_empty() {
            self.out.flush()?;
        }
        Ok(())
    }

    fn collect_game(&mut self, explained: &ExplainedEvent) {
        match GameRecord::from_started(&explained.event) {
            Some(game) => self.games.push(game),
            // Each game ignores events of other games.
            None => self.games.iter_mut().rev().for_each(|game| {
                game.apply(&explained.event);
            }),
        }
    }
}
