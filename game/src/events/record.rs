//! A game as a projection of its events: the source of the game topic, PGN and reports.

use kiebitz_hardware::Timestamp;
use serde::Serialize;
use shakmaty::Color;

use crate::clock::Side;
use crate::events::{
    Clock, CompletedBy, DecidedBy, Decision, EndReason, Event, EventKind, GameResult, Move, Players,
    SettledBy, color, rfc3339, rfc3339_option,
};
use crate::laws::{Edition, Mode};
use crate::position::{Orientation, Variant};

/// One game: a projection of its events, complete after each event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GameRecord {
    /// Id of the game, as in the events.
    pub game: String,
    /// Name of the board.
    pub board: String,
    /// Name of the stream of events.
    pub stream: String,
    /// Number of changes so far. Equal revisions of one game mean equal records.
    pub revision: u64,
    /// Time of the start.
    #[serde(serialize_with = "rfc3339")]
    pub started: Timestamp,
    /// Time of the end; `None` while the game is in progress.
    #[serde(serialize_with = "rfc3339_option")]
    pub ended: Option<Timestamp>,
    /// The players; `None` while unknown.
    pub players: Option<Players>,
    /// Time control; `None` while unknown.
    pub time_control: Option<String>,
    /// Time control as typed; `None` if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_control_typed: Option<String>,
    /// Name of the tournament; `None` if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// Site of the tournament; `None` if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// Number of the round, from 1; `None` if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// Start position, as FEN.
    pub start_fen: String,
    /// Kind of game.
    pub variant: Variant,
    /// Side of the board on which White sits.
    pub orientation: Orientation,
    /// White's side of the clock; `None` while unknown.
    pub white_side: Option<Side>,
    /// Edition of the Laws.
    pub laws: Option<Edition>,
    /// Mode of play.
    pub mode: Option<Mode>,
    /// The plies, without withdrawn ones.
    pub moves: Vec<MoveRecord>,
    /// Position after the last ply or set by the arbiter since, as FEN.
    pub fen: String,
    /// Result; [`GameResult::Unknown`] while the game is in progress or if the result is unknown.
    pub result: GameResult,
    /// Reason of the end; `None` while the game is in progress.
    pub reason: Option<EndReason>,
    /// Authority that decided the result; `None` while the game is in progress.
    pub by: Option<DecidedBy>,
    /// Arbiter who decided the result, and when; `None` if no arbiter did. Not published to spectators.
    #[serde(skip_serializing)]
    pub decided: Option<Decision>,
    /// Whether the result is final; false while the Laws require a confirmation by the arbiter.
    pub confirmed: bool,
    /// False if the end was not observed, see [`EventKind::GameEnded`].
    #[serde(skip_serializing_if = "core::clone::Clone::clone")]
    pub end_certain: bool,
    /// Positions that the arbiter set and that do not result from the moves; usually none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub positions: Vec<PositionRecord>,
    /// Notes of the arbiter, oldest first; usually none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<NoteRecord>,
    /// Arbiter who last changed the moves, and when.
    #[serde(skip)]
    amender: Option<Decision>,
}

/// A position that the arbiter set during a game.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PositionRecord {
    /// Number of the last ply before the position was set; 0 before the first.
    pub ply: u32,
    /// The position, as FEN.
    pub fen: String,
}

/// A note of the arbiter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NoteRecord {
    /// Time of the note.
    #[serde(serialize_with = "rfc3339")]
    pub at: Timestamp,
    /// Name of the arbiter.
    pub by: String,
    /// Number of the last ply at that time; 0 before the first.
    pub ply: u32,
    /// The text of the note.
    pub text: String,
}

/// One ply of a game.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MoveRecord {
    /// Number of the ply, from 1 for the first of the game.
    pub ply: u32,
    /// The mover.
    #[serde(serialize_with = "color::serialize")]
    pub color: Color,
    /// UCI; `None` for irregular play, unless a single piece moved from one square to another.
    pub uci: Option<String>,
    /// English SAN; `None` for irregular play.
    pub san: Option<String>,
    /// Position after the ply, as FEN.
    pub fen: String,
    /// Letter of the captured piece: p, n, b, r, q.
    pub captured: Option<String>,
    /// Times of the clock when the ply was completed; until then, when it was made.
    pub clock: Option<Clock>,
    /// The mover's thinking time, in milliseconds.
    pub elapsed_ms: Option<u64>,
    /// False for an irregular move.
    pub legal: bool,
    /// Whether the ply was reconstructed over a gap.
    pub inferred: bool,
    /// Evidence that settled the ply; `None` while it may still be corrected.
    pub settled: Option<SettledBy>,
    /// Act that completed the ply in the sense of the Laws; `None` until then.
    pub completed: Option<CompletedBy>,
    /// Arbiter who entered the ply, and when; `None` if it was observed on the board.
    #[serde(skip)]
    pub entered: Option<Decision>,
}

/// The current game of a board: the game in progress, or the last game until the next one starts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Games {
    current: Option<GameRecord>,
}

impl Games {
    /// Creates the state of a board without events.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates the state of a board with a known current game.
    #[must_use]
    pub fn with(game: GameRecord) -> Self {
        Self { current: Some(game) }
    }

    /// The current game.
    #[must_use]
    pub fn current(&self) -> Option<&GameRecord> {
        self.current.as_ref()
    }

    /// Applies the board's next event. Returns whether the current game changed.
    pub fn apply(&mut self, event: &Event) -> bool {
        if let Some(game) = GameRecord::from_started(event) {
            self.current = Some(game);
            return true;
        }
        self.current.as_mut().is_some_and(|game| game.apply(event))
    }
}

impl GameRecord {
    /// Creates the game that a `game.started` event starts; `None` for other events.
    #[must_use]
    pub fn from_started(event: &Event) -> Option<Self> {
        let EventKind::GameStarted {
            start_fen,
            variant,
            orientation,
            white_side,
            laws,
            mode,
            players,
            time_control,
            time_control_typed,
            event: name,
            site,
            round,
            ..
        } = &event.kind
        else {
            return None;
        };
        Some(Self {
            game: event.game.clone()?,
            board: event.board.clone(),
            stream: event.stream.clone(),
            revision: 1,
            started: event.ts,
            ended: None,
            players: players.clone(),
            time_control: time_control.clone(),
            time_control_typed: time_control_typed.clone(),
            event: name.clone(),
            site: site.clone(),
            round: *round,
            start_fen: start_fen.clone(),
            variant: *variant,
            orientation: *orientation,
            white_side: *white_side,
            laws: *laws,
            mode: *mode,
            moves: Vec::new(),
            fen: start_fen.clone(),
            result: GameResult::Unknown,
            reason: None,
            by: None,
            decided: None,
            confirmed: false,
            end_certain: true,
            positions: Vec::new(),
            notes: Vec::new(),
            amender: None,
        })
    }

    /// Creates the game from its events; `None` if the first one does not start it.
    #[must_use]
    pub fn of(events: &[Event]) -> Option<Self> {
        let (first, rest) = events.split_first()?;
        let mut record = Self::from_started(first)?;
        for event in rest {
            record.apply(event);
        }
        Some(record)
    }

    /// Applies the next event. Returns whether the game changed. Events of other games have no effect.
    pub fn apply(&mut self, event: &Event) -> bool {
        if event.game.as_ref() != Some(&self.game) {
            return false;
        }
        let changed = match &event.kind {
            EventKind::MoveMade(played) | EventKind::MoveAmended { played, .. } => {
                self.withdraw(played.ply);
                self.moves.push(MoveRecord::of(played));
                true
            }
            EventKind::MoveRetracted { ply, .. } => self.withdraw(*ply),
            EventKind::MoveSettled { ply, by } => self.mark(*ply, |entry| entry.settled = Some(*by)),
            EventKind::MoveCompleted {
                ply,
                by,
                clock,
                elapsed_ms,
            } => {
                let entered = self.amender.clone().filter(|_| *by == CompletedBy::Arbiter);
                self.mark(*ply, |entry| {
                    entry.completed = Some(*by);
                    entry.clock = clock.or(entry.clock);
                    entry.elapsed_ms = *elapsed_ms;
                    entry.entered = entered;
                })
            }
            EventKind::GameEnded {
                result,
                reason,
                by,
                confirmed,
                end_certain,
                decided_by,
            } => {
                self.decided = decided_by.clone().map(|by| Decision { by, at: event.ts });
                self.ended = Some(event.ts);
                self.end_certain = *end_certain;
                self.result = *result;
                self.reason = Some(*reason);
                self.by = Some(*by);
                self.confirmed = *confirmed;
                true
            }
            EventKind::GameResumed { .. } => {
                self.ended = None;
                self.result = GameResult::Unknown;
                self.reason = None;
                self.by = None;
                self.decided = None;
                self.confirmed = false;
                self.end_certain = true;
                true
            }
            EventKind::GameAmended { .. } => self.amend(event),
            EventKind::ClockSides { white_side } => self.white_side.replace(*white_side) != Some(*white_side),
            EventKind::BoardConnected { .. }
            | EventKind::BoardRecovered { .. }
            | EventKind::BoardDisconnected { .. }
            | EventKind::ClockBatteryLow {}
            | EventKind::TimeSet { .. }
            | EventKind::ClockConnected {}
            | EventKind::ClockDisconnected {}
            | EventKind::ClaimAvailable { .. }
            | EventKind::CommandTaken { .. }
            | EventKind::TableResult { .. }
            | EventKind::GameStarted { .. }
            | EventKind::IncidentClosed { .. }
            | EventKind::IncidentOpened(_)
            | EventKind::IncidentUpdated(_) => false,
        };
        if changed {
            self.fen = self.last_fen().to_owned();
            self.revision += 1;
        }
        changed
    }

    /// Applies the changes of a `game.amended` event except the moves, which have events of their own. Returns whether
    /// the game changed.
    fn amend(&mut self, event: &Event) -> bool {
        let EventKind::GameAmended {
            by,
            result,
            reason,
            players,
            time_control,
            time_control_typed,
            mode,
            moves,
            position,
            note,
            ..
        } = &event.kind
        else {
            return false;
        };
        if moves.is_some() {
            let (by, at) = (by.clone(), event.ts);
            self.amender = Some(Decision { by, at });
        }
        if let Some(result) = result {
            let is_as_before = (self.result, self.reason) == (*result, *reason);
            // Repeating the same result keeps the first decision.
            if !is_as_before || self.decided.is_none() {
                let (by, at) = (by.clone(), event.ts);
                self.decided = reason.map(|_| Decision { by, at });
            }
            // A result without a reason means that the game continues.
            self.ended = reason.and(self.ended.or(Some(event.ts)));
            self.result = *result;
            self.reason = *reason;
            self.by = reason.map(|_| DecidedBy::Arbiter);
            self.confirmed = reason.is_some();
        }
        if players.is_some() {
            self.players.clone_from(players);
        }
        if time_control.is_some() {
            self.time_control.clone_from(time_control);
            self.time_control_typed.clone_from(time_control_typed);
        }
        self.mode = mode.or(self.mode);
        let ply = self.moves.last().map_or(0, |entry| entry.ply);
        let occurred = |fen: &str| self.start_fen == fen || self.moves.iter().any(|entry| entry.fen == fen);
        if let Some(fen) = position.clone().filter(|fen| !occurred(fen)) {
            self.positions.push(PositionRecord { ply, fen });
        }
        if let Some(text) = note.clone() {
            let (at, by) = (event.ts, by.clone());
            self.notes.push(NoteRecord { at, by, ply, text });
        }
        result.is_some()
            || players.is_some()
            || time_control.is_some()
            || position.is_some()
            || note.is_some()
    }

    /// The position from which play continues.
    fn last_fen(&self) -> &str {
        let ply = self.moves.last().map_or(0, |entry| entry.ply);
        let set = self.positions.last().filter(|set| set.ply == ply);
        let set = set.map(|set| &set.fen);
        set.or_else(|| self.moves.last().map(|entry| &entry.fen))
            .unwrap_or(&self.start_fen)
    }

    /// Removes `ply` and all later plies. Returns whether there were any.
    fn withdraw(&mut self, ply: u32) -> bool {
        let before = self.moves.len();
        self.moves.retain(|entry| entry.ply < ply);
        self.positions.retain(|set| set.ply < ply);
        self.moves.len() < before
    }

    fn mark(&mut self, ply: u32, mark: impl FnOnce(&mut MoveRecord)) -> bool {
        let entry = self.moves.iter_mut().rev().find(|entry| entry.ply == ply);
        entry.map(mark).is_some()
    }
}

impl MoveRecord {
    fn of(played: &Move) -> Self {
        Self {
            ply: played.ply,
            color: played.color,
            uci: played.uci.clone(),
            san: played.san.clone(),
            fen: played.fen.clone(),
            captured: played.captured.clone(),
            clock: played.clock,
            elapsed_ms: None,
            legal: played.legal,
            inferred: played.inferred,
            settled: None,
            completed: None,
            entered: None,
        }
    }
}

#[cfg(test)]
mod tests;
