//! The pairs of squares that the two kings can occupy together.
//!
//! Each king by itself may be able to reach every square, and yet the two may never reach a mating position. For
//! example, the loser's king steps to and fro between two squares. To come near enough, the winner's king must approach
//! while the other stands on one of them, and thereby takes away the other square: the loser has no move left, and the
//! game is over without a mate. Therefore the squares of both kings are tracked together, with the side to move: either
//! a king moves, or another man of that side does while both kings stand, if it has a man that can ever move.
//!
//! A king's capture is ignored if the game ends with it: the enemy's king has no step, no other enemy man ever moves,
//! and the capture discovers no check. The facts about the men still hold in the position after the capture: the king
//! fills the square of the captured man, and the square that the king left was not solid. (If the king itself is still
//! solid, its first move might free another man; then every capture counts.)

use shakmaty::{
    Bitboard, Chess, Color, Position, Role, Square,
    attacks::{between, bishop_attacks, king_attacks, queen_attacks, rook_attacks},
};

use super::mobility::Mobility;

#[derive(Debug, Clone)]
pub(super) struct Kings {
    /// Possible squares of Black's king, by side to move and square of White's king.
    together: [[Bitboard; 64]; 2],
    winner: Color,
    /// Whether each colour may still castle.
    castling: [bool; 2],
}

const COLORS: [Color; 2] = [Color::Black, Color::White];

impl Kings {
    /// `None` if a king is missing.
    pub(super) fn new(position: &Chess, winner: Color) -> Option<Self> {
        let white = position.board().king_of(Color::White)?;
        let black = position.board().king_of(Color::Black)?;
        let mut together = [[Bitboard::EMPTY; 64]; 2];
        together[position.turn() as usize][white as usize] = black.into();
        Some(Self {
            together,
            winner,
            castling: COLORS.map(|color| position.castles().has_color(color)),
        })
    }

    /// Whether the kings can stand on these squares with `turn` to move.
    fn can_stand(&self, turn: Color, white: Square, black: Square) -> bool {
        self.together[turn as usize][white as usize].contains(black)
    }

    /// Squares on which the winner's king can stand when the loser's king is mated on `loser`.
    pub(super) fn at_mate(&self, mobility: &Mobility, loser: Square) -> Bitboard {
        let castles = self.castling[self.winner as usize];
        let tempo = has_tempo(mobility, self.winner);
        let mut stands = Bitboard::EMPTY;
        for own in Square::ALL {
            let (white, black) = if self.winner == Color::White {
                (own, loser)
            } else {
                (loser, own)
            };
            if !self.can_stand(self.winner, white, black) {
                continue;
            }
            // The mating move is by another man, a king move that discovers the check, or castling.
            if tempo {
                stands.add(own);
            }
            if castles || has_line_through(mobility, self.winner, loser, own) {
                stands |= king_attacks(own) & !king_attacks(loser).with(loser);
            }
            if castles {
                stands |= Bitboard::BACKRANKS;
            }
        }
        stands
    }

    /// Extends the pairs by moves of the kings and of other men, then records the squares that the kings reach and the
    /// men that they can take. Returns whether anything is new.
    pub(super) fn step(&mut self, mobility: &mut Mobility) -> bool {
        let targets =
            COLORS.map(|color| Square::ALL.map(|square| mobility.targets(Role::King, color, square.into())));
        let tempo = COLORS.map(|color| has_tempo(mobility, color));
        loop {
            let before = self.together;
            for white in Square::ALL {
                self.white_moves(
                    white,
                    &targets[Color::White as usize],
                    tempo[Color::White as usize],
                );
                self.black_moves(
                    white,
                    &targets[Color::Black as usize],
                    tempo[Color::Black as usize],
                );
            }
            self.castle(mobility);
            if before == self.together {
                break;
            }
        }
        let mut changed = false;
        for color in COLORS {
            changed |= self.record_captures(mobility, color, &targets, tempo);
        }
        changed
    }

    fn white_moves(&mut self, white: Square, targets: &[Bitboard; 64], tempo: bool) {
        let black = self.together[Color::White as usize][white as usize];
        if black.is_empty() {
            return;
        }
        let after = &mut self.together[Color::Black as usize];
        if tempo {
            after[white as usize] |= black;
        }
        for to in targets[white as usize] {
            after[to as usize] |= black & !king_attacks(to).with(to);
        }
    }

    fn black_moves(&mut self, white: Square, targets: &[Bitboard; 64], tempo: bool) {
        let black = self.together[Color::Black as usize][white as usize];
        let mut after = if tempo { black } else { Bitboard::EMPTY };
        for from in black {
            after |= targets[from as usize] & !king_attacks(white).with(white);
        }
        self.together[Color::White as usize][white as usize] |= after;
    }

    /// As long as a side may castle, its king may stand on any square that it can reach by itself, whatever the square
    /// of the other king.
    fn castle(&mut self, mobility: &Mobility) {
        for king in mobility
            .men
            .iter()
            .filter(|man| man.role == Role::King && self.castling[man.color as usize])
        {
            for rows in &mut self.together {
                for white in Square::ALL {
                    let black = rows[white as usize];
                    if black.is_empty() {
                        continue;
                    }
                    match king.color {
                        Color::White => king.reach.into_iter().for_each(|to| rows[to as usize] |= black),
                        Color::Black => rows[white as usize] |= king.reach,
                    }
                }
            }
        }
    }

    /// Records the squares that the king of `color` can reach, and the captures that do not end the game. Returns
    /// whether anything is new.
    fn record_captures(
        &self,
        mobility: &mut Mobility,
        color: Color,
        targets: &[[Bitboard; 64]; 2],
        tempo: [bool; 2],
    ) -> bool {
        let Some(index) = mobility
            .men
            .iter()
            .position(|man| man.role == Role::King && man.color == color)
        else {
            return false;
        };
        let (king, enemy) = (mobility.men[index], color.other() as usize);
        let prey = mobility.prey_of(color);
        let (mut reach, mut hits) = (king.reach, Bitboard::EMPTY);
        for white in Square::ALL {
            for black in self.together[color as usize][white as usize] {
                let (from, other) = if color == Color::White {
                    (white, black)
                } else {
                    (black, white)
                };
                let moves = targets[color as usize][from as usize] & !king_attacks(other).with(other);
                reach |= moves;
                for to in moves & prey & !hits {
                    let goes_on = king.is_solid()
                        || tempo[enemy]
                        || self.castling[enemy]
                        || !(targets[enemy][other as usize] & !king_attacks(to).with(to)).is_empty()
                        || (self.winner == color && has_line_through(mobility, color, other, from));
                    if goes_on {
                        hits.add(to);
                    }
                }
            }
        }
        mobility.men[index].reach = reach;
        mobility.take(color, hits, Bitboard::EMPTY) || reach != king.reach
    }
}

/// Whether a side has a man other than its king that can ever move.
fn has_tempo(mobility: &Mobility, color: Color) -> bool {
    mobility
        .men
        .iter()
        .any(|man| man.color == color && man.role != Role::King && !man.is_fixed())
}

/// Whether a man of this colour can ever attack `target` along a line that passes through `through`.
fn has_line_through(mobility: &Mobility, color: Color, target: Square, through: Square) -> bool {
    let blockers = mobility.solid.without(through);
    let from = |role, stands: Bitboard| {
        let line = match role {
            Role::Bishop => bishop_attacks(target, Bitboard::EMPTY),
            Role::Rook => rook_attacks(target, Bitboard::EMPTY),
            Role::Queen => queen_attacks(target, Bitboard::EMPTY),
            _ => Bitboard::EMPTY,
        };
        (stands & line).into_iter().any(|from| {
            let way = between(from, target);
            way.contains(through) && !way.intersects(blockers)
        })
    };
    mobility
        .men
        .iter()
        .any(|man| man.color == color && (from(man.role, man.reach) || from(Role::Queen, man.crowned)))
}
