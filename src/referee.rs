//! The referee: starts and ends games over the tracker's line, and leaves out what is no part of them.
//!
//! While the clock stands still nothing is added to a game and nothing is taken from it: what happens on the board
//! then is a result being shown, an arbiter's work, or analysis. When the clock runs again, the game follows what
//! stands.

mod ending;

use kiebitz_hardware::Timestamp;
use shakmaty::{Color, KnownOutcome, Role};

use crate::event::{Clock, EventKind, Move, time_text};
use crate::resume::Resumed;
use crate::tracker::{
    ClockChange, ClockFace, Completion, Finding, Ply, Recovery, ResultSign, Settlement, Side, Start, Variant,
    Withdrawal,
};

/// One thing the referee says: the event, the game it belongs to, and when it happened on the board.
#[derive(Debug, Clone)]
pub struct Ruling {
    /// What decided it arrived then.
    pub ts: Timestamp,
    /// When it happened on the board, where the board tells.
    pub at: Option<Timestamp>,
    /// `None` outside a game.
    pub game: Option<Game>,
    /// The event.
    pub event: EventKind,
    /// The ply behind a move's event, with what it rests on.
    pub ply: Option<Box<Ply>>,
}

/// A game's number on its board and its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Game {
    /// From 1.
    pub number: u32,
    /// Day, board and number, as in "2026-11-21-board-1-2".
    pub id: String,
}

/// Applies the Laws to one board's line of play.
#[derive(Debug, Default)]
pub struct Referee {
    board: String,
    start: Option<Start>,
    /// The game that the line goes on with, cut off by a gap.
    continues: Option<String>,
    /// The line as the tracker has it.
    line: Vec<Entry>,
    /// How many games began on this board.
    games: u32,
    game: Option<Running>,
    clock: ClockState,
    white_side: Option<Side>,
    rulings: Vec<Ruling>,
}

/// A game that has begun.
#[derive(Debug)]
struct Running {
    id: Game,
    /// The plies published, each as in the line when it was published.
    published: Vec<Entry>,
    ended: bool,
}

#[derive(Debug, Clone)]
struct Entry {
    ply: Box<Ply>,
    told_at: Timestamp,
    settled: Option<&'static str>,
    completed: Option<(&'static str, Option<Clock>, Option<u64>)>,
}

#[derive(Debug, Default)]
struct ClockState {
    connected: bool,
    running: bool,
    /// It has run since the start position was set up.
    ran: bool,
    stopped_at: Option<Timestamp>,
}

/// So many plies played beside a clock that was never started: the players play without it.
const WITHOUT_CLOCK: usize = 4;
/// So many plies from a position without history, beside no clock, are a game.
const FROM_POSITION: usize = 3;
/// Moves made before the clock was started and taken back (guests of honour), at most.
const CEREMONIAL: usize = 2;

impl Referee {
    /// A referee at a board of that name, without a game.
    #[must_use]
    pub fn new(board: &str) -> Self {
        Self {
            board: board.to_owned(),
            ..Self::default()
        }
    }

    /// Goes on with a game that the journal has.
    pub fn resume(&mut self, resumed: Resumed) {
        let entries = resumed.plies.into_iter().map(|(ply, record)| Entry {
            ply: Box::new(ply),
            told_at: resumed.last_ts,
            settled: record.settled,
            completed: record.completed.map(|by| (by, record.clock, record.elapsed_ms)),
        });
        self.line = entries.collect();
        self.start = Some(resumed.start);
        self.white_side = resumed.white_side;
        self.games = resumed.number;
        self.game = Some(Running {
            id: Game {
                number: resumed.number,
                id: resumed.id,
            },
            published: self.line.clone(),
            ended: resumed.ended,
        });
    }

    /// Takes in what the tracker has found.
    pub fn handle(&mut self, now: Timestamp, finding: Finding) {
        match finding {
            Finding::Start(start) => self.start_set_up(now, start),
            Finding::Made(ply) => self.played(now, ply, "moved_on"),
            Finding::Amended { ply, reason } => self.played(now, ply, reason_text(reason)),
            Finding::Retracted { ply, reason } => {
                self.line.truncate(index(ply));
                // Kings on their way to the centre were never a move, clock or no clock.
                if reason == Withdrawal::Kings {
                    self.withdraw_surplus(now, reason_text(reason));
                } else {
                    self.follow(now, reason_text(reason));
                }
            }
            Finding::Settled { ply, by } => {
                let by = settlement_text(by);
                self.mark(now, ply, |entry| entry.settled = Some(by));
            }
            Finding::Completed {
                ply,
                by,
                clock,
                elapsed,
            } => {
                let by = completion_text(by);
                let elapsed = elapsed.and_then(|e| u64::try_from(e.as_millis()).ok());
                self.mark(now, ply, |entry| {
                    entry.completed = Some((by, clock.map(clock_of), elapsed))
                });
            }
            Finding::ResultShown { outcome, by } => self.result_shown(now, outcome, by),
            Finding::Recovered {
                by,
                changes,
                from,
                to,
            } => {
                let by = recovery_text(by);
                let event = EventKind::BoardRecovered {
                    by,
                    changes,
                    from,
                    to,
                };
                self.say(now, None, event, None);
            }
            Finding::Clock(change) => self.clock_changed(now, change),
            Finding::WhiteSide(side) => self.white_side = Some(side),
        }
    }

    /// The game that is being played.
    #[must_use]
    pub fn game(&self) -> Option<&Game> {
        self.game.as_ref().filter(|game| !game.ended).map(|game| &game.id)
    }

    /// What there is to say, in order.
    pub fn take_rulings(&mut self) -> Vec<Ruling> {
        std::mem::take(&mut self.rulings)
    }

    fn say(&mut self, ts: Timestamp, at: Option<Timestamp>, event: EventKind, ply: Option<Box<Ply>>) {
        let game = self.game.as_ref().map(|game| game.id.clone());
        self.rulings.push(Ruling {
            ts,
            at,
            game,
            event,
            ply,
        });
    }

    /// The line goes on, or goes another way, with this ply.
    fn played(&mut self, now: Timestamp, ply: Box<Ply>, reason: &'static str) {
        self.line.truncate(index(ply.number));
        self.line.push(Entry {
            ply,
            told_at: now,
            settled: None,
            completed: None,
        });
        self.follow(now, reason);
    }

    fn start_set_up(&mut self, now: Timestamp, start: Start) {
        let ceremonial = self
            .game
            .as_ref()
            .is_some_and(|game| !game.ended && !self.clock.ran && game.published.len() <= CEREMONIAL);
        let same = self
            .start
            .as_ref()
            .is_some_and(|old| old.state.board() == start.state.board());
        self.line.clear();
        if start.goes_on && self.game.is_some() {
            self.cut_off(now);
        } else if ceremonial && same {
            self.withdraw_surplus(now, "takeback");
        } else {
            if self.game().is_some() {
                self.withdraw_uncertain(now);
                self.end(now, "*".to_owned(), "reset", "board", false);
            }
            self.game = None;
        }
        if !start.goes_on {
            self.clock.ran = self.clock.running;
            self.clock.stopped_at = None;
        }
        self.start = Some(start);
    }

    /// What was played in a gap cannot be found out: the game as far as it is known ends there, and the next one goes
    /// on with it. A game that had ended stays ended.
    fn cut_off(&mut self, now: Timestamp) {
        if let Some(game) = self.game().cloned() {
            self.end(now, "*".to_owned(), "gap", "board", false);
            self.game = None;
            self.continues = Some(game.id);
        }
    }

    fn clock_changed(&mut self, now: Timestamp, change: ClockChange) {
        let event = match change {
            ClockChange::Connected => {
                self.clock = ClockState {
                    connected: true,
                    ..ClockState::default()
                };
                EventKind::ClockConnected {}
            }
            ClockChange::Disconnected => {
                self.clock = ClockState::default();
                EventKind::ClockDisconnected {}
            }
            ClockChange::BatteryLow => EventKind::ClockBatteryLow {},
            ClockChange::Started => {
                self.clock.running = true;
                self.clock.ran = true;
                self.clock.stopped_at = None;
                if self.game.is_none() && self.start.is_some() && self.line.is_empty() {
                    self.begin(now);
                }
                self.follow(now, "takeback");
                return;
            }
            ClockChange::Stopped => {
                self.clock.running = false;
                self.clock.stopped_at = Some(now);
                return;
            }
            ClockChange::Pressed(_) => return,
        };
        self.say(now, None, event, None);
    }

    /// Whether a ply may be part of the game: not if it was begun while the clock stood still.
    fn counts(&self, ply: &Ply) -> bool {
        // A board found in some position may be no game at all: the clock tells, or that play goes on.
        let found = self
            .start
            .as_ref()
            .is_some_and(|start| start.variant == Variant::FromPosition && !start.goes_on);
        if found && !self.clock.ran && (self.clock.connected || self.line.len() < FROM_POSITION) {
            return false;
        }
        if !self.clock.connected || self.clock.running {
            return true;
        }
        match self.clock.stopped_at {
            Some(stopped) => ply.lifted_at < stopped,
            None => !self.clock.ran && self.line.len() >= WITHOUT_CLOCK,
        }
    }

    /// Brings the game as published up to the line, as far as the line counts.
    fn follow(&mut self, now: Timestamp, reason: &'static str) {
        if self.game.as_ref().is_some_and(|game| game.ended) || self.start.is_none() {
            return;
        }
        let counted = self
            .line
            .iter()
            .take_while(|entry| self.counts(&entry.ply))
            .count();
        let standing_still = self.clock.connected && !self.clock.running && self.clock.stopped_at.is_some();
        if self.game.is_none() {
            if counted == 0 {
                return;
            }
            self.begin(now);
        }
        let Some(game) = &self.game else { return };
        let same = |(old, new): &(&Entry, &Entry)| old.ply.uci == new.ply.uci && old.told_at == new.told_at;
        let common = game.published.iter().zip(&self.line).take_while(same).count();
        // Pieces being set up or cleared away can look like another line; what is certain stands until the clock runs.
        let certain = game
            .published
            .get(common)
            .is_some_and(|entry| entry.settled.is_some());
        if standing_still && (certain || (common < game.published.len() && common >= counted)) {
            return;
        }
        let replaced = game
            .published
            .get(common)
            .map(|entry| entry.ply.uci.map(|uci| uci.to_string()));
        for at in common..counted {
            let entry = self.line[at].clone();
            let replaces = replaced.clone().filter(|_| at == common);
            self.publish(now, entry, replaces, reason);
        }
        if counted <= common {
            self.withdraw_surplus(now, reason);
        }
    }

    fn begin(&mut self, now: Timestamp) {
        let Some(start) = &self.start else { return };
        let event = EventKind::GameStarted {
            start_fen: start.state.fen(),
            variant: match start.variant {
                Variant::Standard => "standard",
                Variant::Chess960 => "chess960",
                Variant::FromPosition => "from_position",
            },
            orientation: if start.turned { "turned" } else { "normal" },
            continues: self.continues.take(),
            white_side: self.white_side.map(side_text),
            laws: None,
            mode: None,
            players: None,
            time_control: None,
        };
        self.games += 1;
        let began = time_text(now);
        let day = began.split('T').next().unwrap_or_default();
        let id = Game {
            number: self.games,
            id: format!("{day}-{}-{}", self.board, self.games),
        };
        self.game = Some(Running {
            id,
            published: Vec::new(),
            ended: false,
        });
        self.say(now, None, event, None);
    }

    fn publish(
        &mut self,
        now: Timestamp,
        entry: Entry,
        replaces: Option<Option<String>>,
        reason: &'static str,
    ) {
        let ply = entry.ply.clone();
        let played = move_of(&ply);
        let at = Some(ply.stood_at).filter(|at| *at != now);
        let event = match replaces {
            Some(replaces) => EventKind::MoveAmended {
                played,
                replaces,
                reason,
            },
            None => EventKind::MoveMade(played),
        };
        if let Some(game) = &mut self.game {
            game.published.truncate(index(ply.number));
            game.published.push(Entry {
                settled: None,
                completed: None,
                ..entry.clone()
            });
        }
        let number = ply.number;
        self.say(now, at, event, Some(ply));
        self.tell_marks(now, number, &entry);
    }

    /// Withdraws what was published beyond the line.
    fn withdraw_surplus(&mut self, now: Timestamp, reason: &'static str) {
        let keep = self.line.len();
        let Some(game) = &mut self.game else { return };
        if game.ended || game.published.len() <= keep {
            return;
        }
        let ply = game.published[keep].ply.number;
        game.published.truncate(keep);
        self.say(now, None, EventKind::MoveRetracted { ply, reason }, None);
    }

    /// Pieces on their way back to the start position can look like moves: what was not certain by then was none.
    fn withdraw_uncertain(&mut self, now: Timestamp) {
        let Some(game) = &mut self.game else { return };
        let certain = game.published.iter().rposition(|entry| entry.settled.is_some());
        let keep = certain.map_or(0, |last| last + 1);
        if let Some(entry) = game.published.get(keep) {
            let ply = entry.ply.number;
            game.published.truncate(keep);
            let reason = "set_up";
            self.say(now, None, EventKind::MoveRetracted { ply, reason }, None);
        }
    }

    /// Notes that a ply of the line is settled or completed, and says so if it is published.
    fn mark(&mut self, now: Timestamp, ply: u32, mark: impl Fn(&mut Entry)) {
        let Some(entry) = self.line.get_mut(index(ply)) else {
            return;
        };
        mark(entry);
        let entry = entry.clone();
        self.tell_marks(now, ply, &entry);
    }

    /// Says of a published ply what its entry in the line has more than what was said.
    fn tell_marks(&mut self, now: Timestamp, ply: u32, entry: &Entry) {
        let Some(game) = &mut self.game else { return };
        let Some(said) = game
            .published
            .get_mut(index(ply))
            .filter(|said| said.told_at == entry.told_at)
        else {
            return;
        };
        if game.ended {
            return;
        }
        let settled = entry.settled.filter(|_| said.settled.is_none());
        let completed = entry.completed.filter(|_| said.completed.is_none());
        said.settled = entry.settled;
        said.completed = entry.completed;
        if let Some(by) = settled {
            self.say(now, None, EventKind::MoveSettled { ply, by }, None);
        }
        if let Some((by, clock, elapsed_ms)) = completed {
            self.say(
                now,
                None,
                EventKind::MoveCompleted {
                    ply,
                    by,
                    clock,
                    elapsed_ms,
                },
                None,
            );
        }
        if settled.is_some() {
            self.look_for_end(now);
        }
    }

    fn result_shown(&mut self, now: Timestamp, outcome: KnownOutcome, by: ResultSign) {
        let reason = match by {
            ResultSign::Kings => "kings",
            ResultSign::Piece => "result_piece",
        };
        if self
            .game
            .as_ref()
            .is_some_and(|game| !game.ended && !game.published.is_empty())
        {
            self.end(now, outcome.to_string(), reason, "board", false);
        }
    }

    fn end(
        &mut self,
        now: Timestamp,
        result: String,
        reason: &'static str,
        by: &'static str,
        confirmed: bool,
    ) {
        self.say(
            now,
            None,
            EventKind::GameEnded {
                result,
                reason,
                by,
                confirmed,
            },
            None,
        );
        if let Some(game) = &mut self.game {
            game.ended = true;
        }
    }
}

fn index(ply: u32) -> usize {
    usize::try_from(ply).unwrap_or(usize::MAX).saturating_sub(1)
}

fn move_of(ply: &Ply) -> Move {
    Move {
        ply: ply.number,
        color: color_text(ply.color),
        uci: ply.uci.map(|uci| uci.to_string()),
        san: ply.san.clone(),
        fen: ply.after.fen(),
        captured: ply.captured.map(|role: Role| role.char().to_string()),
        clock: ply.clock.map(clock_of),
        legal: ply.played.is_some(),
        inferred: ply.inferred,
        order_certain: !ply.any_order,
    }
}

pub(crate) fn clock_of(face: ClockFace) -> Clock {
    Clock {
        white_ms: face.white_ms,
        black_ms: face.black_ms,
        running: face.running.map(color_text),
        flag: match (face.flags.white, face.flags.black) {
            (false, false) => None,
            (true, false) => Some("white"),
            (false, true) => Some("black"),
            (true, true) => Some("both"),
        },
    }
}

pub(crate) fn color_text(color: Color) -> &'static str {
    color.fold_wb("white", "black")
}

pub(crate) fn side_text(side: Side) -> &'static str {
    match side {
        Side::Left => "left",
        Side::Right => "right",
    }
}

fn reason_text(reason: Withdrawal) -> &'static str {
    match reason {
        Withdrawal::MovedOn => "moved_on",
        Withdrawal::Takeback => "takeback",
        Withdrawal::IllegalRestored => "illegal_restored",
        Withdrawal::Kings => "kings",
        Withdrawal::Recovered => "recovered",
    }
}

fn recovery_text(by: Recovery) -> &'static str {
    match by {
        Recovery::Memory => "memory",
        Recovery::Inferred => "inferred",
        Recovery::Undecidable => "undecidable",
    }
}

fn settlement_text(by: Settlement) -> &'static str {
    match by {
        Settlement::Press => "press",
        Settlement::Reply => "reply",
        Settlement::Shape => "shape",
    }
}

fn completion_text(by: Completion) -> &'static str {
    match by {
        Completion::Press => "press",
        Completion::OwnNextMove => "own_next_move",
    }
}
