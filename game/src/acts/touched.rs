//! Finds pieces that were touched without being moved: lifted and put back, or released on another square first.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{Bitboard, Color, Square};

use super::Acts;
use super::trace::{Absence, Stay};
use super::turn::Turn;

/// A piece that was touched in a turn and not moved, or moved elsewhere.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Touched {
    pub(crate) how: How,
    /// Square of the piece at the start of the turn.
    pub(crate) origin: Square,
    pub(crate) from: Timestamp,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum How {
    /// The player lifted the piece and put it back.
    PutBack,
    /// The player lifted a piece of the opponent together with one of their own.
    Opponents,
    /// The player left the piece on this square for long enough to have released it, and then moved it on.
    Released(Square),
    /// The player released the piece on this square, and then put it back.
    TakenBack(Square),
}

impl Turn<'_> {
    /// Pieces that the player touched before the moved piece, or released before moving them on.
    pub(crate) fn touched(&self, now: Timestamp) -> Vec<Touched> {
        let color = self.ply.color;
        let min_held = self.min_held(now);
        let mut touched = Vec::new();
        let own = self.absences(color);
        for absence in &own {
            let (origin, from) = (absence.square, absence.from);
            let taken_back = self
                .released(origin)
                .filter(|stay| stay.from >= absence.from && stay.to <= absence.to);
            let how = match taken_back {
                Some(stay) => How::TakenBack(stay.square),
                None if absence.lasted() < min_held => continue,
                None => How::PutBack,
            };
            touched.push(Touched { how, origin, from });
        }
        // Either player may adjust an opponent's piece that is lifted alone.
        for absence in self.absences(!color) {
            if absence.overlaps(&own) && absence.lasted() >= min_held {
                let (origin, from) = (absence.square, absence.from);
                let how = How::Opponents;
                touched.push(Touched { how, origin, from });
            }
        }
        let moved = self.ply.played.and_then(|m| m.from());
        if let Some((origin, stay)) = moved.and_then(|from| Some((from, self.released(from)?))) {
            let how = How::Released(stay.square);
            let from = stay.from;
            touched.push(Touched { how, origin, from });
        }
        touched
    }

    /// The opponent's pieces that were lifted and put back after the opponent's press at `pressed`, and the time of
    /// each lift.
    pub(crate) fn adjusted(&self, now: Timestamp, pressed: Timestamp) -> Vec<(Square, Timestamp)> {
        let own = self.absences(self.ply.color);
        let lifted = self.absences(!self.ply.color).into_iter();
        lifted
            .filter(|absence| {
                !absence.overlaps(&own)
                    && absence.from > pressed
                    && absence.lasted() >= self.min_held(now)
                    && self.trace.is_steady(absence.square, absence.from)
            })
            .map(|absence| (absence.square, absence.from))
            .collect()
    }

    /// All absences of pieces of `color`, however short, that ended before the moved piece was lifted.
    fn absences(&self, color: Color) -> Vec<Absence> {
        let own_move = self.squares();
        let mut absences = self.trace.absences(self.since, color);
        absences.retain(|absence| {
            absence.to <= self.ply.lifted_at + ONE_SCAN_APART
                && !own_move.contains(absence.square)
                && !self.aside.contains(absence.square)
        });
        absences
    }

    fn min_held(&self, now: Timestamp) -> Duration {
        if self.trace.is_disturbed(now) {
            // Squares on a disturbed line read empty for up to a second.
            self.trace.model.rest
        } else {
            self.trace.model.touched
        }
    }

    /// The first stay of the piece from `origin` on a square other than its last one, if a legal move leads there and
    /// the stay was long enough for the piece to have left the hand (Art. 4.7).
    fn released(&self, origin: Square) -> Option<Stay> {
        let piece = self.before.board().piece_at(origin)?;
        let after = self.ply.after.board();
        let elsewhere = |stay: &Stay| {
            stay.square != origin
                && self.before.board().piece_at(stay.square) != Some(piece)
                && after.piece_at(stay.square) != Some(piece)
                && Some(stay.square) != self.to()
                && stay.lasted() >= self.trace.model.rest
                && stay.to <= self.ply.stood_at + ONE_SCAN_APART
                && !self.aside.contains(stay.square)
        };
        // A piece that is also read on its own square was misread on one of the two.
        let gone = |stay: &Stay| {
            let left = stay.from + ONE_SCAN_APART;
            let shown = self.trace.since(self.since);
            let mut last = shown.filter(|shown| shown.square == origin && shown.when.at <= left);
            last.next_back().is_some_and(|shown| shown.after != Some(piece))
        };
        let stays = self.trace.stays(self.since, piece);
        let legal = self.before.legal_moves();
        let moved = |stay: &Stay| {
            legal
                .iter()
                .any(|m| !m.is_castle() && m.from() == Some(origin) && m.to() == stay.square)
        };
        stays
            .into_iter()
            .find(|stay| elsewhere(stay) && gone(stay) && moved(stay))
    }
}

impl Acts {
    /// Whether a square touched at `from` is not among `aside` and has changed no more often than hands change it.
    pub(crate) fn is_steady(&self, square: Square, from: Timestamp, aside: Bitboard) -> bool {
        self.trace.is_steady(square, from) && !aside.contains(square)
    }
}

impl Absence {
    fn overlaps(&self, others: &[Self]) -> bool {
        others
            .iter()
            .any(|other| other.from < self.to && self.from < other.to)
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::{CastlingMode, Piece, Role};

    use super::*;
    use crate::events::{Evidence, Ply, SensorChange, Since};
    use crate::position::State;
    use crate::tracker::Snapshot;

    /// Square on which a bishop was released on its way from f1 to d3, after these changes of squares. `("e2B", 1500)`
    /// is a white bishop that comes to e2, followed by 1500 ms without a change.
    fn released(changes: &[(&str, u64)]) -> Option<Square> {
        let fen = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";
        let before = State::from_fen(fen, CastlingMode::Standard).expect("a FEN");
        let mut now = Timestamp::from_micros(1_000_000_000);
        let (mut acts, mut board) = (Acts::default(), before.board().clone());
        for (change, millis) in changes {
            let (square, letter) = change.split_at(2);
            let square: Square = square.parse().expect("a square");
            let after = letter.chars().next().and_then(Piece::from_char);
            let changes = vec![SensorChange {
                when: Since::at(now),
                square,
                before: board.piece_at(square),
                after,
            }];
            match after {
                Some(piece) => board.set_piece_at(square, piece),
                None => _ = board.remove_piece_at(square),
            }
            let snapshot = Snapshot {
                board: board.clone(),
                changes,
                watched: true,
                unseen: Bitboard::EMPTY,
                turned: false,
                dumped_at: now,
            };
            acts.see(now, &snapshot);
            now = now + Duration::from_millis(*millis);
        }
        let played = before
            .legal_moves()
            .into_iter()
            .find(|m| m.role() == Role::Bishop && m.to() == Square::D3)?;
        let ply = Ply {
            number: 3,
            color: Color::White,
            played: Some(played),
            uci: None,
            san: None,
            after: before.after(played),
            captured: None,
            lifted_at: Timestamp::from_micros(1_000_000_000),
            stood_at: now,
            inferred: false,
            recovered: false,
            any_order: false,
            clock: None,
            evidence: Evidence::default(),
        };
        let turn = acts.turn(
            &ply,
            &before,
            Timestamp::from_micros(999_000_000),
            Bitboard::EMPTY,
        );
        turn.released(Square::F1).map(|stay| stay.square)
    }

    /// Art. 4.7: a piece that is released on the square of a legal move has moved there.
    #[test]
    fn a_piece_that_rests_on_the_way_was_released() {
        let on_e2 = |millis| [("f1", 300), ("e2B", millis), ("e2", 300), ("d3B", 300)];
        assert_eq!(released(&on_e2(2000)), Some(Square::E2));
        assert_eq!(released(&on_e2(900)), None, "it may never have left the hand");
        let on_h4 = [("f1", 300), ("h4B", 2000), ("h4", 300), ("d3B", 300)];
        assert_eq!(released(&on_h4), None, "no legal move ends there");
        let misread = [("e2B", 2000), ("f1", 300), ("e2", 300), ("d3B", 300)];
        assert_eq!(released(&misread), None, "it still stood on f1");
    }
}
