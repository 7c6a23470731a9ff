//! Plans: mating placements of men, and the distance of a position from them.

use shakmaty::{
    Bitboard, Board, CastlingMode, Chess, Color, FromSetup, Piece, Position, PositionError, Role, Setup,
    Square,
    attacks::{attacks, king_attacks},
};

use super::cost::steps;
use super::mobility::Mobility;

/// A man and its target square.
pub(super) type Post = (Piece, Square);

/// A set of men and squares that forms a mate.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    routes: Vec<Route>,
}

#[derive(Debug, Clone)]
struct Route {
    piece: Piece,
    /// Number of moves from each square to the target square, blocked only by solid men.
    moves: [u8; 64],
    weight: usize,
}

impl Route {
    fn new(solid: Bitboard, (piece, square): Post, weight: usize) -> Self {
        Self {
            piece,
            moves: moves_to(solid, piece, square),
            weight,
        }
    }
}

/// Number of moves assumed for an unreachable square.
const UNREACHABLE: u8 = 40;

impl Plan {
    /// The plan to place these men; `None` if the placement is not mate.
    pub(super) fn new(mobility: &Mobility, side: Color, posts: &[Post]) -> Option<Self> {
        if !is_mate(mobility, side, posts) {
            return None;
        }
        let routes = posts.iter().map(|post| Route::new(mobility.solid, *post, 1));
        Some(Self {
            routes: routes.collect(),
        })
    }

    /// The plan to mate a king on an empty board. The moves of this king have more weight, because it must reach its
    /// square before the other men shut it out.
    pub(super) fn on_empty_board(king: Post, others: &[Post]) -> Self {
        let mut routes = vec![Route::new(Bitboard::EMPTY, king, 4)];
        routes.extend(others.iter().map(|post| Route::new(Bitboard::EMPTY, *post, 1)));
        Self { routes }
    }

    /// Estimate of the number of moves still needed.
    pub(super) fn distance(&self, board: &Board) -> usize {
        let mut used = Bitboard::EMPTY;
        let mut sum = 0;
        for route in &self.routes {
            let mut best = (UNREACHABLE, None);
            for square in board.by_piece(route.piece) & !used {
                let moves = route.moves[square as usize];
                if moves < best.0 {
                    best = (moves, Some(square));
                }
            }
            if best.0 > 2 && !matches!(route.piece.role, Role::Pawn | Role::King) {
                let color = route.piece.color;
                for square in board.by_piece(color.pawn()) & !used {
                    let crown = Square::from_coords(square.file(), color.other().backrank());
                    let moves = 1 + 2 * steps(color, square) as u8 + route.moves[crown as usize];
                    if moves < best.0 {
                        best = (moves, Some(square));
                    }
                }
            }
            best.1.into_iter().for_each(|square| used.add(square));
            sum += route.weight * usize::from(best.0);
        }
        sum
    }

    /// The cost of a position under this plan. Fewer men cost less, because captured men are not in the way.
    pub(super) fn cost(&self, position: &Chess) -> usize {
        2 * self.distance(position.board()) + 2 * position.board().occupied().count()
    }
}

/// Whether these men and the solid ones alone form a mate.
fn is_mate(mobility: &Mobility, side: Color, posts: &[Post]) -> bool {
    let mut board = Board::empty();
    for man in mobility
        .men
        .iter()
        .filter(|man| mobility.solid.contains(man.home) && man.role != Role::King)
    {
        board.set_piece_at(
            man.home,
            Piece {
                color: man.color,
                role: man.role,
            },
        );
    }
    for (piece, square) in posts {
        board.set_piece_at(*square, *piece);
    }
    if board.king_of(side).is_none() {
        // The winner's king is not needed for the mate, so it goes to any square that is not in the way.
        let Some(king) = mobility
            .men
            .iter()
            .find(|man| man.role == Role::King && man.color == side)
        else {
            return false;
        };
        let near = board.king_of(side.other()).map_or(Bitboard::EMPTY, king_attacks);
        let Some(square) = (king.reach & !board.occupied() & !near).first() else {
            return false;
        };
        board.set_piece_at(square, side.king());
    }
    let setup = Setup {
        board,
        turn: side.other(),
        ..Setup::empty()
    };
    Chess::from_setup(setup, CastlingMode::Standard)
        .or_else(PositionError::ignore_too_much_material)
        .or_else(PositionError::ignore_impossible_check)
        .is_ok_and(|position| position.is_checkmate())
}

/// Number of moves that a piece needs from each square to `target`.
fn moves_to(solid: Bitboard, piece: Piece, target: Square) -> [u8; 64] {
    let mut moves = [UNREACHABLE; 64];
    if piece.role == Role::Pawn {
        for square in Square::ALL {
            let ahead = steps(piece.color, square).checked_sub(steps(piece.color, target));
            let aside = (square.file() as i8 - target.file() as i8).unsigned_abs();
            if let Some(ahead) = ahead.filter(|ahead| *ahead >= usize::from(aside)) {
                moves[square as usize] = ahead as u8 + 3 * aside;
            }
        }
        return moves;
    }
    let mut frontier = Bitboard::from_square(target);
    let mut seen = frontier;
    let mut count = 0;
    while frontier.any() {
        let mut next = Bitboard::EMPTY;
        for square in frontier {
            moves[square as usize] = count;
            next |= attacks(square, piece, solid);
        }
        frontier = next & !seen;
        seen |= frontier;
        count += 1;
    }
    moves
}
