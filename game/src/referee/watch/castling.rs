//! Castling that began with the rook or with both pieces at once.

use shakmaty::{Bitboard, Move};

use super::{Context, News};
use crate::events::IncidentEnd;
use crate::laws::Situation;

/// Checks castling once the ply is found. Its incidents are closed at once.
#[derive(Debug, Default)]
pub(super) struct Castlings {
    /// The last ply checked. A correction of it is not checked again.
    seen: u32,
}

impl Castlings {
    pub(super) fn handle(&mut self, context: &mut Context<'_>, news: &News) {
        match news {
            News::Started => self.seen = 0,
            News::Played(ply, _) if *ply != self.seen => self.played(context, *ply),
            _ => {}
        }
    }

    fn played(&mut self, context: &mut Context<'_>, ply: u32) {
        let played = context
            .game
            .entry(ply)
            .map(|entry| (entry.ply.color, entry.ply.played));
        let (Some((color, Some(Move::Castle { king, rook }))), Some(turn)) =
            (played, context.turn(ply, None))
        else {
            return;
        };
        self.seen = ply;
        let Some((first, together)) = turn.rook_first() else {
            return;
        };
        let report = context
            .report(Situation::CastlingRookFirst { together }, first)
            .of(color)
            .at_ply(ply)
            .on(Bitboard::from(king).with(rook));
        context.open_and_close(report, IncidentEnd::Passed);
    }
}
