//! Where each man can ever get to, whatever is played: too much rather than too little.
//!
//! At first no man moves and none is taken. A round adds every step that the sets found so far allow: a man goes
//! where its lines are not shut by solid men (men that never move and are never taken), a man can be taken where an
//! enemy can take it, a pawn takes where an enemy can come, a king never steps beside a solid enemy's attack. The
//! rounds end when one adds nothing. Then no legal move leads out of the sets: by induction over the moves of any
//! game from here, every man stands within its set, and what is solid stands where it stood. So what the sets exclude
//! never happens. They say nothing about what does.

use shakmaty::{
    Bitboard, CastlingSide, Chess, Color, Position, Rank, Role, Square,
    attacks::{
        between, bishop_attacks, king_attacks, knight_attacks, pawn_attacks, queen_attacks, rook_attacks,
    },
};

use super::kings::Kings;

/// What can ever become of one man on the board.
#[derive(Debug, Clone, Copy)]
pub(super) struct Man {
    pub(super) color: Color,
    pub(super) role: Role,
    pub(super) home: Square,
    /// Where it can ever stand as what it is now, its square now among them.
    pub(super) reach: Bitboard,
    /// Where a pawn can ever stand as what it was promoted to.
    pub(super) crowned: Bitboard,
    /// Whether it can ever be taken.
    pub(super) takeable: bool,
    /// A pawn that never leaves its file, as far as is known.
    bound: bool,
}

impl Man {
    pub(super) fn anywhere(&self) -> Bitboard {
        self.reach | self.crowned
    }

    /// Whether it never moves.
    pub(super) fn is_fixed(&self) -> bool {
        self.anywhere() == Bitboard::from_square(self.home)
    }

    /// Whether it never moves and is never taken.
    pub(super) fn is_solid(&self) -> bool {
        !self.takeable && self.is_fixed()
    }
}

/// The men of a position with all they can ever do.
#[derive(Debug, Clone)]
pub(super) struct Mobility {
    pub(super) men: Vec<Man>,
    /// Where the kings can stand together, when that was asked for.
    pub(super) kings: Option<Box<Kings>>,
    /// Squares whose men never move and are never taken.
    pub(super) solid: Bitboard,
    /// By colour: squares that its solid men attack for ever.
    guarded: [Bitboard; 2],
    /// By colour: squares where no man of it can come, for solid men of its own or a solid enemy king.
    barred: [Bitboard; 2],
    /// By colour: squares where a man of it can be taken.
    prey: [Bitboard; 2],
}

impl Mobility {
    /// Of each man by itself.
    pub(super) fn new(position: &Chess) -> Self {
        let mut mobility = Self::at_rest(position);
        mobility.spread(position);
        mobility
    }

    /// Also of the kings together, to see whether `winner` can mate.
    pub(super) fn with_kings(position: &Chess, winner: Color) -> Self {
        let mut mobility = Self::at_rest(position);
        mobility.kings = Kings::new(position, winner).map(Box::new);
        mobility.spread(position);
        mobility
    }

    fn at_rest(position: &Chess) -> Self {
        let men = position
            .board()
            .iter()
            .map(|(home, piece)| Man {
                color: piece.color,
                role: piece.role,
                home,
                reach: home.into(),
                crowned: Bitboard::EMPTY,
                takeable: false,
                bound: true,
            })
            .collect();
        let none = [Bitboard::EMPTY; 2];
        let mut mobility = Self {
            men,
            kings: None,
            solid: Bitboard::EMPTY,
            guarded: none,
            barred: none,
            prey: none,
        };
        mobility.take_en_passant(position);
        mobility.refresh();
        mobility
    }

    fn spread(&mut self, position: &Chess) {
        loop {
            let mut changed = self.castle(position);
            for index in 0..self.men.len() {
                if self.kings.is_none() || self.men[index].role != Role::King {
                    changed |= self.step(index);
                }
            }
            if let Some(mut kings) = self.kings.take() {
                changed |= kings.step(self);
                self.kings = Some(kings);
            }
            if !changed {
                return;
            }
            self.refresh();
        }
    }

    fn refresh(&mut self) {
        let none = [Bitboard::EMPTY; 2];
        (self.solid, self.guarded, self.barred, self.prey) = (Bitboard::EMPTY, none, none, none);
        for man in &self.men {
            let (own, other) = (man.color as usize, man.color.other() as usize);
            if man.role != Role::King {
                self.prey[own] |= man.anywhere();
            }
            if !man.is_solid() {
                continue;
            }
            self.solid.add(man.home);
            self.barred[own].add(man.home);
            if man.role == Role::King {
                self.barred[other].add(man.home);
            }
            let near = king_attacks(man.home);
            self.guarded[own] |= match man.role {
                Role::Pawn => pawn_attacks(man.color, man.home),
                Role::Knight => knight_attacks(man.home),
                // Further off something may come between.
                Role::Bishop => near & bishop_attacks(man.home, Bitboard::EMPTY),
                Role::Rook => near & rook_attacks(man.home, Bitboard::EMPTY),
                Role::Queen | Role::King => near,
            };
        }
    }

    /// The pawn that may be taken en passant now.
    fn take_en_passant(&mut self, position: &Chess) {
        let Some(to) = position.legal_ep_square() else {
            return;
        };
        let takers = pawn_attacks(position.turn().other(), to);
        let taken = to.offset(if position.turn() == Color::White { -8 } else { 8 });
        for man in &mut self.men {
            if man.role == Role::Pawn && man.color == position.turn() && takers.contains(man.home) {
                man.reach.add(to);
                man.bound = false;
            }
            man.takeable |= Some(man.home) == taken;
        }
    }

    /// Castling wants the squares between free, that of the rook and the king's own not.
    fn castle(&mut self, position: &Chess) -> bool {
        let mut changed = false;
        for (color, side) in Color::ALL
            .into_iter()
            .flat_map(|color| CastlingSide::ALL.map(|side| (color, side)))
        {
            let (Some(king), Some(rook)) = (
                position.board().king_of(color),
                position.castles().rook(color, side),
            ) else {
                continue;
            };
            if position.castles().path(color, side).intersects(self.solid) {
                continue;
            }
            for man in &mut self.men {
                let to = if man.home == king {
                    side.king_to(color)
                } else if man.home == rook {
                    side.rook_to(color)
                } else {
                    continue;
                };
                changed |= !man.reach.contains(to);
                man.reach.add(to);
            }
        }
        changed
    }

    /// Lets one man do all that it can from where it is known to get.
    fn step(&mut self, index: usize) -> bool {
        let man = self.men[index];
        let mut after = man;
        let mut hits = Bitboard::EMPTY;
        let mut passed = Bitboard::EMPTY;
        if man.role == Role::Pawn {
            let takes = self.pawn_takes(&man);
            passed = self.passes(&man);
            let landings = passed.shift(if man.color == Color::White { -8 } else { 8 });
            after.bound &= takes.is_empty() && passed.is_empty();
            let all = man.reach | takes | landings | self.pushes(&man, after.bound);
            after.reach = all & !Bitboard::BACKRANKS;
            after.crowned |= all & Bitboard::BACKRANKS;
            // Queen and knight together go wherever rook and bishop go.
            hits = takes;
            for role in [Role::Queen, Role::Knight] {
                let targets = self.targets(role, man.color, after.crowned);
                hits |= targets;
                after.crowned |= targets;
            }
        } else {
            let mut edge = man.reach;
            while edge.any() {
                let targets = self.targets(man.role, man.color, edge);
                hits |= targets;
                edge = targets & !after.reach;
                after.reach |= edge;
            }
        }
        self.men[index] = after;
        let changed = after.reach != man.reach || after.crowned != man.crowned || after.bound != man.bound;
        self.take(man.color, hits, passed) || changed
    }

    /// Marks the enemy's men that can be taken on `hits`, and its pawns at home on `passed`.
    pub(super) fn take(&mut self, color: Color, hits: Bitboard, passed: Bitboard) -> bool {
        let mut changed = false;
        for man in &mut self.men {
            if man.color != color && !man.takeable && man.role != Role::King {
                man.takeable = man.anywhere().intersects(hits) || passed.contains(man.home);
                changed |= man.takeable;
            }
        }
        changed
    }

    /// Where a piece can move to from these squares, the enemy's men there included.
    pub(super) fn targets(&self, role: Role, color: Color, from: Bitboard) -> Bitboard {
        let mut targets = Bitboard::EMPTY;
        for square in from {
            targets |= match role {
                Role::Pawn => Bitboard::EMPTY,
                Role::Knight => knight_attacks(square),
                Role::Bishop => bishop_attacks(square, self.solid),
                Role::Rook => rook_attacks(square, self.solid),
                Role::Queen => queen_attacks(square, self.solid),
                Role::King => king_attacks(square) & !self.guarded[color.other() as usize],
            };
        }
        targets & !self.barred[color as usize]
    }

    /// Where a man of this colour's enemy could be taken.
    pub(super) fn prey_of(&self, color: Color) -> Bitboard {
        self.prey[color.other() as usize]
    }

    fn pawn_takes(&self, man: &Man) -> Bitboard {
        let takes = man.reach.into_iter().fold(Bitboard::EMPTY, |all, square| {
            all | pawn_attacks(man.color, square)
        });
        takes & self.prey_of(man.color) & !self.barred[man.color as usize]
    }

    fn pushes(&self, man: &Man, bound: bool) -> Bitboard {
        let fence = if bound { self.fence(man) } else { Bitboard::EMPTY };
        let (ahead, second) = match man.color {
            Color::White => (8, Rank::Second),
            Color::Black => (-8, Rank::Seventh),
        };
        let free = !(self.solid | fence);
        let mut pushes = Bitboard::EMPTY;
        let mut edge = man.reach;
        while edge.any() {
            edge = edge.shift(ahead) & free & !pushes;
            pushes |= edge;
        }
        if man.home.rank() == second {
            pushes |= (Bitboard::from_square(man.home).shift(ahead) & free).shift(ahead) & free;
        }
        pushes
    }

    /// What a pawn bound to its file cannot pass: an enemy pawn before it, bound to the file and never taken. As
    /// long as both live they stay on the file, face to face, so it never gets to where that pawn stands now.
    fn fence(&self, man: &Man) -> Bitboard {
        let file = Bitboard::from_file(man.home.file());
        let mut fence = Bitboard::EMPTY;
        for other in &self.men {
            if other.role == Role::Pawn
                && other.color != man.color
                && other.bound
                && !other.takeable
                && file.contains(other.home)
                && (other.home > man.home) == (man.color == Color::White)
            {
                let beyond = if man.color == Color::White {
                    Rank::Eighth
                } else {
                    Rank::First
                };
                let last = Square::from_coords(man.home.file(), beyond);
                // From the enemy pawn to the last rank, both included.
                fence |= between(man.home, last).with(last) & !between(man.home, other.home);
            }
        }
        fence
    }

    /// The homes of the enemy pawns that could step past this pawn and be taken en passant.
    fn passes(&self, man: &Man) -> Bitboard {
        let (second, ahead) = match man.color {
            Color::White => (Rank::Seventh, -16),
            Color::Black => (Rank::Second, 16),
        };
        let mut homes = Bitboard::EMPTY;
        for other in &self.men {
            if other.role != Role::Pawn || other.color == man.color || other.home.rank() != second {
                continue;
            }
            let landing = other.home.offset(ahead).filter(|to| other.reach.contains(*to));
            let beside = landing.map_or(Bitboard::EMPTY, |to| {
                king_attacks(to) & Bitboard::from_rank(to.rank())
            });
            if beside.intersects(man.reach) {
                homes.add(other.home);
            }
        }
        homes
    }
}
