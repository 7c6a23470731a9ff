//! Several plies between two looks at the board: which legal line leads from one placement to another.

use shakmaty::{Bitboard, Board, Move};

use super::sensors::difference;
use super::state::State;

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// Just one line.
    Only(Vec<Move>),
    /// More than one line of the shortest length.
    Several,
    /// No line within the bounds.
    Nothing,
}

/// The shortest legal lines from `start` to the placement `target`, of at most `most_plies` plies. At most
/// `budget` positions are looked at. Only squares in `within` may have been touched.
///
/// Every piece that moves must stand where the target shows something else: a piece that wandered off and came
/// back is no part of the only credible reading.
pub(crate) fn search(
    start: &State,
    target: &Board,
    within: Bitboard,
    most_plies: usize,
    budget: usize,
) -> Found {
    let mut search = Search {
        target,
        within,
        left: budget,
        found: None,
        several: false,
        line: Vec::new(),
    };
    for plies in 1..=most_plies {
        search.deepen(start, plies);
        if search.left == 0 {
            return Found::Nothing;
        }
        if search.several {
            return Found::Several;
        }
        if let Some(line) = search.found {
            return Found::Only(line);
        }
    }
    Found::Nothing
}

struct Search<'a> {
    target: &'a Board,
    within: Bitboard,
    left: usize,
    found: Option<Vec<Move>>,
    several: bool,
    line: Vec<Move>,
}

impl Search<'_> {
    fn deepen(&mut self, state: &State, plies: usize) {
        let differs = difference(state.board(), self.target);
        if plies == 0 {
            if differs.is_empty() {
                self.several |= self.found.is_some();
                self.found = Some(self.line.clone());
            }
            return;
        }
        // A ply puts at most two squares right, castling four.
        if differs.count() > 2 * plies + 2 || self.several {
            return;
        }
        for candidate in state.moves() {
            let squares = candidate.footprint.squares();
            let leaves = candidate.m.from().is_some_and(|from| differs.contains(from));
            if !self.within.is_superset(squares) || (!leaves && (differs & squares).is_empty()) {
                continue;
            }
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            self.line.push(candidate.m);
            self.deepen(&state.after(candidate.m), plies - 1);
            self.line.pop();
        }
    }
}
