//! Determines the rule that an irregular move breaks.

use shakmaty::{File, Rank, Role, Square};

use crate::acts::{Irregular, Kind};
use crate::laws::Fault;
use crate::position::{State, passes};

pub(super) fn fault(before: &State, act: &Irregular) -> Fault {
    match act.kind {
        _ if act.out_of_turn => Fault::WrongSide,
        Kind::Castling => Fault::Castling,
        Kind::Several => Fault::Several,
        Kind::OnePiece => fault_of_piece(before, act.from, act.to),
    }
}

fn fault_of_piece(before: &State, from: Square, to: Square) -> Fault {
    let Some(piece) = before.board().piece_at(from) else {
        return Fault::Several;
    };
    let home = Square::from_coords(File::E, piece.color.fold_wb(Rank::First, Rank::Eighth));
    match before.board().piece_at(to) {
        Some(taken) if taken.color == piece.color => Fault::OwnPieceCaptured,
        Some(taken) if taken.role == Role::King && before.reaches(from, to) => Fault::KingCaptured,
        _ if passes(before, from, to) => Fault::EnPassant,
        _ if piece.role == Role::King
            && from == home
            && matches!(to.file(), File::C | File::G)
            && to.rank() == home.rank() =>
        {
            Fault::Castling
        }
        _ if before.reaches(from, to) => match piece.role {
            Role::Pawn if to.rank() == piece.color.fold_wb(Rank::Eighth, Rank::First) => {
                promotion_fault(before, from, to)
            }
            _ => Fault::KingInCheck,
        },
        _ => Fault::Geometry,
    }
}

/// Fault of a pawn on the last rank: an impossible promotion if the pawn may move there, otherwise a king in check.
fn promotion_fault(before: &State, from: Square, to: Square) -> Fault {
    let may = before
        .moves()
        .iter()
        .any(|candidate| candidate.m.from() == Some(from) && candidate.m.to() == to);
    if may { Fault::Promotion } else { Fault::KingInCheck }
}

#[cfg(test)]
mod tests {
    use shakmaty::CastlingMode;
    use shakmaty::fen::Fen;

    use super::*;
    use crate::acts::Acts;

    /// Fault of the act between two placements, and whether it left a pawn unpromoted.
    fn fault_between(before: &str, after: &str) -> Option<(Fault, bool)> {
        let before = State::from_fen(before, CastlingMode::Standard).expect("a position");
        let after: Fen = after.parse().expect("a placement");
        let after = after.into_setup().board;
        let act = Acts::default().between(&before, &after)?;
        Some((fault(&before, &act), act.unpromoted))
    }

    #[test]
    fn every_breach_of_article_three_has_its_own_fault() {
        for (before, after, fault) in [
            (
                "4k3/8/8/8/8/8/8/1N2K3 w - - 0 1",
                "4k3/8/8/8/8/1N6/8/4K3",
                Fault::Geometry,
            ),
            (
                "4k3/4r3/8/8/8/8/4N3/4K3 w - - 0 1",
                "4k3/4r3/8/8/8/2N5/8/4K3",
                Fault::KingInCheck,
            ),
            (
                "4k3/8/8/8/8/8/R6P/4K3 w - - 0 1",
                "4k3/8/8/8/8/8/7R/4K3",
                Fault::OwnPieceCaptured,
            ),
            (
                "4k3/8/8/8/8/8/8/4KR2 w - - 0 1",
                "4k3/8/8/8/8/8/8/5RK1",
                Fault::Castling,
            ),
            (
                "4k3/8/8/3pP3/8/8/8/4K3 w - - 0 1",
                "4k3/8/3P4/8/8/8/8/4K3",
                Fault::EnPassant,
            ),
            (
                "4k3/8/8/8/8/8/8/4RK2 w - - 0 1",
                "4R3/8/8/8/8/8/8/5K2",
                Fault::KingCaptured,
            ),
        ] {
            assert_eq!(
                fault_between(before, after),
                Some((fault, false)),
                "{before} {after}"
            );
        }
    }

    #[test]
    fn pawns_on_the_last_rank_are_unpromoted_or_wrongly_promoted() {
        let before = "8/P6k/8/8/8/8/8/4K3 w - - 0 1";
        let left = fault_between(before, "P7/7k/8/8/8/8/8/4K3");
        assert_eq!(left.map(|(_, unpromoted)| unpromoted), Some(true));
        assert_eq!(
            fault_between(before, "K7/7k/8/8/8/8/8/4K3"),
            Some((Fault::Promotion, false))
        );
    }

    #[test]
    fn two_pieces_of_one_side_are_not_a_move_except_castling() {
        let before = "4k3/8/8/8/8/8/PP6/4K3 w - - 0 1";
        let several = fault_between(before, "4k3/8/8/8/8/PP6/8/4K3");
        assert_eq!(several, Some((Fault::Several, false)));
    }
}
