//! All boards as the arbiter sees them at the desk: without delay, and with everything that is known of them. Nothing of
//! it is for spectators.

mod paired;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kiebitz_game::clock::Side;
use kiebitz_game::events::record::GameRecord;
use kiebitz_game::events::{
    ClosedBy, Decision, EndReason, Event, EventKind, GameResult, Incident, IncidentEnd, rfc3339_option,
};
use kiebitz_game::position::Seen;
use kiebitz_hardware::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};
use shakmaty::{Bitboard, Board, Square};

use crate::clock::ClockView;
use crate::outputs::shared::advice;
use crate::outputs::shared::board_status::{BoardStatus, Levers};
use crate::outputs::shared::record::BoardRecord;
use crate::tournament::{Tournament, table_of};
use paired::Paired;

/// All boards.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    boards: BTreeMap<String, DeskBoard>,
    changed: BTreeSet<String>,
    paired: Paired,
    /// The journal lacks something of what is shown, and whether that was told.
    unkept: bool,
    told_unkept: bool,
}

/// What has changed, as JSON.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum DeskUpdate {
    /// Of a board: its name, and what is otherwise than before.
    Board(String),
    /// A board is not to be seen any more: its name.
    Gone(String),
    /// The round's pairings.
    Pairings(String),
    /// Whether the journal has all that is shown.
    Kept(String),
}

/// A board.
#[derive(Debug, Default)]
struct DeskBoard {
    /// How it is; `None`: it was not there since the program was started.
    status: Option<BoardStatus>,
    record: BoardRecord,
    /// How each that is over ended, and what arbiters decided since, the oldest first.
    ended: BTreeMap<u64, Vec<IncidentEnding>>,
    /// The results that arbiters have set for the game, the oldest first.
    results: Vec<ResultSet>,
    /// What its squares did since something was told.
    seen: Seen,
    /// What was told of it last.
    told: Map<String, Value>,
}

/// What is told of a board.
#[derive(Debug, Serialize)]
struct DeskBoardView<'p> {
    board: &'p str,
    /// Of its game, else that at which it stands.
    table: Option<u32>,
    /// The table that it stands at, and whose pairings it gets.
    stands_at: Option<u32>,
    connected: bool,
    /// At a hub: the daemon that has it, where it is not there.
    away: Option<&'p str>,
    port: Option<&'p str>,
    serial: Option<&'p str>,
    /// The other boards that report the same number: only their ports tell them apart.
    same_number: &'p [String],
    battery: Option<u8>,
    /// What the sensors show, as the first field of a FEN; `None`: nobody knows.
    placement: Option<String>,
    /// What the game expects; `None` before a start position was set up.
    game_placement: Option<String>,
    /// The squares on which the two differ.
    differs: Vec<String>,
    clock: Option<ClockView>,
    /// The side on which the clock's lever is up, seen from its front; `None`: there is no clock.
    lever: Option<Side>,
    /// White's side of it; `None`: nobody knows.
    white_side: Option<Side>,
    game: Option<&'p GameRecord>,
    /// The open incidents, the oldest first.
    incidents: Vec<Opened<'p>>,
    /// Those of the game that are over.
    past: Vec<PastIncident<'p>>,
    /// The results that arbiters have set for the game, the oldest first.
    results: &'p [ResultSet],
    offences: Offences,
}

/// How many offences of Article 7.5 each player has completed.
#[derive(Debug, Serialize)]
struct Offences {
    white: u32,
    black: u32,
}

/// An incident, with when it was opened.
#[derive(Debug, Serialize)]
struct Opened<'i> {
    #[serde(flatten)]
    incident: &'i Incident,
    /// Its advice, by the code of each language.
    advice_in: BTreeMap<&'static str, String>,
    #[serde(serialize_with = "rfc3339_option")]
    since: Option<Timestamp>,
}

/// An incident that is over.
#[derive(Debug, Serialize)]
struct PastIncident<'i> {
    #[serde(flatten)]
    opened: Opened<'i>,
    #[serde(flatten)]
    ended: Option<&'i IncidentEnding>,
    /// The decisions of arbiters, the oldest first.
    decisions: Vec<&'i IncidentEnding>,
}

/// A result that an arbiter has set; without a reason the game goes on.
#[derive(Debug, Serialize)]
struct ResultSet {
    #[serde(flatten)]
    decided: Decision,
    result: GameResult,
    reason: Option<EndReason>,
}

/// How an incident ended, or was decided last.
#[derive(Debug, Serialize)]
struct IncidentEnding {
    #[serde(serialize_with = "rfc3339_option")]
    closed: Option<Timestamp>,
    by: ClosedBy,
    reason: IncidentEnd,
    counts: Option<bool>,
    decision: Option<String>,
    /// The arbiter who decided.
    decided_by: Option<String>,
}

impl Desk {
    /// Takes in an event.
    pub(crate) fn take(&mut self, event: &Event) {
        let board = self.boards.entry(event.board.clone()).or_default();
        let changed = board.record.take(event);
        let mut is_news = changed.games || changed.incidents;
        is_news |= board.note(event);
        if is_news {
            self.changed.insert(event.board.clone());
        }
    }

    /// Goes on with what the journal has of a board.
    pub(crate) fn resume(&mut self, events: &[Event]) {
        events.iter().for_each(|event| self.take(event));
    }

    /// A board is so.
    pub(crate) fn see(&mut self, status: BoardStatus) {
        let name = status.name.clone();
        let board = self.boards.entry(name.clone()).or_default();
        board.seen.add(status.seen);
        board.status = Some(status);
        self.changed.insert(name);
    }

    /// These are the pairings from now on.
    pub(crate) fn pair(&mut self, tournament: Arc<Tournament>) {
        self.paired.tournament = tournament;
    }

    /// Boards get pairings of this round from now on.
    pub(crate) fn set_round(&mut self, round: Option<u32>) {
        self.paired.round = round;
    }

    /// Notes whether the journal has all that is shown.
    pub(crate) const fn keep(&mut self, kept: bool) {
        self.unkept = !kept;
    }

    /// The round's pairings, as JSON.
    pub(crate) fn pairings(&self) -> String {
        self.paired.view()
    }

    /// All boards that are to be seen, as JSON.
    pub(crate) fn all(&self) -> String {
        let boards = self.boards.iter().filter(|(_, board)| !board.is_gone());
        let boards: Vec<Map<String, Value>> = boards.map(|(name, board)| board.view(name)).collect();
        let mut all = serde_json::json!({ "boards": boards });
        if self.unkept {
            all["kept"] = false.into();
        }
        all.to_string()
    }

    /// What has changed since this was asked last.
    pub(crate) fn poll_changes(&mut self) -> Vec<DeskUpdate> {
        let names = core::mem::take(&mut self.changed);
        let changes = names.into_iter().filter_map(|name| {
            let board = self.boards.get_mut(&name)?;
            if board.is_gone() {
                board.told.clear();
                let gone = serde_json::json!({ "board": name });
                return Some(DeskUpdate::Gone(gone.to_string()));
            }
            let view = board.view(&name);
            let seen = core::mem::take(&mut board.seen);
            let mut news = view.clone();
            news.retain(|field, value| board.told.get(field) != Some(value));
            board.told = view;
            news.extend(squares_of(seen));
            if news.is_empty() {
                return None;
            }
            news.insert("board".to_owned(), name.into());
            Some(DeskUpdate::Board(Value::Object(news).to_string()))
        });
        let changes: Vec<DeskUpdate> = changes.collect();
        let pairings = self.paired.poll_change().map(DeskUpdate::Pairings);
        let is_other = core::mem::replace(&mut self.told_unkept, self.unkept) != self.unkept;
        let kept =
            is_other.then(|| DeskUpdate::Kept(serde_json::json!({ "kept": !self.unkept }).to_string()));
        // What is not kept is shown after it is said that it is not.
        kept.into_iter().chain(changes).chain(pairings).collect()
    }
}

impl DeskBoard {
    /// Notes how incidents ended. Returns whether that is news.
    fn note(&mut self, event: &Event) -> bool {
        match &event.kind {
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
                true
            }
            _ => false,
        }
    }

    /// Notes a result that an arbiter has set. Returns whether it is of the game.
    fn note_result(
        &mut self,
        event: &Event,
        by: &str,
        result: GameResult,
        reason: Option<EndReason>,
    ) -> bool {
        let game = self.record.game().map(|game| &game.game);
        let is_of_game = game.is_some() && game == event.game.as_ref();
        // Who sets the same result once more has not decided it.
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

    fn view(&self, name: &str) -> Map<String, Value> {
        let game = self.record.game();
        let players = game.and_then(|game| game.players.as_ref());
        let status = self.status.as_ref();
        let connected = status.is_some_and(BoardStatus::is_there);
        let expected = status.and_then(|status| status.expected.as_ref());
        let levers = status.map_or_else(Levers::default, |status| status.levers);
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
                .or_else(|| table_of(name)),
            stands_at,
            connected,
            away: status.and_then(|status| status.away.as_deref()),
            port: status.map(|status| &*status.port),
            serial: status.and_then(|status| status.serial.as_deref()),
            same_number: status.map_or(&[], |status| &status.same_number),
            battery: status.and_then(|status| status.battery).filter(|_| connected),
            placement: status.map(|status| status.placement.board_fen().to_string()),
            game_placement: expected.map(|board| board.board_fen().to_string()),
            differs: status
                .zip(expected)
                .map(|(status, expected)| differing(&status.placement, expected))
                .unwrap_or_default(),
            clock: status.map(|status| status.clock),
            lever: levers.up,
            white_side: levers.white,
            game,
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

/// What squares did, as fields of what is told; none where they did nothing.
fn squares_of(seen: Seen) -> Map<String, Value> {
    let named =
        |squares: Bitboard| -> Value { squares.into_iter().map(|square| square.to_string()).collect() };
    let both = [("emptied", seen.emptied), ("filled", seen.filled)];
    let some = both.into_iter().filter(|(_, squares)| squares.any());
    some.map(|(field, squares)| (field.to_owned(), named(squares)))
        .collect()
}

/// The squares that have other contents on one board than on another.
fn differing(one: &Board, other: &Board) -> Vec<String> {
    let squares = Square::ALL.into_iter();
    let other_there = squares.filter(|square| one.piece_at(*square) != other.piece_at(*square));
    other_there.map(|square| square.to_string()).collect()
}

#[cfg(test)]
mod tests;
