//! Castling that began with the rook, or with both pieces at once.

use shakmaty::{Bitboard, Move};

use super::{Desk, News};
use crate::events::IncidentEnd;
use crate::laws::Situation;

/// Checks castling once the ply is found; nothing stays open.
#[derive(Debug, Default)]
pub(super) struct Castlings {
    /// The last ply checked, so that a corrected one is not checked again.
    seen: u32,
}

impl Castlings {
    pub(super) fn handle(&mut self, desk: &mut Desk<'_>, news: &News) {
        match news {
            News::Started => self.seen = 0,
            News::Played(ply, _) if *ply != self.seen => self.played(desk, *ply),
            _ => {}
        }
    }

    fn played(&mut self, desk: &mut Desk<'_>, ply: u32) {
        let played = desk
            .game
            .entry(ply)
            .map(|entry| (entry.ply.color, entry.ply.played));
        let (Some((color, Some(Move::Castle { king, rook }))), Some(turn)) = (played, desk.turn(ply, None))
        else {
            return;
        };
        self.seen = ply;
        let Some((first, together)) = turn.rook_first() else {
            return;
        };
        let report = desk
            .report(Situation::CastlingRookFirst { together }, first)
            .of(color)
            .at_ply(ply)
            .on(Bitboard::from(king).with(rook));
        desk.open_and_close(report, IncidentEnd::Passed);
    }
}
