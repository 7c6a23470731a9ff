//! Pieces touched and not moved, as far as a board can see that: lifted and put back, released and moved on, or taken
//! back.

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, ByColor, Square};

use super::book::{Number, Report, ResumedIncident};
use super::moves::IrregularMoves;
use super::{Context, News};
use crate::acts::{How, Touched};
use crate::events::{ClosedBy, CompletedBy, CorrectionReason, IncidentEnd};
use crate::laws::{Situation, Touch};
use crate::position::State;

/// Watches pieces that leave their squares and come back.
#[derive(Debug)]
pub(super) struct Touches {
    pending: Vec<PendingTouch>,
    open: Vec<(Number, u32)>,
    /// Reports in this game: the ply, and the square that the piece came from.
    reported: Vec<(u32, Square)>,
    pressed_at: ByColor<Option<Timestamp>>,
    /// Time from which changes of squares are examined.
    from: Timestamp,
    wake: Option<Timestamp>,
}

#[derive(Debug)]
struct PendingTouch {
    report: Report,
    ply: u32,
    square: Square,
    due: Timestamp,
}

impl Default for Touches {
    fn default() -> Self {
        Self {
            pending: Vec::new(),
            open: Vec::new(),
            reported: Vec::new(),
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

    pub(super) fn handle(
        &mut self,
        context: &mut Context<'_>,
        news: &News,
        moves: &IrregularMoves,
        displaced: Bitboard,
    ) {
        match news {
            News::Completed(ply, CompletedBy::Press) => {
                if let Some(entry) = context.game.entry(*ply) {
                    self.pressed_at[entry.ply.color] = Some(context.now());
                }
            }
            News::Played(ply, corrected) => {
                // A corrected ply is checked again.
                if corrected.is_some() {
                    self.pending.retain(|pending| pending.ply < *ply);
                }
                self.close_answered(context, *ply);
                self.played(context, *ply, moves);
            }
            News::Retracted(ply, reason, gone) => {
                self.pending.retain(|pending| pending.ply < *ply);
                // A move that is taken back after the press is taken back with the consent of the opponent or the
                // arbiter.
                let uncompleted = gone.iter().all(|entry| entry.completed.is_none());
                if !uncompleted || !matches!(reason, CorrectionReason::Takeback | CorrectionReason::MovedOn) {
                    self.from = context.now();
                }
            }
            // Pieces lifted before this time had slid.
            News::Steadied => self.from = context.now(),
            News::Started | News::Over | News::Away => {
                self.pending.clear();
                self.reported.clear();
                self.pressed_at = ByColor::default();
            }
            _ => {}
        }
        // Lifting pieces to put something right is not a touch. Short irregularities are ignored.
        if moves.is_put_right(context.now()) || displaced.any() || !context.sees_play() {
            self.from = context.now();
        }
        if matches!(news, News::Time) {
            self.report_pending(context);
        }
    }

    /// Closes incidents about touches that can no longer be claimed, because the opponent has moved.
    fn close_answered(&mut self, context: &mut Context<'_>, ply: u32) {
        let now = context.now();
        for (number, of) in core::mem::take(&mut self.open) {
            if of < ply {
                context
                    .book
                    .close(now, number, ClosedBy::Laws, IncidentEnd::Passed);
            } else {
                self.open.push((number, of));
            }
        }
    }

    fn played(&mut self, context: &mut Context<'_>, ply: u32, moves: &IrregularMoves) {
        if !context.sees_play() || moves.concerns(ply) {
            return;
        }
        let (Some(entry), Some(turn)) = (context.game.entry(ply), context.turn(ply, Some(self.from))) else {
            return;
        };
        if entry.ply.played.is_none() {
            return;
        }
        let (now, opponent) = (context.now(), !entry.ply.color);
        let pressed = self.pressed_at[opponent];
        let adjusted = pressed.map(|pressed| turn.adjusted(now, pressed));
        let touched = turn.touched(now).into_iter();
        let fresh = touched.filter(|touched| !self.reported.contains(&(ply, touched.origin)));
        self.pending
            .extend(fresh.filter_map(|touched| pending(context, ply, touched)));
        for (square, from) in adjusted.into_iter().flatten() {
            let report = context
                .report(Situation::AdjustedOffTurn { square }, from)
                .of(opponent)
                .at_ply(ply)
                .on(square);
            context.open_and_close(report, IncidentEnd::Passed);
        }
    }

    fn report_pending(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        let mut later = Vec::new();
        for pending in core::mem::take(&mut self.pending) {
            if pending.due > now {
                later.push(pending);
            } else if is_steady(context, &pending) && context.game.entry(pending.ply).is_some() {
                let number = context.open(pending.report);
                self.open.push((number, pending.ply));
                self.reported.push((pending.ply, pending.square));
                if context.game.due() > pending.ply + 1 {
                    self.close_answered(context, pending.ply + 1);
                }
            }
        }
        self.pending = later;
        self.wake = self.pending.iter().map(|pending| pending.due).min();
    }
}

/// Whether the square that a piece came from is not at fault.
fn is_steady(context: &Context<'_>, pending: &PendingTouch) -> bool {
    context
        .acts
        .is_steady(pending.square, pending.report.from, context.set_aside)
}

/// Creates the report on a piece touched before a ply, due once the square has proved not to be at fault.
fn pending(context: &Context<'_>, ply: u32, touched: Touched) -> Option<PendingTouch> {
    let (entry, before) = (context.game.entry(ply)?, context.game.before(ply)?);
    let origin = touched.origin;
    let (touch, square, due) = match touched.how {
        How::PutBack => (
            Touch::Own { square: origin },
            origin,
            required_moves(before, origin),
        ),
        How::Opponents => (
            Touch::Other { square: origin },
            origin,
            required_moves(before, origin),
        ),
        How::Released(to) => (
            Touch::Released { square: to },
            to,
            required_moves_to(before, origin, to),
        ),
        How::TakenBack(to) => (
            Touch::TakenBack { square: origin },
            origin,
            required_moves_to(before, origin, to),
        ),
    };
    let uci = entry.ply.uci.as_ref().map(ToString::to_string);
    let situation = Situation::TouchedNotMoved {
        touch,
        due,
        played: entry.ply.san.clone().or(uci)?,
    };
    let mut report = context
        .report(situation, touched.from)
        .of(entry.ply.color)
        .at_ply(ply)
        .on(square);
    report.fen = Some(before.fen());
    Some(PendingTouch {
        report,
        ply,
        square: origin,
        due: context.acts.judged_at(context.now()),
    })
}

/// Legal moves of the piece on `from` to the square `to`, in SAN.
fn required_moves_to(before: &State, from: Square, to: Square) -> Vec<String> {
    let moves = before.legal_moves().into_iter();
    moves
        .filter(|m| !m.is_castle() && m.from() == Some(from) && m.to() == to)
        .map(|m| before.san(m))
        .collect()
}

/// Legal moves of the piece on a square, or captures of it, in SAN.
fn required_moves(before: &State, square: Square) -> Vec<String> {
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
