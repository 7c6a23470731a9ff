//! The search for a helpmate: the position that looks nearest to mate first.
//!
//! Both sides help. Every position is looked at once, whatever moves led to it, and left out only when the mate is
//! proved impossible from it. So when no position is left the answer is no, and that is a proof; the costs only say
//! in which order to look.

use shakmaty::{Chess, Color, Move, MoveList, Position};

use super::mobility::Mobility;
use super::store::{Origin, Packed, Store};
use super::{material, nets};

/// How a search ended.
#[derive(Debug)]
pub(super) enum Outcome {
    /// Moves that end in mate.
    Mate(Vec<Move>),
    /// No mate in all that can be reached.
    Exhausted,
    /// The nodes or the memory are used up.
    Spent,
}

/// One search.
pub(super) struct MateSearch<'a> {
    side: Color,
    /// How far a position seems from mate.
    cost: &'a dyn Fn(&Chess) -> usize,
    /// Whether to look for proofs on the way.
    proves: bool,
    store: Store,
    /// Moves played so far.
    pub(super) nodes: u64,
    tested: u32,
    proved: u32,
}

/// Positions at the root whose proofs are always looked for.
const ROOT_POSITIONS: u32 = 64;
/// Proofs that are looked for with the kings together, which takes longer.
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

    /// Searches from a position where the game is not over.
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

    /// Plays one move and keeps the position. Whether it is the mate; `None` when it cannot be kept.
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

    /// Whether the side can be proved never to mate from here. A proof is looked for where it is new, near the root
    /// and after captures and pawn moves; and seldom once few are found.
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

    /// The moves that led to a position kept.
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
