//! The aims of the side to move in a straight run, and moves that serve these aims without a comparison of all moves.

use shakmaty::{
    Bitboard, Color, File, Role, Square,
    attacks::{attacks, bishop_attacks, king_attacks, knight_attacks, queen_attacks, rook_attacks},
};

use super::endings::EDGE;
use super::men::{Men, Step};

/// Plies without a capture or a pawn move after which the winner pushes pawns, so that the bare king can reach them.
const MAX_IDLE_PLIES: usize = 4;

pub(super) struct Aims<'a> {
    pub(super) men: &'a Men,
    /// The winner.
    pub(super) side: Color,
    pub(super) turn: Color,
    pub(super) king: Square,
    pub(super) enemy_king: Square,
    /// Enemy men that the side to move should take.
    pub(super) prey: Bitboard,
    /// Men on which the mate depends: neither side must take them.
    pub(super) protected: Bitboard,
    /// The winner's queens and rooks.
    pub(super) heavy: Bitboard,
}

impl<'a> Aims<'a> {
    pub(super) fn new(men: &'a Men, side: Color) -> Self {
        let turn = men.turn;
        let heavy = men.heavy(side);
        let protected = if heavy.more_than_one() {
            Bitboard::EMPTY
        } else if heavy.any() {
            heavy
        } else {
            nearest_pawn(men, side).map_or_else(|| protected_minors(men, side), Bitboard::from)
        };
        let enemy_king = men.king(turn.other());
        Self {
            men,
            side,
            turn,
            king: men.king(turn),
            enemy_king,
            prey: men.of(turn.other()).without(enemy_king) & !protected,
            protected,
            heavy,
        }
    }

    pub(super) fn promotion_role(&self) -> Role {
        if self.turn == self.side {
            Role::Queen
        } else {
            Role::Knight
        }
    }

    /// Finds a mate by a piece. May overlook mates.
    pub(super) fn mate(&self) -> Option<Step> {
        let (men, king) = (self.men, self.enemy_king);
        let (own, occupied) = (men.of(self.turn), men.occupied());
        let flights = king_attacks(king) & !men.of(self.turn.other()) & !king_attacks(self.king);
        let diagonal = bishop_attacks(king, occupied) & !own;
        let straight = rook_attacks(king, occupied) & !own;
        for (role, checks) in [
            (Role::Queen, diagonal | straight),
            (Role::Rook, straight),
            (Role::Bishop, diagonal),
            (Role::Knight, knight_attacks(king) & !own),
        ] {
            let man = role.of(self.turn);
            for from in own & men.role(role) {
                for to in attacks(from, man, occupied) & checks {
                    let open = flights & !attacks(to, man, occupied.without(from).without(king));
                    // Other pieces hardly ever cover more than two flight squares.
                    if open.without_first().without_first().any() {
                        continue;
                    }
                    let step = men.step(role, from, to, Role::Queen);
                    if men.is_legal(step) {
                        let mut after = *men;
                        after.play(step);
                        if after.is_mated() {
                            return Some(step);
                        }
                    }
                }
            }
        }
        None
    }

    /// A good enough move for a position without captures of prey; `None` if all moves must be compared.
    pub(super) fn obvious_move(&self, before: Option<Step>, idle: usize) -> Option<Step> {
        if self.turn != self.side {
            return self.walk(before).or_else(|| self.wait(before));
        }
        if self.heavy.any() && !self.men.of(self.turn.other()).more_than_one() {
            return self.clear_way(before, idle);
        }
        self.approach(before)
    }

    /// Finds a capture of prey.
    pub(super) fn capture(&self) -> Option<Step> {
        let men = self.men;
        if self.prey.is_empty() {
            return None;
        }
        let (own, occupied) = (men.of(self.turn), men.occupied());
        for role in [Role::Queen, Role::Rook, Role::Bishop, Role::Knight, Role::Pawn] {
            for from in own & men.role(role) {
                for to in attacks(from, role.of(self.turn), occupied) & self.prey {
                    let step = men.step(role, from, to, self.promotion_role());
                    if !self.gives_away(step) && men.is_legal(step) {
                        return Some(step);
                    }
                }
            }
        }
        (king_attacks(self.king) & self.prey)
            .into_iter()
            .map(|to| men.step(Role::King, self.king, to, Role::Queen))
            .find(|step| men.is_legal(*step))
    }

    /// Whether the move gives check with a protected man of the winner on a square on which it can be taken.
    fn gives_away(&self, step: Step) -> bool {
        if self.turn != self.side || !self.protected.contains(step.from) {
            return false;
        }
        let occupied = self.men.occupied().without(step.from);
        attacks(step.to, step.role.of(self.turn), occupied).contains(self.enemy_king)
            && self.men.attackers(step.to, self.turn.other(), occupied).any()
    }

    /// A king step towards prey, but not back to its last square.
    fn walk(&self, before: Option<Step>) -> Option<Step> {
        if self.prey.is_empty() {
            return None;
        }
        self.king_to(rings(self.prey, self.king).0, before)
    }

    /// Any king step, but not back to its last square.
    fn wait(&self, before: Option<Step>) -> Option<Step> {
        self.king_to(Bitboard::FULL, before)
    }

    fn king_to(&self, squares: Bitboard, before: Option<Step>) -> Option<Step> {
        let back = before.filter(|step| step.to == self.king).map(|step| step.from);
        (king_attacks(self.king) & squares & !self.men.occupied())
            .into_iter()
            .find(|to| Some(*to) != back && self.men.is_safe_for_king(self.turn, *to))
            .map(|to| self.men.step(Role::King, self.king, to, Role::Queen))
    }

    /// A move that brings the winner nearer to prey: by a pawn push, a heavy piece that attacks prey, or the king.
    fn approach(&self, before: Option<Step>) -> Option<Step> {
        let men = self.men;
        let occupied = men.occupied();
        if self.heavy.is_empty() {
            if men.pawns(self.turn).is_empty() {
                return self.walk_around();
            }
            let pawn = (self.protected & men.pawns(self.turn)).first()?;
            let push = men.pushes(pawn, self.turn).into_iter();
            let mut push = push.map(|to| men.step(Role::Pawn, pawn, to, Role::Queen));
            return push
                .find(|step| men.is_legal(*step))
                .or_else(|| self.walk(before));
        }
        for from in self.heavy {
            let (role, sight) = self.sight(from, occupied);
            let reach = sight(from) & !occupied & !king_attacks(self.enemy_king);
            for to in self.prey.into_iter().flat_map(|target| reach & sight(target)) {
                let step = men.step(role, from, to, Role::Queen);
                let is_back = before.is_some_and(|before| before.to == from && before.from == to);
                if !is_back && men.is_legal(step) {
                    return Some(step);
                }
            }
        }
        self.walk(before)
    }

    /// The role of a heavy piece, and a function from a square to the squares that it attacks from there.
    fn sight(&self, from: Square, occupied: Bitboard) -> (Role, impl Fn(Square) -> Bitboard + use<>) {
        let is_queen = self.men.role(Role::Queen).contains(from);
        let role = if is_queen { Role::Queen } else { Role::Rook };
        (role, move |at| match role {
            Role::Queen => queen_attacks(at, occupied),
            _ => rook_attacks(at, occupied),
        })
    }

    /// A king step along the shortest way to prey over squares that are not attacked; without prey, away from the edge.
    fn walk_around(&self) -> Option<Step> {
        let men = self.men;
        let occupied = men.occupied();
        let safe: Bitboard = (!men.of(self.turn) & !self.protected)
            .into_iter()
            .filter(|to| men.is_safe_for_king(self.turn, *to))
            .collect();
        let (mut nearer, mut reached) = (Bitboard::EMPTY, safe & !occupied & !EDGE);
        if self.prey.any() {
            reached = self.prey & safe;
        }
        while !reached.contains(self.king) {
            nearer = reached;
            reached |= grown(reached) & (safe & !occupied).with(self.king);
            if reached == nearer {
                return None;
            }
        }
        let to = (king_attacks(self.king) & nearer & safe).first()?;
        Some(men.step(Role::King, self.king, to, Role::Queen))
    }

    /// A move that clears the way for the bare king, which is to take the winner's spare men.
    fn clear_way(&self, before: Option<Step>, idle: usize) -> Option<Step> {
        let men = self.men;
        let occupied = men.occupied();
        if idle > MAX_IDLE_PLIES {
            let mut pushes = men
                .pawns(self.turn)
                .into_iter()
                .filter_map(|from| Some((from, men.pushes(from, self.turn).first()?)));
            if let Some((from, to)) = pushes.next() {
                return Some(men.step(Role::Pawn, from, to, Role::Queen));
            }
        }
        let spare = men.of(self.turn).without(self.king) & !self.protected;
        let wanted = king_attacks(self.enemy_king) & rings(spare, self.enemy_king).0;
        let without = occupied.without(self.enemy_king);
        let mut shut = Bitboard::EMPTY;
        let mut is_open = false;
        for to in wanted {
            let by = men.attackers(to, self.turn, without).without(to);
            is_open |= by.is_empty();
            shut |= by;
        }
        if is_open || shut.is_empty() {
            return self.king_aside(wanted, before);
        }
        let heavy = self.heavy_aside(shut, wanted);
        heavy.or_else(|| {
            shut.contains(self.king)
                .then(|| self.king_aside(wanted, before))
                .flatten()
        })
    }

    /// A step of the winner's king off the bare king's way; back to its previous square only if there is no other step.
    fn king_aside(&self, wanted: Bitboard, before: Option<Step>) -> Option<Step> {
        let steps = king_attacks(self.king) & !self.men.occupied() & !king_attacks(self.enemy_king);
        let mut aside = steps
            .into_iter()
            .filter(|to| king_attacks(*to).is_disjoint(wanted));
        let first = aside.next()?;
        let is_back = before.is_some_and(|before| before.from == first);
        let to = if is_back {
            aside.next().unwrap_or(first)
        } else {
            first
        };
        Some(self.men.step(Role::King, self.king, to, Role::Queen))
    }

    /// A move of a heavy piece from `shut` off the bare king's way.
    fn heavy_aside(&self, shut: Bitboard, wanted: Bitboard) -> Option<Step> {
        let occupied = self.men.occupied();
        for from in self.heavy & shut {
            let reach = self.sight(from, occupied).1(from) & !occupied & !king_attacks(self.enemy_king);
            let (role, sight) = self.sight(from, occupied.without(from).without(self.enemy_king));
            let free = |to: &Square| sight(*to).is_disjoint(wanted.with(self.enemy_king));
            if let Some(to) = reach.into_iter().find(free) {
                return Some(self.men.step(role, from, to, Role::Queen));
            }
        }
        None
    }
}

/// A bishop or knight of the winner, and the loser's man that helps best with the mate. Without such men, all the
/// winner's men.
fn protected_minors(men: &Men, side: Color) -> Bitboard {
    let (own, other) = (men.of(side), men.of(side.other()));
    let of = |role| other & men.role(role);
    let (man, helpers) = if let Some(at) = (own & men.role(Role::Knight)).first() {
        (
            at,
            [of(Role::Knight), of(Role::Bishop), of(Role::Pawn), of(Role::Rook)],
        )
    } else if let Some(at) = (own & men.role(Role::Bishop)).first() {
        let unlike = if at.is_light() {
            Bitboard::DARK_SQUARES
        } else {
            Bitboard::LIGHT_SQUARES
        };
        let bishops = of(Role::Bishop) & unlike;
        (at, [of(Role::Knight), bishops, of(Role::Pawn), Bitboard::EMPTY])
    } else {
        return own;
    };
    let helper = helpers.into_iter().find_map(Bitboard::first);
    helper.map_or(own, |helper| Bitboard::from(helper).with(man))
}

pub(super) fn nearest_pawn(men: &Men, side: Color) -> Option<Square> {
    let pawns = men.pawns(side);
    match side {
        Color::White => pawns.last(),
        Color::Black => pawns.first(),
    }
}

/// The squares nearer to the prey than the king is, and the squares at most as far from the prey as the king.
pub(super) fn rings(prey: Bitboard, king: Square) -> (Bitboard, Bitboard) {
    let (mut nearer, mut as_near) = (Bitboard::EMPTY, prey);
    while as_near.any() && !as_near.contains(king) {
        nearer = as_near;
        as_near = grown(as_near);
    }
    (nearer, as_near)
}

/// A set of squares and all their neighbours.
fn grown(squares: Bitboard) -> Bitboard {
    let not_a = !Bitboard::from_file(File::A);
    let not_h = !Bitboard::from_file(File::H);
    let wide = squares | (squares & not_h).shift(1) | (squares & not_a).shift(-1);
    wide | wide.shift(8) | wide.shift(-8)
}
