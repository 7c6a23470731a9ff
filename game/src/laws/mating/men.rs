//! A fast position for playing lines: the men and the side to move.
//!
//! Castling and en passant are left out. Some legal moves are therefore missing, but every move found here is legal in
//! the game. A mate by a pawn move is not recognised as one: the opponent could answer it en passant.

use shakmaty::{
    Bitboard, Chess, Color, Move, Position, Rank, Role, Square,
    attacks::{
        attacks, between, bishop_attacks, king_attacks, knight_attacks, pawn_attacks, queen_attacks,
        rook_attacks,
    },
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Men {
    roles: [Bitboard; 6],
    colors: [Bitboard; 2],
    kings: [Square; 2],
    pub(super) turn: Color,
}

/// A move other than castling and en passant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) role: Role,
    pub(super) from: Square,
    pub(super) to: Square,
    pub(super) capture: Option<Role>,
    pub(super) promotion: Option<Role>,
}

impl From<Step> for Move {
    fn from(step: Step) -> Self {
        Self::Normal {
            role: step.role,
            from: step.from,
            capture: step.capture,
            to: step.to,
            promotion: step.promotion,
        }
    }
}

const PIECES: [Role; 4] = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight];

impl Men {
    /// `None` if a king is missing.
    pub(super) fn new(position: &Chess) -> Option<Self> {
        let board = position.board();
        Some(Self {
            roles: Role::ALL.map(|role| board.by_role(role)),
            colors: [board.black(), board.white()],
            kings: [board.king_of(Color::Black)?, board.king_of(Color::White)?],
            turn: position.turn(),
        })
    }

    #[inline]
    pub(super) fn role(&self, role: Role) -> Bitboard {
        self.roles[role as usize - 1]
    }

    #[inline]
    pub(super) fn of(&self, color: Color) -> Bitboard {
        self.colors[color as usize]
    }

    #[inline]
    pub(super) fn king(&self, color: Color) -> Square {
        self.kings[color as usize]
    }

    #[inline]
    pub(super) fn occupied(&self) -> Bitboard {
        self.colors[0] | self.colors[1]
    }

    #[inline]
    pub(super) fn heavy(&self, color: Color) -> Bitboard {
        self.of(color) & (self.role(Role::Rook) | self.role(Role::Queen))
    }

    #[inline]
    pub(super) fn pawns(&self, color: Color) -> Bitboard {
        self.of(color) & self.role(Role::Pawn)
    }

    fn role_at(&self, square: Square) -> Option<Role> {
        Role::ALL
            .into_iter()
            .find(|role| self.role(*role).contains(square))
    }

    /// The men of `by` that attack a square, given the occupied squares.
    #[inline]
    pub(super) fn attackers(&self, square: Square, by: Color, occupied: Bitboard) -> Bitboard {
        let queens = self.role(Role::Queen);
        let all = (knight_attacks(square) & self.role(Role::Knight))
            | (king_attacks(square) & self.role(Role::King))
            | (pawn_attacks(by.other(), square) & self.role(Role::Pawn))
            | (bishop_attacks(square, occupied) & (self.role(Role::Bishop) | queens))
            | (rook_attacks(square, occupied) & (self.role(Role::Rook) | queens));
        all & self.of(by)
    }

    /// Whether the king may step to a square without being attacked there.
    #[inline]
    pub(super) fn is_safe_for_king(&self, color: Color, to: Square) -> bool {
        let occupied = self.occupied().without(self.king(color));
        self.attackers(to, color.other(), occupied).without(to).is_empty()
    }

    /// Whether a pseudo-legal move leaves the mover's king unattacked.
    #[inline]
    pub(super) fn is_legal(&self, step: Step) -> bool {
        if step.role == Role::King {
            return self.is_safe_for_king(self.turn, step.to);
        }
        let occupied = self.occupied().without(step.from).with(step.to);
        self.attackers(self.king(self.turn), self.turn.other(), occupied)
            .without(step.to)
            .is_empty()
    }

    pub(super) fn play(&mut self, step: Step) {
        let (own, enemy) = (self.turn as usize, self.turn.other() as usize);
        if let Some(taken) = step.capture {
            self.roles[taken as usize - 1].discard(step.to);
            self.colors[enemy].discard(step.to);
        }
        self.roles[step.role as usize - 1].discard(step.from);
        self.roles[step.promotion.unwrap_or(step.role) as usize - 1].add(step.to);
        self.colors[own].discard(step.from);
        self.colors[own].add(step.to);
        if step.role == Role::King {
            self.kings[own] = step.to;
        }
        self.turn = self.turn.other();
    }

    /// The move of a man to a square; `crown` is the role to which a pawn promotes.
    pub(super) fn step(&self, role: Role, from: Square, to: Square, crown: Role) -> Step {
        let last = self.turn.fold_wb(Rank::Eighth, Rank::First);
        let taken = self.of(self.turn.other()).contains(to);
        Step {
            role,
            from,
            to,
            capture: if taken { self.role_at(to) } else { None },
            promotion: (role == Role::Pawn && to.rank() == last).then_some(crown),
        }
    }

    /// Visits every pseudo-legal move; promotions only to `crown`.
    pub(super) fn for_each(&self, crown: Role, mut visit: impl FnMut(Step)) {
        let (own, occupied) = (self.of(self.turn), self.occupied());
        for role in PIECES {
            for from in own & self.role(role) {
                for to in attacks(from, role.of(self.turn), occupied) & !own {
                    visit(self.step(role, from, to, crown));
                }
            }
        }
        let king = self.king(self.turn);
        for to in king_attacks(king) & !own {
            visit(self.step(Role::King, king, to, crown));
        }
        for from in own & self.role(Role::Pawn) {
            let takes = pawn_attacks(self.turn, from) & self.of(self.turn.other());
            for to in takes | self.pushes(from, self.turn) {
                visit(self.step(Role::Pawn, from, to, crown));
            }
        }
    }

    #[inline]
    pub(super) fn pushes(&self, from: Square, color: Color) -> Bitboard {
        let free = !self.occupied();
        let (ahead, third) = match color {
            Color::White => (8, Rank::Third),
            Color::Black => (-8, Rank::Sixth),
        };
        let one = Bitboard::from_square(from).shift(ahead) & free;
        one | ((one & Bitboard::from_rank(third)).shift(ahead) & free)
    }

    /// Whether the side to move is mated, ignoring en passant.
    pub(super) fn is_mated(&self) -> bool {
        let (color, enemy) = (self.turn, self.turn.other());
        let (king, occupied) = (self.king(color), self.occupied());
        let checkers = self.attackers(king, enemy, occupied);
        let Some(checker) = checkers.first() else {
            return false;
        };
        if (king_attacks(king) & !self.of(color))
            .into_iter()
            .any(|to| self.is_safe_for_king(color, to))
        {
            return false;
        }
        checkers.more_than_one() || !self.can_answer(checker, king)
    }

    /// Whether a man other than the king can take the only checker or interpose.
    fn can_answer(&self, checker: Square, king: Square) -> bool {
        let own = self.of(self.turn).without(king);
        let occupied = self.occupied();
        let targets = between(checker, king).with(checker);
        for from in own {
            let reach = if self.role(Role::Pawn).contains(from) {
                (pawn_attacks(self.turn, from) & Bitboard::from_square(checker))
                    | self.pushes(from, self.turn)
            } else if self.role(Role::Knight).contains(from) {
                knight_attacks(from)
            } else if self.role(Role::Bishop).contains(from) {
                bishop_attacks(from, occupied)
            } else if self.role(Role::Rook).contains(from) {
                rook_attacks(from, occupied)
            } else {
                queen_attacks(from, occupied)
            };
            for to in reach & targets {
                let after = occupied.without(from).with(to);
                if self
                    .attackers(king, self.turn.other(), after)
                    .without(to)
                    .is_empty()
                {
                    return true;
                }
            }
        }
        false
    }
}
