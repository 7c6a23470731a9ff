//! The squares that each man can ever reach, whatever moves are played. The sets may be too large but never too small.
//!
//! Initially, no man moves and none is taken. Each round adds every step that the present sets allow: a man moves along
//! lines that are not blocked by solid men (men that never move and are never taken), a man can be taken on a square
//! that an enemy reaches, a pawn takes on a square that an enemy reaches, and a king never steps onto a square attacked
//! by a solid enemy. The rounds end when one adds nothing. Then, by induction over the moves of any game from here, no
//! legal move leads out of the sets: every man stands within its set, and solid men stay on their squares. The sets
//! prove that a man never reaches a square; they do not prove that it can.

use shakmaty::{
    Bitboard, CastlingSide, Chess, Color, Position, Rank, Role, Square,
    attacks::{
        between, bishop_attacks, king_attacks, knight_attacks, pawn_attacks, queen_attacks, rook_attacks,
    },
};

use super::kings::Kings;

/// The moves and captures that are possible for one man, now or later.
#[derive(Debug, Clone, Copy)]
pub(super) struct Man {
    pub(super) color: Color,
    pub(super) role: Role,
    pub(super) home: Square,
    /// Squares on which the man can ever stand in its present role, including its present square.
    pub(super) reach: Bitboard,
    /// Squares on which a pawn can ever stand after promotion.
    pub(super) crowned: Bitboard,
    /// Whether the man can ever be taken.
    pub(super) takeable: bool,
    /// For pawns: no way has been found yet in which the pawn could leave its file.
    bound: bool,
}

impl Man {
    pub(super) fn anywhere(&self) -> Bitboard {
        self.reach | self.crowned
    }

    /// Whether the man never moves.
    pub(super) fn is_fixed(&self) -> bool {
        self.anywhere() == Bitboard::from_square(self.home)
    }

    /// Whether the man never moves and is never taken.
    pub(super) fn is_solid(&self) -> bool {
        !self.takeable && self.is_fixed()
    }
}

/// The men of a position and their possible moves.
#[derive(Debug, Clone)]
pub(super) struct Mobility {
    pub(super) men: Vec<Man>,
    /// The pairs of squares for the two kings; `None` unless requested.
    pub(super) kings: Option<Box<Kings>>,
    /// Squares whose men never move and are never taken.
    pub(super) solid: Bitboard,
    /// Squares that are always attacked by solid men, by colour.
    guarded: [Bitboard; 2],
    /// Squares that no man of a colour can enter, because of its own solid men or a solid enemy king.
    barred: [Bitboard; 2],
    /// Squares on which a man of a colour can be taken.
    prey: [Bitboard; 2],
}

impl Mobility {
    /// Computes the mobility of each man by itself.
    pub(super) fn new(position: &Chess) -> Self {
        let mut mobility = Self::initial(position);
        mobility.spread(position);
        mobility
    }

    /// Also tracks the kings together, to find out whether `winner` can mate.
    pub(super) fn with_kings(position: &Chess, winner: Color) -> Self {
        let mut mobility = Self::initial(position);
        mobility.kings = Kings::new(position, winner).map(Box::new);
        mobility.spread(position);
        mobility
    }

    fn initial(position: &Chess) -> Self {
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
                // At a greater distance, another man may interpose.
                Role::Bishop => near & bishop_attacks(man.home, Bitboard::EMPTY),
                Role::Rook => near & rook_attacks(man.home, Bitboard::EMPTY),
                Role::Queen | Role::King => near,
            };
        }
    }

    /// Adds the en passant capture that is possible in the present position.
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

    /// Castling requires that the squares in between are free of solid men, except for the rook's and the king's own
    /// squares.
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

    /// Adds all moves of one man from its known squares. Returns whether anything is new.
    fn step(&mut self, index: usize) -> bool {
        let man = self.men[index];
        let mut after = man;
        let mut hits = Bitboard::EMPTY;
        let mut passed = Bitboard::EMPTY;
        if man.role == Role::Pawn {
            let takes = self.pawn_takes(&man);
            passed = self.en_passant_homes(&man);
            let landings = passed.shift(if man.color == Color::White { -8 } else { 8 });
            after.bound &= takes.is_empty() && passed.is_empty();
            let all = man.reach | takes | landings | self.pushes(&man, after.bound);
            after.reach = all & !Bitboard::BACKRANKS;
            after.crowned |= all & Bitboard::BACKRANKS;
            // A queen and a knight together cover all moves of rook and bishop.
            hits = takes;
            for role in [Role::Queen, Role::Knight] {
                let targets = self.targets(role, man.color, after.crowned);
                hits |= targets;
                after.crowned |= targets;
            }
        } else {
            let mut frontier = man.reach;
            while frontier.any() {
                let targets = self.targets(man.role, man.color, frontier);
                hits |= targets;
                frontier = targets & !after.reach;
                after.reach |= frontier;
            }
        }
        self.men[index] = after;
        let changed = after.reach != man.reach || after.crowned != man.crowned || after.bound != man.bound;
        self.take(man.color, hits, passed) || changed
    }

    /// Marks enemy men that can be taken on `hits`, and enemy pawns that can be taken en passant after leaving
    /// `passed`.
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

    /// The squares to which a piece can move from `from`, including captures.
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

    /// Squares on which a man of the opponent of `color` can be taken.
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
        let mut frontier = man.reach;
        while frontier.any() {
            frontier = frontier.shift(ahead) & free & !pushes;
            pushes |= frontier;
        }
        if man.home.rank() == second {
            pushes |= (Bitboard::from_square(man.home).shift(ahead) & free).shift(ahead) & free;
        }
        pushes
    }

    /// Squares that a pawn bound to its file cannot reach: if an enemy pawn ahead of it is also bound to the file and
    /// never taken, the squares from that pawn to the last rank. The two pawns face each other on the file as long as
    /// both exist, so this pawn never reaches the enemy pawn's present square.
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

    /// Home squares of enemy pawns that this pawn could take en passant.
    fn en_passant_homes(&self, man: &Man) -> Bitboard {
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
