//! View of all boards for arbiters: without delay and with every detail, so not for spectators.

mod paired;
mod rounds;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kiebitz_game::clock::Side;
use kiebitz_game::command::{Attend, Command, Order};
use kiebitz_game::events::pairing::PAIRINGS;
use kiebitz_game::events::record::GameRecord;
use kiebitz_game::events::{
    Action, ClosedBy, Decision, EndReason, Event, EventKind, GameResult, Incident, IncidentEnd,
    rfc3339_option, time_text,
};
use kiebitz_game::hall::ROUNDS;
use kiebitz_game::position::Seen;
use kiebitz_hardware::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};
use shakmaty::{Bitboard, Board, Square};

use super::squares::SquareTests;
use crate::clock::ClockView;
use crate::outputs::shared::advice;
use crate::outputs::shared::board_status::{BoardStatus, ClockSetting, HallDesk, Levers};
use crate::outputs::shared::record::BoardRecord;
use crate::tournament::Tournament;
use paired::Paired;
use rounds::Rounds;

#[derive(Debug, Default)]
pub(crate) struct Desk {
    boards: BTreeMap<String, DeskBoard>,
    changed: BTreeSet<String>,
    paired: Paired,
    rounds: Rounds,
    tests: SquareTests,
    /// Whether `tests` has changed since the last call of [`poll_tests`](Desk::poll_tests).
    tests_changed: bool,
    /// Whether the journal lacks an event that is shown.
    unkept: bool,
    /// Value of `unkept` in the last update.
    sent_unkept: bool,
}

/// An update for pages, as JSON.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum DeskUpdate {
    /// The fields of a board that changed, with its name.
    Board(String),
    /// The name of a board that is no longer shown.
    Gone(String),
    Pairings(String),
    /// The tables of a round that have changed.
    Round(String),
    /// Whether the journal has every event that is shown.
    Kept(String),
}

#[derive(Debug, Default)]
struct DeskBoard {
    /// Latest status; `None` if the board has not been seen since the program started.
    status: Option<BoardStatus>,
    record: BoardRecord,
    /// Endings of each closed incident, the oldest first. The later ones are decisions of arbiters.
    ended: BTreeMap<u64, Vec<IncidentEnding>>,
    /// Results that arbiters have set for the game, the oldest first.
    results: Vec<ResultSet>,
    /// Arbiters who are on their way, the first one first.
    going: Vec<Going>,
    /// Commands of people about the game that were carried out, the oldest first.
    commands: Vec<CommandDone>,
    /// Time at which each ply was made, the first one first.
    made: Vec<Timestamp>,
    /// Last time at which the board was disconnected; `None` while it answers.
    gone_since: Option<Timestamp>,
    /// Time since which the daemon of the board has been offline.
    away_since: Option<Timestamp>,
    /// Time since which the placement has differed from the game's.
    differs_since: Option<Timestamp>,
    /// Time of the first clock reading since which neither side's time runs; `None` while one runs or without a clock.
    stopped: Option<Timestamp>,
    /// Squares that were emptied or filled since the last update.
    seen: Seen,
    /// Fields as of the last update.
    sent: Map<String, Value>,
}

/// Fields of a board, as sent to pages.
#[derive(Debug, Serialize)]
struct DeskBoardView<'p> {
    board: &'p str,
    /// Table of the game, else the table that the board stands on, else the number in the board's name.
    table: Option<u32>,
    /// Table that the board stands on and whose pairings it gets.
    stands_at: Option<u32>,
    connected: bool,
    /// Time since which the board has not answered; `None` if it answers, or if that time is unknown.
    #[serde(serialize_with = "rfc3339_option")]
    gone_since: Option<Timestamp>,
    /// At a hub: the daemon of the board, if that daemon is offline.
    away: Option<&'p str>,
    /// At a hub: the daemon of the board, and the address of its desk.
    hall: Option<&'p HallDesk>,
    #[serde(serialize_with = "rfc3339_option")]
    away_since: Option<Timestamp>,
    port: Option<&'p str>,
    serial: Option<&'p str>,
    /// Other boards that report the same serial number; only the ports tell these boards apart.
    same_number: &'p [String],
    battery: Option<u8>,
    /// [Test of the squares](SquareTests::of); `None` if none has changed.
    squares: Option<String>,
    /// Placement that the sensors report, as the first field of a FEN; `None` while unknown.
    placement: Option<String>,
    /// Placement that the game expects; `None` before a start position was set up.
    game_placement: Option<String>,
    /// Squares on which the two placements differ.
    differs: Vec<String>,
    #[serde(serialize_with = "rfc3339_option")]
    differs_since: Option<Timestamp>,
    clock: Option<ClockView>,
    /// Time since which neither side's time runs; `None` while one runs or without a clock.
    #[serde(serialize_with = "rfc3339_option")]
    clock_stopped: Option<Timestamp>,
    /// Side on which the clock's lever is up, seen from its front; `None` if there is no clock.
    lever: Option<Side>,
    /// White's side of the clock; `None` while unknown.
    white_side: Option<Side>,
    /// Times on the left and the right side of the clock in milliseconds; `None` while it runs, and without a clock.
    standing_ms: Option<[u64; 2]>,
    /// Time control as typed; `None` if none is known.
    time_control: Option<String>,
    /// Between games: whether both sides of the clock show the time with which a game begins; else `None`.
    clock_fits: Option<bool>,
    game: Option<&'p GameRecord>,
    /// Time at which each ply of the game was made.
    made: Vec<String>,
    /// Open incidents, the oldest first.
    incidents: Vec<Opened<'p>>,
    /// Closed incidents of the game.
    past: Vec<PastIncident<'p>>,
    results: &'p [ResultSet],
    commands: &'p [CommandDone],
    going: &'p [Going],
    offences: Offences,
}

#[derive(Debug, Serialize)]
struct CommandDone {
    #[serde(flatten)]
    sender: Decision,
    #[serde(rename = "do")]
    action: Action,
    arguments: Value,
}

/// An arbiter who goes to a board.
#[derive(Debug, Serialize)]
struct Going {
    /// Number of the incident; `None` if the arbiter goes to the board for another reason.
    incident: Option<u64>,
    #[serde(flatten)]
    arbiter: Decision,
}

/// Number of offences of Article 7.5 that each player has completed.
#[derive(Debug, Serialize)]
struct Offences {
    white: u32,
    black: u32,
}

#[derive(Debug, Serialize)]
struct Opened<'i> {
    #[serde(flatten)]
    incident: &'i Incident,
    /// Advice, by language code.
    advice_in: BTreeMap<&'static str, String>,
    #[serde(serialize_with = "rfc3339_option")]
    since: Option<Timestamp>,
}

#[derive(Debug, Serialize)]
struct PastIncident<'i> {
    #[serde(flatten)]
    opened: Opened<'i>,
    #[serde(flatten)]
    ended: Option<&'i IncidentEnding>,
    /// Decisions of arbiters, the oldest first.
    decisions: Vec<&'i IncidentEnding>,
}

/// A result that an arbiter has set. Without a reason the game goes on.
#[derive(Debug, Serialize)]
struct ResultSet {
    #[serde(flatten)]
    decided: Decision,
    result: GameResult,
    reason: Option<EndReason>,
}

/// The ending of an incident, or a later decision on it.
#[derive(Debug, Serialize)]
struct IncidentEnding {
    #[serde(serialize_with = "rfc3339_option")]
    closed: Option<Timestamp>,
    by: ClosedBy,
    reason: IncidentEnd,
    counts: Option<bool>,
    decision: Option<String>,
    decided_by: Option<String>,
}

impl Desk {
    pub(crate) fn apply(&mut self, event: &Event) {
        self.rounds.apply(event);
        if is_record_of_rounds(&event.board) {
            return;
        }
        let board = self.boards.entry(event.board.clone()).or_default();
        let changed = board.record.apply(event);
        let mut needs_update = changed.games || changed.incidents;
        needs_update |= board.note(event);
        if needs_update {
            self.changed.insert(event.board.clone());
        }
    }

    /// Restores a board from its events in the journal.
    pub(crate) fn resume(&mut self, events: &[Event]) {
        events.iter().for_each(|event| self.apply(event));
    }

    pub(crate) fn set_status(&mut self, now: Timestamp, status: BoardStatus) {
        let name = status.name.clone();
        let board = self.boards.entry(name.clone()).or_default();
        let is_away = status.away.is_some();
        board.away_since = is_away.then(|| board.away_since.unwrap_or(now));
        let differs = status
            .expected
            .as_ref()
            .is_some_and(|expected| *expected != status.placement);
        board.differs_since = differs.then(|| board.differs_since.unwrap_or(now));
        board.seen.add(status.seen);
        self.tests_changed |= self.tests.record(now, &name, status.seen);
        let is_stopped = status.clock.running.is_none();
        board.stopped = status
            .clock
            .as_of
            .filter(|_| is_stopped)
            .map(|at| board.stopped.unwrap_or(at));
        board.status = Some(status);
        self.changed.insert(name);
    }

    pub(crate) fn set_pairings(&mut self, tournament: Arc<Tournament>) {
        self.rounds.set_pairings(Arc::clone(&tournament));
        // The names of a hub's halls give boards without a game their tables.
        self.changed.extend(self.boards.keys().cloned());
        self.paired.tournament = tournament;
    }

    /// Continues the tests of squares from before a restart.
    pub(super) fn resume_tests(&mut self, tests: SquareTests) {
        self.tests = tests;
    }

    /// Restarts the test of a board's squares.
    pub(super) fn restart_test(&mut self, board: &str) {
        if self.tests.restart(board) {
            self.tests_changed = true;
            self.changed.insert(board.to_owned());
        }
    }

    /// Returns the tests of squares if they have changed since the last call.
    pub(super) fn poll_tests(&mut self) -> Option<SquareTests> {
        core::mem::take(&mut self.tests_changed).then(|| self.tests.clone())
    }

    /// Sets the round whose pairings boards get.
    pub(crate) fn set_round(&mut self, round: Option<u32>) {
        self.paired.round = round;
    }

    /// Sets whether the journal has every event that is shown.
    pub(crate) const fn set_kept(&mut self, kept: bool) {
        self.unkept = !kept;
    }

    /// Returns the pairings of the round, as JSON.
    pub(crate) fn pairings(&self) -> String {
        self.paired.view()
    }

    /// Returns all rounds with their tables, as JSON.
    pub(crate) fn rounds(&self) -> String {
        self.rounds.all()
    }

    /// Returns all boards that are shown, as JSON.
    pub(crate) fn all(&self) -> String {
        let boards = self.boards.iter().filter(|(_, board)| !board.is_gone());
        let boards: Vec<Map<String, Value>> = boards
            .map(|(name, board)| board.view(name, self.tests.of(name), &self.paired.tournament))
            .collect();
        let mut all = serde_json::json!({ "boards": boards });
        if self.unkept {
            all["kept"] = false.into();
        }
        all.to_string()
    }

    /// Returns the changes since the last call.
    pub(crate) fn poll_changes(&mut self) -> Vec<DeskUpdate> {
        let names = core::mem::take(&mut self.changed);
        let changes = names.into_iter().filter_map(|name| {
            let board = self.boards.get_mut(&name)?;
            if board.is_gone() {
                board.sent.clear();
                let gone = serde_json::json!({ "board": name });
                return Some(DeskUpdate::Gone(gone.to_string()));
            }
            let view = board.view(&name, self.tests.of(&name), &self.paired.tournament);
            let seen = core::mem::take(&mut board.seen);
            let mut changes_of_board = view.clone();
            changes_of_board.retain(|field, value| board.sent.get(field) != Some(value));
            board.sent = view;
            changes_of_board.extend(squares_of(seen));
            if changes_of_board.is_empty() {
                return None;
            }
            changes_of_board.insert("board".to_owned(), name.into());
            Some(DeskUpdate::Board(Value::Object(changes_of_board).to_string()))
        });
        let changes: Vec<DeskUpdate> = changes.collect();
        let pairings = self.paired.poll_change().map(DeskUpdate::Pairings);
        let has_changed = core::mem::replace(&mut self.sent_unkept, self.unkept) != self.unkept;
        let kept =
            has_changed.then(|| DeskUpdate::Kept(serde_json::json!({ "kept": !self.unkept }).to_string()));
        // Pages must know that the journal lacks events before they show these events.
        let rounds = self.rounds.poll_changes().into_iter().map(DeskUpdate::Round);
        kept.into_iter()
            .chain(changes)
            .chain(pairings)
            .chain(rounds)
            .collect()
    }
}

impl DeskBoard {
    /// Applies an event to the fields that `record` does not have. Returns whether pages need an update.
    fn note(&mut self, event: &Event) -> bool {
        self.note_move(event);
        match &event.kind {
            EventKind::BoardDisconnected { .. } => self.set_gone(Some(event.ts)),
            EventKind::BoardConnected { .. } => self.set_gone(None),
            EventKind::IncidentOpened(_) => true,
            EventKind::IncidentClosed {
                incident,
                by,
                reason,
                counts,
                decision,
                decided_by,
                ..
            } => {
                let ended = IncidentEnding {
                    closed: Some(event.ts),
                    by: *by,
                    reason: *reason,
                    counts: *counts,
                    decision: decision.clone(),
                    decided_by: decided_by.clone(),
                };
                self.ended.entry(*incident).or_default().push(ended);
                self.going.retain(|going| going.incident != Some(*incident));
                true
            }
            EventKind::GameEnded {
                result,
                reason,
                decided_by: Some(by),
                ..
            } => self.note_result(event, by, *result, Some(*reason)),
            EventKind::GameAmended {
                by,
                result: Some(result),
                reason,
                ..
            } => self.note_result(event, by, *result, *reason),
            EventKind::GameStarted { .. } => {
                self.ended.clear();
                self.results.clear();
                self.commands.clear();
                self.going.retain(|going| going.incident.is_some());
                true
            }
            EventKind::CommandTaken {
                action,
                by,
                arguments,
                error: None,
                ..
            } => match action {
                Action::Attend => self.note_attendance(event),
                _ => self.note_command(event, by, *action, arguments),
            },
            _ => false,
        }
    }

    fn note_move(&mut self, event: &Event) {
        match &event.kind {
            EventKind::GameStarted { .. } => self.made.clear(),
            EventKind::MoveMade(_) | EventKind::MoveAmended { .. } | EventKind::MoveRetracted { .. }
                if self.is_of_game(event) =>
            {
                let plies = self.record.game().map_or(0, |game| game.moves.len());
                let ply = match &event.kind {
                    EventKind::MoveMade(played) | EventKind::MoveAmended { played, .. } => played.ply,
                    _ => 0,
                };
                self.made.truncate(plies);
                let at = event.at.unwrap_or(event.ts);
                match usize::try_from(ply)
                    .ok()
                    .and_then(|ply| self.made.get_mut(ply.checked_sub(1)?))
                {
                    Some(made) => *made = at,
                    None => self.made.resize(plies, at),
                }
            }
            _ => {}
        }
    }

    fn is_of_game(&self, event: &Event) -> bool {
        let game = self.record.game().map(|game| &game.game);
        game.is_some() && game == event.game.as_ref()
    }

    /// Sets the time since which the board has not answered. Returns whether this is a change.
    fn set_gone(&mut self, since: Option<Timestamp>) -> bool {
        let is_change = since.is_some() != self.gone_since.is_some();
        if is_change {
            self.gone_since = since;
        }
        is_change
    }

    /// Records a command about the game. Returns whether it is a person's and of the current game.
    fn note_command(&mut self, event: &Event, by: &str, action: Action, arguments: &Value) -> bool {
        let is_shown = by != PAIRINGS && self.is_of_game(event);
        if is_shown {
            let (by, at) = (by.to_owned(), event.ts);
            self.commands.push(CommandDone {
                sender: Decision { by, at },
                action,
                arguments: arguments.clone(),
            });
        }
        is_shown
    }

    /// Records that an arbiter goes to the board or no longer does. Returns whether the event is such a command.
    fn note_attendance(&mut self, event: &Event) -> bool {
        let Some(Command {
            by,
            order: Order::Attend(Attend { incident, going, .. }),
            ..
        }) = Command::taken(&event.kind)
        else {
            return false;
        };
        let is_same = |known: &Going| (known.incident, &known.arbiter.by) == (incident, &by);
        let was_going = self.going.iter().any(is_same);
        if going && !was_going {
            let arbiter = Decision { by, at: event.ts };
            self.going.push(Going { incident, arbiter });
        } else if !going {
            self.going.retain(|known| !is_same(known));
        }
        true
    }

    /// Records a result that an arbiter has set. Returns whether it belongs to the current game.
    fn note_result(
        &mut self,
        event: &Event,
        by: &str,
        result: GameResult,
        reason: Option<EndReason>,
    ) -> bool {
        let is_of_game = self.is_of_game(event);
        // Setting the same result again is not a decision.
        let is_same = |last: &ResultSet| (last.result, last.reason) == (result, reason);
        if is_of_game && !self.results.last().is_some_and(is_same) {
            let (by, at) = (by.to_owned(), event.ts);
            let decided = Decision { by, at };
            self.results.push(ResultSet {
                decided,
                result,
                reason,
            });
        }
        is_of_game
    }

    fn is_gone(&self) -> bool {
        self.status.as_ref().is_some_and(|status| status.forgotten)
    }

    /// Returns the fields for pages. `squares` is the state of the test of the squares.
    fn view(&self, name: &str, squares: Option<String>, tournament: &Tournament) -> Map<String, Value> {
        let game = self.record.game();
        let players = game.and_then(|game| game.players.as_ref());
        let status = self.status.as_ref();
        let connected = status.is_some_and(BoardStatus::is_there);
        let expected = status.and_then(|status| status.expected.as_ref());
        let levers = status.map_or_else(Levers::default, |status| status.levers);
        let setting = status.map(|status| &status.setting);
        let control = setting.and_then(|setting| setting.control.as_ref());
        let is_playing = game.is_some_and(|game| game.ended.is_none());
        let stands_at = status.and_then(|status| status.table);
        let opened = |incident| Opened {
            incident,
            advice_in: advice::in_all_languages(incident),
            since: self.record.since(incident),
        };
        let offences = self.record.incidents.offences();
        let view = DeskBoardView {
            board: name,
            table: players
                .and_then(|players| players.table)
                .or(stands_at)
                .or_else(|| tournament.table_of(name)),
            stands_at,
            connected,
            gone_since: self.gone_since.filter(|_| !connected),
            away: status.and_then(|status| status.away.as_deref()),
            hall: status.and_then(|status| status.hall.as_ref()),
            away_since: self.away_since,
            port: status.map(|status| &*status.port),
            serial: status.and_then(|status| status.serial.as_deref()),
            same_number: status.map_or(&[], |status| &status.same_number),
            battery: status.and_then(|status| status.battery).filter(|_| connected),
            squares,
            placement: status.map(|status| status.placement.board_fen().to_string()),
            game_placement: expected.map(|board| board.board_fen().to_string()),
            differs: status
                .zip(expected)
                .map(|(status, expected)| differing(&status.placement, expected))
                .unwrap_or_default(),
            differs_since: self.differs_since,
            clock: status.map(|status| status.clock),
            clock_stopped: self.stopped,
            lever: levers.up,
            white_side: levers.white,
            standing_ms: setting.and_then(|setting| setting.standing_ms),
            time_control: control
                .map(|control| control.typed().map_or_else(|| control.to_string(), str::to_owned)),
            clock_fits: setting.filter(|_| !is_playing).and_then(ClockSetting::fits),
            game,
            made: self.made.iter().copied().map(time_text).collect(),
            incidents: self.record.incidents.open().map(opened).collect(),
            past: self
                .record
                .incidents
                .past()
                .map(|incident| {
                    let ended = self.ended.get(&incident.incident).map_or(&[][..], Vec::as_slice);
                    PastIncident {
                        opened: opened(incident),
                        ended: ended.last(),
                        decisions: ended.iter().filter(|ended| ended.decided_by.is_some()).collect(),
                    }
                })
                .collect(),
            results: &self.results,
            commands: &self.commands,
            going: &self.going,
            offences: Offences {
                white: offences.white,
                black: offences.black,
            },
        };
        match serde_json::to_value(&view) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        }
    }
}

/// Whether this is not a board but a [record of rounds](ROUNDS). At a hub, the name of the daemon precedes it.
fn is_record_of_rounds(board: &str) -> bool {
    board.rsplit('/').next() == Some(ROUNDS)
}

/// Returns the squares that were emptied or filled, as fields of an update; no fields if there are none.
fn squares_of(seen: Seen) -> Map<String, Value> {
    let named =
        |squares: Bitboard| -> Value { squares.into_iter().map(|square| square.to_string()).collect() };
    let both = [("emptied", seen.emptied), ("filled", seen.filled)];
    let non_empty = both.into_iter().filter(|(_, squares)| squares.any());
    non_empty
        .map(|(field, squares)| (field.to_owned(), named(squares)))
        .collect()
}

/// Returns the squares with different contents on two boards.
fn differing(one: &Board, other: &Board) -> Vec<String> {
    let squares = Square::ALL.into_iter();
    let different = squares.filter(|square| one.piece_at(*square) != other.piece_at(*square));
    different.map(|square| square.to_string()).collect()
}

#[cfg(test)]
mod tests;
