//! What a player did instead of a legal move, read from where the pieces stand.

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{Bitboard, Board, Color, File, Move, Piece, Rank, Role, Square};

use super::trace::Trace;
use crate::laws::Fault;
use crate::tracker::{CENTRE, State};

/// An irregular change of position that looks like a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Act {
    pub(super) color: Color,
    pub(super) from: Square,
    pub(super) to: Square,
    pub(super) fault: Fault,
    /// A pawn stands on the last rank, and the move is otherwise legal.
    pub(super) unpromoted: bool,
    /// A legal move can begin like this: it may not be finished.
    pub(super) halfway: bool,
    /// A king stands in the centre, far from where it came from, as when a result is shown.
    pub(super) shows_result: bool,
    /// A piece stood where it went.
    pub(super) takes: bool,
    /// The squares that it changed.
    pub(super) squares: Bitboard,
}

/// The act that explains all of `differs`; `None` where a legal move does, or nothing.
///
/// `last` is the position before the last ply.
pub(super) fn read(tip: &State, last: Option<&State>, trace: &Trace, differs: Bitboard) -> Option<Act> {
    let shown = trace.board();
    // The last move, or part of it, was taken back: the line of play will follow.
    let restored = |before: &State| {
        differs
            .into_iter()
            .all(|s| shown.piece_at(s) == before.board().piece_at(s))
    };
    if last.is_some_and(restored) {
        return None;
    }
    if differs.is_empty() || differs.count() > 4 || stands_as_legal_move(tip, shown, differs) {
        return None;
    }
    let act = [tip.turn(), !tip.turn()].into_iter().find_map(|color| {
        one_piece(tip, shown, differs, color)
            .or_else(|| castling(tip, shown, differs, color))
            .or_else(|| took_its_like(tip, trace, differs, color))
    })?;
    if act.color == tip.turn() {
        return Some(act);
    }
    // Out of turn, only what would be a legal move counts as one: everything else was displaced.
    let legal = stands_as_legal_move(&tip.turned(), shown, act.squares);
    legal.then_some(Act {
        fault: Fault::WrongSide,
        unpromoted: false,
        ..act
    })
}

/// The act that led from one position to the next.
pub(super) fn between(before: &State, after: &Board, differs: Bitboard) -> Option<Act> {
    let color = before.turn();
    one_piece(before, after, differs, color).or_else(|| castling(before, after, differs, color))
}

fn stands_as_legal_move(tip: &State, shown: &Board, differs: Bitboard) -> bool {
    tip.moves()
        .iter()
        .any(|candidate| candidate.footprint.squares() == differs && candidate.footprint.fits(shown))
}

/// Pieces of a colour that have left their squares, and those that stand on new ones.
fn moved(tip: &State, shown: &Board, differs: Bitboard, color: Color) -> (Bitboard, Bitboard) {
    let other = |a: &Board, b: &Board| -> Bitboard {
        let own = a.by_color(color) & differs;
        own.into_iter()
            .filter(|s| a.piece_at(*s) != b.piece_at(*s))
            .collect()
    };
    (other(tip.board(), shown), other(shown, tip.board()))
}

fn one_piece(tip: &State, shown: &Board, differs: Bitboard, color: Color) -> Option<Act> {
    let (left, arrived) = moved(tip, shown, differs, color);
    let to = arrived.single_square()?;
    let from = left.without(to).single_square()?;
    let piece = tip.board().piece_at(from)?;
    if shown.piece_at(from).is_some() || !can_become(piece, shown.piece_at(to)?, to) {
        return None;
    }
    let beside = Square::from_coords(to.file(), from.rank());
    let passes = in_passing(tip, from, to, piece);
    let taken = Some(beside).filter(|beside| passes && shown.piece_at(*beside).is_none());
    let squares = Bitboard::from(from).with(to) | taken.into_iter().collect::<Bitboard>();
    if differs != squares {
        return None;
    }
    let fault = fault(tip, from, to, piece, passes);
    let last = to.rank() == color.fold_wb(Rank::Eighth, Rank::First);
    let unpromoted = piece.role == Role::Pawn
        && last
        && shown.piece_at(to) == Some(piece)
        && tip
            .moves()
            .iter()
            .any(|candidate| candidate.m.from() == Some(from) && candidate.m.to() == to);
    Some(Act {
        color,
        from,
        to,
        fault,
        unpromoted,
        halfway: unpromoted || halfway(tip, differs),
        shows_result: piece.role == Role::King && from.distance(to) > 1 && CENTRE.contains(&to),
        takes: tip.board().piece_at(to).is_some(),
        squares,
    })
}

fn can_become(piece: Piece, shown: Piece, at: Square) -> bool {
    let last = at.rank() == piece.color.fold_wb(Rank::Eighth, Rank::First);
    shown == piece || (shown.color == piece.color && piece.role == Role::Pawn && last)
}

/// Whether a pawn moves as if it captured en passant.
fn in_passing(tip: &State, from: Square, to: Square, piece: Piece) -> bool {
    let beside = Square::from_coords(to.file(), from.rank());
    let fifth = piece.color.fold_wb(Rank::Fifth, Rank::Fourth);
    piece.role == Role::Pawn
        && from.rank() == fifth
        && from.file().distance(to.file()) == 1
        && to.rank() == piece.color.fold_wb(Rank::Sixth, Rank::Third)
        && tip.board().piece_at(to).is_none()
        && tip.board().piece_at(beside) == Some((!piece.color).pawn())
}

/// What is wrong with an illegal move.
fn fault(tip: &State, from: Square, to: Square, piece: Piece, passes: bool) -> Fault {
    let taken = tip.board().piece_at(to);
    let home = Square::from_coords(File::E, piece.color.fold_wb(Rank::First, Rank::Eighth));
    match taken {
        Some(taken) if taken.color == piece.color => Fault::OwnPieceCaptured,
        Some(taken) if taken.role == Role::King && tip.reaches(from, to) => Fault::KingCaptured,
        _ if passes => Fault::EnPassant,
        _ if piece.role == Role::King
            && from == home
            && matches!(to.file(), File::C | File::G)
            && to.rank() == home.rank() =>
        {
            Fault::Castling
        }
        _ if tip.reaches(from, to) => match piece.role {
            Role::Pawn if to.rank() == piece.color.fold_wb(Rank::Eighth, Rank::First) => {
                promotion_fault(tip, from, to)
            }
            _ => Fault::KingInCheck,
        },
        _ => Fault::Geometry,
    }
}

/// A pawn that may move there was promoted to something it cannot become; one that may not leaves its king in check.
fn promotion_fault(tip: &State, from: Square, to: Square) -> Fault {
    let may = tip
        .moves()
        .iter()
        .any(|candidate| candidate.m.from() == Some(from) && candidate.m.to() == to);
    if may { Fault::Promotion } else { Fault::KingInCheck }
}

/// Whether a legal move of more than one piece begins like this.
fn halfway(tip: &State, differs: Bitboard) -> bool {
    tip.moves().iter().any(|candidate| {
        let several = matches!(candidate.m, Move::Castle { .. } | Move::EnPassant { .. });
        several && (candidate.footprint.squares() | castled_from(candidate.m)).is_superset(differs)
    })
}

fn castled_from(m: Move) -> Bitboard {
    match m {
        Move::Castle { king, rook } => Bitboard::from(king).with(rook),
        _ => Bitboard::EMPTY,
    }
}

/// Illegal castling whose rook move the tracker found as a move of its own.
pub(super) fn castling_behind_rook(last: &State, trace: &Trace, differs: Bitboard) -> Option<Act> {
    let act = castling(last, trace.board(), differs, last.turn())?;
    (!stands_as_legal_move(last, trace.board(), differs)).then_some(act)
}

/// King and rook have both moved.
fn castling(tip: &State, shown: &Board, differs: Bitboard, color: Color) -> Option<Act> {
    let (left, arrived) = moved(tip, shown, differs, color);
    let is = |board: &Board, squares: Bitboard, role: Role| {
        (squares & board.by_piece(role.of(color))).single_square()
    };
    let (from, to) = (
        is(tip.board(), left, Role::King)?,
        is(shown, arrived, Role::King)?,
    );
    let rook = is(tip.board(), left, Role::Rook)?;
    is(shown, arrived, Role::Rook)?;
    let both = left | arrived;
    let home = from.rank() == to.rank() && matches!(to.file(), File::C | File::G);
    (home && left.count() == 2 && arrived.count() == 2 && both == differs && from.rank() == rook.rank())
        .then_some(Act {
            color,
            from,
            to,
            fault: Fault::Castling,
            unpromoted: false,
            halfway: halfway(tip, differs),
            shows_result: false,
            takes: false,
            squares: both,
        })
}

/// An own piece of the same kind was taken: all that differs is that one is gone. It was lifted from its square, and
/// another one put there after the capturing piece had left its own.
fn took_its_like(tip: &State, trace: &Trace, differs: Bitboard, color: Color) -> Option<Act> {
    let from = differs.single_square()?;
    let piece = tip.board().piece_at(from).filter(|piece| piece.color == color)?;
    if color != tip.turn() || trace.board().piece_at(from).is_some() {
        return None;
    }
    let left = trace.changed_at(from);
    let since = left.saturating_sub(MAX_LIFTED_BEFORE);
    let to = trace
        .absences(since, color)
        .into_iter()
        .filter(|absence| absence.piece == piece && absence.to > left && absence.square != from)
        .filter(|absence| absence.to == trace.changed_at(absence.square))
        .map(|absence| absence.square)
        .next_back()?;
    Some(Act {
        color,
        from,
        to,
        fault: Fault::OwnPieceCaptured,
        unpromoted: false,
        halfway: false,
        shows_result: false,
        takes: true,
        squares: Bitboard::from(from).with(to),
    })
}

/// A piece to be captured is taken off at most this long before.
const MAX_LIFTED_BEFORE: core::time::Duration = core::time::Duration::from_secs(4);

impl Act {
    /// Whether the piece appeared on a neighbouring square in the same scan: it may have been pushed there by accident,
    /// without being lifted.
    pub(super) fn may_be_a_push(&self, trace: &Trace) -> bool {
        let (left, landed) = (trace.changed_at(self.from), trace.changed_at(self.to));
        let apart = landed.max(left).saturating_duration_since(landed.min(left));
        self.squares.count() == 2
            && self.from.distance(self.to) == 1
            && apart <= ONE_SCAN_APART
            && (!self.takes || self.upsets(trace))
    }

    /// Whether the piece that stood there left in the same scan, too: then both were knocked over.
    pub(super) fn upsets(&self, trace: &Trace) -> bool {
        let landed = trace.changed_at(self.to);
        let since = landed.saturating_sub(MAX_TAKEN_BEFORE);
        let victim_left = trace
            .since(since)
            .find(|shown| shown.square == self.to && shown.before.is_some())
            .map_or(landed, |shown| shown.at);
        self.takes && landed.saturating_duration_since(victim_left) <= ONE_SCAN_APART
    }

    /// Whether the piece rested on another square on its way while an opponent's piece moved: then its player has moved it
    /// twice, and the record misses the moves in between.
    pub(super) fn is_two_moves(&self, tip: &State, trace: &Trace) -> bool {
        let Some(piece) = tip.board().piece_at(self.from) else {
            return false;
        };
        let since = trace.changed_at(self.from).saturating_sub(ONE_SCAN_APART);
        let rests = trace.since(since).filter(|shown| {
            shown.after == Some(piece) && shown.square != self.to && shown.square != self.from
        });
        rests.into_iter().any(|rest| {
            let mut after = trace.since(rest.at).skip_while(|shown| *shown != rest).skip(1);
            let left = after.find(|shown| shown.square == rest.square);
            let until = left.map_or(trace.quiet_since, |left| left.at);
            let moves = |color: Color| {
                let mut others = trace.since(rest.at).take_while(|shown| shown.at <= until);
                others.any(|shown| shown.after.is_some_and(|piece| piece.color == color))
            };
            until.saturating_duration_since(rest.at) >= ONE_SCAN_APART && moves(!piece.color)
        })
    }

    /// Since when it stands.
    pub(super) fn since(&self, trace: &Trace) -> Timestamp {
        trace.stood_since(self.squares)
    }
}

/// A piece to be captured is off the board for at most this long before.
const MAX_TAKEN_BEFORE: core::time::Duration = core::time::Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use shakmaty::CastlingMode;
    use shakmaty::fen::Fen;

    use super::*;

    /// What was done between these two placements.
    fn done(before: &str, after: &str) -> Option<(Fault, bool)> {
        let before = State::from_fen(before, CastlingMode::Standard).expect("a position");
        let after: Fen = after.parse().expect("a placement");
        let after = after.into_setup().board;
        let squares = crate::tracker::difference(before.board(), &after);
        between(&before, &after, squares).map(|act| (act.fault, act.unpromoted))
    }

    #[test]
    fn every_way_to_break_article_three_has_its_name() {
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
            assert_eq!(done(before, after), Some((fault, false)), "{before} {after}");
        }
    }

    #[test]
    fn pawns_on_the_last_rank() {
        let before = "8/P6k/8/8/8/8/8/4K3 w - - 0 1";
        let left = done(before, "P7/7k/8/8/8/8/8/4K3");
        assert_eq!(left.map(|(_, unpromoted)| unpromoted), Some(true));
        assert_eq!(
            done(before, "K7/7k/8/8/8/8/8/4K3"),
            Some((Fault::Promotion, false))
        );
    }

    #[test]
    fn two_pieces_of_one_side_are_no_move_but_castling() {
        let before = "4k3/8/8/8/8/8/PP6/4K3 w - - 0 1";
        assert_eq!(done(before, "4k3/8/8/8/8/PP6/8/4K3"), None);
    }
}
