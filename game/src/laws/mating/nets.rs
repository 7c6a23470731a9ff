//! Whether the men, wherever they can get to, can stand so that a king is mated at all.
//!
//! A mate has needs: each square next to the king is filled by a man of its own or attacked by the enemy, and so is
//! its own square. [`Mobility`] says where each man can be. A try puts the king on a square it can reach and meets
//! the needs one by one, the one with the fewest ways first, by every man in every place that would do. A man stands
//! on one square at a time, no two on the same, and a line is shut by what stands in it. If every try fails on every
//! square, there is no mate anywhere in the game: one would be a try that succeeds. What is left out (who else
//! is on the board, who could take or interpose, how the men got there) only ever leaves more tries to succeed.

use shakmaty::{
    Bitboard, Chess, Color, Piece, Position, Role, Square,
    attacks::{bishop_attacks, king_attacks, knight_attacks, pawn_attacks, queen_attacks, rook_attacks},
};

use super::kings::Kings;
use super::mobility::{Man, Mobility};
use super::plan::{Plan, Post};

/// Placings tried before the question is left open.
const MAX_TRIES: u32 = 3000;
/// Placings tried for plans on each square of the king.
const MAX_PLAN_TRIES: u32 = 200;
/// Plans kept.
const MAX_PLANS: usize = 12;

/// Whether `side` could have mated somewhere, as far as the squares that the men can reach tell. False is a proof
/// that it never can; true says nothing.
pub(super) fn conceivable(mobility: &Mobility, side: Color) -> bool {
    let Some(king) = king_of(mobility, side.other()) else {
        return true;
    };
    let mut tries = MAX_TRIES;
    mobility.men[king].reach.into_iter().any(|square| {
        let mut net = Net::new(mobility, side, square);
        net.can_close()
            && match &mobility.kings {
                Some(kings) => net.closes_together(kings, &mut tries),
                None => net.closes(&mut tries, &mut |_| true),
            }
    })
}

/// The mates that seem nearest, the nearest first.
pub(super) fn plans(mobility: &Mobility, side: Color, position: &Chess) -> Vec<Plan> {
    let Some(king) = king_of(mobility, side.other()) else {
        return Vec::new();
    };
    let mut plans: Vec<(usize, Plan)> = Vec::new();
    for square in mobility.men[king].reach {
        let mut net = Net::new(mobility, side, square);
        if !net.can_close() {
            continue;
        }
        let mut best: Option<(usize, Plan)> = None;
        net.closes(&mut { MAX_PLAN_TRIES }, &mut |net| {
            if let Some(plan) = Plan::new(mobility, side, &net.posts_taken()) {
                let distance = plan.distance(position.board());
                if best.as_ref().is_none_or(|(least, _)| distance < *least) {
                    best = Some((distance, plan));
                }
            }
            false
        });
        plans.extend(best);
    }
    plans.sort_by_key(|(distance, _)| *distance);
    plans.truncate(MAX_PLANS);
    plans.into_iter().map(|(_, plan)| plan).collect()
}

fn king_of(mobility: &Mobility, color: Color) -> Option<usize> {
    mobility
        .men
        .iter()
        .position(|man| man.role == Role::King && man.color == color)
}

/// What is done with a net that closes; true ends the tries.
type NetVisitor<'f> = &'f mut dyn FnMut(&Net<'_>) -> bool;

/// A try to mate the king on one square.
struct Net<'a> {
    mobility: &'a Mobility,
    side: Color,
    king: Square,
    /// Where each man stands, as what; `None` while that is open.
    stands: Vec<Option<(Square, Role)>>,
    occupied: Bitboard,
}

impl<'a> Net<'a> {
    fn new(mobility: &'a Mobility, side: Color, king: Square) -> Self {
        let mut occupied = mobility.solid;
        let mut stands: Vec<_> = mobility
            .men
            .iter()
            .map(|man| mobility.solid.contains(man.home).then_some((man.home, man.role)))
            .collect();
        if let Some(loser) = king_of(mobility, side.other()) {
            occupied.discard(mobility.men[loser].home);
            stands[loser] = Some((king, Role::King));
        }
        occupied.add(king);
        Self {
            mobility,
            side,
            king,
            stands,
            occupied,
        }
    }

    /// The men that move, and the mated king, where they stand now.
    fn posts_taken(&self) -> Vec<Post> {
        let men = self.mobility.men.iter().zip(&self.stands);
        men.filter_map(|(man, stands)| {
            let (square, role) = (*stands)?;
            let moves = !self.mobility.solid.contains(man.home) || man.role == Role::King;
            moves.then_some((
                Piece {
                    color: man.color,
                    role,
                },
                square,
            ))
        })
        .collect()
    }

    /// Each flight by itself: a man of the king's own can fill it, or one of the mating side attack it.
    fn can_close(&self) -> bool {
        king_attacks(self.king).into_iter().all(|flight| {
            self.mobility.men.iter().any(|man| {
                if man.color == self.side {
                    self.posts(man, flight).iter().any(|(_, squares)| squares.any())
                } else {
                    man.role != Role::King && man.anywhere().contains(flight)
                }
            })
        })
    }

    /// From where a man of the mating side could attack a square, as which piece.
    fn posts(&self, man: &Man, target: Square) -> [(Role, Bitboard); 3] {
        // The king does not shut a line: there it would only step along the line.
        let shut = self.mobility.solid.without(self.king);
        let from = |role| match role {
            Role::Pawn => pawn_attacks(man.color.other(), target),
            Role::Knight => knight_attacks(target),
            Role::Bishop => bishop_attacks(target, shut),
            Role::Rook => rook_attacks(target, shut),
            Role::Queen => queen_attacks(target, shut),
            Role::King => king_attacks(target) & !king_attacks(self.king),
        };
        let crowned = |role| {
            if man.crowned.any() {
                from(role) & man.crowned
            } else {
                Bitboard::EMPTY
            }
        };
        [
            (man.role, from(man.role) & man.reach),
            (Role::Queen, crowned(Role::Queen)),
            (Role::Knight, crowned(Role::Knight)),
        ]
    }

    /// With the winner's king on each square where it can be.
    fn closes_together(&self, kings: &Kings, tries: &mut u32) -> bool {
        let Some(winner) = king_of(self.mobility, self.side) else {
            return true;
        };
        let home = self.mobility.men[winner].home;
        kings.at_mate(self.mobility, self.king).into_iter().any(|square| {
            if self.mobility.solid.contains(square) && square != home {
                return false;
            }
            let mut net = Net::new(self.mobility, self.side, self.king);
            if self.mobility.solid.contains(home) {
                net.occupied.discard(home);
            }
            net.occupied.add(square);
            net.stands[winner] = Some((square, Role::King));
            net.closes(tries, &mut |_| true)
        })
    }

    /// Meets the need with the fewest ways in every one of these ways, then the next. True when `found` says so, or
    /// when the tries are used up.
    fn closes(&mut self, tries: &mut u32, found: NetVisitor<'_>) -> bool {
        let mut best: Option<Vec<(usize, Square, Role)>> = None;
        for need in king_attacks(self.king).with(self.king) {
            if !self.is_open(need) {
                continue;
            }
            let ways = self.ways(need, best.as_ref().map_or(usize::MAX, Vec::len));
            if ways.is_empty() {
                return false;
            }
            if best.as_ref().is_none_or(|best| ways.len() < best.len()) {
                best = Some(ways);
            }
        }
        let Some(ways) = best else { return found(self) };
        for (index, square, role) in ways {
            if *tries == 0 {
                return true;
            }
            *tries -= 1;
            self.stands[index] = Some((square, role));
            self.occupied.add(square);
            let done = self.closes(tries, found);
            self.stands[index] = None;
            self.occupied.discard(square);
            if done {
                return true;
            }
        }
        false
    }

    /// The ways to fill a flight, or to attack it or the king; no more are counted than `enough`.
    fn ways(&self, need: Square, enough: usize) -> Vec<(usize, Square, Role)> {
        let mut ways = Vec::new();
        for (index, man) in self.mobility.men.iter().enumerate() {
            if self.stands[index].is_some() {
                continue;
            }
            if ways.len() >= enough {
                break;
            }
            if man.color != self.side {
                if man.anywhere().contains(need) && !self.occupied.contains(need) {
                    ways.push((index, need, man.role));
                }
            } else if need != self.king || man.role != Role::King {
                for (role, squares) in self.posts(man, need) {
                    ways.extend(
                        (squares & !self.occupied)
                            .into_iter()
                            .map(|square| (index, square, role)),
                    );
                }
            }
        }
        ways
    }

    /// Whether a flight is neither filled nor attacked, or the king's square not attacked.
    fn is_open(&self, need: Square) -> bool {
        let occupied = self.occupied.without(self.king);
        !self
            .mobility
            .men
            .iter()
            .zip(&self.stands)
            .any(|(man, stands)| match *stands {
                None => false,
                Some((square, _)) if man.color != self.side => square == need && need != self.king,
                Some((square, role)) => match role {
                    Role::Pawn => pawn_attacks(man.color, square),
                    Role::Knight => knight_attacks(square),
                    Role::Bishop => bishop_attacks(square, occupied),
                    Role::Rook => rook_attacks(square, occupied),
                    Role::Queen => queen_attacks(square, occupied),
                    Role::King => king_attacks(square),
                }
                .contains(need),
            })
    }
}
