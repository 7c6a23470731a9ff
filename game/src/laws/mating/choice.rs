//! The choice of the cheapest move, for positions of a straight run without an obvious move.

use shakmaty::{
    Bitboard, Role, Square,
    attacks::{attacks, king_attacks},
};

use super::aims::{Aims, nearest_pawn, rings};
use super::cost::steps;
use super::men::Step;

/// Cost above all others, for moves to be played only if there is no alternative.
const LAST_RESORT: i32 = 1000;

/// The cheapest legal move that is not in `excluded`; `None` if there is none.
pub(super) fn best(aims: &Aims<'_>, before: Option<Step>, excluded: &[Option<Step>]) -> Option<Step> {
    let view = View::new(aims, before);
    let mut best: Option<(i32, Step)> = None;
    aims.men.for_each(aims.promotion_role(), |step| {
        let cost = view.cost(step);
        if best.is_none_or(|(least, _)| cost < least)
            && !excluded.contains(&Some(step))
            && aims.men.is_legal(step)
        {
            best = Some((cost, step));
        }
    });
    best.map(|(_, step)| step)
}

/// Data shared by the costs of all moves in one position.
struct View<'a> {
    aims: &'a Aims<'a>,
    occupied: Bitboard,
    /// Steps to promotion of the winner's most advanced pawn.
    pawn: Option<usize>,
    /// See [`rings`].
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
            cost += if aims.protected.contains(step.to) {
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
            Role::King => cost + self.prey_cost(step.to),
            Role::Pawn => cost + self.pawn_cost(step) - self.sacrifice_bonus(step),
            role => {
                let hits = attacks(step.to, role.of(aims.turn), self.occupied);
                cost - i32::from(hits.intersects(aims.prey.without(step.to))) - self.sacrifice_bonus(step)
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

    /// Bonus for placing a spare piece beside the enemy's king, so that it is taken.
    fn sacrifice_bonus(&self, step: Step) -> i32 {
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

    /// Steps that a king move adds to the distance from the nearest prey. Without prey, the winner's king moves away
    /// from the loser's.
    fn prey_cost(&self, square: Square) -> i32 {
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
