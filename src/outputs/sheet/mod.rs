//! Score sheet of a capture as text: moves with clocks, results and irregularities.

mod explain;
mod irregularities;
mod table;
mod words;

use std::io::{self, Write};

use jiff::tz::TimeZone;
use kiebitz_game::clock::Side;
use kiebitz_game::events::record::GameRecord;
use kiebitz_game::events::{Event, EventKind, ExplainedEvent};
use kiebitz_game::position::Variant;
use kiebitz_protocol::Counters;

use crate::clock;
use crate::outputs::shared::numbering::Numbering;
pub(crate) use explain::piece_name;
use irregularities::Irregularity;
use words::{LocalTime, STANDARD};

/// The games on the boards of one capture, built event by event.
#[derive(Debug)]
pub struct Sheet {
    local: LocalTime,
    detail: Detail,
    boards: Vec<BoardSheet>,
}

/// Level of detail of a sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Moves, clocks, result and irregularities.
    Moves,
    /// The observations behind every move.
    Observations,
}

#[derive(Debug)]
struct BoardSheet {
    name: String,
    identity: String,
    seen: Presence,
    games: Vec<GameSheet>,
    /// Irregularities outside games.
    irregularities: Vec<Irregularity>,
    /// Last disconnection outside games. It becomes an irregularity if the board comes back.
    last_disconnection: Option<Irregularity>,
}

/// Whether board and clock have been connected at least once.
#[derive(Debug, Clone, Copy, Default)]
struct Presence {
    board: bool,
    clock: bool,
}

#[derive(Debug)]
struct GameSheet {
    record: GameRecord,
    numbering: Numbering,
    /// Whether the game had a clock.
    clock: bool,
    irregularities: Vec<Irregularity>,
    /// Explanation of each move.
    observations: Vec<String>,
}

/// The moves of a game without clocks, one line for each move number.
#[must_use]
pub(crate) fn rows(record: &GameRecord) -> Vec<String> {
    table::rows(record)
}

/// The result with its reason, in words.
#[must_use]
pub(crate) fn result_text(record: &GameRecord) -> String {
    words::result(record)
}

/// Time on a clock as h:mm:ss.
#[must_use]
pub(crate) fn clock_text(ms: u64) -> String {
    clock::shown(ms)
}

/// State of a board at the end of the capture.
#[derive(Debug, Clone, Copy, Default)]
pub struct AtEnd<'b> {
    /// White's side of the clock; `None` if unknown.
    pub white_side: Option<Side>,
    /// Counters of decoded and dropped bytes; `None` if the board shares its line with others.
    pub counters: Option<&'b Counters>,
}

impl Sheet {
    /// Creates an empty sheet. Times are shown in `zone`.
    #[must_use]
    pub fn new(zone: TimeZone, detail: Detail) -> Self {
        Self {
            local: LocalTime::new(zone),
            detail,
            boards: Vec::new(),
        }
    }

    /// Applies the next event of a board.
    pub fn apply(&mut self, explained: &ExplainedEvent) {
        let event = &explained.event;
        let index = self
            .boards
            .iter()
            .position(|board| board.name == event.board)
            .unwrap_or_else(|| {
                self.boards.push(BoardSheet::new(&event.board));
                self.boards.len() - 1
            });
        let board = &mut self.boards[index];
        board.apply(event, &self.local);
        if self.detail == Detail::Observations
            && let Some(game) = board
                .games
                .last_mut()
                .filter(|game| event.game.as_ref() == Some(&game.record.game))
            && let Some(text) = explain::explain(explained, game.numbering, &self.local)
        {
            game.observations.push(text);
        }
    }

    /// Writes the sheet. `at_end` returns the final state of a board by name; `cut_at` is the offset in bytes at which
    /// an incomplete capture is cut off.
    ///
    /// # Errors
    ///
    /// Fails if `out` cannot be written to.
    pub fn write<'b>(
        &self,
        out: &mut impl Write,
        at_end: impl Fn(&str) -> AtEnd<'b>,
        cut_at: Option<u64>,
    ) -> io::Result<()> {
        if self.boards.is_empty() {
            writeln!(out, "The capture has no answer of a board.")?;
        }
        for sheet in &self.boards {
            let AtEnd { white_side, counters } = at_end(&sheet.name);
            let dropped = counters.and_then(irregularities::dropped);
            sheet.write(out, white_side, dropped, &self.local, self.detail)?;
        }
        if let Some(offset) = cut_at {
            writeln!(
                out,
                "\nThe capture is cut off: it is complete up to byte {offset}, and nothing after that is shown."
            )?;
        }
        Ok(())
    }
}

impl BoardSheet {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            identity: format!("Board {name}"),
            seen: Presence::default(),
            games: Vec::new(),
            irregularities: Vec::new(),
            last_disconnection: None,
        }
    }

    fn apply(&mut self, event: &Event, local: &LocalTime) {
        if let Some(record) = GameRecord::from_started(event) {
            self.games.push(GameSheet::new(record, self.seen.clock));
            return;
        }
        let seen = self.seen;
        match &event.kind {
            EventKind::BoardConnected {
                port,
                serial,
                version,
                ..
            } => {
                self.seen.board = true;
                self.identify(port, serial.as_deref(), version.as_deref());
            }
            EventKind::ClockConnected {} => self.seen.clock = true,
            _ => {}
        }
        let playing = self.games.last_mut().filter(|game| game.record.ended.is_none());
        let irregularity = irregularities::of(event, seen, playing.as_deref(), local);
        if let Some(game) = playing {
            game.clock |= self.seen.clock;
            game.irregularities.extend(irregularity);
            game.record.apply(event);
        } else if matches!(event.kind, EventKind::BoardDisconnected { .. }) {
            self.last_disconnection = irregularity;
        } else if is_amendment(&event.kind) {
            // The event corrects a game that is over.
            if let Some(game) = self.games.last_mut() {
                game.irregularities.extend(irregularity);
                game.record.apply(event);
            }
        } else {
            self.irregularities
                .extend(self.last_disconnection.take_if(|_| irregularity.is_some()));
            self.irregularities.extend(irregularity);
        }
    }

    fn identify(&mut self, port: &str, serial: Option<&str>, version: Option<&str>) {
        let mut parts = vec![format!("Board {}", self.name)];
        parts.extend(serial.map(|serial| format!("serial number {serial}")));
        parts.extend(version.map(|version| format!("firmware {version}")));
        if port != self.name {
            parts.push(format!("on {port}"));
        }
        self.identity = parts.join(", ");
    }

    fn write(
        &self,
        out: &mut impl Write,
        white_side: Option<Side>,
        dropped: Option<String>,
        local: &LocalTime,
        detail: Detail,
    ) -> io::Result<()> {
        writeln!(out, "{}", self.identity)?;
        for game in &self.games {
            let side = game.record.white_side.or(white_side);
            game.write(out, side, local, detail)?;
        }
        if self.games.is_empty() {
            writeln!(out, "\nNo game was started.")?;
        }
        let outside: Vec<String> = self
            .irregularities
            .iter()
            .flat_map(|entry| entry.lines(local))
            .collect();
        let dropped: Vec<String> = dropped.map(indented).into_iter().collect();
        for (heading, lines) in [("Outside games", outside), ("On the line", dropped)] {
            if !lines.is_empty() {
                writeln!(out, "\n{heading}")?;
                lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
            }
        }
        Ok(())
    }
}

impl GameSheet {
    fn new(record: GameRecord, clock: bool) -> Self {
        let numbering = Numbering::of(&record.start_fen);
        Self {
            record,
            numbering,
            clock,
            irregularities: Vec::new(),
            observations: Vec::new(),
        }
    }

    fn write(
        &self,
        out: &mut impl Write,
        side: Option<Side>,
        local: &LocalTime,
        detail: Detail,
    ) -> io::Result<()> {
        let record = &self.record;
        writeln!(out, "\nGame {}", record.game)?;
        writeln!(out, "  {}", local.span(record.started, record.ended))?;
        if let Some(players) = &record.players {
            let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "?".to_owned());
            writeln!(out, "  {} - {}", name(&players.white), name(&players.black))?;
        }
        if record.start_fen != STANDARD {
            let variant = if record.variant == Variant::Chess960 {
                "Chess960, start"
            } else {
                "Start"
            };
            writeln!(out, "  {variant} position {}", record.start_fen)?;
        }
        match (side, self.clock) {
            (Some(side), true) => writeln!(
                out,
                "  White's time is on the {side} of the clock, seen from its front"
            )?,
            (None, true) => writeln!(out, "  White's side of the clock is not known")?,
            (_, false) => writeln!(out, "  Played without an electronic clock")?,
        }
        writeln!(out)?;
        match detail {
            Detail::Moves => table::write(out, self)?,
            Detail::Observations => self
                .observations
                .iter()
                .try_for_each(|text| write!(out, "{text}"))?,
        }
        writeln!(out, "\n  {}\n", words::result(record))?;
        self.write_irregularities(out, local)
    }

    fn write_irregularities(&self, out: &mut impl Write, local: &LocalTime) -> io::Result<()> {
        let mut lines: Vec<String> = self
            .irregularities
            .iter()
            .flat_map(|entry| entry.lines(local))
            .collect();
        lines.extend(irregularities::without_press(self).map(indented));
        if lines.is_empty() {
            return writeln!(out, "No irregularities.");
        }
        writeln!(out, "Irregularities")?;
        lines.iter().try_for_each(|line| writeln!(out, "{line}"))
    }
}

/// Indents a line, for the text below a heading.
fn indented(line: String) -> String {
    format!("{}{line}", " ".repeat(irregularities::INDENT))
}

/// Whether an event changes the record of a game.
fn is_amendment(event: &EventKind) -> bool {
    matches!(
        event,
        EventKind::GameAmended { .. }
            | EventKind::GameEnded { .. }
            | EventKind::GameResumed { .. }
            | EventKind::MoveMade(_)
            | EventKind::MoveAmended { .. }
            | EventKind::MoveRetracted { .. }
            | EventKind::MoveSettled { .. }
            | EventKind::MoveCompleted { .. }
    )
}
