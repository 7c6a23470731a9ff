//! What the board and its clock reported during a game, and what each ply rests on: by the recording, played back.

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

/// A game as it was watched.
#[derive(Debug, Serialize)]
pub(crate) struct Watched {
    /// What the sensors showed before the first change, as the first field of a FEN; `None`: nobody knows.
    placement: Option<String>,
    moments: Vec<TimedReport>,
    /// The plies as they were published, in that order, with those that were withdrawn.
    readings: Vec<PublishedPly>,
    /// There were more moments than are kept.
    cut: bool,
}

/// What was reported at one time.
#[derive(Debug, Serialize)]
struct TimedReport {
    #[serde(serialize_with = "rfc3339")]
    at: Timestamp,
    /// The ply to which it belongs: from the first piece touched for it to the first one touched for the next; 0 before
    /// the first.
    ply: u32,
    /// The squares that show something else from then on.
    changes: Vec<ChangedSquare>,
    /// The clock, where it shows something else than it would by running on.
    clock: Option<ClockView>,
    /// What became of the line to the board.
    line: Option<LineNews>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct ChangedSquare {
    square: String,
    /// The piece as in FEN; `None`: it is empty.
    piece: Option<char>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum LineNews {
    BoardConnected,
    BoardDisconnected,
    ClockConnected,
    ClockDisconnected,
    /// What was not watched has been read from the board's memory, or worked out, or cannot be.
    GapClosed,
}

/// More than the longest games have: it keeps a square that flickers for hours from filling the memory.
const MAX_MOMENTS: usize = 20_000;

impl KeptGames {
    /// A game as its recording shows it. Where `is_wanted` becomes false, nobody needs it any more.
    pub(crate) fn watched(&self, game: &KeptGame, is_wanted: impl Fn() -> bool) -> Result<Watched> {
        let recorded = Recorded::of(self, game)?;
        let names = self.names(game);
        let commands = self.commands(game, recorded.connected)?;
        let replay = Replay::new(recorded.open()?, LIVE_STREAM)?;
        let mut replay = replay.named(names).with_commands(&commands);
        let mut watching = Watching::new(recorded.stretch);
        while let Some(at) = replay.next_at().filter(|at| !watching.is_over(*at)) {
            super::capture::check(&is_wanted)?;
            let said = replay.step()?;
            watching.take(at, said, replay.hall().board(&game.board));
        }
        watching.end()
    }

    /// What boards were called and what was played on them when a game began, as far as the journal has it; else by the configuration.
    fn names(&self, game: &KeptGame) -> Names {
        // What the table says of them may be damaged: that alone is no reason to show nothing.
        let runs = self.journal.all_runs().unwrap_or_default();
        let then = runs.iter().rfind(|run| run.began <= game.entry.started);
        let then = then.and_then(|run| Config::parse("journal".as_ref(), &run.config).ok());
        Names::RecordedAs(then.map_or_else(|| self.roster.clone(), |then| then.roster()))
    }

    /// What people entered at the game's board from `since` on.
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

/// Watches a game that is played back.
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

    /// Takes in what a step at that time said and showed.
    fn take(&mut self, at: Timestamp, said: Vec<ExplainedEvent>, board: Option<&hall::Board>) {
        let said = self.stretch.select(said);
        for said in &said {
            reading::take(&mut self.watched.readings, said);
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
        let line = said.iter().find_map(|said| line_news(&said.event.kind));
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

/// What is otherwise than before; nothing, where nothing was known before.
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
