//! A straight run for a mate: both sides help, each plays the move that looks best, and nothing is taken back.

use shakmaty::{
    Bitboard, Chess, Color, Move, MoveList, Piece, Position, Role, Square,
    attacks::{attacks, king_attacks},
};

use super::cost::steps;

/// Plies after which a run is given up.
const PLIES: usize = 60;
/// Moves tried on one ply that end the game too soon.
const TRIES: usize = 6;
/// More than any other cost: a move to play only when there is no other.
const LAST_RESORT: i32 = 1000;

/// Whether the run ends with `side` giving mate. False says nothing.
pub(super) fn mates(position: &Chess, side: Color, mut moves: MoveList) -> bool {
    let mut position = position.clone();
    let mut before: [Option<Move>; 2] = [None; 2];
    for _ in 0..PLIES {
        let turn = position.turn();
        let Some(view) = View::new(&position, side, before[turn as usize]) else {
            return false;
        };
        match view.step(&position, &mut moves) {
            Step::Mate => return true,
            Step::Stuck => return false,
            Step::Go(mv, child, replies) => {
                before[turn as usize] = Some(mv);
                position = child;
                moves = replies;
            }
        }
    }
    false
}

#[expect(clippy::large_enum_variant, reason = "one at a time, on the stack")]
enum Step {
    Mate,
    Stuck,
    Go(Move, Chess, MoveList),
}

/// What the costs of the moves of one position share.
struct View {
    side: Color,
    turn: Color,
    winner: Square,
    loser: Square,
    occupied: Bitboard,
    /// Men that the side to move would take.
    prey: Bitboard,
    heavy: Bitboard,
    /// Steps of the winner's best pawn to promotion.
    pawn: Option<usize>,
    minors: usize,
    /// Squares next to the loser's king that he could go to.
    flights: Bitboard,
    before: Option<Move>,
}

impl View {
    fn new(position: &Chess, side: Color, before: Option<Move>) -> Option<Self> {
        let board = position.board();
        let (winner, loser) = (board.king_of(side)?, board.king_of(side.other())?);
        let turn = position.turn();
        let own = board.by_color(side);
        let pawn = (own & board.pawns())
            .into_iter()
            .map(|square| steps(side, square))
            .min();
        let flights = king_attacks(loser) & !board.by_color(side.other()) & !king_attacks(winner);
        Some(Self {
            side,
            turn,
            winner,
            loser,
            occupied: board.occupied(),
            prey: board.by_color(turn.other()) & !board.kings(),
            heavy: own & board.rooks_and_queens(),
            pawn,
            minors: (own & (board.knights() | board.bishops())).count(),
            flights,
            before,
        })
    }

    /// Plays the mate if there is one, or the move of the least cost that does not end the game.
    fn step(&self, position: &Chess, moves: &mut MoveList) -> Step {
        let mut costs: Vec<(i32, Move)> = Vec::with_capacity(moves.len());
        for mv in moves.iter() {
            if self.turn == self.side && self.checks(*mv) {
                let mut child = position.clone();
                child.play_unchecked(*mv);
                if child.is_checkmate() {
                    return Step::Mate;
                }
            }
            costs.push((self.cost(*mv), *mv));
        }
        for _ in 0..TRIES {
            let Some((place, (_, mv))) = costs
                .iter()
                .copied()
                .enumerate()
                .min_by_key(|(_, (cost, _))| *cost)
            else {
                return Step::Stuck;
            };
            let mut child = position.clone();
            child.play_unchecked(mv);
            let replies = child.legal_moves();
            if !replies.is_empty() {
                return Step::Go(mv, child, replies);
            }
            if self.turn == self.side && child.is_check() {
                return Step::Mate;
            }
            costs.swap_remove(place);
        }
        Step::Stuck
    }

    fn checks(&self, mv: Move) -> bool {
        let role = mv.promotion().unwrap_or(mv.role());
        role != Role::King && self.hits(role, mv.to()).contains(self.loser)
    }

    fn hits(&self, role: Role, to: Square) -> Bitboard {
        attacks(
            to,
            Piece {
                color: self.turn,
                role,
            },
            self.occupied,
        )
    }

    fn cost(&self, mv: Move) -> i32 {
        let Some(from) = mv.from() else { return LAST_RESORT };
        let undone = self
            .before
            .is_some_and(|before| before.from() == Some(mv.to()) && before.to() == from);
        let role = mv.promotion().unwrap_or(mv.role());
        let hits = self.hits(role, mv.to());
        let seen = i32::from(hits.intersects(self.prey.without(mv.to())));
        let cost = if self.turn == self.side {
            self.cost_of_winner(mv, from, hits)
        } else {
            self.cost_of_loser(mv)
        };
        2 * cost - seen + if undone { 3 } else { 0 }
    }

    fn cost_of_winner(&self, mv: Move, from: Square, hits: Bitboard) -> i32 {
        let mut cost = if mv.capture().is_some() { -4 } else { 0 };
        match mv.role() {
            Role::King => cost += 2 * (apart(mv.to(), self.loser) - apart(self.winner, self.loser)),
            Role::Pawn if self.heavy.is_empty() => {
                let best = self.pawn.unwrap_or(7) as i32;
                let left = steps(self.side, mv.to()) as i32;
                cost += match mv.promotion() {
                    Some(Role::Queen) => -20,
                    Some(_) => 20,
                    None => 4 * (left.min(best) - best),
                };
            }
            Role::Pawn => {
                cost += if mv.promotion().is_some_and(|role| role != Role::Queen) {
                    4
                } else {
                    0
                }
            }
            role => {
                let lost = self.hits(role, from) & self.flights;
                cost += lost.count() as i32 - (hits & self.flights).count() as i32;
            }
        }
        cost
    }

    fn cost_of_loser(&self, mv: Move) -> i32 {
        let mut cost = match mv.capture() {
            None => 0,
            Some(Role::Rook | Role::Queen) if self.heavy.more_than_one() => -2,
            Some(Role::Rook | Role::Queen) => 6 + self.pawn.map_or(30, |steps| 4 * steps as i32),
            Some(_) if self.heavy.any() => -2,
            Some(Role::Pawn) if self.pawn == Some(steps(self.side, mv.to())) => 10,
            Some(Role::Pawn) => -2,
            Some(_) if self.pawn.is_some() => -2,
            Some(_) => {
                if self.minors > 2 {
                    -2
                } else {
                    30
                }
            }
        };
        if mv.promotion().is_some() {
            cost += 2;
        }
        if mv.role() == Role::King {
            let edge = |square: Square| {
                let (file, rank) = (square.file() as i32, square.rank() as i32);
                file.min(7 - file).min(rank).min(7 - rank)
            };
            cost += 3 * (edge(mv.to()) - edge(self.loser))
                + 2 * (apart(self.winner, mv.to()) - apart(self.winner, self.loser));
        }
        cost
    }
}

/// How much nearer the kings can come before they stand face to face.
fn apart(one: Square, other: Square) -> i32 {
    (one.distance(other) as i32 - 2).max(0)
}
