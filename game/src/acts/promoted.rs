//! Finds promotion pieces that were exchanged after they stood.

use kiebitz_hardware::Timestamp;
use shakmaty::{Piece, Role, Square};

use super::turn::Turn;

/// A promotion piece that was replaced by a piece of another kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exchanged {
    pub(crate) square: Square,
    pub(crate) stood: Role,
    pub(crate) stood_at: Timestamp,
    /// Kind of the later piece, which arrived at the time `at`.
    pub(crate) now: Role,
    pub(crate) at: Timestamp,
}

impl Turn<'_> {
    /// Kind and arrival of a piece on the promotion square that is not the chosen one; `None` if the square reads the
    /// chosen piece, a piece of the opponent, or no piece.
    pub(crate) fn replaced(&self) -> Option<(Role, Timestamp)> {
        let (chosen, to) = self.ply.played.and_then(|m| Some((m.promotion()?, m.to())))?;
        let shown = self.trace.board().piece_at(to)?;
        (shown.color == self.ply.color && shown.role != chosen)
            .then(|| (shown.role, self.trace.changed_at(to)))
    }

    /// The piece that stood before a piece of the kind `now`, if the square read empty between them. A piece that
    /// changes its kind from one scan to the next was misread.
    pub(crate) fn exchanged(&self, now: Role) -> Option<Exchanged> {
        let (square, color) = (self.to()?, self.ply.color);
        let mut standing: Option<(Role, Timestamp)> = None;
        let mut left: Option<(Role, Timestamp)> = None;
        let mut found = None;
        let changes = self.trace.since(self.since);
        for shown in changes.filter(|shown| shown.square == square) {
            let own = |piece: &Piece| piece.color == color && !matches!(piece.role, Role::Pawn | Role::King);
            match shown.after.filter(own) {
                Some(piece) => {
                    if let Some((stood, stood_at)) = left.take().filter(|_| piece.role == now) {
                        found = (stood != now).then_some(Exchanged {
                            square,
                            stood,
                            stood_at,
                            now,
                            at: shown.when.at,
                        });
                    }
                    standing = Some((piece.role, shown.when.at));
                }
                None => {
                    let stood = standing
                        .take()
                        .filter(|(_, since)| *since + self.trace.model.touched <= shown.when.at);
                    left = stood.filter(|_| shown.after.is_none()).or(left);
                }
            }
        }
        found
    }
}
