//! Where the two kings can stand together.
//!
//! Each king by itself may well get everywhere, and still the two never get to where one of them is mated: the
//! loser's king steps to and fro between two squares, and the winner's cannot be near enough when it matters, for it
//! would have to come while that king stands on the one square and take away the other: then the loser has no move
//! left, and the game is over without a mate. So the kings' squares are followed together, with the side to move: a
//! king moves, or another man of that side does while both kings stand, if there is a man that ever can.
//!
//! A king's capture is passed over when the game ends with it: the enemy's king has no step, no other enemy man ever
//! moves, and no check is discovered by it. What is known of the men holds in the position after the capture too: the
//! taken man's place is filled by the king, and the square the king left was no solid one. (While the king is solid
//! itself, its first move might free another; then every capture counts.)

use shakmaty::{
    Bitboard, Chess, Color, Position, Role, Square,
    attacks::{between, bishop_attacks, king_attacks, queen_attacks, rook_attacks},
};

use super::mobility::Mobility;

/// Which squares of the kings go together.
#[derive(Debug, Clone)]
pub(super) struct Kings {
    /// By the side to move and the square of White's king, the squares of Black's.
    together: [[Bitboard; 64]; 2],
    winner: Color,
    /// By colour, whether it may still castle.
    castling: [bool; 2],
}

const COLORS: [Color; 2] = [Color::Black, Color::White];

impl Kings {
    /// `None` without a king of each colour.
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
    fn meet(&self, turn: Color, white: Square, black: Square) -> bool {
        self.together[turn as usize][white as usize].contains(black)
    }

    /// Where the winner's king can stand when the loser's is mated on `loser`.
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
            if !self.meet(self.winner, white, black) {
                continue;
            }
            // Either another man mates, or the king discovers the check by moving, or castling gives it.
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

    /// Lets the kings move, and stand while others move; then says what they reach and take. Whether that is news.
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
            changed |= self.takes(mobility, color, &targets, tempo);
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

    /// While a side may castle, its king may stand wherever it gets by itself, together with whatever goes.
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

    /// What this colour's king reaches, and what it takes without ending the game.
    fn takes(
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

/// Whether a side has another man than its king that can ever move.
fn has_tempo(mobility: &Mobility, color: Color) -> bool {
    mobility
        .men
        .iter()
        .any(|man| man.color == color && man.role != Role::King && !man.is_fixed())
}

/// Whether a man of this colour could ever attack a square along a line that passes through another.
fn has_line_through(mobility: &Mobility, color: Color, target: Square, through: Square) -> bool {
    let shut = mobility.solid.without(through);
    let from = |role, stands: Bitboard| {
        let line = match role {
            Role::Bishop => bishop_attacks(target, Bitboard::EMPTY),
            Role::Rook => rook_attacks(target, Bitboard::EMPTY),
            Role::Queen => queen_attacks(target, Bitboard::EMPTY),
            _ => Bitboard::EMPTY,
        };
        (stands & line).into_iter().any(|from| {
            let way = between(from, target);
            way.contains(through) && !way.intersects(shut)
        })
    };
    mobility
        .men
        .iter()
        .any(|man| man.color == color && (from(man.role, man.reach) || from(Role::Queen, man.crowned)))
}
