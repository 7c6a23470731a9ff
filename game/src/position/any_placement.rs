//! Legal moves from any placement, including placements that legal play cannot reach.
//!
//! shakmaty rejects a position in which the player who has just moved is in check, and some other results of illegal
//! play. The Laws do not: a move is legal if it follows the rules of the piece and the mover's own king is not attacked
//! afterwards (Art. 3.1 to 3.9).

use shakmaty::{Bitboard, Board, CastlingSide, Color, Move, Rank, Role, Setup, Square, attacks};

/// The legal moves. It is unknown whether the rooks in `may_castle` have the right to castle; they are assumed to have
/// it.
pub(super) fn legal_moves(setup: &Setup, may_castle: Bitboard) -> Vec<Move> {
    let board = &setup.board;
    let color = setup.turn;
    let takes_king = |m: &Move| m.capture() == Some(Role::King);
    let mut moves: Vec<Move> = pseudo_legal_moves(board, color)
        .into_iter()
        .filter(|m| !takes_king(m))
        .chain(en_passant(setup))
        .filter(|m| !in_check(&after(board, color, *m), color))
        .collect();
    moves.extend(castling(board, color, setup.castling_rights | may_castle));
    moves
}

/// Whether the king of `color` is attacked; false without a king.
pub(super) fn in_check(board: &Board, color: Color) -> bool {
    let king = board.king_of(color);
    king.is_some_and(|king| board.attacks_to(king, !color, board.occupied()).any())
}

/// The square that a pawn passes with a double step; `None` for any other move.
pub(super) fn passed_square(m: Move) -> Option<Square> {
    let Move::Normal {
        role: Role::Pawn,
        from,
        to,
        ..
    } = m
    else {
        return None;
    };
    (from.file() == to.file())
        .then(|| attacks::between(from, to).single_square())
        .flatten()
}

/// The pseudo-legal moves of `color`, regardless of check. Castling and en passant are left out.
pub(super) fn pseudo_legal_moves(board: &Board, color: Color) -> Vec<Move> {
    let own = board.by_color(color);
    let mut moves = Vec::new();
    for (from, role) in own
        .into_iter()
        .filter_map(|from| Some((from, board.role_at(from)?)))
    {
        let targets = if role == Role::Pawn {
            pawn_targets(board, from, color)
        } else {
            attacks::attacks(from, role.of(color), board.occupied()).without(own)
        };
        for to in targets {
            let promotes = role == Role::Pawn && to.rank() == color.fold_wb(Rank::Eighth, Rank::First);
            let normal = |promotion| Move::Normal {
                role,
                from,
                capture: board.role_at(to),
                to,
                promotion,
            };
            if promotes {
                let roles = [Role::Queen, Role::Knight, Role::Rook, Role::Bishop];
                moves.extend(roles.map(Some).map(normal));
            } else {
                moves.push(normal(None));
            }
        }
    }
    moves
}

fn pawn_targets(board: &Board, from: Square, color: Color) -> Bitboard {
    let captures = attacks::pawn_attacks(color, from) & board.by_color(!color);
    let ahead = |square: Square| {
        let next = square.offset(color.fold_wb(8, -8))?;
        board.piece_at(next).is_none().then_some(next)
    };
    let first = ahead(from);
    let at_home = from.rank() == color.fold_wb(Rank::Second, Rank::Seventh);
    let second = first.filter(|_| at_home).and_then(ahead);
    captures | first.into_iter().chain(second).collect::<Bitboard>()
}

/// The placement after a move of one piece.
fn after(board: &Board, color: Color, m: Move) -> Board {
    let mut next = board.clone();
    if let Some(from) = m.from() {
        next.discard_piece_at(from);
    }
    if let Move::EnPassant { from, to } = m {
        next.discard_piece_at(Square::from_coords(to.file(), from.rank()));
    }
    next.set_piece_at(m.to(), m.promotion().unwrap_or_else(|| m.role()).of(color));
    next
}

fn en_passant(setup: &Setup) -> impl Iterator<Item = Move> + '_ {
    let color = setup.turn;
    let behind = |to: Square| to.offset(color.fold_wb(-8, 8));
    let to = setup.ep_square.filter(|to| {
        let victim = behind(*to).and_then(|square| setup.board.piece_at(square));
        setup.board.piece_at(*to).is_none() && victim == Some((!color).pawn())
    });
    let pawns = setup.board.by_piece(color.pawn());
    let from = move |to: Square| attacks::pawn_attacks(!color, to) & pawns;
    to.into_iter()
        .flat_map(move |to| from(to).into_iter().map(move |from| Move::EnPassant { from, to }))
}

/// Castling moves of `color` with any of `rooks` (Art. 3.8.2; Chess960: Guidelines II.3).
fn castling(board: &Board, color: Color, rooks: Bitboard) -> Vec<Move> {
    let rank = color.fold_wb(Rank::First, Rank::Eighth);
    let Some(king) = board.king_of(color).filter(|king| king.rank() == rank) else {
        return Vec::new();
    };
    let own = rooks & board.by_piece(Role::Rook.of(color)) & Bitboard::from(rank);
    let allowed = |rook: &Square| {
        let side = CastlingSide::from_king_side(king < *rook);
        let (king_to, rook_to) = (side.king_to(color), side.rook_to(color));
        let path = attacks::between(king, king_to).with(king_to)
            | attacks::between(*rook, rook_to).with(rook_to)
            | attacks::between(king, *rook);
        let others = board.occupied().without(king).without(*rook);
        let king_path = attacks::between(king, king_to).with(king).with(king_to);
        let attacked = |square: Square| {
            let occupied = if square == king_to {
                others.with(rook_to)
            } else {
                board.occupied().without(king)
            };
            board.attacks_to(square, !color, occupied).any()
        };
        (path & others).is_empty() && !king_path.into_iter().any(attacked)
    };
    own.into_iter()
        .filter(allowed)
        .map(|rook| Move::Castle { king, rook })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use shakmaty::fen::Fen;
    use shakmaty::{CastlingMode, Chess, EnPassantMode, FromSetup, Position};

    use super::*;

    fn setup(fen: &str) -> Setup {
        fen.parse::<Fen>().expect("a FEN").into_setup()
    }

    /// The legal moves in UCI, with castling as the king taking the rook.
    fn legal(setup: &Setup) -> Vec<String> {
        let moves = legal_moves(setup, Bitboard::EMPTY).into_iter();
        let mut moves: Vec<String> = moves
            .map(|m| m.to_uci(CastlingMode::Chess960).to_string())
            .collect();
        moves.sort();
        moves
    }

    /// Art. 3.9: only the mover's own king must not be attacked; the opponent's may be, after an illegal move.
    #[test]
    fn a_reply_is_legal_if_the_opponent_stands_in_check() {
        let both = setup("5K2/8/8/1Nqk4/4R3/8/8/2R5 w - - 0 1");
        let moves = legal(&both);
        assert!(moves.contains(&"c1c5".to_owned()), "{moves:?}");
        assert!(
            !moves.contains(&"e4e1".to_owned()),
            "White's own king stays in check"
        );
        let king = setup("4k3/8/8/8/8/8/4R3/4K3 w - - 0 1");
        assert!(!legal(&king).contains(&"e2e8".to_owned()), "Art. 1.4.1");
    }

    /// Art. 3.8.2: castling is not allowed out of check, through attacked squares, into check or over pieces.
    #[test]
    fn castling_follows_the_laws() {
        for (fen, allowed) in [
            ("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", 2),
            ("4k3/8/8/8/4r3/8/8/R3K2R w KQ - 0 1", 0),
            ("4k3/8/8/8/5r2/8/8/R3K2R w KQ - 0 1", 1),
            ("4k3/8/8/8/1r6/8/8/R3K2R w KQ - 0 1", 2),
            ("4k3/8/8/8/8/8/8/R3KB1R w KQ - 0 1", 1),
            ("4k3/8/8/8/8/8/8/R3K2R w - - 0 1", 0),
        ] {
            let setup = setup(fen);
            let castles = legal_moves(&setup, Bitboard::EMPTY);
            assert_eq!(castles.iter().filter(|m| m.is_castle()).count(), allowed, "{fen}");
        }
    }

    proptest! {
        /// For a position that shakmaty accepts, the legal moves are those of shakmaty.
        #[test]
        fn legal_moves_are_those_of_the_library(
            chess960 in any::<bool>(),
            choices in prop::collection::vec(any::<prop::sample::Index>(), 0..160),
        ) {
            let mode = CastlingMode::from_chess960(chess960);
            let start = if chess960 { "bqnrnkrb/pppppppp/8/8/8/8/PPPPPPPP/BQNRNKRB w DGdg - 0 1" } else { STANDARD };
            let mut position = Chess::from_setup(setup(start), mode).expect("a start position");
            for choice in choices {
                let moves = position.legal_moves();
                let mut known: Vec<String> = moves
                    .iter()
                    .map(|m| m.to_uci(CastlingMode::Chess960).to_string())
                    .collect();
                known.sort();
                prop_assert_eq!(legal(&position.to_setup(EnPassantMode::Always)), known);
                if moves.is_empty() {
                    break;
                }
                position.play_unchecked(moves[choice.index(moves.len())]);
            }
        }
    }

    const STANDARD: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
}
