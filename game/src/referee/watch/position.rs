//! Positions that no legal play can reach, and play after the end.

use shakmaty::{Bitboard, Board, Color, Rank};

use super::book::{Number, ResumedIncident};
use super::{Desk, News};
use crate::events::{ClosedBy, IncidentEnd};
use crate::laws::Situation;

/// Watches the positions that irregular play leads to, and play after the game is over.
#[derive(Debug, Default)]
pub(super) struct Positions {
    open: Option<Number>,
    /// How many plies the line had when the game was over.
    over_at: Option<usize>,
}

impl Positions {
    pub(super) fn resume(&mut self, known: &ResumedIncident) {
        self.open = Some(known.number);
    }

    pub(super) fn handle(&mut self, desk: &mut Desk<'_>, news: &News) {
        match news {
            News::Started => *self = Self::default(),
            News::Over => {
                self.open = None;
                self.over_at = Some(desk.game.line.len());
            }
            News::Played(ply, _) if desk.game.over => self.played_on(desk, *ply),
            News::Played(ply, _) => self.played(desk, *ply),
            News::Retracted(..) => self.inspect(desk),
            _ => {}
        }
    }

    /// A move was made when the game was over by the Laws or the arbiter, and the clock ran.
    fn played_on(&mut self, desk: &mut Desk<'_>, ply: u32) {
        let after = self
            .over_at
            .is_some_and(|plies| usize::try_from(ply).is_ok_and(|ply| ply > plies));
        if after && desk.game.clock.running && !desk.game.shown {
            self.over_at = None;
            let report = desk.report(Situation::ContinuedAfterEnd, desk.now()).at_ply(ply);
            desk.open_and_close(report, IncidentEnd::Passed);
        }
    }

    /// A reply was made to an irregular move: the position may be illegal.
    fn played(&mut self, desk: &mut Desk<'_>, ply: u32) {
        let answered = ply
            .checked_sub(1)
            .and_then(|before| desk.game.entry(before))
            .is_some_and(|before| before.ply.played.is_none());
        if self.open.is_some() {
            self.inspect(desk);
        } else if answered && let Some(tip) = desk.game.tip() {
            let Some((kings, squares)) = illegal(tip.board()) else {
                return;
            };
            let report = desk
                .report(Situation::IllegalPosition { kings }, desk.now())
                .at_ply(ply)
                .on(squares);
            self.open = Some(desk.open(report));
        }
    }

    fn inspect(&mut self, desk: &mut Desk<'_>) {
        let legal = desk.game.tip().is_none_or(|tip| illegal(tip.board()).is_none());
        if let Some(number) = self.open.take_if(|_| legal) {
            desk.book
                .close(desk.game.now, number, ClosedBy::Board, IncidentEnd::Passed);
        }
    }
}

/// The squares of what is illegal, with true where both kings are in check (as they are side by side), and false where
/// pawns stand on the first or last rank.
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
