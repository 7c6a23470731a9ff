//! Decides exactly whether a side can still mate, for flag falls and dead positions.
//!
//! The Laws ask this question when a flag falls (6.9), at the second completed illegal move (7.5.5), for a dead
//! position (5.2.2) and, since 2023, at a resignation (5.1.2): is there any sequence of legal moves, by both sides, in
//! which this side mates? Material tables alone give wrong answers if pawns are locked or every line is forced.
//!
//! In this module, a *man* is a piece or a pawn, the *winner* is the side asked about, and the *loser* is its opponent.
//!
//! # Method
//!
//! *It can* is proved by a line: legal moves from the position to the mate, which anyone can play through. Most lines
//! are found without a search: both sides play straight for the mate (`sprint`) until it is on the board, or until the
//! few remaining pieces form an ending with a known mate (`endings`), from which [`can_mate`] then searches.
//!
//! *It cannot* is proved in one of these ways, the cheapest first:
//!
//! 1. The game is over, or the material never suffices ([`Reason::Material`]): see `material`.
//! 2. The men cannot reach the squares needed for a mate ([`Reason::Walls`]). `mobility` computes for every man a set
//!    of squares that it can never leave; `nets` shows that no placement of the men within their sets gives check and
//!    closes every flight square of the king.
//! 3. The same, with the squares of the two kings tracked together ([`Reason::Kings`]): see `kings`.
//! 4. An exhaustive search of all reachable positions found no mate ([`Reason::Exhausted`]). Positions are compared in
//!    full, not by a hash (see `store`), and a position is skipped only if 1 to 3 prove it hopeless by itself.
//!
//! In 1 to 3, every approximation allows more than the rules of chess, so that a "no" also holds for the real game.
//! Castling rights and en passant captures of the position are taken into account. The fifty-move and seventy-five-move
//! rules and repetitions are not: the Laws ask for a series of legal moves, and those rules end a game only by their
//! own articles.
//!
//! *Undetermined* means that the budget of nodes is spent. The search uses neither time nor chance: the same question
//! has the same answer at the same cost.

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

/// The answer to the question whether a side can mate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MatingAnswer {
    /// The side can mate: this line of legal moves by both sides ends with its mate.
    Can {
        /// The moves from the given position; empty if it is already mate.
        line: Vec<Move>,
    },
    /// The side cannot mate, whatever legal moves are played.
    Cannot {
        /// The kind of proof.
        why: Reason,
    },
    /// The budget of nodes was spent before an answer was found.
    Undetermined,
}

/// A proof that a side can never mate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The game is over, and not by a mate of this side.
    Over,
    /// The side has too few men, or unsuitable ones.
    Material,
    /// The loser's king cannot be mated on any square that it can reach.
    Walls,
    /// As `Walls`, also considering which squares the two kings can occupy together.
    Kings,
    /// All reachable positions were examined.
    Exhausted,
}

impl Reason {
    /// The key of the reason in the catalogues.
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

/// An answer and its cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatingFinding {
    /// The answer.
    pub answer: MatingAnswer,
    /// Moves played in the search.
    pub nodes: u64,
}

/// Whether `side` could mate from `position` by any sequence of legal moves by both sides.
///
/// `budget` limits the search, in nodes: one node is one move played. A million nodes take about a second, ten million
/// at most 180 MB. If the store of positions fills up first, the answer is [`MatingAnswer::Undetermined`].
pub fn can_mate(position: &Chess, side: Color, budget: u64) -> MatingFinding {
    if let Some(answer) = without_search(position, side, &position.legal_moves()) {
        return MatingFinding { answer, nodes: 0 };
    }
    let mut finder = MateFinder {
        position,
        side,
        budget,
        nodes: 0,
    };
    let answer = finder
        .sprint()
        .or_else(|| finder.run())
        .unwrap_or(MatingAnswer::Undetermined);
    MatingFinding {
        answer,
        nodes: finder.nodes,
    }
}

/// Answers if the game is over or the material is insufficient.
fn without_search(position: &Chess, side: Color, moves: &MoveList) -> Option<MatingAnswer> {
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

/// Nodes of the first attempt, before any proof is tried.
const FIRST_NODES: u64 = 3000;
/// Nodes of the second attempt with the same cost function.
const SECOND_NODES: u64 = 20_000;
/// Nodes of each attempt at a known mate with bishops and knights.
const CORNER_PLAN_NODES: [u64; 2] = [300, 3000];
/// Nodes of the first attempt at each plan.
const PLAN_NODES: u64 = 1000;
/// Number of plans tried again with more nodes.
const BEST_PLANS: usize = 4;
/// Factors by which the further rounds increase the number of nodes.
const ROUND_FACTORS: [u64; 3] = [10, 100, 1000];

/// Cost function of a search: the lower the cost, the nearer the mate.
type CostFunction<'a> = &'a dyn Fn(&Chess) -> usize;

/// A series of searches with different cost functions.
struct MateFinder<'a> {
    position: &'a Chess,
    side: Color,
    budget: u64,
    nodes: u64,
}

impl MateFinder<'_> {
    /// Plays a straight run for the mate. If the run ends before the mate, searches from the position reached.
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
            let mut rest = MateFinder {
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
        // Most positions are open, so a mate is found in less time than a proof takes.
        if let Some(answer) = self.search(&strip, false, FIRST_NODES) {
            return Some(answer);
        }
        let mobility = Mobility::new(position);
        if !nets::conceivable(&mobility, side) {
            return Some(MatingAnswer::Cannot { why: Reason::Walls });
        }
        if !nets::conceivable(&Mobility::with_kings(position, side), side) {
            return Some(MatingAnswer::Cannot { why: Reason::Kings });
        }
        // In open positions, proofs during the search cost more than they save.
        for (cost, share) in [(&corner as CostFunction<'_>, FIRST_NODES), (&strip, SECOND_NODES)] {
            if let Some(answer) = self.search(cost, false, share) {
                return Some(answer);
            }
        }
        if let Some(answer) = self.search(&corner, true, FIRST_NODES) {
            return Some(answer);
        }
        if self.nodes >= self.budget {
            return None;
        }
        let plans = nets::plans(&mobility, side, position);
        for plan in &plans {
            if let Some(answer) = self.search(&|position| plan.cost(position), true, PLAN_NODES) {
                return Some(answer);
            }
        }
        for round in ROUND_FACTORS {
            for cost in [&strip as CostFunction<'_>, &corner] {
                if let Some(answer) = self.search(cost, true, FIRST_NODES * round) {
                    return Some(answer);
                }
            }
            for plan in plans.iter().take(BEST_PLANS) {
                if let Some(answer) = self.search(&|position| plan.cost(position), true, PLAN_NODES * round) {
                    return Some(answer);
                }
            }
        }
        self.search(&|_| 0, true, u64::MAX)
    }

    /// Tries the known mates with bishops and knights, if the loser has at most one piece.
    fn corner_plans(&mut self) -> Option<MatingAnswer> {
        let (board, side) = (self.position.board(), self.side);
        let strong = board.by_color(side) & (board.pawns() | board.rooks_and_queens());
        if strong.any() || board.by_color(side.other()).count() > 2 {
            return None;
        }
        let plans = endings::plans(board, side);
        CORNER_PLAN_NODES.into_iter().find_map(|share| {
            plans
                .iter()
                .find_map(|plan| self.search(&|position| plan.cost(position), false, share))
        })
    }

    /// Runs one search with at most `share` of the remaining nodes.
    fn search(&mut self, cost: CostFunction<'_>, proves: bool, share: u64) -> Option<MatingAnswer> {
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

/// Whether `side` has mating material in the sense of the blitz rules of 1997 (C.4): whether legal moves by both sides,
/// with the opponent's help, can lead to a position in which the opponent has the move and cannot avoid being mated in
/// one.
///
/// Two knights against a bare king do not suffice, because that king must walk into the mate. Other small forces need
/// the opponent's own men next to their king: for these, the line found must lead to such a position. If it does not,
/// the answer is `None`, as it is when the `budget` of nodes is spent.
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

/// Whether every legal move can be answered by mate.
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

/// A quick answer by material, walls, and a straight run for a mate; `None` if the question needs a search. The answer
/// never contradicts [`can_mate`].
pub fn quick(position: &Chess, side: Color) -> Option<bool> {
    let moves = position.legal_moves();
    if let Some(answer) = without_search(position, side, &moves) {
        return Some(matches!(answer, MatingAnswer::Can { .. }));
    }
    if sprint::mates(position, side) {
        return Some(true);
    }
    (!nets::conceivable(&Mobility::new(position), side)).then_some(false)
}
