//! Promotion pieces that are exchanged after they were put down. The choice is final when the piece touches the square.

use kiebitz_hardware::Timestamp;
use shakmaty::{ByColor, Piece, Role, Square};

use super::book::Number;
use super::{Context, News};
use crate::acts::Exchanged;
use crate::events::{ClosedBy, CompletedBy, IncidentEnd};
use crate::laws::Situation;

/// Number of last plies that are watched. A player changes their mind soon or not at all.
const WATCHED_PLIES: usize = 3;

/// Watches promotions when the ply is found, when it is corrected, and for a few plies after that.
#[derive(Debug, Default)]
pub(super) struct Promotions {
    /// The last reported ply and its first piece.
    reported: Option<(u32, Role)>,
    open: Option<OpenExchange>,
    pressed_at: ByColor<Option<Timestamp>>,
    wake: Option<Timestamp>,
}

/// An exchange after the press, open until the first piece is back.
#[derive(Debug, Clone, Copy)]
struct OpenExchange {
    number: Number,
    square: Square,
    first: Piece,
}

impl Promotions {
    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        self.wake
    }

    pub(super) fn handle(&mut self, context: &mut Context<'_>, news: &News) {
        match news {
            News::Started | News::Over => *self = Self::default(),
            News::Pressed(color) => self.pressed_at[*color] = Some(context.now()),
            News::Completed(ply, CompletedBy::Press) => {
                if let Some(entry) = context.game.entry(*ply) {
                    self.pressed_at[entry.ply.color] = Some(context.now());
                }
            }
            News::Played(ply, _) => self.played(context, *ply),
            _ => {}
        }
        let is_back = |open: &mut OpenExchange| context.acts.piece_at(open.square) == Some(open.first);
        if let Some(open) = self.open.take_if(is_back) {
            context.book.close(
                context.game.now,
                open.number,
                ClosedBy::Board,
                IncidentEnd::Restored,
            );
            self.reported = None;
        }
        if matches!(news, News::Time) {
            self.wake = None;
            if context.sees_play() {
                self.watch(context);
            }
        }
    }

    /// Handles a new or corrected promotion.
    fn played(&mut self, context: &mut Context<'_>, ply: u32) {
        let played = context.game.entry(ply).and_then(|entry| entry.ply.played);
        let Some(role) = played.and_then(|m| m.promotion()).filter(|_| context.sees_play()) else {
            return;
        };
        let turn = context.turn(ply, None);
        if let Some(exchanged) = turn.and_then(|turn| turn.exchanged(role)) {
            self.report(context, ply, exchanged);
        }
    }

    /// Checks recent promotions whose ply is unchanged for another piece on the square.
    fn watch(&mut self, context: &mut Context<'_>) {
        let game = context.game;
        let Some(tip) = game.tip() else { return };
        for entry in game.line.iter().rev().take(WATCHED_PLIES) {
            let Some((first, to)) = entry.ply.played.and_then(|m| Some((m.promotion()?, m.to()))) else {
                continue;
            };
            let stays = tip.board().piece_at(to) == Some(first.of(entry.ply.color));
            let Some(turn) = context
                .turn(entry.ply.number, None)
                .filter(|_| stays && entry.is_pressed())
            else {
                continue;
            };
            let Some((other, since)) = turn.replaced() else {
                continue;
            };
            // The ply may still be corrected until then.
            let due = context.acts.judged_at(since);
            if let Some(at) = context.acts.waits(game.now, due) {
                self.wake = Some(at);
            } else if let Some(exchanged) = turn.exchanged(other) {
                self.report(context, entry.ply.number, exchanged);
            }
        }
    }

    fn report(&mut self, context: &mut Context<'_>, ply: u32, exchanged: Exchanged) {
        let Exchanged {
            square,
            stood,
            stood_at,
            now,
            at,
        } = exchanged;
        if self.reported == Some((ply, stood)) {
            return;
        }
        self.reported = Some((ply, stood));
        let Some(color) = context.game.entry(ply).map(|entry| entry.ply.color) else {
            return;
        };
        let pressed = self.pressed_at[color].is_some_and(|pressed| stood_at < pressed && pressed < at);
        let situation = Situation::PromotionExchanged {
            square,
            stood,
            now,
            pressed,
        };
        let mut report = context
            .report(situation, stood_at)
            .of(color)
            .at_ply(ply)
            .on(square);
        report.fen = context.game.before(ply).map(|before| before.fen());
        if pressed {
            let (number, first) = (context.open(report), stood.of(color));
            self.open = Some(OpenExchange {
                number,
                square,
                first,
            });
        } else {
            context.open_and_close(report, IncidentEnd::Passed);
        }
    }
}
