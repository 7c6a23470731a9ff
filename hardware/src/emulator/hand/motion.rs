//! What a hand does field by field to make a ply.

use kiebitz_protocol::{Contents, Field, Piece};

use super::chance::ms;
use super::geometry;
use super::manner::{Castling, EnPassant, Manner, Path, Promoting, Taking};
use super::{Hand, Ply};

impl Hand {
    /// Makes a ply. Where nothing stands on its fields, the hand goes the same ways with nothing in it.
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

    /// One piece goes from field to field, and captures there if something stands there.
    pub fn travel(&mut self, from: Field, to: Field, captures: bool, manner: &Manner) {
        if captures && manner.taking == Taking::VictimFirst {
            self.lift(to);
            self.wait(manner.pace.pause);
        }
        let between = self.way(from, to, manner);
        if between.is_empty() && !(drawn(manner) && geometry::touch(from, to)) {
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

    /// A field on the way sees the piece for a moment.
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

    /// The fields that a drawn piece crosses, in order; empty when it is carried.
    fn way(&self, from: Field, to: Field, manner: &Manner) -> Vec<Field> {
        if !drawn(manner) {
            return Vec::new();
        }
        let way = geometry::between(from, to);
        if way.iter().all(|field| self.is_empty(*field)) {
            way
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

    /// Over the line between two fields: for a moment the piece may be seen on both, or on none.
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

    /// A piece in the hand comes to stand on `to`.
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

    /// A piece is set down, not always where its field reads it.
    fn set_down(&mut self, to: Field, piece: Contents, manner: &Manner) {
        if !manner.off_centre {
            return self.put(to, piece);
        }
        self.standing[to.index()] = piece;
        self.leave_untidy(to, None, manner.pace.tidying);
    }

    /// The captured piece is laid down on a field beside its own, with the other hand still on the capturing one.
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

    /// King and rook, each from where to where. In Chess960 one of them may stay, or go where the other stands.
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

fn drawn(manner: &Manner) -> bool {
    matches!(manner.path, Path::Drawn | Path::DrawnWithRest)
}
