//! Castling and promotion in ways that need two hands.

use shakmaty::{Bitboard, Move};

use super::{Context, News};
use crate::events::IncidentEnd;
use crate::laws::{Mode, Situation, TwoPieces};

/// Checks moves of two pieces once the ply is found. Its incidents are closed at once.
#[derive(Debug, Default)]
pub(super) struct TwoHands {
    /// The last ply reported. A correction of it is not reported again.
    reported: u32,
}

impl TwoHands {
    pub(super) fn handle(&mut self, context: &mut Context<'_>, news: &News) {
        match news {
            News::Started => self.reported = 0,
            News::Played(ply, _) if *ply != self.reported => self.played(context, *ply),
            _ => {}
        }
    }

    fn played(&mut self, context: &mut Context<'_>, ply: u32) {
        let (Some(entry), Some(turn)) = (context.game.entry(ply), context.turn(ply, None)) else {
            return;
        };
        if !context.sees_play() || context.acts.is_disturbed(context.now()) {
            return;
        }
        let unhurried = context.game.regulations.rules.mode != Mode::Blitz && turn.is_unhurried();
        let (pieces, squares) = match entry.ply.played {
            Some(Move::Castle { king, rook }) => (TwoPieces::Castling, Bitboard::from(king).with(rook)),
            Some(Move::Normal {
                from,
                to,
                promotion: Some(_),
                ..
            }) if unhurried => (TwoPieces::Promotion, Bitboard::from(from).with(to)),
            _ => return,
        };
        let Some(from) = turn.by_two_hands() else {
            return;
        };
        self.reported = ply;
        let report = context
            .report(Situation::TwoHandsSuspected { pieces }, from)
            .of(entry.ply.color)
            .at_ply(ply)
            .on(squares);
        context.open_and_close(report, IncidentEnd::Passed);
    }
}
