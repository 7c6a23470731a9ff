//! The reports of board and clock during a game and the evidence for each ply, from a replay of its recording.

mod reading;

use kiebitz_hardware::Timestamp;
use serde::Serialize;
use shakmaty::{Board, Square};

use anyhow::Result;
use kiebitz_game::command::{Command, Timed};
use kiebitz_game::events::{Event, EventKind, ExplainedEvent, LIVE_STREAM, rfc3339};
use kiebitz_game::hall::{self, Names};

use super::{GameStretch, KeptGame, KeptGames, Recorded};
use crate::clock::ClockView;
use crate::config::Config;
use crate::replay::Replay;
use reading::PublishedPly;

#[derive(Debug, Serialize)]
pub(crate) struct Watched {
    /// Content of the sensors before the first change, as the first field of a FEN; `None` if unknown.
    placement: Option<String>,
    moments: Vec<TimedReport>,
    /// All published plies in order of publication, including withdrawn ones.
    readings: Vec<PublishedPly>,
    /// Moments beyond [`MAX_MOMENTS`] were left out.
    cut: bool,
}

#[derive(Debug, Serialize)]
struct TimedReport {
    #[serde(serialize_with = "rfc3339")]
    at: Timestamp,
    /// Number of the ply that the moment belongs to; 0 before the first. A ply lasts from the first piece touched for
    /// it to the first piece touched for the next.
    ply: u32,
    changes: Vec<ChangedSquare>,
    /// The clock; `None` if it shows the expected time.
    clock: Option<ClockView>,
    line: Option<LineNews>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct ChangedSquare {
    square: String,
    /// The piece as in FEN; `None` if the square is empty.
    piece: Option<char>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum LineNews {
    BoardConnected,
    BoardDisconnected,
    ClockConnected,
    ClockDisconnected,
    /// A gap was closed: its moves were read from the board's memory, inferred, or found to be unknowable.
    GapClosed,
}

/// Upper bound for the number of moments, above that of the longest games. A square that flickers for hours must not
/// fill the memory.
const MAX_MOMENTS: usize = 20_000;

impl KeptGames {
    /// The game as its recording shows it. Fails when `is_wanted` becomes false.
    pub(crate) fn watched(&self, game: &KeptGame, is_wanted: impl Fn() -> bool) -> Result<Watched> {
        let recorded = Recorded::of(self, game)?;
        let names = self.names(game);
        let commands = self.commands(game, recorded.connected)?;
        let replay = Replay::new(recorded.open()?, LIVE_STREAM)?;
        let mut replay = replay.named(names).with_commands(&commands);
        let mut watching = Watching::new(recorded.stretch);
        while let Some(at) = replay.next_at().filter(|at| !watching.is_over(*at)) {
            super::capture::check(&is_wanted)?;
            let events = replay.step()?;
            watching.add_step(at, events, replay.hall().board(&game.board));
        }
        watching.end()
    }

    /// Names and regulations of the boards at the start of a game, from the journal or else from the configuration.
    fn names(&self, game: &KeptGame) -> Names {
        // The table of runs may be damaged, which is not a reason to show nothing.
        let runs = self.journal.all_runs().unwrap_or_default();
        let run = runs.iter().rfind(|run| run.began <= game.entry.started);
        let config = run.and_then(|run| Config::parse("journal".as_ref(), &run.config).ok());
        Names::RecordedAs(config.map_or_else(|| self.roster.clone(), |config| config.roster()))
    }

    fn commands(&self, game: &KeptGame, since: Timestamp) -> Result<Vec<Timed>> {
        let events = self.journal.commands(LIVE_STREAM, &game.board, 0)?;
        let timed = |event: &Event| {
            Some(Timed {
                at: event.ts,
                board: event.board.clone(),
                command: Command::taken(&event.kind)?,
                line: 0,
            })
        };
        let events = events.iter().filter(|event| event.ts >= since);
        Ok(events.filter_map(timed).collect())
    }
}

/// The state of a replay of one game.
#[derive(Debug)]
struct Watching {
    stretch: GameStretch,
    shown: Option<Board>,
    clock: ClockView,
    watched: Watched,
}

impl Watching {
    fn new(stretch: GameStretch) -> Self {
        Self {
            stretch,
            shown: None,
            clock: ClockView::default(),
            watched: Watched {
                placement: None,
                moments: Vec::new(),
                readings: Vec::new(),
                cut: false,
            },
        }
    }

    fn is_over(&self, at: Timestamp) -> bool {
        self.watched.cut || self.stretch.is_over(at)
    }

    /// Adds the events of a step at the time `at`, and the board as it is after the step.
    fn add_step(&mut self, at: Timestamp, events: Vec<ExplainedEvent>, board: Option<&hall::Board>) {
        let events = self.stretch.select(events);
        for explained in &events {
            reading::add_event(&mut self.watched.readings, explained);
        }
        let Some(board) = board else { return };
        let before = self.shown.replace(board.placement().clone());
        let changes = self.shown.as_ref().map(|shown| changes(before.as_ref(), shown));
        let mut clock = ClockView::new(board.clock().filter(|_| board.is_connected()));
        clock.as_of = clock.as_of.map(|as_of| as_of + board.ahead());
        let clock = self.clock.differs(&clock).then_some(clock);
        self.clock = clock.unwrap_or(self.clock);
        if !self.stretch.shows(at) {
            return;
        }
        let watched = &mut self.watched;
        if watched.placement.is_none() {
            watched.placement = before.map(|before| before.board_fen().to_string());
        }
        let line = events
            .iter()
            .find_map(|explained| line_news(&explained.event.kind));
        let changes = changes.unwrap_or_default();
        if watched.moments.len() >= MAX_MOMENTS {
            watched.cut = true;
        } else if !changes.is_empty() || clock.is_some() || line.is_some() {
            watched.moments.push(TimedReport {
                at,
                ply: 0,
                changes,
                clock,
                line,
            });
        }
    }

    fn end(mut self) -> Result<Watched> {
        self.stretch.check()?;
        let begins = reading::begins(&self.watched.readings);
        for moment in &mut self.watched.moments {
            let begun = begins.iter().rfind(|(_, begun)| *begun <= moment.at);
            moment.ply = begun.map_or(0, |(ply, _)| *ply);
        }
        Ok(self.watched)
    }
}

const fn line_news(kind: &EventKind) -> Option<LineNews> {
    Some(match kind {
        EventKind::BoardConnected { .. } => LineNews::BoardConnected,
        EventKind::BoardDisconnected { .. } => LineNews::BoardDisconnected,
        EventKind::ClockConnected {} => LineNews::ClockConnected,
        EventKind::ClockDisconnected {} => LineNews::ClockDisconnected,
        EventKind::BoardRecovered { .. } => LineNews::GapClosed,
        _ => return None,
    })
}

/// The squares that differ; none if there was no placement before.
fn changes(before: Option<&Board>, now: &Board) -> Vec<ChangedSquare> {
    let Some(before) = before.filter(|before| *before != now) else {
        return Vec::new();
    };
    let squares = Square::ALL.into_iter();
    let others = squares.filter(|square| before.piece_at(*square) != now.piece_at(*square));
    others
        .map(|square| ChangedSquare {
            square: square.to_string(),
            piece: now.piece_at(square).map(shakmaty::Piece::char),
        })
        .collect()
}

#[cfg(test)]
mod tests;
