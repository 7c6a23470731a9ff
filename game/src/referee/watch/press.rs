//! Presses of the clock by the player to move without a move.

use kiebitz_hardware::Timestamp;
use shakmaty::Color;

use super::book::{Number, ResumedIncident};
use super::moves::IrregularMoves;
use super::{Context, News};
use crate::clock::ClockChange;
use crate::events::{ClosedBy, IncidentEnd};
use crate::laws::Situation;

/// Watches presses that no move explains.
#[derive(Debug, Default)]
pub(super) struct Presses {
    waiting: Option<Waiting>,
    open: Option<OpenPress>,
    wake: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy)]
struct Waiting {
    color: Color,
    ply: u32,
    at: Timestamp,
}

#[derive(Debug)]
struct OpenPress {
    number: Number,
    color: Color,
    ply: u32,
}

impl Presses {
    pub(super) fn resume(&mut self, known: &ResumedIncident) {
        self.open = known.color.map(|color| OpenPress {
            number: known.number,
            color,
            ply: known.ply,
        });
    }

    /// Drops an incident that was wrong because the record was.
    pub(super) fn withdraw(&mut self, number: Number) {
        self.open.take_if(|open| open.number == number);
    }

    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        self.wake
    }

    pub(super) fn handle(&mut self, context: &mut Context<'_>, news: &News, moves: &IrregularMoves) {
        let now = context.now();
        match news {
            News::Pressed(color) => self.pressed(context, *color, moves),
            News::Completed(..) => self.waiting = None,
            News::Played(ply, _) => {
                if self.waiting.is_some_and(|waiting| *ply >= waiting.ply) {
                    self.waiting = None;
                }
                if let Some(open) = self.open.take_if(|open| *ply >= open.ply) {
                    context
                        .book
                        .close(now, open.number, ClosedBy::Board, IncidentEnd::Replaced);
                }
            }
            News::Started
            | News::Retracted(..)
            | News::Away
            | News::Over
            | News::Clock(ClockChange::Disconnected | ClockChange::Connected) => self.waiting = None,
            // The clock was stopped before it was pressed back: the arbiter is at the board.
            News::Clock(ClockChange::Started) => {
                if let Some(open) = self.open.take() {
                    context
                        .book
                        .close(now, open.number, ClosedBy::Clock, IncidentEnd::Restored);
                }
            }
            News::Time => self.judge(context, moves),
            _ => {}
        }
        if matches!(news, News::Started | News::Over) {
            self.open = None;
        }
    }

    fn pressed(&mut self, context: &mut Context<'_>, color: Color, moves: &IrregularMoves) {
        let now = context.now();
        if let Some(open) = self.open.take_if(|open| open.color != color) {
            // The clock was pressed back.
            context
                .book
                .close(now, open.number, ClosedBy::Clock, IncidentEnd::Restored);
            return;
        }
        if self.waiting.take().is_some() {
            // A wrong clock reading looks like a press and a press back.
            return;
        }
        let game = context.game;
        let ply = game.due();
        let on_move = game.tip().is_some_and(|tip| tip.turn() == color);
        // Only a press gives the player to move a running clock.
        let clock_ran = match game.line.last() {
            Some(last) => last.is_pressed(),
            None => color.is_white(),
        };
        // Presses are reported late. Soon after a ply, the press may be that of the ply's player.
        let late = game
            .line
            .last()
            .is_some_and(|last| now < context.acts.judged_at(last.ply.stood_at));
        if context.sees_play() && on_move && clock_ran && !late && !moves.concerns(ply) && self.open.is_none()
        {
            self.waiting = Some(Waiting { color, ply, at: now });
        }
    }

    fn judge(&mut self, context: &mut Context<'_>, moves: &IrregularMoves) {
        self.wake = None;
        let Some(waiting) = self.waiting else { return };
        let now = context.now();
        let answered = context.game.line.last().map(|last| last.ply.stood_at);
        let touched = context
            .acts
            .moved_at_press(waiting.color, waiting.at, answered, context.set_aside);
        if touched || moves.concerns(waiting.ply) || !context.sees_play() {
            self.waiting = None;
            return;
        }
        let due = context.acts.judged_at(waiting.at);
        if now < due {
            self.wake = Some(due);
            return;
        }
        self.waiting = None;
        let runs = context.game.face.and_then(|face| face.running);
        if !context.differs().is_empty() || runs != Some(!waiting.color) || context.may_be_lost {
            return;
        }
        let situation = Situation::PressedWithoutMove {
            offence: context.offences.count(waiting.color),
            opponent_can_mate: context.opponent_can_mate(context.game.tip(), waiting.color),
            times: context.clock_times(waiting.ply),
        };
        let report = context
            .report(situation, waiting.at)
            .of(waiting.color)
            .at_ply(waiting.ply);
        let number = context.open(report);
        self.open = Some(OpenPress {
            number,
            color: waiting.color,
            ply: waiting.ply,
        });
    }
}
