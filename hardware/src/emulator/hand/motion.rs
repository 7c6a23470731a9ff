//! The motions with which a hand makes a ply.

use kiebitz_protocol::{Contents, Field, Piece};

use super::chance::ms;
use super::geometry;
use super::manner::{Castling, EnPassant, Manner, Path, Promoting, Taking};
use super::{Hand, Ply};

impl Hand {
    /// Makes a ply. If a square that a piece should leave is empty, the hand makes the same motions without a piece.
    pub fn make(&mut self, ply: &Ply, manner: &Manner) {
        match (*ply, ply.captured) {
            (
                Ply {
                    rook: Some((rook, rook_to)),
                    ..
                },
                _,
            ) => {
                self.castle((ply.from, ply.to), (rook, rook_to), manner);
            }
            (
                Ply {
                    promoted: Some(piece),
                    ..
                },
                _,
            ) => self.promote(ply, piece, manner),
            (_, Some(victim)) if ply.is_en_passant() => self.take_en_passant(ply, victim, manner),
            (_, captured) => self.travel(ply.from, ply.to, captured.is_some(), manner),
        }
    }

    /// Moves a piece from square to square, and captures a piece on `to` if there is one.
    pub fn travel(&mut self, from: Field, to: Field, captures: bool, manner: &Manner) {
        if captures && manner.taking == Taking::VictimFirst {
            self.lift(to);
            self.wait(manner.pace.pause);
        }
        let between = self.crossed_squares(from, to, manner);
        if between.is_empty() && !(is_drawn(manner) && geometry::touch(from, to)) {
            self.carry(from, to, captures, manner);
        } else {
            self.draw(from, &between, to, captures, manner);
        }
    }

    /// Lifts a piece and puts it back.
    pub fn adjust(&mut self, field: Field, manner: &Manner) {
        let piece = self.lift(field);
        self.wait(manner.pace.flight);
        self.put(field, piece);
    }

    fn carry(&mut self, from: Field, to: Field, captures: bool, manner: &Manner) {
        let piece = self.lift(from);
        if manner.path == Path::Hovering {
            self.hover(from, to, piece, manner);
        }
        self.wait(manner.pace.flight);
        self.arrive(to, piece, captures, manner);
    }

    /// Puts the piece for a moment on an empty square on its way, or next to it.
    fn hover(&mut self, from: Field, to: Field, piece: Contents, manner: &Manner) {
        let mut under = geometry::between(from, to);
        if under.is_empty() {
            under = geometry::around(to);
            under.retain(|field| geometry::touch(from, *field));
        }
        under.sort_by_key(|field| geometry::from_a1(*field));
        under.retain(|field| self.is_empty(*field));
        if under.is_empty() {
            return;
        }
        self.wait(manner.pace.step);
        if let Some(field) = self.chance.pick_from(&under) {
            self.put(field, piece);
            self.wait(ms(20, 90));
            self.lift(field);
        }
    }

    /// Returns the squares that a drawn piece crosses, in order. Empty if the piece is carried.
    fn crossed_squares(&self, from: Field, to: Field, manner: &Manner) -> Vec<Field> {
        if !is_drawn(manner) {
            return Vec::new();
        }
        let crossed_squares = geometry::between(from, to);
        if crossed_squares.iter().all(|field| self.is_empty(*field)) {
            crossed_squares
        } else {
            Vec::new()
        }
    }

    fn draw(&mut self, from: Field, between: &[Field], to: Field, captures: bool, manner: &Manner) {
        let rests_at = (manner.path == Path::DrawnWithRest && !between.is_empty())
            .then(|| self.chance.below(between.len()));
        let mut at = from;
        for (nth, next) in between.iter().enumerate() {
            self.slide(at, *next);
            let stays = if rests_at == Some(nth) {
                manner.pace.rest
            } else {
                manner.pace.step
            };
            self.wait(stays);
            at = *next;
        }
        if captures && manner.taking == Taking::MoverFirst {
            self.lift(to);
            self.wait(manner.pace.pause);
            self.slide(at, to);
        } else if captures && !self.is_empty(to) {
            let piece = self.lift(at);
            self.wait(ms(10, 60));
            self.arrive(to, piece, captures, manner);
        } else {
            self.slide(at, to);
        }
    }

    /// Moves a piece over the border between two squares. For a moment both squares or neither of them may read the
    /// piece.
    fn slide(&mut self, from: Field, to: Field) {
        if self.chance.percent(30) {
            self.put(to, self.standing[from.index()]);
            self.wait(ms(2, 15));
            self.lift(from);
        } else {
            let piece = self.lift(from);
            self.wait(ms(3, 30));
            self.put(to, piece);
        }
    }

    /// Puts the piece in the hand on `to`. A captured piece may still be on this square.
    fn arrive(&mut self, to: Field, piece: Contents, captures: bool, manner: &Manner) {
        if !captures || self.is_empty(to) {
            return self.set_down(to, piece, manner);
        }
        match manner.taking {
            Taking::VictimFirst | Taking::MoverFirst => {
                self.lift(to);
                self.wait(manner.pace.pause);
                self.put(to, piece);
            }
            Taking::PushedAside => self.push_aside(to, piece, manner),
            Taking::InOneGo => self.put(to, piece),
            Taking::LaidBeside => self.lay_beside(to, piece, manner),
        }
    }

    /// Sets a piece down, possibly so far off the centre that its square does not read it.
    fn set_down(&mut self, to: Field, piece: Contents, manner: &Manner) {
        if !manner.off_centre {
            return self.put(to, piece);
        }
        self.standing[to.index()] = piece;
        self.leave_untidy(to, None, manner.pace.tidying);
    }

    /// Puts the captured piece on a neighbouring square, and sets the capturing piece down.
    fn lay_beside(&mut self, to: Field, piece: Contents, manner: &Manner) {
        let free = self.free_around(to);
        let victim = self.lift(to);
        self.wait(manner.pace.pause);
        self.put(to, piece);
        if let Some(beside) = self.chance.pick_from(&free) {
            self.leave_untidy(beside, victim, manner.pace.tidying);
        }
    }

    fn free_around(&self, field: Field) -> Vec<Field> {
        let mut free = geometry::around(field);
        free.retain(|field| self.is_empty(*field));
        free
    }

    fn push_aside(&mut self, to: Field, piece: Contents, manner: &Manner) {
        let free = self.free_around(to);
        if free.is_empty() {
            return self.put(to, piece);
        }
        if let Some(aside) = self.chance.pick_from(&free) {
            let victim = self.lift(to);
            self.wait(ms(5, 40));
            self.put(aside, victim);
            self.put(to, piece);
            self.wait(manner.pace.pause);
            self.lift(aside);
        }
    }

    fn take_en_passant(&mut self, ply: &Ply, victim: Field, manner: &Manner) {
        match manner.en_passant {
            EnPassant::PawnFirst => {
                self.lift(victim);
                self.wait(manner.pace.pause);
                self.travel(ply.from, ply.to, false, manner);
            }
            EnPassant::PawnBetween => {
                let pawn = self.lift(ply.from);
                self.wait(manner.pace.pause);
                self.lift(victim);
                self.wait(manner.pace.flight);
                self.put(ply.to, pawn);
            }
            EnPassant::PawnLast => {
                self.travel(ply.from, ply.to, false, manner);
                self.wait(manner.pace.pause);
                self.lift(victim);
            }
        }
    }

    /// Moves king and rook, each given with its origin and target. In Chess960 the target of one may be its own origin
    /// or that of the other.
    fn castle(&mut self, (king, king_to): (Field, Field), (rook, rook_to): (Field, Field), manner: &Manner) {
        let manner = &Manner {
            path: Path::Carried,
            ..*manner
        };
        if rook == rook_to {
            return self.travel(king, king_to, false, manner);
        }
        if king == king_to {
            return self.travel(rook, rook_to, false, manner);
        }
        match manner.castling {
            Castling::KingFirst if king_to != rook => {
                self.travel(king, king_to, false, manner);
                self.wait(manner.pace.pause);
                self.travel(rook, rook_to, false, manner);
            }
            Castling::RookFirst if rook_to != king => {
                self.travel(rook, rook_to, false, manner);
                self.wait(manner.pace.pause);
                self.travel(king, king_to, false, manner);
            }
            _ => self.castle_at_once((king, king_to), (rook, rook_to), manner),
        }
    }

    fn castle_at_once(
        &mut self,
        (king, king_to): (Field, Field),
        (rook, rook_to): (Field, Field),
        manner: &Manner,
    ) {
        let pieces = [king, rook].map(|field| self.standing[field.index()]);
        let order = if self.chance.percent(50) {
            [king, rook]
        } else {
            [rook, king]
        };
        for field in order {
            self.lift(field);
            self.wait(ms(5, 120));
        }
        self.wait(manner.pace.flight);
        self.put(king_to, pieces[0]);
        self.wait(ms(5, 200));
        self.put(rook_to, pieces[1]);
    }

    fn promote(&mut self, ply: &Ply, promoted: Piece, manner: &Manner) {
        let manner = &Manner {
            path: Path::Carried,
            ..*manner
        };
        let captures = ply.captured.is_some();
        match manner.promoting {
            Promoting::PawnFirst => {
                self.travel(ply.from, ply.to, captures, manner);
                self.wait(manner.pace.pause);
                self.lift(ply.to);
                self.wait(manner.pace.pause);
                self.put(ply.to, Some(promoted));
            }
            Promoting::PieceFirst => {
                self.arrive(ply.to, Some(promoted), captures, manner);
                self.wait(manner.pace.pause);
                self.lift(ply.from);
            }
            Promoting::InTheHand => {
                self.lift(ply.from);
                self.wait(manner.pace.flight);
                self.arrive(ply.to, Some(promoted), captures, manner);
            }
        }
    }

    fn is_empty(&self, field: Field) -> bool {
        self.standing[field.index()].is_none()
    }
}

fn is_drawn(manner: &Manner) -> bool {
    matches!(manner.path, Path::Drawn | Path::DrawnWithRest)
}
