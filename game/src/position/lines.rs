//! The legal lines of several plies between two known placements.

use shakmaty::{Bitboard, Board, Color, Move, Role, Square};

use super::difference;
use super::state::State;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FoundLines {
    /// Exactly one line.
    Only(Vec<Move>),
    /// The same moves in several orders; this is one of them.
    AnyOrder(Vec<Move>),
    /// Different moves lead to the target, or the budget ran out.
    Several,
    /// No line of this length.
    Nothing,
}

impl FoundLines {
    pub(crate) fn preceded_by(mut self, first: Move) -> Self {
        if let Self::Only(line) | Self::AnyOrder(line) = &mut self {
            line.insert(0, first);
        }
        self
    }
}

/// Searches for legal lines of `plies` plies from `start` to the placement `target`. Visits at most `budget` positions.
///
/// Every move must leave or reach a square on which the target differs: lines in which a piece wanders off and comes
/// back are not credible.
pub(crate) fn between(start: &State, target: &Board, plies: usize, budget: usize) -> FoundLines {
    let mut search = LineSearch::new(target, 0, budget);
    let (mut found, mut orders, mut several) = (None::<Vec<Move>>, 0, false);
    search.deepen(start, plies, &mut |_, differs, line| {
        if differs.is_empty() {
            orders += 1;
            match &found {
                None => found = Some(line.to_vec()),
                Some(found) => several |= !same_moves(found, line),
            }
        }
        !several
    });
    match found {
        _ if several || search.left == 0 => FoundLines::Several,
        Some(line) if orders > 1 => FoundLines::AnyOrder(line),
        Some(line) => FoundLines::Only(line),
        None => FoundLines::Nothing,
    }
}

/// Searches for all legal lines of 1 to `most` plies from `start` to a position that equals `target`, or from which
/// `target` lacks at most one piece of each side that a hand may hold. Visits at most `budget` positions. Moves are
/// limited as in [`between`]. Returns the lines, and the length up to which all were found.
pub(crate) fn reaching(start: &State, target: &Board, most: usize, budget: usize) -> (Vec<Vec<Move>>, usize) {
    let mut search = LineSearch::new(target, 1, budget);
    let mut found = Vec::new();
    for plies in 1..=most {
        let known = found.len();
        search.deepen(start, plies, &mut |state, differs, line| {
            if differs.is_disjoint(target.occupied()) && is_in_hands(state, differs) {
                found.push(line.to_vec());
            }
            true
        });
        if search.left == 0 {
            found.truncate(known);
            return (found, plies - 1);
        }
    }
    (found, most)
}

struct LineSearch<'a> {
    target: &'a Board,
    /// Number of pieces of each side that hands may hold at the end of a line.
    in_hand: usize,
    /// Number of positions that may still be visited.
    left: usize,
    line: Vec<Move>,
}

/// Receives the last position of a line, the squares on which it differs from the target, and the line. Returns whether
/// to go on.
type Arrive<'a> = &'a mut dyn FnMut(&State, Bitboard, &[Move]) -> bool;

impl<'a> LineSearch<'a> {
    const fn new(target: &'a Board, in_hand: usize, budget: usize) -> Self {
        Self {
            target,
            in_hand,
            left: budget,
            line: Vec::new(),
        }
    }

    /// Passes the lines of `plies` plies after `state` to `arrive`. Returns whether to go on.
    fn deepen(&mut self, state: &State, plies: usize, arrive: Arrive<'_>) -> bool {
        let differs = difference(state.board(), self.target);
        if plies == 0 {
            return arrive(state, differs, &self.line);
        }
        if !self.in_reach(state, differs, plies) {
            return true;
        }
        for m in state.legal_moves() {
            let leaves = m.from().is_some_and(|from| differs.contains(from));
            // Most moves do not touch any differing square.
            let touches = leaves || differs.contains(m.to()) || m.is_castle();
            // After an illegal move, a king may be in check while the other player is to move.
            if !touches || m.capture() == Some(Role::King) {
                continue;
            }
            if self.left == 0 {
                return false;
            }
            self.left -= 1;
            self.line.push(m);
            let goes_on = self.deepen(&state.after(m), plies - 1, arrive);
            self.line.pop();
            if !goes_on {
                return false;
            }
        }
        true
    }

    /// Whether `plies` plies can bring all pieces to their target squares, except for those in hands. A ply brings one
    /// piece there, castling two; and a ply removes one piece from a square, by moving or capturing it.
    fn in_reach(&self, state: &State, differs: Bitboard, plies: usize) -> bool {
        Color::ALL.into_iter().all(|color| {
            let own_plies = plies.div_ceil(2);
            let own_plies = if color == state.turn() {
                own_plies
            } else {
                plies - own_plies
            };
            let castles =
                usize::from((differs & state.board().kings() & state.board().by_color(color)).any());
            let arrive = (differs & self.target.by_color(color)).count();
            let leave = (differs & state.board().by_color(color)).count();
            arrive <= own_plies + castles && leave <= plies + castles + self.in_hand
        })
    }
}

/// Whether a hand may have lifted the pieces on these squares: one of the player to move, and one that this player may
/// capture.
fn is_in_hands(state: &State, lifted: Bitboard) -> bool {
    let own = lifted & state.board().by_color(state.turn());
    let others = lifted.without(own);
    let captures = |square| {
        state
            .legal_moves()
            .iter()
            .any(|m| captured_on(*m) == Some(square))
    };
    own.count() <= 1 && (others.is_empty() || others.single_square().is_some_and(captures))
}

/// Square of the piece that a move captures; `None` if it captures none.
pub(crate) fn captured_on(m: Move) -> Option<Square> {
    match m {
        Move::EnPassant { from, to } => Some(Square::from_coords(to.file(), from.rank())),
        _ => m.is_capture().then_some(m.to()),
    }
}

/// Whether two lines of the same length consist of the same moves, in any order.
pub(crate) fn same_moves(a: &[Move], b: &[Move]) -> bool {
    let same =
        |a: &Move, b: &Move| a.from() == b.from() && a.to() == b.to() && a.promotion() == b.promotion();
    a.iter().all(|a| b.iter().any(|b| same(a, b)))
}

#[cfg(test)]
mod tests {
    use shakmaty::fen::Fen;
    use shakmaty::{CastlingMode, Chess};

    use super::*;

    fn searched(fen: &str, target: &str) -> FoundLines {
        let position: Chess = fen
            .parse::<Fen>()
            .expect("a FEN")
            .into_position(CastlingMode::Standard)
            .expect("a position");
        let start = State::legal(position, CastlingMode::Standard);
        let target = Board::from_ascii_board_fen(target.as_bytes()).expect("a placement");
        (1..=8)
            .map(|plies| between(&start, &target, plies, 4000))
            .find(|found| *found != FoundLines::Nothing)
            .unwrap_or(FoundLines::Nothing)
    }

    /// A white pawn has left b2, and Black, who has taken it off the board, holds the pawn of a4.
    #[test]
    fn a_pawn_in_the_hand_may_have_been_captured_en_passant() {
        let position: Chess = "4k3/8/8/8/p7/8/1P6/4K3 w - - 0 1"
            .parse::<Fen>()
            .expect("a FEN")
            .into_position(CastlingMode::Standard)
            .expect("a position");
        let start = State::legal(position, CastlingMode::Standard);
        let target = Board::from_ascii_board_fen(b"4k3/8/8/8/8/8/8/4K3").expect("a placement");
        let (lines, _) = reaching(&start, &target, 1, 4000);
        let lines: Vec<String> = lines.iter().map(|line| line[0].to_string()).collect();
        assert_eq!(lines, ["b2-b3", "b2-b4"]);
    }

    const KINGS_AND_PAWNS: &str = "4k3/p6p/8/8/8/8/P6P/4K3 w - - 0 1";

    #[test]
    fn a_single_line_is_found() {
        let found = searched(KINGS_AND_PAWNS, "4k3/7p/8/p7/8/7P/P7/4K3");
        assert!(matches!(found, FoundLines::Only(line) if line.len() == 2));
    }

    #[test]
    fn moves_that_fit_in_any_order_are_reported_as_such() {
        let found = searched(KINGS_AND_PAWNS, "4k3/p7/7p/3P4/8/7P/8/4K3");
        assert_eq!(found, FoundLines::Nothing, "a pawn does not change files");
        let found = searched(KINGS_AND_PAWNS, "4k3/8/p6p/8/8/P6P/8/4K3");
        assert!(matches!(found, FoundLines::AnyOrder(line) if line.len() == 4));
    }

    #[test]
    fn different_moves_to_one_placement_are_ambiguous() {
        // The white king has several ways to its square.
        let found = searched("k7/8/8/8/8/8/P7/K7 w - - 0 1", "8/k7/8/8/P7/K7/8/8");
        assert_eq!(found, FoundLines::Several);
    }
}
