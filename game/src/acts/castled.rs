//! Finds the order in which the two pieces of a castling or a promotion were lifted and put down.
//!
//! A board sees no hands. It reads each square once a scan, so all changes within a scan seem to happen at once.

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{Move, Piece, Role, Square};

use super::turn::Turn;
use crate::position::castled;

impl Turn<'_> {
    /// Time of the first lift of a castling in which the rook was lifted before the king or together with it, and
    /// whether both were lifted together. `None` otherwise.
    pub(crate) fn rook_first(&self) -> Option<(Timestamp, bool)> {
        let Some(Move::Castle { king, rook }) = self.ply.played else {
            return None;
        };
        let color = self.ply.color;
        let king_left = self.left_for_good(king, Role::King.of(color))?;
        let rook_left = self.left_for_good(rook, Role::Rook.of(color))?;
        let first = king_left.min(rook_left);
        let apart = king_left.max(rook_left).saturating_duration_since(first);
        // One hand that begins with the rook puts the rook down before it lifts the king.
        let rook_to = castled(king, rook, color).1;
        let rook_landed = self.trace.landed(rook_to, Role::Rook.of(color), self.since);
        let in_the_air = rook_landed.is_some_and(|landed| landed > king_left + self.trace.model.settle);
        // Both pieces left within one scan, or both were in the air together.
        let together = apart <= self.trace.model.settle || (in_the_air && apart <= ONE_SCAN_APART);
        // A scan read the rook's square as empty while the king still stood on its own.
        let rook_first = king_left > rook_left && apart >= ONE_SCAN_APART;
        (together || rook_first).then_some((first, together))
    }

    /// Time at which the two pieces of a castling or promotion moved at once, which one hand can hardly do. Captures
    /// are left out, because one hand often lifts both pieces within a scan.
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

    /// Time at which both pieces left, if both departures and both arrivals each lie within one scan.
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

    /// Time at which the pawn left, if the new piece came in the same scan. One hand puts the pawn down first.
    fn promoted_at_once(&self, from: Square, to: Square, role: Role) -> Option<Timestamp> {
        let color = self.ply.color;
        let left = self.trace.left(from, Role::Pawn.of(color), self.since)?;
        self.at_once(left, self.trace.landed(to, role.of(color), self.since)?)
    }

    /// Time at which a piece left its square in this turn, ignoring absences shorter than `Model::touched`.
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

    /// The earlier of two times; `None` if they do not lie within one scan. A scan reads two squares a few milliseconds
    /// apart.
    fn at_once(&self, one: Timestamp, other: Timestamp) -> Option<Timestamp> {
        let first = one.min(other);
        (one.max(other).saturating_duration_since(first) <= self.trace.model.settle).then_some(first)
    }
}
