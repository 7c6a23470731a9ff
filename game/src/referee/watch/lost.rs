//! Records that no longer match the game: the board shows play that the line lacks. The error is in the record, so the
//! watchers report no offence meanwhile.

use kiebitz_hardware::Timestamp;
use shakmaty::Bitboard;

use super::book::{Number, ResumedIncident};
use super::{Context, News};
use crate::clock::ClockChange;
use crate::events::{ClosedBy, Grounds, IncidentEnd, Recovery};
use crate::laws::Situation;
use crate::model::PLIES_OF_PROOF;
use crate::referee::LineEntry;

/// Watches whether the record still matches the game.
#[derive(Debug, Default)]
pub(super) struct Lost {
    open: Option<Number>,
    /// Whether moves of a gap were given up, and neither the board has matched the line nor a new line begun since.
    given_up: bool,
    /// Squares of the open incident.
    missing: Bitboard,
    /// Number of plies from which the record is confirmed again after it had stopped matching the game.
    proved_at: usize,
    pressed_at: Option<Timestamp>,
    /// Squares that suggest missing play, and the time since when.
    suspected: Option<(Bitboard, Timestamp)>,
    wake: Option<Timestamp>,
}

impl Lost {
    pub(super) fn is_lost(&self) -> bool {
        self.open.is_some() || self.given_up
    }

    /// Squares that an open incident accounts for.
    pub(super) fn reported(&self) -> Bitboard {
        self.open.map_or(Bitboard::EMPTY, |_| self.missing)
    }

    pub(super) fn is_suspected(&self) -> bool {
        self.suspected.is_some()
    }

    /// Whether the record stopped matching the game or was reconstructed, and has not been confirmed since.
    pub(super) fn is_unproved(&self, line: &[LineEntry]) -> bool {
        let reconstructed = |entry: &LineEntry| entry.ply.evidence.grounds == Some(Grounds::OnlyLine);
        let mut last = line.iter().rev().take(PLIES_OF_PROOF);
        line.len() < self.proved_at || last.any(reconstructed)
    }

    pub(super) fn resume(&mut self, known: &ResumedIncident) {
        self.open = Some(known.number);
    }

    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        self.wake
    }

    pub(super) fn handle(&mut self, context: &mut Context<'_>, news: &News, irregular: Bitboard) {
        let now = context.now();
        match news {
            News::Clock(ClockChange::Pressed(_)) => self.pressed_at = Some(now),
            News::Back(by) => self.given_up = *by == Recovery::Undecidable,
            News::Started | News::Over => {
                self.given_up = false;
                self.pressed_at = None;
                self.proved_at = 0;
                self.close(context, ClosedBy::Laws, IncidentEnd::GameOver);
            }
            News::Time => self.compare(context, irregular),
            _ => {}
        }
    }

    /// Compares the board with the line of play, except for the squares in `irregular`.
    fn compare(&mut self, context: &mut Context<'_>, irregular: Bitboard) {
        self.wake = None;
        if !context.acts.is_whole() {
            return;
        }
        if context.differs().is_empty() {
            self.suspected = None;
            self.given_up = false;
            if self.open.is_some() {
                self.proved_at = context.game.line.len() + PLIES_OF_PROOF;
            }
            self.close(context, ClosedBy::Board, IncidentEnd::Passed);
        } else if context.sees_play() && self.open.is_none() {
            self.inspect(context, irregular);
        }
    }

    fn inspect(&mut self, context: &mut Context<'_>, irregular: Bitboard) {
        let now = context.now();
        let plies = context.game.line.iter().map(|entry| &*entry.ply);
        let start = context.game.start.map(|start| &start.state);
        let missing = context.standing().map_or(Bitboard::EMPTY, |standing| {
            standing.missing(self.pressed_at, plies, start) & !irregular
        });
        if missing.is_empty() {
            self.suspected = None;
            return;
        }
        let since = match self.suspected {
            Some((squares, since)) if (squares & missing).any() => since,
            _ => now,
        };
        self.suspected = Some((missing, since));
        // The tracker may still find the missing play until then.
        let due = since + context.acts.model().rest;
        if let Some(at) = context.acts.waits(now, due) {
            self.wake = Some(at);
            return;
        }
        self.missing = missing;
        let report = context.report(Situation::RecordUncertain, since);
        self.open = Some(context.open(report.on(missing)));
    }

    fn close(&mut self, context: &mut Context<'_>, by: ClosedBy, reason: IncidentEnd) {
        if let Some(number) = self.open.take() {
            context.book.close(context.game.now, number, by, reason);
        }
    }
}
