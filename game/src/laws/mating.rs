//! Can a side still mate? An exact answer for flag falls and for dead positions.
//!
//! The Laws ask it when a flag falls (6.9), at the second completed illegal move (7.5.5), for a dead position (5.2.2)
//! and, since 2023, at a resignation (5.1.2): is there any sequence of legal moves, by both sides, that ends with this
//! side giving mate? Material tables alone answer it wrongly where pawns are locked or every line is forced.
//!
//! # How it is decided
//!
//! *It can* is proved by a line: legal moves from the position to the mate, which anyone can play through. Most are
//! found without a search: both sides play straight for the mate (`sprint`), until it is there or so few pieces are
//! left that a mate is known to follow (`endings`); [`can_mate`] then searches for it from there.
//!
//! *It cannot* is proved in one of these ways, the cheapest first:
//!
//! 1. The game is over, or the material never suffices ([`Reason::Material`]): see `material`.
//! 2. No man that can move ever gets to where it is needed for a mate ([`Reason::Walls`]). `mobility` finds for every
//!    man a set of squares that it cannot leave, whatever is played; `nets` shows that no placing of the men within
//!    their sets closes every flight of the king and gives check.
//! 3. The same with the squares of the two kings followed together ([`Reason::Kings`]): see `kings`.
//! 4. Every position that can be reached was looked at and none is mate ([`Reason::Exhausted`]). Positions are
//!    compared whole, not by a hash (see `store`), and one is left out only when 1 to 3 prove it hopeless by itself.
//!
//! In 1 to 3 every step leans to the side of more being possible, so that a "no" holds for the real game too. The
//! castling rights and the en passant capture of the position count; the fifty and seventy-five moves and repetitions
//! do not: the Laws ask for a series of legal moves, and those rules end a game only by their own articles.
//!
//! *Undetermined* is the honest rest: the budget of nodes is spent. The search has no clock and no chance in it: the
//! same question has the same answer at the same cost.

mod aims;
mod choice;
mod cost;
mod endings;
mod kings;
mod material;
mod men;
mod mobility;
mod nets;
mod plan;
mod search;
mod sprint;
mod store;
#[cfg(test)]
mod tests;

use shakmaty::{Chess, Color, Move, MoveList, Position};

use mobility::Mobility;
use search::{MateSearch, Outcome};

/// What is known about a side's mating.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MatingAnswer {
    /// It can: these legal moves, played by both, end in its mating.
    Can {
        /// From the position asked about; empty when it is mate already.
        line: Vec<Move>,
    },
    /// No legal moves of whatever length end in its mating.
    Cannot {
        /// How that is proved.
        why: Reason,
    },
    /// The nodes ran out first.
    Undetermined,
}

/// Why a side can never mate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The game is over, and not by its mating.
    Over,
    /// Too few men, or the wrong ones.
    Material,
    /// Nowhere that its king can get is the other king mated.
    Walls,
    /// As `Walls`, once it is seen which squares of the kings go together.
    Kings,
    /// Every position that can be reached was looked at.
    Exhausted,
}

impl Reason {
    /// As in the catalogues, which say it in words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Over => "over",
            Self::Material => "material",
            Self::Walls => "walls",
            Self::Kings => "kings",
            Self::Exhausted => "exhausted",
        }
    }
}

/// An answer and what it cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatingFinding {
    /// What is known.
    pub answer: MatingAnswer,
    /// Moves played in the search.
    pub nodes: u64,
}

/// Whether `side` could mate from here by any sequence of legal moves by both.
///
/// `budget` bounds the moves the search plays (a node is a move played). A million takes about a second and ten
/// million at most 180 MB; with fewer positions kept than that the answer is [`MatingAnswer::Undetermined`].
pub fn can_mate(position: &Chess, side: Color, budget: u64) -> MatingFinding {
    if let Some(answer) = at_once(position, side, &position.legal_moves()) {
        return MatingFinding { answer, nodes: 0 };
    }
    let mut hunt = Hunt {
        position,
        side,
        budget,
        nodes: 0,
    };
    let answer = hunt
        .sprint()
        .or_else(|| hunt.run())
        .unwrap_or(MatingAnswer::Undetermined);
    MatingFinding {
        answer,
        nodes: hunt.nodes,
    }
}

/// Whether the game is over, or the material too little.
fn at_once(position: &Chess, side: Color, moves: &MoveList) -> Option<MatingAnswer> {
    if moves.is_empty() {
        let mated = position.is_check() && position.turn() != side;
        return Some(if mated {
            MatingAnswer::Can { line: Vec::new() }
        } else {
            MatingAnswer::Cannot { why: Reason::Over }
        });
    }
    material::too_little(position.board(), side).then_some(MatingAnswer::Cannot {
        why: Reason::Material,
    })
}

/// Nodes of the first try, before any proof is looked for.
const FIRST: u64 = 3000;
/// Nodes of the second try with the same idea.
const SECOND: u64 = 20_000;
/// Nodes of the tries of each mate known of bishops and knights.
const CORNER_PLAN: [u64; 2] = [300, 3000];
/// Nodes of the first try of each plan.
const PLAN: u64 = 1000;
/// Plans tried again with more nodes.
const BEST_PLANS: usize = 4;
/// By how much more nodes each further round has.
const ROUNDS: [u64; 3] = [10, 100, 1000];

/// What a search takes for near to mate: a cost, the lower the nearer.
type Idea<'a> = &'a dyn Fn(&Chess) -> usize;

/// Searches one after the other, each with another idea of what is near to mate.
struct Hunt<'a> {
    position: &'a Chess,
    side: Color,
    budget: u64,
    nodes: u64,
}

impl Hunt<'_> {
    /// The straight run, and where it ends short of the mate, the search from there.
    fn sprint(&mut self) -> Option<MatingAnswer> {
        if self.budget == 0 {
            return None;
        }
        let mut line = sprint::line(self.position, self.side)?;
        self.nodes += line.len() as u64;
        let mut end = self.position.clone();
        for mv in &line {
            end.play_unchecked(*mv);
        }
        if !end.is_checkmate() {
            let mut rest = Hunt {
                position: &end,
                side: self.side,
                budget: self.budget.saturating_sub(self.nodes),
                nodes: 0,
            };
            let found = rest.run();
            self.nodes += rest.nodes;
            let Some(MatingAnswer::Can { line: more }) = found else {
                return None;
            };
            line.extend(more);
        }
        Some(MatingAnswer::Can { line })
    }

    fn run(&mut self) -> Option<MatingAnswer> {
        let (position, side) = (self.position, self.side);
        let strip = move |position: &Chess| cost::strip(position, side);
        let corner = move |position: &Chess| cost::corner(position, side);
        if let Some(answer) = self.corner_plans() {
            return Some(answer);
        }
        // Most positions are open, and a mate is found sooner than any proof could be tried.
        if let Some(answer) = self.search(&strip, false, FIRST) {
            return Some(answer);
        }
        let mobility = Mobility::new(position);
        if !nets::conceivable(&mobility, side) {
            return Some(MatingAnswer::Cannot { why: Reason::Walls });
        }
        if !nets::conceivable(&Mobility::with_kings(position, side), side) {
            return Some(MatingAnswer::Cannot { why: Reason::Kings });
        }
        // In open positions proofs on the way cost more than they save.
        for (idea, share) in [(&corner as Idea<'_>, FIRST), (&strip, SECOND)] {
            if let Some(answer) = self.search(idea, false, share) {
                return Some(answer);
            }
        }
        if let Some(answer) = self.search(&corner, true, FIRST) {
            return Some(answer);
        }
        if self.nodes >= self.budget {
            return None;
        }
        let plans = nets::plans(&mobility, side, position);
        for plan in &plans {
            if let Some(answer) = self.search(&|position| plan.cost(position), true, PLAN) {
                return Some(answer);
            }
        }
        for round in ROUNDS {
            for idea in [&strip as Idea<'_>, &corner] {
                if let Some(answer) = self.search(idea, true, FIRST * round) {
                    return Some(answer);
                }
            }
            for plan in plans.iter().take(BEST_PLANS) {
                if let Some(answer) = self.search(&|position| plan.cost(position), true, PLAN * round) {
                    return Some(answer);
                }
            }
        }
        self.search(&|_| 0, true, u64::MAX)
    }

    /// Tries the mates that are known of bishops and knights, where the loser has one piece at most.
    fn corner_plans(&mut self) -> Option<MatingAnswer> {
        let (board, side) = (self.position.board(), self.side);
        let strong = board.by_color(side) & (board.pawns() | board.rooks_and_queens());
        if strong.any() || board.by_color(side.other()).count() > 2 {
            return None;
        }
        let plans = endings::plans(board, side);
        CORNER_PLAN.into_iter().find_map(|share| {
            plans
                .iter()
                .find_map(|plan| self.search(&|position| plan.cost(position), false, share))
        })
    }

    /// One search with at most this share of the nodes that are left.
    fn search(&mut self, cost: Idea<'_>, proves: bool, share: u64) -> Option<MatingAnswer> {
        let left = self.budget.saturating_sub(self.nodes);
        if left == 0 {
            return None;
        }
        let mut search = MateSearch::new(self.side, cost, proves);
        let outcome = search.run(self.position, share.min(left));
        self.nodes += search.nodes;
        match outcome {
            Outcome::Mate(line) => Some(MatingAnswer::Can { line }),
            Outcome::Exhausted => Some(MatingAnswer::Cannot {
                why: Reason::Exhausted,
            }),
            Outcome::Spent => None,
        }
    }
}

/// Whether `side` has mating material in the sense of the blitz rules of 1997 (C.4): whether legal moves by both, the
/// opponent helping, can lead to a position in which the opponent has the move and cannot avoid being mated in one.
///
/// Two knights against a bare king mate only where that king walks into it, and are too little. With other small forces, one that
/// needs the opponent's own men in their king's way, the line that is found must end so; where it does not, the answer
/// is `None`, as it is when the `budget` of nodes is spent.
pub fn has_mating_material(position: &Chess, side: Color, budget: u64) -> Option<bool> {
    let board = position.board();
    let line = match can_mate(position, side, budget).answer {
        MatingAnswer::Can { line } => line,
        MatingAnswer::Cannot { .. } => return Some(false),
        MatingAnswer::Undetermined => return None,
    };
    if material::is_ample(board, side) {
        return Some(true);
    }
    if material::faces_bare_king(board, side) {
        return Some(false);
    }
    let mut end = position.clone();
    for mv in line.get(..line.len().checked_sub(2)?)? {
        end.play_unchecked(*mv);
    }
    mated_next(&end).then_some(true)
}

/// Whether whatever is played here is answered by mate.
fn mated_next(position: &Chess) -> bool {
    let replies_with_mate = |mv| {
        let mut answered = position.clone();
        answered.play_unchecked(mv);
        answered.legal_moves().into_iter().any(|reply| {
            let mut end = answered.clone();
            end.play_unchecked(reply);
            end.is_checkmate()
        })
    };
    position.legal_moves().into_iter().all(replies_with_mate)
}

/// The same question at a glance: by the material and the walls, and by a straight run for a mate. `None` where it
/// takes a search. Never contradicts [`can_mate`].
pub fn quick(position: &Chess, side: Color) -> Option<bool> {
    let moves = position.legal_moves();
    if let Some(answer) = at_once(position, side, &moves) {
        return Some(matches!(answer, MatingAnswer::Can { .. }));
    }
    if sprint::mates(position, side) {
        return Some(true);
    }
    (!nets::conceivable(&Mobility::new(position), side)).then_some(false)
}
