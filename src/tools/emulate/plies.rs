//! Converts chess moves into movements of pieces between the board's fields.

use kiebitz_hardware::emulator::hand::{self, Ply};
use kiebitz_protocol::{Color as WireColor, Dump, Field, Piece as WirePiece, PieceKind};
use shakmaty::san::San;
use shakmaty::{
    Board, CastlingMode, CastlingSide, Chess, Color, EnPassantMode, Move, Piece, Position, PositionError,
    Role, Square,
};

/// Converts the move `m` in `position` into the movements of its pieces.
#[must_use]
pub fn ply(position: &Chess, m: Move) -> Ply {
    let color = match position.turn() {
        Color::White => hand::Color::White,
        Color::Black => hand::Color::Black,
    };
    let quiet = |from, to| Ply::quiet(color, field(from), field(to));
    match m {
        Move::Castle { king, rook } => {
            let side = CastlingSide::from_king_side(king < rook);
            let rook_to = side.rook_to(position.turn());
            Ply {
                rook: Some((field(rook), field(rook_to))),
                ..quiet(king, side.king_to(position.turn()))
            }
        }
        Move::EnPassant { from, to } => Ply {
            captured: Some(field(Square::from_coords(to.file(), from.rank()))),
            ..quiet(from, to)
        },
        Move::Normal {
            from,
            to,
            promotion,
            capture,
            ..
        } => Ply {
            captured: capture.map(|_| field(to)),
            promoted: promotion.map(|role| piece(role.of(position.turn()))),
            ..quiet(from, to)
        },
        // Standard chess has no drops, so this case is unreachable.
        Move::Put { to, .. } => quiet(to, to),
    }
}

/// Builds an illegal move, which must name its from square as in `Ng1g3` or `g1g3`, and the position after it. Returns `None` if
/// the mover has no such piece on that square, if the mover's own piece occupies the target, or if play cannot continue
/// from the resulting position.
#[must_use]
pub fn illegal(position: &Chess, san: &San) -> Option<(Move, Chess)> {
    let San::Normal {
        role,
        file: Some(file),
        rank: Some(rank),
        to,
        promotion,
        ..
    } = *san
    else {
        return None;
    };
    let (from, turn) = (Square::from_coords(file, rank), position.turn());
    // UCI has no letter for the piece.
    let role = match role {
        Role::Pawn => position.board().role_at(from)?,
        role => role,
    };
    let occupant = position.board().piece_at(to);
    if position.board().piece_at(from) != Some(role.of(turn))
        || occupant.is_some_and(|piece| piece.color == turn)
    {
        return None;
    }
    let mut setup = position.to_setup(EnPassantMode::Always);
    setup.board.discard_piece_at(from);
    setup.board.set_piece_at(to, promotion.unwrap_or(role).of(turn));
    setup.turn = !turn;
    setup.ep_square = None;
    if turn.is_black() {
        setup.fullmoves = setup.fullmoves.saturating_add(1);
    }
    let mode = CastlingMode::detect(&setup);
    let after = setup
        .position::<Chess>(mode)
        .or_else(PositionError::ignore_invalid_castling_rights)
        .or_else(PositionError::ignore_impossible_check);
    let m = Move::Normal {
        role,
        from,
        capture: occupant.map(|piece| piece.role),
        to,
        promotion,
    };
    Some((m, after.ok()?))
}

/// Converts a placement to the dump of a board with the connector on White's left.
#[must_use]
pub fn dump(board: &Board) -> Dump {
    let mut dump = [None; Field::COUNT];
    for (square, placed) in board {
        dump[field(square).index()] = Some(piece(placed));
    }
    dump
}

/// Converts a square to the field of a board with the connector on White's left.
#[must_use]
#[expect(clippy::expect_used, reason = "both have 64")]
pub fn field(square: Square) -> Field {
    u8::try_from(u32::from(square.flip_vertical()))
        .ok()
        .and_then(Field::new)
        .expect("a square is a field")
}

/// Converts a piece to its code in the protocol.
#[must_use]
pub const fn piece(piece: Piece) -> WirePiece {
    let color = match piece.color {
        Color::White => WireColor::White,
        Color::Black => WireColor::Black,
    };
    let kind = match piece.role {
        Role::Pawn => PieceKind::Pawn,
        Role::Rook => PieceKind::Rook,
        Role::Knight => PieceKind::Knight,
        Role::Bishop => PieceKind::Bishop,
        Role::King => PieceKind::King,
        Role::Queen => PieceKind::Queen,
    };
    WirePiece::new(color, kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_from_a8_and_squares_from_a1() {
        assert_eq!(field(Square::A8).number(), 0);
        assert_eq!(field(Square::H8).number(), 7);
        assert_eq!(field(Square::E4).number(), 36);
        assert_eq!(field(Square::H1).number(), 63);
        let dump = dump(&Board::new());
        assert_eq!(dump[4], Some(WirePiece::BlackKing));
        assert_eq!(dump[59], Some(WirePiece::WhiteQueen));
        assert_eq!(dump.iter().flatten().count(), 32);
    }

    /// Compares the movements with the placement after the move, for all legal moves of these positions.
    #[test]
    fn plies_give_the_placement_after_the_move() {
        for fen in [
            "r3k2r/pPppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PP1BBPPP/R3K2R w KQkq - 0 1",
            "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
            "4k3/8/8/8/3pP3/8/1p6/R1B1K2R b KQ e3 0 1",
        ] {
            let setup: shakmaty::fen::Fen = fen.parse().unwrap();
            let position: Chess = setup.into_position(CastlingMode::Standard).unwrap();
            for m in position.legal_moves() {
                let mut placed = dump(position.board());
                let ply = ply(&position, m);
                let mut moves = vec![(ply.from, ply.to)];
                moves.extend(ply.rook);
                let pieces: Vec<_> = moves
                    .iter()
                    .map(|(from, _)| placed[from.index()].take())
                    .collect();
                if let Some(victim) = ply.captured {
                    assert!(placed[victim.index()].take().is_some());
                }
                for ((_, to), piece) in moves.iter().zip(pieces) {
                    placed[to.index()] = ply.promoted.or(piece);
                }
                let after = position.clone().play(m).unwrap();
                assert_eq!(placed, dump(after.board()), "{m:?}");
                assert_eq!(ply.is_en_passant(), m.is_en_passant());
            }
        }
    }
}
