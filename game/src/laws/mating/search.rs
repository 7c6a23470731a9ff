//! The search for a helpmate, best-first by cost.
//!
//! Both sides help. Every position is examined once, whatever moves led to it, and skipped only if a mate is proved
//! impossible from it. If all positions have been examined, this proves that there is no mate. Costs only decide the
//! order.

use shakmaty::{Chess, Color, Move, MoveList, Position};

use super::mobility::Mobility;
use super::store::{Origin, Packed, Store};
use super::{material, nets};

#[derive(Debug)]
pub(super) enum Outcome {
    /// A line of moves that ends in mate.
    Mate(Vec<Move>),
    /// No reachable position is mate.
    Exhausted,
    /// The nodes or the memory are used up.
    Spent,
}

pub(super) struct MateSearch<'a> {
    side: Color,
    /// Estimated distance of a position from mate.
    cost: &'a dyn Fn(&Chess) -> usize,
    /// Whether to try to prove positions hopeless during the search.
    proves: bool,
    store: Store,
    /// Number of moves played so far.
    pub(super) nodes: u64,
    tested: u32,
    proved: u32,
}

/// Number of positions near the root for which a proof is always tried.
const ROOT_POSITIONS: u32 = 64;
/// Number of proofs that track the kings together, which takes longer.
const MAX_TOGETHER_PROOFS: u32 = 100;

impl<'a> MateSearch<'a> {
    pub(super) fn new(side: Color, cost: &'a dyn Fn(&Chess) -> usize, proves: bool) -> Self {
        Self {
            side,
            cost,
            proves,
            store: Store::new(),
            nodes: 0,
            tested: 0,
            proved: 0,
        }
    }

    /// Searches from a position in which the game is not over.
    pub(super) fn run(&mut self, root: &Chess, budget: u64) -> Outcome {
        let Some(packed) = Packed::new(root) else {
            return Outcome::Spent;
        };
        self.store.insert(
            packed,
            Origin {
                parent: 0,
                irreversible: false,
                depth: 0,
            },
            || 0,
        );
        while let Some(index) = self.store.pop() {
            let (Some(origin), Some(position)) = (
                self.store.origin(index),
                self.store.position(index).and_then(|packed| packed.unpack()),
            ) else {
                return Outcome::Spent;
            };
            if self.proves && self.is_hopeless(&position, index, origin) {
                continue;
            }
            for mv in position.legal_moves() {
                match self.play(&position, mv, index, origin) {
                    Some(true) => {
                        let mut line = self.line(index);
                        line.push(mv);
                        return Outcome::Mate(line);
                    }
                    Some(false) => {}
                    None => return Outcome::Spent,
                }
            }
            if self.nodes >= budget || self.store.is_full() {
                return Outcome::Spent;
            }
        }
        Outcome::Exhausted
    }

    /// Plays one move and stores the position. Returns whether it is mate; `None` if it cannot be stored.
    fn play(&mut self, position: &Chess, mv: Move, index: u32, origin: Origin) -> Option<bool> {
        self.nodes += 1;
        let mut child = position.clone();
        child.play_unchecked(mv);
        if child.turn() != self.side && child.is_checkmate() {
            return Some(true);
        }
        // Captures and promotions change the material.
        if mv.is_zeroing() && material::too_little(child.board(), self.side) {
            return Some(false);
        }
        let depth = origin.depth + 1;
        let cost = self.cost;
        self.store.insert(
            Packed::new(&child)?,
            Origin {
                parent: index,
                irreversible: mv.is_zeroing(),
                depth,
            },
            || cost(&child) + depth as usize / 4,
        );
        Some(false)
    }

    /// Whether the side provably never mates from here. A proof is tried only near the root and after captures and pawn
    /// moves, and rarely once most proofs have failed.
    fn is_hopeless(&mut self, position: &Chess, index: u32, origin: Origin) -> bool {
        if !origin.irreversible && index >= ROOT_POSITIONS {
            return false;
        }
        self.tested += 1;
        let seldom = self.tested > 256 && self.proved < self.tested / 16;
        if seldom && !self.tested.is_multiple_of(16) {
            return false;
        }
        let hopeless = !nets::conceivable(&Mobility::new(position), self.side)
            || (self.tested < MAX_TOGETHER_PROOFS
                && !nets::conceivable(&Mobility::with_kings(position, self.side), self.side));
        self.proved += if hopeless && seldom {
            16
        } else {
            u32::from(hopeless)
        };
        hopeless
    }

    /// The moves that led to a stored position.
    fn line(&self, mut index: u32) -> Vec<Move> {
        let mut line = Vec::new();
        while index != 0 {
            let (Some(origin), Some(target)) = (self.store.origin(index), self.store.position(index)) else {
                break;
            };
            let Some(before) = self
                .store
                .position(origin.parent)
                .and_then(|packed| packed.unpack())
            else {
                break;
            };
            let moves: MoveList = before.legal_moves();
            line.extend(moves.into_iter().find(|mv| {
                let mut after = before.clone();
                after.play_unchecked(*mv);
                Packed::new(&after) == Some(target)
            }));
            index = origin.parent;
        }
        line.reverse();
        line
    }
}
