//! Finds irregular moves from the placement on the board: illegal moves, moves out of turn, unpromoted pawns.

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{Bitboard, Board, Color, Move, Rank, Role, Square};

use super::standing::BoardComparison;
use super::trace::Trace;
use super::{Acts, in_one_scan};
use crate::position::{Instead, PossibleMove, State, difference};

/// Maximum number of squares that a move changes, reached by castling.
const MAX_SQUARES: usize = 4;

/// An irregular change of position that looks like a move.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Irregular {
    pub(crate) color: Color,
    pub(crate) from: Square,
    pub(crate) to: Square,
    pub(crate) kind: Kind,
    pub(crate) out_of_turn: bool,
    /// Whether a pawn stands on the last rank after an otherwise legal move.
    pub(crate) unpromoted: bool,
    pub(crate) squares: Bitboard,
    /// Time of the last change of [`squares`](Self::squares).
    pub(crate) since: Timestamp,
    /// Whether the act may be the beginning of a legal move: castling, en passant or a promotion.
    pub(super) halfway: bool,
    /// Whether a king stands in the centre, far from its square, as it does to show a result.
    shows_result: bool,
    /// Whether the piece came to a neighbouring square within one scan: it may have been pushed by accident.
    pub(super) pushed: bool,
    /// Whether the piece on the destination left in the same scan, so that both were knocked over.
    pub(super) upset: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    OnePiece,
    /// King and rook.
    Castling,
    /// More pieces than king and rook.
    Several,
}

impl Irregular {
    /// Whether both are the same act, regardless of their times.
    pub(crate) fn is(&self, other: &Self) -> bool {
        let known = |act: &Self| {
            (
                act.color,
                act.from,
                act.to,
                act.unpromoted,
                act.squares,
                act.halfway,
            )
        };
        known(self) == known(other)
    }
}

impl Acts {
    /// Time from which an act counts as certainly made, if it still stands then and the line of play is unchanged. The
    /// same holds for a ply on a quiet board. `pressed` is the time of its player's press; `recorded` means that the
    /// act counts as a ply. `None` if only later play can decide.
    pub(crate) fn certain_at(
        &self,
        act: &Irregular,
        pressed: Option<Timestamp>,
        recorded: bool,
    ) -> Option<Timestamp> {
        let model = self.model();
        match pressed {
            Some(at) => Some(at.max(act.since) + model.doubt),
            None if recorded => Some(act.since + model.doubt),
            None if act.unpromoted => None,
            None if act.halfway || act.shows_result => Some(act.since + model.patience),
            None if act.pushed => None,
            None => Some(act.since + model.doubt),
        }
    }

    /// Whether an act that was put right at `put_right` had certainly been made before.
    pub(crate) fn was_made(&self, act: &Irregular, put_right: Timestamp) -> bool {
        let stood = put_right.saturating_duration_since(act.since);
        let model = self.model();
        // A piece of the player who is not on move was most likely knocked over and put back beside its square.
        let long = match act.halfway || act.out_of_turn {
            true => model.patience,
            false => model.rest,
        };
        stood >= long && !(act.upset && act.pushed)
    }
}

impl BoardComparison<'_> {
    /// The irregular act that explains all squares that differ.
    pub(crate) fn irregular(&self) -> Option<Irregular> {
        let act = self
            .read(self.differs())
            .or_else(|| self.illegal_castling_after_rook_move())?;
        let not_yet = self.stood_before(&act) || self.is_two_moves(&act) || self.goes_on(&act);
        (!not_yet).then_some(act)
    }

    /// The irregular act that explains all of `differs`. `None` if a legal move explains them, or no act does.
    pub(super) fn read(&self, differs: Bitboard) -> Option<Irregular> {
        let (tip, shown) = (self.tip, self.trace.board());
        if self.takes_back(differs) || differs.is_empty() || differs.count() > MAX_SQUARES {
            return None;
        }
        match act_of_mover(self.trace, tip, shown, differs) {
            Some((act, legal)) => (!legal).then_some(act),
            None => captured_own_kind(self.trace, tip, differs).or_else(|| self.out_of_turn(differs)),
        }
    }

    /// An act of the player who is not on move. Only an otherwise legal move counts as one; any other change is
    /// displacement.
    fn out_of_turn(&self, differs: Bitboard) -> Option<Irregular> {
        if differs.is_disjoint(self.tip.board().by_color(!self.tip.turn())) {
            return None;
        }
        let (turned, shown) = (self.tip.turned(), self.trace.board());
        let (act, legal) = act_of_mover(self.trace, &turned, shown, differs)?;
        legal.then_some(Irregular {
            out_of_turn: true,
            halfway: false,
            unpromoted: false,
            ..act
        })
    }

    /// Whether the last ply or the last two plies are being taken back, wholly or in part. The line of play will follow
    /// the takeback. A captured piece may not be back on its square yet.
    pub(super) fn takes_back(&self, differs: Bitboard) -> bool {
        let shown = self.trace.board();
        let on_the_way = |before: &State| {
            let is_back = |square: &Square| shown.piece_at(*square) == before.board().piece_at(*square);
            let (back, awaited): (Bitboard, Bitboard) = differs.into_iter().partition(is_back);
            back.any() && (awaited & shown.occupied()).is_empty()
        };
        let last = self.last.iter();
        let mut before = last.flat_map(|last| [Some(last.before), last.earlier]);
        before.any(|before| before.is_some_and(on_the_way))
    }

    /// An illegal castling whose rook move the tracker has taken for a ply.
    pub(super) fn illegal_castling_after_rook_move(&self) -> Option<Irregular> {
        let last = self.last?;
        let (before, shown) = (last.before, self.trace.board());
        let moved = difference(before.board(), self.tip.board()) | self.differs_anywhere();
        let squares = moved & !self.aside;
        Instead::read(before, shown, squares).filter(|instead| instead.castles)?;
        let (act, legal) = act_of_mover(self.trace, before, shown, squares)?;
        let soon = self.trace.changed_at(act.from) <= last.ply.stood_at + self.trace.model.doubt;
        (act.kind == Kind::Castling && !legal && soon).then_some(act)
    }

    /// Whether the act stood before the last ply was made, and so does not belong to this turn.
    fn stood_before(&self, act: &Irregular) -> bool {
        self.last
            .is_some_and(|last| act.since + ONE_SCAN_APART < last.ply.lifted_at)
    }

    /// Whether the piece of the last ply moves on, and that ply was neither pressed nor answered. The piece may never
    /// have left the hand (Art. 4.7), and the line of play will follow.
    fn goes_on(&self, act: &Irregular) -> bool {
        self.last.is_some_and(|last| {
            let to = last.ply.played.map(|m| m.to());
            !last.completed && last.ply.color == act.color && to == Some(act.from)
        })
    }

    /// Whether the piece rested on its way while an opponent's piece moved. Its player has then moved it twice, and the
    /// record lacks the moves in between.
    fn is_two_moves(&self, act: &Irregular) -> bool {
        let Some(piece) = self.tip.board().piece_at(act.from) else {
            return false;
        };
        let trace = self.trace;
        let since = trace.changed_at(act.from).saturating_sub(ONE_SCAN_APART);
        let mut rests = trace
            .since(since)
            .filter(|shown| shown.after == Some(piece) && shown.square != act.to && shown.square != act.from);
        rests.any(|rest| {
            let mut after = trace
                .since(rest.when.at)
                .skip_while(|shown| *shown != rest)
                .skip(1);
            let left = after.find(|shown| shown.square == rest.square);
            let until = left.map_or(trace.quiet_since, |left| left.when.at);
            let mut others = trace
                .since(rest.when.at)
                .take_while(|shown| shown.when.at <= until);
            until.saturating_duration_since(rest.when.at) >= ONE_SCAN_APART
                && others.any(|shown| shown.after.is_some_and(|other| other.color == !piece.color))
        })
    }
}

impl Acts {
    /// The irregular act that led from the position `before`, which is on the line, to the placement `after`.
    pub(crate) fn between(&self, before: &State, after: &Board) -> Option<Irregular> {
        let squares = difference(before.board(), after);
        let several = || {
            let mut both = squares.into_iter();
            let went = (both.next()?, both.next_back()?);
            Some(Irregular::new(&self.trace, before, went, Kind::Several, squares))
        };
        let act = act_of_mover(&self.trace, before, after, squares);
        act.map(|(act, _)| act).or_else(several)
    }
}

impl Irregular {
    /// An act by the side to move in `before`, with the times from `trace`.
    fn new(
        trace: &Trace,
        before: &State,
        (from, to): (Square, Square),
        kind: Kind,
        squares: Bitboard,
    ) -> Self {
        let one = kind == Kind::OnePiece;
        let takes = one && before.board().piece_at(to).is_some();
        let upset = takes && is_upset(trace, to);
        let both = [from, to].into_iter().map(|square| trace.changed_at(square));
        let king = one && before.board().role_at(from) == Some(Role::King);
        let far = from.distance(to) > 1;
        Self {
            color: before.turn(),
            from,
            to,
            kind,
            out_of_turn: false,
            unpromoted: false,
            squares,
            since: trace.stood_since(squares),
            halfway: false,
            shows_result: king && far && Bitboard::CENTER.contains(to),
            pushed: squares.count() == 2 && !far && in_one_scan(both) && (!takes || upset),
            upset,
        }
    }
}

/// Whether the previous piece on `to` left in the same scan in which the present piece arrived.
fn is_upset(trace: &Trace, to: Square) -> bool {
    let landed = trace.changed_at(to);
    let since = landed.saturating_sub(trace.model.doubt);
    let victim_left = trace
        .since(since)
        .find(|shown| shown.square == to && shown.before.is_some())
        .map_or(landed, |shown| shown.when.at);
    landed.saturating_duration_since(victim_left) <= ONE_SCAN_APART
}

/// The act of the side to move, if it explains all of `differs`, and whether it is a legal move.
fn act_of_mover(
    trace: &Trace,
    before: &State,
    shown: &Board,
    differs: Bitboard,
) -> Option<(Irregular, bool)> {
    let instead =
        Instead::read(before, shown, differs).filter(|instead| instead.footprint.squares() == differs)?;
    let stays = |(from, _): &(Square, Square)| shown.piece_at(*from).is_some();
    let (from, to) = instead.went.filter(|went| instead.castles || !stays(went))?;
    let color = before.turn();
    let moves = before.moves();
    let made = |candidate: &PossibleMove| {
        candidate.footprint.squares() == differs && candidate.footprint.fits(shown)
    };
    let legal = moves.iter().any(made);
    let unpromoted = shown.piece_at(to) == Some(color.pawn())
        && to.rank() == color.fold_wb(Rank::Eighth, Rank::First)
        && moves
            .iter()
            .any(|candidate| candidate.m.from() == Some(from) && candidate.m.to() == to);
    // The act may be the beginning of a legal castling or capture en passant.
    let begins = |candidate: &PossibleMove| {
        let several = matches!(candidate.m, Move::Castle { .. } | Move::EnPassant { .. });
        several && (candidate.footprint.squares() | castled_from(candidate.m)).is_superset(differs)
    };
    let halfway = unpromoted || moves.iter().any(begins);
    let kind = if instead.castles {
        Kind::Castling
    } else {
        Kind::OnePiece
    };
    let act = Irregular {
        unpromoted,
        halfway,
        ..Irregular::new(trace, before, (from, to), kind, differs)
    };
    Some((act, legal))
}

fn castled_from(m: Move) -> Bitboard {
    match m {
        Move::Castle { king, rook } => Bitboard::from(king).with(rook),
        _ => Bitboard::EMPTY,
    }
}

/// The capture of a player's own piece by another of the same kind. Only the origin of the capturing piece differs. The
/// destination read empty for a while, and read such a piece again after the capturing piece had left its origin.
fn captured_own_kind(trace: &Trace, tip: &State, differs: Bitboard) -> Option<Irregular> {
    let (from, color) = (differs.single_square()?, tip.turn());
    let piece = tip.board().piece_at(from).filter(|piece| piece.color == color)?;
    if trace.board().piece_at(from).is_some() {
        return None;
    }
    let left = trace.changed_at(from);
    let since = left.saturating_sub(trace.model.doubt);
    let to = trace
        .absences(since, color)
        .into_iter()
        .filter(|absence| absence.piece == piece && absence.to > left && absence.square != from)
        .filter(|absence| tip.board().piece_at(absence.square) == Some(piece))
        .filter(|absence| absence.to == trace.changed_at(absence.square))
        .map(|absence| absence.square)
        .next_back()?;
    let squares = Bitboard::from(from).with(to);
    Some(Irregular::new(trace, tip, (from, to), Kind::OnePiece, squares))
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    /// A piece of the player who is not on move may have been knocked over and put back beside its square.
    #[test]
    fn an_act_out_of_turn_must_stand_longer_before_it_is_put_right() {
        let since = Timestamp::from_micros(1_000_000_000);
        for (out_of_turn, expected) in [(false, true), (true, false)] {
            let act = Irregular {
                color: Color::Black,
                from: Square::H8,
                to: Square::G8,
                kind: Kind::OnePiece,
                out_of_turn,
                unpromoted: false,
                squares: Bitboard::from(Square::H8).with(Square::G8),
                since,
                halfway: false,
                shows_result: false,
                pushed: false,
                upset: false,
            };
            let put_right = since + Duration::from_millis(1500);
            assert_eq!(Acts::default().was_made(&act, put_right), expected);
            assert!(Acts::default().was_made(&act, since + Duration::from_secs(12)));
        }
    }
}
