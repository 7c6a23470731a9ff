//! Decides whether the men can be placed on squares that they can reach so that a king is mated.
//!
//! In a mate, each square next to the king is occupied by its own man or attacked by the enemy, and the king's own
//! square is attacked. [`Mobility`] has the squares on which each man can stand. An attempt puts the king on a square
//! that it can reach. It then meets these needs one by one, beginning with the need that can be met in the fewest ways,
//! and tries every man on every suitable square. A man stands on one square at a time, no two men on the same, and an
//! occupied square blocks a line. If every attempt fails on every square, there can be no mate in the game: a real mate
//! would be a successful attempt. Everything ignored here (other men on the board, captures and interpositions, the way
//! to the position) only lets more attempts succeed.

use shakmaty::{
    Bitboard, Chess, Color, Piece, Position, Role, Square,
    attacks::{bishop_attacks, king_attacks, knight_attacks, pawn_attacks, queen_attacks, rook_attacks},
};

use super::kings::Kings;
use super::mobility::{Man, Mobility};
use super::plan::{Plan, Post};

/// Placements tried before the question is left open.
const MAX_TRIES: u32 = 3000;
/// Placements tried for plans on each square of the king.
const MAX_PLAN_TRIES: u32 = 200;
const MAX_PLANS: usize = 12;

/// Whether the reachable squares allow a mate by `side`. `false` proves that it never can mate; `true` proves nothing.
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

/// Plans for the mates that need the fewest moves according to an estimate, the nearest first.
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

/// Callback for a closed net; returns true to end the attempts.
type NetVisitor<'f> = &'f mut dyn FnMut(&Net<'_>) -> bool;

/// An attempt to mate the king on one square.
struct Net<'a> {
    mobility: &'a Mobility,
    side: Color,
    king: Square,
    /// The square and role of each man; `None` while undecided.
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

    /// The placed men other than solid ones, and the placed kings.
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

    /// Whether each flight square, taken by itself, can be occupied by the king's own man or attacked by the mating
    /// side.
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

    /// Squares from which a man of the mating side could attack `target`, by role.
    fn posts(&self, man: &Man, target: Square) -> [(Role, Bitboard); 3] {
        // The king does not block a line: stepping back along the line would not escape.
        let blockers = self.mobility.solid.without(self.king);
        let from = |role| match role {
            Role::Pawn => pawn_attacks(man.color.other(), target),
            Role::Knight => knight_attacks(target),
            Role::Bishop => bishop_attacks(target, blockers),
            Role::Rook => rook_attacks(target, blockers),
            Role::Queen => queen_attacks(target, blockers),
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

    /// Tries the net with the winner's king on each possible square.
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

    /// Tries each way to meet the need that has the fewest ways, and recursively the next needs. Calls `found` if no
    /// need is left. Returns true if `found` does, or if `tries` is used up.
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

    /// The ways to occupy or attack a flight square, or to attack the king. Stops counting at `enough`.
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

    /// Whether a flight square is neither occupied nor attacked, or the king's square is not attacked.
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
