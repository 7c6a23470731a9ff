//! Castling that began with the rook, or with both pieces at once.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{Bitboard, Move, Piece, Role, Square};

use super::trace::Trace;
use super::{Desk, News};
use crate::events::IncidentEnd;
use crate::laws::Situation;
use crate::tracker::castled;

/// King and rook are read one after the other in each scan, a few milliseconds apart: reported at most this far apart,
/// one scan found both gone.
const SAME_SCAN: Duration = Duration::from_millis(60);
/// Reported at least this far apart, there was a scan that found one gone and the other in its place.
const ANOTHER_SCAN: Duration = Duration::from_millis(130);
/// Two pieces that leave within a scan and are in the air together are taken at once.
const MAX_APART: Duration = ONE_SCAN_APART;
/// A square that is empty for less than this may have been misread, or its piece adjusted.
const MIN_HELD: Duration = Duration::from_millis(800);

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
        let Some(entry) = desk.game.entry(ply).filter(|entry| !entry.ply.inferred) else {
            return;
        };
        let Some(Move::Castle { king, rook }) = entry.ply.played else {
            return;
        };
        let Some(began) = desk.game.turn_began(ply) else {
            return;
        };
        self.seen = ply;
        let color = entry.ply.color;
        let left = |square, role: Role| left_at(desk.trace, square, role.of(color), began);
        let (Some(king_left), Some(rook_left)) = (left(king, Role::King), left(rook, Role::Rook)) else {
            return;
        };
        let first = king_left.min(rook_left);
        let apart = king_left.max(rook_left).saturating_duration_since(first);
        // One hand puts the rook down before it takes the king.
        let rook_to = castled(king, rook, color).1;
        let rook_landed = desk.trace.landed(rook_to, Role::Rook.of(color), began);
        let in_the_air = rook_landed.is_some_and(|landed| landed > king_left + SAME_SCAN);
        let together = apart <= SAME_SCAN || (in_the_air && apart <= MAX_APART);
        if !together && (king_left < rook_left || apart < ANOTHER_SCAN) {
            return;
        }
        let report = desk
            .report(Situation::CastlingRookFirst { together }, first)
            .of(color)
            .at_ply(ply)
            .on(Bitboard::from(king).with(rook));
        desk.open_and_close(report, IncidentEnd::Passed);
    }
}

/// When a piece left its square in this turn, moments left out that it was back from at once.
fn left_at(trace: &Trace, square: Square, piece: Piece, began: Timestamp) -> Option<Timestamp> {
    let mut left = None;
    for shown in trace.since(began).filter(|shown| shown.square == square) {
        match left {
            None if shown.before == Some(piece) => left = Some(shown.at),
            Some(at) if shown.after == Some(piece) && shown.at.saturating_duration_since(at) < MIN_HELD => {
                left = None;
            }
            _ => {}
        }
    }
    left
}
