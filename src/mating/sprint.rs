//! A straight run for a mate: both sides help, each plays the move that looks best, and nothing is taken back.
//!
//! They take what there is to take, but never the winner's last heavy piece or the pawn that is to become one. The run
//! ends with a mate that turns up on the way, or at a queen or a rook and the kings alone with the winner to move:
//! there a mate can always be forced, wherever the three stand (all positions of both endings were searched; the
//! tests search a sample).

use shakmaty::{
    Bitboard, Board, Chess, Color, File, Move, MoveList, Piece, Position, Role, Square,
    attacks::{attacks, king_attacks},
};

use super::cost::steps;

/// Plies after which a run is given up.
const PLIES: usize = 80;
/// Moves tried on one ply that end the game too soon.
const TRIES: usize = 6;
/// More than other costs: a move to play only when there is no other.
const LAST_RESORT: i32 = 1000;

/// Whether the run gets to a mate given by `side`. False says nothing.
pub(super) fn mates(position: &Chess, side: Color, mut moves: MoveList) -> bool {
    let mut position = position.clone();
    let mut before: [Option<Move>; 2] = [None; 2];
    for _ in 0..PLIES {
        let turn = position.turn();
        if turn == side && is_won_ending(position.board(), side) {
            return true;
        }
        let Some(view) = View::new(position.board(), side, turn, before[turn as usize]) else {
            return false;
        };
        match view.step(&mut position, &mut moves) {
            Step::Mate => return true,
            Step::Stuck => return false,
            Step::Played(mv) => before[turn as usize] = Some(mv),
        }
    }
    false
}

/// King and queen, or king and rook, against the king alone.
fn is_won_ending(board: &Board, side: Color) -> bool {
    board.occupied().count() == 3 && (board.by_color(side) & board.rooks_and_queens()).any()
}

enum Step {
    Mate,
    Stuck,
    Played(Move),
}

/// What the costs of the moves of one position share.
struct View {
    side: Color,
    turn: Color,
    occupied: Bitboard,
    king: Square,
    enemy_king: Square,
    /// Men that the side to move does well to take.
    prey: Bitboard,
    /// Men that it must not take: the winner's last hope.
    hope: Bitboard,
    heavy: usize,
    /// The winner's pawn nearest to promotion, its steps.
    pawn: Option<usize>,
    /// Squares that the enemy's king could go to, but for the other men of the side to move.
    flights: Bitboard,
    before: Option<Move>,
}

impl View {
    fn new(board: &Board, side: Color, turn: Color, before: Option<Move>) -> Option<Self> {
        let own = board.by_color(side);
        let heavy = own & board.rooks_and_queens();
        let pawn = (own & board.pawns())
            .into_iter()
            .min_by_key(|square| steps(side, *square));
        let hope = if turn == side || heavy.more_than_one() {
            Bitboard::EMPTY
        } else if heavy.any() {
            heavy
        } else {
            pawn.map_or(own, Bitboard::from_square)
        };
        let (king, enemy_king) = (board.king_of(turn)?, board.king_of(turn.other())?);
        Some(Self {
            side,
            turn,
            occupied: board.occupied(),
            king,
            enemy_king,
            flights: king_attacks(enemy_king) & !king_attacks(king) & !board.by_color(turn.other()),
            prey: board.by_color(turn.other()) & !board.kings() & !hope,
            hope,
            heavy: heavy.count(),
            pawn: pawn.map(|square| steps(side, square)),
            before,
        })
    }

    /// Plays the mate if there is one, or the move of the least cost that does not end the game.
    fn step(&self, position: &mut Chess, moves: &mut MoveList) -> Step {
        for attempt in 0..TRIES {
            let mut best: Option<(i32, usize)> = None;
            for (place, mv) in moves.iter().enumerate() {
                let (cost, may_mate) = self.cost(*mv);
                if may_mate && attempt == 0 {
                    let mut child = position.clone();
                    child.play_unchecked(*mv);
                    if child.is_checkmate() {
                        return Step::Mate;
                    }
                }
                if best.is_none_or(|(least, _)| cost < least) {
                    best = Some((cost, place));
                }
            }
            let Some((_, place)) = best else {
                return Step::Stuck;
            };
            let mv = moves.swap_remove(place);
            let mut child = position.clone();
            child.play_unchecked(mv);
            let replies = child.legal_moves();
            if !replies.is_empty() {
                *position = child;
                *moves = replies;
                return Step::Played(mv);
            }
            if self.turn == self.side && child.is_check() {
                return Step::Mate;
            }
        }
        Step::Stuck
    }

    /// The cost of a move, and whether it may be mate.
    fn cost(&self, mv: Move) -> (i32, bool) {
        let (to, role) = (mv.to(), mv.role());
        let mut cost = 0;
        if mv.is_capture() {
            cost += if self.hope.contains(to) { LAST_RESORT } else { -8 };
        }
        if self
            .before
            .is_some_and(|before| before.from() == Some(to) && Some(before.to()) == mv.from())
        {
            cost += 3;
        }
        match role {
            Role::King => cost += self.to_prey(to) - self.to_prey(self.king),
            Role::Pawn => return (cost + self.pawn_cost(mv) - self.offer(role, to), false),
            _ => {
                let hits = attacks(
                    to,
                    Piece {
                        color: self.turn,
                        role,
                    },
                    self.occupied,
                );
                let seen = hits.intersects(self.prey.without(to));
                cost -= i32::from(seen) + self.offer(role, to);
                // Two flights may be another man's to close; more never are, or nearly so.
                let closes = (self.flights & !hits).count() <= 2;
                return (
                    cost,
                    self.turn == self.side && closes && hits.contains(self.enemy_king),
                );
            }
        }
        (cost, false)
    }

    fn pawn_cost(&self, mv: Move) -> i32 {
        if self.turn != self.side {
            return if mv.is_promotion() { 3 } else { 0 };
        }
        match (mv.promotion(), self.pawn) {
            (Some(Role::Queen), _) if self.heavy == 0 => -20,
            (Some(Role::Queen), _) | (None, None) => 0,
            (Some(_), _) => 20,
            (None, Some(_)) if self.heavy > 0 => 0,
            (None, Some(best)) => 6 * (steps(self.side, mv.to()).min(best) as i32 - best as i32),
        }
    }

    /// What it is worth to put a man that the winner can do without beside the loser's king, for him to take.
    fn offer(&self, role: Role, to: Square) -> i32 {
        let spare = self.heavy > usize::from(matches!(role, Role::Rook | Role::Queen));
        let offers = self.turn == self.side && spare && king_attacks(self.enemy_king).contains(to);
        if offers { 2 } else { 0 }
    }

    /// How far a square is from the nearest man to take. Without one the winner's king leaves the field to the loser's.
    fn to_prey(&self, square: Square) -> i32 {
        if self.prey.is_empty() && self.turn == self.side {
            return -(square.distance(self.enemy_king) as i32);
        }
        let mut ring = Bitboard::from_square(square);
        for far in 0..7 {
            if ring.intersects(self.prey) {
                return far;
            }
            ring |= grown(ring);
        }
        7
    }
}

/// A set of squares and all next to it.
fn grown(squares: Bitboard) -> Bitboard {
    let not_a = !Bitboard::from_file(File::A);
    let not_h = !Bitboard::from_file(File::H);
    let wide = squares | (squares & not_h).shift(1) | (squares & not_a).shift(-1);
    wide | wide.shift(8) | wide.shift(-8)
}
