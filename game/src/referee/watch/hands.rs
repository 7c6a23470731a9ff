//! Moves of two pieces that one hand can hardly make: castling and promotion.

use shakmaty::{Bitboard, Move};

use super::{Desk, News};
use crate::events::IncidentEnd;
use crate::laws::{Mode, Situation, TwoPieces};

/// Checks moves of two pieces once the ply is found; nothing stays open.
#[derive(Debug, Default)]
pub(super) struct TwoHands {
    /// The last ply reported, so that a corrected one is not reported again.
    told: u32,
}

impl TwoHands {
    pub(super) fn handle(&mut self, desk: &mut Desk<'_>, news: &News) {
        match news {
            News::Started => self.told = 0,
            News::Played(ply, _) if *ply != self.told => self.played(desk, *ply),
            _ => {}
        }
    }

    fn played(&mut self, desk: &mut Desk<'_>, ply: u32) {
        let (Some(entry), Some(turn)) = (desk.game.entry(ply), desk.turn(ply, None)) else {
            return;
        };
        if !desk.sees_play() || desk.acts.is_disturbed(desk.now()) {
            return;
        }
        let unhurried = desk.game.regulations.rules.mode != Mode::Blitz && turn.is_unhurried();
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
        self.told = ply;
        let report = desk
            .report(Situation::TwoHandsSuspected { pieces }, from)
            .of(entry.ply.color)
            .at_ply(ply)
            .on(squares);
        desk.open_and_close(report, IncidentEnd::Passed);
    }
}
