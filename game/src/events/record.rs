//! The game that follows from its events: the source of the game topic, PGN and reports.

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

/// One game: a projection of its events, complete at every moment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GameRecord {
    /// Its id, as in the events.
    pub game: String,
    /// The board it is played on.
    pub board: String,
    /// The stream of events that it was read from.
    pub stream: String,
    /// Counts the changes: a client that has this revision has the whole of it.
    pub revision: u64,
    /// When it was started.
    #[serde(serialize_with = "rfc3339")]
    pub started: Timestamp,
    /// When it ended; `None` while it is played.
    #[serde(serialize_with = "rfc3339_option")]
    pub ended: Option<Timestamp>,
    /// Names of the players, once they are known.
    pub players: Option<Players>,
    /// The time control, once it is known.
    pub time_control: Option<String>,
    /// The time control as it was typed, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_control_typed: Option<String>,
    /// The name of the event that it is played in, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// Where that takes place, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// The number of the round, from 1, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// The start position.
    pub start_fen: String,
    /// The kind of game.
    pub variant: Variant,
    /// Where White sits.
    pub orientation: Orientation,
    /// White's side of the clock, once known.
    pub white_side: Option<Side>,
    /// Edition of the Laws.
    pub laws: Option<Edition>,
    /// Mode of play.
    pub mode: Option<Mode>,
    /// The plies, none of them withdrawn.
    pub moves: Vec<MoveRecord>,
    /// The position after the last ply.
    pub fen: String,
    /// The result; [`GameResult::Unknown`] while it is played and where nobody knows.
    pub result: GameResult,
    /// What ended it; `None` while it is played.
    pub reason: Option<EndReason>,
    /// Who or what decided it; `None` while it is played.
    pub by: Option<DecidedBy>,
    /// Which arbiter decided it, and when; `None` where it was not an arbiter. Spectators do not get it.
    #[serde(skip_serializing)]
    pub decided: Option<Decision>,
    /// The result stands; false while the Laws want the arbiter's word on it.
    pub confirmed: bool,
    /// False: nobody watched how it ended; see [`EventKind::GameEnded`].
    #[serde(skip_serializing_if = "core::clone::Clone::clone")]
    pub end_certain: bool,
    /// Positions from which the arbiter let the game go on, where they were not those of the moves; mostly none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub positions: Vec<PositionRecord>,
    /// What the arbiter noted, oldest first; mostly nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<NoteRecord>,
    /// Who changed moves last.
    #[serde(skip)]
    amender: Option<Decision>,
}

/// A position that the arbiter set during a game.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PositionRecord {
    /// The ply after which it stood; 0 before the first.
    pub ply: u32,
    /// The position.
    pub fen: String,
}

/// A note of the arbiter's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NoteRecord {
    /// When it was made.
    #[serde(serialize_with = "rfc3339")]
    pub at: Timestamp,
    /// By whom.
    pub by: String,
    /// The last ply at that time; 0 before the first.
    pub ply: u32,
    /// The text of the note.
    pub text: String,
}

/// One ply of a game.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MoveRecord {
    /// 1 is the first of the game.
    pub ply: u32,
    /// Who played it.
    #[serde(serialize_with = "color::serialize")]
    pub color: Color,
    /// UCI; `None` where irregular play was more than one piece going from one square to another.
    pub uci: Option<String>,
    /// English SAN; `None` for irregular play.
    pub san: Option<String>,
    /// The position after it.
    pub fen: String,
    /// Letter of the captured piece: p, n, b, r, q.
    pub captured: Option<String>,
    /// The clock when the ply was completed, before that when it was made.
    pub clock: Option<Clock>,
    /// The mover's time for it, in milliseconds.
    pub elapsed_ms: Option<u64>,
    /// False for an irregular move.
    pub legal: bool,
    /// Found by reconstruction over a gap, not watched.
    pub inferred: bool,
    /// What settled it; `None`: it may still be corrected.
    pub settled: Option<SettledBy>,
    /// What completed it in the sense of the Laws; `None`: not yet.
    pub completed: Option<CompletedBy>,
    /// Which arbiter entered it, and when; `None` if it was seen on the board.
    #[serde(skip)]
    pub entered: Option<Decision>,
}

/// The current game of one board: the one being played, and after its end until the next one starts, the last one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Games {
    current: Option<GameRecord>,
}

impl Games {
    /// For a board without events.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// For a board whose current game is known.
    #[must_use]
    pub fn with(game: GameRecord) -> Self {
        Self { current: Some(game) }
    }

    /// The current game.
    #[must_use]
    pub fn current(&self) -> Option<&GameRecord> {
        self.current.as_ref()
    }

    /// Takes in the board's next event. Returns whether the current game is another than before.
    pub fn apply(&mut self, event: &Event) -> bool {
        if let Some(game) = GameRecord::from_started(event) {
            self.current = Some(game);
            return true;
        }
        self.current.as_mut().is_some_and(|game| game.apply(event))
    }
}

impl GameRecord {
    /// The game that a `game.started` starts; `None` for other events.
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

    /// The game of these events, of which the first starts it; `None` where it does not.
    #[must_use]
    pub fn of(events: &[Event]) -> Option<Self> {
        let (first, rest) = events.split_first()?;
        let mut record = Self::from_started(first)?;
        for event in rest {
            record.apply(event);
        }
        Some(record)
    }

    /// Takes in the next event. Returns whether it changed the game; events of other games do not.
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

    /// Takes in what the arbiter changed. Moves have events of their own. Returns whether that changed the game.
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
            // Who sets the same result once more has not decided it.
            if !is_as_before || self.decided.is_none() {
                let (by, at) = (by.clone(), event.ts);
                self.decided = reason.map(|_| Decision { by, at });
            }
            // Without a reason the game goes on.
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
        let stood = |fen: &str| self.start_fen == fen || self.moves.iter().any(|entry| entry.fen == fen);
        if let Some(fen) = position.clone().filter(|fen| !stood(fen)) {
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

    /// The position that is due.
    fn last_fen(&self) -> &str {
        let ply = self.moves.last().map_or(0, |entry| entry.ply);
        let set = self.positions.last().filter(|set| set.ply == ply);
        let set = set.map(|set| &set.fen);
        set.or_else(|| self.moves.last().map(|entry| &entry.fen))
            .unwrap_or(&self.start_fen)
    }

    /// Takes back `ply` and all later ones. Returns whether there were any.
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
