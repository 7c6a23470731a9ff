//! In which order the two pieces of castling and promotion were taken and put down.
//!
//! A board sees no hands. It sees each square once a scan, and what happens within a scan looks as if it happened at
//! once.

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{Move, Piece, Role, Square};

use super::turn::Turn;
use crate::position::castled;

impl Turn<'_> {
    /// Of castling that did not begin with the king alone: when it began, and whether both pieces were taken together.
    pub(crate) fn rook_first(&self) -> Option<(Timestamp, bool)> {
        let Some(Move::Castle { king, rook }) = self.ply.played else {
            return None;
        };
        let color = self.ply.color;
        let king_left = self.left_for_good(king, Role::King.of(color))?;
        let rook_left = self.left_for_good(rook, Role::Rook.of(color))?;
        let first = king_left.min(rook_left);
        let apart = king_left.max(rook_left).saturating_duration_since(first);
        // One hand puts the rook down before it takes the king.
        let rook_to = castled(king, rook, color).1;
        let rook_landed = self.trace.landed(rook_to, Role::Rook.of(color), self.since);
        let in_the_air = rook_landed.is_some_and(|landed| landed > king_left + self.trace.model.settle);
        // One scan found both gone, or both were in the air together.
        let together = apart <= self.trace.model.settle || (in_the_air && apart <= ONE_SCAN_APART);
        // There was a scan that found one gone and the other in its place.
        let rook_first = king_left > rook_left && apart >= ONE_SCAN_APART;
        (together || rook_first).then_some((first, together))
    }

    /// Of castling and promotion: when the two pieces were moved at once, as one hand can hardly do it. Of captures a
    /// board tells nothing: there one hand often takes both pieces within a scan.
    pub(crate) fn by_two_hands(&self) -> Option<Timestamp> {
        match self.ply.played? {
            Move::Castle { king, rook } => self.castled_at_once(king, rook),
            Move::Normal {
                from,
                to,
                promotion: Some(role),
                ..
            } => self.promoted_at_once(from, to, role),
            _ => None,
        }
    }

    /// When both pieces left, if one scan found both gone and a later one both down.
    fn castled_at_once(&self, king: Square, rook: Square) -> Option<Timestamp> {
        let color = self.ply.color;
        let (king_to, rook_to) = castled(king, rook, color);
        let (king_piece, rook_piece) = (Role::King.of(color), Role::Rook.of(color));
        let left = |square, piece| self.trace.left(square, piece, self.since);
        let landed = |square, piece| self.trace.landed(square, piece, self.since);
        let first = self.at_once(left(king, king_piece)?, left(rook, rook_piece)?)?;
        self.at_once(landed(king_to, king_piece)?, landed(rook_to, rook_piece)?)?;
        Some(first)
    }

    /// When one scan found the pawn gone and the new piece there. One hand puts down the one before it takes the other.
    fn promoted_at_once(&self, from: Square, to: Square, role: Role) -> Option<Timestamp> {
        let color = self.ply.color;
        let left = self.trace.left(from, Role::Pawn.of(color), self.since)?;
        self.at_once(left, self.trace.landed(to, role.of(color), self.since)?)
    }

    /// When a piece left its square in this turn, moments left out that it was back from at once.
    fn left_for_good(&self, square: Square, piece: Piece) -> Option<Timestamp> {
        let mut left = None;
        let changes = self.trace.since(self.since);
        for shown in changes.filter(|shown| shown.square == square) {
            match left {
                None if shown.before == Some(piece) => left = Some(shown.when.at),
                Some(at)
                    if shown.after == Some(piece)
                        && shown.when.at.saturating_duration_since(at) < self.trace.model.touched =>
                {
                    left = None;
                }
                _ => {}
            }
        }
        left
    }

    /// The first of two times that belong to one scan: king and rook are read one after the other in each, a few
    /// milliseconds apart.
    fn at_once(&self, one: Timestamp, other: Timestamp) -> Option<Timestamp> {
        let first = one.min(other);
        (one.max(other).saturating_duration_since(first) <= self.trace.model.settle).then_some(first)
    }
}
