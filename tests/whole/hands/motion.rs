//! A hand over the board: what it does square by square to make a move.

use core::time::Duration;

use shakmaty::{Board, CastlingSide, Color, Move, Piece, Position, Role, Square, attacks};

use super::chance::{Chance, Span, ms};
use super::manner::{Castling, EnPassant, Manner, Path, Promoting, Taking};

/// One physical thing that happens, with its time since the players sat down.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) at: Duration,
    pub(crate) deed: Deed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
    /// From now on this stands there.
    Stands(Square, Option<Piece>),
    Press(Color),
    StartClock,
    StopClock,
    /// A result piece is put on a square: White wins, Black wins, draw.
    Token(Square, Option<kiebitz_protocol::Piece>),
}

/// A hand that acts on the pieces; it knows what really stands where.
#[derive(Debug, Clone)]
pub(crate) struct Hand {
    pub(crate) now: Duration,
    pub(crate) board: Board,
    pub(crate) steps: Vec<Step>,
    pub(crate) chance: Chance,
}

impl Hand {
    pub(crate) fn new(board: Board, chance: Chance) -> Self {
        Self {
            now: Duration::ZERO,
            board,
            steps: Vec::new(),
            chance,
        }
    }

    pub(crate) fn wait(&mut self, span: Span) {
        self.now += self.chance.time(span);
    }

    pub(crate) fn act(&mut self, deed: Deed) {
        self.steps.push(Step { at: self.now, deed });
    }

    pub(crate) fn stand(&mut self, square: Square, piece: Option<Piece>) {
        match piece {
            Some(piece) => self.board.set_piece_at(square, piece),
            None => self.board.discard_piece_at(square),
        }
        self.act(Deed::Stands(square, piece));
    }

    /// Takes a piece from the board into the hand.
    pub(crate) fn lift(&mut self, square: Square) -> Piece {
        let piece = self
            .board
            .piece_at(square)
            .expect("a hand lifts what stands there");
        self.stand(square, None);
        piece
    }

    pub(crate) fn set(&mut self, square: Square, piece: Piece) {
        self.stand(square, Some(piece));
    }

    /// Lifts a piece and puts it back.
    pub(crate) fn adjust(&mut self, square: Square, manner: &Manner) {
        let piece = self.lift(square);
        self.wait(manner.pace.flight);
        self.set(square, piece);
    }

    /// Makes a legal move of `position`, which stands on the board.
    pub(crate) fn make(&mut self, position: &impl Position, m: Move, manner: &Manner) {
        let turn = position.turn();
        match m {
            Move::Castle { king, rook } => self.castle(king, rook, turn, manner),
            Move::EnPassant { from, to } => self.take_en_passant(from, to, manner),
            Move::Normal {
                from,
                to,
                promotion: Some(role),
                capture,
                ..
            } => {
                self.promote(from, to, capture.is_some(), Piece { color: turn, role }, manner);
            }
            Move::Normal {
                from, to, capture, ..
            } => self.travel(from, to, capture.is_some(), manner),
            Move::Put { .. } => unreachable!("no piece is dropped in chess"),
        }
    }

    /// One piece goes from square to square, and captures there if something stands there.
    pub(crate) fn travel(&mut self, from: Square, to: Square, captures: bool, manner: &Manner) {
        if captures && manner.taking == Taking::VictimFirst {
            self.lift(to);
            self.wait(manner.pace.pause);
        }
        let between = self.way(from, to, manner);
        if between.is_empty() && !(drawn(manner) && neighbours(from, to)) {
            self.carry(from, to, captures, manner);
        } else {
            self.draw(from, &between, to, captures, manner);
        }
    }

    fn carry(&mut self, from: Square, to: Square, captures: bool, manner: &Manner) {
        let piece = self.lift(from);
        if manner.path == Path::Hovering {
            self.hover(from, to, piece, manner);
        }
        self.wait(manner.pace.flight);
        self.arrive(to, piece, captures, manner);
    }

    /// A square on the way sees the piece for a moment.
    fn hover(&mut self, from: Square, to: Square, piece: Piece, manner: &Manner) {
        let free: Vec<Square> = self
            .around(from, to)
            .into_iter()
            .filter(|s| self.board.piece_at(*s).is_none())
            .collect();
        if free.is_empty() {
            return;
        }
        self.wait(manner.pace.step);
        let square = self.chance.pick(&free);
        self.set(square, piece);
        self.wait(ms(20, 90));
        self.lift(square);
    }

    /// Squares under the straight way of a hand.
    fn around(&self, from: Square, to: Square) -> Vec<Square> {
        let between = attacks::between(from, to);
        if between.any() {
            return between.into_iter().collect();
        }
        let both = attacks::king_attacks(from) & attacks::king_attacks(to);
        both.into_iter().collect()
    }

    /// The squares that a drawn piece crosses, in order; empty when it is carried.
    fn way(&self, from: Square, to: Square, manner: &Manner) -> Vec<Square> {
        if !drawn(manner) {
            return Vec::new();
        }
        let mut way: Vec<Square> = attacks::between(from, to).into_iter().collect();
        if way.iter().any(|square| self.board.piece_at(*square).is_some()) {
            return Vec::new();
        }
        way.sort_by_key(|square| from.distance(*square));
        way
    }

    fn draw(&mut self, from: Square, between: &[Square], to: Square, captures: bool, manner: &Manner) {
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
        let piece = self.board.piece_at(at).expect("the drawn piece stands there");
        if captures && manner.taking == Taking::MoverFirst {
            self.lift(to);
            self.wait(manner.pace.pause);
            self.slide(at, to);
        } else if captures && self.board.piece_at(to).is_some() {
            self.lift(at);
            self.wait(ms(10, 60));
            self.arrive(to, piece, captures, manner);
        } else {
            self.slide(at, to);
        }
    }

    /// Over the line between two squares: for a moment the piece may be seen on both, or on none.
    fn slide(&mut self, from: Square, to: Square) {
        let piece = self.board.piece_at(from).expect("a drawn piece stands there");
        if self.chance.percent(30) {
            self.set(to, piece);
            self.wait(ms(2, 15));
            self.lift(from);
        } else {
            self.lift(from);
            self.wait(ms(3, 30));
            self.set(to, piece);
        }
    }

    /// A piece in the hand comes to stand on `to`.
    fn arrive(&mut self, to: Square, piece: Piece, captures: bool, manner: &Manner) {
        if !captures || self.board.piece_at(to).is_none() {
            return self.set(to, piece);
        }
        match manner.taking {
            Taking::VictimFirst | Taking::MoverFirst => {
                self.lift(to);
                self.wait(manner.pace.pause);
                self.set(to, piece);
            }
            Taking::PushedAside => self.push_aside(to, piece, manner),
            Taking::InOneGo => self.set(to, piece),
        }
    }

    fn push_aside(&mut self, to: Square, piece: Piece, manner: &Manner) {
        let free: Vec<Square> = attacks::king_attacks(to)
            .into_iter()
            .filter(|square| self.board.piece_at(*square).is_none())
            .collect();
        if free.is_empty() {
            return self.set(to, piece);
        }
        let aside = self.chance.pick(&free);
        let victim = self.lift(to);
        self.wait(ms(5, 40));
        self.set(aside, victim);
        self.set(to, piece);
        self.wait(manner.pace.pause);
        self.lift(aside);
    }

    fn take_en_passant(&mut self, from: Square, to: Square, manner: &Manner) {
        let victim = Square::from_coords(to.file(), from.rank());
        match manner.en_passant {
            EnPassant::PawnFirst => {
                self.lift(victim);
                self.wait(manner.pace.pause);
                self.travel(from, to, false, manner);
            }
            EnPassant::PawnBetween => {
                let pawn = self.lift(from);
                self.wait(manner.pace.pause);
                self.lift(victim);
                self.wait(manner.pace.flight);
                self.set(to, pawn);
            }
            EnPassant::PawnLast => {
                self.travel(from, to, false, manner);
                self.wait(manner.pace.pause);
                self.lift(victim);
            }
        }
    }

    fn castle(&mut self, king: Square, rook: Square, color: Color, manner: &Manner) {
        let side = CastlingSide::from_king_side(king < rook);
        let (king_to, rook_to) = (side.king_to(color), side.rook_to(color));
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
            _ => {
                let order = if self.chance.percent(50) {
                    [king, rook]
                } else {
                    [rook, king]
                };
                for square in order {
                    self.lift(square);
                    self.wait(ms(5, 120));
                }
                self.wait(manner.pace.flight);
                self.set(
                    king_to,
                    Piece {
                        color,
                        role: Role::King,
                    },
                );
                self.wait(ms(5, 200));
                self.set(
                    rook_to,
                    Piece {
                        color,
                        role: Role::Rook,
                    },
                );
            }
        }
    }

    fn promote(&mut self, from: Square, to: Square, captures: bool, promoted: Piece, manner: &Manner) {
        let manner = &Manner {
            path: Path::Carried,
            ..*manner
        };
        match manner.promoting {
            Promoting::PawnFirst => {
                self.travel(from, to, captures, manner);
                self.wait(manner.pace.pause);
                self.lift(to);
                self.wait(manner.pace.pause);
                self.set(to, promoted);
            }
            Promoting::PieceFirst => {
                self.arrive(to, promoted, captures, manner);
                self.wait(manner.pace.pause);
                self.lift(from);
            }
            Promoting::InTheHand => {
                self.lift(from);
                self.wait(manner.pace.flight);
                self.arrive(to, promoted, captures, manner);
            }
        }
    }
}

fn drawn(manner: &Manner) -> bool {
    matches!(manner.path, Path::Drawn | Path::DrawnWithRest)
}

fn neighbours(from: Square, to: Square) -> bool {
    attacks::king_attacks(from).contains(to)
}
