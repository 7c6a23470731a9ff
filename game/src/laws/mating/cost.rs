//! Estimated distance of a position from mate.
//!
//! Costs decide only the order of the search, never an answer.

use shakmaty::{Bitboard, Chess, Color, Position, Square, attacks::king_attacks};

/// Cost function for most positions: take all men, promote a heavy piece, and lead the loser's king to the edge and the
/// winner's king to it. The fewer men are left, the fewer moves the search has to examine.
pub(super) fn strip(position: &Chess, side: Color) -> usize {
    let board = position.board();
    let (Some(winner), Some(loser)) = (board.king_of(side), board.king_of(side.other())) else {
        return 0;
    };
    let own = board.by_color(side);
    let enemy = board.by_color(side.other());
    let heavy = own & board.rooks_and_queens();
    let minors = own & (board.bishops() | board.knights());
    let (file, rank) = (to_edge(loser.file() as usize), to_edge(loser.rank() as usize));
    // Without a heavy piece, a mate is only possible in the corner.
    let edge = if heavy.any() {
        file.min(rank)
    } else {
        file.max(rank)
    };
    let occupied = board.occupied().without(loser);
    let flights = king_attacks(loser) & !enemy;
    let open = flights
        .into_iter()
        .filter(|flight| board.attacks_to(*flight, side, occupied).is_empty())
        .count();
    let crown = match (heavy.any(), steps_to_crown(own & board.pawns(), side)) {
        (true, _) => 0,
        (false, Some(steps)) => 8 + 4 * steps,
        (false, None) if minors.more_than_one() => 20,
        (false, None) => 40,
    };
    3 * edge + open + 4 * enemy.count() + 2 * own.count() + crown + 2 * apart(winner, loser)
}

/// Cost function for few men without captures: both kings go to a corner that the winner's bishops can reach.
pub(super) fn corner(position: &Chess, side: Color) -> usize {
    let board = position.board();
    let (Some(winner), Some(loser)) = (board.king_of(side), board.king_of(side.other())) else {
        return 0;
    };
    let own = board.by_color(side);
    let heavy = (own & board.rooks_and_queens()).any();
    let light = (own & board.bishops() & Bitboard::LIGHT_SQUARES).any();
    let dark = (own & board.bishops() & Bitboard::DARK_SQUARES).any();
    let corners: &[Square] = match (heavy, light, dark) {
        (false, true, false) => &[Square::A8, Square::H1],
        (false, false, true) => &[Square::A1, Square::H8],
        _ => &[Square::A1, Square::A8, Square::H1, Square::H8],
    };
    let corner = corners
        .iter()
        .map(|corner| corner.distance(loser) as usize)
        .min()
        .unwrap_or(0);
    let crown = match (heavy, steps_to_crown(own & board.pawns(), side)) {
        (true, _) => 0,
        (false, steps) => steps.map_or(10, |steps| 8 + 4 * steps) + board.by_color(side.other()).count() / 2,
    };
    3 * corner + 2 * apart(winner, loser) + crown
}

fn to_edge(coordinate: usize) -> usize {
    coordinate.min(7 - coordinate.min(7))
}

/// Steps by which the kings can approach each other.
fn apart(winner: Square, loser: Square) -> usize {
    (winner.distance(loser) as usize).saturating_sub(2)
}

/// Steps to promotion of the most advanced pawn.
fn steps_to_crown(pawns: Bitboard, color: Color) -> Option<usize> {
    pawns.into_iter().map(|square| steps(color, square)).min()
}

/// Number of ranks between a square and promotion.
pub(super) fn steps(color: Color, square: Square) -> usize {
    match color {
        Color::White => 7 - (square.rank() as usize).min(7),
        Color::Black => square.rank() as usize,
    }
}
