//! Castling that began with the rook, or with both pieces at once.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{Bitboard, Move, Role, Square};

use super::trace::Trace;
use super::{Desk, News};
use crate::events::IncidentEnd;
use crate::laws::Situation;

/// King and rook are read one after the other, a few milliseconds apart: lifted at most this far apart, they left
/// together.
const MAX_APART: Duration = Duration::from_millis(60);

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
            News::Played(ply, _) if *ply != self.seen => {
                self.seen = *ply;
                self.played(desk, *ply);
            }
            _ => {}
        }
    }

    fn played(&self, desk: &mut Desk<'_>, ply: u32) {
        let Some(entry) = desk.game.entry(ply).filter(|entry| !entry.ply.inferred) else {
            return;
        };
        let Some(Move::Castle { king, rook }) = entry.ply.played else {
            return;
        };
        let Some(began) = desk
            .game
            .before(ply)
            .and_then(|_| desk.game.entry(ply.checked_sub(1)?))
            .map(|before| before.ply.stood_at)
        else {
            return;
        };
        let color = entry.ply.color;
        let left = |square: Square, role: Role| left_at(desk.trace, square, role, color, began);
        let (Some(king_left), Some(rook_left)) = (left(king, Role::King), left(rook, Role::Rook)) else {
            return;
        };
        let together = king_left
            .max(rook_left)
            .saturating_duration_since(king_left.min(rook_left))
            <= MAX_APART;
        if !together && rook_left + ONE_SCAN_APART > king_left {
            return;
        }
        let squares = Bitboard::from(king).with(rook);
        let report = desk
            .report(
                Situation::CastlingRookFirst { together },
                rook_left.min(king_left),
            )
            .of(color)
            .at_ply(ply)
            .on(squares);
        desk.open_and_close(report, IncidentEnd::Passed);
        if together && landed_together(desk.trace, entry.ply.after.board(), color, rook_left) {
            let report = desk
                .report(Situation::TwoHandsSuspected, rook_left.min(king_left))
                .of(color)
                .at_ply(ply)
                .on(squares);
            desk.open_and_close(report, IncidentEnd::Passed);
        }
    }
}

/// When a piece first left its square in this turn.
fn left_at(
    trace: &Trace,
    square: Square,
    role: Role,
    color: shakmaty::Color,
    began: Timestamp,
) -> Option<Timestamp> {
    let piece = role.of(color);
    trace
        .since(began)
        .find(|shown| shown.square == square && shown.before == Some(piece))
        .map(|shown| shown.at)
}

/// Whether both pieces were put down within one scan.
fn landed_together(trace: &Trace, after: &shakmaty::Board, color: shakmaty::Color, since: Timestamp) -> bool {
    let stands = |role: Role| {
        let piece = role.of(color);
        trace
            .since(since)
            .filter(|shown| shown.after == Some(piece) && after.piece_at(shown.square) == Some(piece))
            .map(|shown| shown.at)
            .next_back()
    };
    let (Some(king), Some(rook)) = (stands(Role::King), stands(Role::Rook)) else {
        return false;
    };
    king.max(rook).saturating_duration_since(king.min(rook)) <= MAX_APART
}
