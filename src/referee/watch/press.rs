//! Clocks pressed by the player on move while the pieces stand as before.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::Color;

use super::book::{Known, Number};
use super::moves::Moves;
use super::{Desk, Noted};
use crate::events::{ClosedBy, IncidentEnd};
use crate::laws::Sight;
use crate::tracker::ClockChange;

/// The squares of a move made before the press are all told by then.
const JUDGED_AFTER: Duration = Duration::from_millis(2200);
/// A press is told within a second; a move made so long before it belongs to it.
const REACHES_BACK: Duration = Duration::from_millis(1400);

/// The opponent's move, with what it took, is told by then.
const AFTER_REPLY: Duration = Duration::from_millis(50);

/// Follows presses that no move explains.
#[derive(Debug, Default)]
pub(super) struct Presses {
    waiting: Option<Waiting>,
    open: Option<Open>,
    wake: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy)]
struct Waiting {
    color: Color,
    ply: u32,
    at: Timestamp,
}

#[derive(Debug)]
struct Open {
    number: Number,
    color: Color,
    ply: u32,
}

impl Presses {
    pub(super) fn resume(&mut self, known: &Known) {
        self.open = known.color.map(|color| Open {
            number: known.number,
            color,
            ply: known.ply,
        });
    }

    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        self.wake
    }

    pub(super) fn note(&mut self, desk: &mut Desk<'_>, noted: &Noted, moves: &Moves) {
        self.wake = None;
        let now = desk.now();
        match noted {
            Noted::Pressed(color) => self.pressed(desk, *color, moves),
            Noted::Completed(..) => self.waiting = None,
            Noted::Played(ply, _) => {
                if self.waiting.is_some_and(|waiting| *ply >= waiting.ply) {
                    self.waiting = None;
                }
                if let Some(open) = self.open.take_if(|open| *ply >= open.ply) {
                    desk.book
                        .close(now, open.number, ClosedBy::Board, IncidentEnd::Replaced);
                }
            }
            Noted::Started
            | Noted::Retracted(..)
            | Noted::Away
            | Noted::Over
            | Noted::Clock(ClockChange::Disconnected | ClockChange::Connected) => self.waiting = None,
            // The clock was stopped before it could be pressed back: the arbiter is at the board.
            Noted::Clock(ClockChange::Started) => {
                if let Some(open) = self.open.take() {
                    desk.book
                        .close(now, open.number, ClosedBy::Clock, IncidentEnd::Restored);
                }
            }
            _ => {}
        }
        if matches!(noted, Noted::Started | Noted::Over) {
            self.open = None;
        }
        self.judge(desk, moves);
    }

    fn pressed(&mut self, desk: &mut Desk<'_>, color: Color, moves: &Moves) {
        let now = desk.now();
        if let Some(open) = self.open.take_if(|open| open.color != color) {
            // Pressed back.
            desk.book
                .close(now, open.number, ClosedBy::Clock, IncidentEnd::Restored);
            return;
        }
        if self.waiting.take().is_some() {
            // A reading that was wrong shows as a press and one back.
            return;
        }
        let view = desk.view;
        let ply = view.due();
        let on_move = view.tip().is_some_and(|tip| tip.turn() == color);
        // Only a press gives the player on move a running clock.
        let clock_ran = match view.line.last() {
            Some(last) => last.is_pressed(),
            None => color.is_white(),
        };
        if desk.sees_play() && on_move && clock_ran && !moves.concerns(ply) && self.open.is_none() {
            self.waiting = Some(Waiting { color, ply, at: now });
        }
    }

    fn judge(&mut self, desk: &mut Desk<'_>, moves: &Moves) {
        let Some(waiting) = self.waiting else { return };
        let now = desk.now();
        let answered = desk.view.line.last().map(|last| last.ply.stood_at + AFTER_REPLY);
        let since = waiting.at.saturating_sub(REACHES_BACK);
        let touched = desk
            .trace
            .since(answered.map_or(since, |answered| since.max(answered)))
            .filter(|shown| !desk.set_aside.contains(shown.square))
            .any(|shown| {
                [shown.before, shown.after]
                    .iter()
                    .flatten()
                    .any(|piece| piece.color == waiting.color)
            });
        if touched || moves.concerns(waiting.ply) || !desk.sees_play() {
            self.waiting = None;
            return;
        }
        let due = waiting.at + JUDGED_AFTER;
        if now < due {
            self.wake = Some(due);
            return;
        }
        self.waiting = None;
        let runs = desk.view.face.and_then(|face| face.running);
        if !desk.differs().is_empty() || runs != Some(!waiting.color) {
            return;
        }
        let sight = Sight::PressedWithoutMove {
            offence: desk.offences.count(waiting.color),
            opponent_can_mate: desk.opponent_can_mate(desk.view.tip(), waiting.color),
            times: desk.clock_times(),
        };
        let report = desk
            .report(sight, waiting.at)
            .of(waiting.color)
            .at_ply(waiting.ply);
        let number = desk.open(report);
        self.open = Some(Open {
            number,
            color: waiting.color,
            ply: waiting.ply,
        });
    }
}
