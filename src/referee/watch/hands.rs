//! Moves of two pieces that one hand can hardly make: castling and promotion.
//!
//! A board sees no hands. It sees each square once a scan, and what happens within a scan looks as if it happened at
//! once. Of captures it tells nothing: there one hand often takes both pieces within a scan.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, Move, Role, Square};

use super::{Desk, News};
use crate::events::IncidentEnd;
use crate::laws::{Mode, Situation, TwoPieces};
use crate::referee::LineEntry;
use crate::tracker::castled;

/// Reported at most this far apart, one scan found both.
const SAME_SCAN: Duration = Duration::from_millis(60);
/// A turn of at least this length is not played in a hurry. In a hurry one hand is quick enough.
const MIN_TURN: Duration = Duration::from_secs(3);

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
        let Some((entry, began)) = desk.game.entry(ply).zip(desk.game.turn_began(ply)) else {
            return;
        };
        if entry.ply.inferred || !desk.sees_play() || desk.trace.is_disturbed(desk.now()) {
            return;
        }
        let unhurried = desk.game.regulations.rules.mode != Mode::Blitz
            && entry.ply.lifted_at.saturating_duration_since(began) >= MIN_TURN;
        let (pieces, squares, from) = match entry.ply.played {
            Some(Move::Castle { king, rook }) => (
                TwoPieces::Castling,
                Bitboard::from(king).with(rook),
                castles(desk, entry, began, king, rook),
            ),
            Some(Move::Normal {
                from,
                to,
                promotion: Some(role),
                ..
            }) if unhurried => (
                TwoPieces::Promotion,
                Bitboard::from(from).with(to),
                promotes(desk, entry, began, (from, to), role),
            ),
            _ => return,
        };
        let Some(from) = from else { return };
        self.told = ply;
        let report = desk
            .report(Situation::TwoHandsSuspected { pieces }, from)
            .of(entry.ply.color)
            .at_ply(ply)
            .on(squares);
        desk.open_and_close(report, IncidentEnd::Passed);
    }
}

/// When both pieces left, if one scan found both gone and a later one both down.
fn castles(
    desk: &Desk<'_>,
    entry: &LineEntry,
    began: Timestamp,
    king: Square,
    rook: Square,
) -> Option<Timestamp> {
    let color = entry.ply.color;
    let (king_to, rook_to) = castled(king, rook, color);
    let (king_piece, rook_piece) = (Role::King.of(color), Role::Rook.of(color));
    let left = |square, piece| desk.trace.left(square, piece, began);
    let landed = |square, piece| desk.trace.landed(square, piece, began);
    let first = at_once(left(king, king_piece)?, left(rook, rook_piece)?)?;
    at_once(landed(king_to, king_piece)?, landed(rook_to, rook_piece)?)?;
    Some(first)
}

/// When one scan found the pawn gone and the new piece there. One hand puts down the one before it takes the other.
fn promotes(
    desk: &Desk<'_>,
    entry: &LineEntry,
    began: Timestamp,
    (from, to): (Square, Square),
    role: Role,
) -> Option<Timestamp> {
    let color = entry.ply.color;
    let left = desk.trace.left(from, Role::Pawn.of(color), began)?;
    at_once(left, desk.trace.landed(to, role.of(color), began)?)
}

/// The first of two times that belong to one scan.
fn at_once(one: Timestamp, other: Timestamp) -> Option<Timestamp> {
    let first = one.min(other);
    (one.max(other).saturating_duration_since(first) <= SAME_SCAN).then_some(first)
}
