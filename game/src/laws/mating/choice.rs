//! The move of the least cost, in a straight run that finds no good one at first sight.

use shakmaty::{
    Bitboard, Role, Square,
    attacks::{attacks, king_attacks},
};

use super::aims::{Aims, nearest_pawn, rings};
use super::cost::steps;
use super::men::Step;

/// More than other costs: a move to play only when there is no other.
const LAST_RESORT: i32 = 1000;

/// The legal move of the least cost but for these; `None` without one.
pub(super) fn best(aims: &Aims<'_>, before: Option<Step>, but: &[Option<Step>]) -> Option<Step> {
    let view = View::new(aims, before);
    let mut best: Option<(i32, Step)> = None;
    aims.men.for_each(aims.crown(), |step| {
        let cost = view.cost(step);
        if best.is_none_or(|(least, _)| cost < least) && !but.contains(&Some(step)) && aims.men.is_legal(step)
        {
            best = Some((cost, step));
        }
    });
    best.map(|(_, step)| step)
}

/// What the costs of the moves of one position share.
struct View<'a> {
    aims: &'a Aims<'a>,
    occupied: Bitboard,
    /// The steps of the winner's pawn nearest to promotion.
    pawn: Option<usize>,
    /// Squares nearer to the prey than the king, and those no farther.
    nearer: Bitboard,
    as_near: Bitboard,
    before: Option<Step>,
}

impl<'a> View<'a> {
    fn new(aims: &'a Aims<'a>, before: Option<Step>) -> Self {
        let (nearer, as_near) = rings(aims.prey, aims.king);
        Self {
            aims,
            occupied: aims.men.occupied(),
            pawn: nearest_pawn(aims.men, aims.side).map(|square| steps(aims.side, square)),
            nearer,
            as_near,
            before,
        }
    }

    fn cost(&self, step: Step) -> i32 {
        let aims = self.aims;
        let mut cost = 0;
        if step.capture.is_some() {
            cost += if aims.hope.contains(step.to) {
                LAST_RESORT
            } else {
                -8
            };
        }
        if self
            .before
            .is_some_and(|before| before.from == step.to && before.to == step.from)
        {
            cost += 3;
        }
        match step.role {
            Role::King => cost + self.to_prey(step.to),
            Role::Pawn => cost + self.pawn_cost(step) - self.offer(step),
            role => {
                let hits = attacks(step.to, role.of(aims.turn), self.occupied);
                cost - i32::from(hits.intersects(aims.prey.without(step.to))) - self.offer(step)
            }
        }
    }

    fn pawn_cost(&self, step: Step) -> i32 {
        let aims = self.aims;
        if aims.turn != aims.side {
            return if step.promotion.is_some() { 3 } else { 0 };
        }
        match (step.promotion, self.pawn) {
            (Some(_), _) if aims.heavy.is_empty() => -20,
            (None, Some(best)) if aims.heavy.is_empty() => {
                6 * (steps(aims.side, step.to).min(best) as i32 - best as i32)
            }
            _ => 0,
        }
    }

    /// What it is worth to put a piece that is not needed beside the enemy's king, for it to take.
    fn offer(&self, step: Step) -> i32 {
        let aims = self.aims;
        let spare = if aims.turn != aims.side {
            true
        } else if matches!(step.role, Role::Rook | Role::Queen) {
            aims.heavy.more_than_one()
        } else {
            aims.heavy.any()
        };
        if spare && king_attacks(aims.enemy_king).contains(step.to) {
            2
        } else {
            0
        }
    }

    /// How much farther from the nearest prey a move of the king leads it. Without any the winner's king leaves the
    /// field to the loser's.
    fn to_prey(&self, square: Square) -> i32 {
        let aims = self.aims;
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
