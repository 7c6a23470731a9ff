//! A straight run for a mate: both sides help, each plays the move that looks best, and nothing is taken back.
//!
//! They take what there is to take, but never the winner's last heavy piece or the pawn that is to become one. The run
//! ends with a mate that turns up on the way, or at a queen or a rook and the kings alone with the winner to move:
//! there a mate can always be forced, wherever the three stand (all positions of both endings were searched; the
//! tests search a sample).

use shakmaty::{
    Bitboard, Board, Chess, Color, File, Move, Position, Rank, Role, Square,
    attacks::{attacks, king_attacks},
};

use super::cost::steps;

/// Plies after which a run is given up.
const MAX_PLIES: usize = 96;
/// Moves tried instead of one that ended the game too soon.
const MAX_TRIES: usize = 6;
/// More than other costs: a move to play only when there is no other.
const LAST_RESORT: i32 = 1000;

/// Whether a run gets to a mate given by `side`. False says nothing.
///
/// The first run takes the captures and the steps of the king that are found without looking at the other moves; few
/// positions need the second, which compares all.
pub(super) fn mates(position: &Chess, side: Color) -> bool {
    run(position, side, true) || run(position, side, false)
}

fn run(position: &Chess, side: Color, hasty: bool) -> bool {
    let mut position = position.clone();
    let mut before: [Option<Move>; 2] = [None; 2];
    let mut last: Option<(Chess, Move)> = None;
    for _ in 0..MAX_PLIES {
        let turn = position.turn();
        if turn == side && is_won_ending(position.board(), side) {
            return true;
        }
        let Some(aims) = Aims::new(position.board(), side, turn) else {
            return false;
        };
        let previous = before[turn as usize];
        let at_hand = hasty.then(|| aims.at_hand(position.board(), previous)).flatten();
        let step = at_hand.map_or_else(|| aims.best(&position, previous), Step::Play);
        match step {
            Step::Mate => return true,
            Step::Play(mv) => {
                before[turn as usize] = Some(mv);
                let left = position.clone();
                position.play_unchecked(mv);
                last = Some((left, mv));
            }
            Step::Over => {
                let Some((left, wrong)) = last.take() else {
                    return false;
                };
                match instead(&left, wrong, side, before[left.turn() as usize]) {
                    Some((other, mv)) => {
                        before[left.turn() as usize] = Some(mv);
                        position = other;
                    }
                    None => return false,
                }
            }
        }
    }
    false
}

/// Another move than the one that ended the game, and where it leads.
fn instead(position: &Chess, wrong: Move, side: Color, before: Option<Move>) -> Option<(Chess, Move)> {
    let view = MoveCosts::new(
        position.board(),
        Aims::new(position.board(), side, position.turn())?,
        before,
    );
    let mut moves = position.legal_moves();
    moves.retain(|mv| *mv != wrong);
    for _ in 0..MAX_TRIES {
        let (place, _) = moves.iter().enumerate().min_by_key(|(_, mv)| view.cost(**mv).0)?;
        let mv = moves.swap_remove(place);
        let mut child = position.clone();
        child.play_unchecked(mv);
        if !child.legal_moves().is_empty() {
            return Some((child, mv));
        }
    }
    None
}

/// King and queen, or king and rook, against the king alone.
fn is_won_ending(board: &Board, side: Color) -> bool {
    board.occupied().count() == 3 && (board.by_color(side) & board.rooks_and_queens()).any()
}

enum Step {
    Mate,
    Play(Move),
    /// No legal move, and not by the winner's mating.
    Over,
}

/// What the side to move is after.
struct Aims {
    side: Color,
    turn: Color,
    king: Square,
    enemy_king: Square,
    /// Men that the side to move does well to take.
    prey: Bitboard,
    /// Men that it must not take: the winner's last hope.
    hope: Bitboard,
}

impl Aims {
    fn new(board: &Board, side: Color, turn: Color) -> Option<Self> {
        let hope = if turn == side {
            Bitboard::EMPTY
        } else {
            let own = board.by_color(side);
            let heavy = own & board.rooks_and_queens();
            match heavy.count() {
                0 => nearest_pawn(board, side).map_or(own, Bitboard::from_square),
                1 => heavy,
                _ => Bitboard::EMPTY,
            }
        };
        Some(Self {
            side,
            turn,
            king: board.king_of(turn)?,
            enemy_king: board.king_of(turn.other())?,
            prey: board.by_color(turn.other()) & !board.kings() & !hope,
            hope,
        })
    }

    /// A move that is good enough not to look at the others.
    fn at_hand(&self, board: &Board, before: Option<Move>) -> Option<Move> {
        self.capture(board).or_else(|| self.walk(board, before))
    }

    /// A legal capture of prey, found without looking at any other move; en passant is none of them.
    fn capture(&self, board: &Board) -> Option<Move> {
        if self.prey.is_empty() {
            return None;
        }
        let (own, occupied) = (board.by_color(self.turn), board.occupied());
        for role in [Role::Queen, Role::Rook, Role::Bishop, Role::Knight, Role::Pawn] {
            let man = role.of(self.turn);
            for from in own & board.by_role(role) {
                for to in attacks(from, man, occupied) & self.prey {
                    let after = occupied.without(from);
                    let checks = board.attacks_to(self.king, self.turn.other(), after);
                    if checks.without(to).is_empty() {
                        return self.taking(board, role, from, to);
                    }
                }
            }
        }
        let after = occupied.without(self.king);
        (king_attacks(self.king) & self.prey)
            .into_iter()
            .find(|to| board.attacks_to(*to, self.turn.other(), after).is_empty())
            .and_then(|to| self.taking(board, Role::King, self.king, to))
    }

    /// A legal step of the loser's king towards prey, found in the same way.
    fn walk(&self, board: &Board, before: Option<Move>) -> Option<Move> {
        if self.turn == self.side || self.prey.is_empty() {
            return None;
        }
        let (nearer, _) = self.rings();
        let after = board.occupied().without(self.king);
        let back = before.filter(|mv| mv.to() == self.king).and_then(Move::from);
        let to = (king_attacks(self.king) & nearer & !board.occupied())
            .into_iter()
            .find(|to| Some(*to) != back && board.attacks_to(*to, self.side, after).is_empty())?;
        Some(Move::Normal {
            role: Role::King,
            from: self.king,
            capture: None,
            to,
            promotion: None,
        })
    }

    /// Squares nearer to the prey than the king, and those no farther.
    fn rings(&self) -> (Bitboard, Bitboard) {
        let (mut nearer, mut as_near) = (Bitboard::EMPTY, self.prey);
        while as_near.any() && !as_near.contains(self.king) {
            nearer = as_near;
            as_near = grown(as_near);
        }
        (nearer, as_near)
    }

    fn taking(&self, board: &Board, role: Role, from: Square, to: Square) -> Option<Move> {
        let crown = if self.turn == self.side {
            Role::Queen
        } else {
            Role::Knight
        };
        let promotes = role == Role::Pawn && to.rank() == self.turn.fold_wb(Rank::Eighth, Rank::First);
        Some(Move::Normal {
            role,
            from,
            capture: Some(board.role_at(to)?),
            to,
            promotion: promotes.then_some(crown),
        })
    }

    /// The mate if there is one, or the move of the least cost.
    fn best(self, position: &Chess, before: Option<Move>) -> Step {
        let moves = position.legal_moves();
        let mated = self.turn != self.side && moves.is_empty() && position.is_check();
        let view = MoveCosts::new(position.board(), self, before);
        let mut best: Option<(i32, Move)> = None;
        for mv in &moves {
            let (cost, may_mate) = view.cost(*mv);
            if may_mate {
                let mut child = position.clone();
                child.play_unchecked(*mv);
                if child.is_checkmate() {
                    return Step::Mate;
                }
            }
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, *mv));
            }
        }
        match best {
            Some((_, mv)) => Step::Play(mv),
            None if mated => Step::Mate,
            None => Step::Over,
        }
    }
}

/// The pawn nearest to promotion.
fn nearest_pawn(board: &Board, side: Color) -> Option<Square> {
    (board.by_color(side) & board.pawns())
        .into_iter()
        .min_by_key(|square| steps(side, *square))
}

/// What the costs of the moves of one position share.
struct MoveCosts {
    aims: Aims,
    occupied: Bitboard,
    heavy: usize,
    /// The winner's pawn nearest to promotion, its steps.
    pawn: Option<usize>,
    /// Squares that the enemy's king could go to, but for the other men of the side to move.
    flights: Bitboard,
    /// Squares nearer to the prey than the king, and those no farther.
    nearer: Bitboard,
    as_near: Bitboard,
    before: Option<Move>,
}

impl MoveCosts {
    fn new(board: &Board, aims: Aims, before: Option<Move>) -> Self {
        let (side, turn) = (aims.side, aims.turn);
        let (nearer, as_near) = aims.rings();
        Self {
            occupied: board.occupied(),
            heavy: (board.by_color(side) & board.rooks_and_queens()).count(),
            pawn: nearest_pawn(board, side).map(|square| steps(side, square)),
            flights: king_attacks(aims.enemy_king) & !king_attacks(aims.king) & !board.by_color(turn.other()),
            nearer,
            as_near,
            before,
            aims,
        }
    }

    /// The cost of a move, and whether it may be mate.
    fn cost(&self, mv: Move) -> (i32, bool) {
        let (to, role) = (mv.to(), mv.role());
        let mut cost = 0;
        if mv.is_capture() {
            cost += if self.aims.hope.contains(to) {
                LAST_RESORT
            } else {
                -8
            };
        }
        if self
            .before
            .is_some_and(|before| before.from() == Some(to) && Some(before.to()) == mv.from())
        {
            cost += 3;
        }
        match role {
            Role::King => cost += self.to_prey(to),
            Role::Pawn => return (cost + self.pawn_cost(mv) - self.offer(role, to), false),
            _ => {
                let hits = attacks(to, role.of(self.aims.turn), self.occupied);
                let seen = hits.intersects(self.aims.prey.without(to));
                cost -= i32::from(seen) + self.offer(role, to);
                // Two flights may be another man's to close; more never are, or nearly so.
                let closes = (self.flights & !hits).count() <= 2;
                return (
                    cost,
                    self.aims.turn == self.aims.side && closes && hits.contains(self.aims.enemy_king),
                );
            }
        }
        (cost, false)
    }

    fn pawn_cost(&self, mv: Move) -> i32 {
        if self.aims.turn != self.aims.side {
            return if mv.is_promotion() { 3 } else { 0 };
        }
        match (mv.promotion(), self.pawn) {
            (Some(Role::Queen), _) if self.heavy == 0 => -20,
            (Some(Role::Queen), _) | (None, None) => 0,
            (Some(_), _) => 20,
            (None, Some(_)) if self.heavy > 0 => 0,
            (None, Some(best)) => 6 * (steps(self.aims.side, mv.to()).min(best) as i32 - best as i32),
        }
    }

    /// What it is worth to put a man that the winner can do without beside the loser's king, for him to take.
    fn offer(&self, role: Role, to: Square) -> i32 {
        let spare = self.heavy > usize::from(matches!(role, Role::Rook | Role::Queen));
        let offers =
            self.aims.turn == self.aims.side && spare && king_attacks(self.aims.enemy_king).contains(to);
        if offers { 2 } else { 0 }
    }

    /// How much farther from the nearest man to take a move of the king leads him. Without one the winner's king leaves
    /// the field to the loser's.
    fn to_prey(&self, square: Square) -> i32 {
        let aims = &self.aims;
        if aims.prey.any() {
            return 1 - i32::from(self.as_near.contains(square)) - i32::from(self.nearer.contains(square));
        }
        if aims.turn != aims.side {
            return 0;
        }
        let far = |square: Square| square.distance(aims.enemy_king) as i32;
        far(aims.king) - far(square)
    }
}

/// A set of squares and all next to it.
fn grown(squares: Bitboard) -> Bitboard {
    let not_a = !Bitboard::from_file(File::A);
    let not_h = !Bitboard::from_file(File::H);
    let wide = squares | (squares & not_h).shift(1) | (squares & not_a).shift(-1);
    wide | wide.shift(8) | wide.shift(-8)
}
