//! Endings of few pieces in which a side can mate from almost every position.
//!
//! The conditions in [`is_won`] were proved by retrograde analysis of all positions of these endings: first the mates,
//! then repeatedly every position with a legal move to one already found. In all remaining exceptions, a king stands at
//! the edge or the winner is in check.

use shakmaty::{Bitboard, Board, Color, Role, Square};

use super::men::Men;
use super::plan::Plan;

pub(super) const EDGE: Bitboard = Bitboard(0xff81_8181_8181_81ff);

/// Whether `side`, to move, can certainly mate by a series of legal moves, according to these endings. `false` proves
/// nothing.
///
/// - A queen or a rook against the king alone: always.
/// - A queen or a rook with another piece or a pawn against the king alone, or a queen or a rook against one piece or
///   pawn other than a queen: if no king is at the edge and the winner is not in check.
/// - Bishop and knight, two knights, or bishops on both colours against the king alone: if no king is at the edge.
/// - A knight against a knight, a bishop, a rook or a pawn, and a bishop against a knight, a pawn or a bishop on the
///   other colour: if the winner's king is not at the edge and not in check.
///
/// Only one side ever has pawns, so that en passant cannot occur. Castling cannot occur either, because no king is on
/// its start square.
pub(super) fn is_won(men: &Men, side: Color) -> bool {
    let own = men.of(side).without(men.king(side));
    let other = men.of(side.other()).without(men.king(side.other()));
    let heavy = men.heavy(side);
    if other.is_empty() && heavy.any() && !own.more_than_one() {
        return true;
    }
    let both = own | other;
    if own.is_empty() || !both.more_than_one() || both.without_first().more_than_one() {
        return false;
    }
    let king = men.king(side);
    if EDGE.contains(king) || men.attackers(king, side.other(), men.occupied()).any() {
        return false;
    }
    let one_color = both.is_subset(Bitboard::LIGHT_SQUARES) || both.is_subset(Bitboard::DARK_SQUARES);
    let bishops = men.role(Role::Bishop);
    if heavy.any() {
        return !EDGE.contains(men.king(side.other())) && (other & men.role(Role::Queen)).is_empty();
    }
    if other.is_empty() {
        let minors = bishops | men.role(Role::Knight);
        return !EDGE.contains(men.king(side.other()))
            && own.is_subset(minors)
            && !(one_color && own.is_subset(bishops));
    }
    if (own & men.role(Role::Knight)).any() {
        return (other & men.role(Role::Queen)).is_empty();
    }
    let helps = (other & (men.role(Role::Knight) | men.role(Role::Pawn))).any()
        || ((other & bishops).any() && !one_color);
    (own & bishops).any() && helps
}

/// Mates in the corner a8 by a bishop or a knight with the help of one man of the loser: the two roles, and the squares
/// of the loser's king, the winner's king, the mating piece and the helper.
const HELPED: [(Role, Role, [Square; 4]); 5] = {
    use Role::{Bishop, Knight, Rook};
    use Square::{A6, A7, A8, B6, B7, B8, C7, C8};
    [
        (Bishop, Knight, [A8, B6, B7, B8]),
        (Bishop, Bishop, [A8, B6, B7, B8]),
        (Knight, Knight, [A8, B6, C7, B8]),
        (Knight, Bishop, [A8, C8, C7, A7]),
        (Knight, Rook, [A8, A6, C7, B8]),
    ]
};

/// As [`HELPED`], but the helper is another man of the winner.
const PAIRED: [(Role, Role, [Square; 4]); 3] = {
    use Role::{Bishop, Knight};
    use Square::{A8, B6, B7, C7, D6, D7};
    [
        (Bishop, Knight, [A8, B6, B7, D7]),
        (Bishop, Bishop, [A8, B6, B7, D6]),
        (Knight, Knight, [A8, B6, C7, D7]),
    ]
};

/// Plans for mates by bishops and knights with the help of at most one man of the loser, the nearest first.
pub(super) fn plans(board: &Board, side: Color) -> Vec<Plan> {
    let (winner, loser) = (side, side.other());
    let rest = |color| board.by_color(color) & !board.kings();
    let table: &[_] = if rest(loser).is_empty() { &PAIRED } else { &HELPED };
    let helper = if rest(loser).is_empty() { winner } else { loser };
    let mut plans: Vec<(usize, Plan)> = Vec::new();
    for (role, help, squares) in table {
        for [king, near, mates, helps] in symmetric(*squares) {
            // A pawn can promote to the best helper.
            let is_helper = |from: &Square| {
                let found = board.role_at(*from);
                found == Some(*help) && fits(*help, *from, helps)
                    || found == Some(Role::Pawn) && *help == Role::Knight
            };
            let is_mating_piece =
                |from: &Square| board.role_at(*from) == Some(*role) && fits(*role, *from, mates);
            if !rest(winner).into_iter().any(|from| is_mating_piece(&from))
                || !rest(helper).into_iter().any(|from| is_helper(&from))
            {
                continue;
            }
            let others = [
                (winner.king(), near),
                (role.of(winner), mates),
                (help.of(helper), helps),
            ];
            let plan = Plan::on_empty_board((loser.king(), king), &others);
            plans.push((plan.distance(board), plan));
        }
    }
    plans.sort_by_key(|(distance, _)| *distance);
    plans.into_iter().map(|(_, plan)| plan).collect()
}

/// Whether the square colours allow the piece to go from one square to the other.
fn fits(role: Role, from: Square, to: Square) -> bool {
    role != Role::Bishop || from.is_light() == to.is_light()
}

/// The squares in all eight rotations and reflections.
fn symmetric(squares: [Square; 4]) -> impl Iterator<Item = [Square; 4]> {
    (0..8).map(move |way: u8| {
        squares.map(|mut square| {
            if way & 1 != 0 {
                square = square.flip_horizontal();
            }
            if way & 2 != 0 {
                square = square.flip_vertical();
            }
            if way & 4 != 0 {
                square = square.flip_diagonal();
            }
            square
        })
    })
}
