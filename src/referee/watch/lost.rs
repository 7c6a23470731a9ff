//! A record that has lost the game: pieces stand where play may well have put them, and the line of play does not have
//! it. Nobody is accused of anything while that is so, for what looks wrong is the record.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, Square};

use super::book::{Number, ResumedIncident};
use super::{Desk, News};
use crate::events::{ClosedBy, IncidentEnd};
use crate::laws::Situation;
use crate::tracker::{ClockChange, State};

/// What is missing may be found within this time.
const MIN_LOST: Duration = Duration::from_millis(850);
/// A piece had moved before a ply if that was at least this long before the ply's piece was lifted.
const MIN_BEFORE_LIFT: Duration = Duration::from_millis(300);
/// The same before a press was reported, which the clock does up to a second late.
const MIN_BEFORE_PRESS: Duration = Duration::from_millis(1200);
/// So many of the last positions are asked whether a move was legal there.
const MAX_PLIES_BACK: usize = 8;

/// What fits the board again may do so by accident: so many plies must follow before anybody is accused of a move.
const PLIES_OF_PROOF: usize = 2;

/// Watches whether the record has lost the game.
#[derive(Debug, Default)]
pub(super) struct Lost {
    open: Option<Number>,
    /// How many plies the record must have to be proved after it had lost the game.
    proved_at: usize,
    /// When the clock was last pressed.
    pressed_at: Option<Timestamp>,
    /// What looks like play that is missing, and since when it has.
    suspected: Option<(Bitboard, Timestamp)>,
    wake: Option<Timestamp>,
}

impl Lost {
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Whether a record of so many plies had lost the game, and nothing has proved yet that it found it again.
    pub(super) fn is_unproved(&self, plies: usize) -> bool {
        plies < self.proved_at
    }

    pub(super) fn resume(&mut self, known: &ResumedIncident) {
        self.open = Some(known.number);
    }

    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        self.wake
    }

    pub(super) fn handle(&mut self, desk: &mut Desk<'_>, news: &News) {
        self.wake = None;
        let now = desk.now();
        match news {
            News::Clock(ClockChange::Pressed(_)) => self.pressed_at = Some(now),
            News::Started | News::Over => {
                self.pressed_at = None;
                self.proved_at = 0;
                self.close(desk, ClosedBy::Laws, IncidentEnd::GameOver);
            }
            _ => {}
        }
        if !desk.trace.is_whole() {
            return;
        }
        if desk.differs().is_empty() {
            self.suspected = None;
            if self.open.is_some() {
                self.proved_at = desk.game.line.len() + PLIES_OF_PROOF;
            }
            self.close(desk, ClosedBy::Board, IncidentEnd::Passed);
        } else if desk.sees_play() && self.open.is_none() {
            self.inspect(desk);
        }
    }

    fn inspect(&mut self, desk: &mut Desk<'_>) {
        let now = desk.now();
        let missing = self.missing(desk);
        if missing.is_empty() {
            self.suspected = None;
            return;
        }
        let since = match self.suspected {
            Some((squares, since)) if (squares & missing).any() => since,
            _ => now,
        };
        self.suspected = Some((missing, since));
        let due = since + MIN_LOST;
        if now < due {
            self.wake = Some(due);
            return;
        }
        let report = desk.report(Situation::RecordUncertain, since);
        self.open = Some(desk.open(report.on(missing)));
    }

    /// The squares of pieces that seem to have been played before the last ply or press, and stand elsewhere in the line.
    fn missing(&self, desk: &Desk<'_>) -> Bitboard {
        let Some(tip) = desk.game.tip() else {
            return Bitboard::EMPTY;
        };
        let (expected, shown, differs) = (tip.board(), desk.trace.board(), desk.differs());
        let mut missing = Bitboard::EMPTY;
        for from in differs & expected.occupied() {
            let Some(piece) = expected.piece_at(from).filter(|_| shown.piece_at(from).is_none()) else {
                continue;
            };
            let arrived = |to: &Square| shown.piece_at(*to) == Some(piece);
            let mut arrivals = differs.into_iter().filter(arrived).peekable();
            if arrivals.peek().is_none() && self.played_on(desk, from) {
                missing.add(from);
            }
            for to in arrivals {
                if self.played_on(desk, to) && was_legal(desk, from, to) {
                    missing |= Bitboard::from(from).with(to);
                }
            }
        }
        missing
    }

    /// Whether play went on after a square came to show what it does.
    fn played_on(&self, desk: &Desk<'_>, square: Square) -> bool {
        let changed = desk.trace.changed_at(square);
        let last = desk.game.line.last().map(|last| last.ply.lifted_at);
        last.is_some_and(|lifted| changed + MIN_BEFORE_LIFT < lifted)
            || self
                .pressed_at
                .is_some_and(|pressed| changed + MIN_BEFORE_PRESS < pressed)
    }

    fn close(&mut self, desk: &mut Desk<'_>, by: ClosedBy, reason: IncidentEnd) {
        if let Some(number) = self.open.take() {
            desk.book.close(desk.game.now, number, by, reason);
        }
    }
}

/// Whether this was a legal move in one of the last positions. A single step may be a piece that was pushed: there the
/// position has to be the one in which it was made.
fn was_legal(desk: &Desk<'_>, from: Square, to: Square) -> bool {
    let legal = |state: &State| {
        state
            .legal_moves()
            .iter()
            .any(|m| m.from() == Some(from) && m.to() == to)
    };
    let made_at = desk.trace.changed_at(to);
    let states = desk.game.line.iter().rev().take(MAX_PLIES_BACK);
    if from.distance(to) > 1 {
        return states
            .map(|entry| &entry.ply.after)
            .chain(desk.game.start.map(|start| &start.state))
            .any(|state| legal(state) || legal(&state.turned()));
    }
    let mut before = states.filter(|entry| entry.ply.stood_at < made_at);
    before.next().is_some_and(|entry| legal(&entry.ply.after))
}
