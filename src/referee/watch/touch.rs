//! Pieces touched and not moved, as far as a board can see it: lifted and put back, released and moved on, taken back.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{Bitboard, ByColor, Move, Square};

use super::book::{Number, Report, ResumedIncident};
use super::moves::Moves;
use super::trace::{Absence, Stay};
use super::{Desk, News};
use crate::events::{ClosedBy, IncidentEnd};
use crate::laws::{Situation, Touch};
use crate::referee::LineEntry;
use crate::tracker::{Completion, State, Withdrawal, difference};

/// A piece that is off its square for at least this long is not just being adjusted.
const MIN_HELD: Duration = Duration::from_millis(800);
/// The same where squares are being misread: they read empty for up to a second and more.
const MIN_HELD_DISTURBED: Duration = Duration::from_secs(2);
/// A piece that stands for a second has not just paused on its way; a scan is what the board may have missed of it.
const MIN_RELEASED: Duration = Duration::from_secs(1).saturating_add(ONE_SCAN_APART);
/// A faulty square shows itself by then.
const JUDGED_AFTER: Duration = Duration::from_millis(1800);
/// A square that is lifted from twice changes this often; with more changes its sensor is at fault.
const MAX_CHANGES: usize = 4;

/// Follows pieces that leave their squares and come back.
#[derive(Debug)]
pub(super) struct Touches {
    held: Vec<Held>,
    open: Vec<(Number, u32)>,
    /// What was reported in this game: the ply, and where the piece came from.
    told: Vec<(u32, Square)>,
    pressed_at: ByColor<Option<Timestamp>>,
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

/// What was touched in a turn.
#[derive(Debug)]
struct Found {
    touch: Touch,
    /// Where the piece came from.
    origin: Square,
    from: Timestamp,
    /// The moves that were due.
    due: Vec<String>,
}

/// The turn of a ply that was played.
struct Turn<'a> {
    desk: &'a Desk<'a>,
    entry: &'a LineEntry,
    played: Move,
    before: &'a State,
    since: Timestamp,
}

impl Default for Touches {
    fn default() -> Self {
        Self {
            held: Vec::new(),
            open: Vec::new(),
            told: Vec::new(),
            pressed_at: ByColor::default(),
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

    pub(super) fn handle(&mut self, desk: &mut Desk<'_>, news: &News, moves: &Moves, displaced: Bitboard) {
        match news {
            News::Completed(ply, Completion::Press) => {
                if let Some(entry) = desk.game.entry(*ply) {
                    self.pressed_at[entry.ply.color] = Some(desk.now());
                }
            }
            News::Played(ply, corrected) => {
                // A ply that is corrected is looked at once more.
                if *corrected {
                    self.held.retain(|held| held.ply < *ply);
                }
                self.close_answered(desk, *ply);
                self.played(desk, *ply, moves);
            }
            News::Retracted(ply, reason, gone) => {
                self.held.retain(|held| held.ply < *ply);
                // A move that is taken back after the press is taken back with the opponent's or the arbiter's leave.
                let free = gone.iter().all(|entry| entry.completed.is_none());
                if !free || !matches!(reason, Withdrawal::Takeback | Withdrawal::MovedOn) {
                    self.from = desk.now();
                }
            }
            News::Started | News::Over | News::Away => {
                self.held.clear();
                self.told.clear();
                self.pressed_at = ByColor::default();
            }
            _ => {}
        }
        // Lifting pieces to put something right is not touching them. What only looks irregular for a moment is left alone.
        if moves.open_squares().any() || displaced.any() || !desk.sees_play() {
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

    fn played(&mut self, desk: &mut Desk<'_>, ply: u32, moves: &Moves) {
        if !desk.sees_play() || moves.concerns(ply) {
            return;
        }
        let Some(turn) = Turn::of(desk, ply, self.from) else {
            return;
        };
        let opponent = !turn.entry.ply.color;
        let adjusted = turn.adjusted(self.pressed_at[opponent]);
        let mut found = turn.touches();
        found.retain(|found| !self.told.contains(&(ply, found.origin)));
        self.held
            .extend(found.into_iter().filter_map(|found| turn.held(found)));
        for Absence { square, from, .. } in adjusted {
            if steady(desk, square, from) {
                let report = desk
                    .report(Situation::AdjustedOffTurn { square }, from)
                    .of(opponent)
                    .at_ply(ply)
                    .on(square);
                desk.open_and_close(report, IncidentEnd::Passed);
            }
        }
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
                self.told.push((held.ply, held.square));
                if desk.game.due() > held.ply + 1 {
                    self.close_answered(desk, held.ply + 1);
                }
            }
        }
        self.held = later;
        self.wake = self.held.iter().map(|held| held.due).min();
    }
}

impl<'a> Turn<'a> {
    fn of(desk: &'a Desk<'_>, ply: u32, from: Timestamp) -> Option<Self> {
        let entry = desk.game.entry(ply)?;
        Some(Self {
            desk,
            entry,
            played: entry.ply.played.filter(|_| !entry.ply.inferred)?,
            before: desk.game.before(ply)?,
            since: desk.game.turn_began(ply)?.max(from),
        })
    }

    /// What the player touched before the piece that moved in the end, or released before it moved on.
    fn touches(&self) -> Vec<Found> {
        let color = self.entry.ply.color;
        let mut found = Vec::new();
        let own = self.absences(color);
        for absence in &own {
            let origin = absence.square;
            let taken_back = self
                .released(origin)
                .filter(|(stay, _)| stay.from >= absence.from && stay.to <= absence.to);
            let (touch, due) = match taken_back {
                Some((_, due)) => (Touch::TakenBack { square: origin }, due),
                None if absence.lasted() < self.min_held() => continue,
                None => (Touch::Own { square: origin }, due_with(self.before, origin)),
            };
            let from = absence.from;
            found.push(Found {
                touch,
                origin,
                from,
                due,
            });
        }
        // An opponent's piece that is lifted alone may be adjusted by either player.
        let with_own = |absence: &Absence| {
            own.iter()
                .any(|own| own.from < absence.to && absence.from < own.to)
        };
        for absence in self.absences(!color) {
            if with_own(&absence) && absence.lasted() >= self.min_held() {
                let square = absence.square;
                found.push(Found {
                    touch: Touch::Other { square },
                    origin: square,
                    from: absence.from,
                    due: due_with(self.before, square),
                });
            }
        }
        let moved = self.played.from();
        if let Some((origin, (stay, due))) = moved.and_then(|from| Some((from, self.released(from)?))) {
            let (square, from) = (stay.square, stay.from);
            let touch = Touch::Released { square };
            found.push(Found {
                touch,
                origin,
                from,
                due,
            });
        }
        found
    }

    /// The opponent's pieces that were lifted and put back after the opponent had pressed at this time.
    fn adjusted(&self, pressed: Option<Timestamp>) -> Vec<Absence> {
        let Some(pressed) = pressed else { return Vec::new() };
        let own = self.absences(self.entry.ply.color);
        let mut lifted = self.absences(!self.entry.ply.color);
        lifted.retain(|absence| {
            let with_own = own
                .iter()
                .any(|own| own.from < absence.to && absence.from < own.to);
            !with_own && absence.from > pressed && absence.lasted() >= self.min_held()
        });
        lifted
    }

    /// Pieces of a colour that left their squares and came back before the piece was lifted that moved, the shortest
    /// absences included.
    fn absences(&self, color: shakmaty::Color) -> Vec<Absence> {
        let own_move = difference(self.before.board(), self.entry.ply.after.board());
        let mut absences = self.desk.trace.absences(self.since, color);
        absences.retain(|absence| {
            absence.to <= self.entry.ply.lifted_at + ONE_SCAN_APART
                && !own_move.contains(absence.square)
                && !self.desk.set_aside.contains(absence.square)
        });
        absences
    }

    fn min_held(&self) -> Duration {
        if self.desk.trace.is_disturbed(self.desk.now()) {
            MIN_HELD_DISTURBED
        } else {
            MIN_HELD
        }
    }

    /// Where the piece from `origin` stood first, on another square than in the end, long enough to have left the hand
    /// there (Art. 4.7), with the move that it made so.
    fn released(&self, origin: Square) -> Option<(Stay, Vec<String>)> {
        let piece = self.before.board().piece_at(origin)?;
        let after = self.entry.ply.after.board();
        let elsewhere = |stay: &Stay| {
            stay.square != origin
                && self.before.board().piece_at(stay.square) != Some(piece)
                && after.piece_at(stay.square) != Some(piece)
                && stay.square != self.played.to()
                && stay.lasted() >= MIN_RELEASED
                && !self.desk.set_aside.contains(stay.square)
        };
        // A piece that is seen on its own square as well was misread there, or here.
        let gone = |stay: &Stay| {
            let left = stay.from + ONE_SCAN_APART;
            let shown = self.desk.trace.since(self.since);
            let mut last = shown.filter(|shown| shown.square == origin && shown.at <= left);
            last.next_back().is_some_and(|shown| shown.after != Some(piece))
        };
        let stays = self.desk.trace.stays(self.since, piece);
        let legal = self.before.legal_moves();
        stays.into_iter().filter(elsewhere).filter(gone).find_map(|stay| {
            let reaches = |m: &&Move| !m.is_castle() && m.from() == Some(origin) && m.to() == stay.square;
            let sans = legal.iter().filter(reaches);
            let due: Vec<String> = sans.map(|m| self.before.san(*m)).collect();
            (!due.is_empty()).then_some((stay, due))
        })
    }

    fn held(&self, found: Found) -> Option<Held> {
        let ply = &self.entry.ply;
        let (Touch::Own { square }
        | Touch::Other { square }
        | Touch::Released { square }
        | Touch::TakenBack { square }) = found.touch;
        let uci = ply.uci.as_ref().map(ToString::to_string);
        let situation = Situation::TouchedNotMoved {
            touch: found.touch,
            due: found.due,
            played: ply.san.clone().or(uci)?,
        };
        let mut report = self
            .desk
            .report(situation, found.from)
            .of(ply.color)
            .at_ply(ply.number)
            .on(square);
        report.fen = Some(self.before.fen());
        Some(Held {
            report,
            ply: ply.number,
            square: found.origin,
            due: self.desk.now() + JUDGED_AFTER,
        })
    }
}

/// Whether a square changed no more often than players do it, so that its sensor is not at fault.
fn steady(desk: &Desk<'_>, square: Square, from: Timestamp) -> bool {
    desk.trace
        .changes_of(square, from.saturating_sub(Duration::from_secs(5)))
        <= MAX_CHANGES
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
