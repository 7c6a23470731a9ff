//! Positions that no legal play can have, and play after the end.

use shakmaty::{Bitboard, Board, Color, Rank};

use super::book::{Known, Number};
use super::{Desk, Noted};
use crate::events::{ClosedBy, IncidentEnd};
use crate::laws::Sight;

/// Looks at what irregular play leaves behind, and at what is played when the game is over.
#[derive(Debug, Default)]
pub(super) struct Positions {
    open: Option<Number>,
    /// How many plies the line had when the game was over.
    over_at: Option<usize>,
}

impl Positions {
    pub(super) fn resume(&mut self, known: &Known) {
        self.open = Some(known.number);
    }

    pub(super) fn note(&mut self, desk: &mut Desk<'_>, noted: &Noted) {
        match noted {
            Noted::Started => *self = Self::default(),
            Noted::Over => {
                self.open = None;
                self.over_at = Some(desk.view.line.len());
            }
            Noted::Played(ply, _) if desk.view.over => self.played_on(desk, *ply),
            Noted::Played(ply, _) => self.played(desk, *ply),
            Noted::Retracted(..) => self.look(desk),
            _ => {}
        }
    }

    /// A move was made when the game was over by the Laws, and the clock ran.
    fn played_on(&mut self, desk: &mut Desk<'_>, ply: u32) {
        let after = self
            .over_at
            .is_some_and(|plies| usize::try_from(ply).is_ok_and(|ply| ply > plies));
        if after && desk.view.clock.running {
            self.over_at = None;
            let report = desk.report(Sight::ContinuedAfterEnd, desk.now()).at_ply(ply);
            desk.note(report, IncidentEnd::Passed);
        }
    }

    /// A reply was made to an irregular move: what stands there may be a position that the Laws do not know.
    fn played(&mut self, desk: &mut Desk<'_>, ply: u32) {
        let answered = ply
            .checked_sub(1)
            .and_then(|before| desk.view.entry(before))
            .is_some_and(|before| before.ply.played.is_none());
        if self.open.is_some() {
            self.look(desk);
        } else if answered && let Some(tip) = desk.view.tip() {
            let Some((kings, squares)) = illegal(tip.board()) else {
                return;
            };
            let report = desk
                .report(Sight::IllegalPosition { kings }, desk.now())
                .at_ply(ply)
                .on(squares);
            self.open = Some(desk.open(report));
        }
    }

    fn look(&mut self, desk: &mut Desk<'_>) {
        let legal = desk.view.tip().is_none_or(|tip| illegal(tip.board()).is_none());
        if let Some(number) = self.open.take_if(|_| legal) {
            desk.book
                .close(desk.view.now, number, ClosedBy::Board, IncidentEnd::Passed);
        }
    }
}

/// Whether both kings are in check (side by side they are as well), or a pawn stands on the last rank; with the squares
/// concerned.
fn illegal(board: &Board) -> Option<(bool, Bitboard)> {
    let in_check = |color: Color| {
        board
            .king_of(color)
            .is_some_and(|king| board.attacks_to(king, !color, board.occupied()).any())
    };
    if Color::ALL.into_iter().all(in_check) {
        return Some((true, board.kings()));
    }
    let pawns = board.pawns() & (Bitboard::from(Rank::First) | Bitboard::from(Rank::Eighth));
    pawns.any().then_some((false, pawns))
}
