//! Pieces touched and not moved, as far as a board can see it: lifted and put back, released and moved on, taken back.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{Bitboard, ByColor, Square};

use super::book::{Number, Report, ResumedIncident};
use super::moves::Moves;
use super::trace::Absence;
use super::{Desk, News};
use crate::events::{ClosedBy, IncidentEnd};
use crate::laws::{Situation, Touch};
use crate::referee::LineEntry;
use crate::tracker::{Completion, State, Withdrawal, difference};

/// A piece that is off its square for at least this long is not just being adjusted.
const MIN_HELD: Duration = Duration::from_millis(800);
/// A piece that stands for at least this long has not just paused on its way.
const MIN_RELEASED: Duration = Duration::from_millis(1000);
/// For less than this, a square may just have been misread for a few scans.
const MIN_OFF_TURN: Duration = Duration::from_millis(800);
/// A faulty square shows itself by then.
const JUDGED_AFTER: Duration = Duration::from_millis(1800);
/// How far back a turn is examined, at most.
const MAX_TURN: Duration = Duration::from_secs(600);

/// Follows pieces that leave their squares and come back.
#[derive(Debug)]
pub(super) struct Touches {
    held: Vec<Held>,
    open: Vec<(Number, u32)>,
    pressed_at: ByColor<Option<Timestamp>>,
    /// A move that was taken back: its ply, where its piece came from, where it stood, and since when.
    taken_back: Option<(u32, Square, Square, Timestamp)>,
    /// Nothing before this counts.
    from: Timestamp,
    wake: Option<Timestamp>,
}

#[derive(Debug)]
struct Held {
    report: Report,
    ply: u32,
    square: Square,
    due: Timestamp,
}

impl Default for Touches {
    fn default() -> Self {
        Self {
            held: Vec::new(),
            open: Vec::new(),
            pressed_at: ByColor::default(),
            taken_back: None,
            from: Timestamp::from_micros(0),
            wake: None,
        }
    }
}

impl Touches {
    pub(super) fn resume(&mut self, known: &ResumedIncident) {
        self.open.push((known.number, known.ply));
    }

    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        self.wake
    }

    pub(super) fn handle(&mut self, desk: &mut Desk<'_>, news: &News, moves: &Moves) {
        match news {
            News::Completed(ply, Completion::Press) => {
                if let Some(entry) = desk.game.entry(*ply) {
                    self.pressed_at[entry.ply.color] = Some(desk.now());
                }
            }
            News::Played(ply, before) => {
                self.close_answered(desk, *ply);
                self.played(desk, *ply, before.as_deref(), moves);
            }
            News::Retracted(ply, Withdrawal::Takeback, gone) => self.taken_back(desk, *ply, gone),
            News::Started | News::Over | News::Away => {
                self.held.clear();
                self.taken_back = None;
                self.pressed_at = ByColor::default();
            }
            _ => {}
        }
        // Lifting pieces to put something right is not touching them.
        if moves.concerns(desk.game.due()) || desk.set_aside.any() || !desk.sees_play() {
            self.from = desk.now();
        }
        self.report_held(desk);
    }

    /// The opponent has moved: it is too late to complain.
    fn close_answered(&mut self, desk: &mut Desk<'_>, ply: u32) {
        let now = desk.now();
        for (number, of) in core::mem::take(&mut self.open) {
            if of < ply {
                desk.book.close(now, number, ClosedBy::Laws, IncidentEnd::Passed);
            } else {
                self.open.push((number, of));
            }
        }
    }

    fn played(&mut self, desk: &mut Desk<'_>, ply: u32, before: Option<&LineEntry>, moves: &Moves) {
        let Some(entry) = desk.game.entry(ply) else { return };
        let taken_back = self.taken_back.take().filter(|(of, ..)| *of == ply);
        let Some(m) = entry.ply.played.filter(|_| !entry.ply.inferred) else {
            return;
        };
        if !desk.sees_play() || moves.concerns(ply) {
            return;
        }
        self.released(desk, ply, entry, before);
        if let Some((_, from, stood, since)) = taken_back {
            let touch = if m.from() == Some(from) {
                Touch::Released { square: stood }
            } else {
                Touch::TakenBack { square: from }
            };
            self.hold(desk, ply, touch, from, since);
        }
        self.lifted(desk, ply, entry);
    }

    /// Pieces that were lifted and put back in this turn.
    fn lifted(&mut self, desk: &mut Desk<'_>, ply: u32, entry: &LineEntry) {
        let Some(since) = turn_began(desk, ply).map(|began| began.max(self.from)) else {
            return;
        };
        let color = entry.ply.color;
        let Some(before) = desk.game.before(ply) else {
            return;
        };
        let own_move = difference(before.board(), entry.ply.after.board());
        let counts = |absence: &Absence| {
            absence.to <= entry.ply.lifted_at + ONE_SCAN_APART
                && !own_move.contains(absence.square)
                && !desk.set_aside.contains(absence.square)
                && !elsewhere(desk, absence)
        };
        let own = desk.trace.absences(since, color);
        let mut touches = Vec::new();
        for absence in own.iter().filter(|absence| counts(absence)) {
            let square = absence.square;
            if absence.lasted() >= MIN_HELD {
                touches.push((Touch::Own { square }, *absence));
            }
        }
        let mut adjusted = Vec::new();
        for absence in desk
            .trace
            .absences(since, !color)
            .iter()
            .filter(|absence| counts(absence))
        {
            let with_own = own
                .iter()
                .any(|own| own.from < absence.to && absence.from < own.to);
            let square = absence.square;
            if with_own && absence.lasted() >= MIN_HELD {
                touches.push((Touch::Other { square }, *absence));
            } else if absence.lasted() >= MIN_OFF_TURN
                && self.pressed_at[!color].is_some_and(|pressed| pressed < absence.from)
            {
                adjusted.push(*absence);
            }
        }
        for (touch, absence) in touches {
            self.hold(desk, ply, touch, absence.square, absence.from);
        }
        for absence in adjusted {
            let square = absence.square;
            if steady(desk, square, absence.from) {
                let report = desk
                    .report(Situation::AdjustedOffTurn { square }, absence.from)
                    .of(!color)
                    .at_ply(ply)
                    .on(square);
                desk.open_and_close(report, IncidentEnd::Passed);
            }
        }
    }

    /// A piece stood on another square first, long enough to have been released.
    fn released(&mut self, desk: &mut Desk<'_>, ply: u32, entry: &LineEntry, before: Option<&LineEntry>) {
        let Some(first) = before else { return };
        let (Some(old), Some(new)) = (first.ply.played, entry.ply.played) else {
            return;
        };
        let stood = entry.ply.stood_at.saturating_duration_since(first.ply.stood_at);
        if old.from() == new.from() && old.to() != new.to() && !old.is_castle() && stood >= MIN_RELEASED {
            let touch = Touch::Released { square: old.to() };
            self.hold(desk, ply, touch, old.to(), first.ply.stood_at);
        }
    }

    fn taken_back(&mut self, desk: &Desk<'_>, ply: u32, gone: &[LineEntry]) {
        let [entry] = gone else { return };
        let Some(m) = entry.ply.played.filter(|m| !m.is_castle()) else {
            return;
        };
        let Some(from) = m.from() else { return };
        let counts = entry.completed.is_none() && !entry.ply.inferred && entry.ply.stood_at > self.from;
        if desk.sees_play() && counts {
            self.taken_back = Some((ply, from, m.to(), entry.ply.stood_at));
        }
    }

    fn hold(&mut self, desk: &Desk<'_>, ply: u32, touch: Touch, square: Square, from: Timestamp) {
        let (Some(before), Some(entry)) = (desk.game.before(ply), desk.game.entry(ply)) else {
            return;
        };
        let of = match touch {
            Touch::Released { square } => entry.ply.played.and_then(|m| m.from()).unwrap_or(square),
            Touch::Own { square } | Touch::Other { square } | Touch::TakenBack { square } => square,
        };
        let situation = Situation::TouchedNotMoved {
            touch,
            due: due_with(before, of),
            played: entry
                .ply
                .san
                .clone()
                .or_else(|| entry.ply.uci.as_ref().map(ToString::to_string))
                .unwrap_or_default(),
        };
        let mut report = desk
            .report(situation, from)
            .of(entry.ply.color)
            .at_ply(ply)
            .on(Bitboard::from(square));
        report.fen = Some(before.fen());
        self.held.push(Held {
            report,
            ply,
            square,
            due: desk.now() + JUDGED_AFTER,
        });
    }

    fn report_held(&mut self, desk: &mut Desk<'_>) {
        let now = desk.now();
        let mut later = Vec::new();
        for held in core::mem::take(&mut self.held) {
            if held.due > now {
                later.push(held);
            } else if steady(desk, held.square, held.report.from) && desk.game.entry(held.ply).is_some() {
                let number = desk.open(held.report);
                self.open.push((number, held.ply));
                if desk.game.due() > held.ply + 1 {
                    self.close_answered(desk, held.ply + 1);
                }
            }
        }
        self.held = later;
        self.wake = self.held.iter().map(|held| held.due).min();
    }
}

/// When the turn of a ply can have begun: the one before it stood.
fn turn_began(desk: &Desk<'_>, ply: u32) -> Option<Timestamp> {
    let earliest = desk.now().saturating_sub(MAX_TURN);
    match ply.checked_sub(1)? {
        0 => Some(earliest),
        before => Some(desk.game.entry(before)?.ply.stood_at.max(earliest)),
    }
}

/// Whether the piece was shown on another square while it was off its own.
fn elsewhere(desk: &Desk<'_>, absence: &Absence) -> bool {
    desk.trace
        .since(absence.from.saturating_sub(ONE_SCAN_APART))
        .take_while(|shown| shown.at <= absence.to)
        .any(|shown| shown.after == Some(absence.piece) && shown.square != absence.square)
}

/// Whether a square changed no more often than for one lift, so that its sensor is not at fault.
fn steady(desk: &Desk<'_>, square: Square, from: Timestamp) -> bool {
    desk.trace
        .changes_of(square, from.saturating_sub(Duration::from_secs(5)))
        <= 3
        && !desk.set_aside.contains(square)
}

/// The legal moves of the piece on a square, or captures of it, in SAN.
fn due_with(before: &State, square: Square) -> Vec<String> {
    let own = before.board().color_at(square) == Some(before.turn());
    before
        .legal_moves()
        .into_iter()
        .filter(|m| {
            if own {
                m.from() == Some(square)
            } else {
                m.to() == square && !m.is_castle()
            }
        })
        .map(|m| before.san(m))
        .collect()
}
